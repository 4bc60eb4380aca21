r"""The prices that may be drawn: one menu for each different law of a market.

A menu θ_1 < … < θ_K of prices cuts reports into cells (θ_{k−1}, θ_k]. Whose report lies in cell k
sells with the chance Q_k that the drawn price is θ_k or more. What she is expected to be paid is
Σ t_k p_k Q_k, p_k = F(θ_k) − F(θ_{k−1}) and t_k the slope of the chord of C(q) = q F⁻¹(q) over the
cell. Only vertices of the lower hull of C are on a menu, so t_k rises.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smqopt.errors import InputError
from smqopt.market._market import Market
from smqopt.numeric import Floats
from smqopt.valuation import Valuation, lower_hull

CELLS = 4096
"""Prices of a menu; what a finer one would gain falls as their number squared."""
MOST_LAWS = 1024
"""So many different laws have menus of their own."""
_FINER = 2
_JUMP = 4.0
"""So many cells' share at one price, as before a gap: it stays on the menu as it is."""
_TINY = float(np.finfo(np.float64).tiny)
_ROUNDS = 3
_HALVINGS = 43
"""Of 1 − F, towards the highest price, where slopes may have no bound."""
_ANYWHERE = 1 / 16
"""Of a menu's prices are put without regard to what they gain."""

Stake = Callable[[Floats], Floats]
"""What a cell is worth, by the root of its slope."""


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


def stakes_of(kinds: Kinds, weight: Floats, count: Floats, price: float) -> list[Stake]:
    """Return what cells are worth where the price of money is λ and nothing is kept.

    By one cell for the range (r, r + h) of √t an owner errs by w p h²/r √λ/12 more, if r > w/√λ.
    """
    found: list[Stake] = []
    by_kind = np.argsort(kinds.of_row, kind="stable")
    for rows in np.split(by_kind, np.searchsorted(kinds.of_row[by_kind], np.arange(1, len(kinds.laws)))):
        order = rows[np.argsort(weight[rows])]
        edge, worth = weight[order] / np.sqrt(price), np.append(0.0, np.cumsum((weight * count)[order]))
        found.append(lambda root, edge=edge, worth=worth: worth[np.searchsorted(edge, root)])  # type: ignore[misc]
    return found


def menu_prices(laws: tuple[Valuation, ...], stakes: Sequence[Stake] | None = None) -> Floats:
    """Choose the menus; shape (kinds, K), rows filled up with their highest price.

    Where no stakes are given all slopes count alike.
    """
    menus = [_menu(law, stake) for law, stake in zip(laws, stakes or [np.ones_like] * len(laws), strict=True)]
    width = max(menu.size for menu in menus)
    return np.array([np.append(menu, np.full(width - menu.size, menu[-1])) for menu in menus])


def cdf_at(law: Valuation, prices: Floats) -> Floats:
    """Return F at prices, shape (K,), of one law."""
    return np.ravel(law.cdf(prices[:, np.newaxis] if law.size is not None else prices))


def _menu(law: Valuation, stake: Stake) -> Floats:
    from smqopt.valuation import step_law  # noqa: PLC0415 -- its balls load SymPy

    steps = step_law(law)
    low, high = float(np.ravel(law.low)[0]), float(np.ravel(law.high)[0])
    even = np.linspace(0.0, 1.0, _FINER * CELLS + 1)
    levels = np.append(even, 1.0 - 2.0 ** (-_HALVINGS * even))
    quantiles = np.ravel(law.ppf(levels[:, np.newaxis] if law.size is not None else levels))
    prices = np.unique(np.clip(np.append(low + (high - low) * even, quantiles), low, high))
    prices, q = _on_hull(law, np.append(prices, high))
    for turn in range(_ROUNDS if steps is None else 0):
        if q.size <= CELLS:
            break
        q_before, cost = np.append(0.0, q), np.append(0.0, q * prices)
        root = np.sqrt(np.diff(cost) / np.diff(q_before))
        rise = np.append(np.diff(root), 0.0)
        share = np.cbrt(rise**2 * np.diff(q_before) / np.maximum(root, rise + _TINY) * stake(root + rise))
        most = _JUMP * share.sum() / CELLS
        jumps, share = prices[share > most], np.minimum(share, most)
        place = np.cumsum(share + (share.sum() + _TINY) / share.size * _ANYWHERE)
        prices = np.append(np.interp(np.linspace(place[0], place[-1], CELLS), place, prices), jumps)
        prices, q = _on_hull(law, np.unique(np.append(prices, high)))
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
