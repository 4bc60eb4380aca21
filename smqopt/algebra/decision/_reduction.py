"""Exact reductions: what vanishes, and what is never negative.

Work is bounded by the size of the expression and by counted calls, not by the clock, so that a
verdict is the same on every machine.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator

import sympy as sp

from smqopt.algebra.claim._letters import I
from smqopt.algebra.decision._domain import Domain
from smqopt.algebra.decision._fraction import fraction_vanishes, letters_of
from smqopt.algebra.decision._monotone_signs import sign
from smqopt.algebra.decision._signs_of_roots import with_named_numbers, with_signs_of_roots
from smqopt.algebra.decision._work import LONGEST_ATTEMPT, remember, within_limit
from smqopt.algebra.expression._exact_log import put_in
from smqopt.algebra.expression._rational_part import factor_fraction

_LARGEST = 400
"""Operations beyond which an expression is not reduced at all."""
_LARGEST_FOR_POWERS = 80
"""Operations beyond which powers are not taken apart: the work grows fast with the number of
different bases."""
_LARGEST_FOR_SEARCH = 30
"""Operations beyond which SymPy's `simplify`, which tries much, is not asked."""
_LONGEST_SEARCH = 800_000
"""Calls after which that search is given up, which may go round in tangents."""
_LONGEST_SIGN = 500_000
"""Calls after which signs of terms are given up: twice what any took that was ever shown."""
_LARGEST_WITH_ROOTS = 1000
"""Operations beyond which square roots are not named by letters, which leaves rational functions.
"""
_HALVES = 2
"""The denominator of the exponent of a square root."""
_MOST_NUMBERS = 6
"""Irrational numbers beyond which nothing is brought over one denominator."""
_MOST_LETTERS = 12
"""Symbols, functions and broken powers beyond which SymPy's greatest common divisors may take for
ever in a few calls, by numbers of millions of digits."""
_BY_EXPONENTIALS = (sp.sin, sp.cos, sp.tan, sp.sinh, sp.cosh, sp.tanh)
_LARGEST_DEGREE = 60
"""Degree beyond which nothing is multiplied out."""


@remember
def vanishes(expression: sp.Expr, domain: Domain) -> bool:
    """Tell whether an expression is shown to be 0 all over the domain.

    False means not shown.
    """
    if expression.has(sp.nan, sp.zoo, sp.oo, -sp.oo):
        return False
    is_small = sp.count_ops(expression) <= _LARGEST_FOR_POWERS and not is_too_large(expression)
    if is_small and not has_long_powers(expression) and sp.expand(expression) == 0:  # whatever work is left
        return True
    named = with_named_numbers(put_in(expression, {}))
    return (named != expression and _vanishes(named, domain)) or _vanishes(expression, domain)


def _vanishes(expression: sp.Expr, domain: Domain) -> bool:
    forms = [expression, domain.in_coordinates(expression)]
    if expression.has(sp.Sum) and _has_roots(expression):  # of squares, whose signs are seen in coordinates
        forms.reverse()
    if any(map(_vanishes_in_letters, forms)) or any(map(_reduces_to_zero, forms)):
        return True
    by_root: list[sp.Expr] = within_limit(lambda: list(_by_inner_root(expression, domain)), [], _LONGEST_SEARCH)
    return any(map(_reduces_to_zero, by_root))


@remember
def _with_simple_parts(expression: sp.Expr) -> sp.Expr:
    return within_limit(lambda: _with_lambert_identities(_with_linear_sums(expression)), expression)


def _vanishes_in_letters(expression: sp.Expr) -> bool:
    return within_limit(lambda: _is_zero_in_letters(_with_simple_parts(expression)), otherwise=False)


def _reduces_to_zero(expression: sp.Expr) -> bool:
    reduced = _with_simple_parts(expression)
    return any(within_limit(functools.partial(way, reduced), None, _most(way)) == 0 for way in _attempts(reduced))


