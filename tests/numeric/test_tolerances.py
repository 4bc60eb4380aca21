"""Tolerances have one home: no small number stands in the code without a name and a reason."""

import ast
from collections.abc import Iterator
from pathlib import Path

import smqopt
from smqopt.numeric import _tolerances

PACKAGE = Path(smqopt.__file__).parent
LARGEST = 1e-3
"""Smaller than this is what tolerances are."""
EXAMPLES = {PACKAGE / "paper/errata/_small_weights.py"}
"""Files whose small numbers are inputs, not tolerances."""


def is_small(node: ast.AST) -> bool:
    """Return whether a node is a small literal, or 2.0 to a negative power."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, float) and 0 < node.value < LARGEST
    power = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and isinstance(node.left, ast.Constant)
    return power and isinstance(node.right, ast.UnaryOp) and isinstance(node.right.operand, ast.Constant)


def named(body: list[ast.stmt], lines: list[str]) -> Iterator[ast.stmt]:
    """Yield the assignments of a module or class that a docstring or comment gives a reason for."""
    for place, statement in enumerate(body):
        if isinstance(statement, (ast.Assign, ast.AnnAssign)):
            after = next((s for s in body[place:] if not isinstance(s, (ast.Assign, ast.AnnAssign))), None)
            reason = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            if reason or "#" in lines[statement.lineno - 1]:
                yield statement


def bare(source: str) -> list[int]:
    """Return the lines of small numbers without a name or a reason."""
    tree, lines = ast.parse(source), source.splitlines()
    bodies = [tree.body, *(node.body for node in ast.walk(tree) if isinstance(node, ast.ClassDef))]
    known = {id(node) for body in bodies for statement in named(body, lines) for node in ast.walk(statement)}
    return sorted({node.lineno for node in ast.walk(tree) if is_small(node) and id(node) not in known})


def test_no_tolerance_is_bare():
    files = [path for path in PACKAGE.rglob("*.py") if path.name != "_tolerances.py" and path not in EXAMPLES]
    assert len(files) > 300
    found = {str(path): bare(path.read_text(encoding="utf-8")) for path in files}
    assert {path: lines for path, lines in found.items() if lines} == {}


def test_a_bare_number_is_found():
    assert bare("def f(x):\n    return x < 1e-9\n") == [2]
    assert bare("NEAR = 2.0**-40\n") == [1]
    assert bare('NEAR = 2.0**-40\n"""Why."""\n') == []


def test_each_tolerance_has_its_own_name_and_a_norm():
    every = [value for value in vars(_tolerances).values() if isinstance(value, _tolerances.Tolerance)]
    assert len({tolerance.name for tolerance in every}) == len(every) > 30
    assert all(tolerance.norm and 0 < tolerance.value < 1 for tolerance in every)
