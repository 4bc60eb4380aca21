"""What is kept on disk: read back whole, never trusted where it is of other formulas, damaged, or of other sources."""

import hashlib
import json

import pytest
import sympy as sp

import smqopt as smq
from smqopt.derivation import _derive as derive
from smqopt.derivation._story import STEPS
from smqopt.derivation.argument._build import argue
from smqopt.derivation.storage import _cache as cache
from smqopt.derivation.storage._expression_json import UnknownPartError, from_data, to_data
from smqopt.derivation.storage._memo import find_argument
from smqopt.valuation.formulas._symbolic_forms import formulas_of

LAWS = [smq.Uniform(0, 1), smq.TruncatedExponential(2), smq.Triangular(0, 0.5, 1), smq.Gamma(2, 1, 0, 5)]


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("SMQOPT_CACHE", str(tmp_path / "kept"))
    return tmp_path / "kept" / "derivations"


def counted(law):
    """Give a maker of an argument that counts its calls, with the formulas it is made of."""
    formulas, calls = formulas_of(law), []

    def make():
        calls.append(1)
        return argue(formulas)

    return formulas, calls, make


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_made_once(place, law):
    formulas, calls, make = counted(law)
    first = cache.keep("argument", formulas, (), make)
    again = cache.keep("argument", formulas, (), make)
    assert again == first == argue(formulas)
    assert len(calls) == 1
    assert len(list(place.iterdir())) == 1


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_steps_are_read_back(place, law):
    argument = argue(formulas_of(law))
    steps = tuple(step(argument) for step in STEPS)
    data = json.loads(json.dumps(to_data(steps, cache._RECORDS)))
    assert from_data(data, cache._RECORDS) == steps


def test_a_derivation_is_the_same_from_disk(place):
    law = smq.Triangular(0, 0.5, 1)
    derive._derive_formulas.cache_clear()
    find_argument.cache_clear()
    first = derive.derive(law)
    derive._derive_formulas.cache_clear()
    find_argument.cache_clear()
    again = derive.derive(law)
    assert again.steps == first.steps
    assert again.argument == first.argument
    assert again.argument is not first.argument
    assert again.to_markdown() == first.to_markdown()
    assert again.threshold_function()([0.5, 2.0], law).tolist() == first.threshold_function()([0.5, 2.0], law).tolist()


DAMAGE = {
    "cut off": lambda text: text[: len(text) // 2],
    "empty": lambda _: "",
    "not JSON": lambda _: "smqopt",
    "a list": lambda _: "[]",
    "a letter changed": lambda text: text.replace("virtual_cost", "virtual_c0st", 1),
    "of other formulas": lambda text: text.replace('"low"', '"lov"'),
    "of other sources": lambda text: text.replace('"sources": "', '"sources": "0'),
    "a verdict changed": lambda text: text.replace("LINEAR", "QUADRATIC"),
    "without its hash": lambda text: text[64:],
    "of other formulas, with its hash": lambda text: sealed(text[64:].replace('"low"', '"lov"')),
    "not JSON, with its hash": lambda _: sealed("smqopt"),
    "a list, with its hash": lambda _: sealed("[]"),
    "without what was made, with its hash": lambda text: sealed(text[64:].replace('"made"', '"mode"')),
}


def sealed(text):
    return hashlib.sha256(text.encode()).hexdigest() + text


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_entries_are_made_anew(place, damage):
    formulas, calls, make = counted(smq.Uniform(0, 1))
    cache.keep("argument", formulas, (), make)
    (entry,) = place.iterdir()
    good = entry.read_text(encoding="utf-8")
    entry.write_text(DAMAGE[damage](good), encoding="utf-8")
    with pytest.warns(RuntimeWarning, match="damaged or changed"):
        assert cache.keep("argument", formulas, (), make) == argue(formulas)
    assert len(calls) == 2
    assert entry.read_text(encoding="utf-8") == good


def test_other_formulas_have_another_entry(place):
    one, _, make = counted(smq.Uniform(0, 1))
    other, calls, make_other = counted(smq.Power(2))
    cache.keep("argument", one, (), make)
    cache.keep("argument", other, (), make_other)
    cache.keep("other kind", one, (), make_other)
    assert len(calls) == 2
    assert len(list(place.iterdir())) == 3


def test_no_folder_keeps_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SMQOPT_CACHE", "")
    formulas, calls, make = counted(smq.Uniform(0, 1))
    cache.keep("argument", formulas, (), make)
    cache.keep("argument", formulas, (), make)
    assert len(calls) == 2
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_made_does_no_harm(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SMQOPT_CACHE", str(tmp_path / "file"))
    formulas, calls, make = counted(smq.Uniform(0, 1))
    assert cache.keep("argument", formulas, (), make) == argue(formulas)
    assert len(calls) == 1


HOSTILE = [
    ["__import__", ["symbol", "os", {}]],
    ["Lambda", ["symbol", "x", {}], ["symbol", "x", {}]],
    ["number", "1/0", "1"],
    ["number", "1", "0"],
    ["letter", "eval", ["symbol", "x", {}]],
    ["symbol", "x", {"positive": "yes"}],
    ["limit", "x", ["symbol", "x", {}]],
    ["Add", "x"],
    {"record": ["Path", {}]},
    {"member": ["Argument", "law"]},
    {"record": ["Step", {}]},
    {"member": ["Verdict", "CERTAIN"]},
    [],
    1.5,
]


@pytest.mark.parametrize("data", HOSTILE, ids=str)
def test_nothing_outside_the_allow_list_is_built(data):
    with pytest.raises(UnknownPartError):
        from_data(data, cache._RECORDS)


def test_what_cannot_be_written_is_not_kept(place):
    formulas = formulas_of(smq.Uniform(0, 1))
    strange = sp.Function("strange")(sp.Symbol("x"))
    with pytest.raises(UnknownPartError):
        to_data(strange, {})
    assert cache.keep("strange", formulas, (), lambda: (strange,)) == (strange,)
    assert not place.exists()
