"""Before anything is bought: the error that each budget would leave."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from smqopt.errors import InputError, check_kind
from smqopt.market import (
    ConstraintRecord,
    Market,
    Objective,
    Solution,
    Status,
    WorstCaseError,
    numbers,
    require_one_law,
)
from smqopt.mechanism import BY_VALUE, POSTED, WHILE_IT_LASTS, checked_rule, simulate_purchase
from smqopt.numeric import Floats
from smqopt.query._purchase import Purchase
from smqopt.query.error._entry_prior import EntryPrior
from smqopt.query.error._estimate import INVERSE_PROBABILITY, Estimate
from smqopt.query.error._fit import fit, variance_of
from smqopt.query.error._prediction import Prediction
from smqopt.query.error._sampling_error import expected_quantile, sampling_mse
from smqopt.query.exponential._exponential_law import VANISHED, pe_law
from smqopt.query.linear._linear_release import LinearRelease, linear_release
from smqopt.query.queries._linear_predictor import LinearPredictor
from smqopt.query.queries._median import Median
from smqopt.query.queries._quantile import Quantile
from smqopt.query.queries._query import AnyQuery, PopulationQuery
from smqopt.solvers import solve
from smqopt.verification import verify

_OWNERS = 300_000
"""So many owners in all are drawn a budget, in 4 to 100 purchases."""
_FEWEST, _MOST = 4, 100
_FEWEST_RANKED = 200
"""So many at least for quantiles, whose noise depends on how the entries lie about the quantile."""
_SEED = 20_200_803
"""Purchases are simulated with common random numbers, so that a prediction is the same each time it
is made."""


def predict(
    query: PopulationQuery,
    market: Market,
    budgets: ArrayLike,
    assumption: EntryPrior,
    *,
    objective: Objective | None = None,
    constraints: Sequence[ConstraintRecord] = (),
    estimator: str | None = None,
    payments: str = POSTED.name,
    order: str = BY_VALUE,
) -> Prediction:
    """Predict the RMSE of an answer at each budget, before anything is bought.

    The error is split into sampling and noise.

    Uses what is public: requirements, laws of valuations, weights, ranges; and what is assumed of
    the entries. At each budget the thresholds are solved for. Purchases are then simulated, owner i
    sold with chance F_i(θ_i*), with entries drawn as assumed; on each, the exact P-E law yields the
    noise's mean square, or its formula that of the linear release, before it is clamped. The
    sampling error has a closed form but for quantiles, whose samples are drawn (`sampling_mse`).

    Parameters
    ----------
    query
        A count, sum, mean, weighted sum, quantile or histogram.
    market
        The owners.
    budgets
        Shape (m,), in currency.
    assumption
        Of the entries.
    objective
        What the thresholds are chosen for; purchased privacy by default.
    constraints
        Side constraints on the thresholds.
    estimator
        "linear" or "P-E"; by default, budget by budget, that which `answer` would take.
    payments, order
        As for `procure`. By "while-it-lasts" each budget is the money, too, and who is passed over
        is not bought.

    Raises
    ------
    InputError
        If a budget is bad, no thresholds meet the constraints, or the query has no error to speak
        of.

    Examples
    --------
    >>> import smqopt as smq
    >>> market = smq.Market(np.full(400, 0.5), smq.Uniform(0, 1))
    >>> prediction = predict(smq.Count(), market, [40.0, 100.0], EntryPrior.share(0.25))
    >>> prediction.total.round().tolist(), prediction.bought.round().tolist()
    ([16.0, 10.0], [126.0, 200.0])
    """
    where = "predict: argument"
    check_kind(query, PopulationQuery, f"{where} 'query'", "a Query", "give, say, Count()")
    check_kind(market, Market, f"{where} 'market'", "a Market", "make one of requirements and a law")
    check_kind(assumption, EntryPrior, f"{where} 'assumption'", "an EntryPrior", "give, say, EntryPrior.share(0.5)")
    if isinstance(objective, WorstCaseError):
        rule = "has a worst case instead of a prediction"
        raise InputError(f"{where} 'objective'", rule, value=objective.kind, remedy="ask for solution.error")
    lasting = order if checked_rule(payments) == WHILE_IT_LASTS.name else None
    if lasting is not None and getattr(query, "weighting", None) == INVERSE_PROBABILITY:
        rule = "cannot weigh by acceptances: who is passed over sells less often than they say"
        raise InputError(f"query {query.name!r}", rule, remedy="take weighting='scaled'")
    wanted = numbers(budgets, f"{where} 'budgets'")
    if wanted.ndim != 1:
        raise InputError(f"{where} 'budgets'", "must have shape (m,)", value=wanted.shape, remedy="give a list")
    require_one_law(market, f"{where} 'market'")
    solutions = (solve(market, budget, objective=objective, constraints=constraints) for budget in wanted.tolist())
    return predict_from(query, solutions, assumption, estimator, lasting)


def predict_from(
    query: PopulationQuery,
    solutions: Iterable[Solution],
    assumption: EntryPrior,
    estimator: str | None = None,
    lasting: str | None = None,
) -> Prediction:
    """Predict the RMSE of an answer under given thresholds; see `predict`.

    Parameters
    ----------
    query, assumption, estimator
        As for `predict`.
    solutions
        Of one market, one a budget.
    lasting
        The order in which offers are made while the money lasts; None if all are made.

    Raises
    ------
    InputError
        If there are no thresholds, or the query has no error to speak of.
    """
    rows, budgets, owners = [], [], None
    for solution in solutions:
        require_one_law(solution.market, "predict: argument 'market'")
        if solution.status is Status.INFEASIBLE:
            rule = "no thresholds meet the constraints"
            raise InputError("predict", rule, value=solution.budget, remedy="raise the budget")
        owners = owners or solution.market.expand()
        rows.append(_at(query, owners.epsilon, solution, assumption, estimator, lasting))
        budgets.append(solution.budget)
    bought, sampling, noise, error = np.array(rows).reshape(-1, 4).T
    unit = (
        "owners of the population"
        if query.name in ("count", "histogram", "joint-histogram")
        else "units of the entries"
    )
    return Prediction(query.name, str(assumption), unit, np.array(budgets), bought, sampling, noise, error)


def _acceptance(solution: Solution) -> Floats:
    count = solution.market.multiplicity
    return solution.acceptance if count is None else np.repeat(solution.acceptance, count)


def _at(
    query: PopulationQuery,
    epsilon: Floats,
    solution: Solution,
    assumption: EntryPrior,
    estimator: str | None,
    lasting: str | None,
) -> tuple[float, float, float, float]:
    """Return the number bought, both errors, and their relative standard error.

    `lasting` is the order in which offers are made while the money lasts; None if all are made.
    """
    acceptance = _acceptance(solution)
    rng = np.random.default_rng(_SEED)
    query = Quantile(0.5, query.low, query.high) if isinstance(query, Median) else query
    fewest = _FEWEST_RANKED if isinstance(query, Quantile) else _FEWEST
    count = max(min(_OWNERS // epsilon.size, _MOST), fewest)
    if lasting is None:
        chosen = [rng.random(epsilon.size) < acceptance for _ in range(count)]
        expected = float(acceptance.sum())
    else:
        certificate = verify(solution, prove=False)
        chosen = [simulate_purchase(certificate, solution.budget, lasting, rng) for _ in range(count)]
        expected = float(np.mean([np.count_nonzero(one) for one in chosen]))
    some = [purchase for one in chosen if (purchase := Purchase(one, epsilon, acceptance)).bought]
    if not some:
        return expected, math.inf, math.inf, 0.0
    form = query.linear_form(epsilon.size)
    variance = None if form is None else variance_of(form, assumption)
    fitted = fit(query, some[0], estimator, variance)
    if isinstance(fitted, LinearRelease):
        releases = [fitted, *(linear_release(query, one, variance) for one in some[1:])]
        noise = np.array([one.noise_deviation**2 for one in releases])
        pairs = zip(releases, some, strict=True)
        sampling = np.array([_linear_sampling(release, one, assumption) for release, one in pairs])
    else:
        noise = np.array([_noise_mse(query.asked_of(one), one, assumption, rng) for one in some])
        sampling = sampling_mse(query, assumption, some, rng)
    total = float(sampling.mean() + noise.mean())
    spread = sum(float(part.var(ddof=1)) / part.size for part in (sampling, noise) if part.size > 1)
    error = math.sqrt(spread) / (2.0 * total) if total > 0 else 0.0
    return expected, math.sqrt(sampling.mean()), math.sqrt(max(float(noise.mean()), 0.0)), error


def _linear_sampling(release: LinearRelease, purchase: Purchase, assumption: EntryPrior) -> float:
    """Return σ² [Σ_S (W a/A − w)² + Σ_∉S w²]; else the midpoint's."""
    w, total = release.form.weights, release.total
    rest = w[~purchase.selected]
    A = float(release.whole_weights.sum())
    if not A > 0:
        off = 0.0 if release.form.sums else assumption.mean - 0.5 * (release.form.low + release.form.high)
        return release.variance * float(w @ w) + (total * off) ** 2
    parts = total * (release.whole_weights / A) - w[purchase.selected]
    return release.variance * (float(parts @ parts) + float(rest @ rest))


