"""The verdicts on regularity.

Whether the virtual cost J is non-decreasing on the whole support.

Regularity here is the buyer's: J(θ) = θ + F(θ)/f(θ) non-decreasing, which makes OP2 convex in spend
(errata E1). It is not the monotone hazard rate f/(1 − F) that the paper prints as (A2); that one is
reported beside it, and decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Regular:
    """J is non-decreasing on the whole support, proved.

    Examples
    --------
    >>> import smqopt as smq
    >>> smq.Uniform(0, 1).regularity()
    Regular(method='J(θ) = 2θ − low has slope 2')
    """

    method: str
    """What proves it, in a line."""

    def rescale(self, factor: float) -> Regular:  # noqa: ARG002
        """Speak of the law in another unit, which does not matter."""
        return self


@dataclass(frozen=True)
class Irregular:
    """J falls somewhere: θ₁ < θ₂ with J(θ₁) > J(θ₂).

    Examples
    --------
    >>> import smqopt as smq
    >>> verdict = smq.PiecewiseUniform([0, 0.9, 1], [1, 1]).regularity()
    >>> if isinstance(verdict, smq.Irregular):
    ...     [round(cost, 3) for cost in verdict.virtual_costs]
    [1.8, 1.0]
    """

    method: str
    witness: tuple[float, float]
    """The two points (θ₁, θ₂), in currency."""
    virtual_costs: tuple[float, float]
    """J at the two points, in currency."""
    owner: int | None = None
    """The owner whose law it is, from 0; None for a common law."""

    def rescale(self, factor: float) -> Irregular:
        """Show the same fall for the law of factor·θ."""
        (a, b), (ja, jb) = self.witness, self.virtual_costs
        return replace(self, witness=(factor * a, factor * b), virtual_costs=(factor * ja, factor * jb))


@dataclass(frozen=True)
class Undecided:
    """Neither a proof nor a witness was found; the law is treated as irregular.

    Examples
    --------
    >>> import smqopt as smq
    >>> verdict = smq.PointMass(1.0).regularity()
    >>> type(verdict).__name__
    'Undecided'
    """

    method: str
    """What was tried."""
    owner: int | None = None

    def rescale(self, factor: float) -> Undecided:  # noqa: ARG002
        """Speak of the law in another unit, which does not matter."""
        return self


Verdict = Regular | Irregular | Undecided


@dataclass(frozen=True)
class CdfVerdict:
    """Whether F is a cdf.

    It does not fall on the whole support, and has all its mass there.
    """

    holds: bool | None
    """True where that is proved, False where it is refuted; None where it is undecided."""
    method: str
    """What decides it, or what was tried."""
    owner: int | None = None
    """The owner whose law it is, from 0; None for a common law, or where all are proved."""

    @property
    def is_proved(self) -> bool:
        """Whether a proof may rest on F."""
        return self.holds is True


def worst_cdf(verdicts: Iterable[CdfVerdict]) -> CdfVerdict:
    """Return the first verdict that is not proved, or one of all methods."""
    methods: dict[str, None] = {}
    for verdict in verdicts:
        if not verdict.is_proved:
            return verdict
        methods[verdict.method] = None
    return CdfVerdict(True, "; ".join(methods))


@dataclass(frozen=True)
class Hazard:
    """Whether h = f/(1 − F) is non-decreasing: the paper's condition (A2).

    Examples
    --------
    >>> import smqopt as smq
    >>> hazard = smq.Uniform(0, 1).monotone_hazard()
    >>> hazard.monotone, hazard.method
    (True, 'h = 1/(high − θ)')
    """

    monotone: bool | None
    """True where that is proved, False with a witness; None where it is undecided, or the law has
    no density."""
    method: str
    """What decides it, or what was tried."""
    witness: tuple[float, float] | None = None
    """Two points θ₁ < θ₂ with h(θ₁) > h(θ₂), in currency; None unless `monotone` is False."""
    hazards: tuple[float, float] | None = None
    """h at the two points, in 1/currency."""
    owner: int | None = None
    """The owner whose law it is, from 0; None for a common law, or where all are monotone."""

    def rescale(self, factor: float) -> Hazard:
        """Speak of the law of factor·θ."""
        if self.witness is None or self.hazards is None:
            return self
        (a, b), (ha, hb) = self.witness, self.hazards
        return replace(self, witness=(factor * a, factor * b), hazards=(ha / factor, hb / factor))

    def __str__(self) -> str:
        answer = {True: "monotone hazard", False: "hazard falls", None: "monotone hazard undecided"}[self.monotone]
        shown = (
            ""
            if self.witness is None or self.hazards is None
            else f" from {self.hazards[0]:.6g} to {self.hazards[1]:.6g}"
        )
        at = "" if self.witness is None else f" between θ = {self.witness[0]!r} and {self.witness[1]!r}"
        whose = "" if self.owner is None else f" (owner {self.owner + 1})"
        return f"{answer}{shown}{at}{whose}: {self.method}"
