"""Proved tables: nothing of a law lies outside them, and a table that says otherwise is found out."""

from __future__ import annotations

import dataclasses
import functools

import mpmath
import numpy as np
import pytest
import scipy.stats
from law_instances import INSTANCES
from mpmath import mpf

import smqopt as smq
from smqopt.valuation import proved_table

WITHOUT = {
    *("point-mass", "a third party's law", "rescaled", "from_samples"),
    *("from_scipy, frozen", "from_scipy, the narrower support", "from_scipy, new"),
}
"""Laws of one price, or whose cdf no ball arithmetic evaluates."""
COMMON = [
    instance.name
    for instance in INSTANCES
    if instance.truth is not None and instance.law.size is None and instance.name not in WITHOUT
]
BY_NAME = {instance.name: instance for instance in INSTANCES}


def probes(table, rng, random, near):
    """Random thresholds, some of them geometric towards the low end, and doubles next to ends of cells."""
    low, high = table.edges[0], table.edges[-1]
    even = low + (high - low) * rng.random(random // 2)
    small = low + (high - low) * 2.0 ** (-40 * rng.random(random - random // 2))
    edges = rng.choice(table.edges, near)
    beside = np.where(rng.random(near) < 0.5, np.nextafter(edges, np.inf), np.nextafter(edges, -np.inf))
    return np.clip(np.concatenate([even, small, edges, beside]), low, high)


def check(name, random, near):
    instance = BY_NAME[name]
    table = proved_table(instance.law)
    theta = probes(table, np.random.default_rng(18), random, near)
    low, high, least, most = table.enclose_with_density(theta)
    assert np.array_equal(table.enclose(theta), (low, high))
    with mpmath.workdps(50):
        F, f = instance.truth(0)
        for t, a, b, c, d in zip(
            theta.tolist(), low.tolist(), high.tolist(), least.tolist(), most.tolist(), strict=True
        ):
            inside = table.edges[0] < t < table.edges[-1]
            exact = F(mpf(t)) if inside or instance.atoms else mpf(int(t > table.edges[0]))
            assert a <= exact <= b, t
            if f and inside and t not in table.knots and instance.name not in BY_DIFFERENCES:
                assert c * (1 - mpf(10) ** -40) <= f(mpf(t)) <= d * (1 + mpf(10) ** -40), t


BY_DIFFERENCES = {name for name in COMMON if name.startswith(("from_cdf", "E1", "truncated formula", "from_pdf with"))}
"""Instances whose second opinion of f is a quotient of differences, good to half the digits."""


def test_a_law_without_a_table_says_why():
    for name in WITHOUT:
        why = proved_table(BY_NAME[name].law)
        assert (
            why == "the support is one price"
            or " law comes from outside " in why
            or " has no cdf that ball arithmetic " in why
        )


@pytest.mark.parametrize("name", COMMON)
def test_the_law_lies_in_its_table(name):
    check(name, 16, 4)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", COMMON)
def test_the_law_lies_in_its_table_everywhere(name):
    check(name, 20_000, 500)


@pytest.mark.parametrize("name", COMMON)
def test_a_table_is_as_fine_as_doubles(name):
    table = proved_table(BY_NAME[name].law)
    low, high = table.edges[0], table.edges[-1]
    a, b = table.enclose(low + (high - low) * np.random.default_rng(3).random(4000))
    seen = a > 2.0**-20
    assert np.all(b[seen] - a[seen] <= 2.0**-47 * b[seen])


@functools.cache
def changeable():
    formula, pieces = smq.from_cdf("theta**2*(3 - 2*theta)", 0, 1), smq.PiecewiseUniform([0, 1, 3], [1, 2])
    return formula, smq.Normal(1, 0.5, 0, 2), smq.Beta(2.5, 3), pieces


def moved(table, rng):
    """A copy of a table with one coefficient moved by a little more than what the cell leaves open."""
    cell, k = int(rng.integers(table.middle.size)), int(rng.integers(table.coefficients.shape[0]))
    half = 0.5 * (table.edges[cell + 1] - table.edges[cell])
    size = 2.2 * table.error[cell] / half**k
    size = max(size, 4 * np.spacing(abs(table.coefficients[k, cell])))
    coefficients = table.coefficients.copy()
    coefficients[k, cell] += rng.choice([-1.0, 1.0]) * size * 2.0 ** rng.integers(0, 30)
    return dataclasses.replace(table, coefficients=coefficients), cell


def catch(times):
    rng = np.random.default_rng(5)
    laws = changeable()
    for number in range(times):
        law = laws[number % len(laws)]
        wrong, cell = moved(proved_table(law), rng)
        assert cell in wrong.check(law, range(max(0, cell - 1), cell + 1))


def test_moved_coefficients_are_caught():
    catch(100)


@pytest.mark.exhaustive
def test_five_hundred_moved_coefficients_are_caught():
    catch(500)


def test_an_honest_table_passes():
    for law in changeable():
        assert proved_table(law).check(law) == []


def test_outside_the_support():
    table = proved_table(smq.Beta(2, 3, 1, 2))
    low, high = table.enclose([0.0, 1.0, 2.0, 3.0, np.inf, -1.0])
    assert np.array_equal(low, [0, 0, 1, 1, 1, 0])
    assert np.array_equal(high, [0, 0, 1, 1, 1, 0])


def test_laws_without_balls_have_no_table():
    assert "no cdf that ball arithmetic" in proved_table(smq.from_scipy(scipy.stats.norm(0, 1), 0, 1))
