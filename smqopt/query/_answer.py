"""Answering a query: checked, charged, then drawn by the P-E mechanism."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smqopt.errors import InputError, check_kind
from smqopt.market import MeanSquaredError, require_one_law
from smqopt.mechanism import WHILE_IT_LASTS, Outcome, check_outcome
from smqopt.numeric import align, as_names, plain_array
from smqopt.query._draw import ReadyQuery, prepare
from smqopt.query._possible_values import kept_answer
from smqopt.query._private_answer import Answer
from smqopt.query._purchase import Purchase
from smqopt.query._repeats import warn_of_repeats
from smqopt.query.error._entry_prior import EntryPrior
from smqopt.query.error._estimate import INVERSE_PROBABILITY
from smqopt.query.error._fit import PE, fit, variance_of
from smqopt.query.ledger._charge import Charge
from smqopt.query.ledger._ledger import Ledger
from smqopt.query.ledger._release_record import Release
from smqopt.query.ledger._shares import Share, checked_share
from smqopt.query.linear._linear_release import LINEAR, LinearRelease
from smqopt.query.queries._query import FittedQuery, PopulationQuery

_ROOM = 4096
"""Bytes that an answer's fixed keys may need on disk."""
_ROOM_FOR_A_NUMBER = 64


def answer(
    query: PopulationQuery,
    data: ArrayLike | Mapping[str, float],
    outcome: Outcome,
    rng: np.random.Generator | None = None,
    *,
    ledger: Ledger | None = None,
    share: Share = 1,
    estimator: str | None = None,
    assumption: EntryPrior | None = None,
    deliver: Callable[[Answer], None] | None = None,
) -> Answer:
    """Answer a query on the bought entries, each owner at her own ε_i (`eqn:PDP`).

    By the linear release or by P-E, whichever errs less. The linear release adds up the entries
    with public weights a_i ≤ ε_i and one Laplace draw, all in whole numbers: it is ε_i-PDP exactly
    (`smqopt.query.linear._linear_release`).

    P-E draws r with probability proportional to exp(½ σ_φ(d, r)) (`sec:prelim`). Without
    `rng` the random bits come from the operating system's cryptographic source. The draw itself is
    exact: whole-number weights, whole random numbers. Their law differs from the P-E law by a
    factor of at most exp(±(k+1) (2^−44 + η)) for every result with a score above −256, η the
    query's `rounding_of_cost`, and it errs on the owners' side: it is ε_i-PDP for every ε_i as
    given, rounding included (`smqopt.query.exponential._release`).

    Parameters
    ----------
    query
        `Count()`, `Median(low, high)`, or another of the queries, one's own among them.
    data
        The k = |S_c| bought entries, shape (k,), in the order of the selected owners; or with
        names, as for `procure`, of other owners too. Private.
    outcome
        Who was bought.
    rng
        Makes a simulation, not a private release, by the same draw from a generator that can be run
        again.
    ledger
        Is charged before anything is drawn, and refuses if an owner has less left than the answer
        would spend. The answer is kept beside it before anybody sees it; an answer that was charged
        and never delivered, because a process died or a disk was full, is found and delivered by
        the next call for the same query, purchase and share. Without a ledger, nothing keeps count
        of what several answers from one purchase add up to, but a `PrivacyWarning` within one
        process.
    share
        The share of every requirement that the answer may spend, in (0, 1]: "1/3", say. All by
        default.
    estimator
        "linear" or "P-E"; by default that of the smaller error, as requirements and acceptances
        foretell it (`smqopt.query.error._fit`). Medians, quantiles, one's own queries, histograms
        drawn at once and inverse-probability weights are answered by P-E alone.
    assumption
        What the entries are like, from public knowledge, for the weights of the linear release; by
        default they are taken to vary as much as their range allows, or as the purchase took them
        to.
    deliver
        Called with the answer before its charge is confirmed: it writes a file, say. If it raises,
        the answer stays kept, and the next call delivers the same one.

    Raises
    ------
    UncertifiedError
        If the outcome's certificate is not valid, or the outcome is not one that it allows.
    LedgerError
        If an owner has less than the share left in the ledger, or the ledger is damaged; nothing
        was drawn.
    InputError
        If no entries were bought and the answer is by P-E, the number of entries is not k, or an
        entry is not what the query takes; no error shows an entry. Or if there are both a
        ledger and a generator: a simulation protects nobody and is not charged.

    Examples
    --------
    >>> import numpy as np
    >>> import smqopt as smq
    >>> market = smq.Market([5.0, 5.0, 5.0, 5.0], smq.Uniform(0, 1))
    >>> outcome = smq.procure(smq.verify(smq.solve(market, budget=1.0)), [0.1, 0.2, 0.9, 0.3])
    >>> result = smq.answer(smq.Count(), [1, 1, 0], outcome, rng=np.random.default_rng(0))
    >>> result.n, result.bought, result.noise_unit, result.simulation
    (4, 3, 'owners of the population', True)
    """
    part = checked_share(share)
    purchase = _check(query, outcome, rng, ledger)
    cut = purchase.at(part)
    if purchase.bought == 0 and purchase.inverse is None:
        if estimator == PE or query.linear_form(purchase.population) is None:
            raise InputError("argument 'outcome'", "no entries were bought", remedy="raise the budget")
        estimator = LINEAR  # which has the public midpoint to give
    asked = fit(query, cut, estimator, entry_variance(query, outcome, assumption))
    entries = align(data, outcome.bought_ids, "argument 'data'", known=outcome.owner_ids)
    ready = prepare(query, asked, entries, outcome.bought_ids, cut)
    if ledger is None or not purchase.bought:
        found = _draw_answer(ready, rng, part)
        if rng is None and purchase.bought:
            warn_of_repeats(outcome, part)
        if deliver is not None:
            deliver(found)
        return found
    with _release(ledger, outcome, part, query, ready.asked) as release:
        found = _draw_answer(ready, rng, part, release.charge, release.kept)
        if release.kept is None:
            release.keep(found.to_dict())
        if deliver is not None:
            deliver(found)
    return found


