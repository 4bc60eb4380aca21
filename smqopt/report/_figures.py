"""The report's figures: thresholds, acceptance, virtual cost, output law."""

from __future__ import annotations

import math

import numpy as np

from smqopt.derivation import virtual_cost_marks
from smqopt.document import Area, Band, Dots, Figure, Level, Mark, PlottedCurve, chart, shown, shown_share
from smqopt.market import Market, Solution
from smqopt.numeric import Floats
from smqopt.report._of_op2 import is_of_op2
from smqopt.report._thinning import MOST_POINTS, grouped_law, thin
from smqopt.valuation import Regular, Valuation

_FEW = 60
"""Up to so many owners, dots are drawn large."""
_CURVE_STYLES = ("curve", "curve second", "curve third")
_HEADROOM = 2.0
"""A curve of J is drawn up to this multiple of what matters."""


def thresholds_figure(solution: Solution) -> Figure:
    """Draw thresholds θ* against requirements ε, at most 2,000 owners."""
    market = solution.market
    high = float(np.max(market.high))
    marks: list[Mark] = [*_owners(solution, solution.thresholds), *_drawn_thresholds(solution)]
    if np.all(market.high == high):
        marks.insert(0, Level(high, "highest valuation"))
    return Figure.of(
        chart(
            "thresholds",
            (float(market.epsilon.min()), float(market.epsilon.max())),
            (min(float(market.low.min()), 0.0), high),
            x_label="privacy requirement ε (nats)",
            y_label="threshold θ* (currency)",
            description="Thresholds against privacy requirements: who parts with more privacy is offered more.",
            marks=marks,
        ),
        f"Thresholds against requirements. {_thinning_note(solution)}{_lottery_note(solution)}",
    )


def acceptance_figure(solution: Solution) -> Figure:
    """Draw acceptance F(θ*) against requirements ε, at most 2,000 owners."""
    market = solution.market
    return Figure.of(
        chart(
            "acceptance",
            (float(market.epsilon.min()), float(market.epsilon.max())),
            (0.0, 1.0),
            x_label="privacy requirement ε (nats)",
            y_label="acceptance probability F(θ*)",
            description="The probability of selling, against privacy requirements.",
            marks=_owners(solution, solution.acceptance),
        ),
        "The probability that an owner sells, against her requirement.",
    )


def virtual_cost_figure(solution: Solution) -> Figure:
    """Draw J(θ) over the support, for at most three laws."""
    market, rows = solution.market, _representatives(solution.market)
    top_offer = float(market.epsilon.max()) / solution.budget_price if solution.budget_price > 0 else math.inf
    ceiling = _HEADROOM * max(float(np.max(market.high[rows])), top_offer if math.isfinite(top_offer) else 0.0)
    marks: list[Mark] = [
        mark
        for row, style in zip(rows, _CURVE_STYLES, strict=False)
        for mark in virtual_cost_marks(*_part_of(market.valuation, row), ceiling, style)
    ]
    largest = max(
        (float(mark.y.max()) for mark in marks if isinstance(mark, PlottedCurve) and mark.y.size), default=ceiling
    )
    plain = is_of_op2(solution)
    in_sight = plain and 0 < top_offer <= largest
    if in_sight:
        marks.insert(0, Level(top_offer, "ε/λ for the largest ε"))
    lows, highs = market.low[rows], market.high[rows]
    note = (
        ""
        if len(rows) == 1
        else " Laws differ by owner; shown are those with the least, a middle and the largest J at the high end."
    )
    if not isinstance(market.valuation.regularity(), Regular):
        shaded = any(isinstance(mark, Band) for mark in marks)
        note += " J is not known to rise everywhere: where it does not, its ironed form decides"
        note += ", the flat line in the shaded part." if shaded else "."
    if plain and top_offer > largest:
        note += " For the largest ε, ε/λ lies above all of J: she is offered the high end of the support."
    rule = " An owner’s threshold is where J meets her ε/λ." if plain else ""
    return Figure.of(
        chart(
            "virtual-cost",
            (float(lows.min()), float(highs.max())),
            (min(0.0, float(lows.min())), largest),
            x_label="valuation θ (currency)",
            y_label="virtual cost J(θ) (currency)",
            description="The virtual cost over the support of the valuations.",
            marks=marks,
        ),
        f"The virtual cost over the support.{rule}{note}",
    )


