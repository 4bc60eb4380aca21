"""Certificates in files before two judges that share nothing: what is honest passes both, and no fault passes either.

A fault is at least ten tolerances large. Some are plain edits of a file; others are a forger's, who mends every hash, so that the claims themselves must
give him away.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import importlib
import json
import math
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
from flint import arb, arb_series, ctx

import smqopt as smq
from smqopt import second_checker
from smqopt.errors import CertificateError, InputError
from smqopt.numeric import ACCEPTANCE, GAP, PRICE, RECHECK, THRESHOLD
from smqopt.valuation import LAWS
from smqopt.valuation.law._base import Rescaled
from smqopt.verification import content_hash
from smqopt.verification.certificate._file_integrity import digest
from smqopt.verification.proof._owner_groups import Regularity

TEN = 10.0


# --- random markets -----------------------------------------------------------------------------------------------


def spelt(text, low, high, **parameters):
    """A formula in x, which runs from 0 to 1 over the support."""
    return smq.from_cdf(text.replace("x", "((theta - low)/(high - low))"), low=low, high=high, **parameters)


def one_law(rng, low, high, quick):
    """A regular law that both checkers can judge, with random parameters; a quick one is evaluated in a moment."""
    u = rng.uniform(0.5, 3.0, 2)
    w = rng.uniform(0.05, 0.95)
    middle = low + rng.random() * (high - low)
    cut = sorted(low + rng.uniform(0.05, 0.95, 2) * (high - low))
    wider = high + u[1]
    laws = [
        lambda: smq.Uniform(low, high),
        lambda: smq.Power(u[0], low, high),
        lambda: smq.TruncatedExponential(u[0], low, high),
        lambda: smq.Triangular(low, middle, high),
        lambda: smq.PiecewiseUniform([low, *cut, high], np.diff([low, *cut, high]) * np.sort(rng.random(3))[::-1]),
        lambda: spelt("(r**x - 1)/(r - 1)", low, high, r=1 + u[0]),
        lambda: smq.Kumaraswamy(u[0], 1 + u[1], low, high),
        lambda: smq.Beta(u[0], 1 + u[1], low, high),
        lambda: smq.Gamma(u[0], u[1], low, high),
        lambda: smq.Weibull(u[0], u[1], low, high),
        lambda: smq.Normal(middle, u[0], low, high),
        lambda: smq.LogNormal(u[0] - 1, u[1], low, high),
        lambda: smq.Logistic(middle, u[0], low, high),
        lambda: smq.Pareto(u[0], low + 0.5, high + 0.5),
        lambda: smq.from_cdf("6*theta**2 - 8*theta**3 + 3*theta**4", low=0, high=1),
        lambda: spelt("x**a", low, high, a=u[0]),
        lambda: spelt("sqrt(x)*(1 + c*x)/(1 + c)", low, high, c=w),
        lambda: spelt("log(1 + c*x)/log(1 + c)", low, high, c=u[0]),
        lambda: spelt("sin(pi*x/2)**2", low, high),
        lambda: spelt("4*atan(x)/pi", low, high),
        lambda: spelt("(cosh(x) - 1)/(cosh(1) - 1)", low, high),
        lambda: spelt("1 - (1 - x)**b", low, high, b=1 + u[0]),
        lambda: smq.from_cdf("theta**2*(3 - 2*theta)", low=0, high=1, unit=high),
        lambda: smq.Truncated(smq.Kumaraswamy(u[0], 1 + u[1], low, high), *cut),
        lambda: smq.Truncated(smq.Triangular(low, middle, high), *cut),
        lambda: smq.Truncated(spelt("1 - (1 - x)**b", low, high, b=1 + u[0]), *cut),
        lambda: smq.Mixture([smq.Uniform(low, high), smq.Power(1 + u[0], low, high)], weights=[w, 1 - w]),
        lambda: smq.Mixture([smq.Uniform(low, high), smq.TruncatedExponential(u[0], low, wider)], weights=[w, 1 - w]),
        lambda: smq.Mixture([smq.Power(1 / (1 + u[0]), low, wider), smq.Uniform(low, high)], weights=[w, 1 - w]),
        lambda: Rescaled(smq.Kumaraswamy(u[0], 1 + u[1], low, high), u[1]),
        lambda: Rescaled(smq.Mixture([smq.Uniform(low, high), smq.Uniform(low, wider)], weights=[w, 1 - w]), 1 / u[1]),
    ]
    return laws[rng.integers(5 if quick else len(laws))]()


def random_law(rng, n, quick):
    low = float(rng.integers(0, 2) * rng.random())
    if rng.random() < 0.3:
        return smq.ByOwner(
            [one_law(rng, low, low + rng.uniform(0.5, 3.0), quick or rng.random() < 0.8) for _ in range(n)]
        )
    if rng.random() < 0.3:
        lows = low * rng.random(n)
        return [smq.Uniform, lambda a, b: smq.Power(rng.uniform(0.5, 4, n), a, b)][rng.integers(2)](
            lows, lows + rng.uniform(0.5, 2, n)
        )
    return one_law(rng, low, low + rng.uniform(0.5, 3.0), quick or rng.random() < 0.3)


def random_market(rng, *, quick=False):
    n = int(rng.integers(2, 9))
    epsilon = rng.uniform(0.05, 2.0, n) * rng.choice([0.0, 1.0, 1.0, 1.0, 1.0, 1.0], n)
    epsilon[rng.integers(n)] = rng.uniform(0.5, 1.0)
    more = {}
    if rng.random() < 0.3:
        more["multiplicity"] = rng.integers(1, 5, n)
    if rng.random() < 0.3:
        more["owner_ids"] = [f"owner é{i}" for i in range(n)]
        more["groups"] = {"city": rng.choice(["Oslo", "Århus"], n)}
    return smq.Market(epsilon, random_law(rng, n, quick), **more)


def written(certificate, folder):
    certificate.solution.save(folder)
    certificate.save(folder / "certificate.json")


def first(folder):
    """Whether the package itself accepts the files as proved."""
    try:
        certificate = smq.Certificate.load(folder / "certificate.json", thresholds=folder / "thresholds.csv")
    except (CertificateError, InputError):
        return False
    return certificate.valid and certificate.grade == "proved"


def second(folder):
    return second_checker.check(folder)[0] == "proved"


# --- honest certificates ------------------------------------------------------------------------------------------


def ends_are_exact(law):
    """Whether the package knows F(high) = 1 to the last digit, so that all it could buy costs exactly what it could spend."""
    return all(part.ends_are_symbols for part, _ in law.parts())


def honest(seed, folder):
    rng = np.random.default_rng([seed, 1])
    market = random_market(rng)
    some = rng.uniform(0.001, 0.9)
    share = rng.choice([0.0, some, some, some, 1.0 if ends_are_exact(market.valuation) else 1.0 + 2.0**-40])
    certificate = smq.verify(smq.solve(market, share * market.most_that_can_be_spent))
    assert certificate.grade == "proved", (seed, certificate.reasons, certificate.unproved)
    assert certificate.gap <= 1e-12
    written(certificate, folder)
    assert first(folder), seed
    assert second_checker.check(folder)[0] == "proved", (seed, second_checker.check(folder))


def test_no_honest_certificate_is_refused(tmp_path):
    for seed in range(6):
        honest(seed, tmp_path)


@pytest.mark.exhaustive
@pytest.mark.parametrize("block", range(10))
def test_no_honest_certificate_is_refused_at_length(block, tmp_path):
    for seed in range(1000 + 100 * block, 1100 + 100 * block):
        honest(seed, tmp_path)


# --- a forger: claims are kept, and every hash is mended ----------------------------------------------------------


def forged(certificate, **changes):
    solution = dataclasses.replace(certificate.solution, **changes)
    solution = dataclasses.replace(solution, market_fingerprint=solution.market.fingerprint)
    return dataclasses.replace(certificate, solution=solution, fingerprint=content_hash(solution))


def with_thresholds(certificate, thresholds):
    law = certificate.solution.market.valuation
    return forged(certificate, thresholds=thresholds, acceptance=law.cdf(thresholds))


def inner(certificate):
    """An owner whose threshold can move both ways."""
    q = certificate.solution.acceptance
    return int(np.argmax(q * (1 - q) * (certificate.solution.market.epsilon > 0)))


def moved(certificate, step):
    solution, i = certificate.solution, inner(certificate)
    thresholds = solution.thresholds.copy()
    thresholds[i] += step * (solution.market.high - solution.market.low)[i]
    return with_thresholds(certificate, thresholds)


def outside(certificate):
    thresholds, market = certificate.solution.thresholds.copy(), certificate.solution.market
    i = inner(certificate)
    thresholds[i] = market.high[i] * (1 + TEN * THRESHOLD.value)
    return with_thresholds(certificate, thresholds)


def with_market(certificate, **changes):
    old = certificate.solution.market
    given = {
        "epsilon": old.epsilon, "valuation": old.valuation, "groups": old.groups, "multiplicity": old.multiplicity,
        "owner_ids": old.owner_ids,
    }  # fmt: skip
    return forged(certificate, market=smq.Market(**(given | changes)))


def other_epsilon(certificate):
    epsilon = certificate.solution.market.epsilon.copy()
    epsilon[inner(certificate)] *= 1 + TEN * GAP.value
    return with_market(certificate, epsilon=epsilon)


def other_counts(certificate):
    market = certificate.solution.market
    counts = np.ones(market.n, dtype=int) if market.multiplicity is None else market.multiplicity.copy()
    counts[inner(certificate)] += 1
    return with_market(certificate, multiplicity=counts)


def claimed_acceptance(certificate):
    acceptance = certificate.solution.acceptance.copy()
    acceptance[inner(certificate)] -= TEN * ACCEPTANCE.value
    return forged(certificate, acceptance=acceptance)


def hidden_offer(certificate):
    acceptance = certificate.solution.acceptance.copy()
    acceptance[inner(certificate)] = 0.0
    return forged(certificate, acceptance=acceptance)


def with_proof(certificate, **changes):
    return dataclasses.replace(certificate, proof=dataclasses.replace(certificate.proof, **changes))


def overspent(certificate):
    """The budget lies a hair below the spend, and every claim of the spend is mended to lie within it."""
    spend = certificate.proof.spend[0]
    budget = spend * (1 - 1e-13)
    return with_proof(forged(certificate, budget=budget), spend=(budget * (1 - 2**-52), budget))


def with_check(certificate, name, **changes):
    checks = tuple(dataclasses.replace(one, **changes) if one.name == name else one for one in certificate.checks)
    return dataclasses.replace(certificate, checks=checks)


def scaled(certificate, key, factor):
    return dataclasses.replace(certificate, **{key: getattr(certificate, key) * factor})


FORGERIES = {
    "threshold up": lambda c: moved(c, TEN * THRESHOLD.value),
    "threshold down": lambda c: moved(c, -TEN * THRESHOLD.value),
    "threshold outside": outside,
    "all sold": lambda c: with_thresholds(c, c.solution.market.high.copy()),
    "nothing bought": lambda c: with_thresholds(c, c.solution.market.low.copy()),
    "acceptance": claimed_acceptance,
    "hidden offer": hidden_offer,
    "price up": lambda c: forged(c, budget_price=c.solution.budget_price * (1 + TEN * PRICE.value)),
    "price down": lambda c: forged(c, budget_price=c.solution.budget_price * (1 - TEN * PRICE.value)),
    "price zero": lambda c: forged(c, budget_price=0.0),
    "price negative": lambda c: forged(c, budget_price=-c.solution.budget_price),
    "price infinite": lambda c: forged(c, budget_price=np.inf),
    "budget up": lambda c: forged(c, budget=c.solution.budget * (1 + TEN * PRICE.value)),
    "budget down": lambda c: forged(c, budget=c.solution.budget * (1 - TEN * 1e-12)),
    "spend over, claims mended": overspent,
    "budget zero": lambda c: forged(c, budget=0.0),
    "law": lambda c: with_market(c, valuation=c.solution.market.valuation.rescale(1 + TEN * THRESHOLD.value)),
    "epsilon": other_epsilon,
    "multiplicity": other_counts,
    "status slack": lambda c: forged(c, status=smq.Status.SLACK),
    "status zero": lambda c: forged(c, status=smq.Status.ZERO_BUDGET),
    "a constraint": lambda c: forged(c, constraints=("acceptance[0] >= 0.5",)),
    "lower bound": lambda c: scaled(c, "lower_bound", 1 + TEN * RECHECK.value),
    "upper bound": lambda c: scaled(c, "upper_bound", 1 - TEN * RECHECK.value),
    "gap": lambda c: dataclasses.replace(c, gap=-TEN * RECHECK.value),
    "gap tolerance": lambda c: dataclasses.replace(c, gap_tolerance=TEN * GAP.value),
    "proved privacy": lambda c: with_proof(c, purchased_privacy=tuple((1 + TEN * RECHECK.value) * x for x in c.proof.purchased_privacy)),
    "proved spend": lambda c: with_proof(c, spend=tuple((1 - TEN * RECHECK.value) * x for x in c.proof.spend)),
    "proved bound": lambda c: with_proof(c, upper_bound=(1 - TEN * RECHECK.value) * c.proof.upper_bound),
    "check failed": lambda c: with_check(c, "budget", passed=False),
    "check undecided": lambda c: with_check(c, "support", passed=None),
    "check optional": lambda c: with_check(c, "gap", required=False),
    "check widened": lambda c: with_check(c, "threshold", tolerance=TEN * THRESHOLD.value),
    "check exceeded": lambda c: with_check(c, "acceptance", value=TEN * ACCEPTANCE.value),
    "check dropped": lambda c: dataclasses.replace(c, checks=tuple(one for one in c.checks if one.name != "budget")),
    "no checks": lambda c: dataclasses.replace(c, checks=()),
}  # fmt: skip


@functools.lru_cache(maxsize=16)
def binding(seed, *, quick=True):
    """A certificate with an owner whose threshold lies inside her support."""
    rng = np.random.default_rng([seed, 2])
    while True:
        market = random_market(rng, quick=quick)
        certificate = smq.verify(smq.solve(market, rng.uniform(0.05, 0.7) * market.most_that_can_be_spent))
        q = certificate.solution.acceptance[inner(certificate)]
        if 1e-3 < q < 1 - 1e-3:
            assert certificate.grade == "proved"
            return certificate


def assert_refused(folder, what):
    assert not first(folder), ("the package accepts", what)
    assert not second(folder), ("the second checker accepts", what)


def forge(name, seed, folder, *, quick=True):
    certificate = binding(seed if quick else sum(name.encode()) + 1000 * seed, quick=quick)
    written(FORGERIES[name](certificate), folder)
    assert_refused(folder, (name, seed))


@pytest.mark.parametrize("name", FORGERIES)
def test_no_forgery_is_accepted(name, tmp_path):
    forge(name, len(name) % 5, tmp_path)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", FORGERIES)
def test_no_forgery_is_accepted_at_length(name, tmp_path):
    for seed in range(20):
        forge(name, seed, tmp_path, quick=False)


# --- plain edits of the files -------------------------------------------------------------------------------------


def leaves(content, path=()):
    if isinstance(content, dict):
        for key, value in content.items():
            yield from leaves(value, (*path, key))
    elif isinstance(content, list) and content:
        for k, value in enumerate(content):
            yield from leaves(value, (*path, k))
    else:
        yield path


def edited(value, rng):
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, (int, float)):
        return value + 1 if value == 0 or rng.random() < 0.5 else value * (1 + 1e-6)
    return str(value) + " x" if isinstance(value, str) else ["x"]


def edit_json(folder, rng):
    path = folder / "certificate.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    every = list(leaves(content))
    *above, last = every[rng.integers(len(every))]
    inside = content
    for key in above:
        inside = inside[key]
    if rng.random() < 0.2:
        del inside[last]
    else:
        inside[last] = edited(inside[last], rng)
    path.write_text(json.dumps(content), encoding="utf-8")
    return [*above, last]


def edit_table(folder, rng):
    path = folder / "thresholds.csv"
    header, *rows = [line.split(",") for line in path.read_text(encoding="utf-8").splitlines()]
    k, column = int(rng.integers(len(rows))), int(rng.integers(len(header)))
    old = rows[k][column]
    if header[column] in ("owner", "offer") or header[column].startswith("group:"):
        rows[k][column] = "no" if old == "yes" else old + " x"
    elif header[column] == "multiplicity":
        rows[k][column] = str(int(old) + 1)
    else:
        rows[k][column] = repr(float(old) * (1 + 1e-7) or 1e-7)
    path.write_text("\n".join(",".join(row) for row in [header, *rows]) + "\n", encoding="utf-8")
    return header[column], k


def edit(seed, folder):
    rng = np.random.default_rng([seed, 3])
    written(binding(seed % 5), folder)
    what = edit_json(folder, rng) if rng.random() < 0.6 else edit_table(folder, rng)
    assert_refused(folder, (seed, what))


def test_no_edit_is_accepted(tmp_path):
    for seed in range(30):
        edit(seed, tmp_path)


@pytest.mark.exhaustive
@pytest.mark.parametrize("block", range(10))
def test_no_edit_is_accepted_at_length(block, tmp_path):
    for seed in range(1000 + 50 * block, 1050 + 50 * block):
        edit(seed, tmp_path)


def test_a_resealed_edit_of_a_claim_is_refused(tmp_path):
    written(binding(5), tmp_path)
    path = tmp_path / "certificate.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    content["proof"]["spend"][1] *= 0.9
    content["digest"] = digest(content)
    path.write_text(json.dumps(content), encoding="utf-8")
    assert_refused(tmp_path, "spend")


@pytest.mark.parametrize(
    "law",
    [smq.Kumaraswamy(2, 0.5), smq.from_cdf("((1 - c*theta)**(-1/2) - 1)/((1 - c)**(-1/2) - 1)", low=0, high=1, c=0.99)],
    ids=["kumaraswamy", "E1"],
)
def test_an_irregular_law_is_not_proved_by_claiming_that_it_is_regular(law, tmp_path):
    plain = smq.verify(smq.solve(smq.Market([0.3, 0.9], smq.Uniform(0, 1)), 0.2))
    certificate = smq.verify(smq.solve(smq.Market([0.3, 0.9], law), 0.2))
    assert certificate.valid
    lower, upper = certificate.lower_bound, certificate.upper_bound
    proof = dataclasses.replace(
        plain.proof, purchased_privacy=(lower, lower), spend=(0.2, 0.2), upper_bound=upper, regularity=(Regularity(law.name, 2, "b ≥ 1"),)
    )  # fmt: skip
    written(dataclasses.replace(certificate, proof=proof), tmp_path)
    assert json.loads((tmp_path / "certificate.json").read_text())["grade"] == "proved"
    assert_refused(tmp_path, law)


# --- the second checker alone -------------------------------------------------------------------------------------


def test_what_the_second_checker_cannot_judge_it_does_not_check(tmp_path):
    market = smq.Market([0.3, 0.9, 0.6], smq.Uniform(0, 1), groups={"city": ["a", "b", "b"]})
    cases = {
        "the law": smq.solve(smq.Market([0.3, 0.9], smq.PointMass([0.3, 0.4])), 0.9),
        "lotteries": smq.solve(smq.Market([0.3, 0.9], smq.Discrete([1, 2], [1, 1])), 0.4),
        "another objective": smq.solve(
            market, 0.4, constraints=[smq.Coverage("city", "a", at_least=0.1)], objective=smq.DiminishingReturns(0.1)
        ),
        "not proved regular": smq.solve(smq.Market([0.3, 0.9], smq.Kumaraswamy(2, 0.5)), 0.2),
        "does not claim": smq.solve(
            smq.Market([0.3, 0.9], smq.from_scipy(scipy.stats.lognorm(0.5), low=0.5, high=3)), 0.2
        ),
    }
    for reason, solution in cases.items():
        written(smq.verify(solution), tmp_path)
        verdict, why = second_checker.check(tmp_path)
        assert verdict == "not checked", (reason, why)
        assert reason in why or "does not claim" in why


def test_an_acceptance_of_a_steep_law_is_within_spacings_of_its_threshold(tmp_path):
    """At shape 1e6 one double of θ moves F by more than 2⁻⁴⁸; a change by far more is refused."""
    solution = smq.solve(smq.Market([0.2, 0.5, 1.0], smq.Gamma(1e6, 1e-6, 0, 2)), 0.9)
    solution.save(tmp_path)
    smq.verify(solution).save(tmp_path / "certificate.json")
    assert second_checker.check(tmp_path)[0] == "proved"
    law = second_checker.law_of(solution.market.valuation.to_dict())
    theta, q = float(solution.thresholds[0]), float(solution.acceptance[0])
    assert second_checker.is_near(law, theta, q)
    assert not second_checker.is_near(law, theta, q + 1e-11)


def test_laws_that_take_too_much_work_are_not_checked():
    """Work is counted in pieces, over all laws of a folder."""
    law = second_checker.law_of(smq.from_cdf("theta**2*(3 - 2*theta)", 0, 1).to_dict())
    with ctx.workprec(second_checker.BITS):
        left = [second_checker.MOST]
        second_checker.prove_regular(law, left)
        needed = second_checker.MOST - left[0]
        assert needed > 1
        with pytest.raises(second_checker.Verdict, match="too much work"):
            second_checker.prove_regular(law, [needed - 1])


def test_the_second_checker_is_short_and_stands_alone():
    source = Path(second_checker.__file__).read_text(encoding="utf-8")
    assert len(source.splitlines()) <= 600
    imported = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            imported |= {name.name.split(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add(str(node.module).split(".")[0])
    assert imported - set(sys.stdlib_module_names) == {"flint"}


def test_the_second_checker_runs_as_a_plain_script(tmp_path):
    written(binding(3), tmp_path)
    copy = tmp_path / "elsewhere.py"
    copy.write_text(Path(second_checker.__file__).read_text(encoding="utf-8"), encoding="utf-8")
    run = [sys.executable, "-I", str(copy), str(tmp_path)]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.split(":")[0]) == (0, "proved")
    table = tmp_path / "thresholds.csv"
    table.write_text(table.read_text(encoding="utf-8").replace("yes", "no", 1), encoding="utf-8")
    assert subprocess.run(run, capture_output=True, text=True, check=False).returncode == 1


@pytest.mark.parametrize("name", ["certificate.json", "thresholds.csv"])
def test_missing_and_broken_files_are_refused(name, tmp_path):
    written(binding(4), tmp_path)
    for content in ("", "{}", "[]", "a,b\n1", "owner,epsilon\n1,x\n"):
        (tmp_path / name).write_text(content)
        assert second_checker.check(tmp_path)[0] == "refused"
    (tmp_path / name).unlink()
    assert second_checker.check(tmp_path)[0] == "refused"


# --- the second checker's laws ------------------------------------------------------------------------------------

FORMULAS = {
    "theta**2*(3 - 2*theta)": {},
    "theta**a": {"a": 0.3},
    "(exp(b*log(1 + theta)) - 1)/(exp(b*log(2)) - 1)": {"b": 2.5},
    "sqrt(theta)*(1 + theta)/2": {},
    "(exp(r*theta) - 1)/(exp(r) - 1)": {"r": -1.5},
    "log(1 + c*theta)/log(1 + c)": {"c": 2.5},
    "1 - (1 - theta)**2.5": {},
    "sin(pi*theta/2)": {},
    "1 - cos(pi*theta/2)": {},
    "tan(theta)/tan(1)": {},
    "+atan(theta)*4/pi": {},
    "sinh(theta)/sinh(1)": {},
    "(cosh(theta) - 1)/(cosh(1) - 1)": {},
    "tanh(theta)/tanh(1)": {},
    "erf(c*theta)/erf(c)": {"c": 2.0},
    "0.25*theta + 7.5e-1*theta**2": {},
    "((1 - c*theta)**(-1/2) - 1)/((1 - c)**(-1/2) - 1)": {"c": 0.5},
    "(1 + theta)**-1 * 2*theta**(4/2)": {},
}
"""Regular cdfs on [0, 1] with every function and operation of formulas, and their parameters."""


def judged(law):
    """Where the second checker proves that J rises, or why not; and its law."""
    (table,) = second_checker.each(json.loads(json.dumps(law.to_dict())), 1)
    with ctx.workprec(second_checker.BITS):
        own = second_checker.law_of(table)
        try:
            return second_checker.prove_regular(own, [second_checker.MOST]), own
        except second_checker.Verdict as verdict:
            return verdict.args, own


def assert_alike(law, own):
    """Both checkers' F and J are the same numbers."""
    for share in (2.0**-30, 0.3, 0.77, 0.999):
        t = float(law.low + share * (law.high - law.low))
        with ctx.workprec(second_checker.BITS):
            F, rent = own.at(t)
        assert float(F.mid()) == pytest.approx(float(law.cdf(t)), rel=1e-9, abs=1e-300)
        assert t + float(rent.mid()) == pytest.approx(float(law.virtual_cost(t)), rel=1e-9)


