import dataclasses
import hashlib
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from strategies import REFERENCE, markets, reference_market, shares

import smqopt as smq
from smqopt.errors import CertificateError, InputError
from smqopt.verification.certificate._provenance import _feed
from smqopt.verification.proof._proof import no_proof


@pytest.fixture
def solution():
    market = smq.Market(
        [0.2, 0.5, 1.0, 0.0],
        smq.ByOwner([smq.Uniform(0, 1), smq.Power(2), smq.TruncatedExponential(2, 0.5, 2), smq.Uniform(1, 2)]),
        owner_ids=["ann", "bo", "cy", "di"],
        groups={"city": ["Oslo", "Rome", "Oslo", "Rome"]},
        multiplicity=[1, 3, 2, 1],
    )
    return smq.solve(market, 1.5)


@pytest.mark.parametrize("instance", REFERENCE, ids=lambda instance: instance["name"])
def test_reference_optimum_lies_between_the_bounds(instance):
    certificate = smq.verify(smq.solve(reference_market(instance), float(instance["budget"])))
    assert certificate.valid, certificate.reasons
    assert certificate.lower_bound <= float(instance["objective"]) * (1 + 1e-15)
    assert certificate.upper_bound >= float(instance["objective"]) * (1 - 1e-15)
    assert certificate.gap <= 1e-13


@settings(max_examples=20)
@given(markets(), shares)
def test_a_saved_certificate_is_judged_anew_and_stays_valid(tmp_path_factory, market, share):
    folder = tmp_path_factory.mktemp("certificate")
    solution = smq.solve(market, share * market.most_that_can_be_spent)
    certificate = smq.verify(solution)
    solution.save(folder)
    certificate.save(folder / "certificate.json")
    again = smq.Certificate.load(folder / "certificate.json", thresholds=folder / "thresholds.csv")
    assert again.valid
    assert again.fingerprint == certificate.fingerprint
    assert np.array_equal(again.solution.thresholds, solution.thresholds)
    loaded = smq.Solution.load(folder)
    assert certificate.covers(loaded)


def test_ids_groups_and_counts_travel(solution, tmp_path):
    solution.save(tmp_path)
    loaded = smq.Solution.load(tmp_path)
    assert loaded.market.owner_ids == ("ann", "bo", "cy", "di")
    assert loaded.market.groups["city"].tolist() == ["Oslo", "Rome", "Oslo", "Rome"]
    assert loaded.market.multiplicity.tolist() == [1, 3, 2, 1]
    assert loaded.market.fingerprint == solution.market.fingerprint


def test_infinite_price_is_written_as_inf(tmp_path):
    solution = smq.solve(smq.Market([1.0], smq.Uniform(1, 2)), 0.0)
    solution.save(tmp_path)
    assert json.loads((tmp_path / "solution.json").read_text())["budget_price"] == "inf"
    assert smq.Solution.load(tmp_path).budget_price == math.inf


