"""Laws estimated from samples: what they promise of the sample, ties, ends, errors that keep values private, files."""

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st
from round_trip import solved_and_loaded

import smqopt as smq
from smqopt.valuation import valuation_from_dict
from smqopt.valuation.law._conformance import validate

SECRET = 123.456789


def empirical(values, t):
    return np.mean(np.asarray(values)[:, None] <= np.asarray(t), axis=0)


@given(
    values=st.lists(
        st.sampled_from([0.0, 2.0**-1000, 0.1, 0.25, np.nextafter(0.25, 1), 1.0, 3.0, 1e9]), min_size=2, max_size=40
    ).filter(lambda values: len(set(values)) > 1),
    pieces=st.one_of(st.none(), st.integers(1, 9)),
)
def test_whatever_the_sample(values, pieces):
    F = smq.from_samples(values, pieces=pieces, heaps=[])
    edges, masses = F.histogram.edges, F.histogram.masses
    assert F.n == len(values) == masses.sum()
    assert np.all(np.diff(edges) > 0)
    assert np.all(masses > 0)
    assert masses.size <= len(set(values))
    assert edges[0] <= min(values)
    assert edges[-1] >= max(values)
    # at every inner edge F is the share of values below it, or up to it where two values are neighbouring doubles
    for edge in edges[1:-1]:
        below, up_to = np.mean(np.asarray(values) < edge), np.mean(np.asarray(values) <= edge)
        assert min(abs(F.cdf(edge) - below), abs(F.cdf(edge) - up_to)) <= 2.0**-50
    # the distance from the empirical law, by brute force just below and at every value
    t = np.unique(values)
    far = max(
        np.max(np.abs(F.cdf(t) - empirical(values, t))),
        np.max(np.abs(F.cdf(t) - np.mean(np.asarray(values)[:, None] < t, axis=0))),
    )
    assert F.smoothing_error == pytest.approx(far, abs=2.0**-50)
    assert F.smoothing_error <= masses.max() / F.n + 2.0**-50


def test_pieces_hold_about_equally_many():
    values = np.random.default_rng(5).lognormal(0, 1, 1000)
    F = smq.from_samples(values)
    assert F.histogram.masses.tolist() == [50.0] * 20  # 2 · 1000^(1/3) pieces
    validate(F)


def test_the_order_of_values_is_nothing():
    laws = [smq.from_samples(list(order), pieces=3).to_dict() for order in itertools.permutations([1.0, 2.0, 2.0, 5.0])]
    assert all(law == laws[0] for law in laws)


def test_ends_by_rule_and_by_word():
    F = smq.from_samples([2.0, 3.0, 5.0])
    assert (F.low, F.high) == (0.5, 6.5)
    assert smq.from_samples([0.25, 3.0, 5.0]).low == 0.0
    F = smq.from_samples([2.0, 3.0, 5.0], low=2, high=5)
    assert (F.low, F.high) == (2.0, 5.0)


HEAPED = st.lists(
    st.sampled_from([0.0, 0.1, 0.25, np.nextafter(0.25, 1), 1.0, 2.0, 3.0, 5.0, 1e3]), min_size=2, max_size=60
).filter(lambda values: len(set(values)) > 1)


@given(values=HEAPED, heaps=st.one_of(st.none(), st.sampled_from([(), (0.0,), (1.0, 3.0)])))
def test_heaps_are_kept_whatever_the_sample(values, heaps):
    if heaps is not None and not set(heaps) <= set(values):
        with pytest.raises(smq.InputError, match="must be one of the valuations"):
            smq.from_samples(values, heaps=heaps)
        return
    F = smq.from_samples(values, heaps=heaps)
    array = np.asarray(values)
    counts = {value: np.sum(array == value) for value in set(values)}
    wanted = [v for v, m in counts.items() if (m > np.sqrt(array.size) if heaps is None else v in heaps)]
    for value in wanted:
        assert F.is_atom(value)
        # up to a heap F is the share of the sample, so that its price costs what is expected
        assert float(F.cdf(value)) == pytest.approx(np.mean(array <= value), abs=2.0**-50)
        assert float(F.cdf(np.nextafter(value, -1))) == pytest.approx(np.mean(array < value), abs=2.0**-48)
    t = np.unique(array)
    far = [np.abs(F.cdf(t) - empirical(values, t)), np.abs(F.cdf(np.nextafter(t, -1)) - empirical(values, t - 1e-17))]
    assert F.smoothing_error >= np.max(far[0]) - 2.0**-50
    assert valuation_from_dict(F.to_dict()).to_dict() == F.to_dict()


def test_zeros_are_free_and_round_numbers_do_not_overspend(tmp_path):
    rng, epsilon = np.random.default_rng(30), np.array([0.2, 0.5, 1.0])
    zeros = np.concatenate([np.zeros(300), rng.uniform(0, 1, 700)])
    F = smq.from_samples(zeros, low=0, high=1)
    assert F.heaps.values.tolist() == [0]
    assert smq.solve(smq.Market(epsilon, F), 0.0).purchased_privacy == pytest.approx(0.51, rel=1e-14)
    assert solved_and_loaded(F, tmp_path).grade == "proved"
    asked = rng.lognormal(3, 0.6, 900)
    heaped = np.where(rng.random(900) < 0.8, 5.0 * np.maximum(np.round(asked / 5), 1), asked)
    epsilon, budget = np.linspace(0.1, 1, 20), 20.0
    for F in (smq.from_samples(heaped), smq.empirical_law(heaped)):
        solution = smq.solve(smq.Market(epsilon, F), budget)
        assert smq.verify(solution).grade == "proved"
        lot = solution.lottery
        drawn = np.zeros(20) if lot is None else np.bincount(lot.owner, minlength=20)
        plain = (solution.acceptance > 0) & (drawn == 0)
        spent = np.sum(solution.thresholds[plain] * empirical(heaped, solution.thresholds[plain]))
        assert spent <= budget
        assert F.heaps.masses.size > 5 if isinstance(F, smq.valuation.SampleLaw) else True
    assert F.has_atoms