@pytest.mark.parametrize("text", FORMULAS)
def test_a_regular_formula_is_proved_and_worked_out(text):
    law = smq.from_cdf(text, low=0, high=1, **FORMULAS[text])
    between, own = judged(law)
    assert between[0] < 1e-9
    assert between[1] > 1 - 1e-7
    assert_alike(law, own)


def test_every_random_law_is_the_one_of_the_package():
    for seed in range(7):
        rng = np.random.default_rng([seed, 4])
        low = float(rng.integers(0, 2) * rng.random())
        law = one_law(rng, low, low + rng.uniform(0.5, 3.0), quick=False)
        between, own = judged(law)
        assert between[0] != "not checked", (law, between)
        assert (own.low, own.high) == (law.low, law.high)
        assert_alike(law, own)


def test_owners_have_their_own_numbers():
    laws = [
        smq.Power([1.0, 2.0, 3.0], [0.0, 0.0, 0.5], 2.0),
        smq.Truncated(smq.Kumaraswamy([1.0, 2.0, 3.0], 2.0), 0.25, [0.5, 0.6, 0.7]),
        smq.Mixture([smq.Uniform([0.0, 0.0, 0.0], [1.0, 2.0, 3.0]), smq.Uniform(0, 4)], [1, 1]),
        smq.ByOwner([smq.Uniform(0, 1), smq.Power(2), smq.Uniform(0, 3)]),
        smq.ByOwner([smq.PiecewiseUniform([0, 1, 2], [3, 1]), smq.PiecewiseUniform([0, 3], [1]), smq.Uniform(0, 1)]),
    ]
    for law in laws:
        tables = second_checker.each(law.to_dict(), law.size)
        assert len(tables) == law.size
        for i, table in enumerate(tables):
            F, _ = second_checker.law_of(table).at(float(np.broadcast_to(law.low, law.size)[i]) + 0.125)
            assert float(F.mid()) == pytest.approx(float(law.cdf(law.low + 0.125)[i]))


