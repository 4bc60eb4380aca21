"""Experiments 1 and 2, as far as they claim the same: SMQ against FQ."""

from __future__ import annotations

from collections.abc import Iterator

from smqopt.paper.claims._setups import (
    SMQ_PRINTED,
    budget_steps,
    correlation_steps,
    every_setup,
    reading_name,
)
from smqopt.paper.claims._verdict import ClaimReading, PaperClaim, Tally, compare_setups, tally
from smqopt.paper.data_sets._population import DATA_SETS
from smqopt.paper.experiments._grid import fair_query_names
from smqopt.paper.experiments._summary import Results

LARGE_MARGIN = 2.0
"""What "a large margin" is taken to be: twice the RMSE."""

Names = tuple[str, ...]


def better(
    results: Results,
    query: str,
    experiment: str,
    words: str,
    *,
    margin: float = LARGE_MARGIN,
    data_sets: Names = tuple(DATA_SETS),
) -> PaperClaim:
    """SMQ's RMSE times a margin is below FQ's, in every setup."""
    readings = []
    for name in fair_query_names(query):
        signs = (
            compare_setups(
                results.setup(one, query, rho, share, SMQ_PRINTED), results.setup(one, query, rho, share, name), margin
            )
            for one, rho, share in every_setup(data_sets)
        )
        readings.append(ClaimReading(reading_name(name), tally(signs), ratio_range(results, query, name, data_sets)))
    measure = (
        "the RMSE of SMQ is below that of FQ" if margin == 1 else f"the RMSE of FQ is over {margin:g} times that of SMQ"
    )
    return PaperClaim(experiment, words, measure, tuple(readings))


def narrower(results: Results, query: str, experiment: str, words: str) -> PaperClaim:
    """SMQ's answers spread less than FQ's, in every setup."""
    readings = []
    for name in fair_query_names(query):
        signs = (
            compare_setups(
                results.setup(one, query, rho, share, SMQ_PRINTED),
                results.setup(one, query, rho, share, name),
                measure="deviation",
            )
            for one, rho, share in every_setup()
        )
        readings.append(ClaimReading(reading_name(name), tally(signs)))
    return PaperClaim(
        experiment, words, "the standard deviation of SMQ's answers is below that of FQ's", tuple(readings)
    )


def ratio_range(results: Results, query: str, name: str, data_sets: Names = tuple(DATA_SETS)) -> str:
    """Say between what FQ's RMSE lies, in units of SMQ's."""
    ratios = []
    for one, rho, share in every_setup(data_sets):
        mine, other = (results.setup(one, query, rho, share, m).rmse for m in (SMQ_PRINTED, name))
        if mine > 0:
            ratios.append(other / mine)
    if not ratios:
        return "SMQ's RMSE is 0 throughout"
    return f"FQ's RMSE is {min(ratios):,.3g} to {max(ratios):,.3g} times SMQ's"


def improves_with_budget(results: Results, query: str, experiment: str, words: str) -> PaperClaim:
    """No step up in budget raises RMSE or spread; SMQ, and FQ by reading."""

    def signs(name: str) -> Iterator[int]:
        for one, rho, low, high in budget_steps():
            for measure in ("rmse", "deviation"):
                yield compare_setups(
                    results.setup(one, query, rho, high, name),
                    results.setup(one, query, rho, low, name),
                    measure=measure,
                )
        for one, rho, low, high in {(one, rho, 0.1, 0.9) for one, rho, *_ in budget_steps()}:
            yield compare_setups(results.setup(one, query, rho, high, name), results.setup(one, query, rho, low, name))

    named = {SMQ_PRINTED: "SMQ", **{name: f"FQ, {reading_name(name)}" for name in fair_query_names(query)}}
    readings = tuple(ClaimReading(said, _monotone(list(signs(name)))) for name, said in named.items())
    return PaperClaim(
        experiment,
        words,
        "RMSE and standard deviation fall from each budget to the next, and RMSE from 0.1 to 0.9 (steps too small to see do not count)",
        readings,
    )


def smq_improves(results: Results, query: str, experiment: str, words: str) -> PaperClaim:
    """SMQ's RMSE falls with ρ."""
    signs = [
        compare_setups(
            results.setup(one, query, lower, share, SMQ_PRINTED), results.setup(one, query, rho, share, SMQ_PRINTED)
        )
        for one, share, rho, lower in correlation_steps()
    ]
    return PaperClaim(
        experiment,
        words,
        "the RMSE of SMQ falls from each ρ to the next smaller one",
        (ClaimReading("", tally(signs)),),
    )


def fair_query_worsens(results: Results, query: str, experiment: str, words: str) -> PaperClaim:
    """FQ's RMSE rises as ρ falls, by reading."""
    readings = []
    for name in fair_query_names(query):
        signs = (
            compare_setups(results.setup(one, query, rho, share, name), results.setup(one, query, lower, share, name))
            for one, share, rho, lower in correlation_steps()
        )
        readings.append(ClaimReading(reading_name(name), tally(signs)))
    return PaperClaim(experiment, words, "the RMSE of FQ rises from each ρ to the next smaller one", tuple(readings))


def _monotone(signs: list[int]) -> Tally:
    """A step too small to see is no evidence either way: only the steps seen count."""
    seen = [sign for sign in signs if sign]
    return tally(seen or [0])
