"""The threshold rule alone, proved: what a certificate compares with."""

from __future__ import annotations

import weakref

import sympy as sp

from smqopt.algebra import Verdict, remember
from smqopt.derivation.argument._argument import Argument
from smqopt.derivation.closed_form._evaluation import ThresholdFunction, rule_by_part, rule_of
from smqopt.derivation.steps._threshold_step import threshold, threshold_cases
from smqopt.derivation.storage._cache import keep
from smqopt.derivation.storage._memo import find_argument
from smqopt.valuation import LawFormulas, Row, Valuation, candidates


def proved_threshold_rule(law: Valuation) -> ThresholdFunction | None:
    """Find and prove θ*(ε/λ) in closed form, and nothing else (KKT).

    Parameters
    ----------
    law
        A law with a formula, or a different one an owner.

    Returns
    -------
    callable
        As `Derivation.threshold_function` gives; None where there is no closed form, or it could
        not be proved.

    Raises
    ------
    InputError
        If the law has no symbolic form. The error says why.

    Examples
    --------
    >>> import numpy as np
    >>> from smqopt import Uniform
    >>> law = Uniform(0, 1)
    >>> proved_threshold_rule(law)(np.array([0.5, 1.0, 4.0]), law)
    array([0.25, 0.5 , 1.  ])
    """
    if law not in _RULES:
        _RULES[law] = _proved_rule(law)
    return _RULES[law]


_RULES: weakref.WeakKeyDictionary[Valuation, ThresholdFunction | None] = weakref.WeakKeyDictionary()
"""What was found, law by law; laws do not change."""


def _proved_rule(law: Valuation) -> ThresholdFunction | None:
    parts = tuple(law.parts())
    if len(parts) > 1 or parts[0][0] is not law:
        return rule_by_part([proved_threshold_rule(part) for part, _ in parts])
    for formulas, rows in candidates(law):
        argument = find_argument(formulas, rows)
        if argument.inverse is not None and _is_proved(formulas, rows):
            return rule_of(argument)
    return None


def threshold_in_cases(argument: Argument) -> sp.Piecewise:
    """Return the rule with its cases at the ends, in closed form if there is one."""
    cases = threshold_cases(argument)
    inverse = argument.inverse
    if inverse is None:
        return cases
    inside = inverse.threshold
    ends, spelled = cases.args[:-1], inside.args if isinstance(inside, sp.Piecewise) else ((inside, sp.S.true),)
    return sp.Piecewise(*ends, *spelled, evaluate=False)


@remember
def _is_proved(formulas: LawFormulas, rows: tuple[Row, ...]) -> bool:
    return keep("threshold", formulas, rows, lambda: threshold(find_argument(formulas, rows))).verdict is Verdict.PROVED
