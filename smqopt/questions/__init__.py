"""Questions a broker asks of a market: frontiers, budgets, payments, robustness."""

from typing import TYPE_CHECKING

from smqopt._door import open_door

if TYPE_CHECKING:
    from smqopt.questions.budget._least_budget import LeastBudget as LeastBudget, least_budget as least_budget
    from smqopt.questions.budget._necessary_privacy import (
        NECESSARY_QUERIES as NECESSARY_QUERIES,
        NecessaryPrivacy as NecessaryPrivacy,
        necessary_privacy as necessary_privacy,
    )
    from smqopt.questions.error._error_budgets import (
        ErrorBudget as ErrorBudget,
        ErrorFrontier as ErrorFrontier,
        error_frontier as error_frontier,
    )
    from smqopt.questions.error._expected_error import (
        ExpectedError as ExpectedError,
        expected_error as expected_error,
    )
    from smqopt.questions.frontiers._at_budgets import AtBudgets as AtBudgets
    from smqopt.questions.frontiers._certified_grid import (
        CertifiedGrid as CertifiedGrid,
        certified_grid as certified_grid,
    )
    from smqopt.questions.frontiers._constrained_frontier import constrained_frontier as constrained_frontier
    from smqopt.questions.frontiers._curve import Frontier as Frontier
    from smqopt.questions.frontiers._frontier import frontier as frontier
    from smqopt.questions.frontiers._movable_limit import movable_limit as movable_limit
    from smqopt.questions.payment._lasting_budget import (
        LastingBudget as LastingBudget,
        guaranteed_privacy as guaranteed_privacy,
        lasting_budget as lasting_budget,
    )
    from smqopt.questions.payment._realised_payments import (
        RealisedPayments as RealisedPayments,
        realised_payments as realised_payments,
    )
    from smqopt.questions.payment._reserve import (
        Reserve as Reserve,
        checked_probability as checked_probability,
        reserve as reserve,
    )
    from smqopt.questions.payment._reserved_budget import (
        ReservedBudget as ReservedBudget,
        reserved_budget as reserved_budget,
    )
    from smqopt.questions.robustness._misspecification import (
        Misspecification as Misspecification,
        SamplingError as SamplingError,
        misspecification as misspecification,
        sampling_error as sampling_error,
    )
    from smqopt.questions.robustness._sensitivity import Sensitivity as Sensitivity, sensitivity as sensitivity
else:
    __getattr__, __dir__, __all__ = open_door(__name__, __file__)
