"""Measure the house: lines, files a folder, circles, doors, docstrings and names.

`python tests/house/house.py [ROOT]` prints the figures of a checkout; `test_house.py` holds them.
"""

from __future__ import annotations

import ast
import collections
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOMS_OF_SIBLINGS = ("derivation/steps", "paper/errata", "program/cones")
"""Families of siblings: one kind a file, more than 15 where there are more kinds."""
MODULES = {"errors", "files", "notation", "second_checker"}
"""Files at the top that are packages of one file."""
PARTICIPLE = re.compile(
    r"(?:^|_)(?:[a-z]+(?:ed|en|orn)|met|held|kept|sought|found|made|spelt|told|drawn|bought|sold|put|cut|taught|set)$"
)
"""A last word that is a participle, as in `polished` or `values_kept`; `is_proved` asks, and is none."""
VERBS = {
    "is",
    "has",
    "are",
    "was",
    "might",
    "may",
    "must",
    "can",
    "open",
    "need",
    "feed",
    "widen",
    "tighten",
    "shorten",
    "loosen",
    "even",
    "between",
    "straighten",
    "from",
    "count",
    "read",
}
"""First words after which a name is a question or an order, and verbs that look like participles."""

HOUSE_WORDS = {
    *(
        "worth",
        "blame",
        "judge",
        "judged",
        "judges",
        "judging",
        "mend",
        "mended",
        "mends",
        "touch",
        "touched",
        "touches",
    ),
    *("touching", "kink", "kinks", "arc", "arcs", "confined", "heaped", "sealed", "battery"),
}
"""Words of our own for which the field has one: utility, conflict, verify, fix, tangent, quadratic piece, …"""
APART = "smqopt.second_checker"
"""Shares nothing with the package, names and room least of all: one file of at most 400 lines."""
ATTRIBUTES = {"property", "cached_property"}


@dataclass(frozen=True)
class Import:
    """One name that one module imports from another."""

    source: str
    target: str
    name: str | None