def _most(way: Callable[[sp.Expr], sp.Expr]) -> int:
    return _LONGEST_SEARCH if way is sp.simplify else LONGEST_ATTEMPT


def _is_zero_in_letters(expression: sp.Expr) -> bool:
    """Name b^t by a letter, b^(t−1) by that letter over b, and add fractions up.

    Sines and tangents, hyperbolic ones too, are written by exponentials.
    """
    if has_long_powers(expression):
        return False
    names: dict[tuple[sp.Expr, sp.Expr], sp.Dummy] = {}

    def power(base: sp.Expr, exponent: sp.Expr) -> sp.Expr:
        named: sp.Expr = sp.Integer(1)
        for term in sp.Add.make_args(sp.expand(exponent)):
            factor, rest = term.as_coeff_Mul()
            whole = sp.floor(factor) if rest == 1 else sp.Integer(0)
            left, named = factor - whole, named * base**whole
            if left:
                key = (base, rest / left.q)
                if key not in names:
                    names[key] = sp.Dummy("power", positive=base.is_positive or None)
                named *= names[key] ** left.p
        return named

    def visit(part: sp.Expr) -> sp.Expr:
        if not part.has(sp.Pow, sp.exp):
            return part
        parts = [visit(each) for each in part.args]
        if isinstance(part, sp.exp):
            return power(sp.E, parts[0])
        return power(*parts) if part.is_Pow and not part.exp.is_Integer else part.func(*parts)

    named = visit(expression.rewrite(_BY_EXPONENTIALS, sp.exp))
    roots = {root: (base, int(exponent.q)) for (base, exponent), root in names.items() if exponent.is_Rational}
    return fraction_vanishes(named, roots)


@remember
def is_never_negative(expression: sp.Expr, domain: Domain) -> bool:
    """Tell whether an expression is shown to be ≥ 0 all over the domain.

    False means not shown.

    In positive coordinates differences of values of rising functions have a sign (`signs`), and
    sums and products of positive terms are seen to be positive. An exponential of a negative
    argument lies between 0 and 1, one of a positive argument above 1, and is replaced by a symbol
    that says so.
    """

    def seek() -> bool:
        spelled = domain.in_coordinates(_with_hyperbolic_squares(expression))
        named = with_named_numbers(spelled)  # for numbers of which SymPy seeks the signs at length
        if _is_never_negative(named):
            return True
        other = with_signs_of_roots(spelled)
        return other != named and _is_never_negative(other)

    return within_limit(seek, otherwise=False, most=_LONGEST_SIGN)


def _with_hyperbolic_squares(expression: sp.Expr) -> sp.Expr:
    """Write tanh² as 1 − 1/cosh², so that 1 − tanh² is seen to be positive."""
    return expression.replace(
        lambda part: part.is_Pow and isinstance(part.base, sp.tanh) and part.exp == _HALVES,
        lambda square: 1 - 1 / sp.cosh(*square.base.args) ** 2,
    )


def _is_never_negative(spelled: sp.Expr) -> bool:
    if spelled.has(sp.nan, sp.zoo, sp.oo, -sp.oo) or is_too_large(spelled):
        return False
    if sign(spelled) in (0, 1):
        return True
    for power in sorted(spelled.atoms(sp.exp), key=sp.default_sort_key):
        exponent = sp.factor(power.args[0])
        if exponent.is_negative is True:
            spelled = spelled.subs(power, 1 / (1 + sp.Dummy(positive=True)))
        elif exponent.is_positive is True:
            spelled = spelled.subs(power, 1 + sp.Dummy(positive=True))
    numerator, denominator = sp.fraction(factor_fraction(spelled))
    return any(
        (shape(numerator).is_nonnegative is True and shape(denominator).is_positive is True)
        or (shape(-numerator).is_nonnegative is True and shape(-denominator).is_positive is True)
        for shape in (lambda part: part, sp.expand_mul)
    )


