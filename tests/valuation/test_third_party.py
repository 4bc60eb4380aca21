"""Laws from outside the package: a class of a few lines, an entry point, the conformance tests on first use."""

import gc
import importlib.metadata

import numpy as np
import pytest
from round_trip import solved_and_loaded

import smqopt as smq
from smqopt.valuation import valuation_from_dict
from smqopt.valuation.law import _external as foreign


class Parabola(smq.Valuation):
    low, high = 0.0, 1.0

    def cdf(self, t):
        return np.clip(t, 0.0, 1.0) ** 2

    def pdf(self, t):
        return np.where((np.asarray(t) >= 0) & (np.asarray(t) <= 1), 2.0 * np.asarray(t), 0.0)


class Stretched(smq.Valuation):
    name = "stretched"
    parameters = ("low", "high")

    def __init__(self, low, high):
        self.low, self.high = (np.asarray(end, dtype=float) if np.ndim(end) else float(end) for end in (low, high))

    def cdf(self, t):
        return np.clip((t - self.low) / (self.high - self.low), 0, 1) ** 2

    def pdf(self, t):
        x = (np.asarray(t) - self.low) / (self.high - self.low)
        return np.where((x >= 0) & (x <= 1), 2 * x / (self.high - self.low), 0.0)


@pytest.mark.parametrize(
    "law",
    [
        Parabola(),
        Stretched(1, 3),
        Stretched(np.linspace(0, 1, 12), 3.0),
        smq.Truncated(Parabola(), 0.25, 0.5),
        smq.Mixture([Parabola(), smq.Uniform(0, 2)], [1, 2]),
        smq.ByOwner([Parabola(), smq.Power(2), Stretched(0, 2)] * 4),
    ],
    ids=lambda law: repr(law)[:40],
)
def test_works_end_to_end(tmp_path, law):
    certificate = solved_and_loaded(law, tmp_path)
    assert certificate.valid
    assert certificate.grade == "numerical"


def test_agrees_with_the_law_by_name():
    epsilon = np.linspace(0.1, 1, 7)
    ours, theirs = (smq.solve(smq.Market(epsilon, law), 1.5) for law in (Parabola(), smq.Power(2)))
    assert ours.thresholds == pytest.approx(theirs.thresholds, rel=1e-12)
    assert Parabola().name == "Parabola"


def test_the_battery_runs_once(monkeypatch):
    calls = []
    monkeypatch.setattr(foreign, "validate", lambda law, **_: calls.append(law))
    law = Parabola()
    for _ in range(3):
        smq.Market([0.5], law)
        smq.Market([0.5], smq.Uniform(0, 1))
    assert calls == [law]


class Broken(Parabola):
    def __init__(self, **changes):
        for name, value in changes.items():
            setattr(self, name, value)


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"pdf": lambda t: np.ones(np.shape(t))}, "f must be"),
        ({"cdf": lambda t: np.clip(t, 0, 1) ** 2 / 2}, "F must be 1"),
        ({"cdf": lambda t: np.clip(t, 0, 1) + 0.4 * np.sin(9 * np.pi * np.clip(t, 0, 1))}, "F must"),
        ({"cdf": lambda t: np.full(np.shape(t), np.nan)}, "F must be"),
        ({"cdf": lambda _: 0.5}, "one number for each point"),
        ({"cdf": lambda _: "half"}, "one number for each point"),
        ({"low": -1.0}, "0 ≤ low < high"),
        ({"high": float("inf")}, "0 ≤ low < high"),
        ({"high": float("nan")}, "0 ≤ low < high"),
        ({"high": np.ones(3)}, "one number an owner"),
        ({"high": "1"}, "must be numbers"),
        ({"virtual_cost": lambda t: 2 * np.asarray(t)}, "virtual cost must be"),
        ({"ppf": lambda q: np.asarray(q) ** 2}, "F⁻¹"),
    ],
)
def test_broken_laws_are_refused_by_the_market(changes, rule):
    law = Broken(**changes)
    with pytest.raises(smq.InputError, match=rule):
        smq.Market([0.5], law)
    with pytest.raises(smq.InputError, match=rule):
        smq.Mixture([smq.Uniform(0, 1), law], [1, 1])


def test_a_law_without_ends_is_refused():
    class Endless(smq.Valuation):
        cdf = pdf = Parabola.cdf

    with pytest.raises(smq.InputError, match="attribute 'low'"):
        smq.Market([0.5], Endless())


