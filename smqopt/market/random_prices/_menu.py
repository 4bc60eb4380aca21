r"""The prices that may be drawn: one menu for each different law of a market.

A menu θ_1 < … < θ_K of prices cuts reports into cells (θ_{k−1}, θ_k]. Whose report lies in cell k
sells with the chance Q_k that the drawn price is θ_k or more. What she is expected to be paid is
Σ t_k p_k Q_k, p_k = F(θ_k) − F(θ_{k−1}) and t_k the slope of the chord of C(q) = q F⁻¹(q) over the
cell. Only vertices of the lower hull of C are on a menu, so t_k rises.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smqopt.errors import InputError
from smqopt.market._market import Market
from smqopt.numeric import Floats
from smqopt.valuation import Valuation, lower_hull

CELLS = 2048
"""Prices of a menu; what a finer one would gain falls as their number squared."""
MOST_LAWS = 1024
"""So many different laws have menus of their own."""
_FINER = 4
_ROUNDS = 3


@dataclass(frozen=True, eq=False)
class Kinds:
    """The different laws of a market."""

    of_row: NDArray[np.intp]
    """Which law each row has, shape (n,)."""
    laws: tuple[Valuation, ...]
    """One law each."""


def kinds_of(market: Market) -> Kinds:
    """Find the different laws of a market.

    Raises
    ------
    InputError
        If there are more than `MOST_LAWS`.
    """
    of_row = np.empty(market.n, dtype=np.intp)
    laws: list[Valuation] = []
    for law, index in market.valuation.parts():
        rows = np.arange(market.n)[index]
        if law.size is None:
            of_row[rows] = len(laws)
            laws.append(law)
            continue
        first, which = np.arange(law.size), np.arange(law.size)
        if law.parameters:
            columns = [np.broadcast_to(np.asarray(law.arguments[name]), (law.size,)) for name in law.parameters]
            _, first, which = np.unique(np.column_stack(columns), axis=0, return_index=True, return_inverse=True)
        of_row[rows] = len(laws) + which.ravel()
        if len(laws) + first.size > MOST_LAWS:
            raise InputError(
                "market",
                f"has more than {MOST_LAWS} different laws, and each would need a menu of random prices",
                value=int(first.size),
                remedy="let owners who are alike share a law",
            )
        laws += [law.take(np.array([one], dtype=np.intp)) for one in first.tolist()]
    return Kinds(of_row, tuple(laws))


def menu_prices(laws: tuple[Valuation, ...]) -> Floats:
    """Choose the menus; shape (kinds, K), rows filled up with their highest price."""
    menus = [_menu(law) for law in laws]
    width = max(menu.size for menu in menus)
    return np.array([np.append(menu, np.full(width - menu.size, menu[-1])) for menu in menus])


def cdf_at(law: Valuation, prices: Floats) -> Floats:
    """Return F at prices, shape (K,), of one law."""
    return np.ravel(law.cdf(prices[:, np.newaxis] if law.size is not None else prices))


def _menu(law: Valuation) -> Floats:
    from smqopt.valuation import step_law  # noqa: PLC0415 -- its balls load SymPy

    steps = step_law(law)
    low, high = float(np.ravel(law.low)[0]), float(np.ravel(law.high)[0])
    even = np.linspace(0.0, 1.0, _FINER * CELLS + 1)
    levels = even[:, np.newaxis] if law.size is not None else even
    prices = np.unique(np.clip(np.concatenate([low + (high - low) * even, np.ravel(law.ppf(levels))]), low, high))
    prices, q = _on_hull(law, np.append(prices, high))
    for turn in range(_ROUNDS if steps is None else 0):
        if q.size <= CELLS:
            break
        q_before, cost = np.append(0.0, q), np.append(0.0, q * prices)
        root = np.sqrt(np.diff(cost) / np.diff(q_before))
        rise = np.append(np.diff(root), 0.0)
        share = np.cbrt(rise**2 * np.diff(q_before) / np.maximum(root, np.finfo(np.float64).tiny))
        place = np.cumsum(share + share.sum() / share.size / _FINER)
        prices = np.interp(np.linspace(place[0], place[-1], CELLS), place, prices)
        prices[-1] = high
        prices, q = _on_hull(law, np.unique(prices))
        if turn == 0:  # between the prices of the first look, look again
            fine = np.interp(np.linspace(0.0, prices.size - 1.0, _FINER * CELLS), np.arange(prices.size), prices)
            prices, q = _on_hull(law, np.unique(np.append(fine, high)))
    return prices


def _on_hull(law: Valuation, prices: Floats) -> tuple[Floats, Floats]:
    """Keep the prices whose F is positive and that are vertices of the hull of C."""
    q = cdf_at(law, prices)
    x, y = np.append(0.0, q), np.append(0.0, q * prices)
    kept = lower_hull(np.zeros(x.size, dtype=np.intp), x, y)
    kept = kept[x[kept] > 0] - 1
    return prices[kept], q[kept]
