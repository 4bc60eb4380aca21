"""Procurement auctions of private data: stated, derived, solved, certified, and answered privately.

The names below are loaded on first use, so that importing the package stays cheap.
"""

from __future__ import annotations

import importlib
from typing import Any

from smqopt._version import __version__

_DOOR = {
    "Uniform": "smqopt.valuation.uniform",
    "Power": "smqopt.valuation.power",
    "TruncatedExponential": "smqopt.valuation.truncated_exponential",
    "Triangular": "smqopt.valuation.triangular",
    "Beta": "smqopt.valuation.beta",
    "Kumaraswamy": "smqopt.valuation.kumaraswamy",
    "Gamma": "smqopt.valuation.gamma",
    "Weibull": "smqopt.valuation.weibull",
    "LogNormal": "smqopt.valuation.log_normal",
    "Normal": "smqopt.valuation.normal",
    "Logistic": "smqopt.valuation.logistic",
    "Pareto": "smqopt.valuation.pareto",
    "PiecewiseUniform": "smqopt.valuation.piecewise_uniform",
    "Discrete": "smqopt.valuation.discrete",
    "PointMass": "smqopt.valuation.point_mass",
    "GaussianCopula": "smqopt.valuation.gaussian_copula",
    "EmpiricalConditional": "smqopt.valuation.empirical_conditional",
    "independence_test": "smqopt.valuation.independence",
    "IndependenceTest": "smqopt.valuation.independence",
    "ByOwner": "smqopt.valuation.by_owner",
    "Mixture": "smqopt.valuation.mixture",
    "Truncated": "smqopt.valuation.truncated",
    "from_scipy": "smqopt.valuation.from_scipy",
    "from_samples": "smqopt.valuation.from_samples",
    "from_pdf": "smqopt.valuation.from_pdf",
    "from_cdf": "smqopt.valuation.from_cdf",
    "Valuation": "smqopt.valuation.base",
    "Regular": "smqopt.valuation.regularity",
    "Irregular": "smqopt.valuation.regularity",
    "Undecided": "smqopt.valuation.regularity",
    "Hazard": "smqopt.valuation.regularity",
    "derive": "smqopt.derivation.derive",
    "Derivation": "smqopt.derivation.derive",
    "Market": "smqopt.program.market",
    "Program": "smqopt.program.program",
    "PurchasedPrivacy": "smqopt.program.objectives.purchased_privacy",
    "InverseProbabilityVariance": "smqopt.program.objectives.inverse_probability_variance",
    "DiminishingReturns": "smqopt.program.objectives.diminishing_returns",
    "Coverage": "smqopt.program.constraints.coverage",
    "Parity": "smqopt.program.constraints.parity",
    "GroupBudget": "smqopt.program.constraints.group_budget",
    "PriceRange": "smqopt.program.constraints.price_range",
    "AcceptanceRange": "smqopt.program.constraints.acceptance_range",
    "ExpectedOwners": "smqopt.program.constraints.expected_owners",
    "CommonPrice": "smqopt.program.constraints.common_price",
    "PriceMenu": "smqopt.program.constraints.price_menu",
    "LinearRow": "smqopt.program.constraints.linear_row",
    "Solution": "smqopt.program.solution",
    "Status": "smqopt.program.status",
    "solve": "smqopt.solvers.solve",
    "verify": "smqopt.verification.verify",
    "Certificate": "smqopt.verification.certificate",
    "Proof": "smqopt.verification.proof.proof",
    "ThresholdBounds": "smqopt.verification.threshold_bounds",
    "frontier": "smqopt.questions.frontier",
    "Frontier": "smqopt.questions.curve",
    "least_budget": "smqopt.questions.least_budget",
    "LeastBudget": "smqopt.questions.least_budget",
    "necessary_privacy": "smqopt.questions.necessary_privacy",
    "NecessaryPrivacy": "smqopt.questions.necessary_privacy",
    "sensitivity": "smqopt.questions.sensitivity",
    "Sensitivity": "smqopt.questions.sensitivity",
    "misspecification": "smqopt.questions.misspecification",
    "Misspecification": "smqopt.questions.misspecification",
    "sampling_error": "smqopt.questions.misspecification",
    "SamplingError": "smqopt.questions.misspecification",
    "realised_payments": "smqopt.questions.realised_payments",
    "RealisedPayments": "smqopt.questions.realised_payments",
    "reserve": "smqopt.questions.reserve",
    "Reserve": "smqopt.questions.reserve",
    "reserved_budget": "smqopt.questions.reserved_budget",
    "ReservedBudget": "smqopt.questions.reserved_budget",
    "procure": "smqopt.mechanism.procure",
    "Outcome": "smqopt.mechanism.outcome",
    "audit": "smqopt.mechanism.audit",
    "Audit": "smqopt.mechanism.audit",
    "OutcomeRule": "smqopt.mechanism.outcome_rule",
    "Responses": "smqopt.mechanism.responses",
    "PostedThresholds": "smqopt.mechanism.posted_rule",
    "ExPostBudget": "smqopt.mechanism.ex_post_budget_rule",
    "Deviations": "smqopt.mechanism.best_deviation",
    "mechanism_bounds": "smqopt.mechanism.mechanism_bounds",
    "MechanismBounds": "smqopt.mechanism.mechanism_bounds",
    "join_outcomes": "smqopt.mechanism.join",
    "answer": "smqopt.query.answer",
    "Answer": "smqopt.query.private_answer",
    "Ledger": "smqopt.query.ledger.ledger",
    "Charge": "smqopt.query.ledger.ledger",
    "equal_shares": "smqopt.query.ledger.shares",
    "given_shares": "smqopt.query.ledger.shares",
    "Count": "smqopt.query.count",
    "Median": "smqopt.query.median",
    "Quantile": "smqopt.query.quantile",
    "LinearPredictor": "smqopt.query.linear_predictor",
    "WeightedSum": "smqopt.query.weighted_sum",
    "Sum": "smqopt.query.weighted_sum",
    "Mean": "smqopt.query.weighted_sum",
    "Histogram": "smqopt.query.histogram",
    "JointHistogram": "smqopt.query.joint_histogram",
    "OwnQuery": "smqopt.query.own_query",
    "answer_by_group": "smqopt.query.answer",
    "audit_query": "smqopt.query.given",
    "predict": "smqopt.query.predict",
    "Prediction": "smqopt.query.prediction",
    "Assumption": "smqopt.query.assumption",
    "PrivacyGiven": "smqopt.query.given",
    "SmqoptError": "smqopt.errors",
    "InputError": "smqopt.errors",
    "UncertifiedError": "smqopt.errors",
    "LedgerError": "smqopt.errors",
    "IrregularLawError": "smqopt.errors",
    "CertificateError": "smqopt.errors",
    "SolverError": "smqopt.errors",
}

__all__ = ["__version__", *_DOOR]


def __getattr__(name: str) -> Any:
    if name not in _DOOR:
        raise AttributeError(f"module 'smqopt' has no attribute {name!r}")
    value = getattr(importlib.import_module(_DOOR[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
