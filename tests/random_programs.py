"""Random custom programs, each twice: as a market with records, and as numbers for the independent oracle.

Not drawn: laws in doubt, errors and weighted sums as aims, curved aims beside wide records, rows in cvxpy, one price each.
"""

from __future__ import annotations

import dataclasses
import itertools
import sys

import numpy as np
from lottery_oracle import Plain, optimum
from scipy.optimize import brentq
from scipy.stats import binom

import smqopt as smq

KINDS = (
    "coverage",
    "parity",
    "group-budget",
    "price-range",
    "acceptance-range",
    "expected-owners",
    "common-price",
    "price-menu",
    "linear-row",
)
OBJECTIVES = ("privacy", "privacy", "privacy", "log", "variance")


def law_of(rng):
    """A law, and where its F jumps, breaks, begins and ends."""
    low = float(rng.choice([0.0, 0.0, 0.1, 0.5]))
    high = low + float(rng.choice([0.5, 1.0, 1.5, 3.0]))
    kind = int(rng.integers(12))
    if kind == 0:
        return smq.Uniform(low, high), [low, high]
    if kind == 1:
        return smq.Power(float(rng.choice([0.5, 2.0, 3.0])), low=low, high=high), [low, high]
    if kind == 2:
        return smq.TruncatedExponential(rate=float(rng.choice([0.5, 2.0])), low=low, high=high), [low, high]
    if kind == 3:
        return smq.Kumaraswamy(float(rng.choice([0.8, 2.0])), float(rng.choice([0.7, 3.0]))), [0.0, 1.0]
    if kind == 4:
        return smq.Beta(float(rng.choice([0.6, 2.0])), float(rng.choice([0.5, 3.0]))), [0.0, 1.0]
    if kind == 5:
        values = np.unique(rng.integers(0, 9, int(rng.integers(2, 5)))) / 4
        chances = rng.dirichlet(np.ones(values.size))
        return smq.Discrete(values.tolist(), chances.tolist()), values.tolist()
    if kind == 6:
        value = float(rng.choice([0.0, 0.43, 1.0]))
        return smq.PointMass(value), [value]
    if kind == 7:
        edges = np.unique(rng.integers(0, 13, 5)) / 8
        edges = edges if edges.size > 1 else np.array([0.0, 1.0])
        return smq.PiecewiseUniform(edges.tolist(), rng.dirichlet(np.ones(edges.size - 1)).tolist()), edges.tolist()
    if kind == 8:
        first, second = smq.Uniform(0, 0.5), smq.Uniform(0.8, high + 1)
        return smq.Mixture([first, second], weights=[0.4, 0.6]), [0.0, 0.5, 0.8, high + 1]
    if kind == 9:
        return smq.Triangular(0.0, 0.4, 1.0), [0.0, 0.4, 1.0]
    if kind == 10:
        return smq.Truncated(smq.Beta(2, 5), 0.1, 0.8), [0.1, 0.8]
    return smq.from_cdf("theta**2 * (3 - 2*theta)", low=0, high=1), [0.0, 1.0]


def cdf_of(law, ends):
    def F(price):
        price = np.asarray(price, dtype=float)
        inner = law.cdf(np.clip(price, ends[0], ends[-1]))
        return np.where(price < ends[0], 0.0, np.where(price >= ends[-1], 1.0, inner))

    return F


