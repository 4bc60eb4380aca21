"""Histograms: hulls of their cost curves in closed form, and many of them in one table."""

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

import smqopt as smq
from smqopt.errors import InputError
from smqopt.valuation import PiecewiseUniformByOwner, valuation_from_dict
from smqopt.valuation.ironing._flat_pieces import flat_pieces_of_owners
from smqopt.valuation.ironing._quadratic_hull import QuadraticPieces, quadratic_hulls

EPS = 2.0**-52


@st.composite
def histograms(draw, most=6):
    pieces = draw(st.integers(1, most))
    masses = np.array(draw(st.lists(st.sampled_from([0, 1, 2, 3, 7, 20, 1e-9]), min_size=pieces, max_size=pieces)))
    assume(np.any(masses > 0))
    widths = draw(st.lists(st.sampled_from([0.125, 0.5, 1.0, 3.0, 1e-6]), min_size=pieces, max_size=pieces))
    low = draw(st.sampled_from([0.0, 0.0, 0.5, 10.0]))
    return smq.PiecewiseUniform(low + np.concatenate([[0.0], np.cumsum(widths)]), masses)


def grid_of(law):
    """Points of the support: edges, their neighbours from below, and some between."""
    inner = [np.linspace(a, b, 33) for a, b in zip(law.edges[:-1], law.edges[1:], strict=True)]
    theta = np.unique(np.concatenate([*inner, np.nextafter(law.edges[1:], 0)]))
    return theta[(theta >= law.low) & (theta <= law.high)]


@given(histograms())
def test_flat_pieces_are_those_of_the_hull(law):
    """The hull is the one convex curve below C that consists of C and chords."""
    pieces, theta = law.flat_pieces(), grid_of(law)
    q, J = law.cdf(theta), law.virtual_cost(theta)
    size = law.high
    assert np.all(pieces.low < pieces.high)
    assert np.all(pieces.low_acceptance < pieces.high_acceptance)
    assert np.all(np.diff(pieces.slope) > 0)
    assert np.all(pieces.high[:-1] <= pieces.low[1:])
    assert np.array_equal(law.cdf(pieces.low), pieces.low_acceptance)
    assert np.array_equal(law.cdf(pieces.high), pieces.high_acceptance)
    covered = np.zeros(theta.size, dtype=bool)
    for k in range(len(pieces)):
        low, high, slope = pieces.low[k], pieces.high[k], pieces.slope[k]
        q_low, q_high = pieces.low_acceptance[k], pieces.high_acceptance[k]
        assert abs(high * q_high - low * q_low - slope * (q_high - q_low)) <= 8 * EPS * (size + slope)
        chord = low * q_low + slope * (q - q_low)
        assert np.all(theta * q - chord >= -16 * EPS * (size + slope))  # the tangent is below C everywhere
        covered |= (theta >= low) & (theta <= high)
    off = J[~covered]
    assert np.all(off[1:] >= off[:-1] * (1 - 16 * EPS))  # C is convex elsewhere
    if isinstance(law.regularity(), smq.Regular):
        assert len(pieces) == 0


@given(histograms(), st.floats(0, 30))
def test_the_answer_to_a_price_is_the_best_of_all(law, price):
    theta = grid_of(law)
    answer = float(law.inverse_virtual_cost(price))
    gain = float(law.cdf(answer)) * (price - answer)
    assert gain >= np.max(law.cdf(theta) * (price - theta)) - 8 * EPS * (price + law.high)


def test_a_chord_to_the_top_by_hand():
    """Density 5/9 on [0, 0.9] and 5 on [0.9, 1]: the hull is straight from θ = 0.6 to the top, with slope 6/5."""
    pieces = smq.PiecewiseUniform([0, 0.9, 1], [1, 1]).flat_pieces()
    assert [float(column[0]) for column in (pieces.low, pieces.high, pieces.slope)] == pytest.approx([0.6, 1, 1.2])
    assert len(pieces) == 1