def ratio(numerator: sp.Expr, denominator: sp.Expr) -> sp.Expr:
    """Return a quotient in the shortest form that bounded work finds."""
    return shortest(numerator / denominator)


def shortest(expression: sp.Expr, *, is_searched: bool = True) -> sp.Expr:
    """Return the shortest of the forms that bounded work finds.

    Parameters
    ----------
    expression
        What is to be short.
    is_searched
        Whether SymPy's own search is asked too, where the expression is small enough for it.
    """
    if expression.is_Atom:
        return expression
    is_searched = is_searched and _is_searched(expression)
    costly = () if is_searched else (_with_split_powers, _factored_out, sp.simplify)
    ways = [way for way in _attempts(expression) if way not in costly]
    if is_searched and expression.is_rational_function():
        ways.append(sp.factor)
    found = (within_limit(functools.partial(way, expression), expression, _most(way)) for way in ways)
    forms = [expression, *(form for form in found if not _has_log_of_power(form))]
    operations = list(map(sp.count_ops, forms))
    few = dict.fromkeys(form for form, count in zip(forms, operations, strict=True) if count == min(operations))
    return min(few, key=lambda form: len(str(form))) if len(few) > 1 else next(iter(few))  # printing takes long


def _has_log_of_power(expression: sp.Expr) -> bool:
    """Tell whether a logarithm holds a power with letters above, which nobody reads."""
    return any(power.exp.free_symbols for log in expression.atoms(sp.log) for power in log.atoms(sp.Pow))


def _is_searched(expression: sp.Expr) -> bool:
    """Tell whether an expression is small enough for a search of SymPy's own."""
    small = sp.count_ops(expression) <= _LARGEST_FOR_SEARCH and not is_too_large(expression)
    return bool(small and not has_long_powers(expression))


def _attempts(expression: sp.Expr) -> Iterator[Callable[[sp.Expr], sp.Expr]]:
    """Return ways to reduce an expression, the cheap ones first."""
    if is_too_large(expression):
        if sp.count_ops(expression) <= _LARGEST_WITH_ROOTS and _degree(expression) <= _LARGEST_DEGREE:
            yield _modulo_roots
        return
    if (
        has_long_powers(expression) or len(letters_of([expression])) > _MOST_LETTERS
    ):  # SymPy would work such powers out, which no machine can hold
        yield factor_fraction
        yield _factored_out
        return
    if _has_roots(expression):
        yield _over_one_denominator
        yield _modulo_roots
        if sp.count_ops(expression) > _LARGEST_FOR_POWERS:
            return
    yield _multiplied_out
    yield _over_one_denominator
    if sp.count_ops(expression) <= _LARGEST_FOR_POWERS and not expression.is_rational_function():
        yield _with_split_powers
    if _is_searched(expression) and not expression.is_rational_function():
        import sympy.physics.units  # noqa: F401, PLC0415 -- `simplify` does, and its calls are not to be counted

        yield sp.simplify


def is_too_large(expression: sp.Expr) -> bool:
    """Tell whether an expression is too large to be reduced.

    Its operations, or the degree that multiplying out would make.
    """
    return bool(sp.count_ops(expression) > _LARGEST or _degree(expression) > _LARGEST_DEGREE)


def has_long_powers(expression: sp.Expr) -> bool:
    """Tell whether an exponent holds a long number, or many numbers are irrational.

    E^(px/q) is taken for the p-th power of e^(x/q), and multiplied out. Each of erf(2/3), e^(-1/7)
    and √π is a variable of its own to SymPy, whose greatest common divisors take for ever in many.
    """
    if sum(part.is_number for part in expression.atoms(sp.Function, sp.exp, sp.Pow)) > _MOST_NUMBERS:
        return True
    exponents = [_expansion(power.exp) for power in expression.atoms(sp.exp, sp.Pow)]
    numbers = {number for exponent in exponents for number in exponent.atoms(sp.Rational)}
    return any(max(abs(number.p), number.q) > _LARGEST_DEGREE for number in numbers)


