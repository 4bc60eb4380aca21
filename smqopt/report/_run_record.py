"""What a report tells: one run, frozen, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from smqopt.errors import InputError
from smqopt.numeric import Floats

if TYPE_CHECKING:
    from smqopt.derivation import Derivation
    from smqopt.mechanism import Outcome
    from smqopt.query import Answer
    from smqopt.report._comparison import Route
    from smqopt.report._frontier_figure import DrawnFrontier
    from smqopt.report._question_record import QuestionAnswered
    from smqopt.verification import Certificate


@dataclass(frozen=True, eq=False)
class RunRecord:
    """All that the report of a run is made from.

    Raises
    ------
    InputError
        If the exact law of the answer is given for a run without a seed (it is private), or for a
        run without an answer; or if its arrays do not fit.
    """

    title: str
    provenance: str
    """Where the market and the data come from; blank lines separate paragraphs; "doi 10.…" becomes
    a link."""
    certificate: Certificate
    derivation: Derivation | None = None
    """How thresholds follow from the market's law."""
    outcome: Outcome | None = None
    answer: Answer | None = None
    description: str = ""
    """What is asked of the data, and of whom."""
    seed: int | None = None
    """The seed of a simulation, shown in its report; None for a private release."""
    exact_law: tuple[Floats, Floats] | None = None
    """Values and probabilities of the answer's law, each of shape (k,): private, so for simulations
    alone."""
    routes: tuple[Route, ...] = ()
    """The answer by several routes."""
    frontier: DrawnFrontier | None = None
    """What other budgets would buy."""
    question: QuestionAnswered | None = None
    """What was asked of the market itself."""

    def __post_init__(self) -> None:
        if self.exact_law is None:
            return
        where = "report: exact law"
        if not self.is_simulation or self.answer is None:
            raise InputError(
                where,
                "is private: only a simulation with an answer may show it",
                remedy="leave it out, or run with a seed",
            )
        values, probabilities = self.exact_law
        if values.ndim != 1 or values.size == 0 or values.shape != probabilities.shape or np.any(np.diff(values) <= 0):
            raise InputError(
                where, "must be increasing values with one probability each", value=values.shape, remedy="correct them"
            )

    @property
    def is_simulation(self) -> bool:
        """Whether the randomness of the run is known, so that its answer protects nobody."""
        return self.seed is not None or (self.answer is not None and self.answer.simulation)
