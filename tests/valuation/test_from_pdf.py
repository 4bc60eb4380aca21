"""Laws plugged in by their density: normalised exactly, checked, refused with the reason."""

import subprocess

import mpmath
import numpy as np
import pytest
from round_trip import solved_and_loaded

import smqopt as smq
from smqopt.algebra.expression import _antiderivative as antiderivative
from smqopt.valuation.law._conformance import validate

GOOD = {
    "theta*(1 - theta)": (0, 1, {}),
    "exp(-r*theta)": (0.5, 4, {"r": 1.5}),
    "theta**(a - 1)": (0, 2, {"a": 0.75}),
    "exp(-theta**2/2)": (0, 3, {}),
    "1/(1 + theta**2)": (0, 5, {}),
    "1 + 0.9*cos(6*pi*theta)": (0, 1, {}),
    "-log(theta)": (0, 1, {}),
    "(high - theta)*(theta - low)": (1, 2.5, {}),
}


@pytest.mark.parametrize("text", GOOD)
def test_against_quadrature(text):
    low, high, given = GOOD[text]
    F = smq.from_pdf(text, low, high, **given)
    validate(F)
    names = {name: getattr(mpmath, name) for name in ("exp", "log", "cos")} | {
        "pi": mpmath.pi,
        "low": mpmath.mpf(low),
        "high": mpmath.mpf(high),
    }
    with mpmath.workdps(30):
        exact = {name: mpmath.mpf(value) for name, value in given.items()}
        code = compile(text.replace("0.9", "mpf(9)/10"), "pdf", "eval")
        f = lambda t: eval(code, {"__builtins__": {}}, {**names, **exact, "mpf": mpmath.mpf, "theta": t})  # noqa: S307, E731
        whole = mpmath.quad(f, np.linspace(low, high, 9).tolist())
        for share in (0.125, 0.5, 0.875):
            t = low + share * (high - low)
            heaped = mpmath.quad(f, np.linspace(low, t, 9).tolist())
            assert float(F.cdf(t)) == pytest.approx(float(heaped / whole), rel=1e-14)
            assert float(F.pdf(t)) == pytest.approx(float(f(mpmath.mpf(t)) / whole), rel=1e-14)
            assert float(F.virtual_cost(t)) == pytest.approx(float(t + heaped / f(mpmath.mpf(t))), rel=1e-14)


def test_a_constant_factor_is_nothing():
    one, other = smq.from_pdf("theta", 0, 1), smq.from_pdf("1e9*theta", 0, 1)
    t = np.linspace(0, 1, 9)
    assert one.cdf(t).tolist() == other.cdf(t).tolist() == (t**2).tolist()
    assert isinstance(one.regularity(), smq.Regular)


def test_one_law_an_owner():
    F = smq.from_pdf("theta**(a - 1)", 0, [1.0, 2.0, 3.0], a=[1.0, 2.0, 3.0])
    assert F.cdf([0.5, 0.5, 1.5]) == pytest.approx([0.5, 1 / 16, 1 / 8], rel=1e-15)


def test_solves_certifies_and_survives_files(tmp_path):
    assert solved_and_loaded(smq.from_pdf("theta*(1 - theta)", 0, 1), tmp_path).valid


def test_derives():
    assert {step.verdict.name for step in smq.derive(smq.from_pdf("theta*(1 - theta)", 0, 1)).steps} == {"PROVED"}


@pytest.mark.parametrize(
    ("text", "ends", "given", "rule"),
    [
        ("0.5 - theta", (0, 1), {}, "must not be negative"),
        ("(theta - 0.5)**2 - 1e-9", (0, 1), {}, "must not be negative"),
        ("0*theta", (0, 1), {}, "0 all over"),
        ("1/theta", (0, 1), {}, "diverges at low"),
        ("1/(1 - theta)**2", (0, 1), {}, "diverges at high"),
        ("exp(sin(theta)*exp(theta))", (0, 1), {}, "no antiderivative"),
        ("exp(-x*theta)", (0, 1), {}, "'x' is unknown"),
        ("theta", (0, 1), {"a": 1.0}, "does not use"),
        ("theta", (1, 1), {}, "must exceed low"),
        ("theta", (-1, 1), {}, "must not be negative"),
        ("theta", (0, float("nan")), {}, "must be finite"),
        ("theta**a", (0, 1), {"theta": 1.0}, "meaning of its own"),
        ("__import__('os')", (0, 1), {}, "pdf"),
        (3, (0, 1), {}, "formula as text"),
        ("a*theta - 1", (0, 1), {"a": [1.0, 2.0]}, "gives no law"),
    ],
)
def test_refusals(text, ends, given, rule):
    with pytest.raises(smq.InputError, match=rule):
        smq.from_pdf(text, *ends, **given)


def test_integration_that_takes_too_long_is_stopped(monkeypatch):
    def slow(*args, timeout, **kwargs):
        raise subprocess.TimeoutExpired("sympy", timeout)

    monkeypatch.setattr(antiderivative.subprocess, "run", slow)
    with pytest.raises(smq.InputError, match="in time"):
        smq.from_pdf("theta**5 + 7*theta", 0, 1)


def test_a_wrong_antiderivative_is_not_believed(monkeypatch):
    from smqopt.valuation.from_formula import _from_pdf as module

    monkeypatch.setattr(module, "antiderivative", lambda *_: ("theta**2/2 + theta**9", "0"))
    with pytest.raises(smq.InputError, match="no antiderivative"):
        module.from_pdf("theta", 0, 1)
