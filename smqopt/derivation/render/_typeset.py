"""Formulas as LaTeX, in the letters of the legend, for all formats."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.printing.conventions import requires_partial
from sympy.printing.latex import LatexPrinter

from smqopt.algebra import (
    ACCEPTANCE,
    AT_HIGH,
    BUDGET,
    CLIPPED_THRESHOLD,
    EPSILON,
    EPSILONS,
    GAMMA,
    GAMMAS,
    HEIGHT,
    INSIDE,
    LAGRANGIAN,
    LAMBDA,
    LEFT,
    MU,
    MUS,
    OTHER,
    REPORT,
    SHARE,
    SPEND,
    THETA,
    THETAS,
    VARIABLE,
    Domain,
    Equation,
    I,
    N,
    Relation,
    SymbolRange,
    X,
)
from smqopt.derivation.render._author_form import author_form, is_printed_decimal
from smqopt.derivation.render._joined_powers import rebuild
from smqopt.notation import letter
from smqopt.valuation import HIGH, LOW, LawFormulas

_COMMON = {LOW: sp.Symbol("common_low", nonnegative=True), HIGH: sp.Symbol("common_high", positive=True)}
"""The ends of the support outside sums over owners, where an index means nobody."""
_IS_INSIDE, _IS_AT_HIGH = sp.Symbol("is_inside", nonnegative=True), sp.Symbol("is_at_high", nonnegative=True)

_SYMBOLS: dict[sp.Symbol, str] = {
    THETA: letter("valuation").latex,
    LOW: letter("low").latex,
    HIGH: letter("high").latex,
    _COMMON[LOW]: letter("low").latex.removesuffix("_i"),
    _COMMON[HIGH]: letter("high").latex.removesuffix("_i"),
    EPSILON: letter("epsilon").latex,
    LAMBDA: letter("budget_price").latex,
    MU: letter("lower_multiplier").latex,
    GAMMA: letter("upper_multiplier").latex,
    BUDGET: letter("budget").latex,
    ACCEPTANCE: letter("acceptance").latex,
    SPEND: letter("spend").latex,
    X: letter("price_ratio").latex,
    N: letter("owners").latex,
    LAGRANGIAN: "L",
    CLIPPED_THRESHOLD: letter("threshold").latex,
    _IS_INSIDE: r"1_{i \in M}",
    _IS_AT_HIGH: r"1_{i \in H}",
    LEFT: "R",
    REPORT: letter("report").latex,
    OTHER: "t",
    VARIABLE: "s",
    SHARE: "w",
    HEIGHT: "y",
}
_WITHOUT_INDEX = {
    EPSILONS[I]: EPSILON,
    THETAS[I]: THETA,
    MUS[I]: MU,
    GAMMAS[I]: GAMMA,
    INSIDE[I]: _IS_INSIDE,
    AT_HIGH[I]: _IS_AT_HIGH,
}
"""An entry of owner i is printed as the symbol that stands for one owner i."""
_FUNCTIONS: dict[str, str] = {
    "cdf": letter("cdf").latex,
    "pdf": letter("pdf").latex,
    "virtual_cost": letter("virtual_cost").latex,
    "cost_curve": letter("cost_curve").latex,
    "threshold": letter("threshold").latex,
    "quantile": letter("cdf").latex + "^{-1}",
    "owner_lagrangian": r"\ell_i",
    "value": "V",
    "spend_curve": letter("spend").latex,
    "threshold_of_spend": letter("valuation").latex,
    "allocation": "Q_i",
    "expected_payment": "P_i",
    "utility": "U_i",
    "rent": "R_i",
    "price": letter("budget_price").latex,
}
_RELATIONS = {Relation.DEFINED: ":=", Relation.EQUAL: "=", Relation.AT_LEAST: r"\ge", Relation.AT_MOST: r"\le"}
_PARAMETERS = {"rate": "r", "mode": "m", "shape": "k", "scale": "s", "mean": r"\mu", "sd": r"\sigma", "unit": "u"}
_NAMES = {"sd": "standard deviation", "unit": "unit of currency"}
"""Names of parameters in words, where the word is another."""
_WEIGHT = re.compile(r"^weight_(\d+)")


def latex(expression: sp.Basic) -> str:
    r"""Write an expression as LaTeX.

    Examples
    --------
    >>> latex(2 * THETA - LOW)
    '2 \\theta_i - \\underline{\\theta}_i'
    """
    return str(_PRINTER.doprint(author_form(expression.xreplace(_WITHOUT_INDEX))))


def latex_of_equation(equation: Equation) -> str:
    """Write a statement as LaTeX; one of all owners has the ends of a common law."""
    left, right = equation.left, equation.right
    if left.has(sp.Sum) or right.has(sp.Sum):
        left, right = _with_common_ends(left), _with_common_ends(right)
    return f"{latex(left)} {_RELATIONS[equation.relation]} {latex(right)}"


def _with_common_ends(part: sp.Basic) -> sp.Basic:
    if part in _COMMON or isinstance(part, sp.Sum) or not part.args:
        return _COMMON.get(part, part)
    return rebuild(part, [_with_common_ends(each) for each in part.args])


def latex_of_head(equation: Equation) -> str:
    """Write how a statement begins: its left side and the relation."""
    return f"{latex(equation.left)} {_RELATIONS[equation.relation]}"


def latex_of_domain(ranges: Sequence[SymbolRange]) -> str:
    r"""Write where a statement holds.

    Examples
    --------
    >>> latex_of_domain([SymbolRange(X, LOW, HIGH)])
    '\\underline{\\theta}_i \\le x_i \\le \\overline{\\theta}_i'
    >>> latex_of_domain([SymbolRange(letter, sp.Integer(0), off=(sp.Integer(1),)) for letter in (THETA, X)])
    '\\theta_i \\notin \\{1\\}, \\; 0 \\le x_i, \\; x_i \\notin \\{1\\}'
    """
    return r", \; ".join(_range(each) for each in ranges if not isinstance(each.symbol, sp.IndexedBase))


def _range(each: SymbolRange) -> str:
    if each.lower == each.upper:
        return f"{latex(each.symbol)} = {latex(each.lower)}"
    upper = "" if each.upper is None else rf" \le {latex(each.upper)}"
    relation = "<" if each.above else r"\le"
    off = [latex(place) for place in each.off]
    off = [*off[:2], r"\dots", off[-1]] if len(off) > _MOST_OFF else off
    without = rf"{latex(each.symbol)} \notin \{{{', '.join(off)}\}}" if off else ""
    if off and each.symbol == THETA:  # of which the support is stated
        return without
    within = rf"{latex(each.lower)} {relation} {latex(each.symbol)}{upper}"
    return rf"{within}, \; {without}" if off else within


def printed_bounds(ranges: Sequence[SymbolRange]) -> Iterator[sp.Expr]:
    """Yield the numbers that `latex_of_domain` writes."""
    for each in ranges:
        ends = () if each.off and each.symbol == THETA else (each.lower, each.upper)
        yield from (end for end in (*ends, *each.off) if end is not None)


_MOST_OFF = 4
"""So many places that a range leaves out are written."""


def latex_of_parameters(law: LawFormulas, domain: Domain) -> str:
    """Write what is asked of the parameters of a law, and its support."""
    own = {symbol for _, symbol in law.parameters} - {law.low, law.high}
    found = [rf"{latex(law.low)} \le {latex(law.theta)} \le {latex(law.high)}"]
    if law.low.free_symbols or law.high.free_symbols:
        from_zero = law.cdf.xreplace({law.low: sp.Integer(0)})  # no law, where the formula asks for more
        above = "<" if not from_zero.has(law.theta) or from_zero.has(sp.nan, sp.zoo, sp.oo) else r"\le"
        found.append(f"0 {above} {latex(law.low)} < {latex(law.high)}" if law.low != 0 else f"{latex(law.high)} > 0")
    for each in domain.intervals:
        if each.symbol in own and each.lower == -sp.oo:
            found.append(rf"{latex(each.symbol)} \in \mathbb{{R}}")
        elif each.symbol in own:
            upper = "" if each.upper is None else f" < {latex(each.upper)}"
            found.append(f"{latex(each.lower)} < {latex(each.symbol)}{upper}")
    return r", \; ".join(found)


def parameters_in_latex(law: LawFormulas) -> tuple[tuple[str, str], ...]:
    """Return the letters and names of a law's own parameters, without its ends."""
    own = [(name, symbol) for name, symbol in law.parameters if symbol not in (law.low, law.high)]
    return tuple((latex(symbol), _NAMES.get(name, name.replace("_", " "))) for name, symbol in own)