class Draft:
    """A program in the making, in both forms."""

    zeros = False
    """Whether limits of 0 and demands for everybody fix whom they name, and the budget may be 0."""

    def __init__(self, rng, n, kinds, objective):
        self.rng, self.n = rng, n
        kinds_of_law = [law_of(rng) for _ in range(int(rng.choice([1, 1, 2, 3])))]
        which = rng.integers(len(kinds_of_law), size=n)
        self.epsilon = np.round(rng.uniform(0.05, 2.0, n), 3)
        if rng.random() < 0.3:
            self.epsilon = np.round(self.epsilon, 1)
        self.labels = {"h": rng.integers(3, size=n), "s": rng.integers(2, size=n)}
        count = rng.integers(1, 4, n) if rng.random() < 0.2 else None
        laws = [kinds_of_law[k][0] for k in which]
        law = laws[0] if len(kinds_of_law) == 1 else smq.ByOwner(laws)
        groups = {name: [f"{name}{k}" for k in numbers] for name, numbers in self.labels.items()}
        self.market = smq.Market(self.epsilon, law, groups=groups, multiplicity=count)
        self.ends = [kinds_of_law[k][1] for k in which]
        functions = [cdf_of(*kind) for kind in kinds_of_law]  # one a law: the oracle asks each once
        self.cdfs = [functions[k] for k in which]
        self.m = np.ones(n) if count is None else count.astype(float)
        self.group = np.arange(n)
        self.floor, self.ceiling = np.zeros(n), np.full(n, np.inf)
        self.lists = [None] * n
        self.unsold, self.unpaid = np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
        self.rows, self.records = [], []
        top = float(self.m @ np.array([ends[-1] for ends in self.ends])) or 1.0
        shares = [0.0, 0.1, 0.3, 0.7] if self.zeros else [0.02, 0.1, 0.3, 0.7, 1.3]
        self.budget = float(np.round(top * rng.choice(shares), 4))
        if self.budget == 0:
            self.unpaid |= True
        self.row(np.zeros(n), self.m, self.budget)
        for kind in kinds:
            getattr(self, kind.replace("-", "_"))()
        self.aim(objective)

    def row(self, a, s, r, equal=False):
        self.rows.append((a, s, r, equal))

    def of(self):
        """A group, by column, label and mask."""
        column = str(self.rng.choice(["h", "s"]))
        label = int(self.rng.choice(np.unique(self.labels[column])))
        return column, f"{column}{label}", self.labels[column] == label

    def coverage(self):
        column, label, mine = self.of()
        least = float(
            np.round(self.rng.choice([0.1, 1.0] if self.zeros else [0.1, 0.4, 0.8, 1.0]) * self.m[mine].sum(), 3)
        )
        self.records.append(smq.Coverage(column, label, at_least=least))
        self.row(-self.m * mine, np.zeros(self.n), -least)

    def parity(self):
        column = str(self.rng.choice(["h", "s"]))
        found = np.unique(self.labels[column])
        if found.size < 2:
            return
        within = float(self.rng.choice([0.0, 0.1] if self.zeros else [0.0, 0.02, 0.1, 0.5]))
        self.records.append(smq.Parity(column, within=within))
        means = [self.m * (self.labels[column] == k) / self.m[self.labels[column] == k].sum() for k in found]
        for one, other in itertools.permutations(means, 2):
            self.row(one - other, np.zeros(self.n), within)

    def group_budget(self):
        column, label, mine = self.of()
        most = float(np.round(self.budget * self.rng.choice([0.0, 0.3] if self.zeros else [0.0, 0.1, 0.3, 0.6]), 4))
        self.records.append(smq.GroupBudget(column, label, at_most=most))
        self.row(np.zeros(self.n), self.m * mine, most)
        if most == 0:  # the row alone has an infinite multiplier
            self.unpaid |= mine

    def price_range(self):
        column, label, mine = self.of()
        least = self.rng.choice([None, 0.05, 0.3, 0.9, 2.0])
        most = self.rng.choice([None, 0.4, 0.8, 1.5])
        if least is not None and most is not None and least > most:
            most = None
        if least is most is None:
            least = 0.0
        self.records.append(smq.PriceRange(at_least=least, at_most=most, column=column, label=label))
        self.floor[mine] = np.maximum(self.floor[mine], least or 0.0)
        self.ceiling[mine] = np.minimum(self.ceiling[mine], np.inf if most is None else most)

    def acceptance_range(self):
        column, label, mine = self.of()
        ranges = [(0.1, 0.9), (0.0, 0.5), (0.3, 0.3), (0.5, 1.0), (1.0, 1.0)]
        ranges = [(0.0, 0.0), (0.0, 0.5), (1.0, 1.0)] if self.zeros else ranges
        least, most = ranges[int(self.rng.integers(len(ranges)))]
        self.records.append(smq.AcceptanceRange(at_least=least, at_most=most, column=column, label=label))
        for i in np.flatnonzero(mine):
            one = np.eye(self.n)[i]
            self.row(one, np.zeros(self.n), most)
            self.row(-one, np.zeros(self.n), -least)
            self.unsold[i] |= most == 0

    def expected_owners(self):
        column, label, mine = self.of()
        most = float(
            np.round(self.rng.choice([0.0, 0.5] if self.zeros else [0.0, 0.2, 0.5, 0.9]) * self.m[mine].sum(), 3)
        )
        self.records.append(smq.ExpectedOwners(column, label, at_most=most))
        self.row(self.m * mine, np.zeros(self.n), most)
        if most == 0:
            self.unsold |= mine

    def list_of(self, mine, prices):
        for i in np.flatnonzero(mine):
            self.lists[i] = prices if self.lists[i] is None else np.intersect1d(self.lists[i], prices)

    def common_price(self):
        column = str(self.rng.choice(["h", "s"]))
        self.records.append(smq.CommonPrice(column))
        for k in np.unique(self.labels[column]):
            joined = np.unique(self.group[self.labels[column] == k])
            self.group[np.isin(self.group, joined)] = joined[0]

    def price_menu(self):
        column, label, mine = self.of()
        prices = np.unique(
            self.rng.choice([0.1, 0.25, 0.4, 0.5, 0.75, 1.0, 1.5, 2.0, 5.0], int(self.rng.integers(1, 5)))
        )
        self.records.append(smq.PriceMenu(prices=tuple(prices.tolist()), column=column, label=label))
        self.list_of(mine, prices)

    def linear_row(self):
        a = np.round(self.rng.normal(size=self.n), 2) * (self.rng.random(self.n) < 0.6)
        s = np.round(self.rng.random(self.n), 2) * (self.rng.random(self.n) < 0.3)
        most = float(np.round(self.rng.normal() + 0.3, 2))
        if self.zeros:
            a, most = np.abs(a) * self.rng.choice([1, -1, 1, 1], self.n), 0.0
        pairs = [tuple((int(i), float(v[i])) for i in np.flatnonzero(v)) for v in (a, s)]
        self.records.append(smq.LinearRow(most, acceptance=pairs[0] or ((0, 0.0),), spend=pairs[1]))
        self.row(a, s, most)

    def aim(self, objective):
        gain = self.epsilon.copy()
        self.objective = None
        self.kind, self.scale = "linear", 1.0
        if objective == "log":
            self.kind, self.scale, gain = "log", 0.3, np.ones(self.n)
            self.objective = smq.DiminishingReturns(scale=0.3)
        if objective == "variance":
            self.kind, gain = "inverse", np.round(self.rng.uniform(0.2, 2.0, self.n), 2)
            self.objective = smq.InverseProbabilityVariance(weights=gain.tolist())
        self.gain = gain

    def plain(self):
        names, number = np.unique(self.group, return_inverse=True)
        lists = []
        for g in range(names.size):
            mine = [self.lists[i] for i in np.flatnonzero(number == g) if self.lists[i] is not None]
            both = mine[0] if mine else None
            for other in mine[1:]:
                both = np.intersect1d(both, other)
            lists.append(both)
        A, S, r, equal = (np.array(column) for column in zip(*self.rows, strict=True))
        return Plain(
            self.cdfs, [np.array(ends) for ends in self.ends], self.m, number, self.floor, self.ceiling, lists,
            A, S, r, equal, self.gain, self.kind, self.scale, self.epsilon, self.unsold, self.unpaid,
        )  # fmt: skip


