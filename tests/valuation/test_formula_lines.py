"""Formulas at the edge of what is real, finite or named: a law, or an error of the family; never a foreign one."""

import random
import warnings

import mpmath
import numpy as np
import pytest
import sympy as sp
from scipy.optimize import linprog

import smqopt as smq
from smqopt.algebra import THETA, Evaluation, lambdify, parse
from smqopt.errors import SmqoptError
from smqopt.numeric import ball, ball_function, precision, series_function

REFUSED = {
    "((-theta)**3)**(1/3)": "never positive",
    "theta*low": "does not depend on theta",
    "0**theta": "never positive",
    "(-2)**theta": "never positive",
    "sinh(1e300)*theta": "must be 1 at high",
    "theta+sinh(1e300)": "must be finite at low",
    "sqrt(-theta)": "not real",
    "asin(2*theta)/asin(2)": "not real",
    "(-1)**(1/3)*theta": "never positive",
    "log(0)*theta": "not real",
    "-" * 100_000 + "theta": "at most 2000 characters",
    "-" * 500 + "theta": "nested deeper",
}


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: text[:30])
def test_what_is_no_law_is_refused_by_name(text):
    with pytest.raises(SmqoptError, match=REFUSED[text]):
        smq.from_cdf(text, 0, 1)


@pytest.mark.parametrize("name", ["log1p", "expm1", "arctan", "self", "text", "nan", "absolute", "sign", "numpy"])
def test_names_that_stand_in_the_code_are_refused(name):
    with pytest.raises(smq.InputError, match="meaning of its own"):
        smq.from_cdf(f"theta**{name}", 0, 1, **{name: 2.0})


def test_a_root_of_a_square_is_what_it_says():
    law = smq.from_cdf("sqrt((theta-1)**2)", 1, 2)
    assert law.cdf([1.25, 1.75]).tolist() == [0.25, 0.75]
    assert law.pdf([1.25, 1.75]).tolist() == [1.0, 1.0]
    assert law.is_proved_cdf().is_proved
    assert smq.verify(smq.solve(smq.Market([0.2, 1.0], law), 0.9)).valid


@pytest.mark.parametrize(
    ("text", "theta", "value"),
    [
        ("asin(theta)*2/pi", 0.5, 1 / 3),
        ("1 - acos(theta)*2/pi", 0.5, 1 / 3),
        ("theta + 0.3*(abs(theta - 0.5) - 0.5)", 0.75, 0.675),
        ("(abs(2*theta - 1)**1.5*sign(2*theta - 1) + 1)/2", 0.25, (1 - 0.5**1.5) / 2),
    ],
)
def test_new_functions_make_laws(text, theta, value):
    law = smq.from_cdf(text, 0, 1)
    assert float(law.cdf(theta)) == pytest.approx(value, rel=1e-14)
    solution = smq.solve(smq.Market([0.3, 0.6, 1.0], law), 0.4)
    assert smq.verify(solution).valid
    assert type(law)(law.text, (), {"low": 0.0, "high": 1.0, "unit": 1.0}).cdf(theta) == law.cdf(theta)


@pytest.mark.parametrize("text", ["abs(theta - 0.5)", "asin(theta)", "acos(theta)", "abs(asin(theta) - 0.7)**3"])
def test_new_functions_agree_in_doubles_balls_and_series(text):
    expression = parse(text, {})
    slope = sp.diff(expression, THETA)
    names = {"abs": mpmath.fabs, "asin": mpmath.asin, "acos": mpmath.acos}
    for theta in (0.125, 0.4375, 0.8125):
        exact = mpmath.mpf(eval(text, {"theta": mpmath.mpf(theta), **names}))  # noqa: S307
        derivative = mpmath.diff(lambda t: eval(text, {"theta": t, **names}), theta)  # noqa: S307
        assert float(Evaluation(expression, (THETA,))(np.array([theta]))[0]) == pytest.approx(float(exact), rel=1e-15)
        with precision(128):
            assert float(ball_function(slope, [THETA])(ball(theta)).mid()) == pytest.approx(
                float(derivative), rel=1e-12
            )
            coefficients = series_function(expression, THETA, 2)(ball(theta))
            assert float(coefficients[0].mid()) == pytest.approx(float(exact), rel=1e-15)
            assert float(coefficients[1].mid()) == pytest.approx(float(derivative), rel=1e-12)


