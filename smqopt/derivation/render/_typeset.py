"""Formulas as LaTeX, in the letters of the legend, for all formats."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import sympy as sp
from sympy.core.evalf import PrecisionExhausted
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
from smqopt.derivation.render._joined_powers import with_joined_powers
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
_LONGEST_FRACTION = 10**6
"""Rationals with larger denominators are printed as decimal numbers."""
_LONGEST_INTEGER = 10**12
_LONGEST_DECIMAL, _DIGITS = 9, 6
"""Of more digits they are rounded to so many, and `has_rounded` says that some are."""
_MOST_OPERATIONS = 6
"""Of a constant that is written out; one that takes more is printed as a decimal number."""


def latex(expression: sp.Basic) -> str:
    r"""Write an expression as LaTeX.

    Examples
    --------
    >>> latex(2 * THETA - LOW)
    '2 \\theta_i - \\underline{\\theta}_i'
    """
    return str(_PRINTER.doprint(_printed_form(expression)))


@lru_cache(maxsize=2048)
def _printed_form(expression: sp.Basic) -> sp.Basic:
    return _author_form(expression.xreplace(_WITHOUT_INDEX))


def _author_form(expression: sp.Basic) -> sp.Basic:
    """Draw numbers and signs out of sums in fractions; leave out sums of nothing."""
    plain = with_joined_powers(expression.replace(sp.Sum, _author_sum))
    written = with_joined_powers(_with_author_fractions(_with_decimals(plain)))
    rounded = {number: sp.Float(number, _DIGITS) for number in _rounded_numbers(written)}
    return _join_cases(_insert(rounded, written) if rounded else written)


def _insert(known: dict[sp.Rational, sp.Float], part: sp.Basic) -> sp.Basic:
    """Put numbers into an expression, whose cases stay as they are."""
    return known[part] if part in known else _rebuild(part, [_insert(known, each) for each in part.args])


def _join_cases(part: sp.Basic) -> sp.Basic:
    """Join neighbouring cases that are printed alike."""
    if not part.has(sp.Piecewise):
        return part
    inner = [_join_cases(each) for each in part.args]
    if not isinstance(part, sp.Piecewise):
        return _rebuild(part, inner)
    kept: list[sp.Basic] = []
    for case in inner:
        conditions = (kept[-1].args[1], case.args[1]) if kept and kept[-1].args[0] == case.args[0] else ()
        if conditions and all(each is sp.true or isinstance(each, sp.Le) for each in conditions):
            kept.pop()
        kept.append(case)
    return kept[0].args[0] if len(kept) == 1 else sp.Piecewise(*kept, evaluate=False)


def _with_decimals(part: sp.Basic) -> sp.Basic:
    """Put a decimal number for each constant that is long to write."""
    if not part.args or isinstance(part, sp.Sum | sp.Limit | sp.Derivative):
        return part
    if isinstance(part, sp.Expr) and part.is_number:
        return _decimal(part)
    if isinstance(part, sp.Add | sp.Mul):
        constant, rest = part.as_independent(*part.free_symbols, as_Add=part.is_Add)
        known = _decimal(constant)
        if known is not constant:
            return _with_decimals(part.func(known, rest))
    return _rebuild(part, [_with_decimals(each) for each in part.args])


def _rebuild(part: sp.Basic, inner: Sequence[sp.Basic]) -> sp.Basic:
    """Put new arguments into an expression; cases stay as they are."""
    if all(new is old for new, old in zip(inner, part.args, strict=True)):
        return part
    return part.func(*inner, evaluate=False) if isinstance(part, sp.Piecewise) else part.func(*inner)


def _decimal(constant: sp.Expr) -> sp.Expr:
    """Round a constant in print that takes many operations, or has long numbers."""
    if constant.is_Rational or constant.is_Float or constant.has(AppliedUndef):
        return constant
    is_short = all(max(abs(each.p), each.q) < _LONGEST_FRACTION for each in constant.atoms(sp.Rational))
    if is_short and sp.count_ops(constant) <= _MOST_OPERATIONS and not constant.has(sp.Float):
        return constant
    try:
        value = constant.evalf(_DIGITS, strict=True)
    except PrecisionExhausted:
        return constant
    return value if value.is_Float and value != 0 else constant


def _author_sum(function: sp.Expr, *limits: sp.Tuple) -> sp.Expr:
    """Leave out a sum of nothing, and draw a sign out of one."""
    if function == 0:
        return sp.Integer(0)
    return -sp.Sum(-function, *limits) if function.could_extract_minus_sign() else sp.Sum(function, *limits)


def _rounded_numbers(expression: sp.Basic) -> set[sp.Rational]:
    """Return the fractions that are rounded in print."""
    numbers = expression.atoms(sp.Rational)
    long = {number for number in numbers if number.q > _LONGEST_FRACTION or abs(number.p) >= _LONGEST_INTEGER}
    return {number for number in long if not _is_short_decimal(number)}


def _is_short_decimal(number: sp.Rational) -> bool:
    shown = repr(float(number))
    digits = sum(character.isdigit() for character in shown.lstrip("-0."))
    known = (sp.Rational(*float(number).as_integer_ratio()), sp.Rational(shown))
    return "e" not in shown and digits <= _LONGEST_DECIMAL and number in known


def has_rounded(expressions: Iterable[sp.Basic]) -> bool:
    """Tell whether some numbers are printed rounded.

    Examples
    --------
    >>> has_rounded([THETA / 3]), has_rounded([THETA / (3 * 10**15 + 1)])
    (False, True)
    """
    return any(_printed_form(each).has(sp.Float) and not each.has(sp.Float) for each in expressions)


def _with_author_fractions(part: sp.Basic) -> sp.Basic:
    """Rewrite fractions from within; what has none is left as it stands."""
    part = _rebuild(part, [_with_author_fractions(each) for each in part.args])
    return _author_fraction(part) if _is_fraction(part) else part


def _is_fraction(part: sp.Basic) -> bool:
    """Whether sums divide, or a width of the support stands the wrong way round."""
    powers = (
        [factor.as_base_exp() for factor in part.args] if part.is_Mul else [part.as_base_exp()] if part.is_Pow else []
    )
    return any(
        base.is_Add and exponent.is_Integer and ((part.is_Mul and exponent.is_negative) or _is_width(_negative(base)))
        for base, exponent in powers
    )


def _author_fraction(fraction: sp.Expr) -> sp.Expr:
    """Write sums with no common number, positive widths, and few minus signs."""
    number, sums, others = sp.Integer(1), [], []
    for factor in sp.Mul.make_args(fraction):
        base, exponent = factor.as_base_exp()
        if factor.is_Rational:
            number *= factor
        elif not (base.is_Add and exponent.is_Integer):
            others.append(factor)
        else:
            content, primitive = base.primitive()
            falls = _is_width(_negative(primitive))
            number *= content**exponent * (-1) ** (exponent if falls else 0)
            sums.append([_negative(primitive) if falls else primitive, exponent])
    if number.is_negative:
        open_ones = [each for each in sums if each[1] == 1 and _balance(each[0]) <= -each[0].is_polynomial()]
        for each in sorted(open_ones, key=lambda one: _balance(one[0]))[:1]:
            number, each[0] = -number, _negative(each[0])
    return sp.Mul(number, *others, *(base**exponent for base, exponent in sums))


def _is_width(whole: sp.Expr) -> bool:
    """Whether a sum is what lies between a value and an end of the support."""
    return whole in (THETA - LOW, HIGH - THETA, HIGH - LOW)


def _negative(whole: sp.Expr) -> sp.Expr:
    return sp.Add(*(-term for term in whole.args))


def _balance(whole: sp.Expr) -> int:
    """Count the terms without a minus sign, less those with one."""
    return sum(-1 if term.could_extract_minus_sign() else 1 for term in whole.args)


def latex_of_equation(equation: Equation) -> str:
    """Write a statement as LaTeX; one of all owners has the ends of a common law."""
    left, right = equation.left, equation.right
    if left.has(sp.Sum) or right.has(sp.Sum):
        left, right = _with_common_ends(left), _with_common_ends(right)
    return f"{latex(left)} {_RELATIONS[equation.relation]} {latex(right)}"


def _with_common_ends(part: sp.Basic) -> sp.Basic:
    if part in _COMMON or isinstance(part, sp.Sum) or not part.args:
        return _COMMON.get(part, part)
    return _rebuild(part, [_with_common_ends(each) for each in part.args])


def latex_of_head(equation: Equation) -> str:
    """Write how a statement begins: its left side and the relation."""
    return f"{latex(equation.left)} {_RELATIONS[equation.relation]}"


def latex_of_domain(ranges: Sequence[SymbolRange]) -> str:
    r"""Write where a statement holds.

    Examples
    --------
    >>> latex_of_domain([SymbolRange(X, LOW, HIGH)])
    '\\underline{\\theta}_i \\le x_i \\le \\overline{\\theta}_i'
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
        is_decimal = number.q > _LONGEST_FRACTION and _is_short_decimal(number)
        return repr(float(number)) if is_decimal else str(super()._print_Rational(number))


def _parameter(printed: str, name: str) -> str:
    """Set a parameter's name upright where it is a word."""
    return printed if len(name) == 1 or printed.startswith("\\") or "_" in name else rf"\mathrm{{{name}}}"


_PRINTER = _LegendPrinter({"mul_symbol": None, "fold_short_frac": False})