def output_law_figure(values: Floats, probabilities: Floats, value: float) -> Figure:
    """Draw the exact law of a simulation's answer, without tails of 10⁻⁶.

    Parameters
    ----------
    values, probabilities
        Shape (k,); values increasing.
    value
        The answer that was drawn.
    """
    edges, heights, size, inside = grouped_law(values, probabilities)
    outline_x = np.repeat(edges, 2)[1:-1]
    outline_y = np.repeat(heights, 2)
    spread = [float(edges[0]), float(edges[-1]), value]
    note = f"Drawn is {shown_share(min(inside, 1.0), 1.0)} of the probability."
    if size > 1:
        note += f" Each step is the mean over {size} neighbouring values."
    marks: list[Mark] = [Area(outline_x, outline_y), PlottedCurve(outline_x, outline_y)]
    marks.append(Level(value, "the answer", upright=True, style="level strong"))
    return Figure.of(
        chart(
            "output-law",
            (min(spread), max(spread)),
            (0.0, float(heights.max())),
            x_label="answer",
            y_label="probability of one value",
            description="The exact distribution of the answer, with the answer that was drawn.",
            marks=marks,
        ),
        f"The exact distribution of the answer, for the entries bought. {note}",
    )


def _owners(solution: Solution, y: Floats) -> list[Mark]:
    epsilon = solution.market.epsilon
    chosen = thin(epsilon)
    style = "big-dots" if epsilon.size <= _FEW else "dots"
    offered = solution.offered[chosen]
    marks: list[Mark] = []
    for who, look in ((~offered, f"{style} faint"), (offered, style)):
        rows = chosen[who]
        if rows.size:
            marks.append(Dots(epsilon[rows], y[rows], look))
    return marks


def _drawn_thresholds(solution: Solution) -> list[Mark]:
    """Mark the thresholds of owners with a lottery, at most 2,000 of them."""
    lottery = solution.lottery
    if lottery is None:
        return []
    chosen = thin(solution.market.epsilon[lottery.owner], MOST_POINTS // 2)
    epsilon = solution.market.epsilon[lottery.owner[chosen]]
    style = "big-dots second" if solution.market.n <= _FEW else "dots second"
    return [Dots(epsilon, ends[chosen], style) for ends in lottery.prices.T]


def _lottery_note(solution: Solution) -> str:
    return "" if solution.lottery is None else " Orange dots are the thresholds of which an owner’s offer is drawn."


def _thinning_note(solution: Solution) -> str:
    grey = "" if solution.offered.all() else "; grey dots get no offer"
    n = solution.market.n
    if n <= MOST_POINTS:
        return f"Each dot is one row of the market{grey}."
    return f"Drawn are {shown(MOST_POINTS)} of {shown(n)} rows, evenly by rank of ε{grey}."


def _representatives(market: Market) -> list[int]:
    """Choose rows with the least, the middle and the largest J(θ̄)."""
    if market.valuation.size is None:
        return [0]
    top = market.valuation.virtual_cost(market.high)
    order = np.argsort(top, kind="stable")
    chosen = order[[0, order.size // 2, order.size - 1]].tolist()
    return list({(market.low[row], market.high[row], top[row]): row for row in chosen}.values())


def _part_of(law: Valuation, row: int) -> tuple[Valuation, int]:
    """Return the family of a row's law, and her place within it."""
    if law.size is None:
        return law, 0
    for part, owners in law.parts():
        places = np.flatnonzero(np.arange(law.size)[owners] == row)
        if places.size:
            return part, 0 if part.size is None else int(places[0])
    raise AssertionError(row)  # every row is in a part