def _expansion(exponent: sp.Expr) -> sp.Expr:
    """Multiply an exponent out: ((50θ − 2)/47)² holds 2500/2209."""
    return exponent if exponent.is_Atom else sp.expand_mul(sp.expand_multinomial(exponent))


def _degree(expression: sp.Expr) -> int:
    """Return a bound on the whole powers that multiplying out would make."""
    if not expression.args:
        return int(not expression.is_number)
    parts = [_degree(part) for part in expression.args]
    if expression.is_Pow and expression.exp.is_Integer:
        return parts[0] * abs(int(expression.exp))
    return sum(parts) if expression.is_Mul else max(parts)


def _has_roots(expression: sp.Expr) -> bool:
    powers = expression.atoms(sp.Pow)
    return any(power.exp.is_Rational and power.exp.q == _HALVES and power.free_symbols for power in powers)


def _multiplied_out(expression: sp.Expr) -> sp.Expr:
    return sp.expand(expression)


def _factored_out(expression: sp.Expr) -> sp.Expr:
    return factor_fraction(put_in(sp.expand_mul(expression), {}))


def _over_one_denominator(expression: sp.Expr) -> sp.Expr:
    return sp.cancel(sp.together(_with_exact_roots(expression)))


def _with_split_powers(expression: sp.Expr) -> sp.Expr:
    split = sp.expand(sp.expand_power_base(sp.expand_power_exp(sp.powsimp(sp.factor(expression)))))
    return sp.powsimp(sp.cancel(sp.together(split)))


def _with_exact_roots(expression: sp.Expr) -> sp.Expr:
    """Factor what stands under a square root.

    The root of a square of something known to be positive then vanishes.
    """
    half = sp.Rational(1, 2)
    return expression.replace(
        lambda part: part.is_Pow and abs(part.exp) == half,
        lambda part: sp.factor(sp.cancel(sp.together(part.base))) ** part.exp,
    )


def _by_inner_root(expression: sp.Expr, domain: Domain) -> Iterator[sp.Expr]:
    """Write (kθ + m)^(1/q) as t > 0, a square root as its value at the low end plus t."""
    bases = {
        (power.base, interval)
        for power in expression.atoms(sp.Pow)
        if power.exp.is_Rational and not power.exp.is_Integer
        for interval in domain.intervals
        if power.base.is_polynomial(interval.symbol) and sp.degree(power.base, interval.symbol) == 1
    }
    for base, interval in sorted(bases, key=str):
        k, m = sp.Poly(base, interval.symbol).all_coeffs()
        powers = [
            power
            for power in expression.atoms(sp.Pow)
            if power.base == base and power.exp.is_Rational and not power.exp.is_Integer
        ]
        q = sp.ilcm(1, *(power.exp.q for power in powers))
        at_low = base.subs(interval.symbol, interval.lower)
        if not (k.is_positive and at_low.is_nonnegative):
            continue
        least = at_low ** sp.Rational(1, q) if q <= _HALVES else sp.Integer(0)
        y = least + sp.Dummy("t", positive=True)
        values = {power: y ** (power.exp * q) for power in powers}
        yield put_in(expression, {**values, interval.symbol: (y**q - m) / k})


def _modulo_roots(expression: sp.Expr) -> sp.Expr:
    """Name each √D of a rational D by a letter r, and replace r² by D.

    What vanishes for both signs of r is then seen to.
    """
    half = sp.Rational(1, _HALVES)
    bases = {power.base for power in expression.atoms(sp.Pow) if abs(power.exp) == half and power.free_symbols}
    for base in sorted(bases, key=sp.default_sort_key):
        root = sp.Dummy("root", positive=True)
        named = expression.xreplace({base**half: root, base**-half: 1 / root})
        numerator, denominator = sp.fraction(sp.together(named))
        if not (base.is_rational_function() and numerator.is_polynomial(root)):
            continue
        coefficients = sp.Poly(numerator, root).all_coeffs()[::-1]
        parts = [sp.Add(*(c * base**k for k, c in enumerate(coefficients[parity::2]))) for parity in (0, 1)]
        even, odd = (sp.cancel(sp.together(part)) for part in parts)
        expression = (even + odd * base**half) / denominator.xreplace({root: base**half})
    return expression


