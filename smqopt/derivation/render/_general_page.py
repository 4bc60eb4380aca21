"""What holds for every law, with the argument in words."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from smqopt.algebra import worst
from smqopt.derivation._story import STEPS, general_steps
from smqopt.derivation.argument._build import general_argument
from smqopt.derivation.render._sections import HOW, shown_equation
from smqopt.derivation.render._shown import MARKS, ShownStep
from smqopt.document import Section

if TYPE_CHECKING:
    from smqopt.derivation.statement._step import Step

_NAMES = {
    "KKT": "optimality conditions",
    "eqn:BF": "budget feasibility",
    "eqn:IC": "incentive compatibility",
    "eqn:IR": "individual rationality",
    "eqn:first order": "first-order condition",
    "eqn:payment": "payment rule",
    "lem:IC&IR": "lemma on incentive compatibility and individual rationality",
    "lem:theta": "lemma on thresholds",
    "Thr.IC": "theorem on incentive compatibility",
    "qi": "allocation rule",
    "pi": "payment rule",
    "Qi": "interim allocation",
    "Pi": "interim payment",
    "A1": "assumption 1",
    "A2": "assumption 2",
    "OP1": "program OP1",
    "OP2": "program OP2",
}
"""The paper's labels in words."""


@cache
def general_page() -> tuple[ShownStep, ...]:
    """Show what holds for every law, with the argument in words."""
    return tuple(_general_step(step) for step in _general())


def _general() -> Iterator[Step]:
    argument, known = general_argument(), general_steps()
    yield from (known[step] if step in known else step(argument) for step in STEPS)


def _general_step(step: Step) -> ShownStep:
    equations = tuple(each for each in step.equations if each.every_law and each.left != each.right)
    verdicts = [equation.verdict for equation in equations if equation.verdict is not None]
    marks = MARKS[worst(verdicts)] if verdicts else ("", "", "")
    cited = f"{step.reason} ({_labels(step)})"
    shown = tuple(shown_equation(each, f"general-{step.name}-{k}") for k, each in enumerate(equations, start=1))
    return ShownStep(f"general-{step.name}", step.title, shown, *marks, before=(step.claim,), after=(cited,))


def general_section() -> Section:
    """Show what holds for every law, folded."""
    return Section("general", "For every law", "general.html", {"steps": general_page(), "how": HOW})


def _labels(step: Step) -> str:
    paper = list(dict.fromkeys(_NAMES.get(label, label) for label in step.labels if not _is_erratum(label)))
    errata = [label for label in step.labels if _is_erratum(label)]
    cited = [f"the paper’s {', '.join(paper)}"] if paper else []
    cited += [f"errata {', '.join(errata)}"] if errata else []
    return "; ".join(cited)


def _is_erratum(label: str) -> bool:
    return label[:1] == "E" and label[1:].isdecimal()
