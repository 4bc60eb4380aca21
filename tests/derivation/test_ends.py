"""What stands at an end of the support, without powers that SymPy would multiply out."""

from __future__ import annotations

import sympy as sp

import smqopt as smq
from smqopt.derivation import proved_threshold_rule
from smqopt.derivation.argument._limits import value_at

x = sp.Symbol("x", real=True)


def test_the_log_of_a_power_stays_a_product():
    power = sp.log((x + 1) ** (x + sp.Rational(1, 3)))
    assert value_at(power, x, sp.Integer(1)) == sp.Rational(4, 3) * sp.log(2)
    assert value_at(power, x, sp.Integer(0)) == 0
    assert value_at(sp.log((x - 3) ** 2), x, sp.Integer(1)) == sp.log(4)  # a whole power says nothing of the sign


def test_a_logarithm_with_long_numbers_comes_to_an_end():
    """Its J simplifies to the log of a power whose base and exponent are doubles: (p/q)^(r/s) would have 10¹⁵ digits."""
    law = smq.from_cdf(
        "log(1 + c*((theta - low)/(high - low)))/log(1 + c)", low=0.0, high=2.8991294626913238, c=1.143621162539272
    )
    assert proved_threshold_rule(law) is None  # found out at once
    assert smq.verify(smq.solve(smq.Market([0.5, 1.0], law), 1.0)).valid
