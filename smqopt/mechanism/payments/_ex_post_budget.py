r"""Payments that never exceed the budget (Lemma 2, by errata E11).

With P_j the posted payment of owner j, drawn threshold included, and n ≥ 2 owners,

    p_i = P_i − (1/(n−1)) Σ_{j≠i} (P_j − E P_j).

The total is Σ P_i − Σ_j (P_j − E P_j) = Σ E P_j ≤ B always. What is taken from owner i does not
depend on her own report, so truth stays dominant; its expectation over the others is 0, so her
interim payment is the posted one. Both expectations take reports to be truthful and independent
under the certified laws; the bound on the total takes nothing at all.
"""

from __future__ import annotations

import numpy as np

from smqopt.errors import CertificateError, InputError
from smqopt.numeric import Floats, exact_sum

_ROUNDING = 8 * 2.0**-53
"""Relative to |G| + |P_i − E P_i|; above what the four roundings of an owner's share can lower it.
"""


def ex_post_budget_payments(posted: Floats, expected: Floats, largest_offer: float, limit: float) -> Floats:
    """Share among the others what each posted payment exceeds its expectation by.

    Parameters
    ----------
    posted
        P_i, shape (n,), in currency.
    expected
        E P_i, rounded down, shape (n,), in currency.
    largest_offer
        The largest threshold that could have been posted, in currency; matters for n = 1.
    limit
        The most that may be paid, in currency.

    Returns
    -------
    Floats
        p_i, each rounded down, shape (n,), in currency. Their exact sum is at most `limit` and at
        most Σ E P_i.

    Raises
    ------
    InputError
        If there is one owner, and her threshold exceeds the limit: she has nobody to share with.
    CertificateError
        If the payments add up to more than the limit; their rounding excludes that.
    """
    n = posted.size
    if n == 1:
        if largest_offer > limit:
            raise InputError(
                "argument 'payments'",
                f"'ex-post-budget' needs two owners, or one whose threshold is at most what may be paid ({limit!r})",
                value=largest_offer,
                remedy="pay the posted threshold, or buy from more owners at once",
            )
        return posted.copy()
    excess = posted - expected
    total = exact_sum(np.concatenate([posted, -expected]))
    share = (total - excess) / (n - 1) + _ROUNDING * (abs(total) + np.abs(excess)) / (n - 1)
    over = exact_sum(np.append(expected, -limit))
    if over > 0:  # the expectations themselves may be a few roundings above
        share += over / n * (1.0 + _ROUNDING)
    payments: Floats = np.where(share == 0, posted, np.nextafter(posted - share, -np.inf))
    if exact_sum(np.append(payments, -limit)) > 0 or exact_sum(np.concatenate([payments, -expected])) > 0:
        raise CertificateError("payments", f"must add up to at most {limit!r}", remedy="report this market")
    return payments