def test_all_heaps_are_a_price_list():
    F = smq.from_samples([1.0, 1.0, 2.0, 2.0], heaps=[1.0, 2.0])
    assert F.histogram is None
    assert F.smoothing_error == 0
    assert F.cdf([1.0, 1.5, 2.0]).tolist() == [0.5, 0.5, 1.0]
    assert "2 heaps" in repr(F)
    assert valuation_from_dict(F.to_dict()).to_dict() == F.to_dict()


def test_heavy_ties():
    F = smq.from_samples([1.0] * 98 + [2.0, 3.0], low=0, high=4)
    assert float(F.cdf(1.0)) == 0.98
    F = smq.from_samples([1.0] * 98 + [2.0, 3.0], low=0, high=4, heaps=[])
    assert float(F.cdf(1.5)) == 0.98
    assert F.histogram.edges.tolist() == [0, 1.5, 2.5, 4] or F.histogram.edges.tolist() == [0, 1.5, 4]


def test_the_band_holds():
    F = smq.from_samples(np.linspace(0, 1, 200))
    assert F.sampling_error == F.half_width(0.95) == pytest.approx(np.sqrt(np.log(40) / 400), rel=1e-15)
    rng = np.random.default_rng(11)
    truth = smq.Beta(2, 3)
    t = np.linspace(0, 1, 2001)
    held = 0
    for _ in range(200):
        estimate = smq.from_samples(truth.sample(rng, 200), low=0, high=1)
        held += np.max(np.abs(estimate.cdf(t) - truth.cdf(t))) <= estimate.half_width(0.9) + estimate.smoothing_error
    assert held >= 180  # at least nine in ten; the bound is not tight


def test_solves_certifies_and_survives_files(tmp_path):
    F = smq.from_samples(np.random.default_rng(2).gamma(2.0, 1.0, 500))
    assert solved_and_loaded(F, tmp_path).valid
    again = valuation_from_dict(F.to_dict())
    assert (again.n, again.sampling_error, again.smoothing_error) == (F.n, F.sampling_error, F.smoothing_error)
    mixed = smq.ByOwner([F, smq.Uniform(0, 1), F.rescale(2.0)])
    assert smq.verify(smq.solve(smq.Market([0.3, 0.5, 0.9], mixed), 1.0)).valid


def test_the_estimate_approaches_the_law():
    values = smq.Beta(2, 3).sample(np.random.default_rng(8), 200_000)
    epsilon = np.linspace(0.1, 1, 30)
    with_estimate = smq.solve(smq.Market(epsilon, smq.from_samples(values, low=0, high=1)), 5.0)
    with_law = smq.solve(smq.Market(epsilon, smq.Beta(2, 3)), 5.0)
    assert with_estimate.purchased_privacy == pytest.approx(with_law.purchased_privacy, rel=0.01)


@pytest.mark.parametrize(
    ("values", "ends", "rule"),
    [
        ([SECRET], {}, "two different values"),
        ([SECRET] * 9, {}, "two different values"),
        ([], {}, "shape"),
        ([[SECRET, 1.0]], {}, "shape"),
        ([1.0, -SECRET], {}, "row 2: must be a finite number"),
        ([1.0, SECRET, float("nan")], {}, "row 3: must be a finite number"),
        ([1.0, SECRET, float("inf")], {}, "row 3: must be a finite number"),
        (["1.0", "123.456789x"], {}, "row 2: must be a number"),
        ([1.0, None], {}, "row 2: must not be masked or missing"),
        ([1.0, SECRET], {"high": 100.0}, "row 2: must not lie above high"),
        ([1.0, SECRET], {"low": 2.0}, "row 1: must not lie below low"),
        ([1.0, SECRET], {"low": -2.0}, "must not be negative"),
        ([1.0, SECRET], {"pieces": 0}, "whole number"),
        ([1.0, SECRET], {"pieces": True}, "whole number"),
    ],
)
def test_refusals_keep_values_private(values, ends, rule):
    with pytest.raises(smq.InputError, match=rule) as caught:
        smq.from_samples(values, **ends)
    assert "123.4" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert "123.4" not in repr(caught.value.value)


@pytest.mark.parametrize(
    "change",
    [
        {"n": 1},
        {"n": True},
        {"smoothing_error": 2},
        {"smoothing_error": None},
        {"edges": [1, 0, 2]},
        {"other": 1},
        {"masses": None},
    ],
)
def test_bad_tables_are_refused(change):
    table = smq.from_samples([1.0, 2.0, 3.0]).to_dict() | change
    with pytest.raises(smq.InputError):
        valuation_from_dict(table)
