"""Parts of every owner's requirement, as exact fractions."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from smqopt.errors import InputError
from smqopt.numeric import Floats

Share = int | float | str | Fraction

_LONGEST = 40
"""Digits of a numerator or denominator that are taken; a share of more is nobody's wish, and would
fill the ledger."""
_TEXT = re.compile(r"[0-9]+(/[0-9]+)?|[0-9]*\.[0-9]+")
"""What a text may be; no exponents, which a few characters make endless."""


def checked_share(share: Share, where: str = "argument 'share'") -> Fraction:
    """Return a share as an exact fraction in (0, 1].

    A text is taken at its word: "1/3" and "0.1" are exactly that. A float is the double it is, so
    0.1 is a little more than a tenth, and ten of it are more than 1.

    Raises
    ------
    InputError
        If it is not such a number.

    Examples
    --------
    >>> checked_share("1/3"), checked_share("0.1"), checked_share(0.5)
    (Fraction(1, 3), Fraction(1, 10), Fraction(1, 2))
    """
    remedy = "give, say, '1/3'"
    if isinstance(share, bool) or not isinstance(share, (int, float, str, Fraction, np.integer, np.floating)):
        raise InputError(where, "must be a share", value=type(share).__name__, remedy=remedy)
    if isinstance(share, str) and not (len(share) <= 2 * _LONGEST and _TEXT.fullmatch(share)):
        raise InputError(where, "must be a short fraction or decimal", value=share[: 2 * _LONGEST], remedy=remedy)
    try:
        exact = Fraction(
            share if isinstance(share, (str, Fraction)) else share.item() if isinstance(share, np.generic) else share
        )
    except (ValueError, OverflowError, ZeroDivisionError) as error:
        raise InputError(where, "must be a share", value=share, remedy=remedy) from error
    if not 0 < exact <= 1:
        raise InputError(where, "must lie above 0 and be at most 1", value=str(share), remedy=remedy)
    if exact.denominator >= 10**_LONGEST:
        raise InputError(where, f"must have fewer than {_LONGEST} digits", value=str(share), remedy=remedy)
    return exact


def equal_shares(queries: int) -> tuple[Fraction, ...]:
    """Split the requirements equally among a number of queries, ≥ 1.

    Raises
    ------
    InputError
        If the number is not a whole number ≥ 1.

    Examples
    --------
    >>> equal_shares(3)
    (Fraction(1, 3), Fraction(1, 3), Fraction(1, 3))
    """
    if isinstance(queries, bool) or not isinstance(queries, (int, np.integer)) or queries < 1:
        raise InputError("argument 'queries'", "must be a whole number ≥ 1", value=queries, remedy="give, say, 3")
    return (checked_share(Fraction(1, int(queries)), "argument 'queries'"),) * int(queries)


def given_shares(shares: Sequence[Share]) -> tuple[Fraction, ...]:
    """Check shares that are given: each above 0, together at most 1, exactly.

    Raises
    ------
    InputError
        If one is not a share, there is none, or they exceed 1 together.

    Examples
    --------
    >>> given_shares(["1/2", "0.25", "1/4"])
    (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))
    """
    where = "argument 'shares'"
    exact = tuple(checked_share(share, f"{where}, entry {k + 1}") for k, share in enumerate(shares))
    if not exact:
        raise InputError(where, "must hold at least one share", value=0, remedy="give, say, ['1/2', '1/2']")
    total = sum(exact, Fraction(0))
    if total > 1:
        raise InputError(
            where, "must be at most 1 together", value=str(total), remedy="write tenths as '0.1' or '1/10'"
        )
    return exact


def part_of(epsilon: Floats, share: Fraction) -> Floats:
    """Return doubles that are at most share · ε_i, exactly.

    They are at least all but three units in the last place of it.

    Parameters
    ----------
    epsilon
        ε_i ≥ 0, shape (k,).
    share
        In (0, 1].

    Examples
    --------
    >>> from fractions import Fraction
    >>> part = part_of(np.array([0.3]), Fraction(1, 3))
    >>> Fraction(part[0]) <= Fraction(0.3) / 3, round(float(part[0]), 12)
    (True, 0.1)
    """
    if share == 1:
        return epsilon
    factor = float(share)
    if Fraction(factor) > share:
        factor = math.nextafter(factor, 0.0)
    part: Floats = np.nextafter(epsilon * factor, 0.0)
    return part
