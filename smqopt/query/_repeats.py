"""Releases without a ledger, counted within the process."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np

from smqopt.mechanism import Outcome
from smqopt.numeric import Floats

_ROUNDING = 1e-9
"""Relative; shares are added in doubles here, and ten tenths are no more than all."""
_spent: dict[str, Floats] = {}
"""Fingerprint of a certificate → what was released of each of its owners' requirements, shape
(N,)."""


class PrivacyWarning(UserWarning):
    """Uncounted releases spend more than the owners' requirements together.

    Examples
    --------
    >>> import smqopt as smq
    >>> issubclass(smq.PrivacyWarning, UserWarning)
    True
    """


def warn_of_repeats(outcome: Outcome, share: Fraction) -> None:
    """Count a release without a ledger; warn where they add up to more than ε_i."""
    key = outcome.certificate.fingerprint
    population = outcome.certificate.solution.market.population
    spent = _spent.setdefault(key, np.zeros(population))
    bought = outcome.owners[outcome.selected]
    spent[bought] += float(share)
    _warn(float(np.max(spent[bought])))


def warn_of_all(key: str, share: Fraction) -> None:
    """Count a release of all owners of a market in parts, likewise."""
    spent = _spent.setdefault(f"parts {key}", np.zeros(1))
    spent += float(share)
    _warn(float(spent[0]))


def _warn(most: float) -> None:
    if most > 1.0 + _ROUNDING:
        warnings.warn(
            f"releases without a ledger have spent {most:.4g} times the requirement of an owner in this process: "
            "each is private at her ε_i, together they are not; give a ledger, which refuses what is too much",
            PrivacyWarning,
            stacklevel=4,
        )
