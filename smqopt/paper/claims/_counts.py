"""Experiment 1 of the paper: the count query."""

from __future__ import annotations

from smqopt.paper.claims import _against_fair_query as fq
from smqopt.paper.claims._setups import SMQ_PRINTED, correlation_steps, every_setup, reading_name
from smqopt.paper.claims._verdict import ClaimReading, PaperClaim, tally
from smqopt.paper.experiments._grid import fair_query_names
from smqopt.paper.experiments._summary import Results, Setup

EXPERIMENT = "Experiment 1: count query"
ALIKE = 0.01
"""Mean requirements and numbers of owners within this of each other, relative, count as alike."""


def count_claims(results: Results) -> tuple[PaperClaim, ...]:
    """Check what the paper says of counts."""
    return (
        _prefers_large(results),
        _regardless(results),
        _payments(results),
        fq.improves_with_budget(
            results,
            "count",
            EXPERIMENT,
            "As B increases, the interval narrows and the RMSE falls, for both SMQ and FQ.",
        ),
        fq.better(results, "count", EXPERIMENT, "SMQ outperforms FQ for all data sets.", margin=1.0),
        fq.better(results, "count", EXPERIMENT, "It does so by a large margin, in all cases."),
        fq.narrower(results, "count", EXPERIMENT, "The interval is narrower for SMQ in all cases."),
        fq.smq_improves(results, "count", EXPERIMENT, "SMQ's performance improves as ρ falls from 0 to −0.5 and −1."),
        fq.fair_query_worsens(results, "count", EXPERIMENT, "FQ's performance worsens as ρ falls."),
        _fewer(results),
    )


def mean_requirement(setup: Setup) -> float:
    """Return the mean ε of those who are bought."""
    return setup.privacy / setup.bought


def _prefers_large(results: Results) -> PaperClaim:
    found = [
        mean_requirement(results.setup(one, "count", rho, share, SMQ_PRINTED)) for one, rho, share in every_setup()
    ]
    signs = (1 if mean > 0.5 * (1 + ALIKE) else -1 for mean in found)
    detail = f"mean ε of the bought {min(found):.3f} to {max(found):.3f}, of all owners 0.5"
    return PaperClaim(
        EXPERIMENT,
        "SMQ tends to choose owners with larger ε.",
        "the mean ε of the owners SMQ buys is over 0.5",
        (ClaimReading("", tally(signs), detail),),
    )


def _regardless(results: Results) -> PaperClaim:
    readings = []
    for name in ("fq-printed-scale", "fq-original-scale"):
        found = [mean_requirement(results.setup(one, "count", rho, share, name)) for one, rho, share in every_setup()]
        signs = (1 if abs(mean - 0.5) <= 0.5 * ALIKE else -1 for mean in found)
        detail = f"mean ε of the bought {min(found):.3f} to {max(found):.3f}; v = θ/ε prefers a large ε by itself"
        readings.append(ClaimReading(f"{name.split('-')[1]} rule", tally(signs), detail))
    return PaperClaim(
        EXPERIMENT,
        "FQ selects the lowest privacy valuations, regardless of privacy requirements.",
        f"the mean ε of the owners FQ buys is 0.5 to within {ALIKE:.0%}",
        tuple(readings),
    )


def _payments(results: Results) -> PaperClaim:
    def spreads(name: str) -> list[float]:
        return [results.setup(one, "count", rho, share, name).spread for one, rho, share in every_setup()]

    smq, fair = spreads(SMQ_PRINTED), spreads("fq-printed-scale")
    signs = [1 if mine > 0 and other == 0 else -1 for mine, other in zip(smq, fair, strict=True)]
    detail = (
        f"relative standard deviation of the payments {min(smq):.3f} to {max(smq):.3f} for SMQ, {max(fair):.3g} for FQ"
    )
    return PaperClaim(
        EXPERIMENT,
        "FQ compensates the selected owners uniformly, SMQ with prices that vary.",
        "payments vary within a trial for SMQ and not for FQ",
        (ClaimReading("", tally(signs), detail),),
    )


def _fewer(results: Results) -> PaperClaim:
    readings = []
    for name in fair_query_names("count")[::2]:
        signs, falls = [], []
        for one, share, rho, lower in correlation_steps():
            before, after = (results.setup(one, "count", x, share, name).bought for x in (rho, lower))
            falls.append(after / before - 1)
            signs.append(-1 if after > before else 1 if after < before else 0)
        detail = f"k changes by {min(falls):+.2%} to {max(falls):+.2%} a step"
        readings.append(ClaimReading(reading_name(name).split(",")[0], tally(signs), detail))
    return PaperClaim(
        EXPERIMENT,
        "That is because FQ's k is smaller, and its noise n − k larger, when ρ becomes smaller.",
        "FQ buys fewer owners at each next smaller ρ",
        tuple(readings),
    )
