"""Groups by several labels, crossed columns and masks; shares; numbers with a probability; quotas from tables."""

import itertools
import json
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st

import smqopt as smq
from smqopt.market import constraint_from_dict
from smqopt.market.constraints._sure_number import least_mean, tail_probability

RNG = np.random.default_rng(8)
SEX, AGE = RNG.choice(["f", "m"], 40), RNG.choice([20, 30, 40], 40)
MARKET = smq.Market(
    RNG.uniform(0.1, 1, 40), smq.Uniform(0, 1), groups={"sex": SEX, "age": AGE}, multiplicity=RNG.integers(1, 4, 40)
)
YOUNG_WOMEN = (SEX == "f") & (AGE <= 30)
WAYS = {
    "a mask": smq.Coverage(YOUNG_WOMEN, at_least=9.0),
    "crossed columns": smq.Coverage({"sex": "f", "age": [20, 30]}, at_least=9.0),
    "crossed with text": smq.Coverage({"age": ("20", "30"), "sex": ["f"]}, at_least=9.0),
}


def optimum(*records):
    solution = smq.solve(MARKET, 15.0, constraints=records)
    certificate = smq.verify(solution)
    assert certificate.valid, certificate.reasons
    assert certificate.grade == "proved"
    return solution


@pytest.mark.parametrize("way", WAYS)
def test_a_group_is_its_owners_however_it_is_named(way, tmp_path):
    rows = np.flatnonzero(YOUNG_WOMEN)
    plain = smq.LinearRow(-9.0, acceptance=tuple((int(row), -float(MARKET.weights[row])) for row in rows))
    solution = optimum(WAYS[way])
    assert solution.purchased_privacy == pytest.approx(optimum(plain).purchased_privacy, rel=1e-12)
    assert float(MARKET.weights[rows] @ solution.acceptance[rows]) >= 9 - 1e-9
    assert constraint_from_dict(json.loads(json.dumps(WAYS[way].to_dict()))) == WAYS[way]
    assert hash(WAYS[way]) == hash(constraint_from_dict(WAYS[way].to_dict()))
    solution.save(tmp_path)
    assert smq.verify(smq.Solution.load(tmp_path)).valid


def test_several_labels_are_their_union():
    both = smq.Coverage("age", [30, 40], at_least=20.0)
    assert both.members(MARKET).tolist() == np.flatnonzero(AGE >= 30).tolist()
    assert both.words == "at least 20 expected owners of age = 30 or 40"
    assert smq.GroupBudget({"age": 40}, at_most=1.0).words == "at most 1 spent on age = 40"


@pytest.mark.parametrize("share", [0.0, 0.3, 0.75, 1.0])
def test_a_share_is_of_all_who_sell(share):
    solution = optimum(smq.Coverage("sex", "f", share=share))
    sellers = MARKET.weights * solution.acceptance
    assert sellers[SEX == "f"].sum() >= share * sellers.sum() - 1e-9
    if share == 1.0:
        assert not sellers[SEX == "m"].any()


@given(st.integers(1, 60), st.data())
def test_the_number_demanded_is_proved_and_least(n, data):
    k, probability = data.draw(st.integers(0, n)), data.draw(st.sampled_from([0.01, 0.5, 0.95, 1 - 1e-9]))
    m = least_mean(k, n, probability)

    def tail(mean):
        with mpmath.workdps(40):
            return float(mpmath.betainc(k, n - k + 1, 0, mpmath.mpf(mean) / n, regularized=True)) if k else 1.0

    assert k <= m <= n
    assert tail(m) >= probability * (1 - 1e-15)
    if m > k:
        assert tail(m * (1 - 1e-12)) <= probability * (1 + 1e-9)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9), st.data())
def test_so_many_sell_with_at_least_that_probability(acceptance, data):
    q = np.array(acceptance)
    k = data.draw(st.integers(0, int(q.sum())))
    exact = sum(
        np.prod(np.where(sold, q, 1 - q))
        for sold in map(np.array, itertools.product([True, False], repeat=q.size))
        if sold.sum() >= k
    )
    found = tail_probability(q, np.ones(q.size, dtype=np.intp), k)
    assert found == pytest.approx(exact, abs=1e-14)
    for probability in (0.5, 0.9):
        if q.sum() >= least_mean(k, q.size, probability):
            assert found >= probability - 1e-14