@dataclass
class House:
    """A checkout of the package, parsed."""

    root: Path
    trees: dict[str, ast.Module] = field(default_factory=dict)
    files: dict[str, Path] = field(default_factory=dict)
    nodes: dict[str, list[ast.AST]] = field(default_factory=dict)
    """All parts of each module: they are walked through once."""
    _imports: list[Import] = field(default_factory=list)

    @classmethod
    def read(cls, root: Path) -> House:
        house = cls(root)
        for path in sorted((root / "smqopt").rglob("*.py")):
            name = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
            house.files[name] = path
            house.trees[name] = ast.parse(path.read_text(encoding="utf-8"))
            house.nodes[name] = list(ast.walk(house.trees[name]))
        return house

    def imports(self) -> list[Import]:
        if not self._imports:
            self._imports = list(self._find_imports())
        return self._imports

    def _find_imports(self) -> Iterator[Import]:
        for source, nodes in self.nodes.items():
            for node in nodes:
                if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "smqopt":
                    for alias in node.names:
                        module = f"{node.module}.{alias.name}"
                        if module in self.trees:
                            yield Import(source, module, None)
                        else:
                            yield Import(source, str(node.module), alias.name)
                elif isinstance(node, ast.Import):
                    for alias in node.names:
                        if alias.name.split(".")[0] == "smqopt":
                            yield Import(source, alias.name, None)

    def circles(self) -> list[list[str]]:
        """Strongly connected sets of more than one module (Tarjan 1972)."""
        edges = collections.defaultdict(set)
        for one in self.imports():
            if one.target != one.source:
                edges[one.source].add(one.target)
        index: dict[str, int] = {}
        low: dict[str, int] = {}
        stack: list[str] = []
        found: list[list[str]] = []

        def visit(module: str) -> None:
            index[module] = low[module] = len(index)
            stack.append(module)
            for other in sorted(edges[module]):
                if other not in index:
                    visit(other)
                    low[module] = min(low[module], low[other])
                elif other in stack:
                    low[module] = min(low[module], index[other])
            if low[module] == index[module]:
                circle = []
                while not circle or circle[-1] != module:
                    circle.append(stack.pop())
                if len(circle) > 1:
                    found.append(sorted(circle))

        sys.setrecursionlimit(10_000)
        for module in self.trees:
            if module not in index:
                visit(module)
        return found

    def deep_imports(self) -> list[Import]:
        """Imports of another package that go past its door."""
        return [
            one
            for one in self.imports()
            if package(one.target) not in (package(one.source), "", *MODULES) and one.target.count(".") > 1
        ]

    def idle_names(self) -> list[str]:
        """Names in a door that nobody outside of the package imports."""
        used = {(one.target, one.name) for one in self.imports() if package(one.source) != package(one.target)}
        used |= {tuple(arguments) for nodes in self.nodes.values() for arguments in _handed_over(nodes)}
        for path in (self.root / "docs").rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ImportFrom):
                    used |= {(node.module, alias.name) for alias in node.names}
        return [
            f"{door}.{name}"
            for door, tree in self.trees.items()
            if door.count(".") == 1 and self.files[door].name == "__init__.py"
            for name in door_names(tree)
            if (door, name) not in used
        ]

    def definitions(self) -> Iterator[tuple[str, ast.AST, str, bool]]:
        """Modules, classes and functions: module, node, qualified name, and whether all its parts are public."""
        for module, tree in self.trees.items():
            yield module, tree, module, True
            yield from _inside(module, tree, "", public=True)

    def long_summaries(self, most: int) -> list[str]:
        return [
            f"{module}:{name}: {len(summary)}"
            for module, node, name, _ in self.definitions()
            if module != APART and len(summary := (ast.get_docstring(node) or "").split("\n")[0]) > most
        ]

    def giving(self) -> list[str]:
        """Summaries that begin with Give, which says nothing of what is given."""
        return [
            f"{module}:{name}"
            for module, node, name, _ in self.definitions()
            if (ast.get_docstring(node) or "").startswith("Give ")
        ]

    def participles(self) -> list[str]:
        return [
            f"{module}:{name}"
            for module, node, name, _ in self.definitions()
            if isinstance(node, ast.FunctionDef)
            and PARTICIPLE.search(node.name)
            and node.name != "given"  # the law of θ given ε, as it is written
            and not {node.name.lstrip("_").split("_")[0], node.name.lstrip("_").split("_")[-1]} & VERBS
            and not any(
                (d.id if isinstance(d, ast.Name) else d.attr if isinstance(d, ast.Attribute) else "") in ATTRIBUTES
                for d in node.decorator_list
            )
        ]

    def house_words(self) -> list[str]:
        """Files, functions and classes with a word of our own in their name."""
        return [
            f"{module}:{name}"
            for module, node, name, _ in self.definitions()
            for last in [name.split(".")[-1]]
            if HOUSE_WORDS & set(words(last)) or "looked_up" in last
        ]

    def long_doc_lines(self, most: int) -> list[str]:
        """Lines of docstrings and comments that are longer."""
        found = []
        for module, path in self.files.items():
            if module == APART:
                continue
            text = path.read_text(encoding="utf-8")
            lines = text.splitlines()
            prose = {
                number
                for node in self.nodes[module]
                if isinstance(node, ast.Expr)
                and isinstance(node.value, ast.Constant)
                and isinstance(node.value.value, str)
                for number in range(node.lineno, (node.end_lineno or node.lineno) + 1)
            }
            prose |= {number for number, line in enumerate(lines, 1) if line.lstrip().startswith("#")}
            prose -= {k for k in prose if lines[k - 1].lstrip().startswith((">>>", "..."))}  # code
            found += [f"{module}:{k}: {len(lines[k - 1])}" for k in sorted(prose) if len(lines[k - 1]) > most]
        return found

    def by_name(self) -> list[str]:
        return [
            f"{module}:{node.lineno}"
            for module, nodes in self.nodes.items()
            if module != "smqopt._door"
            for node in nodes
            if isinstance(node, ast.Attribute) and node.attr == "import_module"
        ]

    def shared_classes(self) -> dict[str, list[str]]:
        homes = collections.defaultdict(list)
        for module, node, name, _ in self.definitions():
            if isinstance(node, ast.ClassDef) and module != APART:
                homes[name].append(module)
        return {name: modules for name, modules in homes.items() if len(modules) > 1}

    def shared_files(self) -> dict[str, int]:
        count = collections.Counter(path.name for path in self.files.values() if not path.name.startswith("__"))
        return {name: k for name, k in count.items() if k > 2}

    def folders(self) -> dict[str, int]:
        count = collections.Counter(
            path.parent.relative_to(self.root / "smqopt").as_posix()
            for path in self.files.values()
            if path.name != "__init__.py"
        )
        return dict(count.most_common())

    def lines(self) -> tuple[int, int]:
        """All lines, and lines of code: neither blank, nor comment, nor docstring."""
        total = code = 0
        for name, path in self.files.items():
            text = path.read_text(encoding="utf-8")
            total += text.count("\n")
            numbers = set()
            for token in tokenize.generate_tokens(io.StringIO(text).readline):
                if token.type not in (
                    tokenize.COMMENT,
                    tokenize.NL,
                    tokenize.NEWLINE,
                    tokenize.INDENT,
                    tokenize.DEDENT,
                    tokenize.ENDMARKER,
                ):
                    numbers |= set(range(token.start[0], token.end[0] + 1))
            for node in self.nodes[name]:
                if (
                    isinstance(node, ast.Expr)
                    and isinstance(node.value, ast.Constant)
                    and isinstance(node.value.value, str)
                ):
                    numbers -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
            code += len(numbers)
        return total, code


