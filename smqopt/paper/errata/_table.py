"""All entries: the paper's errata in their order, and the facts beside them."""

from __future__ import annotations

from typing import Any

from smqopt.paper.errata._budget_equality import BUDGET_EQUALITY
from smqopt.paper.errata._confidence import CONFIDENCE
from smqopt.paper.errata._entry import Entry
from smqopt.paper.errata._ex_post_budget import EX_POST_BUDGET
from smqopt.paper.errata._fair_query import FAIR_QUERY
from smqopt.paper.errata._histogram import HISTOGRAM
from smqopt.paper.errata._inner_product import INNER_PRODUCT
from smqopt.paper.errata._irregular_owners import IRREGULAR_OWNERS
from smqopt.paper.errata._lagrangian import LAGRANGIAN
from smqopt.paper.errata._laplace_scale import LAPLACE_SCALE
from smqopt.paper.errata._largest_budget import LARGEST_BUDGET
from smqopt.paper.errata._lasting_money import LASTING_MONEY
from smqopt.paper.errata._law_given_requirement import LAW_GIVEN_REQUIREMENT
from smqopt.paper.errata._linear_weights import LINEAR_WEIGHTS
from smqopt.paper.errata._median_score import MEDIAN_SCORE
from smqopt.paper.errata._publication import PUBLICATION
from smqopt.paper.errata._range_scale import RANGE_SCALE
from smqopt.paper.errata._redrawn import REDRAWN
from smqopt.paper.errata._regular_families import REGULAR_FAMILIES
from smqopt.paper.errata._regularity import REGULARITY
from smqopt.paper.errata._relaxed_score import RELAXED_SCORE
from smqopt.paper.errata._row_counts import ROW_COUNTS
from smqopt.paper.errata._sample_sensitivity import SAMPLE_SENSITIVITY
from smqopt.paper.errata._selection import SELECTION
from smqopt.paper.errata._shrinkage import SHRINKAGE
from smqopt.paper.errata._slope_of_virtual_cost import SLOPE_OF_VIRTUAL_COST
from smqopt.paper.errata._small_weights import SMALL_WEIGHTS
from smqopt.paper.errata._threshold_rules import THRESHOLD_RULES
from smqopt.paper.errata._ties import TIES
from smqopt.paper.errata._truncation import TRUNCATION
from smqopt.paper.errata._unbounded_entries import UNBOUNDED_ENTRIES
from smqopt.paper.errata._vacuous_stationarity import VACUOUS_STATIONARITY

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
    LINEAR_WEIGHTS,
    SHRINKAGE,
    SELECTION,
    LASTING_MONEY,
)
"""F1 to F11: what this project relies on beyond the paper, each beside a tempting statement that is
wrong."""
