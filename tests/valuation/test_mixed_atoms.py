"""Laws that join atoms and a density: the right values, hulls against brute force, proofs, truncations, files."""

import numpy as np
import pytest
from round_trip import solved_and_loaded
from scipy.optimize import minimize_scalar

import smqopt as smq
from smqopt.valuation import flat_pieces
from smqopt.valuation.truncation import _quantile

ZEROS = smq.Mixture([smq.PointMass(0), smq.Uniform(0, 1)], [0.3, 0.7])


def dual_on_a_grid(law, epsilon, budget):
    """min over λ of λB + Σ max_θ (ε − λθ)F(θ), prices on a grid that holds the atoms and the doubles before them."""
    knots = np.unique(law.knots())
    theta = np.unique(np.concatenate([np.linspace(law.low, law.high, 4001), knots, np.nextafter(knots, 0)]))
    F = law.cdf(theta)

    def dual(log_price):
        price = np.exp(log_price)
        return price * budget + np.maximum((epsilon[:, None] * F - price * theta * F).max(1), 0).sum()

    return minimize_scalar(dual, bounds=(-25, 25), method="bounded", options={"xatol": 1e-10}).fun


def certified(law, epsilon, budget):
    certificate = smq.verify(smq.solve(smq.Market(epsilon, law), budget))
    assert certificate.valid, certificate.reasons
    assert certificate.grade == "proved", certificate.unproved
    return certificate


def test_what_is_free_is_bought_at_once():
    epsilon = np.array([0.2, 0.5, 1.0])
    for budget, least in ((0.0, 0.51), (0.1, 0.664143772202577)):
        solution = certified(ZEROS, epsilon, budget).solution
        assert solution.purchased_privacy == pytest.approx(least, rel=1e-14)
    free = smq.solve(smq.Market(epsilon, ZEROS), 0.0)
    assert free.thresholds.tolist() == [0, 0, 0]
    assert free.acceptance.tolist() == [0.3] * 3
    assert float(ZEROS.cdf(-0.0)) == 0.3
    assert float(ZEROS.cdf(-1e-300)) == 0


@pytest.mark.parametrize(
    "law",
    [
        smq.Mixture([smq.PointMass(0.5), smq.Uniform(0, 1)], [0.5, 0.5]),
        smq.Mixture(
            [smq.Discrete([0, 5, 10, 20], [3, 2, 2, 1]), smq.PiecewiseUniform([0, 3, 8, 25], [1, 2, 1])], [2, 3]
        ),
        pytest.param(smq.Mixture([smq.PointMass(2.0), smq.Beta(2, 3)], [2, 3]), marks=pytest.mark.slow),
        pytest.param(smq.Mixture([smq.PointMass(1.0), smq.Normal(2, 0.5, 1, 4)], [1, 4]), marks=pytest.mark.slow),
        smq.Mixture([smq.PointMass(1.0), smq.PointMass(1.0)], [0.5, 0.5]),
        smq.Mixture([smq.Beta(0.5, 0.5), smq.PointMass(0.5), smq.PointMass(1.0)], [5, 2, 3]),
    ],
    ids=["middle", "heaps", "above", "low end", "one point", "infinite densities"],
)
def test_against_a_grid_and_in_files(tmp_path, law):
    epsilon = np.array([0.2, 0.5, 1.0])
    for budget in (0.05, 0.6):
        certificate = certified(law, epsilon, budget)
        assert certificate.upper_bound == pytest.approx(dual_on_a_grid(law, epsilon, budget), rel=2e-6)
    assert solved_and_loaded(law, tmp_path).grade == "proved"


