"""Model files: what they may say, and what each refusal says."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smqopt.errors import InputError
from smqopt.market import Market
from smqopt.mechanism import procure
from smqopt.model_files import (
    RandomStreams,
    make_instance,
    make_query,
    model_files,
    read_model,
)
from smqopt.model_files._owners import DatasetOwners
from smqopt.model_files.adult._adult import embedded_adult
from smqopt.query import Count, Median
from smqopt.solvers import solve
from smqopt.valuation import GaussianCopula, Uniform, Valuation
from smqopt.verification import verify

VALUATION = '[valuation]\nlaw = "uniform"\nlow = 0\nhigh = 1\n'


def written(folder: Path, text: str) -> Path:
    path = folder / "model.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_arrays(small: Path) -> None:
    instance = make_instance(read_model(small))
    assert (instance.model.budget, instance.model.title, instance.model.seed) == (1.5, "small", 7)
    assert instance.market.owner_ids == ("ann", "bo", "cy", "di")
    assert instance.market.epsilon.tolist() == [0.5, 1.0, 1.5, 2.0]
    assert instance.require("reports").tolist() == [0.125, 0.25, 0.375, 0.9375]
    assert instance.require("data").tolist() == [1, 0, 1, 1]
    assert instance.needed_query == Count()
    assert isinstance(instance.market.valuation, Uniform)


def test_numbers_are_the_nearest_doubles(tmp_path: Path) -> None:
    text = f"budget = 0.1000000000000000055511151231257827\n[owners]\nepsilon = [0.3, 1, 4.9e-324]\n{VALUATION}"
    model = read_model(written(tmp_path, text))
    assert model.budget == 0.1
    assert make_instance(model).market.epsilon.tolist() == [0.3, 1.0, 5e-324]


def test_a_table_stands_beside_its_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "owners.csv").write_text(
        "name,eps,theta,x,m\nann,0.5,0.1,1,2\nbo,1,0.2,0,1\n", encoding="utf-8"
    )
    text = f"""budget = 1
