"""Named tolerances. Each has a norm and a unit, and is written into the certificate that used it."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["BUDGET_MARGIN", "BUDGET_SHORTFALL", "GAP", "PRICE", "THRESHOLD", "Tolerance"]


@dataclass(frozen=True)
class Tolerance:
    """A named bound on a residual."""

    name: str
    value: float
    norm: str
    """What is measured, and relative to what."""

    def to_dict(self) -> dict[str, str | float]:
        """Give the record that certificates carry."""
        return {"name": self.name, "value": self.value, "norm": self.norm}


GAP = Tolerance("gap_tolerance", 1e-10, "upper bound minus purchased privacy, relative to the upper bound")
THRESHOLD = Tolerance("threshold_tolerance", 1e-9, "largest |θ − θ(λ)|, relative to the width of the support")
PRICE = Tolerance("price_tolerance", 1e-9, "|spend at θ(λ) − budget| at a binding budget, relative to the budget")
BUDGET_SHORTFALL = Tolerance(
    "budget_shortfall", 1e-12, "budget minus spend when it binds, relative to the budget, beside Σ ulp(θ_i)(F_i + θ_i f_i)"
)
BUDGET_MARGIN = Tolerance(
    "budget_margin", 2.0**-48, "distance kept from the budget, relative to it, so that every order of summation stays below"
)
