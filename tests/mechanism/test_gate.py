"""Attacks on the gate: every certificate or outcome that was made, copied or edited by hand is found out, and honest copies are not refused."""

from __future__ import annotations

import copy
import dataclasses
import math
import pickle

import numpy as np
import pytest

import smqopt as smq
from smqopt.verification import Check, content_hash, is_unchanged

EPSILON = [1.0, 0.5, 0.0, 2.0]


def fresh(ids=("ann", "bo", "cy", "di"), budget=0.5, law=None):
    market = smq.Market(EPSILON, smq.Uniform(0, 1) if law is None else law, owner_ids=ids)
    certificate = smq.verify(smq.solve(market, budget))
    assert certificate.valid, certificate.reasons
    return certificate


def dearer(certificate):
    """A solution that overspends tenfold, and its honest certificate, which is not valid."""
    solution = certificate.solution
    thresholds = np.ones(4)
    wrong = dataclasses.replace(solution, thresholds=thresholds, acceptance=np.ones(4))
    return smq.verify(wrong)


def passing(certificate):
    return tuple(dataclasses.replace(check, passed=True, required=False) for check in certificate.checks)


def with_check(certificate, **changes):
    return dataclasses.replace(
        certificate,
        checks=tuple(dataclasses.replace(c, **changes) if c.name == "gap" else c for c in certificate.checks),
    )


class Flattering(smq.Certificate):
    """A certificate by inheritance, valid whatever it holds."""

    @property
    def valid(self):
        return True

    def covers(self, _):
        return True


class LooksPassed:
    """What is no check but answers like one."""

    fails = False
    name = "gap"

    def to_dict(self):
        return {"name": "gap"}


def subclass(certificate):
    wrong = dearer(certificate)
    return Flattering(**{f.name: getattr(wrong, f.name) for f in dataclasses.fields(wrong)})


def set_field(certificate, name, value):
    object.__setattr__(certificate, name, value)
    return certificate


def mutated(certificate, array):
    values = getattr(certificate.solution, array)
    values.flags.writeable = True
    values[0] *= 1.01
    return certificate


def mutated_market(certificate):
    epsilon = certificate.solution.market.epsilon
    epsilon.flags.writeable = True
    epsilon[0] = 3.0
    return certificate


def shadowed(certificate):
    wrong = dearer(certificate)
    object.__setattr__(wrong, "checks", passing(wrong))
    object.__setattr__(wrong, "covers", lambda _: True)
    return wrong


def renamed_market(certificate):
    """Equal arrays, other owners: the same thresholds handed to somebody else."""
    solution = certificate.solution
    market = smq.Market(EPSILON, solution.market.valuation, owner_ids=["di", "cy", "bo", "ann"])
    return dataclasses.replace(certificate, solution=dataclasses.replace(solution, market=market))


def rehashed(certificate):
    """As above, with the fingerprints made to fit."""
    forged = renamed_market(certificate)
    solution = dataclasses.replace(forged.solution, market_fingerprint=forged.solution.market.fingerprint)
    return dataclasses.replace(certificate, solution=solution, fingerprint="0" * 64)