[owners]
table = "sub/owners.csv"
ids = "name"
epsilon = "eps"
reports = "theta"
data = "x"
multiplicity = "m"
{VALUATION}"""
    path = written(tmp_path, text)
    monkeypatch.chdir("/")
    instance = make_instance(read_model(path))
    assert instance.market.owner_ids == ("ann", "bo")
    assert (instance.market.n, instance.market.population) == (2, 3)
    assert instance.require("reports").tolist() == [0.1, 0.1, 0.2]
    assert instance.require("data").tolist() == [1, 1, 0]
    assert instance.noise is None


def test_a_table_needs_no_names_where_its_column_is_epsilon(tmp_path: Path) -> None:
    (tmp_path / "owners.csv").write_text("epsilon\n0.5\n", encoding="utf-8")
    instance = make_instance(read_model(written(tmp_path, f'budget = 1\n[owners]\ntable = "owners.csv"\n{VALUATION}')))
    assert (instance.market.owner_ids, instance.reports, instance.data) == (("1",), None, None)


@pytest.mark.parametrize(
    ("reports", "expected"), [("[0.1, 0.2]", [0.1, 0.1, 0.2]), ("[0.1, 0.3, 0.2]", [0.1, 0.3, 0.2])]
)
def test_with_multiplicity_values_stand_a_row_or_an_owner(tmp_path: Path, reports: str, expected: list[float]) -> None:
    text = f"budget = 1\n[owners]\nepsilon = [1, 2]\nmultiplicity = [2, 1]\nreports = {reports}\n{VALUATION}"
    assert make_instance(read_model(written(tmp_path, text))).require("reports").tolist() == expected


def test_another_number_of_values_is_refused(tmp_path: Path) -> None:
    text = f"budget = 1\n[owners]\nepsilon = [1, 2]\nmultiplicity = [3, 1]\nreports = [1, 2, 3]\n{VALUATION}"
    with pytest.raises(
        InputError,
        match=r"key 'owners.reports': must have one value for each of the 2 rows, or of the 4 owners \(found 3\)",
    ):
        make_instance(read_model(written(tmp_path, text)))


def test_a_law_per_owner_and_a_formula(tmp_path: Path) -> None:
    arrays = 'budget = 1\n[owners]\nepsilon = [1, 2]\n[valuation]\nlaw = "uniform"\nlow = [0, 1]\nhigh = [1, 3]\n'
    assert make_instance(read_model(written(tmp_path, arrays))).market.high.tolist() == [1, 3]
    formula = 'budget = 1\n[owners]\nepsilon = [1, 2]\n[valuation]\ncdf = "theta**a"\nlow = 0\nhigh = 1\na = [2, 3]\n'
    law = read_model(written(tmp_path, formula)).valuation
    assert law.cdf([0.5, 0.5]).tolist() == [0.25, 0.125]


COPULA = """[valuation]
law = "gaussian-copula"
correlation = -0.5
valuation = { law = "uniform", low = 0, high = 2 }
"""
REQUIREMENT = 'requirement = { law = "uniform", low = 0, high = 1 }\n'


def test_a_law_given_the_requirement_of_each_owner(tmp_path: Path) -> None:
    text = f"budget = 1\n[owners]\nepsilon = [0.1, 0.5, 0.9]\n{COPULA}{REQUIREMENT}"
    model = read_model(written(tmp_path, text))
    assert isinstance(model.valuation, GaussianCopula)
    market = make_instance(model).market
    expected = GaussianCopula(Uniform(0, 2), Uniform(0, 1), -0.5).given([0.1, 0.5, 0.9])
    assert market.valuation.ppf(0.5).tolist() == expected.ppf(0.5).tolist()
    assert market.fingerprint == Market([0.1, 0.5, 0.9], expected).fingerprint


def test_drawn_requirements_bring_their_law_and_reports_follow_the_law_given_them(tmp_path: Path) -> None:
    owners = '[owners]\ndataset = "adult"\ncolumn = "age"\nepsilon = { law = "uniform", low = 0, high = 1 }\n'
    instance = make_instance(read_model(written(tmp_path, f"budget = 1\nseed = 3\n{owners}{COPULA}")))
    epsilon, reports = instance.market.epsilon, instance.require("reports")
    assert np.corrcoef(epsilon, reports)[0, 1] == pytest.approx(-0.5, abs=0.02)
    assert np.mean(reports) == pytest.approx(1.0, abs=0.02)
    assert type(instance.market.valuation).__name__ == "CopulaConditional"
    plain = make_instance(read_model(written(tmp_path, f"budget = 1\nseed = 3\n{owners}{VALUATION}")))
    assert np.array_equal(plain.market.epsilon, epsilon)


def test_the_copula_of_the_library_is_solved_within_its_budget() -> None:
    """Errata E4: the law given ε keeps the budget that the marginal law breaks."""
    path = next(path for path in model_files() if path.stem == "copula-correlated")
    instance = make_instance(read_model(path))
    solution = solve(instance.market, instance.model.budget)
    assert solution.total_spend == pytest.approx(instance.model.budget, rel=1e-11)
    certificate = verify(solution)
    assert certificate.valid, certificate.reasons
    paid = procure(certificate, instance.require("reports"), rng=instance.lottery).total_payment
    assert paid == pytest.approx(instance.model.budget, rel=0.03)


class Tenth(Valuation):
    """A third party's law, with one parameter."""

    name = "tenth"
    low = 0.0

    def __init__(self, high: float = 1.0) -> None:
        self.high = float(high)

    def cdf(self, t: Any) -> Any:
        return np.clip(np.asarray(t) / self.high, 0.0, 1.0)

    def pdf(self, t: Any) -> Any:
        return np.where((np.asarray(t) >= 0) & (np.asarray(t) <= self.high), 1.0 / self.high, 0.0)

    def to_dict(self) -> dict[str, Any]:
        return {"law": self.name, "high": self.high}