@pytest.mark.parametrize(
    "law",
    [
        smq.from_cdf("theta/10 + 9*theta**12/10", low=0, high=1),
        smq.from_cdf("((1 - c*theta)**(-1/2) - 1)/((1 - c)**(-1/2) - 1)", low=0, high=1, c=0.99),
        smq.from_cdf("1 - (1 - theta)**(1/2)", low=0, high=1),
        smq.from_cdf("4*(theta - 1/2)**3 + 1/2", low=0, high=1),
        smq.Kumaraswamy(2, 0.5),
        smq.Beta(2, 0.9),
        smq.Truncated(smq.Kumaraswamy(2, 0.5), 0.1, 0.95),
        smq.PiecewiseUniform([0, 1, 2], [1, 3]),
        smq.PiecewiseUniform([0, 1, 2, 3], [1, 0, 1]),
        smq.Mixture([smq.Uniform(0, 2), smq.Uniform(1, 2)], [1, 1]),
        smq.Mixture([smq.Uniform(0, 1), smq.Uniform(2, 3)], [1, 1]),
        Rescaled(smq.Kumaraswamy(2, 0.5), 3.0),
    ],
    ids=lambda law: law.name,
)
def test_no_irregular_law_is_proved_to_be_regular(law):
    found, _ = judged(law)
    assert found[0] == "not checked"