EDITS = {
    "valid": lambda c: c.update(valid=False),
    "grade downgraded": lambda c: c.update(grade="numerical"),
    "proof dropped": lambda c: c.update(proof=None),
    "proof of more privacy": lambda c: c["proof"].update(
        purchased_privacy=[2 * x for x in c["proof"]["purchased_privacy"]]
    ),
    "proof of less spend": lambda c: c["proof"].update(spend=[x / 2 for x in c["proof"]["spend"]]),
    "proof of a lower bound": lambda c: c["proof"].update(upper_bound=c["proof"]["upper_bound"] * (1 - 1e-11)),
    "proof with other bits": lambda c: c["proof"].update(bits=53),
    "regularity claimed": lambda c: c["proof"]["regularity"][0].update(rule="because"),
    "lower bound": lambda c: c.update(lower_bound=c["lower_bound"] * (1 + 1e-11)),
    "upper bound": lambda c: c.update(upper_bound=c["upper_bound"] * (1 - 1e-11)),
    "gap": lambda c: c.update(gap=-1e-9),
    "gap tolerance": lambda c: c.update(gap_tolerance=0.5),
    "budget": lambda c: c.update(budget=c["budget"] * 2),
    "fingerprint": lambda c: c.update(fingerprint="0" * 64),
    "a check": lambda c: c["checks"][3].update(passed=False),
    "a check dropped": lambda c: c["checks"].pop(3),
    "a check's value": lambda c: c["checks"][-1].update(value=1e-6),
    "a check's tolerance": lambda c: c["checks"][3].update(tolerance=1.0),
    "a check's norm": lambda c: c["checks"][3].update(norm="nothing"),
    "a check's note": lambda c: c["checks"][3].update(note="looked at by hand"),
    "a check not required": lambda c: c["checks"][3].update(required=False),
    "a check twice": lambda c: c["checks"].append(dict(c["checks"][3], passed=False)),
    "a check made up": lambda c: c["checks"].append(dict(c["checks"][3], name="seen by an auditor")),
    "a check that is none": lambda c: c["checks"].append("budget"),
    "an agreement that decides": lambda c: c["checks"].append(dict(c["checks"][3], name="agreement with none")),
    "a reason": lambda c: c.update(reasons=["budget: too dear"]),
    "no reasons": lambda c: c.update(valid=True, reasons=["none"]),
    "a tolerance": lambda c: c["tolerances"][0].update(value=1.0),
    "a tolerance dropped": lambda c: c["tolerances"].pop(),
    "solution budget": lambda c: c["solution"].update(budget=c["solution"]["budget"] * 2),
    "solution price": lambda c: c["solution"].update(budget_price=c["solution"]["budget_price"] * 2),
    "solution law": lambda c: c["solution"]["valuation"]["parts"][0]["valuation"].update(high=2.0),
    "solution status": lambda c: c["solution"].update(status="SLACK"),
    "solution solver": lambda c: c["solution"].update(solver="conic"),
    "solution market": lambda c: c["solution"].update(market_fingerprint="0" * 64),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_certificate_is_refused(solution, tmp_path, edit):
    solution.save(tmp_path)
    path = tmp_path / "certificate.json"
    smq.verify(solution).save(path)
    content = json.loads(path.read_text())
    EDITS[edit](content)
    path.write_text(json.dumps(content))
    with pytest.raises(CertificateError):
        smq.Certificate.load(path, thresholds=tmp_path / "thresholds.csv")


def test_a_key_that_stands_twice_is_refused(solution, tmp_path):
    """Readers differ in which of two equal keys they hear."""
    solution.save(tmp_path)
    path = tmp_path / "certificate.json"
    smq.verify(solution).save(path)
    path.write_text(path.read_text().replace('"valid": true', '"valid": false, "valid": true'))
    with pytest.raises(InputError, match="'valid' stands twice"):
        smq.Certificate.load(path, thresholds=tmp_path / "thresholds.csv")


def test_a_check_against_another_route_is_left_alone(solution, tmp_path):
    solution.save(tmp_path)
    path = tmp_path / "certificate.json"
    smq.verify(solution, against=dataclasses.replace(solution, solver="conic")).save(path)
    assert smq.Certificate.load(path, thresholds=tmp_path / "thresholds.csv").valid


def test_an_edited_threshold_is_refused(solution, tmp_path):
    solution.save(tmp_path)
    smq.verify(solution).save(tmp_path / "certificate.json")
    table = tmp_path / "thresholds.csv"
    old = repr(float(solution.thresholds[0]))
    table.write_text(table.read_text().replace(old, repr(float(np.nextafter(solution.thresholds[0], 0)))))
    with pytest.raises(CertificateError, match="fingerprint"):
        smq.Certificate.load(tmp_path / "certificate.json", thresholds=table)


@pytest.mark.parametrize("key", ["valid", "gap", "checks", "fingerprint", "solution"])
def test_a_missing_key_is_named(solution, tmp_path, key):
    solution.save(tmp_path)
    path = tmp_path / "certificate.json"
    smq.verify(solution).save(path)
    content = json.loads(path.read_text())
    del content[key]
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match=repr(key)):
        smq.Certificate.load(path, thresholds=tmp_path / "thresholds.csv")


