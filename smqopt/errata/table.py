"""All entries: the paper's errata in their order, and the facts beside them."""

from __future__ import annotations

from typing import Any

from smqopt.errata.budget_equality import BUDGET_EQUALITY
from smqopt.errata.confidence import CONFIDENCE
from smqopt.errata.entry import Entry
from smqopt.errata.ex_post_budget import EX_POST_BUDGET
from smqopt.errata.fair_query import FAIR_QUERY
from smqopt.errata.histogram import HISTOGRAM
from smqopt.errata.inner_product import INNER_PRODUCT
from smqopt.errata.irregular_owners import IRREGULAR_OWNERS
from smqopt.errata.lagrangian import LAGRANGIAN
from smqopt.errata.laplace_scale import LAPLACE_SCALE
from smqopt.errata.largest_budget import LARGEST_BUDGET
from smqopt.errata.law_given_requirement import LAW_GIVEN_REQUIREMENT
from smqopt.errata.median_score import MEDIAN_SCORE
from smqopt.errata.publication import PUBLICATION
from smqopt.errata.range_scale import RANGE_SCALE
from smqopt.errata.redrawn import REDRAWN
from smqopt.errata.regular_families import REGULAR_FAMILIES
from smqopt.errata.regularity import REGULARITY
from smqopt.errata.relaxed_score import RELAXED_SCORE
from smqopt.errata.row_counts import ROW_COUNTS
from smqopt.errata.sample_sensitivity import SAMPLE_SENSITIVITY
from smqopt.errata.slope_of_virtual_cost import SLOPE_OF_VIRTUAL_COST
from smqopt.errata.small_weights import SMALL_WEIGHTS
from smqopt.errata.threshold_rules import THRESHOLD_RULES
from smqopt.errata.ties import TIES
from smqopt.errata.truncation import TRUNCATION
from smqopt.errata.unbounded_entries import UNBOUNDED_ENTRIES
from smqopt.errata.vacuous_stationarity import VACUOUS_STATIONARITY

__all__ = ["ERRATA", "FACTS"]

ERRATA: tuple[Entry[Any], ...] = (
    REGULARITY,
    LAGRANGIAN,
    BUDGET_EQUALITY,
    LAW_GIVEN_REQUIREMENT,
    IRREGULAR_OWNERS,
    FAIR_QUERY,
    LAPLACE_SCALE,
    RANGE_SCALE,
    UNBOUNDED_ENTRIES,
    CONFIDENCE,
    EX_POST_BUDGET,
    TIES,
    LARGEST_BUDGET,
    REDRAWN,
    VACUOUS_STATIONARITY,
    SMALL_WEIGHTS,
    THRESHOLD_RULES,
    ROW_COUNTS,
    SAMPLE_SENSITIVITY,
    INNER_PRODUCT,
)
"""E1 to E20; E18 needs data sets that are not shipped."""

FACTS: tuple[Entry[Any], ...] = (
    SLOPE_OF_VIRTUAL_COST,
    TRUNCATION,
    REGULAR_FAMILIES,
    RELAXED_SCORE,
    MEDIAN_SCORE,
    HISTOGRAM,
    PUBLICATION,
)
"""F1 to F7: what this project relies on beyond the paper, each beside a tempting statement that is wrong."""