def table_of(text, **parameters):
    return {"cdf": text, "low": 0.0, "high": 1.0, **parameters}


@pytest.mark.parametrize(
    "text",
    [
        "theta/2",
        "theta + 1e-9",
        "theta*(1 + 1e-9)",
        "5/2*theta - 3/2*theta**2",
        "1 - theta",
        "theta + exp(-(10**32*(theta - 10**-30))**2)/2",  # up and down where F was next to nothing
        "theta - exp(-(10**32*(1 - theta - 10**-30))**2)/2",
    ],
)
def test_what_is_no_cdf_is_not_taken_for_one(text):
    with ctx.workprec(second_checker.BITS), pytest.raises(second_checker.Verdict, match="not checked"):
        second_checker.prove_regular(second_checker.law_of(table_of(text)), [second_checker.MOST])


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')", "theta.real", "exp(theta, 2)", "exp(x=theta)", "gamma(theta, 2)", "erfc(theta)", "lambda: theta",
        "theta if theta else 1", "other", "theta // 2", "'theta'", "[theta]", "1j*theta", "~theta", "theta <= 1", "theta +",
    ],
)  # fmt: skip
def test_what_is_no_formula_is_refused(text):
    with pytest.raises(
        (second_checker.Verdict, LookupError, TypeError, ValueError, SyntaxError)
    ), ctx.workprec(64):  # fmt: skip
        second_checker.law_of(table_of(text)).at(0.5)


