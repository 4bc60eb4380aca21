"""Runs: the same numbers however they are run, and files that let a stopped run go on."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

import smqopt as smq
from smqopt.errors import InputError
from smqopt.paper import Plan, Results, Store, condense
from smqopt.paper.experiments import _run as running
from smqopt.paper.experiments._grid import (
    BUDGET_SHARES,
    EVERYTHING,
    MECHANISMS,
    METRICS,
    NOISE_ONLY,
    columns,
)
from smqopt.paper.experiments._plan import CHECK
from smqopt.paper.experiments._setting import Setting
from smqopt.paper.experiments._streams import Streams
from smqopt.paper.experiments._summary import _statistics
from smqopt.paper.experiments._trial import market, outcomes
from smqopt.valuation import Uniform

PLAN = Plan(12, 7, (0.2, 0.9), (0.0, -0.5, -1.0))


@pytest.fixture(scope="module")
def finished(tmp_path_factory, populations):
    store = Store(tmp_path_factory.mktemp("run"))
    told = []
    running.run(PLAN, populations, store, told=lambda done, total: told.append((done, total)))
    return store, told


def test_progress_goes_from_nothing_to_all(finished):
    _, told = finished
    assert told[0][0] == 0
    assert told[-1][0] == pytest.approx(told[-1][1])
    assert [done for done, _ in told] == sorted(done for done, _ in told)


@pytest.mark.slow
def test_several_processes_give_the_same_numbers(finished, populations, tmp_path):
    store, _ = finished
    small = Plan(2, PLAN.seed, PLAN.shares, (-0.5,))
    other = Store(tmp_path)
    running.run(small, populations, other, processes=2)
    for unit in small.units():
        if unit.scheme == NOISE_ONLY:
            continue  # its draws come two at a time here, twelve at a time there
        longer = next(u for u in PLAN.units() if replace(u, last=unit.last) == unit)
        mine, theirs = store.read(longer), other.read(unit)
        if unit.scheme == EVERYTHING:
            mine["notes"] = mine["notes"][: unit.last]
        mine = {name: array for name, array in mine.items() if name != "tenths"}
        theirs = {name: array for name, array in theirs.items() if name != "tenths"}
        assert mine.keys() == theirs.keys()
        for name in mine:
            assert np.array_equal(mine[name], theirs[name], equal_nan=True)


def test_a_stopped_run_goes_on_and_more_trials_may_be_asked_for(finished, populations, tmp_path, monkeypatch):
    store, _ = finished
    plan = replace(PLAN, correlations=(-0.5,))
    units = plan.units()
    stopped = Store(tmp_path)
    done = []

    def until_stopped(unit, plan, population, real=running.unit_arrays):
        if len(done) == 5:
            raise KeyboardInterrupt
        done.append(unit)
        return real(unit, plan, population)

    monkeypatch.setattr(running, "unit_arrays", until_stopped)
    with pytest.raises(KeyboardInterrupt):
        running.run(plan, populations, stopped)
    assert [unit for unit in units if stopped.has(unit)] == done
    with pytest.raises(InputError, match="finish the run first"):
        condense(plan, populations, stopped)
    monkeypatch.undo()
    running.run(plan, populations, stopped)
    for unit in units:
        for name, array in store.read(unit).items():
            assert np.array_equal(array, stopped.read(unit)[name], equal_nan=True)
    running.run(replace(plan, trials=14), populations, stopped)
    longer = next(unit for unit in replace(plan, trials=14).units() if unit.first == 10)
    shorter = next(unit for unit in units if unit.first == 10)
    assert np.array_equal(stopped.read(longer)["notes"][:2], store.read(shorter)["notes"], equal_nan=True)


@pytest.mark.parametrize("change", [{"seed": 8}, {"shares": (0.2,)}, {"correlations": (0.0,)}])
def test_a_folder_of_another_plan_is_refused(finished, populations, change):
    store, _ = finished
    with pytest.raises(InputError, match="holds trials with another"):
        running.run(replace(PLAN, **change), populations, store)


def test_other_data_are_refused(finished, populations):
    store, _ = finished
    adult = populations["adult"]
    changed = replace(adult, ones=np.where(np.arange(adult.n) == 3, 1 - adult.ones, adult.ones))
    with pytest.raises(InputError, match="another 'data'"):
        running.run(PLAN, populations | {"adult": changed}, store)


def test_a_damaged_file_is_told(finished, populations, tmp_path):
    other = Store(tmp_path)
    unit = PLAN.units()[0]
    other.write(unit, {"notes": np.zeros(2)})
    path = next(other.folder.glob("*.npz"))
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(InputError, match="is damaged; remove the file"):
        other.read(unit)


def test_a_run_of_one_trial_is_refused():
    with pytest.raises(InputError, match="must be at least 2"):
        Plan(1)


def test_units_cover_every_trial_once():
    plan = Plan(23)
    for data_set in ("adult", "recs", "movielens"):
        for rho in plan.correlations:
            units = [u for u in plan.units() if (u.data_set, u.correlation) == (data_set, rho)]
            trials = [t for u in units if u.scheme == EVERYTHING for t in range(u.first, u.last)]
            assert trials == list(range(23))
            assert [(u.first, u.last) for u in units if u.scheme == NOISE_ONLY] == [(0, 23)]
            assert sum(u.scheme == CHECK for u in units) == (rho == -0.5)
    assert len({unit.name for unit in plan.units()}) == len(plan.units())


def test_results_hold_a_row_a_setup_and_survive_their_file(finished, populations, tmp_path):
    store, _ = finished
    results = condense(PLAN, populations, store)
    assert len(results.setups) == 3 * 3 * 2 * len(columns()) * 2
    assert results.trials == 12
    results.save(tmp_path)
    again = Results.load(tmp_path)
    assert again.tenths == results.tenths
    assert again.checks == results.checks
    for key, setup in results.setups.items():
        # NaN, where a mechanism gives no answer, is no number
        assert json.dumps(vars(again.setups[key])) == json.dumps(vars(setup))


def test_statistics_are_those_of_the_trials(finished, populations):
    store, _ = finished
    results = condense(PLAN, populations, store)
    parts = [
        store.read(u)["notes"]
        for u in PLAN.units()
        if (u.data_set, u.correlation, u.scheme) == ("adult", -0.5, EVERYTHING)
    ]
    notes = np.concatenate(parts)[:, 1, columns().index(("count", "smq-conditional"))]
    setup = results.setup("adult", "count", -0.5, 0.9, "smq-conditional")
    answer, truth = notes[:, 0], populations["adult"].ones.sum()
    assert setup.truth == truth
    assert setup.mean == pytest.approx(answer.mean())
    assert setup.rmse == pytest.approx(math.sqrt(np.mean((answer - truth) ** 2)))
    assert setup.rmse**2 == pytest.approx(setup.deviation**2 * 11 / 12 + (setup.mean - truth) ** 2)
    assert setup.sampling_rmse == pytest.approx(math.sqrt(np.mean((notes[:, 1] - truth) ** 2)))
    assert setup.mean_high - setup.mean == pytest.approx(1.96 * setup.deviation / math.sqrt(12), rel=1e-4)
    assert setup.bought == pytest.approx(notes[:, METRICS.index("bought")].mean())
    assert setup.spend == pytest.approx(notes[:, METRICS.index("spend")].mean() / (0.9 * 60))


def test_the_error_of_the_rmse_is_that_of_repeated_runs():
    rng = np.random.default_rng(0)
    found = []
    for _ in range(400):
        answer = rng.normal(3.0, 2.0, 200)
        notes = np.stack([answer, *[np.zeros(200)] * (len(METRICS) - 1)], axis=1)
        found.append(_statistics(notes, 0.0, 1.0)[8:10])
    rmse, error = np.array(found).T
    assert error.mean() == pytest.approx(rmse.std(), rel=0.1)


def test_one_trial_is_the_mechanism_itself(populations):
    """Prices, purchase, payments and the answer without noise, through the public road."""
    population = populations["adult"]
    setting = Setting.of(population, 0.0, (0.3,))
    notes, tenths = outcomes(setting, Streams.of(1, (0, 0, 0, 5)))
    epsilon, theta = market(0.0, population.n, Streams.of(1, (0, 0, 0, 5)).market)
    outcome = smq.procure(smq.verify(smq.solve(smq.Market(epsilon, Uniform(0, 1)), 0.3 * population.n)), theta)
    row = dict(zip(METRICS, notes[0, 0, columns().index(("count", "smq-marginal"))], strict=True))
    bought = outcome.selected
    assert row["bought"] == outcome.bought
    assert row["spend"] == pytest.approx(outcome.total_payment)
    assert row["privacy"] == pytest.approx(epsilon[bought].sum())
    assert row["exact"] == pytest.approx(population.ones[bought].sum() * population.n / outcome.bought)
    assert 0 <= row["answer"] <= population.n
    median = dict(zip(METRICS, notes[0, 0, columns().index(("median", "smq-marginal"))], strict=True))
    assert median["exact"] == np.sort(population.value[bought])[(outcome.bought + 1) // 2 - 1]
    linear = dict(zip(METRICS, notes[0, 0, columns().index(("linear", "smq-conditional"))], strict=True))
    weight, target = population.weight, population.target
    mine = bought & (np.arange(population.n) != population.newcomer)
    assert linear["exact"] == pytest.approx((weight * target)[mine].sum() * weight.sum() / weight[mine].sum())
    edges = np.minimum((epsilon * 10).astype(int), 9)
    for tenth in range(10):
        here = edges == tenth
        if here.any():
            assert tenths[0, MECHANISMS["count"].index("smq-marginal"), tenth] == pytest.approx(bought[here].mean())


def test_with_the_noise_alone_one_market_is_kept(populations):
    setting = Setting.of(populations["adult"], -1.0, (0.3, 0.6))
    notes, _ = outcomes(setting, Streams.of(1, (0, 2, 0, 0), (0, 2, 1, 0)), 40)
    first, _ = outcomes(setting, Streams.of(1, (0, 2, 0, 0)))
    assert notes.shape[0] == 40
    kept = notes[:, :, :, 1:]
    assert np.array_equal(kept, np.broadcast_to(kept[:1], kept.shape), equal_nan=True)
    assert np.array_equal(kept[0], first[0, :, :, 1:], equal_nan=True)
    answers = notes[:, 0, columns().index(("count", "smq-marginal")), 0]
    assert np.unique(answers).size > 5


def test_buying_nothing_gives_no_answer(populations):
    setting = Setting.of(populations["movielens"], 0.0, (1e-9,))
    notes, _ = outcomes(setting, Streams.of(1, (0,)))
    by_name = dict(zip(columns(), notes[0, 0], strict=True))
    assert np.isnan(by_name["count", "smq-marginal"]).all()
    assert by_name["count", "fq-original-scale"][METRICS.index("bought")] == 0
    assert np.isfinite(by_name["count", "fq-original-scale"][0])
    assert np.isnan(by_name["median", "fq-original-scale-public"]).all()


def test_a_dominant_owner_is_bought_alone_by_fip(populations):
    population = populations["recs"]
    weight = population.weight / 1000
    heavy = 5 if population.newcomer != 5 else 6
    weight[heavy] = 1.0
    setting = Setting.of(replace(population, weight=weight), 0.0, BUDGET_SHARES[:2])
    notes, _ = outcomes(setting, Streams.of(1, (0,)))
    fip = notes[0, :, columns().index(("linear", "fip"))]
    assert fip[:, METRICS.index("bought")].tolist() == [1.0, 1.0]
    printed = notes[0, :, columns().index(("linear", "smq-marginal"))]
    assert np.isfinite(printed[:, 0]).all()


def test_where_fip_buys_all_the_weight_neither_is_defined(populations):
    population = populations["recs"]
    weight = np.zeros(population.n)
    weight[5 if population.newcomer != 5 else 6] = 1.0
    setting = Setting.of(replace(population, weight=weight), 0.0, (0.5,))
    notes, _ = outcomes(setting, Streams.of(1, (0,)))
    for name in ("fip", "smq-marginal"):
        assert np.isnan(notes[0, 0, columns().index(("linear", name))]).all()
