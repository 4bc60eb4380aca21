"""How much can be accepted for a payment."""

from __future__ import annotations

import numpy as np

from smqopt.numeric import Floats
from smqopt.valuation import Valuation

_OCTAVES = 64
"""Below the support's upper end, in which a price is sought."""
_ROUNDING = 2.0**-30
"""What F may be too small by, relatively."""


def most_acceptance(law: Valuation, spend: Floats, floor: Floats) -> Floats:
    """Bound the expected acceptance of lotteries with expected payments, shape (n,).

    Prices up to p are accepted with F(p) at most, and higher ones with E/p, whatever p is: a draw
    with acceptance q of prices above p is paid more than p q. No price is below the floor.
    """
    high = np.broadcast_to(np.asarray(law.high, dtype=np.float64), spend.shape)
    least, most = np.zeros(spend.shape), np.full(spend.shape, float(_OCTAVES))
    found = np.ones(spend.shape)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        while np.any(most - least > 1):
            octave = np.floor(0.5 * (least + most))
            price = np.ldexp(high, -octave.astype(np.int64))
            F, rest = law.cdf(price), spend / price
            found = np.fmin(found, F + rest)
            least, most = np.where(rest < F, octave, least), np.where(rest < F, most, octave)
        found = np.fmin(found, np.where(floor > 0, spend / floor, 1.0))
    return np.minimum(found * (1.0 + _ROUNDING), 1.0)
