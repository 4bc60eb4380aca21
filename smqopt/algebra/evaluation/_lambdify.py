"""The one door from symbols to floating point.

Every expression that is to be evaluated on arrays goes through `lambdify`, which first writes
differences such as e^x − 1 so that nothing is lost by cancellation near 0, and W(e^u) as Wright's
omega function, so that nothing overflows. Only functions known here are printed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike
from scipy import special
from sympy.codegen.cfunctions import expm1, log1p
from sympy.printing.numpy import NumPyPrinter

from smqopt.numeric import Floats, log_wright_omega_1p, with_wright_omega

_LARGEST_EXACT_INTEGER = 2**53


def lambdify(symbols: Sequence[sp.Symbol], expression: sp.Expr) -> Callable[..., Floats]:
    """Turn an expression into a function of arrays.

    Parameters
    ----------
    symbols
        The arguments of the function, in order.
    expression
        An expression in these symbols, numbers, and elementary functions, erf, or the real Lambert
        W function.

    Returns
    -------
    callable
        Takes one array or number a symbol, which broadcast; gives doubles of the common shape.
        Where the expression has no real value the result is NaN, at a pole an infinity; neither
        warns.

    Raises
    ------
    ValueError
        If the expression holds a symbol that is not among the arguments.

    Examples
    --------
    >>> x = sp.Symbol("x", positive=True)
    >>> lambdify([x], (sp.exp(x) - 1) / x)(1e-20).tolist()
    1.0
    """
    foreign = sorted(str(symbol) for symbol in expression.free_symbols - set(symbols))
    if foreign:
        raise ValueError(f"the expression holds {', '.join(foreign)}, which is no argument")
    known = {
        "erf": special.erf,
        "real_lambertw": _real_lambertw,
        "log_wright_omega_1p": log_wright_omega_1p,
        "wrightomega": special.wrightomega,
    }
    printer = _Printer({"fully_qualified_modules": False, "inline": True, "allow_unknown_functions": False})
    printed = careful(with_wright_omega(expression))
    evaluate = sp.lambdify(list(symbols), printed, modules=[known, "numpy"], printer=printer, cse=True)

    def function(*arguments: ArrayLike) -> Floats:
        arrays = [np.asarray(argument, dtype=np.float64) for argument in arguments]
        shape = np.broadcast_shapes(*(array.shape for array in arrays))
        with np.errstate(all="ignore"):
            try:
                found = np.asarray(evaluate(*arrays))
            except (OverflowError, ZeroDivisionError):  # of the formula's own numbers, which are not arrays
                return np.full(shape, np.nan)
            if np.iscomplexobj(found):
                found = np.where(found.imag == 0, found.real, np.nan)
            value = np.asarray(found, dtype=np.float64)
        return value if value.shape == shape else np.broadcast_to(value, shape).copy()

    return function


def careful(expression: sp.Expr) -> sp.Expr:
    """Rewrite differences so that they vanish without loss of digits.

    e^x − 1 becomes expm1(x), log(1 + x) becomes log1p(x), (1 + x)^p − 1 with a broken p becomes
    expm1(p log1p(x)), and cos(x) − 1 becomes −2 sin²(x/2). Where x is real and the expression is,
    so is the result.

    Examples
    --------
    >>> careful(sp.exp(sp.Symbol("x")) - 1)
    expm1(x)
    >>> careful(1 - sp.cos(sp.Symbol("x")))
    2*sin(x/2)**2
    """
    if not expression.args:
        return expression
    rebuilt = expression.func(*(careful(argument) for argument in expression.args))
    if isinstance(rebuilt, sp.log) and _excess(rebuilt.args[0]) is not None:
        return log1p(_excess(rebuilt.args[0]))
    return _without_cancelling_constant(rebuilt) if rebuilt.is_Add else rebuilt


def _without_cancelling_constant(total: sp.Expr) -> sp.Expr:
    """Join the constant of a sum with the term that it cancels, if there is one."""
    constant, rest = total.as_coeff_Add()
    for term in sp.Add.make_args(rest):
        factor, power = term.as_coeff_Mul()
        if factor != -constant or constant == 0:
            continue
        if isinstance(power, sp.exp):
            joined = expm1(power.args[0])
        elif isinstance(power, sp.cos):
            joined = -2 * sp.sin(power.args[0] / 2) ** 2
        elif power.is_Pow and not power.exp.is_Integer and _excess(power.base) is not None:
            joined = expm1(power.exp * log1p(_excess(power.base)))
        else:
            continue
        return sp.Add(*(other for other in sp.Add.make_args(rest) if other != term), factor * joined)
    return total


def _excess(expression: sp.Expr) -> sp.Expr | None:
    """Return x where an expression is written 1 + x."""
    return expression - 1 if expression.is_Add and expression.as_coeff_Add()[0] == 1 else None


def _real_lambertw(x: Floats, branch: int = 0) -> Floats:
    value = special.lambertw(x, branch)
    return np.where(value.imag == 0, value.real, np.nan)


class _Printer(NumPyPrinter):  # type: ignore[misc]
    """Prints for numpy; numbers as the doubles nearest to them."""

    def _print_Integer(self, number: Any) -> str:
        value = int(number)
        return str(value) if abs(value) < _LARGEST_EXACT_INTEGER else repr(_nearest_double(value, 1))

    def _print_Rational(self, number: Any) -> str:
        return f"({_nearest_double(int(number.p), int(number.q))!r})"

    def _print_erf(self, call: Any) -> str:
        return f"erf({self._print(call.args[0])})"

    def _print_LambertW(self, call: Any) -> str:
        return f"real_lambertw({', '.join(self._print(argument) for argument in call.args)})"

    def _print_log_wright_omega_one_plus(self, call: Any) -> str:
        return f"log_wright_omega_1p({self._print(call.args[0])})"

    def _print_wright_omega(self, call: Any) -> str:
        return f"wrightomega({self._print(call.args[0])})"

    def _print_expm1(self, call: expm1) -> str:
        return f"expm1({self._print(call.args[0])})"

    def _print_absolute(self, call: Any) -> str:
        return f"absolute({self._print(call.args[0])})"

    def _print_direction(self, call: Any) -> str:
        return f"sign({self._print(call.args[0])})"

    def _print_spike(self, call: Any) -> str:
        return f"(0.0*{self._print(call.args[0])})"

    def _print_exact_log(self, call: Any) -> str:
        return f"log({self._print(call.args[0])})"

    def _print_log1p(self, call: log1p) -> str:
        return f"log1p({self._print(call.args[0])})"


def _nearest_double(p: int, q: int) -> float:
    try:
        return p / q
    except OverflowError:
        return float("inf") if p > 0 else float("-inf")
