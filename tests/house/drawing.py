"""Draw the house from its real imports: `python tests/house/drawing.py` writes docs/_static/house.svg.

Packages stand from top to bottom as `pyproject.toml` layers them, each with its rooms. A dot in
row A, column B: A imports B. No dot stands right of the stair, since nothing imports upward.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from house import House, package

DRAWING = Path("docs/_static/house.svg")
ROW, CELL, NAME, ROOMS, TOP = 26, 22, 104, 520, 104
SMALL = 'font-size="11" fill="#555"'


def layers(root: Path) -> list[str]:
    """The packages from top to bottom, without the one file of errors and its like."""
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    listed = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    return [
        part.strip().removeprefix("smqopt.")
        for layer in listed
        for part in layer.split(":")
        if "_door" not in part and "_frame" not in part
    ]


def rooms(house: House, name: str) -> list[str]:
    """The subfolders of a package."""
    folder = house.root / "smqopt" / name
    return sorted(path.parent.name for path in folder.glob("*/__init__.py"))


def imports(house: House) -> set[tuple[str, str]]:
    """Pairs of packages: who imports whom, at least once."""
    return {(package(one.source), package(one.target)) for one in house.imports()} - {("", "")}


def shapes(house: House) -> Iterator[str]:
    """The parts of the drawing, from top to bottom."""
    names, pairs = layers(house.root), imports(house)
    left = NAME + ROOMS
    height = TOP + ROW * len(names) + 8
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + CELL * len(names) + 8} {height}" '
        'font-family="sans-serif" font-size="13" role="img" aria-label="Packages, their rooms, and who imports whom">'
    )
    yield '<rect width="100%" height="100%" fill="#fff"/>'
    yield f'<text x="8" y="{TOP - 10}" {SMALL}>package and its rooms</text>'
    for k, name in enumerate(names):
        x, y = left + CELL * k + CELL // 2, TOP + ROW * k
        yield f'<text transform="translate({x + 4},{TOP - 6}) rotate(-60)" {SMALL}>{name}</text>'
        yield f'<rect x="0" y="{y}" width="{left + CELL * k}" height="{ROW}" fill="#{"f2f5f8" if k % 2 else "e4ebf1"}"/>'
        yield f'<text x="8" y="{y + 17}" font-weight="bold">{name}</text>'
        yield f'<text x="{NAME}" y="{y + 17}" {SMALL}>{", ".join(rooms(house, name))}</text>'
        yield f'<rect x="{x - 5}" y="{y + 8}" width="10" height="10" fill="#8aa5bd"/>'
        for j, other in enumerate(names):
            if j != k and (name, other) in pairs:
                yield f'<circle cx="{left + CELL * j + CELL // 2}" cy="{y + ROW // 2}" r="4" fill="{"#1f4e79" if j > k else "#c00"}"/>'
    yield "</svg>"


def drawing(house: House) -> str:
    """The whole drawing, as SVG."""
    return "\n".join(shapes(house)) + "\n"


if __name__ == "__main__":
    root = Path(__file__).parents[2]
    (root / DRAWING).write_text(drawing(House.read(root)), encoding="utf-8")