@pytest.mark.parametrize(
    "table",
    [
        {"law": "power", "k": -1.0, "low": 0.0, "high": 1.0},
        {"law": "power", "k": 2.0, "low": 0.0, "high": 1.0, "more": 1.0},
        {"law": "power", "low": 0.0, "high": 1.0},
        {"law": "power", "k": "2", "low": 0.0, "high": 1.0},
        {"law": "uniform", "low": 1.0, "high": 1.0},
        {"law": "uniform", "low": -1.0, "high": 1.0},
        {"law": "triangular", "low": 0.0, "mode": 2.0, "high": 1.0},
        {"law": "truncated", "low": 0.0, "high": 2.0, "valuation": {"law": "uniform", "low": 0.0, "high": 1.0}},
        {"law": "piecewise-uniform", "edges": [0.0, 2.0, 1.0], "masses": [1.0, 1.0]},
        {"law": "piecewise-uniform", "edges": [0.0, 1.0, 2.0], "masses": [2.0, -1.0]},
        {"law": "piecewise-uniform", "edges": [0.0, 1.0, 2.0], "masses": ["2", 1.0]},
        table_of("theta", unit=0.0),
        table_of("theta", law="uniform"),
    ],
)
def test_bad_parameters_are_refused(table):
    with pytest.raises((second_checker.Verdict, LookupError, TypeError)) as caught:
        second_checker.law_of(table)
    assert not isinstance(caught.value, second_checker.Verdict) or caught.value.args[0] == "refused"


