"""The outcome of Algorithm 1: who was bought, and what each is paid."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smqopt._frame import TabularRecord
from smqopt._html_table import html_table
from smqopt.mechanism._offers import posted_offers
from smqopt.mechanism._outcome_file import Columns, read_outcome, write_outcome
from smqopt.mechanism.payments._payment_rules import PAYMENT_RULES
from smqopt.numeric import Floats, exact_sum
from smqopt.verification import Certificate


@dataclass(frozen=True, eq=False)
class Outcome(TabularRecord):
    """Who sold and for how much, one entry an owner who took part.

    N owners: rows are counted with their multiplicity.

    Reported valuations are private: the record does not hold them. A batch is a part of the market;
    `join_outcomes` puts batches together.

    Examples
    --------
    >>> import smqopt as smq
    >>> market = smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1))
    >>> outcome = smq.procure(smq.verify(smq.solve(market, 0.5)), [0.1, 0.4, 0.3])
    >>> outcome.selected.tolist(), outcome.payments.round(3).tolist()
    ([True, False, True], [0.125, 0.0, 0.623])
    """

    certificate: Certificate
    """The valid certificate of the thresholds."""
    owner_ids: tuple[str, ...]
    """The owners' names, in the order of the market; alike owners of one row are `id#1`, `id#2`, …
    """
    epsilon: Floats
    """Privacy requirements ε_i, shape (N,)."""
    thresholds: Floats
    """The posted thresholds θ_i*, as drawn, shape (N,), in currency; θ̲_i where there is no offer.
    """
    selected: NDArray[np.bool_]
    """Who was bought, shape (N,)."""
    payments: Floats
    """p_i, shape (N,), in currency. By the rule "posted" 0 to owners who were not bought; by
    "ex-post-budget" any owner may receive or owe (p_i < 0)."""
    rule: str
    """How payments are made: a name in `PAYMENT_RULES`; `meaning` and `caveats` say it in words."""
    owners: NDArray[np.intp]
    """The owners' positions in the market, alike owners side by side, from 0, increasing, shape
    (N,)."""
    batch: NDArray[np.int64]
    """The number of the batch in which each took part, from 1, shape (N,)."""
    step: NDArray[np.int64] | None = None
    """By the rule "while-it-lasts", each owner's place in her batch's order, from 1, shape (N,)."""
    skipped: NDArray[np.bool_] | None = None
    """By the same rule, whom the money left did not cover, shape (N,)."""
    money: float | None = None
    """By the same rule, what all batches together may spend, in currency."""
    chance: Floats | None = None
    """Of random prices, the chance of sale Q_i that a report like hers has, for who was bought, 0
    for others, shape (N,). It tells of her report to within a cell of the menu: private."""

    @property
    def population(self) -> int:
        """The number N of owners who took part: the market's, unless a batch."""
        return len(self.owner_ids)

    @property
    def is_whole(self) -> bool:
        """Whether all owners of the market took part."""
        return self.population == self.certificate.solution.market.population

    @property
    def rows(self) -> NDArray[np.intp]:
        """The row of the market that each owner belongs to, shape (N,)."""
        counts = self.certificate.solution.market.multiplicity
        if counts is None:
            return self.owners
        return np.repeat(np.arange(counts.size, dtype=np.intp), counts)[self.owners]

    @property
    def bought(self) -> int:
        """The number |S_c| of owners bought."""
        return int(np.count_nonzero(self.selected))

    @property
    def bought_epsilon(self) -> Floats:
        """The requirements of the owners bought, shape (|S_c|,), in their order."""
        return self.epsilon[self.selected]

    @property
    def bought_ids(self) -> tuple[str, ...]:
        """The names of the owners bought, in the order of the owners."""
        return tuple(self.owner_ids[i] for i in np.flatnonzero(self.selected).tolist())

    @property
    def acceptance(self) -> Floats:
        """F_i(θ_i*), the chance that she sells, over her draw; shape (N,). Public."""
        return self.certificate.solution.acceptance[self.rows]

    @property
    def expected_payments(self) -> Floats:
        """E P_i under either rule, rounded down, shape (N,), in currency."""
        return posted_offers(self.certificate).expected[self.owners]

    @property
    def drawn(self) -> NDArray[np.bool_]:
        """Whose threshold was drawn from two by a lottery, shape (N,)."""
        solution = self.certificate.solution
        in_lottery = np.zeros(solution.market.n, dtype=np.bool_)
        if solution.lottery is not None:
            in_lottery[solution.lottery.owner] = True
        return in_lottery[self.rows]

    @property
    def budget(self) -> float:
        """What may be spent: the money while it lasts, or else the solution's budget."""
        return self.certificate.solution.budget if self.money is None else self.money

    @property
    def total_payment(self) -> float:
        """Σ p_i, in currency, rounded once."""
        return exact_sum(self.payments)

    @property
    def owing(self) -> int:
        """How many owners owe the broker: their payments are negative."""
        return int(np.count_nonzero(self.payments < 0))

    @property
    def meaning(self) -> str:
        """What the payment rule pays, in a sentence."""
        return PAYMENT_RULES[self.rule].meaning

    @property
    def caveats(self) -> tuple[str, ...]:
        """What the payment rule leaves open, a sentence each."""
        return PAYMENT_RULES[self.rule].caveats

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write one row an owner as CSV; whole or not at all."""
        write_outcome(Columns(*(getattr(self, name) for name in Columns._fields)), path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], certificate: Certificate) -> Outcome:
        """Read an outcome, and check it against its certificate.

        Parameters
        ----------
        path
            The CSV file.
        certificate
            The valid certificate of its thresholds.

        Raises
        ------
        UncertifiedError
            If the certificate is not valid.
        InputError
            If a column or a row is missing, or a row does not agree with the certificate or with
            what the payment rule pays.
        """
        return cls(certificate, *read_outcome(path, certificate))

    def _columns(self) -> dict[str, Any]:
        """Return the columns of the owners who took part."""
        columns: dict[str, Any] = {
            "owner": list(self.owner_ids),
            "epsilon": self.epsilon,
            "threshold": self.thresholds,
            "selected": self.selected,
            "payment": self.payments,
            "batch": self.batch,
        }
        if self.step is not None and self.skipped is not None:
            columns |= {"step": self.step, "skipped": self.skipped, "money": self.money}
        if self.chance is not None:
            columns["chance"] = self.chance
        return columns

    def _repr_html_(self) -> str:
        """Show the record in a notebook."""
        rows = [
            ("bought", f"{self.bought} of {self.population}"),
            ("paid", self.total_payment),
            ("budget", self.budget),
            ("payment rule", self.rule),
            *(("note", caveat) for caveat in self.caveats),
        ]
        return html_table("Outcome, private", rows)

    def __repr__(self) -> str:
        bought = f"{self.bought} of {self.population} owners bought for {self.total_payment:.12g}"
        return f"Outcome({bought}, {self.rule} payments{f', {self.owing} owing' if self.owing else ''})"