def test_a_chord_over_a_gap():
    """A third of the mass on [0, 1], the rest on [2, 3]. Above the gap C = 3(q² + q)/2, and the tangent from (1/3, 1/3) has 9q² − 6q − 1 = 0."""
    pieces = smq.PiecewiseUniform([0, 1, 2, 3], [1, 0, 2]).flat_pieces()
    assert len(pieces) == 1
    q = (1 + np.sqrt(2)) / 3
    assert (pieces.low[0], pieces.low_acceptance[0]) == (1.0, 1 / 3)
    assert pieces.high_acceptance[0] == pytest.approx(q, rel=4 * EPS)
    assert pieces.high[0] == pytest.approx(1.5 * (1 + q), rel=4 * EPS)
    assert pieces.slope[0] == pytest.approx(1.5 * (2 * q + 1), rel=4 * EPS)


def test_equal_densities_leave_no_piece():
    assert len(smq.PiecewiseUniform(np.linspace(0, 1, 11), np.ones(10)).flat_pieces()) == 0
    thirds = smq.PiecewiseUniform([0, 1 / 3, 1], [1 / 3, 2 / 3])
    assert len(thirds.flat_pieces()) <= 1


def test_many_laws_at_once_are_each_alone():
    rng = np.random.default_rng(4)
    laws = [
        smq.PiecewiseUniform(np.cumsum(rng.random(m + 1)), rng.integers(1, 30, m)) for m in rng.integers(1, 12, 500)
    ]
    together = PiecewiseUniformByOwner(laws, np.arange(500)).flat_pieces()
    for owner in range(0, 500, 7):
        alone = laws[owner].flat_pieces()
        mine = together.owner == owner
        for name in alone.columns():
            assert np.array_equal(getattr(together, name)[mine], getattr(alone, name))


def test_the_closed_form_is_what_the_grid_finds():
    law = smq.PiecewiseUniform([0, 1, 1.5, 3, 4], [4, 5, 1, 6])
    exact, found = law.flat_pieces(), flat_pieces_of_owners(law)
    assert found.slope == pytest.approx(exact.slope, rel=1e-12)
    assert found.low == pytest.approx(exact.low, rel=1e-6)


TABLE = [
    smq.PiecewiseUniform([0, 1, 2], [3, 1]),
    smq.PiecewiseUniform([0.5, 1, 2, 4], [3, 0, 1]),
    smq.PiecewiseUniform([0, 0.9, 1], [1, 1]),
]
METHODS = ("cdf", "pdf", "log_cdf", "log_survival", "virtual_cost", "inverse_virtual_cost")


def test_by_owner_it_is_each_owners_histogram():
    which = np.array([2, 0, 1, 1, 0, 2])
    law = PiecewiseUniformByOwner(TABLE, which)
    assert law.size == 6
    assert (law.low.tolist(), law.high.tolist()) == ([0, 0, 0.5, 0.5, 0, 0], [1, 2, 4, 4, 2, 1])
    for t in (-1.0, 0.0, 0.5, 0.75, 0.9, 1.0, 1.5, 2.0, 3.0, 4.0, 9.0, np.inf):
        for method in METHODS:
            values = getattr(law, method)(np.full(6, t))
            expected = [float(getattr(TABLE[k], method)(t)) for k in which]
            assert np.array_equal(values, expected, equal_nan=True), (method, t)
    for q in (0.0, 0.3, 0.5, 0.75, 0.99, 1.0, 1.5, np.nan):
        assert np.array_equal(law.ppf(q), [float(TABLE[k].ppf(q)) for k in which], equal_nan=True)
    block = np.linspace(0, 1, 5)[:, None] * np.ones(6)
    assert law.ppf(block).shape == (5, 6)
    part = law.take(np.array([3, 0]))
    assert part.ppf(0.9).tolist() == [float(TABLE[1].ppf(0.9)), float(TABLE[2].ppf(0.9))]
    verdict = law.regularity()
    assert isinstance(verdict, smq.Irregular)
    assert verdict.owner == 0
    assert isinstance(law.take(np.array([1, 4])).regularity(), smq.Regular)
    assert law.rescale(2.0).high.tolist() == [2, 4, 8, 8, 4, 2]