def test_owners_are_told_apart():
    part = {"owners": [0], "valuation": {"law": "uniform", "low": 0.0, "high": 1.0}}
    for parts in ([part, part], [part], [part | {"owners": [0, 0]}], [part | {"owners": [1, 2]}]):
        with pytest.raises(second_checker.Verdict):
            second_checker.each({"law": "by-owner", "parts": parts}, 2)


# --- the second checker's bound -----------------------------------------------------------------------------------


def bound(law, between, e, price, t):
    return second_checker.top(law, between, arb(e), arb(price), t)


def test_the_bound_holds_for_any_cdf_beyond_where_the_virtual_cost_rises():
    with ctx.workprec(128):
        uniform = second_checker.law_of({"law": "uniform", "low": 0.0, "high": 1.0})
        assert bound(uniform, [0.0, 0.5], 1.0, 1.0, 0.5) >= 0.5  # all could sell just above 1/2
        tiny = second_checker.SMALL
        assert (
            bound(uniform, [tiny, 1.0], 1.0, 0.5 / tiny, tiny) >= tiny
        )  # or just above 0 those who do up to the floor
        rounded = second_checker.law_of(table_of("theta*(1 - 1e-15)"))
        assert second_checker.prove_regular(rounded, [0]) == (0.0, 1.0)
        assert bound(rounded, [0.0, 1.0], 1.0, 0.125, 1.0) >= 0.875  # and all sell at the high end
        with pytest.raises(second_checker.Verdict, match="not checked"):
            bound(uniform, [0.25, 0.5], 1.0, 0.5, 0.75)


