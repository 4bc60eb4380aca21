import contextlib
import time

import pytest
import sympy as sp
from hypothesis import given, strategies as st

from smqopt.algebra import THETA, check_name, names_in, parse, rational
from smqopt.errors import InputError

a = sp.Symbol("a", positive=True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("theta**2*(3-2*theta)", THETA**2 * (3 - 2 * THETA)),
        ("0.1*theta", THETA / 10),
        ("1e-3 + .5 + 2.", sp.Rational(2501, 1000)),
        ("-theta + +theta**-1", -THETA + 1 / THETA),
        ("-theta**2", -(THETA**2)),
        ("2**3**2", sp.Integer(512)),
        ("theta/a/2", THETA / (2 * a)),
        ("pi*exp(log(a))", sp.pi * a),
        ("sqrt(theta) + erf(tanh(theta))", sp.sqrt(THETA) + sp.erf(sp.tanh(THETA))),
        ("  theta\n  + 1 ", THETA + 1),
    ],
)
def test_reads(text, expected):
    assert parse(text, {"a": a}) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('__import__("os").system("true")', "no formula has"),
        ("__import__(theta)", "may not call '__import__'"),
        ("theta.real", "no formula has"),
        ("theta[0]", "no formula has"),
        ("(lambda: 1)()", "no formula has"),
        ("theta if 1 else 2", "no formula has"),
        ("theta and 1", "no formula has"),
        ("theta < 1", "no formula has"),
        ("theta // 2", "no formula has"),
        ("theta % 2", "no formula has"),
        ("exp(exp)", "'exp' needs an argument"),
        ("exp(1, 2)", "takes one argument"),
        ("exp()", "takes one argument"),
        ("exp(*theta)", "no formula has"),
        ("theta, 1", "no formula has"),
        ("theta^2", r"use \*\* for powers"),
        ("tehta", "did you mean 'theta'"),
        ("gamma(theta)", "may not call 'gamma'"),
        ("E", "unknown"),
        ("beta", "unknown"),
        ("theta +", "is not a formula"),
        ("(theta", "is not a formula"),
        ("2theta", "is not a formula"),
        ("1or 2", "is not a formula"),
        ("0x10", "not a plain number"),
        ("1_0", "not a plain number"),
        ("1j", "not a plain number"),
        ("True", "not a plain number"),
        ("1e999999", "number out of range"),
        ("1/0", "not real and finite"),
        ("log(0)", "not real and finite"),
        ("sqrt(-1)", "not real and finite"),
        ("(-8)**(1/3)", "a power of what is never positive"),
        ("", "is empty"),
        ("θ", "write 'theta'"),
        ("9**9**9**9", "exponents may not exceed"),
        ("((theta+1)**64)**64", "exponents may not exceed"),
        ("exp(10**9*log(2))", "number too large"),
        ("2**(10**9*log(3)/log(2))", "number too large"),
        ("(9**900*9**900*9**900*9**900*9**900*9**900*9**900*9**900)", "number too large"),
        ("-" * 1500 + "theta", "nested deeper"),
        ("(" * 500 + "theta" + ")" * 500, "is not a formula"),
        ("+".join(["theta"] * 1000), "at most 2000 characters"),
    ],
)
def test_refuses_in_one_line_at_once(text, message):
    started = time.process_time()
    with pytest.raises(InputError, match=message) as error:
        parse(text, {})
    assert time.process_time() - started < 1
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 300


@pytest.mark.parametrize("text", [None, 5, b"theta", ["theta"]])
def test_refuses_what_is_no_text(text):
    with pytest.raises(InputError, match="must be a formula as text"):
        parse(text, {})


@given(st.text(alphabet="theta pi()+-*/.0123456789e,log_[]{}:=lambd\"'", max_size=40))
def test_any_text_gives_a_formula_or_one_error(text):
    with contextlib.suppress(InputError):
        assert parse(text, {}).free_symbols <= {THETA}


def test_long_numbers_as_exponents_end():
    started = time.process_time()
    value = parse("96**k * ((theta - low)/(high - low))**k", {
        "k": rational(1.7), "low": rational(0.1), "high": rational(0.7),
    })  # fmt: skip
    assert time.process_time() - started < 1
    at = float(value.subs(THETA, rational(0.7)).evalf(20)) if value.has(THETA) else 0.0
    assert at == pytest.approx(96**1.7, rel=1e-12)


@pytest.mark.parametrize("name", ["theta", "pi", "exp", "low", "unit", "lambda", "a-b", "_a", "", "1a", "ä"])
def test_bad_names(name):
    with pytest.raises(InputError):
        check_name(name, "parameter")


def test_names_in():
    assert names_in("2e5*theta**a1 + exp(1.e-3*b)") == {"theta", "a1", "exp", "b"}


def test_doubles_are_taken_exactly():
    assert rational(0.1) == sp.Rational(3602879701896397, 36028797018963968)