def answer_by_group(
    query: PopulationQuery,
    data: ArrayLike | Mapping[str, float],
    outcome: Outcome,
    labels: Sequence[str] | NDArray[Any] | Mapping[str, str],
    rng: np.random.Generator | None = None,
    *,
    ledger: Ledger | None = None,
    share: Share = 1,
    estimator: str | None = None,
    assumption: EntryPrior | None = None,
) -> Mapping[str, Answer | None]:
    """Answer a query in each group of owners, at ε_i in full.

    An owner is in one group, whatever her entry.

    This is parallel composition, and it is private only because the groups do not depend on the
    entries: labels must be public and fixed beforehand. To count owners by what their entries say,
    ask for a `Histogram`.

    Parameters
    ----------
    query, data, outcome, rng, ledger, share, estimator, assumption
        As for `answer`; the ledger is charged once, as every owner is in one group.
    labels
        The group of each owner of the market, N labels, bought or not.

    Returns
    -------
    mapping
        Label → answer for that group's owners; None where none of them was bought. In the order of
        the labels.

    Raises
    ------
    InputError
        As for `answer`, or if there is not one label an owner.

    Examples
    --------
    >>> import numpy as np
    >>> import smqopt as smq
    >>> market = smq.Market([0.5, 0.5, 1.0, 1.0], smq.Uniform(0, 1))
    >>> outcome = smq.procure(smq.verify(smq.solve(market, 2.0)), [0.1, 0.1, 0.1, 0.1])
    >>> sex, rng = ["f", "m", "f", "m"], np.random.default_rng(1)
    >>> sorted(smq.answer_by_group(smq.Count(), [1, 0, 1, 1], outcome, sex, rng=rng))
    ['f', 'm']
    """
    part = checked_share(share)
    purchase = _check(query, outcome, rng, ledger)
    given_labels = align(labels, outcome.owner_ids, "argument 'labels'")
    names = np.array(as_names(given_labels, "argument 'labels'"), dtype=object)
    if names.size != purchase.population:
        raise InputError(
            "argument 'labels'",
            f"must hold one label for each of the {purchase.population} owners",
            value=int(names.size),
            remedy="give the public group of every owner, bought or not",
        )
    bought = names[outcome.selected]
    given = align(data, outcome.bought_ids, "argument 'data'", known=outcome.owner_ids)
    entries = plain_array(given, "argument 'data'", private=True)
    if entries.shape != bought.shape:
        raise InputError(
            "argument 'data'",
            f"must hold the {bought.size} bought entries, shape ({bought.size},)",
            value=entries.shape,
            remedy="give the entries of the selected owners, in their order",
        )
    ids = np.array(outcome.bought_ids, dtype=object)
    variance = entry_variance(query, outcome, assumption)
    ready: dict[str, ReadyQuery | None] = {}
    for name in dict.fromkeys(names.tolist()):
        here, group = bought == name, purchase.of_owners(names == name).at(part)
        some = bool(np.any(here))
        asked = fit(query, group, estimator, variance) if some else None
        ready[name] = None if asked is None else prepare(query, asked, entries[here], tuple(ids[here]), group)
    if ledger is None or not bought.size:
        if rng is None and bought.size:
            warn_of_repeats(outcome, part)
        return {name: None if one is None else _draw_answer(one, rng, part) for name, one in ready.items()}
    fitted = next(one.asked for one in ready.values() if one is not None)
    with _release(ledger, outcome, part, query, fitted, names.tolist()) as release:
        was = release.kept  # what was drawn is drawn no second time, whatever the file says of a group
        found = {
            name: None
            if one is None
            else _draw_answer(one, rng, part, release.charge, None if was is None else was.get(name) or {})
            for name, one in ready.items()
        }
        if release.kept is None:
            release.keep({name: None if one is None else one.to_dict() for name, one in found.items()})
    return found