class Sloped(smq.Valuation):
    """Keeps a parameter to itself, so that its data do not tell two of them apart."""

    low, high = 0.0, 1.0

    def __init__(self, k=2.0):
        self.k = k

    def cdf(self, t):
        return np.clip(t, 0.0, 1.0) ** self.k

    def pdf(self, t):
        x = np.clip(t, 0.0, 1.0)
        return np.where((np.asarray(t) >= 0) & (np.asarray(t) <= 1), self.k * x ** (self.k - 1), 0.0)


@pytest.mark.parametrize(
    "wrap",
    [lambda law: law, lambda law: smq.Truncated(law, 0.0, 0.5), lambda law: smq.ByOwner([law])],
    ids=["law", "truncated", "by owner"],
)
def test_the_fingerprint_tells_laws_apart_whose_data_do_not(tmp_path, wrap):
    two, three = (smq.Market([0.5], wrap(Sloped(k))) for k in (2.0, 3.0))
    assert two.valuation.to_dict() == three.valuation.to_dict()
    assert two.fingerprint != three.fingerprint
    smq.solve(three, 0.2).save(tmp_path)
    certificate = smq.verify(smq.Solution.load(tmp_path))  # comes back with k = 2
    assert not certificate.valid


# --- entry points --------------------------------------------------------------------------------------------------


@pytest.fixture
def plugged(monkeypatch):
    def plug(*entries):
        group = importlib.metadata.EntryPoints(
            importlib.metadata.EntryPoint(name, value, "smqopt.valuations") for name, value in entries
        )
        monkeypatch.setattr(importlib.metadata, "entry_points", group.select)

    return plug


def test_an_entry_point_is_named_by_a_file(plugged):
    plugged(("stretched-by-others", f"{__name__}:Stretched"))
    law = valuation_from_dict({"law": "stretched-by-others", "low": 1, "high": 3})
    assert float(law.cdf(2.0)) == 0.25
    inside = valuation_from_dict(
        {"law": "truncated", "valuation": {"law": "stretched-by-others", "low": 1, "high": 3}, "low": 1, "high": 2}
    )
    assert float(inside.cdf(1.5)) == 0.25


@pytest.mark.parametrize(
    ("entries", "table", "rule"),
    [
        ([("mine", "no_such_module_at_all:Law")], {"law": "mine"}, "cannot be loaded"),
        ([("mine", f"{__name__}:NoSuchLaw")], {"law": "mine"}, "cannot be loaded"),
        ([("mine", f"{__name__}:SHARED")], {"law": "mine"}, "gives no law"),
        ([("mine", "builtins:dict")], {"law": "mine"}, "gives no law"),
        ([("mine", f"{__name__}:Stretched")], {"law": "mine", "low": 0}, "does not take these parameters"),
        ([("mine", f"{__name__}:Stretched")], {"law": "mine", "low": 3, "high": 1}, "0 ≤ low < high"),
        (
            [("mine", f"{__name__}:Stretched"), ("mine", f"{__name__}:Parabola")],
            {"law": "mine"},
            "more than one package",
        ),
        ([("mine", f"{__name__}:Stretched")], {"law": "mime"}, "did you mean 'mine'"),
    ],
)
def test_bad_entry_points_are_refused(plugged, entries, table, rule):
    plugged(*entries)
    with pytest.raises(smq.InputError, match=rule):
        valuation_from_dict(table)


SHARED = 3


def test_an_unknown_law_is_still_unknown():
    with pytest.raises(smq.InputError, match="did you mean 'uniform'"):
        valuation_from_dict({"law": "uniforn"})


def test_the_newest_class_of_a_name_is_taken():
    class First(Parabola):
        name = "twice-defined"

    class Second(Parabola):
        name = "twice-defined"

    assert type(valuation_from_dict({"law": "twice-defined"})) is Second
    del Second
    gc.collect()
    assert type(valuation_from_dict({"law": "twice-defined"})) is First


@pytest.mark.parametrize(
    "tag", [object(), 1j, {1}, b"x", float("nan"), "\ud800", {"a": object()}], ids=lambda tag: type(tag).__name__
)
def test_a_parameter_that_no_file_can_hold_is_refused(tag):
    class Tagged(smq.Valuation):
        name = "tagged"
        low, high = 0.0, 1.0
        parameters = ("tag",)

        def __init__(self, tag):
            self.tag = tag

        def _cdf(self, theta):
            return theta**2

        def _pdf(self, theta):
            return 2 * theta

    assert smq.solve(smq.Market([1.0], Tagged([1, "two"])), 0.1).thresholds.size == 1
    with pytest.raises(
        smq.InputError, match="the tagged law: parameter 'tag': must be a finite number, a text, or a list"
    ):
        smq.Market([1.0], Tagged(tag))