def test_as_data_and_back():
    law = PiecewiseUniformByOwner(TABLE, [2, 0, 2])
    table = law.to_dict()
    assert len(table["histograms"]) == 2
    again = valuation_from_dict(table)
    assert again.to_dict() == table
    assert again.high.tolist() == law.high.tolist()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"histogram_of_owner": [0, 2]}, "whole number from 0 to 1"),
        ({"histogram_of_owner": [0, 0.5]}, "whole number"),
        ({"histogram_of_owner": []}, "whole number"),
        ({"histogram_of_owner": 3}, "must be an array"),
        ({"histograms": [{"edges": [0, 1]}]}, "edges and masses"),
        ({"histograms": [3]}, "edges and masses"),
        ({"histogramms": []}, "did you mean 'histograms'"),
    ],
)
def test_bad_data_is_refused(change, message):
    table = PiecewiseUniformByOwner(TABLE, [2, 0, 2]).to_dict() | change
    with pytest.raises(InputError, match=message):
        valuation_from_dict(table)


def test_by_owner_gathers_histograms_and_keeps_equal_ones_common():
    law = smq.ByOwner([TABLE[0], smq.Uniform(0, 1), TABLE[2], TABLE[0]])
    assert [part.name for part, _ in law.parts()] == ["piecewise-uniform-by-owner", "uniform"]
    same = smq.ByOwner([TABLE[0], smq.PiecewiseUniform([0, 1, 2], [3, 1])])
    assert [part for part, _ in same.parts()] == [TABLE[0]]
    again = valuation_from_dict(law.to_dict())
    assert again.to_dict() == law.to_dict()


def test_a_market_of_histograms_is_certified():
    rng = np.random.default_rng(8)
    laws = [
        smq.PiecewiseUniform(np.cumsum(rng.random(6)), rng.integers(0, 5, 5) + np.eye(5, dtype=int)[0])
        for _ in range(300)
    ]
    market = smq.Market(rng.random(300), smq.ByOwner(laws))
    for share in (0.01, 0.3, 0.9):
        solution = smq.solve(market, share * market.most_that_can_be_spent)
        certificate = smq.verify(solution)
        assert certificate.valid, certificate.reasons


def test_a_chord_from_next_to_nothing():
    """The mass below is 1e-216 of all: the tangent meets the piece above at its low end, where C(q)/q is least."""
    law = smq.PiecewiseUniform([1000.0, 1000.5, 1001.0], [1e-277, 1e-61])
    pieces = law.flat_pieces()
    assert pieces.slope == pytest.approx([1000.5], rel=4 * EPS)
    assert pieces.high == pytest.approx([1000.5], rel=4 * EPS)


def test_a_jump_that_is_worth_far_more_than_the_budget():
    """The chance of the higher threshold is rounded so that the budget is kept."""
    edges, masses = (
        [0.0, 0.003539169341573769, 22.271801773668212, 22.375668339111503, 22.40994887],
        [10.0, 1e-6, 3e-13, 1e-4],
    )
    market = smq.Market([0.95], smq.PiecewiseUniform(edges, masses))
    for budget in np.linspace(0.01, 0.09, 41):
        solution = smq.solve(market, float(budget))
        assert solution.lottery is not None
        assert smq.verify(solution).valid


def test_too_little_mass_for_a_double():
    law = smq.PiecewiseUniform([0, 1, 2, 3], [1, 1e-30, 1])
    assert law.flat_pieces().low.size == 1
    quadratics = law.table.quadratics
    assert isinstance(quadratics, QuadraticPieces)
    assert quadratic_hulls(quadratics).from_price[0] == -np.inf