@pytest.mark.parametrize("n", [-0.9, -0.5, -0.1])
def test_a_density_may_be_a_power_above_minus_one(n):
    for law in (smq.from_pdf("theta**n", 0, 1, n=n), smq.from_pdf("theta**n", 0, 1, n=[n, -0.3]).take(np.array([0]))):
        assert float(np.ravel(law.cdf(0.25))[0]) == pytest.approx(0.25 ** (n + 1), rel=1e-14)
        assert law.is_proved_cdf().is_proved


def _formula(draw: random.Random, depth: int) -> str:
    if depth == 0 or draw.random() < 0.2:
        numbers = ["0", "1", "2", "0.5", "1e300", "1e-300", "3/7", "10**6", "pi", "1e400", "-1"]
        return draw.choice(["theta"] * 6 + ["low", "high", "a"] + numbers)
    kind = draw.randrange(8)
    left, right = _formula(draw, depth - 1), _formula(draw, depth - 1)
    if kind < 4:
        return f"({left}{draw.choice('+-*/')}{right})"
    if kind < 6:
        return f"({left})**({right})"
    names = [
        "exp",
        "log",
        "sqrt",
        "sin",
        "cos",
        "tan",
        "asin",
        "acos",
        "atan",
        "sinh",
        "cosh",
        "tanh",
        "erf",
        "abs",
        "sign",
    ]
    return f"{draw.choice(names)}({left})" if kind == 6 else f"-({left})"


@pytest.mark.parametrize("seed", range(5))
def test_random_formulas_are_read_and_evaluated_or_refused(seed):
    """500 formulas; what is read has real values, or NaN, in doubles, and 6 go through the whole door."""
    draw = random.Random(seed)  # noqa: S311
    for number in range(100):
        text = _formula(draw, 3)
        a = sp.Symbol("a", real=True)
        with warnings.catch_warnings():
            warnings.simplefilter("error", np.exceptions.ComplexWarning)
            try:
                expression = parse(text, {"low": sp.Integer(0), "high": sp.Integer(1), "a": a})
                value = lambdify((THETA, a), expression)(np.linspace(0, 1, 5), 0.7)
                assert value.dtype == np.float64
                slope = sp.diff(expression, THETA)
                endless = slope.has(sp.nan, sp.zoo, sp.oo, -sp.oo)
                if not endless:
                    ball_function(slope, [THETA, a])(ball(0.3), ball(0.7))
                if endless or number % 16 == 0:
                    smq.from_cdf(text, 0, 1, **({"a": 0.7} if "a" in text.replace("theta", "") else {}))
            except SmqoptError:
                continue


@pytest.mark.parametrize(
    ("text", "falls"),
    [
        ("theta + 0.5*abs(theta - 0.5) - 0.25", True),
        ("(theta + 0.25*theta*abs(theta - 0.5))/1.125", True),
        ("theta - 0.5*abs(theta - 0.5) + 0.25", False),
        ("abs(theta)", False),
    ],
)
def test_a_density_that_jumps_up_is_not_proved_regular(text, falls):
    """J falls where f jumps up, though f′ is 0 on either side."""
    law = smq.from_cdf(text, 0, 1)
    below, above = law.virtual_cost([0.5 - 1e-9, 0.5 + 1e-9])
    assert (above < below) == falls
    assert not falls or not isinstance(law.regularity(), smq.Regular)
    assert not falls or smq.derive(law).step("regularity").verdict.name != "PROVED"
    price, q = np.linspace(0, 1, 501), law.cdf(np.linspace(0, 1, 501))
    rows = [np.append(price * q, price * q), np.repeat([1.0, 0.0], 501), np.repeat([0.0, 1.0], 501)]
    found = linprog(-np.append(q, 2 * q), A_ub=rows, b_ub=[0.116, 1, 1])
    certificate = smq.verify(smq.solve(smq.Market([1.0, 2.0], law), 0.116))
    assert certificate.valid
    assert certificate.upper_bound >= -found.fun - 1e-9
