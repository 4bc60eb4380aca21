"""What the corrections change: sentences, each computed from the results."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from itertools import product

from smqopt.document import shown
from smqopt.paper.baselines._table_check import CHECKED_SHARES
from smqopt.paper.claims._setups import PAPER_SHARES, SMQ_PRINTED, TITLES, every_setup
from smqopt.paper.claims._verdict import compare_setups
from smqopt.paper.data_sets._population import DATA_SETS
from smqopt.paper.experiments._grid import CORRELATIONS, NOISE_ONLY, QUERIES
from smqopt.paper.experiments._summary import Results, Setup

CONDITIONAL = "smq-conditional"
Finding = Callable[[Results], str]


def signed_text(rho: float) -> str:
    """Write ρ with a minus sign."""
    return f"{rho:g}".replace("-", "−")


def _interval(values: Iterable[float], digits: int = 3) -> str:
    found = list(values)
    low, high = shown(min(found), digits), shown(max(found), digits)
    return low if low == high else f"{low} to {high}"


def _times(part: float, whole: float) -> float:
    """Return part/whole; ∞ where the whole is 0 and the part is not."""
    if whole > 0:
        return part / whole
    return math.inf if part > 0 else 1.0


def _setups(results: Results, query: str, name: str, rho: float | None = None) -> Iterator[Setup]:
    return (results.setup(one, query, r, share, name) for one, r, share in every_setup() if rho is None or r == rho)


def overspending(results: Results) -> str:
    """E4: what the marginal law costs."""
    parts = []
    for rho in CORRELATIONS:
        cells = ", ".join(
            f"{shown(results.setup('adult', 'count', rho, share, SMQ_PRINTED).spend, 4)} at B = {share:g} θ̄n"
            for share in (0.1, 0.3, 0.5)
        )
        parts.append(f"ρ = {signed_text(rho)}: {cells}")
    kept = shown(max(setup.spend for setup in _setups(results, "count", CONDITIONAL)), 4)
    return (
        f"With the marginal law, mean payments relative to B on Adult are: {'; '.join(parts)}. With the law given ε they are at most {kept} over all "
        "data sets, ρ and budgets to 0.9 (errata E4)."
    )


def gain_of_conditional(results: Results) -> str:
    """E4: what the law given ε does for accuracy."""
    parts = []
    for rho in CORRELATIONS[1:]:
        ratios = []
        for one, share in product(DATA_SETS, PAPER_SHARES):
            mine, other = (results.setup(one, "count", rho, share, name) for name in (CONDITIONAL, SMQ_PRINTED))
            ratios.append((mine.privacy / mine.spend) / (other.privacy / other.spend) - 1)
        parts.append(f"{shown(100 * min(ratios), 2)} % to {shown(100 * max(ratios), 2)} % at ρ = {signed_text(rho)}")
    return (
        "For each unit of money paid, the law given ε buys more privacy than the marginal law at the same B, by "
        f"{' and '.join(parts)} (a minus sign: less)."
    )


def price_table(results: Results) -> str:
    """How far the shared price table is from the optimum."""
    if not results.checks:
        return "The shared price table was not checked."
    spends, lost, valid = [], [], []
    for spend, privacy, upper, certified in results.checks.values():
        spends.append(abs(spend - 1))
        lost.append(1 - privacy / upper)
        valid.append(certified == 1)
    budgets = ", ".join(f"{share:g}" for share in CHECKED_SHARES)
    counted = "all" if all(valid) else f"{sum(valid)} of {len(valid)}"
    return (
        f"The prices by cell of ε were compared with the certified solution on one market of each data set at ρ = −0.5, B/(θ̄n) = {budgets}: "
        f"expected payments differ from B by at most {shown(max(spends), 2, rounding='up')} of it, purchased privacy lies at most "
        f"{shown(max(*lost, 0.0), 2, rounding='up')} of it below the certified bound, and {counted} of the certificates are valid."
    )


def full_purchase(results: Results) -> str:
    """E13: what happens where everybody is bought."""
    worse, ratios = 0, []
    cells = list(product(DATA_SETS, CORRELATIONS))
    for one, rho in cells:
        most, all_of_them = (results.setup(one, "count", rho, share, SMQ_PRINTED) for share in (0.9, 1.0))
        worse += compare_setups(most, all_of_them) == 1
        ratios.append(_times(all_of_them.rmse, most.rmse))
    sampling = max(results.setup(one, "count", rho, 1.0, SMQ_PRINTED).sampling_rmse for one, rho in cells)
    found = (
        f"At B = θ̄n, where everybody is bought, SMQ's count is worse than at 0.9 θ̄n in {worse} of {len(cells)} cases, its RMSE {_interval(ratios)} "
        f"times as large (errata E13), though its sampling error is {shown(sampling, 3)}"
    )
    if not worse:
        return f"{found}."
    return (
        f"{found}: owners with the smallest ε are in, and it is they who set the noise of P-E. So the sum of the ε bought is no measure of accuracy "
        "by itself."
    )


def ceiling(results: Results) -> str:
    """The omniscient knapsack and the single price beside SMQ."""
    privacy, below, beaten = [], [], 0
    for mine, best, single in zip(
        _setups(results, "count", CONDITIONAL),
        _setups(results, "count", "omniscient"),
        _setups(results, "count", "uniform-price"),
        strict=True,
    ):
        privacy.append(mine.privacy / best.privacy)
        below.append(single.privacy / mine.privacy)
        beaten += compare_setups(mine, best) == 1
    found = (
        f"SMQ with the law given ε buys {_interval(privacy)} of the privacy that a broker who knows every θ could buy, and one price for all "
        f"{_interval(below)} of what SMQ buys. SMQ's count has the smaller RMSE than that broker's in {beaten} of {len(privacy)} setups"
    )
    return f"{found}: who buys the most privacy buys the small ε too." if beaten else f"{found}."


def money_of_fair_query(results: Results) -> str:
    """E6: which rule the payment belongs to."""
    printed, original = (
        _interval((s.spend for s in _setups(results, "count", name)), 2)
        for name in ("fq-printed-scale", "fq-original-scale")
    )
    return (
        f"FQ spends {printed} of B with the printed rule and {original} of it with the original one: the printed payment belongs to the original"
        " rule (errata E6)."
    )


def trials_without_answer(results: Results) -> str:
    """Trials without an answer."""
    parts: dict[str, int] = {}
    for setup in results.setups.values():
        if setup.undefined:
            parts[f"{setup.mechanism} ({setup.query})"] = (
                parts.get(f"{setup.mechanism} ({setup.query})", 0) + setup.undefined
            )
    if not parts:
        return "Every mechanism returned an answer in every trial: S_c = S, which leaves FQ and FIP undefined, never came up, nor did an empty purchase."
    cells = ", ".join(f"{name} {shown(count)}" for name, count in parts.items())
    return f"Trials in which a mechanism gives no answer, over all setups: {cells}. They are left out of its numbers."


def schemes(results: Results) -> str:
    """E14: what is redrawn."""
    parts = []
    for query in QUERIES:
        ratios = []
        for one, rho, share in every_setup():
            both = [results.setup(one, query, rho, share, SMQ_PRINTED, scheme) for scheme in ("everything", NOISE_ONLY)]
            if both[0].rmse > 0:
                ratios.append(both[1].rmse / both[0].rmse)
        parts.append(f"{_interval(ratios)} for the {query} query" if ratios else f"both 0 for the {query} query")
    return (
        f"SMQ's RMSE where the noise alone is redrawn, for one market a setting, relative to its RMSE where everything is: {'; '.join(parts)} "
        "(errata E14). The former holds the sampling error of that one market fixed."
    )


def linear_predictor(results: Results) -> str:
    """E20: what resetting ε does to the linear predictor."""
    ratios, wins, total = [], 0, 0
    for one, rho, share in every_setup():
        mine, fip = (
            results.setup(one, "linear", rho, share, CONDITIONAL),
            results.setup(one, "linear", rho, share, "fip"),
        )
        ratios.append(_times(fip.rmse, mine.rmse))
        wins += compare_setups(mine, fip) == 1
        total += 1
    reset = _interval(
        results.setup(one, "linear", rho, share, SMQ_PRINTED).privacy
        / results.setup(one, "linear", rho, share, SMQ_PRINTED).bought
        for one, rho, share in every_setup()
    )
    return (
        f"In the linear predictor the paper resets ε_i to w_i/W (errata E20); the owners SMQ buys then have a mean ε of only {reset}. With the ε that were "
        f"drawn, and the law given them, SMQ's RMSE is below FIP's in {wins} of {total} setups, FIP's being {_interval(ratios)} times as large."
    )


def sensitivity_of_sample(results: Results) -> str:
    """E19: what the sensitivity of the sample is."""
    parts, least = [], []
    for one, title in TITLES.items():
        found = [
            results.setup(one, "median", rho, share, f"fq-original-scale-{kind}").noise_rmse
            for kind in ("sample", "public")
            for rho, share in product(CORRELATIONS, PAPER_SHARES)
        ]
        half = len(found) // 2
        least.append(min(found[:half]))
        parts.append(f"{title} {_interval(found[:half])} against {_interval(found[half:])}")
    told_all = (
        "The noise of FQ's median (original rule, by scale; root mean square) with the sensitivity of the sample against that of the public range: "
        f"{'; '.join(parts)} (errata E19)."
    )
    if min(least) > 0:
        return told_all
    return f"{told_all} Where many owners share the median's value the former is 0: FQ adds no noise at all, and is not private."


FINDINGS: tuple[Finding, ...] = (
    overspending,
    gain_of_conditional,
    price_table,
    ceiling,
    full_purchase,
    money_of_fair_query,
    sensitivity_of_sample,
    linear_predictor,
    schemes,
    trials_without_answer,
)
"""In the order of the page."""
