"""The market, what may be asked of it, and the record of a solution; no cvxpy."""

from typing import TYPE_CHECKING

from smqopt._door import open_door

if TYPE_CHECKING:
    from smqopt.market._columns import check_units as check_units
    from smqopt.market._few_rows import (
        BEND as BEND,
        LARGEST_BUDGET as LARGEST_BUDGET,
        BoundingMarket as BoundingMarket,
        few_rows as few_rows,
    )
    from smqopt.market._laws_by_group import LawsByGroup as LawsByGroup
    from smqopt.market._lottery import Lottery as Lottery
    from smqopt.market._market import Market as Market
    from smqopt.market._numbers import checked_budget as checked_budget, numbers as numbers
    from smqopt.market._offers import (
        Offers as Offers,
        joined_pieces as joined_pieces,
        offers_from_acceptance as offers_from_acceptance,
        offers_within_pieces as offers_within_pieces,
    )
    from smqopt.market._one_law import require_one_law as require_one_law
    from smqopt.market._status import Status as Status
    from smqopt.market._units import even_acceptance as even_acceptance, units_of as units_of
    from smqopt.market.constraints._acceptance_bounds import AcceptanceBounds as AcceptanceBounds
    from smqopt.market.constraints._acceptance_range import AcceptanceRange as AcceptanceRange
    from smqopt.market.constraints._common_price import CommonPrice as CommonPrice
    from smqopt.market.constraints._constraint_record import (
        ConstraintRecord as ConstraintRecord,
        Row as Row,
        check_records as check_records,
    )
    from smqopt.market.constraints._constraint_registry import (
        KINDS as KINDS,
        constraint_from_dict as constraint_from_dict,
    )
    from smqopt.market.constraints._coverage import Coverage as Coverage
    from smqopt.market.constraints._expected_owners import ExpectedOwners as ExpectedOwners
    from smqopt.market.constraints._from_cvxpy import StatedInCvxpy as StatedInCvxpy
    from smqopt.market.constraints._group_budget import GroupBudget as GroupBudget
    from smqopt.market.constraints._linear_row import ENTRY as ENTRY, LinearRow as LinearRow
    from smqopt.market.constraints._parity import Parity as Parity
    from smqopt.market.constraints._price_menu import PriceMenu as PriceMenu
    from smqopt.market.constraints._price_range import PriceRange as PriceRange
    from smqopt.market.expansion._bent import OverLaws as OverLaws
    from smqopt.market.expansion._expansion import Expansion as Expansion
    from smqopt.market.expansion._fold import fold as fold, thin as thin, unfold as unfold
    from smqopt.market.expansion._make import (
        BUDGET_WORDS as BUDGET_WORDS,
        expansion_of as expansion_of,
        needs_expansion as needs_expansion,
    )
    from smqopt.market.expansion._under_each_law import under_each_law as under_each_law
    from smqopt.market.objectives._bought_owners import BoughtOwners as BoughtOwners
    from smqopt.market.objectives._diminishing_returns import (
        DiminishingReturns as DiminishingReturns,
        Logarithm as Logarithm,
    )
    from smqopt.market.objectives._error_polygon import Corner as Corner, least_corner as least_corner
    from smqopt.market.objectives._from_cvxpy import InCvxpy as InCvxpy
    from smqopt.market.objectives._inverse_probability_variance import (
        InverseProbabilityVariance as InverseProbabilityVariance,
    )
    from smqopt.market.objectives._least_spend import LeastSpend as LeastSpend
    from smqopt.market.objectives._mean_squared_error import (
        MeanSquaredError as MeanSquaredError,
        best_cap as best_cap,
        error_objective as error_objective,
    )
    from smqopt.market.objectives._objective_record import Objective as Objective
    from smqopt.market.objectives._objective_registry import (
        OBJECTIVES as OBJECTIVES,
        objective_from_dict as objective_from_dict,
    )
    from smqopt.market.objectives._purchased_privacy import PurchasedPrivacy as PurchasedPrivacy
    from smqopt.market.objectives._utility import Linear as Linear, Utility as Utility
    from smqopt.market.objectives._weighted_objectives import WeightedObjectives as WeightedObjectives
    from smqopt.market.objectives._worst_case_error import WorstCaseError as WorstCaseError
    from smqopt.market.objectives._worst_group import WorstGroup as WorstGroup
    from smqopt.market.pooling._blocks import Blocks as Blocks
    from smqopt.market.random_prices._cost_table import CostTable as CostTable
    from smqopt.market.random_prices._menu import (
        cdf_at as cdf_at,
        kinds_of as kinds_of,
        menu_prices as menu_prices,
        stakes_of as stakes_of,
    )
    from smqopt.market.random_prices._random_prices import (
        Chances as Chances,
        RandomPrices as RandomPrices,
        chord_table as chord_table,
        owners_of as owners_of,
    )
    from smqopt.market.random_prices._rule import OwnersOfRule as OwnersOfRule, Rule as Rule, rule_at as rule_at
    from smqopt.market.response._best_response import Choices as Choices, choices as choices
    from smqopt.market.response._classify import status_of as status_of
    from smqopt.market.response._convex_costs import require_convex_costs as require_convex_costs
    from smqopt.market.solution._files import (
        SOLUTION_FILE as SOLUTION_FILE,
        THRESHOLDS_FILE as THRESHOLDS_FILE,
        lottery_columns as lottery_columns,
    )
    from smqopt.market.solution._solution import (
        Solution as Solution,
        solution_from_parts as solution_from_parts,
        solution_to_dict as solution_to_dict,
    )
    from smqopt.market.statement._allowed_prices import AllowedPrices as AllowedPrices, price_floors as price_floors
    from smqopt.market.statement._room import room_of as room_of
    from smqopt.market.statement._state import (
        asks_without_end as asks_without_end,
        state as state,
        without_money as without_money,
    )
    from smqopt.market.statement._statement import Statement as Statement
    from smqopt.market.statement._tie_slopes import tie_slopes as tie_slopes
    from smqopt.market.statement._whole_budget import at_budget as at_budget, priced_budget as priced_budget
else:
    __getattr__, __dir__, __all__ = open_door(__name__, __file__)