def _noise_mse(query: AnyQuery, purchase: Purchase, assumption: EntryPrior, rng: np.random.Generator) -> float:
    """Return what noise adds to the mean squared error, over the P-E law.

    That is the mean square of the answer minus the answer before noise. The noise of a quantile is
    drawn towards where the entries are, and so towards or away from the population's quantile:
    twice the mean product of both errors is added.
    """
    k, n = purchase.bought, purchase.population
    data = assumption.draw(k, rng)
    entries = query.entries(data, ["assumed"] * k)
    errors = []
    for score in query.scores(entries, np.minimum(query.share * purchase.bought_epsilon, VANISHED), VANISHED):
        possible = score.without_ends(VANISHED)
        values = query.draw_values(possible.results, k, n)
        exact = query.draw_values(possible.start[possible.cost == 0][:1], k, n)[0]
        linear = query.predictor if isinstance(query, Estimate) else query
        if isinstance(linear, LinearPredictor):
            exact = linear.scale * float(linear.weights @ data)
        squares = (values - exact) ** 2
        law = pe_law(possible)
        added = float(law @ (squares.mean(axis=1) if squares.ndim > 1 else squares))
        if isinstance(query, Quantile):
            truth = expected_quantile(query, assumption, data, n - k, rng)
            added += 2.0 * float(law @ values - exact) * (float(exact) - truth)
        errors.append(added)
    return float(np.mean(errors))
