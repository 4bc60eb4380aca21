"""Named tolerances: each has a norm and a unit, and stands in certificates."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tolerance:
    """A named bound on a residual."""

    name: str
    value: float
    norm: str
    """What is measured, and relative to what."""

    def to_dict(self) -> dict[str, str | float]:
        """Return the record that certificates carry."""
        return {"name": self.name, "value": self.value, "norm": self.norm}


GAP = Tolerance("gap_tolerance", 1e-10, "upper bound minus purchased privacy, relative to the upper bound")
HIDDEN_GAP = Tolerance(
    "hidden_gap_tolerance",
    1e-6,
    "the gap, where nothing but a monotone F bounds what a law hides between the prices looked at",
)
ERROR_GAP = Tolerance("error_gap_tolerance", 1e-6, "mean squared error minus its lower bound, relative to the error")
THRESHOLD = Tolerance(
    "threshold_tolerance",
    1e-9,
    "largest |θ − θ(λ)| beyond 32 spacings of doubles, relative to the width of the support",
)
PRICE = Tolerance(
    "price_tolerance", 1e-9, "relative distance within which the spend at two prices must enclose the budget price λ"
)
PRICE_TABLE = Tolerance(
    "price_table_tolerance", 1e-9, "|spend − budget| of prices mixed from a table, relative to the budget"
)
ACCEPTANCE = Tolerance("acceptance_tolerance", 2.0**-50, "largest |q − F(θ)|, in probability")
STATIONARITY = Tolerance(
    "stationarity_tolerance",
    1e-8,
    "largest |ε − λJ(θ) + lower − upper| over owners, relative to the largest ε (errata E15)",
)
RECHECK = Tolerance("recheck_tolerance", 1e-12, "|recorded − recomputed| bound, relative to the recomputed one")
TANGENT = Tolerance("tangent_offset", 2.0**-30, "offset of the two tangents of the dual bound, relative to θ − θ̲")
ROUNDING = Tolerance(
    "rounding_allowance", 16 * 2.0**-53, "added to the bounds against us, relative to the sum of absolute terms"
)
TERM_ROUNDING = Tolerance(
    "term_rounding", 2.0**-52, "rounding of each further term of a pooled sum, relative to its absolute terms"
)
BUDGET_SHORTFALL = Tolerance(
    "budget_shortfall",
    1e-12,
    "budget minus spend when it binds, relative to the budget, beside Σ ulp(θ_i)(F_i + θ_i f_i)",
)
BUDGET_MARGIN = Tolerance(
    "budget_margin",
    2.0**-48,
    "distance kept from the budget, relative to it, so that every order of summation stays below",
)
FORMULA = Tolerance(
    "formula_tolerance", 1e-9, "|F − its formula| in probability, and |f − its formula| times the width of the support"
)
IDENTITY = Tolerance(
    "identity_tolerance", 1e-40, "|left − right| of a derived identity at a point, relative to its largest term"
)
CONIC_TIGHT = Tolerance(
    "conic_tight_tolerance", 1e-10, "gap and residuals first asked of the conic solver, in its own normalised units"
)
CONIC_MIDDLE = Tolerance(
    "conic_middle_tolerance", 1e-8, "asked of the conic solver where it does not meet the tight ones"
)
CONIC_LOOSE = Tolerance(
    "conic_loose_tolerance", 1e-7, "asked of the conic solver where it does not meet the middle ones"
)
CONIC_FEASIBILITY = Tolerance(
    "conic_feasibility_tolerance",
    1e-6,
    "how far a conic answer may leave [0, 1] in acceptance, or overspend relative to the budget, before it is refused",
)
PIECES_GAP = Tolerance(
    "pieces_gap",
    1e-7,
    "upper minus lower bound of a program with straight pieces in place of cost curves, relative to the larger",
)
BLOCK_EXCESS = Tolerance(
    "block_excess",
    GAP.value / 4,
    "how far the bound on what blocks with one price each add may lie above the best prices found, relative to the whole bound",
)
BINDING_SHARE = Tolerance(
    "binding_share", 1e-6, "λB relative to purchased privacy, above which the budget of an extended program binds"
)
SUPPORT_END = Tolerance("support_end", 1e-13, "|F(low)| and |F(high) − 1| of a plugged-in cdf, in probability")
DENSITY = Tolerance(
    "density_tolerance", 1e-5, "|f − F′| by differences, times the width of the support, relative to 1 + f · width"
)
ROUND_TRIP = Tolerance(
    "round_trip", 1e-9, "|F(F⁻¹(u)) − u|, in probability, beside what F rises in a few spacings of doubles round F⁻¹(u)"
)
QUANTILE = Tolerance(
    "quantile_tolerance",
    2.0**-47,
    "|log(F(F⁻¹(u))/u|, or the same of 1 − F, beside what it changes in a few spacings of doubles round F⁻¹(u)",
)
QUADRATURE = Tolerance(
    "quadrature_tolerance",
    2.0**-45,
    "|16 nodes − 24 nodes| of a Gauss–Legendre sum that replaces a difference that cancels, relative to it",
)
FALL = Tolerance(
    "fall_margin",
    2.0**-24,
    "fall of the virtual cost between two points, relative to it, that is taken for no rounding",
)
MASS = Tolerance("mass_tolerance", 1e-9, "|G + (1 − G) − 1| of a plugged-in law that gives both, in probability")
INCENTIVE = Tolerance(
    "incentive_tolerance",
    2.0**-40,
    "gain from a misreport, or loss of a truthful owner, relative to the amounts it is a difference of",
)
MECHANISM_LP = Tolerance(
    "mechanism_lp_tolerance", 1e-7, "|value claimed − value of the linear program over all mechanisms|, in acceptance"
)
SIDE_ROW = Tolerance(
    "side_row_tolerance", 1e-10, "what a side constraint is broken by, relative to the sum of its absolute terms"
)
POSTED_GAP = Tolerance(
    "posted_gap", 1e-4, "where the search for one posted price each may end, relative to the best over the same prices"
)
CURVED_ROW = Tolerance(
    "curved_row_tolerance",
    1e-7,
    "what a constraint in cvxpy that is not linear is broken by, relative to the sum of its absolute terms",
)
CURVED_GAP = Tolerance(
    "curved_gap_tolerance", 1e-7, "gap under constraints in cvxpy that are not linear, relative to the upper bound"
)
SIDE_GAP = Tolerance(
    "side_gap",
    1e-9,
    "bound minus purchased privacy, and what a row is broken by relative to its terms, of a structured answer",
)
FRONTIER_EXACT = Tolerance(
    "frontier_exact",
    1e-10,
    "upper minus lower bound of a point of the frontier in closed form, relative to the upper one",
)
FRONTIER_GAP = Tolerance(
    "frontier_gap",
    1e-4,
    "upper minus lower bound of a point of the frontier by chords and tangents, relative to the upper one",
)