class _LegendPrinter(LatexPrinter):  # type: ignore[misc]
    def _print_Symbol(self, symbol: Any, style: str = "plain") -> str:
        if symbol in _SYMBOLS:
            return _SYMBOLS[symbol]
        name = symbol.name.rstrip("_")
        if name in _PARAMETERS:
            return _PARAMETERS[name]
        return _parameter(super()._print_Symbol(sp.Symbol(_WEIGHT.sub(r"w_\1", name)), style), name)

    def _print_betainc(self, call: Any, exp: str | None = None) -> str:
        """Print B(x; a, b), the incomplete beta function from 0."""
        a, b, start, x = call.args
        if start != 0:
            return str(super()._print_betainc(call, exp))
        printed = rf"\mathrm{{B}}\left({self._print(x)}; {self._print(a)}, {self._print(b)}\right)"
        return printed if exp is None else rf"{printed}^{{{exp}}}"

    def _print_beta(self, call: Any, exp: str | None = None) -> str:
        printed = rf"\mathrm{{B}}\left({', '.join(map(self._print, call.args))}\right)"
        return printed if exp is None else rf"{printed}^{{{exp}}}"

    def _print_Function(self, call: Any, exp: str | None = None) -> str:
        name = type(call).__name__
        if name not in _FUNCTIONS:
            return str(super()._print_Function(call, exp))
        arguments = ", ".join(self._print(argument) for argument in call.args)
        printed = rf"{_FUNCTIONS[name]}\left({arguments}\right)"
        return printed if exp is None else rf"\left({printed}\right)^{{{exp}}}"

    def _print_Relational(self, relation: Any) -> str:
        """Print a condition with the variable first."""
        turned = relation.rhs in (THETA, X) and relation.lhs not in (THETA, X)
        return str(super()._print_Relational(relation.reversed if turned else relation))

    def _print_Limit(self, limit: Any) -> str:
        """Keep the side apart from the powers of a place, as of 4·10⁻⁷."""
        place = self._print(limit.args[2])
        return str(super()._print_Limit(limit)).replace(
            rf"\to {place}^", rf"\to {{{place}}}^" if "^" in place else rf"\to {place}^"
        )

    def _print_Derivative(self, derivative: Any) -> str:
        variable, inner = derivative.variables[0], derivative.expr
        d = r"\partial" if requires_partial(inner) else "d"
        printed = self._print(inner)
        if not isinstance(inner, AppliedUndef):
            printed = rf"\left[{printed}\right]"
        return rf"\frac{{{d}}}{{{d} {self._print(variable)}}} {printed}"

    def _print_Mul(self, product: Any) -> str:
        """Print √a √b as one root."""
        half = sp.Rational(1, 2)
        roots = [factor for factor in product.args if factor.is_Pow and factor.exp == half] if product.is_Mul else []
        if len(roots) <= 1:
            return str(super()._print_Mul(product))
        root = sp.Pow(sp.Mul(*(factor.base for factor in roots)), half, evaluate=False)
        others = [factor for factor in product.args if factor not in roots]
        return str(super()._print_Mul(sp.Mul(*others, root, evaluate=False))) if others else str(self._print(root))

    def _as_ordered_terms(self, expression: Any, order: str | None = None) -> list[Any]:
        """Put a term without a minus sign first, where there is one."""
        terms = list(super()._as_ordered_terms(expression, order=order))
        first = next((k for k, term in enumerate(terms) if not term.could_extract_minus_sign()), 0)
        return [terms[first], *terms[:first], *terms[first + 1 :]]

    def _print_Rational(self, number: Any) -> str:
        return repr(float(number)) if is_printed_decimal(number) else str(super()._print_Rational(number))


def _parameter(printed: str, name: str) -> str:
    """Set a parameter's name upright where it is a word."""
    return printed if len(name) == 1 or printed.startswith("\\") or "_" in name else rf"\mathrm{{{name}}}"


_PRINTER = _LegendPrinter({"mul_symbol": None, "fold_short_frac": False})
