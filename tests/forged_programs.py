"""Forged answers to random programs: whatever is called valid must keep every row and be the optimum, by the oracle's word."""

from __future__ import annotations

import dataclasses
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
from lottery_oracle import optimum
from random_programs import draft

import smqopt as smq
from smqopt import second_checker
from smqopt.market import Lottery, solution_to_dict
from smqopt.verification import content_hash
from smqopt.verification.certificate._file_integrity import columns_to_dict, digest


def without_a_record(rng, one, solution):
    """The answer to a program with a record less, as if it kept it."""
    left = int(rng.integers(len(one.records)))
    fewer = [record for k, record in enumerate(one.records) if k != left]
    found = smq.solve(one.market, one.budget, constraints=fewer, objective=one.objective)
    prices = solution.constraint_prices if rng.random() < 0.5 else np.zeros_like(solution.constraint_prices)
    return dataclasses.replace(
        found, records=solution.records, constraints=solution.constraints, constraint_prices=prices, conflict=()
    )


def with_more_money(rng, one, solution):
    more = smq.solve(
        one.market, one.budget * (1 + 10 ** rng.uniform(-8, 0)), constraints=one.records, objective=one.objective
    )
    return dataclasses.replace(more, budget=one.budget)


def other_multipliers(rng, one, solution):
    y = solution.constraint_prices * np.where(rng.random(solution.constraint_prices.size) < 0.5, rng.uniform(0, 1), 1.0)
    price = solution.budget_price * float(rng.choice([0.0, 0.5, 0.99, 1.0]))
    return dataclasses.replace(solution, constraint_prices=y, budget_price=price)


def other_prices(rng, one, solution):
    """Post other prices, with the acceptances of the old ones or their own."""
    factor = 1 + float(rng.choice([-1, 1])) * 10 ** rng.uniform(-7, -0.1)
    theta, q = solution.thresholds.copy(), solution.acceptance.copy()
    at = rng.random(theta.size) < 0.5
    theta[at] *= factor
    low, high = one.market.low, one.market.high
    theta = np.clip(theta, low, None) if rng.random() < 0.5 else theta
    if rng.random() < 0.7:
        F = one.market.valuation.cdf(np.clip(theta, low, high))
        q = np.where(at, np.where(theta >= high, 1.0, np.where(theta < low, 0.0, F)), q)
    drawn = solution.lottery
    if drawn is not None:
        prices = drawn.prices * np.where(rng.random(drawn.prices.shape) < 0.5, factor, 1.0)
        drawn = Lottery(drawn.owner, np.sort(prices, axis=1), drawn.acceptances, drawn.probabilities)
        if rng.random() < 0.3:
            drawn, q = None, np.where(np.isin(np.arange(q.size), solution.lottery.owner), rng.random(), q)
    return dataclasses.replace(solution, thresholds=theta, acceptance=q, lottery=drawn)


def other_chances(rng, one, solution):
    drawn = solution.lottery
    if drawn is None:
        return other_prices(rng, one, solution)
    p = drawn.probabilities * rng.uniform(0.5, 1.5, drawn.probabilities.shape)
    p = p / p.sum(axis=1, keepdims=True)
    drawn = Lottery(drawn.owner, drawn.prices, drawn.acceptances, p)
    q = solution.acceptance.copy()
    q[drawn.owner] = drawn.acceptance
    return dataclasses.replace(solution, lottery=drawn, acceptance=q)


def another_status(rng, one, solution):
    status = list(smq.Status)[int(rng.integers(len(smq.Status)))]
    conflict = solution.conflict or tuple(record.words for record in one.records[:1])
    return dataclasses.replace(solution, status=status, conflict=conflict)


def stricter_records(rng, one, solution):
    """The old answer to records that ask for more."""
    records = list(solution.records)
    k = int(rng.integers(len(records)))
    record, more = records[k], 10 ** rng.uniform(-8, -1)
    for name, sign in (("at_least", 1), ("at_most", -1), ("within", -1)):
        value = getattr(record, name, None)
        if isinstance(value, float) and value > 0:
            try:
                records[k] = dataclasses.replace(record, **{name: value * (1 + sign * more)})
            except smq.InputError:
                continue
            break
    if records[k] is record and isinstance(record, smq.PriceMenu):
        records[k] = dataclasses.replace(record, prices=tuple(p * (1 + more) for p in record.prices))
    words = tuple(each.words for each in records)
    return dataclasses.replace(solution, records=tuple(records), constraints=words), tuple(records)


FORGERIES = (
    without_a_record, with_more_money, other_multipliers, other_prices, other_chances, another_status, stricter_records
)  # fmt: skip


