"""Closed forms as functions of arrays: from a derivation to floating point."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import ArrayLike

from smqopt.algebra import X, lambdify
from smqopt.derivation.argument._inversion import Form
from smqopt.errors import InputError
from smqopt.numeric import Floats, exact_dot, exact_sum
from smqopt.valuation import by_sides, candidates

if TYPE_CHECKING:
    import sympy as sp

    from smqopt.derivation.argument._argument import Argument
    from smqopt.derivation.statement._derived import Derived
    from smqopt.valuation import Valuation

ThresholdFunction = Callable[["ArrayLike", "Valuation"], "Floats"]

_FARTHEST = 2.0**200
"""How many widths above the low end x is looked at where J is quadratic and unbounded: θ* then
equals high to the last bit, and squares of x do not overflow."""
_CAPPED = (Form.QUADRATIC, Form.ROOT, Form.LOGARITHMIC)
"""Forms that may leave the reals, or say ∞/∞, beyond J(high)."""


class BudgetPriceFunction(Protocol):
    """`price(epsilon, budget, law, multiplicity=None)`: λ, or None."""

    def __call__(
        self, epsilon: ArrayLike, budget: float, law: Valuation, multiplicity: ArrayLike | None = None
    ) -> float | None:
        """Return λ, in privacy per unit of currency."""
        ...


def threshold_function(derivation: Derived) -> ThresholdFunction | None:
    """Make `Derivation.threshold_function`."""
    if derivation.parts:
        return rule_by_part([threshold_function(part.derivation) for part in derivation.parts])
    return None if derivation.argument is None else rule_of(derivation.argument)


def rule_of(argument: Argument) -> ThresholdFunction | None:
    """Make θ*(ε/λ) from a proved inverse of J; None where there is none."""
    if argument.inverse is None or argument.cost_at_low is None or argument.cost_at_high is None:
        return None
    rules = [_on_one_formula(part, argument) for part in argument.pieces or (argument,)]
    starts = [_of_law(argument, piece.cost_at_low) for piece in argument.pieces[1:]]
    known: weakref.WeakSet[Valuation] = weakref.WeakSet()

    def rule(epsilon_over_price: ArrayLike, law: Valuation) -> Floats:
        if law not in known:
            _require_family(law, argument)
            known.add(law)
        x = np.asarray(epsilon_over_price, dtype=np.float64)
        theta = rules[0](law, x)
        for start, beyond in zip(starts, rules[1:], strict=True):
            theta = np.where(x >= start(law), beyond(law, x), theta)
        return theta

    return rule


def _on_one_formula(part: Argument, whole: Argument) -> Callable[[Valuation, Floats], Floats]:
    """Make the rule of one formula: θ*(x), clipped to the formula's interval."""
    assert part.inverse is not None and part.cost_at_high is not None  # noqa: S101, PT018
    threshold = _of_law(whole, part.inverse.threshold, X)
    low, high, lowest = (_of_law(whole, end) for end in (part.law.low, part.law.high, part.cost_at_low))
    is_capped, is_bounded = part.inverse.form in _CAPPED, part.cost_at_high.is_finite is not False
    highest = _of_law(whole, part.cost_at_high) if is_capped and is_bounded else None

    def rule(law: Valuation, given: Floats) -> Floats:
        bottom = lowest(law)
        x = np.maximum(given, bottom)
        if not is_capped:
            inside = np.clip(threshold(law, x), low(law), high(law))
            return np.where(given <= bottom, low(law), inside)
        top = low(law) + _FARTHEST * np.asarray(law.width) if highest is None else highest(law)
        inside = np.clip(threshold(law, np.minimum(x, top)), low(law), high(law))
        return np.where(x >= top, high(law), np.where(given <= bottom, low(law), inside))

    return rule


def budget_price_function(derivation: Derived) -> BudgetPriceFunction | None:
    """Make `Derivation.budget_price_function`."""
    argument, found = derivation.argument, derivation.budget_price
    if argument is None or found is None:
        return None
    exponent, constant, coefficient = (
        _of_law(argument, part) for part in (found.exponent, found.constant, found.coefficient)
    )

    def price(epsilon: ArrayLike, budget: float, law: Valuation, multiplicity: ArrayLike | None = None) -> float | None:
        _require_family(law, argument)
        requirements = np.asarray(epsilon, dtype=np.float64)
        counts = np.ones(requirements.shape) if multiplicity is None else np.asarray(multiplicity, dtype=np.float64)
        largest = float(requirements.max())
        if (
            law.size is not None
            or budget <= 0
            or largest <= 0
            or (found.low is not None and law.low != float(found.low))
        ):
            return None
        p, c_0, c_1 = float(exponent(law)), float(constant(law)), float(coefficient(law))
        with np.errstate(over="ignore", under="ignore"):
            power = exact_dot((requirements / largest) ** p, counts)
            value = largest * float(np.float64(c_1 * power / (budget - exact_sum(counts) * c_0)) ** (1.0 / p))
        return value if 0 < value < np.inf and _all_inside(requirements / value, law) else None

    return price


def _all_inside(x: Floats, law: Valuation) -> bool:
    lowest, highest = law.virtual_cost(law.low), law.virtual_cost(law.high)
    return bool(np.all((x >= lowest) & (x <= highest)))


def _of_law(argument: Argument, formula: sp.Expr, *variables: sp.Symbol) -> Callable[..., Floats]:
    """Make a formula a function of a law's parameters and further variables."""
    names = [name for name, _ in argument.law.parameters]
    evaluate = lambdify([symbol for _, symbol in argument.law.parameters] + list(variables), formula)
    return lambda law, *values: evaluate(*(law.arguments[name] for name in names), *values)


def _require_family(law: Valuation, argument: Argument) -> None:
    """Refuse a law that the derivation does not speak of.

    Raises
    ------
    InputError
        If its formula, or an end of its support that the derivation holds as a number, is another.
    """
    if all(formulas != argument.law for formulas, _ in candidates(law)):
        raise InputError(
            "closed form: argument 'law'",
            "is not of the family that was derived",
            value=repr(law),
            remedy="derive it anew",
        )


def rule_by_part(rules: Sequence[ThresholdFunction | None]) -> ThresholdFunction | None:
    """Gather the families' rules in the order of `law.parts()`; None if one lacks."""
    if any(rule is None for rule in rules):
        return None

    def rule(epsilon_over_price: ArrayLike, law: Valuation) -> Floats:
        parts = list(law.parts())
        parts = by_sides(law) if len(parts) != len(rules) else parts
        if len(parts) != len(rules):
            raise InputError(
                "closed form: argument 'law'",
                "has other families than were derived",
                value=repr(law),
                remedy="derive it anew",
            )
        x = np.asarray(epsilon_over_price, dtype=np.float64)
        x = np.broadcast_to(x, np.broadcast_shapes(x.shape, (law.size or 1,)))
        thresholds = np.empty(x.shape)
        for own, (part, owners) in zip(rules, parts, strict=True):
            assert own is not None  # noqa: S101
            thresholds[..., owners] = own(x[..., owners], part)
        return thresholds

    return rule