def _with_lambert_identities(expression: sp.Expr) -> sp.Expr:
    """Apply W(v e^v) = v and log W(u) = log u − W(u), for u, v > 0."""

    def inverse(product: sp.Expr) -> sp.Expr:
        power = sp.powsimp(product)
        if not isinstance(power, sp.exp):
            factored = sp.factor(product)
            for candidate in sp.Mul.make_args(factored):
                if candidate.has(sp.log) and sp.expand(sp.expand_log(sp.log(factored / candidate)) - candidate) == 0:
                    return candidate
            return sp.LambertW(product)
        exponent = sp.expand(power.args[0], power_exp=False)
        for candidate in sorted(exponent.atoms(sp.exp), key=sp.default_sort_key):
            if sp.expand(exponent - candidate - candidate.args[0]) == 0:
                return candidate
        return sp.LambertW(power)

    if not expression.has(sp.LambertW) or is_too_large(expression):
        return expression
    # Expanding turns e^(log W) into W. That e^(a + b) stays whole shows u + e^u, where that is
    # there.
    whole = sp.expand(expression, power_exp=False).replace(sp.LambertW, inverse)
    expression = whole if not whole.has(sp.LambertW) else sp.expand(expression).replace(sp.LambertW, inverse)
    positive = [value for value in expression.atoms(sp.LambertW) if sign(sp.factor(value.args[0])) == 1]
    names = {value: sp.Dummy("w", positive=True) for value in sorted(positive, key=sp.default_sort_key)}
    spelled = sp.expand_log(expression.xreplace(names))
    logarithms = {sp.log(name): sp.expand_log(sp.log(sp.factor(value.args[0]))) - name for value, name in names.items()}
    return spelled.xreplace(logarithms).xreplace({name: value for value, name in names.items()})


def _with_linear_sums(expression: sp.Expr) -> sp.Expr:
    """Write sums over owners as constants times sums named by symbols."""
    if not expression.has(sp.Sum) or is_too_large(expression):
        return expression
    names: dict[sp.Expr, sp.Dummy] = {}
    constants: dict[sp.Expr, sp.Dummy] = {}

    def with_constants(part: sp.Expr) -> sp.Expr:
        """Name what all owners share, so that no denominator mixes it with the rest."""
        if not part.has(I):
            if part.has(sp.Add) and part not in constants:
                constants[part] = sp.Dummy("constant", positive=part.is_positive or None, real=part.is_real)
            return constants.get(part, part)
        if part.is_Pow:
            return with_constants(part.base) ** part.exp
        return part.func(*map(with_constants, part.args)) if part.is_Add or part.is_Mul else part

    def name_sum(total: sp.Sum) -> sp.Expr:
        summand, limits = with_constants(total.function), total.limits
        terms = sp.Add.make_args(sp.expand(sp.expand_power_base(sp.powsimp(sp.expand(summand)))))
        whole: sp.Expr = sp.Integer(0)
        for term in terms:
            constant, varying = term.as_independent(I, as_Add=False)
            if varying == 1:
                whole += constant * (limits[0][2] - limits[0][1] + 1)
                continue
            if varying not in names:
                names[varying] = (
                    sp.Dummy("sum", positive=True) if varying.is_nonnegative else sp.Dummy("sum", real=True)
                )
            whole += constant * names[varying]
        return whole

    named = expression.replace(sp.Sum, lambda *parts: name_sum(sp.Sum(*parts)))
    return named.xreplace({name: part for part, name in constants.items()})