def test_an_invalid_solution_is_reported_not_raised(solution):
    certificate = smq.verify(dataclasses.replace(solution, thresholds=np.array(["a"] * 4)))
    assert not certificate.valid
    assert certificate.gap == math.inf


def test_a_wider_gap_tolerance_is_recorded():
    market = smq.Market([1.0], smq.Uniform(1, 2))
    solution = smq.solve(
        market, 1e-12, solver="dual", lotteries=False
    )  # θ − 1 is some 1e-12: a unit in its last place is worth 2e-4 of it
    strict, wide = smq.verify(solution), smq.verify(solution, gap_tolerance=1e-3)
    assert not strict.valid
    assert "one unit in the last place" in strict.reasons[0]
    assert wide.valid
    assert wide.gap_tolerance == 1e-3
    with pytest.raises(InputError):
        smq.verify(solution, gap_tolerance=math.nan)


def test_agreement_with_another_route_is_reported(solution):
    other = dataclasses.replace(solution, solver="conic", thresholds=solution.thresholds * (1 + 1e-6))
    check = smq.verify(solution, against=other).checks[-1]
    assert check.name == "agreement with conic"
    assert 1e-7 < check.value < 1e-5
    stale = dataclasses.replace(other, budget=1.0)
    assert smq.verify(solution, against=stale).checks[-1].passed is False


def test_the_judge_asks_what_a_solution_claims_and_not_who_solved(solution, tmp_path):
    def required(one):
        certificate = smq.verify(one)
        assert certificate.valid
        return {check.name for check in certificate.checks if check.required}

    response = {"threshold", "price", "budget spent"}
    assert solution.claims_response
    assert response <= required(dataclasses.replace(solution, solver="another"))
    silent = dataclasses.replace(solution, claims_response=False)
    assert not response & required(silent)
    assert not smq.verify(solution).covers(silent)
    conic = smq.solve(solution.market, solution.budget, solver="conic")
    assert conic.claims_response
    assert not conic.raw.claims_response
    assert smq.verify(conic).threshold_bounds().method == "price"
    for one in (solution, silent):
        one.save(tmp_path)
        assert smq.Solution.load(tmp_path).claims_response is one.claims_response


def test_claims_are_told_apart_by_every_entry_of_an_array():
    def digest(value):
        found = hashlib.sha256()
        _feed(found, value)
        return found.digest()

    many = np.arange(2000.0)
    other = many.copy()
    other[1000] = np.nextafter(other[1000], 0)  # in the middle, which repr leaves out
    assert digest((many,)) == digest((many.copy(),))
    assert len({digest(one) for one in (many, other, many.reshape(2, 1000), many.astype(np.float32))}) == 4


def test_stationarity_asks_of_capped_owners_for_a_sign_alone():
    """ε = 10 is bought for sure, and would be at a higher price too; the scale of ε does not matter."""
    for unit in (1e-6, 1.0, 1e6):
        solution = smq.solve(smq.Market(unit * np.array([0.2, 0.5, 10.0]), smq.Uniform(0, 1)), 1.2)
        assert solution.acceptance[2] == 1
        (check,) = (check for check in smq.verify(solution).checks if check.name == "stationarity")
        assert check.passed, check


def test_what_is_not_enclosed_proves_nothing():
    solution = smq.solve(smq.Market([0.2, 0.5], smq.Uniform(0, 1)), 0.3)
    nothing = no_proof(solution, "for this test")
    assert (nothing.lower_bound, nothing.upper_bound) == (-math.inf, math.inf)
    assert not nothing.holds
