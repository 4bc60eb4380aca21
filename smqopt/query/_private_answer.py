"""A private answer, its record for the broker, and what may be published."""

from __future__ import annotations

from dataclasses import InitVar, dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smqopt._html_table import html_table
from smqopt.errors import InputError
from smqopt.numeric import Floats
from smqopt.query._private_entries import PrivateEntries
from smqopt.query._publication import public_record
from smqopt.query._purchase import Purchase
from smqopt.query.audit._privacy_loss import PrivacyLoss
from smqopt.query.ledger._charge import Charge
from smqopt.query.linear._linear_release import LinearRelease
from smqopt.query.queries._query import FittedQuery, PopulationQuery, Value

NOISE_LEVEL = 0.95
"""The level of the half-width that is written beside an answer."""


@dataclass(frozen=True, eq=False)
class Answer:
    """An answer and what is public of it.

    The entries it was drawn from stay inside and leave it with no `repr`, `asdict`, copy or pickle;
    only `distribution` opens them. The other fields tell nothing of entries beyond the release, but
    they do tell who sold; `publish` returns what tells neither.

    Examples
    --------
    >>> import numpy as np
    >>> import smqopt as smq
    >>> market = smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1))
    >>> outcome = smq.procure(smq.verify(smq.solve(market, 0.5)), [0.1, 0.2, 0.3])
    >>> answer = smq.answer(smq.Count(), [1, 0, 1], outcome, rng=np.random.default_rng(1))
    >>> answer.bought, answer.simulation, answer.noise_half_width(0.95) > 0
    (3, True, True)
    """

    value: Value
    """The answer, as it was drawn: `publish` rounds it. One number a bin for a histogram."""
    query: str
    """The name of the query."""
    population: int
    """n, the number of owners in the market."""
    bought: int
    """k = |S_c|, the number of entries the answer was drawn from."""
    simulation: bool
    """Whether the noise came from a generator that can be run again; then this is no private
    release."""
    noise_unit: str
    """The unit of `noise_half_width`."""
    asked: FittedQuery = field(repr=False)
    """The query itself, fitted to the purchase."""
    epsilon: Floats = field(repr=False)
    """What was spent of the requirements of the bought entries, ε_i or a share of it, shape (k,):
    public."""
    share: Fraction
    """The share of every requirement that the answer spends; 1 for all."""
    charge: Charge | None = field(repr=False)
    """The charge in the ledger that the answer was drawn on; None where there is no ledger."""
    question: PopulationQuery = field(repr=False)
    """The query as it was asked, not yet fitted."""
    purchase: Purchase = field(repr=False)
    """Who could be bought and who was, requirements cut to the share. PRIVATE: it says who sold."""
    entries: InitVar[NDArray[np.int64]]

    def __post_init__(self, entries: NDArray[np.int64]) -> None:
        object.__setattr__(self, "_private", PrivateEntries(entries))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_private"}

    @property
    def n(self) -> int:
        """The number of owners in the market."""
        return self.population

    def noise_half_width(self, level: float = NOISE_LEVEL) -> float:
        """Bound the noise: it is at most this with probability at least `level`.

        It is computed from public requirements alone, and speaks of the noise only, not of the
        sampling error.

        Parameters
        ----------
        level
            In (0, 1).

        Returns
        -------
        float
            In `noise_unit`. For a count, owners of the population, n/k times the bound on the
            bought entries. For a median, ranks among the bought entries: `Median.half_width` says
            why.

        Raises
        ------
        InputError
            If the level is not in (0, 1).
        """
        if not 0 < level < 1:
            raise InputError("argument 'level'", "must lie between 0 and 1", value=level, remedy="give, say, 0.95")
        return self.asked.half_width(self.epsilon, level, self.population)

    def error_half_width(self, level: float = NOISE_LEVEL) -> float:
        """Bound the whole error, sampling and noise, with probability at least `level`.

        For entries that are drawn independently, whoever owns them, from one law on their public
        range. Half of what may fail goes to the noise, half to Hoeffding's inequality for the
        sample: Σ c_i x_i with Σ c_i = 0 is beyond t with probability at most
        2 exp(−2t²/(R² Σ c_i²)). It tells who sold, as `noise_half_width` does.

        Parameters
        ----------
        level
            In (0, 1).

        Raises
        ------
        InputError
            If the level is not in (0, 1), the query is no sum that what was bought stands for, or
            the purchase was made at random prices.
        """
        form = self.question.linear_form(self.population)
        if form is None:
            remedy = "ask for a count, sum, mean, weighted sum or histogram, weighted by 'scaled'"
            raise InputError(f"query {self.query!r}", "has no bound on its sampling error", remedy=remedy)
        if self.purchase.inverse is not None:
            rule = "is no bound where owners chose by random prices: entries may hang together with reports"
            raise InputError("error_half_width", rule, remedy="take the worst case, solution.error")
        w, total = form.weights, float(form.weights.sum())
        most = form.width * float(np.abs(w).sum())
        noise = self.noise_half_width(0.5 * (1.0 + level))
        sold = self.purchase.selected
        linear = isinstance(self.asked, LinearRelease)
        a = self.asked.whole_weights.astype(np.float64) if isinstance(self.asked, LinearRelease) else w[sold]
        if linear and not np.any(a > 0):
            return most / 2.0
        c = -w
        c[sold] += total * a / a.sum()
        figures = form.sums or 1
        sampling = form.width * float(np.sqrt(c @ c * np.log(4.0 * figures / (1.0 - level)) / 2.0))
        return min(sampling + noise, most)

    def distribution(self) -> tuple[NDArray[Any], Floats]:
        """Return the exact output law on these entries. PRIVATE: for audits only.

        The law, its quantiles and its mode are functions of the private entries; to publish any of
        them is a leak (errata, "What may be published"). A draw follows this law up to the
        difference that `smqopt.query.exponential._release` bounds.

        Returns
        -------
        tuple
            Every value the answer can have, ascending, and its probability; each of shape (number
            of results,). Values beyond the first and the last whose probability is not 0 in double
            precision are left out.

        Raises
        ------
        InputError
            If this answer is a copy: copies do not carry the entries; or if it was made by several
            draws.
        """
        laws = self.distributions()
        if len(laws) > 1:
            raise InputError(
                "answer", f"was drawn in {len(laws)} independent draws", remedy="use distributions(), one law a draw"
            )
        return laws[0]

    def distributions(self) -> tuple[tuple[NDArray[Any], Floats], ...]:
        """Return the exact law of each independent draw. PRIVATE: for audits only.

        Raises
        ------
        InputError
            If this answer is a copy: copies do not carry the entries.
        """
        private = self.__dict__.get("_private")
        if private is None:
            raise InputError(
                "answer", "is a copy, and copies do not carry the entries", remedy="answer the query again"
            )
        return self.asked.laws(private.reveal(), self.epsilon, self.bought, self.population)

    def drawable_law(self) -> tuple[NDArray[Any], Floats] | None:
        """Return `distribution` where it is that of one number, else None. PRIVATE.

        None for the linear release, whose values are too many to list.
        """
        if isinstance(self.asked, LinearRelease):
            return None
        laws = self.distributions()
        return laws[0] if len(laws) == 1 and laws[0][0].ndim == 1 else None

    @property
    def privacy(self) -> PrivacyLoss:
        """The worst privacy loss of each owner bought, by theorem. Public."""
        return PrivacyLoss(self.epsilon, self.asked.worst_losses(self.epsilon), "theorem")

    def publish(self) -> dict[str, Any]:
        """Return what may be published, fit for JSON; it does not say who sold.

        Returns
        -------
        dict
            The value, rounded to a `grid` that depends on the market alone, and a `half_width` that
            covers noise and rounding, rounded up to a power of two of the grid; in `noise_unit`.

        Raises
        ------
        InputError
            If this is a simulation, or the query's own parameters say who sold.
        """
        if self.simulation:
            raise InputError("answer", "is a simulation, and no release", remedy="answer without a generator")
        return public_record(self.question, self.asked, self.purchase, self.value, NOISE_LEVEL)

    def _repr_html_(self) -> str:
        """Show the record in a notebook."""
        return html_table("Answer", list(self.to_dict().items()))

    def to_dict(self) -> dict[str, Any]:
        """Return the broker's record of the release, fit for JSON.

        It tells who sold.

        It tells nothing of entries beyond the release: never the law, the exact result or a seed.
        """
        return broker_record(self)


def caution(*, simulation: bool) -> str:
    """Say what a half-width leaves out, and what a simulation is not."""
    note = "noise only, not sampling error"
    return f"{note}; simulation, not a private release" if simulation else note


def broker_record(answer: Any) -> dict[str, Any]:
    """Return what the broker keeps of an answer; it tells who sold."""
    return {
        "value": list(answer.value) if isinstance(answer.value, tuple) else answer.value,
        "query": answer.query,
        **answer.asked.parameters(),
        **answer.asked.facts(),
        **({} if answer.share == 1 else {"share": str(answer.share)}),
        **({} if answer.charge is None else {"charge": answer.charge.number, "ledger_head": answer.charge.head}),
        "n": answer.population,
        "bought": answer.bought,
        "noise_half_width": answer.noise_half_width(),
        "noise_level": NOISE_LEVEL,
        "noise_unit": answer.noise_unit,
        "simulation": answer.simulation,
        "note": caution(simulation=answer.simulation),
    }