def _handed_over(nodes: list[ast.AST]) -> Iterator[list[str]]:
    """What methods that draw hand themselves over to: package and name."""
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "higher":
            yield [one.value for one in node.args if isinstance(one, ast.Constant)]


def package(module: str) -> str:
    """The package that a module stands in; "" for the public door."""
    return module.split(".")[1] if "." in module else ""


def words(name: str) -> list[str]:
    """The words of a name, be it snake_case, CamelCase or dotted."""
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)]


def door_names(tree: ast.Module) -> list[str]:
    """The names that a door lists."""
    return [
        alias.asname
        for block in tree.body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname
    ]


def _inside(module: str, node: ast.AST, prefix: str, *, public: bool) -> Iterator[tuple[str, ast.AST, str, bool]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef | ast.FunctionDef):
            seen = public and not child.name.startswith("_")
            yield module, child, prefix + child.name, seen
            yield from _inside(module, child, f"{prefix}{child.name}.", public=seen)


def figures(root: Path) -> dict[str, object]:
    """Measure a checkout."""
    house = House.read(root)
    total, code = house.lines()
    summaries = [s for _, node, _, _ in house.definitions() if (s := ast.get_docstring(node))]
    return {
        "lines": total,
        "lines of code": code,
        "files": len(house.files),
        "most files in a folder": max((k, f) for f, k in house.folders().items() if f not in ROOMS_OF_SIBLINGS),
        "circles": len(house.circles()),
        "modules in the largest circle": max(map(len, house.circles()), default=0),
        "deep imports": len(house.deep_imports()),
        "imports by name": len(house.by_name()),
        "docstrings": len(summaries),
        "summaries over 88": len(house.long_summaries(88)),
        "summaries over 80": len(house.long_summaries(80)),
        "summaries that begin with Give": len(house.giving()),
        "doc lines over 100": len(house.long_doc_lines(100)),
        "participles": len(house.participles()),
        "words of the house": len(house.house_words()),
        "class names shared": len(house.shared_classes()),
        "file names used more than twice": len(house.shared_files()),
        "names in doors": sum(
            len(door_names(t))
            for d, t in house.trees.items()
            if d.count(".") == 1 and house.files[d].name == "__init__.py"
        ),
        "idle names in doors": len(house.idle_names()),
    }


if __name__ == "__main__":
    for key, value in figures(Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()).items():
        print(f"{key}: {value}")