def test_the_bound_holds_and_is_tight_at_its_threshold():
    for seed in range(12):
        rng = np.random.default_rng([seed, 5])
        law = one_law(rng, 0.25, 1.75, quick=seed % 3 > 0)
        between, own = judged(law)
        e, price = rng.uniform(0.5, 2.0), rng.uniform(0.2, 2.0)
        t = float(law.inverse_virtual_cost(e / price))
        with ctx.workprec(second_checker.BITS):
            best = own.F(arb(t), Fraction(t)) * (arb(e) - arb(price) * t)
            assert not bound(own, between, e, price, t) > best + 1e-12 * e
            for elsewhere in (t, *rng.uniform(law.low, law.high, 3).tolist(), math.nextafter(law.low, 9), law.high):
                top = bound(own, between, e, price, elsewhere)
                for s in (t, *np.linspace(law.low, law.high, 9).tolist()):
                    assert not top < own.F(arb(s), Fraction(s)) * (arb(e) - arb(price) * s)


# --- the second checker's claims, one by one ----------------------------------------------------------------------


def unproved(certificate, *, columns=None, gap_tolerance=1e-10, solution=None, **changes):
    """What the second checker does not prove of a certificate's numbers when some are others."""
    content = certificate.to_dict()
    content = content | changes | {"solution": content["solution"] | (solution or {})}
    market = certificate.solution.market
    given = [market.epsilon, certificate.solution.thresholds, certificate.solution.acceptance]
    given = [column.tolist() for column in (given if columns is None else columns)]
    with ctx.workprec(128):
        laws = [second_checker.law_of(table) for table in second_checker.each(market.valuation.to_dict(), market.n)]
        owners = [(law, law.low, law.high) for law in laws]
        counts = [1] * market.n if market.multiplicity is None else market.multiplicity.tolist()
        return {why for holds, why in second_checker.sums(content, owners, given, counts, gap_tolerance) if not holds}


