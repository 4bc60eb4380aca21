"""One of each public record; it needs the package alone, so that the plain wheel is checked with it."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

import smqopt as smq

NO_RECORDS = {"ExPostBudget", "OutcomeRule", "Program", "Ledger", "ParquetMarket"}
"""Public classes that are no data: rules to be extended, a cvxpy problem, a file that is open, a folder."""


def public_records() -> Mapping[str, Any]:
    """Make the records, each under its number and the name of its class."""
    unit = smq.Uniform(0, 1)
    market = smq.Market([0.2, 0.5, 1.0, 1.5], unit, groups={"city": list("abab")})
    solution = smq.solve(market, 0.5, constraints=[smq.Coverage("city", "a", 0.2)])
    plain = smq.solve(market, 0.5)
    certificate = smq.verify(plain)
    outcome = smq.procure(certificate, [0.01] * 4)
    prior = smq.EntryPrior.share(0.5)
    audit = smq.audit(smq.PostedThresholds(plain), belief=unit)
    answer = smq.answer(smq.Count(), [1] * outcome.bought, outcome, rng=np.random.default_rng(1))
    charge = smq.Charge("1", Fraction(1, 2), outcome.epsilon, "0" * 64)
    privacy = answer.privacy
    sampled = smq.Market([0.2, 0.5, 1.0, 1.5], smq.from_samples([1, 2, 3.0, 4]))
    error = smq.MeanSquaredError(range=1)
    least = smq.solve(market, 0.5, objective=error)
    worst = smq.WorstCaseError(range=1, noise_scale=1.0)
    drawn = smq.solve(market, 0.5, objective=worst).random_prices
    bumpy = smq.from_cdf("theta**2*(3 - 2*theta)/2 + theta/2", 0, 1)
    rng = np.random.default_rng(1)
    epsilon, theta = rng.random(60), rng.random(60)
    joint = smq.EmpiricalConditional.fit(epsilon, theta)
    laws = (
        unit, smq.Beta(2, 3), smq.Mixture([unit, smq.Uniform(0, 2)], [1, 1]), smq.from_cdf("theta**2", 0, 1), smq.from_samples([1, 2, 3.0, 4]),
        smq.Discrete([0.5, 1], [1, 2]), smq.PiecewiseUniform([0, 1, 2], [1, 2]), smq.ByOwner([unit, smq.Beta(2, 3)]),
        smq.Truncated(smq.Gamma(2, 1, 0, 9), 1, 2),
        smq.Power([1.0, 2.0]), smq.GaussianCopula(unit, unit, 0.5), smq.GaussianCopula(unit, unit, 0.5).given([0.2, 0.4]), smq.Kumaraswamy(2, 3),
        smq.LogNormal(0, 1, 0, 3), smq.Logistic(0, 1, 0, 1), smq.Normal(0, 1, 0, 1), smq.Pareto(2, 1, 3), smq.PointMass(1.0), smq.Triangular(0, 0.5, 1),
        smq.TruncatedExponential(2, 0, 1), smq.Weibull(2, 1, 0, 1), bumpy, joint,
        smq.Scenarios([unit, smq.Beta(2, 3)]), smq.from_samples([1, 2, 3.0, 4], 0, 5, band=0.5),
    )  # fmt: skip
    constraints = (
        smq.Coverage("city", "a", 1), smq.Parity("city", 0.1), smq.PriceMenu([0.5, 1]), smq.AcceptanceRange(0.1, 0.9), smq.CommonPrice("city"),
        smq.ExpectedOwners(at_most=1), smq.GroupBudget("city", "a", at_most=1), smq.PriceRange(0.1, 0.9), smq.LinearRow(0.5, ((0, 1.0),)),
        smq.PurchasedPrivacy(), smq.DiminishingReturns(1.0), smq.InverseProbabilityVariance(), worst, drawn,
        smq.BoughtOwners(), smq.WorstGroup("city"), smq.LeastSpend(), smq.WeightedObjectives([(1.0, smq.LeastSpend())]),
    )  # fmt: skip
    queries = (
        smq.Count(), smq.Median(0, 3), smq.Sum(0, 1), smq.Histogram([0, 1, 2]), smq.Mean(0, 1), smq.Quantile(0.5, 0, 3), smq.WeightedSum([1.0] * 4, 0, 1),
        smq.LinearPredictor([1.0], 0, 1), smq.JointHistogram((0, 1, 2)), smq.OwnQuery.from_table("spread", [0, 1], [0, 1, 2], [[0, 1, 1], [1, 0, 1]]),
        prior, answer, privacy, charge,
    )  # fmt: skip
    found = (
        *laws, market, solution, plain, certificate, certificate.proof, outcome, *constraints, *queries, smq.frontier(market, [0.1, 0.2]),
        smq.predict(smq.Count(), market, [0.2, 0.5], prior), audit, audit.interim, smq.PostedThresholds(plain),
        smq.PostedThresholds(plain).responses(np.zeros(4), rng), smq.least_budget(market, 0.2),
        smq.sensitivity(plain), smq.reserve(plain, 0.05), smq.reserved_budget(market, 0.5, 0.05), smq.lasting_budget(market, 0.5),
        smq.realised_payments(plain), smq.derive(unit),
        unit.regularity(), smq.Discrete([0.5, 1, 2], [1, 1, 8]).regularity(), unit.monotone_hazard(), smq.Undecided("a test"),
        smq.Status.BINDING, smq.load_model("least-budget"),
        smq.mechanism_bounds(market, 0.5), smq.misspecification(plain, smq.Uniform(0, 2)), smq.sampling_error(smq.solve(sampled, 1.0)),
        smq.necessary_privacy("count", alpha=1, delta=0.9, n=40), smq.independence_test(epsilon, theta, rng=rng),
        certificate.threshold_bounds(), error, smq.expected_error(least), smq.error_frontier(market, [0.5], error),
        smq.least_budget(market, error=3.0, objective=error), smq.LawByColumns("uniform", low=0.0, high="most"),
        smq.LawsByGroup("city", {"a": unit, "b": smq.Power(2)}),
    )  # fmt: skip
    return {f"{number}-{type(one).__name__}": one for number, one in enumerate(found)}


def check_copies(record: Any) -> None:
    """Require that a record goes through a pickle and is copied, and is the same again."""
    for again in (pickle.loads(pickle.dumps(record)), copy.deepcopy(record), copy.copy(record)):  # noqa: S301 -- its own
        assert type(again) is type(record)
        if isinstance(record, smq.Derivation):
            # SymPy multiplies out where it is read again: equal, and not alike
            told, tell = ([(step.title, step.verdict) for step in one.steps] for one in (again, record))
            assert told == tell
        elif type(record).__repr__ is not object.__repr__:
            assert repr(again) == repr(record)
        if isinstance(record, smq.Market):
            assert again.fingerprint == record.fingerprint
            assert again.rows_of_group("city").keys() == record.rows_of_group("city").keys()
            assert not again.epsilon.flags.writeable
        if isinstance(record, smq.Certificate):
            assert again.valid
            assert smq.procure(again, [0.01] * 4).bought == 4
    if dataclasses.is_dataclass(record) and not isinstance(record, type):
        assert dataclasses.asdict(record).keys() == {field.name for field in dataclasses.fields(record)}


def unseen(records: Mapping[str, Any]) -> set[str]:
    """Return the public classes that no record is of."""
    have = {kind.__name__ for one in records.values() for kind in type(one).__mro__}
    classes = {
        name for name in smq.__all__ if isinstance(kind := getattr(smq, name), type) and not issubclass(kind, Exception)
    }
    return classes - have - NO_RECORDS
