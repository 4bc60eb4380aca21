"""Write the keys of certificates in docs/files.md anew, from their JSON Schema."""

from __future__ import annotations

import json
from pathlib import Path

from marks import Tables, markdown_table, rewrite

SCHEMA = Path(__file__).parents[1] / "schema" / "certificate.schema.json"


def certificate_keys() -> str:
    """Write one row a key."""
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    needed = schema["required"]
    rows = [
        (f"`{name}`" + ("" if name in needed else " (other objectives)"), _kind(key), key.get("description", ""))
        for name, key in schema["properties"].items()
    ]
    return markdown_table(("key", "value", "meaning"), rows)


def _kind(key: dict[str, object]) -> str:
    if "const" in key:
        return f'"{key["const"]}"'
    if isinstance(key.get("enum"), list):
        return " or ".join(f'"{value}"' for value in key["enum"])
    if "pattern" in key:
        return "SHA-256, in hexadecimal digits"
    if "anyOf" in key:
        return "object or null" if "$ref" in str(key["anyOf"]) else 'number, or "inf"'
    return str(key["type"])


TABLES: Tables = {"certificate": certificate_keys}

if __name__ == "__main__":
    rewrite(TABLES, "files.md")
