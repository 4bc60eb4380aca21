"""Random markets of atoms under laws in doubt, against a linear program over all prices that can matter.

Between two atoms a lottery gains at the lower one, or just below the upper one: so these are all prices.
"""

import numpy as np
import pytest
from scipy.optimize import linprog

import smqopt as smq

ATOMS = np.arange(9) / 4
PRICES = np.unique(np.concatenate([ATOMS, np.nextafter(ATOMS[1:], 0), [0.1, 0.6, 1.1, 2.5]]))
KINDS = ("coverage", "share", "budget", "menu", "range", "common", "acceptance", "parity", "linear")
AIMS = {"privacy": None, "owners": smq.BoughtOwners(), "spend": smq.LeastSpend()}


class Draft:
    """A market, and its records as rows over lotteries x of prices: Σ x (a + s p) F(p) ≤ r under each law."""

    def __init__(self, seed):
        rng = self.rng = np.random.default_rng([seed, 17])
        n = self.n = int(rng.integers(1, 6))
        laws = [[self.law() for _ in range(n)] for _ in range(int(rng.integers(2, 4)))]
        self.F = [
            np.array([[float(law.cdf(min(p, 9.0))) if p >= law.low else 0.0 for p in PRICES] for law in row])
            for row in laws
        ]
        self.weights = rng.integers(1, 4, len(laws)).astype(float) if rng.random() < 0.4 else None
        self.epsilon, self.label = np.round(rng.uniform(0.1, 2, n), 2), rng.integers(2, size=n)
        self.m = rng.integers(1, 4, n) if rng.random() < 0.3 else np.ones(n, dtype=int)
        law = smq.Scenarios(
            [smq.ByOwner(row) for row in laws], weights=None if self.weights is None else self.weights.tolist()
        )
        groups = {"g": [f"g{k}" for k in self.label]}
        self.market = smq.Market(self.epsilon, law, groups=groups, multiplicity=self.m.tolist())
        self.budget = float(np.round(rng.choice([0, 0.1, 0.5, 1.5, 4]) * n / 3, 3))
        self.allowed, self.group = np.ones((n, PRICES.size), dtype=bool), np.arange(n)
        self.records, self.rows = [], []
        self.row(np.zeros(n), self.m, self.budget)
        for kind in rng.choice(KINDS, int(rng.integers(0, 3)), replace=False):
            self.add(str(kind))
        self.aim = str(rng.choice(list(AIMS)))

    def law(self):
        if self.rng.random() < 0.25:
            return smq.PointMass(float(self.rng.choice(ATOMS[:7])))
        atoms = np.sort(self.rng.choice(ATOMS[:7], int(self.rng.integers(1, 4)), replace=False))
        return smq.Discrete(atoms.tolist(), self.rng.dirichlet(np.ones(atoms.size)).tolist())

    def row(self, a, s, r):
        self.rows += [((np.asarray(a)[:, None] + np.asarray(s)[:, None] * PRICES) * F, r) for F in self.F]

    def add(self, kind):
        n, m, rng, nothing = self.n, self.m, self.rng, np.zeros(self.n)
        k = int(rng.choice(self.label))
        mine, g = self.label == k, f"g{k}"
        most = m[mine].sum()
        match kind:
            case "coverage":
                least = float(np.round(rng.choice([0.2, 0.5, 0.9]) * most, 3))
                self.records.append(smq.Coverage("g", g, at_least=least))
                self.row(-m * mine, nothing, -least)
            case "share":
                share = float(rng.choice([0.3, 0.6]))
                self.records.append(smq.Coverage("g", g, share=share))
                self.row(m * (share - mine), nothing, 0.0)
            case "budget":
                at_most = float(np.round(self.budget * rng.choice([0.2, 0.5]), 4))
                self.records.append(smq.GroupBudget("g", g, at_most=at_most))
                self.row(nothing, m * mine, at_most)
            case "menu":
                prices = np.sort(rng.choice([0.1, 0.5, 0.6, 1.0, 1.1, 2.5], int(rng.integers(1, 4)), replace=False))
                self.records.append(smq.PriceMenu(prices=tuple(prices.tolist()), column="g", label=g))
                self.allowed[mine] &= np.isin(PRICES, prices)
            case "range":
                low, high = [(0.1, None), (0.6, None), (None, 0.6), (0.6, 1.1), (2.5, None)][int(rng.integers(5))]
                self.records.append(smq.PriceRange(at_least=low, at_most=high, column="g", label=g))
                self.allowed[mine] &= np.clip(PRICES, low, high) == PRICES
            case "common":
                self.records.append(smq.CommonPrice("g"))
                self.group = np.array([np.flatnonzero(self.label == one)[0] for one in self.label])
            case "acceptance":
                low, high = [(0.1, 0.9), (0.0, 0.5), (0.4, 1.0)][int(rng.integers(3))]
                self.records.append(smq.AcceptanceRange(at_least=low, at_most=high, column="g", label=g))
                for i in np.flatnonzero(mine):
                    self.row(np.eye(n)[i], nothing, high)
                    self.row(-np.eye(n)[i], nothing, -low)
            case "parity" if np.unique(self.label).size == 2:
                within = float(rng.choice([0, 0.1, 0.3]))
                self.records.append(smq.Parity("g", within=within))
                means = [m * (self.label == one) / m[self.label == one].sum() for one in (0, 1)]
                self.row(means[0] - means[1], nothing, within)
                self.row(means[1] - means[0], nothing, within)
            case "linear":
                a, at_most = np.round(rng.normal(size=n), 2), float(np.round(rng.normal() + 0.3, 2))
                self.records.append(smq.LinearRow(at_most, acceptance=tuple(enumerate(a.tolist()))))
                self.row(a, nothing, at_most)

    def optimum(self):
        """The optimum in units of what is maximised; None where the rows cannot hold."""

        def joined(of):  # owners who share a price share the lottery of the first of them
            out = np.zeros(of.shape)
            np.add.at(out, self.group, of)
            return out.ravel()

        gain = {"privacy": self.m * self.epsilon, "owners": self.m, "spend": np.zeros(self.n)}[self.aim]
        paid = self.m * (self.aim == "spend")
        values = [joined((gain[:, None] - paid[:, None] * PRICES) * F) for F in self.F]
        if self.weights is not None:
            values = [np.average(values, axis=0, weights=self.weights)]
        A = [np.append(joined(of), 0.0) for of, _ in self.rows] + [np.append(-value, 1.0) for value in values]
        one_lottery = np.kron(np.eye(self.n), np.ones(PRICES.size))
        A = np.vstack([A, np.hstack([one_lottery, np.zeros((self.n, 1))])])
        r = [r for _, r in self.rows] + [0.0] * len(values) + [1.0] * self.n
        open_to = np.ones(self.allowed.shape, dtype=bool)
        np.logical_and.at(open_to, self.group, self.allowed)
        bounds = [(0, None if one else 0) for one in open_to.ravel()] + [(None, None)]
        options = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
        found = linprog(-np.eye(A.shape[1])[-1], A_ub=A, b_ub=r, bounds=bounds, method="highs", options=options)
        return None if found.status == 2 else -found.fun