def test_each_claim_is_proved_by_itself():
    market = smq.Market([0.3, 0.9, 0.6, 0.0], smq.Power(1.5, 0, 2), multiplicity=[2, 1, 3, 1])
    certificate = smq.verify(smq.solve(market, 1.0))
    thresholds, proof = certificate.solution.thresholds, certificate.to_dict()["proof"]
    assert unproved(certificate) == set()
    assert unproved(certificate, gap_tolerance=2.0**-51) == {"a gap within its tolerance"}
    assert "the status" in unproved(certificate, solution={"budget_price": 0.0})
    assert "the status" in unproved(certificate, solution={"status": "SLACK"})
    assert "a spend that was proved" in unproved(certificate, proof=proof | {"spend": proof["spend"][::-1]})
    for key in ("lower_bound", "upper_bound", "gap"):
        changed = certificate.to_dict()[key] * (1 - 2e-12) - 2e-12
        assert unproved(certificate, **{key: changed}) == {"a bound that is what the files give"}
    for key in ("purchased_privacy", "spend"):
        changed = [x * (1 - 2e-12) for x in proof[key]]
        assert unproved(certificate, proof=proof | {key: changed}) == {"a bound that is what the files give"}
    cases = {
        "a threshold in its support": thresholds * [1, 1, 1, 0] + np.array([0, 0, 0, 2 + 1e-15]),
        "a budget that is spent where it binds": thresholds * (1 - 1e-9),
        "a spend within the budget": thresholds * (1 + 1e-14),
        "a threshold that its price asks for": thresholds + np.array([0, 0, 1e-9, 0]),
        "an acceptance that is F(θ)": thresholds * (1 + 1e-13),
    }
    for reason, moved_to in cases.items():
        columns = [market.epsilon, moved_to, certificate.solution.acceptance]
        assert reason in unproved(certificate, columns=columns), reason


def test_every_family_is_the_law_of_the_package():
    assert set(second_checker.FAMILIES) == set(LAWS) - {"piecewise-uniform", "point-mass", "discrete"}
    for name in second_checker.FAMILIES:
        module, cls, example = LAWS[name]
        law = getattr(importlib.import_module(module), cls)(**example)
        _, own = judged(law)
        assert own.regular
        assert_alike(law, own)


def test_a_formula_counts_in_its_unit():
    law = smq.from_cdf("theta**2*(3 - 2*theta)", low=0, high=1, unit=1e9)
    between, own = judged(law)
    assert between[1] > 0.999e9
    assert_alike(law, own)


def test_weights_are_shares():
    parts = [{"law": "uniform", "low": 0.0, "high": 1.0}, {"law": "power", "k": 2.0, "low": 0.0, "high": 1.0}]
    law = second_checker.law_of({"law": "mixture", "laws": parts, "weights": [1.0, 3.0]})
    assert law.at(0.5)[0] == 0.25 * 0.5 + 0.75 * 0.25
    with pytest.raises((second_checker.Verdict, LookupError)):
        second_checker.law_of({"law": "mixture", "laws": parts, "weights": [1.0, 0.0]})


def test_what_is_not_defined_is_not_finite():
    zero, one, wide = arb(0), arb(1), arb(0, 1)
    for base, exponent in ((zero, arb(-0.5)), (zero, arb(-2)), (-one, arb(0.5)), (wide, arb(0.5)), (wide, -one)):
        assert not second_checker.power(base, exponent).is_finite()
    assert second_checker.power(zero, arb(0.5)) == 0
    assert second_checker.power(-one - one, arb(3)) == -8
    for bottom in (zero, wide):
        assert not second_checker.over(one, bottom).is_finite()
        for top in (one, arb_series([zero, 1], 3)):
            quotient = second_checker.over(top, arb_series([bottom, 1], 3))
            assert not all(quotient[k].is_finite() for k in range(3))
    short = second_checker.Law(0.0, 1.0, lambda *_: arb_series([one, 1], 2), [], False)
    assert short.taylor(one, Fraction(1, 2), 3)[:2] == [1, 1]
    assert not short.taylor(one, Fraction(1, 2), 3)[2].is_finite()


def test_a_resealed_edit_of_any_entry_is_refused_by_the_second_checker(tmp_path):
    written(binding(5), tmp_path)
    path = tmp_path / "certificate.json"
    whole = path.read_text(encoding="utf-8")
    solution, columns, unchecked = (json.loads(whole)[key] for key in ("solution", "columns", "unchecked"))
    edits = {
        "format": "smqopt certificate 1",
        "reasons": ["the budget"],
        "unproved": ["128 bits"],
        "unchecked": unchecked | {"prove": False},
        "gap": 1e-9,
        "gap_tolerance": 1e-9,
        "budget": 0.5,
        "fingerprint": "0",
        "columns": columns | {"threshold": columns["threshold"] | {"sha256": "0"}},
        "checks": [],
        "proof": None,
    }
    edits |= {"solution": solution | {"owners": solution["owners"] + 1}, "valid": 1, "grade": "Proved"}
    for key, value in edits.items():
        content = json.loads(whole) | {key: value}
        path.write_text(json.dumps(content | {"digest": digest(content)}), encoding="utf-8")
        assert second_checker.check(tmp_path)[0] == ("not checked" if key in {"valid", "grade"} else "refused"), key
    path.write_text(whole, encoding="utf-8")
    assert second(tmp_path)
