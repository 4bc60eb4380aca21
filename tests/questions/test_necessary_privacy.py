"""Lemma 1's level: its value, its silence, and what it is called."""

from __future__ import annotations

import math

import pytest

import smqopt as smq


def test_the_level_is_that_of_the_lemma():
    found = smq.necessary_privacy("median", alpha=2, delta=0.75, n=80)
    assert found.level == pytest.approx(10 * math.log(3), rel=1e-15)
    assert (found.available, found.status, found.says_something) == (None, None, True)


def test_one_accurate_mechanism_needs_it():
    """A count by randomised response, ε a person: its own accuracy δ at α never has a level above n ε."""
    n, alpha = 16, 2
    for epsilon in (0.1, 1.0, 3.0):
        flip = 1 / (1 + math.exp(epsilon))
        worst = min(
            sum(
                math.comb(ones, a) * math.comb(n - ones, b) * flip ** (a + b) * (1 - flip) ** (n - a - b)
                for a in range(ones + 1)
                for b in range(n - ones + 1)
                if abs(b - a) < alpha
            )
            for ones in range(n + 1)
        )
        if worst > 0.5:
            assert smq.necessary_privacy("count", alpha=alpha, delta=worst, n=n).level <= n * epsilon


@pytest.mark.parametrize("delta", [1e-9, 0.25, 0.5])
def test_it_says_nothing_up_to_a_half(delta):
    found = smq.necessary_privacy("count", alpha=1, delta=delta, n=4)
    assert found.level == 0.0
    assert not found.says_something
    assert "says nothing" in str(found)


def test_more_than_the_market_has_is_unreachable():
    market = smq.Market([0.5, 1.0], smq.Uniform(0, 1), multiplicity=[4, 4])
    assert smq.necessary_privacy("count", alpha=2, delta=0.99, market=market).status is None
    found = smq.necessary_privacy("count", alpha=1, delta=0.99, market=market)
    assert (found.n, found.available, found.status) == (8, 6.0, smq.Status.UNREACHABLE)
    assert "have 6 in all" in str(found)


def test_it_is_called_necessary_and_no_guarantee():
    told = str(smq.necessary_privacy("count", alpha=1, delta=0.9, n=100))
    assert "necessary" in told
    assert "no guarantee" in told


@pytest.mark.parametrize(
    ("query", "given", "told"),
    [
        ("linear", {"alpha": 1, "delta": 0.9, "n": 8}, "E16"),
        ("count", {"alpha": 3, "delta": 0.9, "n": 8}, "from 1 to 2"),
        ("count", {"alpha": 0, "delta": 0.9, "n": 8}, "alpha"),
        ("count", {"alpha": 1.0, "delta": 0.9, "n": 8}, "alpha"),
        ("count", {"alpha": 1, "delta": 1.0, "n": 8}, "delta"),
        ("count", {"alpha": 1, "delta": 0.0, "n": 8}, "delta"),
        ("count", {"alpha": 1, "delta": 0.9}, "missing"),
        ("count", {"alpha": 1, "delta": 0.9, "n": 3}, "'n'"),
        ("count", {"alpha": 1, "delta": 0.9, "n": 8, "market": smq.Market([1.0] * 9, smq.Uniform(0, 1))}, "market's"),
    ],
)
def test_bad_questions_are_refused(query, given, told):
    with pytest.raises(smq.InputError, match=told):
        smq.necessary_privacy(query, **given)