def test_a_number_with_a_probability_reaches_it():
    record = smq.Coverage("sex", "f", at_least=12, probability=0.95)
    solution = optimum(record)
    assert 0.95 <= record.reach(MARKET, solution.acceptance) < 0.99
    infeasible = smq.solve(MARKET, 0.1, constraints=[record])
    assert infeasible.status is smq.Status.INFEASIBLE


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: smq.Coverage("sex", at_least=1), "must be text or a whole number"),
        (lambda: smq.Coverage("sex", [], at_least=1), "must name a label"),
        (lambda: smq.Coverage("age", [20, "20"], at_least=1), "must name each label once"),
        (lambda: smq.Parity("age", labels=["20", 20], within=0.1), "'labels'.*must name each label once"),
        (lambda: smq.Coverage("age", [20, True], at_least=1), "must be text or a whole number"),
        (lambda: smq.Coverage({}, at_least=1), "must name a column of groups"),
        (lambda: smq.Coverage({3: "f"}, at_least=1), "must name columns"),
        (lambda: smq.Coverage({"sex": "f"}, "f", at_least=1), "goes with one column"),
        (lambda: smq.Coverage([0, 1], at_least=1), "mask of booleans"),
        (lambda: smq.Coverage(np.ma.masked_equal([True, False], False), at_least=1), "mask of booleans"),
        (lambda: smq.PriceRange(at_most=1, label="f"), "goes with one column"),
        (lambda: smq.Coverage("sex", "f"), "one of the two"),
        (lambda: smq.Coverage("sex", "f", at_least=1, share=0.5), "one of the two"),
        (lambda: smq.Coverage("sex", "f", share=1.1), "from 0 to 1"),
        (lambda: smq.Coverage("sex", "f", at_least=1.5, probability=0.9), "whole number"),
        (lambda: smq.Coverage("sex", "f", at_least=1, probability=1.0), "inside"),
        (lambda: smq.Coverage("sex", "f", share=0.5, probability=0.5), "whole number"),
        (lambda: optimum(smq.Coverage([True], at_least=1)), "one entry a row of the market, 40"),
        (lambda: optimum(smq.Coverage(np.zeros(40, bool), at_least=1)), "must hold an owner"),
        (lambda: optimum(smq.Coverage({"sex": "x"}, at_least=1)), "Known: 'f', 'm'"),
        (lambda: optimum(smq.Coverage("sex", "f", at_least=1000, probability=0.9)), "owners of the group"),
    ],
)
def test_what_is_no_group_or_quota_is_refused(make, words):
    with pytest.raises(smq.InputError, match=words):
        make()


def frames():
    yield {"sex": ["f", "m"], "age": ["20 | 30", ""], "at_least": ["9", ""], "share": ["", "0.4"]}
    yield {"sex": ["f", "m"], "age": ["20|30", None], "at_least": [9.0, np.nan], "share": [np.nan, 0.4]}
    yield pytest.importorskip("polars").DataFrame(
        {"sex": ["f", "m"], "age": ["20|30", None], "at_least": [9, None], "share": [None, 0.4]}
    )


@pytest.mark.parametrize("row", [0, 1, 2], ids=["text", "numbers", "frame"])
def test_quotas_come_from_a_table(row):
    table = next(itertools.islice(frames(), row, None))
    first, second = smq.Coverage.from_table(table)
    assert first.members(MARKET).tolist() == np.flatnonzero(YOUNG_WOMEN).tolist()
    assert (first.at_least, second.share, second.at_least) == (9.0, 0.4, None)
    optimum(first, second)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("sex,at_least\nf,1\nf,2\n", r"quotas.csv: row 2: must name a stratum of its own, row 1 has it \(found 'f'\)"),
        ("sex,at_least\nf,-1\n", "row 1: .*finite number ≥ 0"),
        ("sex,at_least\nf,x\n", "row 1: column 'at_least'"),
        ("sex,at_leest\nf,1\n", "must have columns of groups, and 'at_least'"),
        ("at_least\n1\n", "add a column of labels"),
        ("sex,at_least\n", "the table is empty"),
        ("sex,at_least,share\nf,,\n", "row 1: .*one of the two"),
        ("sex,share\nf,.6\nm,.5\n", r"quotas.csv: .*'share': must sum to at most 1 .*row 1, .*row 2, .* in all"),
    ],
)
def test_a_bad_table_of_quotas_names_the_row(tmp_path, text, words):
    (tmp_path / "quotas.csv").write_text(text, encoding="utf-8")
    with pytest.raises(smq.InputError, match=words):
        smq.Coverage.from_table(tmp_path / "quotas.csv")


