import random
from fractions import Fraction

import pytest
import sympy as sp

from smqopt.algebra import Negative, Nonnegative, ran_short, sign_on, work_budget
from smqopt.algebra.decision import _sign
from smqopt.algebra.decision._sign import Unknown
from smqopt.algebra.decision._sturm import exact, negative_point
from smqopt.algebra.decision._work import LONGEST_SIGN
from smqopt.algebra.expression._fraction_size import fraction_size
from smqopt.numeric import hull, work_limit

x = sp.Symbol("x", nonnegative=True)
ZERO, ONE = Fraction(0), Fraction(1)


@pytest.mark.parametrize("seed", range(40))
def test_roots_counted_agree_with_a_fine_grid(seed):
    draw = random.Random(seed)  # noqa: S311
    polynomial = sp.Poly(draw.choice([1, -1]), x, domain="QQ")
    for _ in range(draw.randint(0, 5)):
        root = sp.Rational(draw.randint(-3, 12), 9)
        polynomial *= sp.Poly((x - root) ** draw.choice([1, 1, 2]), x)
    point = negative_point(polynomial, ZERO, ONE)
    negative = any(polynomial.eval(sp.Rational(k, 126)) < 0 for k in range(1, 126))
    assert (point is not None) == negative
    if point is not None:
        assert 0 < point < 1
        assert polynomial.eval(exact(point)) < 0


def test_close_roots_are_not_missed():
    gap = sp.Rational(1, 10**30)
    polynomial = sp.Poly((x - sp.Rational(1, 3)) * (x - sp.Rational(1, 3) - gap), x)
    point = negative_point(polynomial, ZERO, ONE)
    assert point is not None
    assert polynomial.eval(exact(point)) < 0


@pytest.mark.parametrize(
    "expression",
    [
        sp.Integer(0),
        x,
        (2 * x - 1) ** 2,
        x * (1 - x),
        1 - sp.cos(x),
        x - sp.sin(x),
        sp.exp(x) - 1 - x,
        1 - x * sp.exp(1 - x),
        sp.sqrt(x) * (1 - x),
        (1 - x) ** sp.Rational(3, 2) * sp.exp(-x),
        sp.sqrt(1 + x) - 1 - x / 4,
        x**1000 * (2 - x) ** 1000,
        1 / (1 + x),
    ],
    ids=str,
)
def test_nonnegative(expression):
    assert isinstance(sign_on(expression, x, ZERO, ONE), Nonnegative)


@pytest.mark.parametrize(
    "expression",
    [
        -x,
        x - sp.Rational(1, 10**9),
        sp.cos(4 * x),
        sp.sqrt(x) * (sp.Rational(999, 1000) - x),
        1 / (x - sp.Rational(1, 2)),
        sp.exp(x) - 1 - sp.Rational(1001, 1000) * x,
    ],
    ids=str,
)
def test_negative_with_a_point(expression):
    sign = sign_on(expression, x, ZERO, ONE)
    assert isinstance(sign, Negative)
    assert 0 < sign.point < 1
    assert expression.evalf(40, subs={x: exact(sign.point)}) < 0


@pytest.mark.parametrize(
    "expression",
    [
        (sp.sin(x) - sp.sin(sp.Rational(1, 3))) ** 2,  # a double root inside, at no rational place
        sp.exp(-1 / x) - sp.exp(-1 / x) * x,  # flat to every order at the end
        sp.sqrt(x - sp.Rational(1, 2)),  # not real on the whole interval
    ],
    ids=str,
)
def test_undecided_is_an_answer(expression):
    assert isinstance(sign_on(expression, x, ZERO, ONE), Unknown)


def test_other_intervals_report_points_where_they_are():
    sign = sign_on(sp.log(x / 100), x, Fraction(90), Fraction(110))
    assert isinstance(sign, Negative)
    assert 90 < sign.point < 100
    assert isinstance(sign_on(sp.log(x / 100), x, Fraction(100), Fraction(110)), Nonnegative)


def test_size_is_bounded_without_expanding():
    assert fraction_size(((1 + x) ** 500 - 1) ** 2 / (x * (2 + x)) + 1 / x, {x}) == (1001, 3)
    assert max(fraction_size(sp.sqrt(x), {x})) == float("inf")
    assert fraction_size(sp.pi * sp.exp(2) * x, {x}) == (1, 0)


