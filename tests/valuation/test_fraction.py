"""Whether fractions in letters vanish: what does is seen, what does not is never said to."""

import pytest
import sympy as sp

from smqopt.algebra.decision._fraction import fraction_vanishes

a, b = sp.symbols("a b", positive=True)
x, r, s = sp.symbols("x r s", real=True)

VANISH = [
    (1 / (x + 1) + 1 / (x - 1) - 2 * x / (x**2 - 1), {}),
    ((x + sp.sin(x)) ** 2 - x**2 - 2 * x * sp.sin(x) - sp.sin(x) ** 2, {}),
    (r - a - b, {r: (a**2 + 2 * a * b + b**2, 2)}),
    (r - (a + b) / a, {r: ((a**2 + 2 * a * b + b**2) / a**2, 2)}),
    (r**2 - x**2, {r: (x**2, 2)}),
    (r**4 - r * (x + 1), {r: (x + 1, 3)}),
    (1 / (r - 1) - (r + 1) / x, {r: (x + 1, 2)}),
    (r**2 * x - x - 1, {r: ((x + 1) / x, 2)}),
    (r * a - s, {r: ((x + 1) / a, 2), s: (a * (x + 1), 2)}),
]
DO_NOT = [
    (1 / (x + 1) + 1 / (x - 1) - 2 * x / (x**2 + 1), {}),
    (r + a + b, {r: (a**2 + 2 * a * b + b**2, 2)}),
    (r - x, {r: (x**2, 2)}),
    (r - a + b, {r: (a**2 - 2 * a * b + b**2, 2)}),
    (r**3 - x, {r: (x + 1, 3)}),
    (r - 1, {r: (a, 2)}),
    (r * x - s, {r: ((x + 1) / x, 2), s: (x * (x + 1), 2)}),
]


@pytest.mark.parametrize(("expression", "roots"), VANISH, ids=str)
def test_what_vanishes_is_seen(expression, roots):
    assert fraction_vanishes(expression, roots)


@pytest.mark.parametrize(("expression", "roots"), DO_NOT, ids=str)
def test_what_does_not_vanish_is_not_said_to(expression, roots):
    assert not fraction_vanishes(expression, roots)