def random_part(rng):
    low, width = rng.uniform(0, 2), rng.uniform(0.1, 3)
    match rng.integers(7):
        case 0:
            return smq.Uniform(low, low + width)
        case 1:
            return smq.Beta(rng.uniform(0.3, 4), rng.uniform(0.3, 4), low, low + width)
        case 2:
            return smq.PiecewiseUniform(np.cumsum(rng.uniform(0.1, 1, 5)), rng.uniform(0, 1, 4))
        case 3:
            return smq.TruncatedExponential(rng.uniform(0.5, 5), low, low + width)
        case 4 | 5:
            return smq.PointMass(float(rng.choice([0, 0.5, 1.0, 1.5, low])))
        case _:
            values = np.unique(rng.choice([0, 0.25, 0.5, 0.75, 1, 1.5, 2, 3], size=rng.integers(1, 6)))
            return smq.Discrete(values, rng.uniform(0.1, 1, values.size))


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(k, marks=pytest.mark.slow if k < 9 else pytest.mark.exhaustive) for k in range(1, 400))]
)
def test_any_parts(seed):
    rng = np.random.default_rng(seed)
    parts = [smq.PointMass(float(rng.uniform(0, 2))), *(random_part(rng) for _ in range(rng.integers(1, 4)))]
    law, epsilon = smq.Mixture(parts, rng.uniform(0.1, 1, len(parts))), rng.uniform(0, 1, 3)
    budget = float(rng.choice([0, 0.01, 0.1, 0.5, 1, 3]) * rng.uniform(0.5, 1.5))
    upper = certified(law, epsilon, budget).upper_bound
    right = dual_on_a_grid(law, epsilon, budget) if budget else epsilon.sum() * float(law.cdf(0.0))
    assert upper == pytest.approx(right, rel=1e-3, abs=1e-12)
    assert certified(law.rescale(3.7), epsilon, 3.7 * budget).upper_bound == pytest.approx(upper, rel=1e-10)


def test_hulls_of_owners_are_those_of_each():
    law = smq.Mixture([smq.PointMass([0.0, 0.5, 2.0]), smq.Uniform(0, [1, 2, 3])], [0.4, 0.6])
    together = flat_pieces(law)
    for owner in range(3):
        alone = flat_pieces(smq.Mixture([part.take(np.array([owner])) for part in law.laws], law.weights))
        mine = together.take(np.array([owner]), 3)
        for name in mine.columns():
            assert getattr(mine, name) == pytest.approx(getattr(alone, name), rel=1e-12, abs=1e-15)
    assert certified(law, np.array([0.3, 0.6, 0.9]), 0.4).valid


def test_quantiles_and_draws():
    rng = np.random.default_rng(1)
    for law in (ZEROS, smq.Mixture([smq.Discrete([0, 5, 10], [3, 2, 2]), smq.Gamma(2, 4, 0, 40)], [0.4, 0.6])):
        u = np.concatenate([rng.random(2000), 10.0 ** -np.arange(1, 300, 20.0), law.cdf(law.knots())])
        u = u[(u > 0) & (u < 1)]
        theta = law.ppf(u)
        assert np.all(law.cdf(np.nextafter(theta, np.inf)) >= u * (1 - 2.0**-51))
        assert np.all((law.cdf(np.nextafter(theta, -1)) <= u * (1 + 2.0**-51)) | (theta == law.low))
        draws = law.sample(rng, 20_000)
        assert np.mean(draws == 0) == pytest.approx(float(law.cdf(0.0)), abs=0.02)


def test_a_part_of_a_law_with_atoms():
    law = smq.Mixture([smq.Discrete([0, 1, 2], [1, 1, 2]), smq.Uniform(0, 4)], [0.5, 0.5])
    cut = smq.Truncated(law, 1, 3)
    mass = 0.5 * 0.75 + 0.5 * 0.5  # both ends belong to it
    assert float(cut.cdf(1.0)) == pytest.approx(0.125 / mass, rel=1e-15)
    assert float(cut.cdf(2.0)) == pytest.approx((0.375 + 0.125) / mass, rel=1e-15)
    assert smq.Truncated(law, 2.5, 3).is_atom([2.5, 2.7]).tolist() == [False, False]
    with pytest.raises(smq.InputError, match="leaves no mass"):
        smq.Truncated(smq.Discrete([1, 2], [1, 1]), 1.2, 1.8)
    with pytest.raises(smq.InputError, match="common to all owners"):
        smq.Truncated(law, [0.5, 1], 3)


@pytest.mark.parametrize("values", [[0.5], [0.0, 0.25, 0.5, 1.0]])
def test_quantiles_at_atoms_take_few_evaluations(values, monkeypatch):
    atoms = smq.Discrete(values, [1.0] * len(values))
    law = smq.Mixture([smq.Uniform(0, 1), atoms], weights=[0.5, 0.5])
    jumps = [(float(law.cdf(np.nextafter(v, -1))) if v else 0.0, float(law.cdf(v)), v) for v in values]
    looked = []
    for name in ("_lower", "_upper"):
        of_tail = getattr(_quantile, name)
        monkeypatch.setattr(_quantile, name, lambda *a, of_tail=of_tail: looked.append(0) or of_tail(*a))
    for before, after, value in jumps:
        looked.clear()
        assert law.ppf(before + 0.6 * (after - before)) == value
        assert len(looked) <= 6
