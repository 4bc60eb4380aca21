"""Answers from parts: those of the market in memory, charged once, drawn once."""

from fractions import Fraction

import numpy as np
import pyarrow.parquet as pq
import pytest

import smqopt as smq
from smqopt.scale.passes import _answer_passes

N = 300
RNG = np.random.default_rng(8)
COLUMNS = {
    "epsilon": RNG.choice([0.2, 0.5, 1.0, 1.7], N),
    "id": np.array([f"o{i}" for i in range(N)]),
}
REPORTS = RNG.random(N)
AGES = RNG.integers(18, 90, N)
FLAGS = RNG.random(N) < 0.4


@pytest.fixture
def bought(write, client, tmp_path):
    """Solve, verify and buy, in some parts."""

    def buy(parts=3, out="out"):
        owners = write(COLUMNS, parts, f"owners{parts}")
        market = smq.ParquetMarket(owners, smq.Uniform(0, 1), owner_id="id")
        solution = smq.solve(market, 60.0, client=client, out=tmp_path / out)
        certificate = smq.verify(solution, client=client)
        reports = write({"id": COLUMNS["id"], "report": REPORTS}, parts, f"reports{parts}")
        return smq.procure(certificate, reports, client=client)

    return buy


@pytest.fixture
def in_memory():
    market = smq.Market(COLUMNS["epsilon"], smq.Uniform(0, 1), owner_ids=COLUMNS["id"])
    return smq.procure(smq.verify(smq.solve(market, 60.0)), REPORTS)


def folder(write, values, parts=3):
    return write({"id": COLUMNS["id"], "entry": values}, parts, f"data{parts}")


QUERIES = [
    (smq.Count(), FLAGS),
    (smq.Sum(0, 100), AGES),
    (smq.Mean(-20, 100), AGES - 30.5),
    (smq.Histogram([18, 40, 60, 90]), AGES),
    (smq.Median(0, 120), AGES),
    (smq.Quantile(0.9, 0, 120), AGES),
    (smq.Median(-(2**52), 2**52), AGES * 10**12),
]


@pytest.mark.parametrize(("query", "values"), QUERIES, ids=lambda one: getattr(one, "name", ""))
def test_the_answer_is_that_of_the_market_in_memory(write, client, bought, in_memory, query, values):
    """With the same random bits: sums differ by the rounding of the weights, ranks by nothing."""
    estimator = None if isinstance(query, smq.Median | smq.Quantile) else "linear"
    rng = np.random.default_rng
    expected = smq.answer(query, values[in_memory.selected], in_memory, rng(3), estimator=estimator)
    found = [
        smq.answer(query, folder(write, values, parts), bought(parts, f"out{parts}"), rng(3), client=client)
        for parts in (1, 7)
    ]
    assert found[0].value == found[1].value
    assert found[0].to_dict() == found[1].to_dict()
    assert (found[0].bought, found[0].population) == (in_memory.bought, N)
    scale = float(np.max(np.abs(expected.value)))
    assert np.allclose(found[0].value, expected.value, rtol=0, atol=1e-6 * scale)
    assert found[0].noise_half_width() == pytest.approx(expected.noise_half_width(), rel=1e-6)
    with pytest.raises(smq.InputError, match="simulation"):
        found[0].publish()


@pytest.mark.parametrize("query", [smq.Count(), smq.Mean(0, 100), smq.Median(0, 120)], ids=lambda one: one.name)
def test_what_may_be_published_is_what_is_published_in_memory(write, client, bought, in_memory, query, tmp_path):
    values = FLAGS if isinstance(query, smq.Count) else AGES
    estimator = None if isinstance(query, smq.Median) else "linear"
    one, other = smq.Ledger(tmp_path / "one.txt"), smq.Ledger(tmp_path / "other.txt")
    found = smq.answer(query, folder(write, values), bought(), ledger=one, client=client).publish()
    expected = smq.answer(query, values[in_memory.selected], in_memory, ledger=other, estimator=estimator).publish()
    assert found.keys() == expected.keys()
    for key in found.keys() - {"value", "tau"}:
        assert found[key] == expected[key], key
    assert "tau" not in found or found["tau"] == pytest.approx(expected["tau"], rel=1e-6)


