"""Custom programs as one linear program over lotteries of posted prices, by column generation from F alone.

x_g(p) ≥ 0 for a group g of owners who share a price, Σ_p x_g(p) ≤ 1, q_i = Σ x F_i(p), b_i = Σ x p F_i(p): all rows are linear in x.
The master is solved by HiGHS over the prices met so far; prices are sought on a fine grid and then by zooming in. The answer comes
with its own bracket. Nothing of the records or solvers of the package is used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import highspy
import numpy as np

GRID = 600
ZOOMS, POINTS = 5, 16
ROUNDS = 150
BELOW = 2.0**-44
"""How far below a jump of F a price is taken, relatively: the limit from below is never reached."""


@dataclass
class Plain:
    """A program over n owners in numbers."""

    cdfs: Sequence[Callable[[np.ndarray], np.ndarray]]
    """F_i at prices ≥ 0 of any size: 0 below the support, 1 above."""
    knots: Sequence[np.ndarray]
    """Where F_i jumps, breaks, begins and ends."""
    count: np.ndarray
    group: np.ndarray
    """Who shares a price; (n,)."""
    floor: np.ndarray
    ceiling: np.ndarray
    lists: Sequence[np.ndarray | None]
    """What may be posted, by group."""
    A: np.ndarray
    S: np.ndarray
    r: np.ndarray
    equal: np.ndarray
    """Rows Σ A q + Σ S b ≤ r or = r, the budget's among them; multiplicities are in the coefficients."""
    gain: np.ndarray
    """Of φ_i: the slope where it is linear, the weight where it is not."""
    kind: str = "linear"
    scale: float = 1.0
    epsilon: np.ndarray = field(default_factory=lambda: np.zeros(0))
    unsold: np.ndarray | None = None
    """Who may not sell: prices at which she does are left out, for all who share hers; (n,)."""
    unpaid: np.ndarray | None = None
    """Who may not be paid, alike."""
    paid: float = 0.0
    """What a unit of expected spend takes off the value; where φ is linear."""


@dataclass
class Bracket:
    """lower ≤ optimum ≤ upper; or proved infeasible; or neither arrived."""

    lower: float
    upper: float
    infeasible: bool
    broken: float
    """The least total violation of the normalised rows that was found, and"""
    broken_at_least: float
    """a bound on it from below."""


def acceptances(plain, owners, prices):
    """F of owners at prices, each law asked once; shape (owners, prices)."""
    found = {}
    for i in owners:
        if plain.cdfs[i] not in found:
            found[plain.cdfs[i]] = plain.cdfs[i](prices)
    return np.array([found[plain.cdfs[i]] for i in owners]).reshape(len(owners), -1)


def phi(plain, q):
    if plain.kind == "linear":
        return plain.gain * q, plain.gain + 0 * q
    if plain.kind == "log":
        x = plain.epsilon / plain.scale
        return plain.gain * np.log1p(x * q), plain.gain * x / (1 + x * q)
    with np.errstate(divide="ignore", invalid="ignore"):
        w = plain.gain
        return np.where(w > 0, -w * w / q, 0.0), np.where(w > 0, (w / q) ** 2, 0.0)