FORGERIES = {
    "checks of another certificate": lambda c: dataclasses.replace(dearer(c), checks=c.checks),
    "checks made to pass": lambda c: dataclasses.replace(dearer(c), checks=passing(dearer(c))),
    "one made-up check": lambda c: dataclasses.replace(dearer(c), checks=(Check("gap", True, 0.0, 1.0, "made up"),)),
    "no checks": lambda c: dataclasses.replace(c, checks=()),
    "a check dropped": lambda c: dataclasses.replace(c, checks=c.checks[:-1]),
    "what is no check": lambda c: dataclasses.replace(dearer(c), checks=(LooksPassed(),)),
    "a check's value": lambda c: with_check(c, value=1e-6),
    "a check's tolerance": lambda c: with_check(c, tolerance=1.0),
    "a check no longer required": lambda c: with_check(c, required=False),
    "a check's norm": lambda c: with_check(c, norm="nothing"),
    "a check's note": lambda c: with_check(c, note="looked at by hand"),
    "a subclass": subclass,
    "covers shadowed": shadowed,
    "proof dropped": lambda c: dataclasses.replace(c, proof=None),
    "proof of something else": lambda c: dataclasses.replace(c, proof=dataclasses.replace(c.proof, upper_bound=9.0)),
    "proof that is none": lambda c: dataclasses.replace(c, proof="of course"),
    "asked for otherwise": lambda c: dataclasses.replace(c, prove=False),
    "lower bound raised": lambda c: dataclasses.replace(c, lower_bound=c.upper_bound * 1.1),
    "upper bound lowered": lambda c: dataclasses.replace(c, upper_bound=c.upper_bound * 0.9),
    "upper bound no number": lambda c: dataclasses.replace(c, upper_bound=str(c.upper_bound)),
    "gap zero": lambda c: dataclasses.replace(c, gap=-1.0),
    "gap tolerance widened": lambda c: dataclasses.replace(c, gap_tolerance=0.5),
    "gap tolerance NaN": lambda c: dataclasses.replace(c, gap_tolerance=math.nan),
    "fingerprint": lambda c: dataclasses.replace(c, fingerprint="0" * 64),
    "budget exchanged": lambda c: dataclasses.replace(c, solution=dataclasses.replace(c.solution, budget=5.0)),
    "solution exchanged": lambda c: dataclasses.replace(c, solution=fresh(budget=2.0).solution),
    "solution exchanged, hash fitted": lambda c: dataclasses.replace(
        c, solution=dearer(c).solution, fingerprint=content_hash(dearer(c).solution)
    ),
    "no solution": lambda c: dataclasses.replace(c, solution=None),
    "owners renamed": renamed_market,
    "owners renamed, hash exchanged": rehashed,
    "field set in place": lambda c: set_field(c, "lower_bound", 9.0),
    "checks set in place": lambda c: set_field(dearer(c), "checks", passing(dearer(c))),
    "thresholds mutated": lambda c: mutated(c, "thresholds"),
    "acceptance mutated": lambda c: mutated(c, "acceptance"),
    "requirements mutated": mutated_market,
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_no_forged_certificate_opens_the_mechanism(forgery):
    forged = FORGERIES[forgery](fresh())
    with pytest.raises(smq.UncertifiedError) as refused:
        smq.procure(forged, np.zeros(4))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("forgery", FORGERIES)
def test_no_forged_certificate_opens_a_query(forgery):
    """The outcome was bought honestly; its certificate is exchanged afterwards."""
    certificate = fresh()
    outcome = smq.procure(certificate, np.zeros(4))
    forged = dataclasses.replace(outcome, certificate=FORGERIES[forgery](fresh()))
    with pytest.raises(smq.UncertifiedError):
        smq.answer(smq.Count(), np.ones(outcome.bought), forged)


@pytest.mark.parametrize("law", [None, smq.PiecewiseUniform([0, 1, 2], [1, 4])], ids=["regular", "irregular"])
def test_an_honest_copy_is_judged_again_and_let_in(law):
    certificate = fresh(law=law)
    for again in (copy.copy(certificate), dataclasses.replace(certificate)):
        assert again is not certificate
        smq.procure(again, np.zeros(4))
    agreed = smq.verify(certificate.solution, against=fresh(law=law).solution)
    smq.procure(dataclasses.replace(agreed), np.zeros(4))


def through_a_pickle(one):
    return pickle.loads(pickle.dumps(one))  # noqa: S301 -- what the test is about


@pytest.mark.parametrize("copied", [through_a_pickle, copy.deepcopy])
def test_a_certificate_from_elsewhere_is_a_claim_and_verified_anew(copied):
    """A pickle from another process opens nothing by itself: an honest one comes through, a bent one does not."""
    certificate = fresh()
    other = copied(certificate)
    assert is_unchanged(certificate)
    assert not is_unchanged(other)
    assert smq.procure(other, np.zeros(4)).bought == smq.procure(certificate, np.zeros(4)).bought
    bent = dataclasses.replace(certificate, upper_bound=certificate.upper_bound * 1.5)
    with pytest.raises(smq.UncertifiedError):
        smq.procure(copied(bent), np.zeros(4))


def test_the_market_and_the_budget_in_hand_must_be_the_certified_ones():
    certificate = fresh()
    market = certificate.solution.market
    same = smq.Market(EPSILON, smq.Uniform(0, 1), owner_ids=["ann", "bo", "cy", "di"])
    assert smq.procure(certificate, np.zeros(4), market=same, budget=0.5).bought == 3
    others = {
        "row 1 is 'ann', that in hand 'di'": smq.Market(
            EPSILON, smq.Uniform(0, 1), owner_ids=["di", "cy", "bo", "ann"]
        ),
        "requirements differ": smq.Market([1.0, 0.5, 0.1, 2.0], smq.Uniform(0, 1), owner_ids=market.owner_ids),
        "law": smq.Market(EPSILON, smq.Uniform(0, 1.5), owner_ids=market.owner_ids),
        "4 rows": smq.Market([1.0], smq.Uniform(0, 1)),
    }
    for words, other in others.items():
        with pytest.raises(smq.UncertifiedError, match=f"market in hand.*{words}"):
            smq.procure(certificate, np.zeros(4), market=other)
    for budget in (0.4, math.nextafter(0.5, 1.0), math.nan, math.inf):
        with pytest.raises(smq.UncertifiedError, match="budget in hand"):
            smq.procure(certificate, np.zeros(4), budget=budget)


def test_a_market_changed_behind_its_back_is_not_the_one_in_hand():
    certificate = fresh()
    market = smq.Market(EPSILON, smq.Uniform(0, 1), owner_ids=["ann", "bo", "cy", "di"])
    market.epsilon.flags.writeable = True
    market.epsilon[0] = 7.0
    assert market.fingerprint == certificate.solution.market.fingerprint
    with pytest.raises(smq.UncertifiedError, match="requirements differ"):
        smq.procure(certificate, np.zeros(4), market=market)


OUTCOMES = {
    "a requirement raised": lambda o: dataclasses.replace(o, epsilon=o.epsilon * [10.0, 1.0, 1.0, 1.0]),
    "a sale without an offer": lambda o: dataclasses.replace(o, selected=np.ones(4, dtype=bool)),
    "owners exchanged": lambda o: dataclasses.replace(o, owner_ids=o.owner_ids[::-1]),
    "a threshold moved": lambda o: dataclasses.replace(o, thresholds=o.thresholds * 0.5),
    "selection as numbers": lambda o: dataclasses.replace(o, selected=o.selected.astype(float)),
    "too short": lambda o: dataclasses.replace(o, epsilon=o.epsilon[:3]),
}


@pytest.mark.parametrize("edit", OUTCOMES)
def test_no_edited_outcome_opens_a_query(edit):
    outcome = smq.procure(fresh(), np.zeros(4))
    assert smq.answer(smq.Count(), np.ones(3), outcome, rng=np.random.default_rng(1)).bought == 3
    with pytest.raises(smq.UncertifiedError, match="argument 'outcome'"):
        smq.answer(smq.Count(), np.ones(3), OUTCOMES[edit](outcome), rng=np.random.default_rng(1))


def test_an_outcome_of_drawn_thresholds_passes():
    market = smq.Market([1.0, 1.0, 1.0], smq.PiecewiseUniform([0, 1, 2], [1, 4]), multiplicity=[2, 1, 1])
    certificate = smq.verify(smq.solve(market, 1.0))
    assert certificate.solution.lottery is not None
    for seed in range(8):
        outcome = smq.procure(certificate, np.zeros(4), rng=np.random.default_rng(seed))
        if outcome.bought:
            smq.answer(smq.Count(), np.ones(outcome.bought), outcome, rng=np.random.default_rng(1))


def test_an_owner_beyond_the_market_is_no_owner():
    certificate = fresh()
    outcome = smq.procure(certificate, [0.01, 0.01, 0.01, 0.01])
    forged = dataclasses.replace(outcome)
    for owners in ([0, 1, 2, 4], [-1, 0, 1, 2], [0, 1, 1, 3]):
        object.__setattr__(forged, "owners", np.array(owners, dtype=np.intp))
        with pytest.raises(smq.UncertifiedError, match="owners"):
            smq.answer(smq.Count(), [1] * outcome.bought, forged, rng=np.random.default_rng(1))
