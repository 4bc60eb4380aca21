"""Algorithm 1: who is bought, and what each is paid."""

from typing import TYPE_CHECKING

from smqopt._door import open_door

if TYPE_CHECKING:
    from smqopt.mechanism._join import join_outcomes as join_outcomes
    from smqopt.mechanism._outcome import Outcome as Outcome
    from smqopt.mechanism._outcome_gate import check_outcome as check_outcome
    from smqopt.mechanism._procure import procure as procure
    from smqopt.mechanism.audits._audit import Audit as Audit, audit as audit
    from smqopt.mechanism.audits._best_deviation import Deviations as Deviations
    from smqopt.mechanism.audits._ex_post_budget_rule import ExPostBudget as ExPostBudget
    from smqopt.mechanism.audits._outcome_rule import OutcomeRule as OutcomeRule
    from smqopt.mechanism.audits._posted_rule import PostedThresholds as PostedThresholds
    from smqopt.mechanism.audits._responses import Responses as Responses
    from smqopt.mechanism.bounds._every_mechanism import best_mechanism as best_mechanism
    from smqopt.mechanism.bounds._mechanism_bounds import (
        MechanismBounds as MechanismBounds,
        mechanism_bounds as mechanism_bounds,
    )
    from smqopt.mechanism.bounds._rounded_types import Types as Types
    from smqopt.mechanism.payments._payment_rules import (
        EX_POST_BUDGET as EX_POST_BUDGET,
        PAYMENT_RULES as PAYMENT_RULES,
        POSTED as POSTED,
        WHILE_IT_LASTS as WHILE_IT_LASTS,
    )
    from smqopt.mechanism.payments._payments import checked_rule as checked_rule
    from smqopt.mechanism.payments._while_it_lasts import (
        BY_VALUE as BY_VALUE,
        simulate_purchase as simulate_purchase,
    )
else:
    __getattr__, __dir__, __all__ = open_door(__name__, __file__)