def _check(
    query: PopulationQuery, outcome: Outcome, rng: np.random.Generator | None, ledger: Ledger | None
) -> Purchase:
    check_kind(query, PopulationQuery, "argument 'query'", "a Query", "give, say, Count()")
    check_kind(outcome, Outcome, "argument 'outcome'", "an Outcome", "give what `procure` returns")
    if not (rng is None or isinstance(rng, np.random.Generator)):
        raise InputError(
            "argument 'rng'",
            "must be a numpy Generator or None",
            value=type(rng).__name__,
            remedy="give numpy.random.default_rng(seed) for a simulation, or nothing for a private release",
        )
    if not (ledger is None or isinstance(ledger, Ledger)):
        raise InputError(
            "argument 'ledger'", "must be a Ledger", value=type(ledger).__name__, remedy="give Ledger(path)"
        )
    if ledger is not None and rng is not None:
        raise InputError(
            "argument 'ledger'",
            "is for private releases, and with a generator this is a simulation",
            remedy="leave out the generator, or the ledger",
        )
    if outcome.rule == WHILE_IT_LASTS.name and getattr(query, "weighting", None) == INVERSE_PROBABILITY:
        raise InputError(
            f"query {query.name!r}",
            "cannot weigh by acceptances: who was passed over sold less often than they say",
            remedy="take weighting='scaled'",
        )
    if getattr(query, "weighting", None) == INVERSE_PROBABILITY:
        require_one_law(outcome.certificate.solution.market, f"query {query.name!r}: argument 'weighting'")
    check_outcome(outcome)
    return Purchase.of(outcome)


def entry_variance(query: PopulationQuery, outcome: Outcome, assumption: EntryPrior | None) -> float | None:
    """Return σ² of the entries as assumed, or as the purchase was made for, or None."""
    if assumption is not None:
        check_kind(assumption, EntryPrior, "argument 'assumption'", "an EntryPrior", "give, say, EntryPrior.share(0.5)")
    form = query.linear_form(outcome.population)
    if form is None:
        return None
    if assumption is not None:
        return variance_of(form, assumption)
    objective = outcome.certificate.solution.objective
    return objective.sigma2 if isinstance(objective, MeanSquaredError) and objective.range == form.width else None


def _release(
    ledger: Ledger,
    outcome: Outcome,
    share: Fraction,
    query: PopulationQuery,
    fitted: FittedQuery,
    labels: Sequence[str] = (),
) -> AbstractContextManager[Release]:
    """Charge the owners bought, or find an unconfirmed charge of the same purpose."""
    how = [fitted.variance] if isinstance(fitted, LinearRelease) else []
    asked = json.dumps([query.parameters(), list(labels), *how], sort_keys=True)
    note = {
        "query": query.name,
        "certificate": outcome.certificate.fingerprint,
        "asked": hashlib.sha256(asked.encode("utf-8")).hexdigest(),
    }
    groups = len(set(labels)) or 1
    room = groups * (_ROOM + 2 * len(asked) + _ROOM_FOR_A_NUMBER * fitted.figures)
    return ledger.release(outcome.bought_ids, outcome.bought_epsilon, share, note, room=room)


def _draw_answer(
    ready: ReadyQuery,
    rng: np.random.Generator | None,
    share: Fraction,
    charge: Charge | None = None,
    kept: Mapping[str, Any] | None = None,
) -> Answer:
    asked, purchase = ready.asked, ready.purchase
    k, n = purchase.bought, purchase.population
    if kept is None:
        value = asked.value(ready.draw(rng), k, n)
    else:  # it was drawn: draw nothing again
        value, head = kept_answer(kept, asked, k, n)
        charge = None if charge is None else dataclasses.replace(charge, head=head)
    return Answer(
        value=value,
        query=asked.name,
        population=n,
        bought=k,
        simulation=rng is not None,
        noise_unit=asked.noise_unit,
        asked=asked,
        epsilon=purchase.bought_epsilon,
        share=share,
        charge=charge,
        question=ready.question,
        purchase=purchase,
        entries=ready.entries,
    )