WIDE = (*KINDS, "share", "sure-number", "several-labels", "quotas", "payment-parity", "spend-floor")
WIDE_OBJECTIVES = ("privacy", "owners", "spend", "worst-acceptance", "worst-privacy")


class WideDraft(Draft):
    """One with shares, quotas, sure numbers, groups of several labels, and demands for spend."""

    def several(self):
        """Owners of some labels of one column and one of another, as the package names them and as a mask."""
        labels = self.rng.choice(3, 2, replace=False)
        other = int(self.rng.choice(np.unique(self.labels["s"])))
        mine = np.isin(self.labels["h"], labels) & (self.labels["s"] == other)
        if not mine.any():
            return mine.tolist(), mine
        names = tuple(f"h{k}" for k in labels if k in self.labels["h"])
        return {"h": names, "s": f"s{other}"}, mine

    def share(self):
        column, label, mine = self.of()
        share = float(self.rng.choice([0.1, 0.4, 0.7, 1.0]))
        self.records.append(smq.Coverage(column, label, share=share))
        self.row(self.m * (share - mine), np.zeros(self.n), 0.0)

    def sure_number(self):
        column, label, mine = self.of()
        total, chance = int(self.m[mine].sum()), float(self.rng.choice([0.5, 0.9, 0.99]))
        k = int(self.rng.integers(1, max(2, total // 2 + 1)))
        self.records.append(smq.Coverage(column, label, at_least=k, probability=chance))
        needed = float(total)  # Hoeffding: Bin(n, m/n) is the worst where k ≤ m
        if binom.sf(k - 1, total, k / total) >= chance:
            needed = float(k)
        elif k < total or chance < 1:
            needed = total * brentq(lambda p: binom.sf(k - 1, total, p) - chance, k / total, 1.0, xtol=1e-15)
        self.row(-self.m * mine, np.zeros(self.n), -needed)

    def several_labels(self):
        column, mine = self.several()
        if not mine.any():
            return
        least = float(np.round(self.rng.choice([0.1, 0.5]) * self.m[mine].sum(), 3))
        most = float(np.round(self.rng.choice([0.1, 0.5]) * self.budget, 4))
        self.records += [smq.Coverage(column, at_least=least), smq.GroupBudget(column, at_most=most)]
        self.row(-self.m * mine, np.zeros(self.n), -least)
        self.row(np.zeros(self.n), self.m * mine, most)

    def quotas(self):
        found = [(h, s) for h in range(3) for s in range(2)]
        found = [(h, s) for h, s in found if np.any((self.labels["h"] == h) & (self.labels["s"] == s))]
        masks = [(self.labels["h"] == h) & (self.labels["s"] == s) for h, s in found]
        least = [float(np.round(self.rng.choice([0.0, 0.1, 0.3]) * self.m[mine].sum(), 3)) for mine in masks]
        table = {"h": [f"h{h}" for h, _ in found], "s": [f"s{s}" for _, s in found], "at_least": least}
        self.records += smq.Coverage.from_table(table)
        for mine, number in zip(masks, least, strict=True):
            self.row(-self.m * mine, np.zeros(self.n), -number)

    def below(self):
        """A highest price for everybody, which demands for spend need."""
        most = float(self.rng.choice([0.8, 1.5, 3.0]))
        self.records.append(smq.PriceRange(at_most=most))
        self.ceiling = np.minimum(self.ceiling, most)

    def payment_parity(self):
        found = np.unique(self.labels["s"])
        if found.size < 2:
            return
        self.below()
        within = float(self.rng.choice([0.0, 0.02, 0.1]))
        self.records.append(smq.Parity("s", within=within, of="payment"))
        mean = [self.m * (self.labels["s"] == k) / self.m[self.labels["s"] == k].sum() for k in found]
        for one, other in itertools.permutations(mean, 2):
            self.row(np.zeros(self.n), one - other, within)

    def spend_floor(self):
        self.below()
        s = -1.0 * (self.rng.random(self.n) < 0.7)
        least = float(np.round(self.rng.choice([0.0, 0.05, 0.2, 0.5, 0.9]) * self.budget, 3))
        pairs = tuple((int(i), -1.0) for i in np.flatnonzero(s))
        self.records.append(smq.LinearRow(-least, acceptance=((0, 0.0),), spend=pairs))
        self.row(np.zeros(self.n), s, -least)

    def aim(self, objective):
        super().aim("privacy")
        self.paid, self.worst = 0.0, None
        if objective == "owners":
            self.objective, self.gain = smq.BoughtOwners(), np.ones(self.n)
        if objective == "spend":
            self.objective, self.gain, self.paid = smq.LeastSpend(), np.zeros(self.n), 1.0
        if objective.startswith("worst"):
            of = objective.removeprefix("worst-")
            self.objective, self.worst = smq.WorstGroup("h", of=of), 1.0 if of == "acceptance" else self.epsilon

    def plain(self):
        """The least group mean is 2 q of one more owner, who sells for nothing."""
        plain = super().plain()
        plain.paid = self.paid
        if self.worst is None:
            return plain
        A, S = (np.hstack([of, np.zeros((of.shape[0], 1))]) for of in (plain.A, plain.S))
        means = [self.m * self.worst * (self.labels["h"] == k) for k in np.unique(self.labels["h"])]
        sizes = [self.m[self.labels["h"] == k].sum() for k in np.unique(self.labels["h"])]
        more = np.array([np.append(-mean / size, 2.0) for mean, size in zip(means, sizes, strict=True)])
        several = len(sizes)
        return dataclasses.replace(
            plain,
            cdfs=[*plain.cdfs, lambda price: np.ones_like(np.asarray(price, dtype=float))],
            knots=[*plain.knots, np.array([0.0])],
            count=np.append(plain.count, 1.0),
            group=np.append(plain.group, plain.group.max() + 1),
            floor=np.append(plain.floor, 0.0),
            ceiling=np.append(plain.ceiling, np.inf),
            lists=[*plain.lists, np.array([0.0])],
            A=np.vstack([A, more]),
            S=np.vstack([S, np.zeros((several, self.n + 1))]),
            r=np.append(plain.r, np.zeros(several)),
            equal=np.append(plain.equal, np.zeros(several, dtype=bool)),
            gain=np.append(np.zeros(self.n), 2.0),
            epsilon=np.append(plain.epsilon, 0.0),
            unsold=np.append(plain.unsold, False),
            unpaid=np.append(plain.unpaid, False),
        )


class ZeroDraft(Draft):
    """One whose limits fix owners."""

    zeros = True


def wide_draft(seed, n=None):
    rng = np.random.default_rng([seed, 3])
    size = int(rng.choice([1, 2, 3, 5, 8, 13, 30])) if n is None else n
    return WideDraft(
        rng, size, list(rng.choice(WIDE, int(rng.integers(1, 4)), replace=False)), str(rng.choice(WIDE_OBJECTIVES))
    )


def draft(seed, kinds=None, n=None, of=Draft):
    rng = np.random.default_rng(seed)
    size = int(rng.choice([1, 2, 3, 5, 8, 13, 30, 60])) if n is None else n
    chosen = list(rng.choice(KINDS, int(rng.integers(1, 4)), replace=False)) if kinds is None else kinds
    return of(rng, size, chosen, str(rng.choice(OBJECTIVES)))


def fault_of(one, tolerance=1e-8):
    """What the package says that the oracle does not; None where both agree."""
    solution = smq.solve(one.market, one.budget, constraints=one.records, objective=one.objective)
    certificate = smq.verify(solution)
    found = optimum(one.plain())
    if found.infeasible != (solution.status is smq.Status.INFEASIBLE):
        if found.broken < 1e-7:
            return None  # on the edge
        return f"{solution.status.name}, the oracle breaks rows by {found.broken_at_least:.3g} to {found.broken:.3g}"
    if found.infeasible:
        return None
    value = solution.objective_value * (-1.0 if one.kind == "inverse" or solution.objective.smallest else 1.0)
    unit = max(abs(found.upper), 1e-6)
    low, high = found.lower - 2.0 * max(found.lower - found.upper, 0.0), max(found.lower, found.upper)
    if not low - tolerance * unit <= value <= high + tolerance * unit:
        return f"{solution.status.name}: {value!r}, not {found.lower!r} to {found.upper!r}"
    if not certificate.valid:
        reasons = [check.name for check in certificate.checks if check.fails]
        return f"not valid: {reasons}, gap {certificate.gap:.3g}"
    return None


if __name__ == "__main__":
    import signal
    import time
    from collections import Counter

    first, last = int(sys.argv[1]), int(sys.argv[2])
    of = {"zeros": lambda seed: draft(seed, of=ZeroDraft), "wide": wide_draft}.get("".join(sys.argv[3:]), draft)

    def stop(*_):
        raise TimeoutError("over 20 s of processor time, the oracle's included")

    signal.signal(signal.SIGPROF, stop)
    total = Counter()
    for seed in range(first, last):
        one = of(seed)
        start = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, 20.0)
        try:
            fault = fault_of(one)
        except (smq.SmqoptError, ArithmeticError, ValueError, TimeoutError, AssertionError) as error:
            fault = f"{type(error).__name__}: {str(error)[:150]}"
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        total["faults" if fault else "agree"] += 1
        if fault:
            kinds = ",".join(record.kind for record in one.records)
            law = sorted({type(law).__name__ for law, _ in one.market.valuation.parts()})
            print(seed, one.market.n, kinds, one.kind, law, f"{time.process_time() - start:.1f}s", fault, flush=True)
    print(dict(total))
