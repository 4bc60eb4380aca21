"""Experiment 2 of the paper: the median query."""

from __future__ import annotations

from smqopt.paper.claims import _against_fair_query as fq
from smqopt.paper.claims._setups import SMQ_PRINTED, TITLES, every_setup
from smqopt.paper.claims._verdict import ClaimReading, PaperClaim, tally
from smqopt.paper.experiments._summary import Results

EXPERIMENT = "Experiment 2: median query"
RELIABLE = 0.05
"""An RMSE of this share of the median counts as reliable."""


def median_claims(results: Results) -> tuple[PaperClaim, ...]:
    """Check what the paper says of medians."""
    return (
        fq.better(results, "median", EXPERIMENT, "SMQ significantly outperforms FQ.", margin=1.0),
        _zero(results),
        _less_accurate(results),
        fq.better(
            results,
            "median",
            EXPERIMENT,
            "On RECS, SMQ's results are much better than those of FQ.",
            data_sets=("recs",),
        ),
        _reliable(results),
        fq.fair_query_worsens(results, "median", EXPERIMENT, "FQ performs even worse when ρ becomes smaller."),
    )


def _zero(results: Results) -> PaperClaim:
    readings = []
    for one in ("adult", "movielens"):
        found = [results.setup(one, "median", rho, share, SMQ_PRINTED) for _, rho, share in every_setup((one,))]
        wrong = [setup for setup in found if setup.rmse > 0]
        detail = "RMSE 0 throughout"
        if wrong:
            worst = max(wrong, key=lambda setup: setup.rmse)
            detail = (
                f"RMSE 0 in {len(found) - len(wrong)} of {len(found)} setups, at most {worst.rmse:.3g},"
                f" at ρ = {worst.correlation:g} and B = {worst.budget_share:g} θ̄n"
            )
        readings.append(ClaimReading(TITLES[one], tally(-1 if setup.rmse > 0 else 1 for setup in found), detail))
    return PaperClaim(
        EXPERIMENT, "For Adult and MovieLens the RMSE of SMQ is zero.", "the RMSE of SMQ is 0", tuple(readings)
    )


def _less_accurate(results: Results) -> PaperClaim:
    signs, found = [], []
    for _, rho, share in every_setup(("recs",)):
        mine = results.setup("recs", "median", rho, share, SMQ_PRINTED)
        others = [results.setup(one, "median", rho, share, SMQ_PRINTED) for one in ("adult", "movielens")]
        found.append(mine.rmse)
        signs.append(1 if all(mine.rmse / mine.truth > other.rmse / other.truth for other in others) else -1)
    detail = f"RMSE {min(found):.0f} to {max(found):.0f} kWh"
    return PaperClaim(
        EXPERIMENT,
        "On RECS the results of SMQ are less accurate than on the others.",
        "the RMSE of SMQ, relative to the median, is larger on RECS than on both others",
        (ClaimReading("", tally(signs), detail),),
    )


def _reliable(results: Results) -> PaperClaim:
    shares = []
    for one, rho, share in every_setup():
        setup = results.setup(one, "median", rho, share, SMQ_PRINTED)
        shares.append(setup.rmse / setup.truth)
    return PaperClaim(
        EXPERIMENT,
        "Under different values of ρ SMQ returns reliable results.",
        f"the RMSE of SMQ is at most {RELIABLE:.0%} of the median",
        (
            ClaimReading(
                "", tally(1 if x <= RELIABLE else -1 for x in shares), f"at most {max(shares):.2%} of the median"
            ),
        ),
    )
