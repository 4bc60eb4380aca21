"""The size |x| and the direction x/|x| of a real number.

No simplification takes them apart. SymPy's own `Abs` is one of complex numbers: its derivative
holds real and imaginary parts.
"""

from __future__ import annotations

from typing import Any

import sympy as sp


class spike(sp.Function):  # type: ignore[misc]  # noqa: N801
    """The slope of `direction`, and its slopes: 0 but at 0, where nothing bounds it."""

    nargs = 1
    is_real = True

    @classmethod
    def eval(cls, x: sp.Expr) -> sp.Expr | None:
        return sp.Integer(0) if x.is_nonzero else None

    def fdiff(self, argindex: int = 1) -> sp.Expr:  # noqa: ARG002
        return self

    def _latex(self, printer: Any) -> str:
        return rf"\operatorname{{sgn}}'\left({printer._print(self.args[0])}\right)"  # noqa: SLF001 -- the only hook there is


class direction(sp.Function):  # type: ignore[misc]  # noqa: N801
    """1 for a positive number, −1 for a negative one, 0 for 0."""

    nargs = 1
    is_real = True
    is_finite = True

    @classmethod
    def eval(cls, x: sp.Expr) -> sp.Expr | None:
        return sp.sign(x) if x.is_number or x.is_zero or x.is_positive or x.is_negative else None

    def fdiff(self, argindex: int = 1) -> sp.Expr:  # noqa: ARG002
        return spike(self.args[0])

    def _latex(self, printer: Any) -> str:
        return rf"\operatorname{{sgn}}\left({printer._print(self.args[0])}\right)"  # noqa: SLF001 -- the only hook there is


class absolute(sp.Function):  # type: ignore[misc]  # noqa: N801
    """|x| for a real x."""

    nargs = 1
    is_real = True
    is_finite = True
    is_nonnegative = True

    @classmethod
    def eval(cls, x: sp.Expr) -> sp.Expr | None:
        if x.is_nonnegative:
            return x
        if x.is_nonpositive:
            return -x
        return None

    def fdiff(self, argindex: int = 1) -> sp.Expr:  # noqa: ARG002
        return direction(self.args[0])

    def _sympystr(self, printer: Any) -> str:
        return f"abs({printer.doprint(self.args[0])})"

    def _latex(self, printer: Any) -> str:
        return rf"\left|{printer._print(self.args[0])}\right|"  # noqa: SLF001 -- the only hook there is

    def _eval_evalf(self, precision: int) -> sp.Expr:
        return sp.Abs(self.args[0])._eval_evalf(precision)  # noqa: SLF001 -- the only hook there is