def excess_of(plain, market, solution):
    """What the posted prices break the rows by, worked out from F alone, relative to their terms."""
    n = plain.count.size
    owner, price, share = np.arange(n), solution.thresholds, (solution.acceptance > 0) * 1.0
    drawn = solution.lottery
    if drawn is not None:
        rest = np.setdiff1d(owner, drawn.owner)
        owner = np.concatenate([rest, np.repeat(drawn.owner, drawn.prices.shape[1])])
        price = np.concatenate([price[rest], drawn.prices.ravel()])
        share = np.concatenate([share[rest], (drawn.probabilities * (drawn.acceptances > 0)).ravel()])
    F = np.array([plain.cdfs[i](np.array([p]))[0] for i, p in zip(owner.tolist(), price.tolist(), strict=True)])
    q = np.bincount(owner, weights=share * F, minlength=n)
    b = np.bincount(owner, weights=share * price * F, minlength=n)
    used = plain.A @ q + plain.S @ b - plain.r
    size = np.abs(plain.A) @ q + np.abs(plain.S) @ b + np.abs(plain.r)
    worst = np.max(np.where(plain.equal, np.abs(used), used) / np.where(size > 0, size, 1.0))
    posted = (share > 0) & (F > 0)
    floor, ceiling = plain.floor[owner], plain.ceiling[owner]
    off = np.maximum(
        (floor - price) / np.maximum(floor, 1e-300), (price - ceiling) / np.where(ceiling < np.inf, ceiling, 1.0)
    )
    worst = max(worst, float(np.max(np.where(posted, off * F, 0.0), initial=0.0)))
    for i, p, on in zip(owner.tolist(), price.tolist(), posted.tolist(), strict=True):
        listed = plain.lists[plain.group[i]]
        if on and listed is not None and not np.isin(p, listed):
            worst = np.inf
    return float(worst)


def second_verdicts(forged, honest, own):
    """What the second checker says of a forged answer whose claims are mended, with another's proof and with its own."""
    found = []
    for certificate in (honest, own):
        content = certificate.to_dict()
        if content["proof"] is None:
            content["proof"] = honest.to_dict()["proof"]
        checks = [one | {"passed": True, "value": 0.0} if one["passed"] is False else one for one in content["checks"]]
        gap = 0.0 if content["gap"] == "inf" else min(float(content["gap"]), certificate.gap_tolerance)
        upper = content["upper_bound"] if content["upper_bound"] != "inf" else content["lower_bound"]
        content |= {"valid": True, "grade": "proved", "reasons": [], "unproved": [], "checks": checks, "gap": gap}
        content |= {"upper_bound": upper, "budget": forged.budget, "fingerprint": content_hash(forged)}
        content["solution"] = {k: x for k, x in solution_to_dict(forged).items() if k not in ("conflict", "solver")}
        content["columns"] = columns_to_dict(forged)
        content["digest"] = digest(content)
        with tempfile.TemporaryDirectory() as folder:
            forged.save(folder)
            (Path(folder) / "certificate.json").write_text(json.dumps(content), encoding="utf-8")
            found.append(second_checker.check(folder)[0])
    return found


def fault_of_forgery(seed, tolerance=1e-7):
    """What a forged answer is wrongly called valid for by either checker; None where it is not, or true after all."""
    rng = np.random.default_rng([seed, 7])
    one = draft(seed, n=int(rng.choice([1, 2, 3, 5, 8])))
    solution = smq.solve(one.market, one.budget, constraints=one.records, objective=one.objective)
    forge = FORGERIES[int(rng.integers(len(FORGERIES)))]
    if not one.records:
        return "nothing", None
    try:
        forged = forge(rng, one, solution)
    except smq.SmqoptError:
        return "nothing", None
    if isinstance(forged, tuple):
        forged, one.stricter = forged
    try:
        certificate = smq.verify(forged)
    except smq.InputError:
        return "refused", None
    if certificate.valid:
        verdict = "valid"
    else:
        said = second_verdicts(forged, smq.verify(solution), certificate)
        verdict = "valid to the second" if "proved" in said else f"not valid, {' and '.join(sorted({*said}))}"
        if "proved" not in said:
            return verdict, None
    if forge is stricter_records:
        again = smq.solve(one.market, one.budget, constraints=one.stricter, objective=one.objective)
        if again.status is smq.Status.INFEASIBLE or smq.Status.INFEASIBLE is forged.status:
            return verdict, None if again.status is forged.status else f"{forge.__name__}: {forged.status}"
        off = abs(again.objective_value - forged.objective_value) / max(abs(again.objective_value), 1e-6)
        return verdict, f"{forge.__name__}: off by {off:.3g}" if off > tolerance else None
    plain = one.plain()
    found = optimum(plain)
    if forged.status is smq.Status.INFEASIBLE:
        wrong = not found.infeasible and found.broken <= 1e-9
        return verdict, f"{forge.__name__}: called infeasible" if wrong else None
    excess = excess_of(plain, one.market, forged)
    value = forged.objective_value * (-1.0 if one.kind == "inverse" else 1.0)
    unit = max(abs(found.upper), 1e-6)
    if excess > 1e-9:
        return verdict, f"{forge.__name__}: breaks a row by {excess:.3g}"
    if not found.infeasible and not found.lower - tolerance * unit <= value <= found.upper + tolerance * unit:
        return verdict, f"{forge.__name__}: {value!r}, not {found.upper!r}"
    return verdict, None


if __name__ == "__main__":
    total = Counter()
    for seed in range(int(sys.argv[1]), int(sys.argv[2])):
        try:
            verdict, fault = fault_of_forgery(seed)
        except smq.SolverError as error:
            verdict, fault = "unfinished", str(error)[:100]
        total[verdict] += 1
        if fault:
            print(seed, verdict, fault, flush=True)
    print(dict(total))
