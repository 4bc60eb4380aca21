"""Experiment 3 of the paper: the linear predictor."""

from __future__ import annotations

from smqopt.paper.claims._setups import SMQ_PRINTED, TITLES, every_setup
from smqopt.paper.claims._verdict import ClaimReading, PaperClaim, Tally, compare_setups, tally
from smqopt.paper.data_sets._population import DATA_SETS
from smqopt.paper.experiments._summary import Results, Setup

EXPERIMENT = "Experiment 3: linear predictor"
SIMILAR = 0.1
"""Numbers of owners within this of each other, relative, count as similar."""
HALF = 0.5
LOW, HIGH = 0.3, 0.7
"""What "low" and "high" budgets are taken to be: at most, and at least, so much of θ̄n."""
SLIGHTLY = 1.25
"""What "slightly less accurate" is taken to be: an RMSE of at most so many times the other."""


def linear_claims(results: Results) -> tuple[PaperClaim, ...]:
    """Check what the paper says of linear predictors."""
    return (
        _more_owners(results),
        _similar_owners(results),
        _mostly_better(results),
        _exception(results),
        _adult(results),
        _low_budgets(results),
        _high_budgets(results),
    )


def _pair(results: Results, one: str, rho: float, share: float) -> tuple[Setup, Setup]:
    return results.setup(one, "linear", rho, share, SMQ_PRINTED), results.setup(one, "linear", rho, share, "fip")


def _ratios(results: Results, one: str) -> list[float]:
    pairs = [_pair(results, *setup) for setup in every_setup((one,))]
    return [mine.bought / other.bought for mine, other in pairs]


def _more_owners(results: Results) -> PaperClaim:
    found = _ratios(results, "adult")
    detail = f"SMQ buys {min(found):.2f} to {max(found):.2f} times as many"
    return PaperClaim(
        EXPERIMENT,
        "For Adult, SMQ chooses more owners than FIP.",
        "SMQ buys more owners than FIP",
        (ClaimReading("", tally(1 if x > 1 else -1 for x in found), detail),),
    )


def _similar_owners(results: Results) -> PaperClaim:
    readings = []
    for one in ("recs", "movielens"):
        found = _ratios(results, one)
        signs = tally(1 if abs(x - 1) <= SIMILAR else -1 for x in found)
        readings.append(
            ClaimReading(TITLES[one], signs, f"SMQ buys {min(found):.2f} to {max(found):.2f} times as many")
        )
    return PaperClaim(
        EXPERIMENT,
        "For the other two data sets the numbers of owners chosen are similar.",
        f"the numbers of owners bought differ by at most {SIMILAR:.0%}",
        tuple(readings),
    )


def _comparison(results: Results, data_sets: tuple[str, ...], low: float, high: float) -> Tally:
    return tally(
        compare_setups(*_pair(results, one, rho, share))
        for one, rho, share in every_setup(data_sets)
        if low <= share <= high
    )


def _range(results: Results, data_sets: tuple[str, ...], low: float, high: float) -> str:
    pairs = [_pair(results, *setup) for setup in every_setup(data_sets) if low <= setup[2] <= high]
    found = [other.rmse / mine.rmse for mine, other in pairs if mine.rmse > 0]
    if not found:
        return "SMQ's RMSE is 0 throughout"
    return f"FIP's RMSE is {min(found):.3g} to {max(found):.3g} times SMQ's"


def _mostly_better(results: Results) -> PaperClaim:
    readings = tuple(
        ClaimReading(TITLES[one], _comparison(results, (one,), 0.0, HALF), _range(results, (one,), 0.0, HALF))
        for one in DATA_SETS
    )
    return PaperClaim(
        EXPERIMENT,
        "SMQ outperforms FIP in most cases, with the exception of B > 0.5 θ̄n.",
        "the RMSE of SMQ is below that of FIP where B ≤ 0.5 θ̄n",
        readings,
    )


def _exception(results: Results) -> PaperClaim:
    readings = []
    for one in ("movielens", "recs"):
        found = _comparison(results, (one,), HALF + 0.05, 1.0)
        turned = Tally(found.against, found.favour, found.open)
        readings.append(ClaimReading(TITLES[one], turned, _range(results, (one,), HALF + 0.05, 1.0)))
    return PaperClaim(
        EXPERIMENT,
        "For MovieLens and RECS, it does not where B > 0.5 θ̄n.",
        "the RMSE of FIP is below that of SMQ where B > 0.5 θ̄n",
        tuple(readings),
    )


def _adult(results: Results) -> PaperClaim:
    readings = []
    for measure, name in (("deviation", "interval"), ("rmse", "RMSE")):
        signs = (compare_setups(*_pair(results, *setup), measure=measure) for setup in every_setup(("adult",)))
        readings.append(ClaimReading(name, tally(signs)))
    return PaperClaim(
        EXPERIMENT,
        "For Adult, SMQ's interval is narrower and its RMSE smaller.",
        "standard deviation and RMSE of SMQ are below those of FIP",
        tuple(readings),
    )


def _low_budgets(results: Results) -> PaperClaim:
    readings = tuple(
        ClaimReading(TITLES[one], _comparison(results, (one,), 0.0, LOW), _range(results, (one,), 0.0, LOW))
        for one in ("movielens", "recs")
    )
    return PaperClaim(
        EXPERIMENT,
        "For MovieLens and RECS, SMQ performs better when the budget is low.",
        f"the RMSE of SMQ is below that of FIP where B ≤ {LOW:g} θ̄n",
        readings,
    )


def _high_budgets(results: Results) -> PaperClaim:
    readings = []
    for one in ("movielens", "recs"):
        signs = []
        for setup in every_setup((one,)):
            mine, other = _pair(results, *setup)
            if setup[2] >= HIGH:
                worse, close = compare_setups(other, mine), compare_setups(mine, other, 1 / SLIGHTLY)
                signs.append(-1 if worse < 0 or close < 0 else worse)
        readings.append(ClaimReading(TITLES[one], tally(signs), _range(results, (one,), HIGH, 1.0)))
    return PaperClaim(
        EXPERIMENT,
        "For MovieLens and RECS, SMQ is slightly less accurate when the budget is high.",
        f"the RMSE of SMQ is above that of FIP, by a factor of at most {SLIGHTLY:g}, where B ≥ {HIGH:g} θ̄n",
        tuple(readings),
    )
