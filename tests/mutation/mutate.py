"""Change one operator or number at a time, and see whether the tests notice.

`python tests/mutation/mutate.py [COUNT [SEED [PACKAGE ...]]]` draws mutants of numeric, verification,
query and mechanism. All tests are collected once; each mutant is a fork in which one function has the changed
code, and runs the quickest tests that call that function. What survives is printed, for a test to
be written or an equivalence to be seen.
"""

from __future__ import annotations

import ast
import collections
import gc
import importlib
import os
import pickle
import random
import signal
import sys
import tempfile
import time
import traceback
import types
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("numeric", "verification", "query", "mechanism")
SECONDS = 20.0
"""Of tests for one mutant, as they take without it; four times as long ends it."""
PAIRS = (
    *((ast.Add, ast.Sub), (ast.Mult, ast.Div), (ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq)),
    *((ast.And, ast.Or), (ast.Is, ast.IsNot), (ast.In, ast.NotIn), (ast.BitAnd, ast.BitOr), (ast.USub, ast.UAdd)),
)
SWAPS = {**dict(PAIRS), **{second: first for first, second in PAIRS}, ast.FloorDiv: ast.Mult}


def changes(function: ast.AST) -> Iterator[tuple[ast.AST, str, object]]:
    """Single changes of a function's body: node, attribute, new value. Texts and annotations stay."""
    pending: list[ast.AST] = list(reversed(function.body))  # type: ignore[attr-defined]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.JoinedStr | ast.Raise):
            continue
        if isinstance(node, ast.BinOp | ast.AugAssign | ast.BoolOp | ast.UnaryOp) and type(node.op) in SWAPS:
            yield node, "op", SWAPS[type(node.op)]()
        elif isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
            yield node, "ops", [SWAPS[type(node.ops[0])](), *node.ops[1:]]
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
            yield node, "value", not node.value if isinstance(node.value, bool) else node.value + 1
        elif isinstance(node, ast.If | ast.IfExp | ast.While):
            yield node, "test", ast.UnaryOp(ast.Not(), node.test)
        children = [child for name, child in ast.iter_fields(node) if name not in {"annotation", "returns"}]
        flat = [one for child in children for one in (child if isinstance(child, list) else [child])]
        pending += reversed([one for one in flat if isinstance(one, ast.AST)])


def functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Outermost functions and methods, by qualified name."""
    for node in tree.body:
        for owner, one in [(None, node)] + [
            (node, child) for child in getattr(node, "body", []) if isinstance(node, ast.ClassDef)
        ]:
            if isinstance(one, ast.FunctionDef):
                yield (f"{owner.name}." if owner else "") + one.name, one


@dataclass(frozen=True)
class Mutant:
    """One change: the number of a change within a function of a file."""

    path: Path
    name: str
    line: int
    number: int

    def made(self) -> tuple[types.CodeType, str]:
        """The changed code of the function, and the changed line."""
        tree = ast.parse(self.path.read_text(encoding="utf-8"))
        function = next(f for name, f in functions(tree) if name == self.name and f.lineno == self.line)
        node, attribute, value = list(changes(function))[self.number]
        before = shown(node)
        setattr(node, attribute, value)
        ast.fix_missing_locations(tree)
        code = next(code for code in codes(compile(tree, str(self.path), "exec")) if is_of(code, self.name, function))
        place = f"{self.path.relative_to(ROOT)}:{getattr(node, 'lineno', '?')}"
        return code, f"{place} {self.name}: {before}  →  {shown(node)}"


def shown(node: ast.AST) -> str:
    """The first line of a part of a program."""
    return ast.unparse(node).split("\n")[0]


def is_of(code: types.CodeType, name: str, function: ast.FunctionDef) -> bool:
    first = min([function.lineno, *(d.lineno for d in function.decorator_list)])
    return code.co_qualname == name and code.co_firstlineno == first


def codes(code: types.CodeType) -> Iterator[types.CodeType]:
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield inner
            yield from codes(inner)


def mutants(packages: Sequence[str]) -> list[Mutant]:
    found = []
    for package in packages:
        for path in sorted((ROOT / "smqopt" / package).rglob("*.py")):
            for name, function in functions(ast.parse(path.read_text(encoding="utf-8"))):
                found += [Mutant(path, name, function.lineno, k) for k, _ in enumerate(changes(function))]
    return found


def put_in(mutant: Mutant) -> None:
    """Give the living function the changed code."""
    module = ".".join(mutant.path.relative_to(ROOT).with_suffix("").parts)
    importlib.import_module(module)
    code, _ = mutant.made()
    living = [
        one
        for one in gc.get_objects()
        if isinstance(one, types.FunctionType)
        and (one.__code__.co_filename, one.__code__.co_qualname) == (str(mutant.path), mutant.name)
        and one.__code__.co_firstlineno == code.co_firstlineno
    ]
    assert living, mutant
    for one in living:
        one.__code__ = code


@dataclass(eq=False)
class Mutation:
    """A pytest plugin that runs mutants in place of the tests."""

    chosen: list[Mutant]
    failed: bool = False
    seconds: dict[int, float] = field(default_factory=dict)
    calls: dict[int, set[tuple[str, str]]] = field(default_factory=dict)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.failed |= report.failed

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.measure(session.items)
        of = collections.defaultdict(list)
        for item, called in self.calls.items():
            for function in called:
                of[function].append(item)
        verdicts = collections.Counter()
        for mutant in self.chosen:
            items = sorted(of[str(mutant.path), mutant.name], key=self.seconds.__getitem__)
            verdict = self.tried(mutant, [session.items[k] for k in self.quickest(items)]) if items else "never called"
            verdicts[verdict] += 1
            if verdict != "killed":
                print(f"{verdict}: {mutant.made()[1]} ({len(items)} tests)", flush=True)
        print(dict(verdicts), flush=True)
        return True

    def quickest(self, items: list[int]) -> Iterator[int]:
        total = 0.0
        for k, item in enumerate(items):
            total += self.seconds[item]
            if total > SECONDS and k >= 3:
                return
            yield item

    def measure(self, items: list[pytest.Item]) -> None:
        """Run all tests once in a fork; note which functions each calls, and for how long."""
        with tempfile.NamedTemporaryFile() as kept:
            if not (child := os.fork()):
                os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
                try:
                    for k, item in enumerate(items):
                        self.measure_one(k, item, items[k + 1] if k + 1 < len(items) else None)
                    Path(kept.name).write_bytes(pickle.dumps((self.seconds, self.calls)))
                except BaseException:  # noqa: BLE001 - a fork must end here
                    traceback.print_exc()
                finally:
                    os._exit(0)
            os.waitpid(child, 0)
            self.seconds, self.calls = pickle.loads(Path(kept.name).read_bytes())  # noqa: S301
        print(f"{len(self.seconds)} tests pass in {sum(self.seconds.values()):.0f} s of CPU", flush=True)

    def measure_one(self, k: int, item: pytest.Item, following: pytest.Item | None) -> None:
        called: set[tuple[str, str]] = set()
        inside = tuple(f"{ROOT}/smqopt/{package}/" for package in PACKAGES)

        def note(frame: types.FrameType, event: str, _: object) -> None:
            if event == "call" and frame.f_code.co_filename.startswith(inside):
                called.add((frame.f_code.co_filename, frame.f_code.co_qualname.split(".<locals>")[0]))

        start, self.failed = time.process_time(), False
        sys.setprofile(note)
        item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
        sys.setprofile(None)
        if not self.failed:
            self.seconds[k], self.calls[k] = time.process_time() - start, called

    def tried(self, mutant: Mutant, items: list[pytest.Item]) -> str:
        if not (child := os.fork()):
            signal.signal(signal.SIGXCPU, lambda *_: os._exit(1))
            import resource

            used = int(time.process_time())
            resource.setrlimit(resource.RLIMIT_CPU, (used + int(4 * SECONDS), used + int(5 * SECONDS)))
            self.failed = False
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            try:
                put_in(mutant)
                for k, item in enumerate(items):
                    item.ihook.pytest_runtest_protocol(item=item, nextitem=items[k + 1] if k + 1 < len(items) else None)
                    if self.failed:
                        break
            except BaseException:  # noqa: BLE001 - a mutant that stops pytest itself is seen
                os._exit(1)
            os._exit(int(self.failed))
        deadline = time.monotonic() + 40 * SECONDS
        while time.monotonic() < deadline:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                return "killed" if status else "SURVIVED"
            time.sleep(0.05)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return "killed"


if __name__ == "__main__":
    count, seed = (int(sys.argv[k]) if len(sys.argv) > k else given for k, given in ((1, 200), (2, 0)))
    packages = sys.argv[3:] or PACKAGES
    drawn = random.Random(seed).sample(mutants(packages), count)  # noqa: S311
    os.chdir(ROOT)
    tests = [f"{top}/{package}" for package in packages for top in ("tests", "smqopt")]
    sys.exit(pytest.main(["-q", "-s", "-p", "no:cacheprovider", *tests], plugins=[Mutation(drawn)]))