@pytest.mark.parametrize("seed", range(12))
def test_a_sign_over_a_box_holds_at_every_corner_and_inside(seed):
    """What is proved of a box is what the same expression does for exact numbers drawn from it."""
    draw = random.Random(seed)  # noqa: S311
    a, b = sp.symbols("a b", positive=True)
    forms = [
        x**a * (1 + b * (1 - x)), a - b * x, sp.exp(-a * x) - b / 4, x ** (a + 1) - b * x ** (a + 2), sp.sqrt(1 - b * x / 2) - a / 3,
        1 - sp.cos(a * x) - b * x**2 / 40,
    ]  # fmt: skip
    ends = {
        symbol: (start := Fraction(draw.randint(10, 25), 10), start + Fraction(draw.randint(0, 4), 10))
        for symbol in (a, b)
    }
    decided = 0
    for expression in forms:
        sign = sign_on(expression, x, ZERO, ONE, {symbol: hull(*pair) for symbol, pair in ends.items()})
        for _ in range(3):
            at = {
                symbol: exact(pair[0] + (pair[1] - pair[0]) * Fraction(draw.randint(0, 8), 8))
                for symbol, pair in ends.items()
            }
            if isinstance(sign, Nonnegative):
                values = [expression.subs(at).evalf(30, subs={x: sp.Rational(k, 16)}) for k in range(1, 16)]
                assert all(value >= -1e-25 for value in values)
            elif isinstance(sign, Negative):
                assert expression.subs(at).evalf(30, subs={x: exact(sign.point)}) < 0
        decided += not isinstance(sign, Unknown)
    assert decided >= 2


def test_roots_of_the_variable_have_taylor_series_at_nought():
    """Both terms begin with √x: the area below e^(−t²) up to √x is at least √x e^(−x)."""
    area = sp.sqrt(sp.pi) / 2 * sp.erf(sp.sqrt(x)) - sp.sqrt(x) * sp.exp(-x)
    assert isinstance(sign_on(area, x, Fraction(0), Fraction(4)), Nonnegative)
    found = sign_on(area - x**2 / 4, x, Fraction(0), Fraction(4))
    assert isinstance(found, Negative)
    assert 2 < found.point < 4


def test_the_middle_of_a_piece_tells_what_its_ends_do_not():
    """A square of many terms, which balls of pieces would enclose too widely."""
    near = sp.exp(x) * (1 - x + x**2 / 2 - x**3 / 6) - 1 + x**4
    found = sign_on(near, x, Fraction(0), Fraction(1))
    assert isinstance(found, Nonnegative)
    assert int(found.method.split("(")[1].split()[0]) < 100


LONG = sp.Add(*(sp.exp(k * x / 1000) for k in range(1, 60)))
TOUCHING = (sp.exp(x) - 2) * (sp.cosh(x) + sp.sinh(x) - 2) * LONG
"""Nonnegative, and 0 at log 2, so that balls never show it."""


def test_a_sign_that_balls_do_not_show_is_left_open_after_so_much_work():
    spent = []
    for _ in range(2):
        with work_limit(0) as allowance:
            assert isinstance(sign_on(TOUCHING, x, ZERO, ONE), Unknown)
        spent.append(allowance.evaluations - allowance.left)
    assert spent[0] == spent[1]
    assert LONGEST_SIGN < spent[0] < 1.05 * LONGEST_SIGN
    assert isinstance(sign_on(TOUCHING - sp.Rational(1, 10), x, ZERO, ONE), Negative)


def test_all_signs_of_a_derivation_have_one_limit():
    with work_budget(40_000), work_limit(0) as allowance:
        for k in range(1, 9):
            assert isinstance(sign_on(k * TOUCHING, x, ZERO, ONE), Unknown)
        assert ran_short()
    assert allowance.evaluations - allowance.left < LONGEST_SIGN
    with work_budget():
        assert isinstance(sign_on(LONG - 59, x, ZERO, ONE), Nonnegative)
        assert not ran_short()


def test_no_form_is_asked_twice(monkeypatch):
    asked = []
    monkeypatch.setattr(_sign, "_by_balls", lambda form, *_, **__: asked.append(form) or Unknown(""))
    for expression in (TOUCHING, sp.sin(x) * (1 + x), sp.exp(x) - 2):
        sign_on(expression, x, ZERO, ONE)
        assert len(asked) == len(set(asked)) > 0
        asked.clear()


@pytest.mark.parametrize("seed", range(20))
def test_terms_are_bounded_before_anything_is_multiplied_out(seed):
    draw = random.Random(seed)  # noqa: S311
    parts = [x, 1 + x, sp.exp(x * (1 + x)), sp.sqrt(1 + x), 2 - sp.sin(x) * x]
    for _ in range(6):
        first, second = draw.sample(parts, 2)
        parts.append(draw.choice([first + second, first * second, first ** draw.randint(2, 3), first / second]))
    expression = parts[-1]
    assert len(sp.Add.make_args(sp.expand(expression))) <= _sign._terms(expression)