def test_entries_of_the_bought_alone_will_do(write, client, bought, tmp_path):
    outcome, values = bought(), np.asarray(AGES, dtype=float)
    every = folder(write, values)
    some = tmp_path / "some"
    some.mkdir()
    for part in outcome.parts:
        selected = pq.read_table(outcome.file_of(part))["selected"]
        pq.write_table(pq.read_table(every / part.name).filter(selected), some / part.name, row_group_size=7)
    rng = np.random.default_rng
    first, second = (smq.answer(smq.Sum(0, 100), data, outcome, rng(1), client=client) for data in (every, some))
    assert first.value == second.value
    # what those who did not sell have changes nothing, and is not looked at
    spoilt = values.copy()
    for start, part in zip((0, 100, 200), outcome.parts, strict=True):
        selected = pq.read_table(outcome.file_of(part))["selected"].to_numpy()
        spoilt[start : start + 100][~selected] = np.nan
    third = smq.answer(smq.Sum(0, 100), folder(write, spoilt), outcome, rng(1), client=client)
    assert third.value == first.value


def test_the_draw_near_a_rank_may_be_cut_short(write, client, bought, monkeypatch):
    """More entries than are kept: the same bits for any parts."""
    from smqopt.query.exponential import _rank_of_parts

    monkeypatch.setattr(_rank_of_parts, "NEAR", 5)
    found = [
        smq.answer(
            smq.Median(0, 120), folder(write, AGES, parts), bought(parts, f"out{parts}"), np.random.default_rng(2),
            client=client,
        )
        for parts in (1, 7)
    ]  # fmt: skip
    assert found[0].to_dict() == found[1].to_dict()
    assert 0 <= found[0].value <= 120


def test_all_owners_are_charged_at_once_and_a_second_purpose_is_refused(write, client, bought, tmp_path):
    outcome, data = bought(), folder(write, AGES)
    ledger = smq.Ledger(tmp_path / "ledger.txt")
    first = smq.answer(smq.Sum(0, 100), data, outcome, ledger=ledger, share="1/2", client=client)
    assert first.charge is not None
    assert ledger.remaining_share("(all owners)") == Fraction(1, 2)
    with pytest.raises(smq.LedgerError, match="1/2 of her requirement left"):
        smq.answer(smq.Mean(0, 100), data, outcome, ledger=ledger, share="2/3", client=client)
    smq.answer(smq.Mean(0, 100), data, outcome, share="2/3", client=client)
    with pytest.warns(smq.PrivacyWarning, match=r"1\.333 times"):  # without a ledger this process counts
        smq.answer(smq.Mean(0, 100), data, outcome, share="2/3", client=client)
    # the account does not hang on how owners lie in parts, nor on who was bought
    other = bought(7, "other")
    with pytest.raises(smq.LedgerError, match="1/2 of her requirement left"):
        smq.answer(smq.Mean(0, 100), folder(write, AGES, 7), other, ledger=ledger, client=client)
    assert ledger.remaining_share("(all owners)") == Fraction(1, 2)


def test_accounts_of_single_owners_and_of_all_do_not_mix(write, client, bought, in_memory, tmp_path):
    outcome, data = bought(), folder(write, FLAGS)
    single, every = smq.Ledger(tmp_path / "single.txt"), smq.Ledger(tmp_path / "every.txt")
    smq.answer(smq.Count(), FLAGS[in_memory.selected], in_memory, ledger=single, share="1/4")
    smq.answer(smq.Count(), data, outcome, ledger=every, share="1/4", client=client)
    with pytest.raises(smq.LedgerError, match="keeps accounts of single owners"):
        smq.answer(smq.Count(), data, outcome, ledger=single, share="1/4", client=client)
    with pytest.raises(smq.LedgerError, match="keeps accounts of all at once"):
        smq.answer(smq.Count(), FLAGS[in_memory.selected], in_memory, ledger=every, share="1/4")


@pytest.mark.parametrize("when", ["before it was kept", "after it was kept"])
def test_a_charge_without_an_answer_is_found_and_finished(write, client, bought, tmp_path, monkeypatch, when):
    """Noise is drawn once: what was kept is delivered, and the ledger is charged once."""
    from smqopt.query.ledger._release_record import Release

    outcome, data, ledger = bought(), folder(write, AGES), smq.Ledger(tmp_path / "ledger.txt")
    drawn, keep = [], Release.keep

    def die(self, content):
        if when == "after it was kept":
            keep(self, content)
        drawn.append(content["value"])
        raise KeyboardInterrupt

    def ask():
        return smq.answer(smq.Sum(0, 100), data, outcome, ledger=ledger, share="1/2", client=client)

    monkeypatch.setattr(Release, "keep", die)
    with pytest.raises(KeyboardInterrupt):
        ask()
    assert [charge.confirmed for charge in ledger.charges] == [False]
    monkeypatch.setattr(Release, "keep", keep)
    if when == "after it was kept":
        from smqopt.query.linear._discrete_laplace import DiscreteLaplace

        monkeypatch.setattr(DiscreteLaplace, "draw", lambda *_: pytest.fail("noise was drawn twice"))
    found = ask()
    assert [charge.confirmed for charge in ledger.charges] == [True]
    assert (found.value == drawn[0]) or when == "before it was kept"
    assert ledger.remaining_share("(all owners)") == Fraction(1, 2)


