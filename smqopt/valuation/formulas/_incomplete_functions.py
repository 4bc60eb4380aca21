"""Beta and gamma laws by incomplete functions; log-normal laws from zero on."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import sympy as sp

from smqopt.algebra import THETA
from smqopt.valuation.expression._symbolic_law import HIGH, LOW
from smqopt.valuation.formulas._law_formulas import LawFormulas
from smqopt.valuation.law._base import Valuation

_ENDS = (("low", LOW), ("high", HIGH))
_MOST_TERMS = 30
"""Of a sum that stands for a function: SymPy takes sums apart term in term, and many too deep."""


def beta_formulas(_: Valuation, values: Mapping[str, sp.Rational]) -> LawFormulas:
    """Write F = I_u(a, b), u = (θ − low)/(high − low), and its density (DLMF 8.17).

    For a whole shape F is a sum of powers: I_u(a, b) = u^a Σ_{j<b} (a)_j (1−u)^j/j!, and I_u(a, b)
    = 1 − I_{1−u}(b, a).
    """
    symbols = {name: values.get(name, sp.Symbol(name, positive=True)) for name in ("a", "b")}
    a, b = symbols["a"], symbols["b"]
    u, v = (THETA - LOW) / (HIGH - LOW), (HIGH - THETA) / (HIGH - LOW)
    if _is_few(b):
        cdf = _with_whole_shape(u, v, a, int(b))
    elif _is_few(a):
        cdf = 1 - _with_whole_shape(v, u, b, int(a))
    else:
        cdf = sp.betainc(a, b, 0, u) / _mass(a, b)
    whole = next(filter(_is_few, (b, a)), None)
    scale = _mass(a, b) if whole is None else _beta(a + b - whole, int(whole))
    pdf = u ** (a - 1) * v ** (b - 1) / (scale * (HIGH - LOW))
    parameters = tuple((name, symbol) for name, symbol in symbols.items() if isinstance(symbol, sp.Symbol))
    return LawFormulas(THETA, LOW, HIGH, cdf, pdf, (*parameters, *_ENDS))


def gamma_formulas(_: Valuation, values: Mapping[str, sp.Rational]) -> LawFormulas:
    """Write F by γ(k, θ/s), the lower incomplete gamma function (DLMF 8.2)."""
    symbols = {name: values.get(name, sp.Symbol(name, positive=True)) for name in ("shape", "scale")}
    shape, scale = symbols["shape"], symbols["scale"]
    at_low, at_theta, at_high = (sp.lowergamma(shape, end / scale) for end in (LOW, THETA, HIGH))
    mass = at_high - at_low
    cdf = (at_theta - at_low) / mass
    pdf = (THETA / scale) ** (shape - 1) * sp.exp(-THETA / scale) / (scale * mass)
    parameters = tuple((name, symbol) for name, symbol in symbols.items() if isinstance(symbol, sp.Symbol))
    return LawFormulas(THETA, LOW, HIGH, cdf, pdf, (*parameters, *_ENDS))


def is_long_sum(law: Valuation) -> bool:
    """Tell whether SymPy would write F of a gamma law as a sum of many terms.

    It does so where twice the shape is whole.
    """
    if law.name != "gamma":
        return False
    shapes = np.ravel(np.asarray(law.arguments["shape"], dtype=np.float64))
    return bool(np.any((shapes > _MOST_TERMS) & (2 * shapes == np.floor(2 * shapes))))


def _is_few(shape: sp.Expr) -> bool:
    """Tell whether a shape is whole, and small enough to write a sum of so many terms."""
    return bool(shape.is_Integer and shape <= _MOST_TERMS)


def log_normal_from_zero() -> LawFormulas:
    """Spell out F = Φ((log θ − μ)/σ)/Φ((log high − μ)/σ), whose support begins at 0."""
    mu, sigma = sp.Symbol("mu", real=True), sp.Symbol("sigma", positive=True)
    mass = 1 + sp.erf((sp.log(HIGH) - mu) / (sp.sqrt(2) * sigma))
    cdf = (1 + sp.erf((sp.log(THETA) - mu) / (sp.sqrt(2) * sigma))) / mass
    pdf = sp.sqrt(2 / sp.pi) * sp.exp(-((sp.log(THETA) - mu) ** 2) / (2 * sigma**2)) / (sigma * THETA * mass)
    return LawFormulas(THETA, sp.Integer(0), HIGH, cdf, pdf, (("mu", mu), ("sigma", sigma), ("high", HIGH)))


def _with_whole_shape(u: sp.Expr, v: sp.Expr, a: sp.Expr, b: int) -> sp.Expr:
    return u**a * sp.Add(*(_rising(a, j) * v**j / sp.factorial(j) for j in range(b)))


def _mass(a: sp.Expr, b: sp.Expr) -> sp.Expr:
    """Return B(a, b), a multiple of π where SymPy finds one."""
    product = sp.gamma(a) * sp.gamma(b) / sp.gamma(a + b)
    return sp.beta(a, b, evaluate=False) if product.has(sp.gamma) else product


def _beta(a: sp.Expr, b: int) -> sp.Expr:
    """Return B(a, b) = (b − 1)!/(a (a+1) … (a+b−1)) for whole b."""
    return sp.factorial(b - 1) / _rising(a, b)


def _rising(a: sp.Expr, j: int) -> sp.Expr:
    return sp.Mul(*(a + k for k in range(j)))