def test_quotas_of_a_file_that_contradict_one_another_are_named_by_row(tmp_path):
    """Nine tenths of all are women, and three men: there are twelve owners."""
    (tmp_path / "quotas.csv").write_text("sex,at_least,share\nf,,0.9\nm,3,\n", encoding="utf-8")
    market = smq.Market([1.0] * 12, smq.Uniform(0, 1), groups={"sex": ["f", "m", "m"] * 4})
    solution = smq.solve(market, 100.0, constraints=smq.Coverage.from_table(tmp_path / "quotas.csv"))
    assert [words.partition(" (")[2] for words in solution.conflict] == ["quotas.csv, row 1)", "quotas.csv, row 2)"]


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ('table = "none.csv"', "none.csv"),
        ("", "key 'table': must name a CSV file"),
        ('tabel = "x.csv"', "did you mean 'table'"),
        ('table = "quotas.csv"', "'town'"),
    ],
)
def test_a_model_file_locates_its_quotas(tmp_path, table, words):
    (tmp_path / "quotas.csv").write_text("town,at_least\nf,1\n", encoding="utf-8")
    head = 'budget = 1\n[owners]\nepsilon = [1, 1]\n[valuation]\nlaw = "uniform"\nlow = 0\nhigh = 1\n'
    (tmp_path / "model.toml").write_text(f'{head}[[constraint]]\nkind = "quotas"\n{table}\n', encoding="utf-8")
    with pytest.raises(smq.InputError, match=words):
        loads_and_solves(tmp_path / "model.toml")


@pytest.mark.parametrize(
    "shares",
    [
        [("sex", "f", 0.6), ("sex", "m", 0.5)],
        [({"sex": "f", "age": (20, 30)}, None, 1.0), ({"sex": "f", "age": 40}, None, 1e-9)],
        [("sex", "f", 0.3), ({"age": 20}, None, 0.9), ({"sex": "m", "age": (30, 40)}, None, 0.2)],
        [(YOUNG_WOMEN, None, 0.7), (~YOUNG_WOMEN, None, 0.4)],
    ],
    ids=["one column", "crossed", "exclusive ones among others", "masks"],
)
def test_shares_that_leave_nobody_are_refused(shares):
    records = [smq.Coverage(column, label, share=share) for column, label, share in shares]
    with pytest.raises(smq.InputError, match=r"'share': must sum to at most 1 .*; lower them by .* in all"):
        optimum(*records)
    with pytest.raises(smq.InputError, match="'share'"):
        smq.solve(smq.Program(MARKET, 1.0, constraints=records))


@pytest.mark.parametrize(
    "shares",
    [
        [("sex", "f", 0.6), ("sex", "m", 0.4)],
        [("age", 20, 0.1), ("age", 30, 0.2), ("age", 40, 0.7)],
        [("sex", "f", 0.6), ("age", 20, 0.5)],
        [("sex", "f", 0.6), ("sex", ("f", "m"), 1.0)],
    ],
    ids=["one", "one but for rounding", "overlapping columns", "overlapping labels"],
)
def test_shares_that_leave_somebody_are_solved(shares):
    optimum(*(smq.Coverage(column, label, share=share) for column, label, share in shares))


def test_a_rounded_eleventh_is_an_eleventh():
    eleven = smq.Market(np.linspace(0.1, 1, 11), smq.Uniform(0, 1), groups={"g": list(range(11))})
    assert sum([Fraction(1 / 11)] * 11) > 1
    solution = smq.solve(eleven, 1.0, constraints=[smq.Coverage("g", k, share=1 / 11) for k in range(11)])
    assert np.ptp(solution.acceptance) <= 1e-9 < solution.acceptance.min()


def loads_and_solves(path):
    model = smq.load_model(path)
    smq.solve(model.market, model.budget, constraints=model.constraints)


def test_an_unknown_label_of_a_table_is_refused_by_file_and_row(tmp_path):
    table = tmp_path / "quotas.csv"
    table.write_text("sex,at_least\nf,0.2\nx,0.3\n")
    market = smq.Market([0.2, 0.5], smq.Uniform(0, 1), groups={"sex": ["f", "m"]})
    with pytest.raises(smq.errors.InputError, match=r"quotas\.csv, row 2.*must be a label of the group column 'sex'"):
        smq.solve(market, 0.5, constraints=smq.Coverage.from_table(table))
