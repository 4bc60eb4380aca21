"""Procurement auctions of private data, from the statement to the answer.

Stated, derived, solved, certified, answered.

The names below are loaded on first use, so that importing the package stays cheap.
"""

from typing import TYPE_CHECKING

from smqopt._door import open_door
from smqopt._version import __version__ as __version__

if TYPE_CHECKING:
    from smqopt.cache import set_cache as set_cache
    from smqopt.derivation import Derivation as Derivation, derive as derive
    from smqopt.errors import (
        CertificateError as CertificateError,
        InputError as InputError,
        IrregularLawError as IrregularLawError,
        LedgerError as LedgerError,
        SmqoptError as SmqoptError,
        SolverError as SolverError,
        UncertifiedError as UncertifiedError,
    )
    from smqopt.market import (
        AcceptanceRange as AcceptanceRange,
        BoughtOwners as BoughtOwners,
        CommonPrice as CommonPrice,
        Coverage as Coverage,
        DiminishingReturns as DiminishingReturns,
        ExpectedOwners as ExpectedOwners,
        GroupBudget as GroupBudget,
        InverseProbabilityVariance as InverseProbabilityVariance,
        LawsByGroup as LawsByGroup,
        LeastSpend as LeastSpend,
        LinearRow as LinearRow,
        Market as Market,
        MeanSquaredError as MeanSquaredError,
        Parity as Parity,
        PriceMenu as PriceMenu,
        PriceRange as PriceRange,
        PurchasedPrivacy as PurchasedPrivacy,
        RandomPrices as RandomPrices,
        Solution as Solution,
        Status as Status,
        WeightedObjectives as WeightedObjectives,
        WorstCaseError as WorstCaseError,
        WorstGroup as WorstGroup,
    )
    from smqopt.mechanism import (
        Audit as Audit,
        Deviations as Deviations,
        ExPostBudget as ExPostBudget,
        MechanismBounds as MechanismBounds,
        Outcome as Outcome,
        OutcomeRule as OutcomeRule,
        PostedThresholds as PostedThresholds,
        Responses as Responses,
        audit as audit,
        join_outcomes as join_outcomes,
        mechanism_bounds as mechanism_bounds,
    )
    from smqopt.model_files import Instance as Instance, load_model as load_model
    from smqopt.program import Program as Program
    from smqopt.query import (
        Answer as Answer,
        Charge as Charge,
        Count as Count,
        EntryPrior as EntryPrior,
        Histogram as Histogram,
        JointHistogram as JointHistogram,
        Ledger as Ledger,
        LinearPredictor as LinearPredictor,
        Mean as Mean,
        Median as Median,
        OwnQuery as OwnQuery,
        Prediction as Prediction,
        PrivacyLoss as PrivacyLoss,
        PrivacyWarning as PrivacyWarning,
        Quantile as Quantile,
        Sum as Sum,
        WeightedSum as WeightedSum,
        answer_by_group as answer_by_group,
        audit_query as audit_query,
        equal_shares as equal_shares,
        given_shares as given_shares,
        predict as predict,
    )
    from smqopt.questions import (
        ErrorBudget as ErrorBudget,
        ErrorFrontier as ErrorFrontier,
        ExpectedError as ExpectedError,
        Frontier as Frontier,
        LastingBudget as LastingBudget,
        LeastBudget as LeastBudget,
        Misspecification as Misspecification,
        NecessaryPrivacy as NecessaryPrivacy,
        RealisedPayments as RealisedPayments,
        Reserve as Reserve,
        ReservedBudget as ReservedBudget,
        SamplingError as SamplingError,
        Sensitivity as Sensitivity,
        error_frontier as error_frontier,
        expected_error as expected_error,
        frontier as frontier,
        guaranteed_privacy as guaranteed_privacy,
        lasting_budget as lasting_budget,
        least_budget as least_budget,
        misspecification as misspecification,
        necessary_privacy as necessary_privacy,
        realised_payments as realised_payments,
        reserve as reserve,
        reserved_budget as reserved_budget,
        sampling_error as sampling_error,
        sensitivity as sensitivity,
    )
    from smqopt.scale import (
        LawByColumns as LawByColumns,
        ParquetMarket as ParquetMarket,
        answer as answer,
        load_certificate as load_certificate,
        load_outcome as load_outcome,
        procure as procure,
        solve as solve,
        verify as verify,
    )
    from smqopt.valuation import (
        Beta as Beta,
        ByOwner as ByOwner,
        Discrete as Discrete,
        EmpiricalConditional as EmpiricalConditional,
        Gamma as Gamma,
        GaussianCopula as GaussianCopula,
        Hazard as Hazard,
        IndependenceTest as IndependenceTest,
        Irregular as Irregular,
        Kumaraswamy as Kumaraswamy,
        Logistic as Logistic,
        LogNormal as LogNormal,
        Mixture as Mixture,
        Normal as Normal,
        Pareto as Pareto,
        PiecewiseUniform as PiecewiseUniform,
        PointMass as PointMass,
        Power as Power,
        Regular as Regular,
        Scenarios as Scenarios,
        Triangular as Triangular,
        Truncated as Truncated,
        TruncatedExponential as TruncatedExponential,
        Undecided as Undecided,
        Uniform as Uniform,
        Valuation as Valuation,
        Weibull as Weibull,
        empirical_law as empirical_law,
        from_cdf as from_cdf,
        from_pdf as from_pdf,
        from_samples as from_samples,
        from_scipy as from_scipy,
        independence_test as independence_test,
    )
    from smqopt.verification import (
        Certificate as Certificate,
        Proof as Proof,
        ThresholdBounds as ThresholdBounds,
    )
else:
    __getattr__, __dir__, __all__ = open_door(__name__, __file__)
    __all__ += ["__version__"]
