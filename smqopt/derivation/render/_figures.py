"""Figures of one law: its virtual cost, and acceptance against spend."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from smqopt.document import Band, Dots, Figure, Level, Mark, PlottedCurve, chart
from smqopt.numeric import Floats
from smqopt.valuation import Ironed, Regular, Valuation, iron

_POINTS = 161
_HEADROOM = 2.0
"""A curve of J is drawn up to this multiple of what matters."""


@dataclass(frozen=True)
class Optimum:
    """Where one owner's threshold stands, and what buying her may cost at the margin."""

    threshold: float
    """θ*, in currency."""
    acceptance: float
    price_ratio: float
    """x = ε/λ, the virtual cost at which she is bought, in currency."""


def law_figures(
    law: Valuation, row: int = 0, optimum: Optimum | None = None, *, ending: str = ""
) -> list[tuple[str, Figure]]:
    """Draw a law's two figures, each with a name.

    Parameters
    ----------
    law
        Of one family.
    row
        Whose law to draw, from 0, where they differ by owner.
    optimum
        What to mark; nothing where None.
    ending
        What the names end in, so that several laws may stand on one page.
    """
    return [
        (f"virtual-cost{ending}", virtual_cost_figure(law, row, optimum, f"law-cost{ending}")),
        (
            f"acceptance-from-spend{ending}",
            acceptance_from_spend_figure(law, row, optimum, f"law-acceptance{ending}"),
        ),
    ]


def virtual_cost_figure(law: Valuation, row: int = 0, optimum: Optimum | None = None, name: str = "law-cost") -> Figure:
    """Draw J(θ) of one owner, its ironed parts, and the threshold where J meets x."""
    low, high = _ends(law, row)
    price_ratio = 0.0 if optimum is None else optimum.price_ratio
    ceiling = _HEADROOM * max(high, price_ratio if math.isfinite(price_ratio) else 0.0)
    marks = virtual_cost_marks(law, row, ceiling)
    top = max((float(mark.y.max()) for mark in marks if isinstance(mark, PlottedCurve) and mark.y.size), default=high)
    note = ""
    if optimum is not None and 0 < price_ratio <= top:
        marks.insert(0, Level(price_ratio, "x = ε/λ"))
        marks.append(Dots(np.array([optimum.threshold]), np.array([price_ratio]), "big-dots second"))
        note = " The dot is the threshold of one owner of the instance."
    if any(isinstance(mark, Band) for mark in marks):
        note += " In the shaded part J falls or jumps: the flat line is its ironed form, which decides there."
    elif not isinstance(law.regularity(), Regular):
        note += " J is not known to rise everywhere, but no part was found that needs ironing."
    return Figure.of(
        chart(
            name,
            (low, high),
            (min(0.0, low), top),
            x_label="valuation θ",
            y_label="virtual cost J(θ)",
            description="The virtual cost over the support of the valuations.",
            marks=marks,
        ),
        f"The virtual cost J(θ) over the support. An owner’s threshold is where it meets her ε/λ.{note}",
    )


def virtual_cost_marks(law: Valuation, row: int, ceiling: float, style: str = "curve") -> list[Mark]:
    """Return the curve of J up to a ceiling, and a band for each ironed part."""
    low, high = _ends(law, row)
    t = np.linspace(low, high, _POINTS)
    cost = _of(law, row)("virtual_cost", t)
    shown = np.isfinite(cost) & (cost <= ceiling)
    marks: list[Mark] = [PlottedCurve(t[shown], cost[shown], style)]
    for start, end, slope in _ironed_parts(law, row):
        marks.insert(0, Band(start, end))
        if slope <= ceiling:
            marks.append(PlottedCurve(np.array([start, end]), np.array([slope, slope]), "curve ironed"))
    return marks


def acceptance_from_spend_figure(
    law: Valuation, row: int = 0, optimum: Optimum | None = None, name: str = "law-acceptance"
) -> Figure:
    """Draw acceptance q = F(θ) against spend θF(θ), with its tangent at the optimum."""
    low, high = _ends(law, row)
    even = np.linspace(0.0, 1.0, _POINTS)
    # Even steps in θ, and finer ones at the low end, where acceptance may rise steeply.
    t = low + (high - low) * np.unique(np.concatenate([even, even**3]))
    q = _of(law, row)("cdf", t)
    marks: list[Mark] = [PlottedCurve(t * q, q)]
    note = ""
    for start, end, _ in _ironed_parts(law, row):
        ends = np.array([start, end])
        sold = _of(law, row)("cdf", ends)
        marks.append(PlottedCurve(ends * sold, sold, "curve ironed"))
        note = " The straight piece is a lottery between its ends: it buys more than any threshold between would."
    if optimum is not None and 0 < optimum.price_ratio < math.inf and 0 < optimum.acceptance < 1:
        at, top = optimum.threshold * optimum.acceptance, high
        reach = np.array(
            [
                max(0.0, at - optimum.acceptance * optimum.price_ratio),
                min(top, at + (1 - optimum.acceptance) * optimum.price_ratio),
            ]
        )
        marks.insert(0, PlottedCurve(reach, optimum.acceptance + (reach - at) / optimum.price_ratio, "tangent"))
        marks.append(Dots(np.array([at]), np.array([optimum.acceptance]), "big-dots second"))
        note = f" The dashed tangent at one owner’s optimum has slope 1/J(θ*) = λ/ε.{note}"
    return Figure.of(
        chart(
            name,
            (0.0, high),
            (0.0, 1.0),
            x_label="spend θF(θ)",
            y_label="acceptance F(θ)",
            description="The probability of buying, against the expected payment.",
            marks=marks,
        ),
        f"Acceptance against spend: concave where J does not fall.{note}",
    )


def _of(law: Valuation, row: int) -> Callable[[str, Floats], Floats]:
    """Return the functions of one owner's law at many points."""

    def value(name: str, t: Floats) -> Floats:
        one = law if law.size is None else law.take(np.full(t.size, row, dtype=np.intp))
        return np.asarray(getattr(one, name)(t), dtype=np.float64)

    return value


def _ends(law: Valuation, row: int) -> tuple[float, float]:
    size = law.size or 1
    low, high = (float(np.broadcast_to(end, (size,))[row]) for end in (law.low, law.high))
    return low, high


def _ironed_parts(law: Valuation, row: int) -> list[tuple[float, float, float]]:
    """Return the ends and the ironed virtual cost of each ironed part."""
    found = iron(law)
    if not isinstance(found, Ironed):
        return []
    own = found.pieces.owner == (0 if found.common else row)
    pieces = found.pieces
    return list(zip(pieces.low[own].tolist(), pieces.high[own].tolist(), pieces.slope[own].tolist(), strict=True))