def conjugate(plain, e):
    """max {φ(q) − e q: 0 ≤ q ≤ 1}."""
    if plain.kind == "linear":
        return np.maximum(plain.gain - e, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        if plain.kind == "log":
            x = plain.epsilon / plain.scale
            q = np.where(e > 0, plain.gain / e - 1 / x, np.inf)
        else:
            q = np.where(e > 0, np.abs(plain.gain) / np.sqrt(np.maximum(e, 0)), np.inf)
    q = np.clip(np.where(np.isnan(q), 0.0, q), 0.0, 1.0)
    if plain.kind != "log":
        q = np.where(plain.gain > 0, np.maximum(q, 1e-150), (e < 0) * 1.0)
    return phi(plain, q)[0] - e * q


class Pricing:
    """max over p of Σ_i in g (c_i − d_i p) F_i(p), for all groups."""

    def __init__(self, plain):
        self.plain = plain
        self.members = [np.flatnonzero(plain.group == g) for g in range(plain.group.max() + 1)]
        self.grid, self.F = [], []
        for g, mine in enumerate(self.members):
            self.grid.append(self.prices_of(g, mine))
            self.F.append(acceptances(plain, mine, self.grid[g]))

    def prices_of(self, g, mine):
        prices = self.allowed(g, mine)
        for barred, paid in ((self.plain.unsold, False), (self.plain.unpaid, True)):
            for i in mine[barred[mine]] if barred is not None else ():
                prices = prices[self.plain.cdfs[i](prices) * (prices if paid else 1.0) == 0]
        return prices

    def allowed(self, g, mine):
        plain = self.plain
        least, most = plain.floor[mine].max(), plain.ceiling[mine].min()
        if plain.lists[g] is not None:
            prices = plain.lists[g]
            return prices[(prices >= least) & (prices <= most)]
        knots = np.unique(np.concatenate([plain.knots[i] for i in mine]))
        low, high = knots[0], max(knots[-1], least)
        spread = np.concatenate(
            [np.linspace(low, high, GRID), low + (high - low) * np.logspace(-9, 0, 80), [least, most]]
        )
        spread = np.concatenate([spread, high - (high - low) * np.logspace(-9, 0, 40), knots, knots * (1 - BELOW)])
        prices = np.unique(spread[np.isfinite(spread)])
        return prices[(prices >= least) & (prices <= most)]

    def best(self, c, d):
        """The best price of each group and its value; no offer, value 0, is None."""
        found = []
        for g, mine in enumerate(self.members):
            p, F = self.grid[g], self.F[g]
            if not p.size:
                found.append((None, 0.0))
                continue
            h = ((c[mine, None] - d[mine, None] * p) * F).sum(axis=0)
            k = int(np.argmax(h))
            price, value = float(p[k]), float(h[k])
            if self.plain.lists[g] is None and p.size > 1:  # what is allowed at both ends is so between them
                tops = np.flatnonzero((h[1:-1] >= h[:-2]) & (h[1:-1] >= h[2:])) + 1
                tops = np.unique(np.append(tops[np.argsort(-h[tops])[:3]], k))
                for top in tops.tolist():
                    low, high = p[max(top - 1, 0)], p[min(top + 1, p.size - 1)]
                    for _ in range(ZOOMS):
                        t = np.linspace(low, high, POINTS)
                        Ft = acceptances(self.plain, mine, t)
                        ht = ((c[mine, None] - d[mine, None] * t) * Ft).sum(axis=0)
                        j = int(np.argmax(ht))
                        if ht[j] > value:
                            price, value = float(t[j]), float(ht[j])
                        low, high = t[max(j - 1, 0)], t[min(j + 1, POINTS - 1)]
            found.append((price, value) if value > 0 else (None, 0.0))
        return found


class Master:
    """Rows: the program's, one for each group, one for each piece of φ; columns: prices, violations, t_i."""

    def __init__(self, plain, size):
        self.plain, self.size = plain, size
        self.k, self.groups, self.n = plain.r.size, plain.group.max() + 1, plain.count.size
        self.prices, self.F = [[] for _ in range(self.groups)], {}
        self.curved = plain.kind != "linear"
        self.cuts = []

    def add_price(self, g, p):
        if p is not None and p not in self.prices[g]:
            self.prices[g].append(p)
            mine = np.flatnonzero(self.plain.group == g)
            self.F[g, p] = mine, acceptances(self.plain, mine, np.array([p]))[:, 0]

    def solve(self, phase):
        plain, k, G, n = self.plain, self.k, self.groups, self.n
        cost = []
        self.index = [(g, p) for g in range(G) for p in self.prices[g]]
        Q = np.zeros((n, len(self.index)))
        for j, (g, p) in enumerate(self.index):
            mine, F = self.F[g, p]
            Q[mine, j] = F
        pay = Q * np.array([p for _, p in self.index])
        rows = (plain.A @ Q + plain.S @ pay) / self.size[:, None]
        choice = np.zeros((G, len(self.index)))
        choice[[g for g, _ in self.index], np.arange(len(self.index))] = 1.0
        curved = self.curved and phase == 2
        value = (
            np.zeros(len(self.index))
            if phase == 1 or curved
            else (plain.count * plain.gain) @ Q - plain.paid * plain.count @ pay
        )
        blocks = [np.vstack([rows, choice])]
        cost.append(value)
        lower, upper = [np.zeros(len(self.index))], [np.full(len(self.index), np.inf)]
        if phase == 1:
            over = np.vstack([-np.eye(k), np.zeros((G, k))])
            under = np.vstack([np.eye(k)[:, plain.equal], np.zeros((G, int(plain.equal.sum())))])
            for block in (over, under):
                blocks.append(block)
                cost.append(-np.ones(block.shape[1]))
                lower.append(np.zeros(block.shape[1]))
                upper.append(np.full(block.shape[1], np.inf))
        matrix = np.hstack(blocks)
        row_low = np.concatenate([np.where(plain.equal, plain.r / self.size, -np.inf), np.full(G, -np.inf)])
        row_high = np.concatenate([plain.r / self.size, np.ones(G)])
        if curved:
            matrix = np.hstack([matrix, np.zeros((matrix.shape[0], n))])
            extra = np.zeros((len(self.cuts), matrix.shape[1]))
            right = np.zeros(len(self.cuts))
            for c, (i, height, slope) in enumerate(self.cuts):
                extra[c, : len(self.index)] = -slope * Q[i]
                extra[c, matrix.shape[1] - n + i] = 1.0
                right[c] = height
            matrix = np.vstack([matrix, extra])
            row_low, row_high = np.append(row_low, np.full(right.size, -np.inf)), np.append(row_high, right)
            cost.append(plain.count)
            lower.append(np.full(n, -np.inf))
            upper.append(np.full(n, np.inf))
        x, dual = _highs(-np.concatenate(cost), matrix, row_low, row_high, np.concatenate(lower), np.concatenate(upper))
        if x is None:
            return None
        self.q, self.b = Q @ x[: len(self.index)], pay @ x[: len(self.index)]
        self.total = float(np.concatenate(cost) @ x)
        y = -dual[:k] / self.size
        e = np.zeros(n)
        if phase == 2:
            e = plain.count * plain.gain
            if curved:
                e = np.zeros(n)
                for (i, _, slope), weight in zip(self.cuts, -dual[k + G :], strict=True):
                    e[i] += slope * max(weight, 0.0)
        return np.where(plain.equal, y, np.maximum(y, 0.0)), e


def _highs(cost, matrix, row_low, row_high, lower, upper):
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    for name in ("primal_feasibility_tolerance", "dual_feasibility_tolerance"):
        highs.setOptionValue(name, 1e-10)
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = cost.size, row_low.size
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = cost, lower, upper
    lp.row_lower_, lp.row_upper_ = row_low, row_high
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    at = [np.flatnonzero(row) for row in matrix]
    lp.a_matrix_.start_ = np.concatenate([[0], np.cumsum([a.size for a in at])])
    lp.a_matrix_.index_ = np.concatenate([*at, np.zeros(0, dtype=int)])
    lp.a_matrix_.value_ = np.concatenate([*(row[a] for row, a in zip(matrix, at, strict=True)), np.zeros(0)])
    highs.passModel(lp)
    highs.run()
    if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None, None
    found = highs.getSolution()
    return np.array(found.col_value), np.array(found.row_dual)


def optimum(plain: Plain, tolerance: float = 1e-9) -> Bracket:
    """Bracket the optimum of a program; the value is what is maximised."""
    pricing = Pricing(plain)
    master = _master(plain, pricing)
    broken, least = _violation(plain, pricing, master, tolerance)
    if broken > 1e-8 and least > 1e-10:
        return Bracket(-np.inf, -np.inf, True, broken, least)
    return Bracket(*_value(plain, pricing, master, tolerance), False, broken, least)


def _master(plain, pricing):
    tops = np.array([max(float(k[-1]), float(f)) for k, f in zip(plain.knots, plain.floor, strict=True)])
    size = np.maximum(np.abs(plain.A).sum(axis=1) + np.abs(plain.S) @ tops, np.abs(plain.r))
    size = np.where(size > 0, size, 1.0)
    master = Master(plain, size)
    for g in range(master.groups):
        if pricing.grid[g].size:
            for k in np.unique(np.linspace(0, pricing.grid[g].size - 1, 5).astype(int)):
                master.add_price(g, float(pricing.grid[g][k]))
    return master


def _violation(plain, pricing, master, tolerance):
    least = -np.inf
    for _ in range(ROUNDS):
        y, _ = master.solve(1)
        found = pricing.best(-plain.A.T @ y, plain.S.T @ y)
        least = max(least, -float(plain.r @ y) - sum(value for _, value in found))
        for g, (p, _) in enumerate(found):
            master.add_price(g, p)
        if -master.total <= 1e-10 or least > tolerance or -master.total - least < 1e-11:
            break
    return -master.total, least


def _value(plain, pricing, master, tolerance):
    lower, upper = -np.inf, np.inf
    if not any(master.prices):
        return 0.0, 0.0
    if master.curved:
        for q in (0.01, 0.1, 0.3, 0.6, 1.0):
            value, slope = phi(plain, np.full(plain.count.size, q))
            master.cuts += [(i, value[i] - slope[i] * q, slope[i]) for i in range(plain.count.size)]
    for _ in range(ROUNDS):
        found = master.solve(2)
        if found is None:
            break
        y, e = found
        value, slope = phi(plain, master.q)
        lower = max(lower, float(plain.count @ value - plain.paid * plain.count @ master.b))
        beyond = 0.0 if not master.curved else float(plain.count @ conjugate(plain, e / plain.count))
        found = pricing.best(e - plain.A.T @ y, plain.paid * plain.count + plain.S.T @ y)
        upper = min(upper, float(plain.r @ y) + sum(v for _, v in found) + beyond)
        if upper - lower <= 0.1 * tolerance * max(abs(upper), 1e-3):
            break
        before = sum(map(len, master.prices)) + len(master.cuts)
        for g, (p, _) in enumerate(found):
            master.add_price(g, p)
        if master.curved:
            q = np.maximum(master.q, 1e-6)
            value, slope = phi(plain, q)
            master.cuts += [(i, value[i] - slope[i] * q[i], slope[i]) for i in range(q.size)]
        if sum(map(len, master.prices)) + len(master.cuts) == before:
            break
    return lower, upper