def test_what_is_not_answered_of_parts_says_so_before_the_first_pass(write, client, bought, monkeypatch):
    outcome, data = bought(), folder(write, AGES)
    monkeypatch.setattr("smqopt.scale._answer.map_parts", lambda *_: pytest.fail("a pass was run"))
    for query in (
        smq.WeightedSum([1.0] * N, 0, 1), smq.Count(weighting="inverse-probability"), smq.Sum(0, 1, step=0.1),
        smq.JointHistogram((0, 1, 2)), smq.LinearPredictor([1.0] * 3, 0, 1),
    ):  # fmt: skip
        with pytest.raises(smq.InputError, match="is not answered of a market in parts"):
            smq.answer(query, data, outcome, client=client)
    monkeypatch.setattr("smqopt.scale._solve.first_pass", lambda *_: pytest.fail("a pass was run"))
    market = outcome.certificate.solution.market
    for options in (
        {"constraints": [smq.PriceRange(at_most=0.5)]},
        {"objective": smq.DiminishingReturns(1.0)},
        {"solver": "conic"},
    ):
        with pytest.raises(smq.InputError, match="is not supported for a market in parts"):
            smq.solve(market, 1.0, client=client, **options)
    with pytest.raises(smq.InputError, match=r"'estimator'.*is not supported"):
        smq.answer(smq.Count(), data, outcome, client=client, estimator="P-E")


def test_entries_that_do_not_lie_as_the_owners_do_are_refused(write, client, bought):
    import copy

    outcome = bought()

    def ask(columns, parts=3):
        return smq.answer(smq.Sum(0, 100), write(columns, parts, "data"), outcome, client=client)

    good = {"id": COLUMNS["id"], "entry": AGES.astype(float)}
    with pytest.raises(smq.InputError, match="nothing is shuffled here"):
        ask(good, 4)
    with pytest.raises(smq.InputError, match=r"must be of owner 'o0' \(found 'o1'\)"):
        ask(good | {"id": np.concatenate([COLUMNS["id"][1::-1], COLUMNS["id"][2:]])})
    with pytest.raises(smq.InputError, match="must hold the entries of the"):
        ask({key: values[:-3] for key, values in good.items()})
    with pytest.raises(smq.InputError, match=r"part-00.*between 0 and 100") as error:
        ask(good | {"entry": good["entry"] + 4321.0})
    assert "43" not in str(error.value).partition("row group")[2]
    path = outcome.file_of(outcome.parts[1])
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))
    with pytest.raises(smq.InputError, match=r"part-001\.parquet: was changed since it was written"):
        ask(good)
    with pytest.raises(smq.UncertifiedError, match="is not what `procure` returned"):
        smq.answer(smq.Count(), write(good, 3, "data"), copy.copy(outcome), client=client)


def test_bins_of_requirements_stand_for_all(client):
    """The points that weights are chosen from keep Σ q and Σ q ε, whatever parts they lie in."""
    epsilon, q = RNG.lognormal(0, 2, 5000), RNG.random(5000)
    rows = [
        _answer_passes.BoughtRows("", epsilon[part], q[part], q[part] < 0, np.zeros(0), None)
        for part in np.array_split(np.arange(5000), 3)
    ]
    one = _answer_passes.WeightsPass(None)._of(_answer_passes.BoughtRows("", epsilon, q, q < 0, np.zeros(0), None))
    many = _answer_passes.AcceptanceCounts.join([_answer_passes.WeightsPass(None)._of(row) for row in rows])
    assert np.array_equal(one.keys, many.keys)
    assert np.array_equal(one.sums, many.sums)
    points, weight = one.points()
    assert weight.sum() == pytest.approx(q.sum(), rel=1e-6)
    assert weight @ points == pytest.approx(q @ epsilon, rel=1e-6)