@pytest.fixture
def plugged(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = importlib.metadata.EntryPoint("tenth", f"{__name__}:Tenth", "smqopt.valuations")
    monkeypatch.setattr(importlib.metadata, "entry_points", importlib.metadata.EntryPoints([entry]).select)


@pytest.mark.usefixtures("plugged")
def test_a_third_partys_law_goes_by_the_name_of_its_entry_point(tmp_path: Path) -> None:
    text = 'budget = 0.5\n[owners]\nepsilon = [1, 2]\n[valuation]\nlaw = "tenth"\nhigh = 0.5\n'
    market = make_instance(read_model(written(tmp_path, text))).market
    assert isinstance(market.valuation, Tenth)
    assert market.high.tolist() == [0.5, 0.5]
    assert verify(solve(market, 0.5)).valid


@pytest.mark.usefixtures("plugged")
@pytest.mark.parametrize(
    ("table", "message"),
    [
        ('law = "tenht"\n', "did you mean 'tenth'"),
        ('law = "tenth"\nhihg = 2\n', "does not take these parameters"),
        ('law = "tenth"\nhigh = -1.0\n', "high"),
    ],
)
def test_bad_tables_of_a_third_partys_law(tmp_path: Path, table: str, message: str) -> None:
    path = written(tmp_path, f"budget = 1\n{OWNERS}[valuation]\n{table}")
    with pytest.raises(InputError, match=message) as caught:
        make_instance(read_model(path))
    assert str(caught.value).startswith(str(path))


QUERY_TABLES = {
    "count": ('kind = "count"\nweighting = "inverse-probability"', {"weighting": "inverse-probability"}),
    "quantile": ('kind = "quantile"\np = 0.9\nlow = 0\nhigh = 9', {"p": 0.9, "low": 0, "high": 9}),
    "sum": ('kind = "sum"\nlow = 0\nhigh = 1.5', {"low": 0.0, "high": 1.5, "weighting": "scaled"}),
    "mean": (
        'kind = "mean"\nlow = 0\nhigh = 1\nweighting = "inverse-probability"\nstep = 0.5',
        {"low": 0.0, "high": 1.0, "weighting": "inverse-probability", "step": 0.5},
    ),
    "weighted-sum": (
        'kind = "weighted-sum"\nweights = [1, -2]\nlow = 0\nhigh = 1',
        {"weights": [1.0, -2.0], "low": 0.0, "high": 1.0, "weighting": "scaled"},
    ),
    "histogram": ('kind = "histogram"\nedges = [0, 18, 65]', {"edges": [0.0, 18.0, 65.0]}),
    "joint-histogram": ('kind = "joint-histogram"\nedges = [0, 1, 2]', {"edges": [0.0, 1.0, 2.0]}),
    "own": (
        'kind = "own"\ntitle = "favourite"\nalphabet = [1, 2]\ncandidates = [1, 2]\nchange = [[0, 1], [1, 0]]',
        {"title": "favourite", "alphabet": [1.0, 2.0], "candidates": [1.0, 2.0], "change": [[0.0, 1.0], [1.0, 0.0]]},
    ),
}


@pytest.mark.parametrize("kind", QUERY_TABLES)
def test_every_query_can_be_asked_by_a_model(tmp_path: Path, kind: str) -> None:
    table, parameters = QUERY_TABLES[kind]
    query = read_model(written(tmp_path, f"budget = 1\n{OWNERS}{VALUATION}[query]\n{table}\n")).query
    assert query is not None
    assert (query.name, query.parameters()) == (kind, parameters)
    assert make_query(kind, **query.parameters()).parameters() == parameters


def test_median_with_its_range(tmp_path: Path) -> None:
    text = f'budget = 1\n[owners]\nepsilon = [1]\n{VALUATION}[query]\nkind = "median"\nlow = -3\nhigh = 120\n'
    assert read_model(written(tmp_path, text)).query == Median(-3, 120)


def test_reports_are_drawn_with_a_seed_and_missed_without(tmp_path: Path) -> None:
    text = f"budget = 1\n[owners]\nepsilon = [1, 2]\nmultiplicity = [1, 2]\n{VALUATION}"
    model = read_model(written(tmp_path, text))
    with pytest.raises(InputError, match=r"key 'owners.reports': is missing; add it, or give a seed"):
        make_instance(model).require("reports")
    drawn = make_instance(model, seed=3).require("reports")
    assert drawn.tolist() == RandomStreams.from_seed(3).valuation.random(3).tolist()


def test_the_seed_given_overrides_the_models(small: Path) -> None:
    model = read_model(small)
    assert (make_instance(model).seed, make_instance(model, seed=0).seed) == (7, 0)
    first, second = (make_instance(model, seed=seed).noise for seed in (None, 0))
    assert first is not None
    assert second is not None
    assert first.random() != second.random()


def test_the_four_streams_share_nothing() -> None:
    streams = RandomStreams.from_seed(1)
    drawn = np.concatenate([generator.random(2000) for generator in vars(streams).values()])
    assert np.unique(drawn).size == drawn.size
    assert np.max(np.abs(np.corrcoef(drawn.reshape(4, -1)) - np.eye(4))) < 0.1
    again = RandomStreams.from_seed(1).valuation.random(2000)
    assert np.array_equal(again, drawn[2000:4000])


def test_drawing_reports_leaves_requirements_and_noise_alone() -> None:
    model = read_model(next(path for path in model_files() if path.stem == "adult-income-count"))
    instance = make_instance(model)
    expected = RandomStreams.from_seed(1)
    assert instance.noise is not None
    assert instance.noise.random() == expected.noise.random()
    assert instance.market.epsilon.tolist() == expected.epsilon.random(32_561).tolist()
    assert instance.require("reports").tolist() == expected.valuation.random(32_561).tolist()
    assert instance.require("data").tolist() == embedded_adult().income_over_50k.tolist()


def test_a_data_set_needs_a_seed(tmp_path: Path) -> None:
    text = f"""budget = 1
[owners]
dataset = "adult"
column = "age"
epsilon = {{ law = "uniform", low = 0, high = 1 }}
{VALUATION}"""
    model = read_model(written(tmp_path, text))
    assert isinstance(model.owners, DatasetOwners)
    with pytest.raises(InputError, match="there is no seed to draw with; give seed, or --seed"):
        make_instance(model)
    assert make_instance(model, seed=5).require("data").sum() == embedded_adult().age.sum()


def test_private_values_do_not_print(small: Path) -> None:
    model = read_model(small)
    assert "0.9375" not in repr(model) + repr(make_instance(model))


def test_the_library_names_its_sources() -> None:
    models = [read_model(path) for path in model_files()]
    assert {model.path.stem for model in models} >= {"adult-income-count", "adult-median-age"}
    listing = (Path(__file__).parents[2] / "docs" / "models.md").read_text(encoding="utf-8")
    for model in models:
        assert model.title != model.path.stem
        assert model.source
        assert model.query is not None
        assert f"| `{model.path.stem}` |" in listing


OWNERS = "[owners]\nepsilon = [1, 2]\n"

REFUSED = {
    "unknown key": (
        f"budget = 1\nbugdet = 2\n{OWNERS}{VALUATION}",
        r"key 'bugdet': is unknown; did you mean 'budget'\?",
    ),
    "unknown table": (
        f"budget = 1\n{OWNERS}{VALUATION}[querry]\n",
        r"key 'querry': is unknown; did you mean 'query'\?",
    ),
    "unknown key of owners": (
        f"budget = 1\n[owners]\nepsilon = [1]\nid = ['a']\n{VALUATION}",
        r"key 'owners.id': is unknown; did you mean 'ids'\?",
    ),
    "unknown key of the law": (f"budget = 1\n{OWNERS}{VALUATION}hihg = 2\n", r"key 'hihg': .* did you mean 'high'\?"),
    "unknown key of the query": (
        f'budget = 1\n{OWNERS}{VALUATION}[query]\nkind = "count"\nlow = 1\n',
        r"key 'query.low': is unknown; Known: 'kind', 'weighting'",
    ),
    "unknown law": (f'budget = 1\n{OWNERS}[valuation]\nlaw = "unifrom"\n', r"did you mean 'uniform'\?"),
    "unknown query": (
        f'budget = 1\n{OWNERS}{VALUATION}[query]\nkind = "meen"\n',
        r"key 'query.kind': is not known \(found 'meen'\); did you mean 'mean'\?",
    ),
    "unknown data set": (
        f'budget = 1\n[owners]\ndataset = "audlt"\n{VALUATION}',
        r"key 'owners.dataset': .* did you mean 'adult'\?",
    ),
    "unknown column of a data set": (
        f'budget = 1\n[owners]\ndataset = "adult"\ncolumn = "agee"\n{VALUATION}',
        r"key 'owners.column': .* did you mean 'age'\?",
    ),
    "two sources": (f'budget = 1\n[owners]\ndataset = "adult"\ntable = "x.csv"\n{VALUATION}', "keep one of them"),
    "column without a data set": (
        f'budget = 1\n[owners]\nepsilon = [1]\ncolumn = "age"\n{VALUATION}',
        "key 'owners.column': belongs to a data set",
    ),
    "no budget": (f"{OWNERS}{VALUATION}", "key 'budget': is missing"),
    "no owners": (f"budget = 1\n{VALUATION}", "key 'owners': is missing"),
    "no law": (f"budget = 1\n{OWNERS}", "key 'valuation': is missing"),
    "law without a name": (f"budget = 1\n{OWNERS}[valuation]\nlow = 0\n", "must name a law"),
    "law and formula": (f'budget = 1\n{OWNERS}{VALUATION}cdf = "theta"\n', "has both 'law' and 'cdf'"),
    "a parameter of the law is missing": (
        f'budget = 1\n{OWNERS}[valuation]\nlaw = "power"\n',
        "lacks a parameter of the power law",
    ),
    "parts of a law by owner are missing": (
        f'budget = 1\n{OWNERS}[valuation]\nlaw = "by-owner"\n',
        "key 'parts': is missing",
    ),
    "formula of another kind": (f"budget = 1\n{OWNERS}[valuation]\ncdf = 3\nlow = 0\nhigh = 1\n", "cdf"),
    "formula without an end": (f'budget = 1\n{OWNERS}[valuation]\ncdf = "theta"\nlow = 0\n', "key 'high': is missing"),
    "formula with an unknown name": (f'budget = 1\n{OWNERS}[valuation]\ncdf = "theta**b"\nlow = 0\nhigh = 1\n', "'b'"),
    "owners no table": ("budget = 1\nowners = 3\n", r"key 'owners': must be a table \(found 3\); write \[owners\]"),
    "budget as text": (
        f'budget = "1"\n{OWNERS}{VALUATION}',
        r"key 'budget': must be a number \(found '1'\); write it without quotes",
    ),
    "budget as truth": (f"budget = true\n{OWNERS}{VALUATION}", r"key 'budget': must be a number \(found True\)"),
    "budget as array": (f"budget = [1]\n{OWNERS}{VALUATION}", r"key 'budget': must be a number \(found 'list'\)"),
    "budget negative": (
        f"budget = -1\n{OWNERS}{VALUATION}",
        r"key 'budget': must be a finite number ≥ 0 \(found -1.0\)",
    ),
    "budget infinite": (f"budget = inf\n{OWNERS}{VALUATION}", r"key 'budget'.*must be a finite number.*\(found inf\)"),
    "budget NaN": (f"budget = nan\n{OWNERS}{VALUATION}", r"key 'budget'.*must be a finite number"),
    "budget beyond doubles": (f"budget = 1{'0' * 400}\n{OWNERS}{VALUATION}", "key 'budget': must be a finite number"),
    "whole number beyond reading": (f"budget = 1{'0' * 5000}\n{OWNERS}{VALUATION}", "is not TOML"),
    "seed as text": (f'budget = 1\nseed = "1"\n{OWNERS}{VALUATION}', "key 'seed': must be a whole number"),
    "seed a fraction": (f"budget = 1\nseed = 1.5\n{OWNERS}{VALUATION}", "key 'seed': must be a whole number"),
    "seed negative": (
        f"budget = 1\nseed = -1\n{OWNERS}{VALUATION}",
        r"key 'seed': must be a whole number ≥ 0 \(found -1\)",
    ),
    "title a number": (f"budget = 1\ntitle = 1\n{OWNERS}{VALUATION}", "key 'title': must be text"),
    "epsilon negative": (
        f"budget = 1\n[owners]\nepsilon = [1, -2]\n{VALUATION}",
        r"\[owners\]: market: epsilon of owner 2.*≥ 0 \(found -2.0\)",
    ),
    "epsilon as text": (
        f'budget = 1\n[owners]\nepsilon = [1, "2"]\n{VALUATION}',
        r"key 'owners.epsilon', row 2: must be a number \(found '2'\)",
    ),
    "epsilon as truth": (
        f"budget = 1\n[owners]\nepsilon = [1, true]\n{VALUATION}",
        "key 'owners.epsilon', row 2: must be a number",
    ),
    "epsilon infinite": (
        f"budget = 1\n[owners]\nepsilon = [1, inf]\n{VALUATION}",
        r"key 'owners.epsilon', row 2: must be a finite number \(found inf\)",
    ),
    "epsilon a number": (f"budget = 1\n[owners]\nepsilon = 1\n{VALUATION}", "key 'owners.epsilon': must be an array"),
    "epsilon empty": (f"budget = 1\n[owners]\nepsilon = []\n{VALUATION}", "key 'owners.epsilon': must not be empty"),
    "ids repeat": (
        f"budget = 1\n[owners]\nepsilon = [1, 2]\nids = ['a', 'a']\n{VALUATION}",
        r"row 2: repeats the name of row 1 \(found 'a'\)",
    ),
    "ids too few": (f"budget = 1\n[owners]\nepsilon = [1, 2]\nids = ['a']\n{VALUATION}", "must hold 2 names"),
    "ids no names": (
        f"budget = 1\n[owners]\nepsilon = [1, 2]\nids = [1.5, 2]\n{VALUATION}",
        "key 'owners.ids', row 1: must be a name",
    ),
    "multiplicity zero": (
        f"budget = 1\n[owners]\nepsilon = [1]\nmultiplicity = [0]\n{VALUATION}",
        "row 1: must be a whole number ≥ 1",
    ),
    "law of another size": (
        f'budget = 1\n{OWNERS}[valuation]\nlaw = "uniform"\nlow = [0, 0, 0]\nhigh = 1\n',
        "2 owners",
    ),
    "low above high": (
        f'budget = 1\n{OWNERS}[valuation]\nlaw = "uniform"\nlow = 2\nhigh = 1\n',
        r"\[valuation\]: uniform: parameter 'high': must exceed low \(found 1.0\)",
    ),
    "low negative": (f'budget = 1\n{OWNERS}[valuation]\nlaw = "uniform"\nlow = -2\nhigh = 1\n', "must not be negative"),
    "parameter as text": (
        f"budget = 1\n{OWNERS}[valuation]\nlaw = \"uniform\"\nlow = '0'\nhigh = 1\n",
        "parameter 'low': must be a number",
    ),
    "parameter NaN": (
        f'budget = 1\n{OWNERS}[valuation]\nlaw = "uniform"\nlow = 0\nhigh = nan\n',
        "parameter 'high': must be finite",
    ),
    "median without its range": (
        f'budget = 1\n{OWNERS}{VALUATION}[query]\nkind = "median"\nlow = 1\n',
        "key 'query.high': is missing",
    ),
    "own query with a ragged table": (
        f'budget = 1\n{OWNERS}{VALUATION}[query]\nkind = "own"\ntitle = "q"\nalphabet = [1, 2]\ncandidates = [1]\nchange = [[0], [1, 0]]\n',
        r"\[query\]: own: argument 'change': must have 2 rows of 1 numbers",
    ),
    "own query without a table": (
        f'budget = 1\n{OWNERS}{VALUATION}[query]\nkind = "own"\ntitle = "q"\nalphabet = [1, 2]\ncandidates = [1]\nchange = 3\n',
        "key 'query.change': must be an array",
    ),
    "weighting that is none": (
        f'budget = 1\n{OWNERS}{VALUATION}[query]\nkind = "sum"\nlow = 0\nhigh = 1\nweighting = "best"\n',
        r"\[query\]: sum: argument 'weighting': is not known",
    ),
    "median over fractions": (
        f'budget = 1\n{OWNERS}{VALUATION}[query]\nkind = "median"\nlow = 1\nhigh = 2.5\n',
        "key 'query.high': must be a whole number",
    ),
    "median of nothing": (
        f'budget = 1\n{OWNERS}{VALUATION}[query]\nkind = "median"\nlow = 2\nhigh = 1\n',
        r"\[query\]: median: argument 'low'",
    ),
    "copula without its correlation": (
        f'budget = 1\n{OWNERS}[valuation]\nlaw = "gaussian-copula"\nvaluation = {{ law = "uniform", low = 0, high = 1 }}\n{REQUIREMENT}',
        "key 'valuation.correlation': must be given, or 'pearson' in its place, and not both",
    ),
    "copula with a correlation beyond 1": (
        f"budget = 1\n{OWNERS}{COPULA.replace('-0.5', '1.5')}{REQUIREMENT}",
        r"\[valuation\]: Gaussian copula: argument 'correlation': must be a number in \[−1, 1\] \(found 1.5\)",
    ),
    "copula without the law of valuations": (
        f'budget = 1\n{OWNERS}[valuation]\nlaw = "gaussian-copula"\ncorrelation = 0.5\n{REQUIREMENT}',
        "key 'valuation.valuation': is missing",
    ),
    "copula without the law of requirements": (
        f"budget = 1\n{OWNERS}{COPULA}",
        "key 'valuation.requirement': is missing",
    ),
    "copula with an unknown key": (
        f"budget = 1\n{OWNERS}{COPULA}{REQUIREMENT}corelation = 1\n",
        "key 'valuation.corelation': is unknown; did you mean 'correlation'",
    ),
    "copula with an unknown law": (
        f"budget = 1\n{OWNERS}{COPULA.replace('uniform', 'unifrm')}{REQUIREMENT}",
        r"\[valuation.valuation\].*did you mean 'uniform'",
    ),
    "requirement outside its law": (
        f"budget = 1\n[owners]\nepsilon = [0.5, 2]\n{COPULA}{REQUIREMENT}",
        r"\[owners\]: Gaussian copula: argument 'epsilon', owner 2: must lie in the support .*\(found 2.0\)",
    ),
    "syntax": ("budget = 1\n[owners\n", r"line 2: is not TOML: "),
    "key twice": ("budget = 1\nbudget = 2\n", r"line 2: budget: is not TOML: stands twice"),
    "nested without end": ("budget = " + "[" * 5000, "is not TOML"),
    "draw from a law per owner": (
        f'budget = 1\nseed = 1\n[owners]\ndataset = "adult"\ncolumn = "age"\nepsilon = {{ law = "uniform", low = [0, 0], high = 1 }}\n{VALUATION}',
        "must be common to all owners",
    ),
    "draw below zero": (
        f'budget = 1\nseed = 1\n[owners]\ndataset = "adult"\ncolumn = "age"\nepsilon = {{ law = "uniform", low = -1, high = 1 }}\n{VALUATION}',
        r"line 6: \[owners.epsilon\]: .*must not be negative",
    ),
    "draw from an unknown law": (
        f'budget = 1\nseed = 1\n[owners]\ndataset = "adult"\ncolumn = "age"\nepsilon = {{ law = "unifrm" }}\n{VALUATION}',
        "did you mean 'uniform'",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_with_file_key_value_rule_and_remedy(tmp_path: Path, case: str) -> None:
    text, message = REFUSED[case]
    path = written(tmp_path, text)
    with pytest.raises(InputError, match=message) as caught:
        make_instance(read_model(path))
    told = str(caught.value)
    assert told.startswith(str(path))
    assert "\n" not in told
    assert caught.value.remedy
    assert len(told) < 400 + len(str(path))


@pytest.mark.parametrize("value", ["nan", "inf", '"secret"', "true", f"1{'0' * 400}", "[4.25]"])
@pytest.mark.parametrize("key", ["reports", "data"])
def test_private_values_are_never_shown(tmp_path: Path, key: str, value: str) -> None:
    path = written(tmp_path, f"budget = 1\n[owners]\nepsilon = [1, 2]\n{key} = [0.5, {value}]\n{VALUATION}")
    with pytest.raises(InputError, match=f"key 'owners.{key}', row 2: must be a .*not shown") as caught:
        read_model(path)
    assert value not in str(caught.value)


TABLES = {
    "missing column": ("id,eps\na,1\n", r"line 2: key .owners.epsilon.*owners.csv: column .epsilon.: is missing"),
    "empty": ("", "the table is empty"),
    "no rows": ("id,epsilon\n", "the table is empty"),
    "row too short": ("id,epsilon\na,1\nb\n", r"line 3: the row must have 2 fields \(found 1\)"),
    "column twice": ("epsilon,epsilon\n1,1\n", "a column name stands twice"),
    "text": ("id,epsilon\na,1\nb,x\n", r"column 'epsilon', row 2: must be a number \(found 'x'\)"),
    "not a number": ("id,epsilon\na,nan\n", "column 'epsilon', row 1: must be a finite number"),
    "blank": ("id,epsilon\na,\n", "column 'epsilon', row 1: must be a number"),
    "negative": ("id,epsilon\na,1\nb,-1\n", "must be a finite number ≥ 0"),
}


@pytest.mark.parametrize("case", TABLES)
def test_bad_tables_are_refused(tmp_path: Path, case: str) -> None:
    content, message = TABLES[case]
    (tmp_path / "owners.csv").write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=message) as caught:
        make_instance(read_model(written(tmp_path, f'budget = 1\n[owners]\ntable = "owners.csv"\n{VALUATION}')))
    assert str(tmp_path) in str(caught.value)


@pytest.mark.parametrize("entry", ["secret", "nan", "inf", ""])
def test_private_columns_are_never_shown(tmp_path: Path, entry: str) -> None:
    (tmp_path / "owners.csv").write_text(f"epsilon,theta\n1,0.5\n1,{entry}\n", encoding="utf-8")
    path = written(tmp_path, f'budget = 1\n[owners]\ntable = "owners.csv"\nreports = "theta"\n{VALUATION}')
    with pytest.raises(InputError, match=r"column 'theta', row 2: must be a .*not shown") as caught:
        read_model(path)
    assert not entry or entry not in str(caught.value)