def agrees(seed):
    one = Draft(seed)
    best = one.optimum()
    solution = smq.solve(one.market, one.budget, constraints=one.records, objective=AIMS[one.aim])
    assert (best is None) == (solution.status is smq.Status.INFEASIBLE)
    if best is None:
        return
    certificate = smq.verify(solution)
    assert certificate.valid, certificate.gap
    value = -solution.objective_value if one.aim == "spend" else solution.objective_value
    assert value == pytest.approx(best, rel=1e-7, abs=1e-10)


@pytest.mark.parametrize(
    "seed",
    [
        142,  # the factors of the last basis had lost digits, and rows were broken,
        284,  # the answer was short of the optimum by 7e-8,
        308,  # and the budget was
    ],
)
def test_agrees_with_a_linear_program(seed):
    agrees(seed)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 60, 20))
def test_many_agree_with_a_linear_program(first):
    for seed in range(first, first + 20):
        agrees(seed)


@pytest.mark.slow
def test_laws_under_which_all_prices_are_alike():
    """F under one law is p F under the other: a lottery is as good as any other with its mean of p²."""
    market = smq.Market([0.6, 1.9], smq.Scenarios([smq.Uniform(0, 1), smq.Power(2)]))
    certificate = smq.verify(smq.solve(market, 0.4))
    assert certificate.valid
    assert certificate.upper_bound == pytest.approx(
        1.9 * 0.4, rel=1e-9
    )  # spend under one is acceptance under the other
