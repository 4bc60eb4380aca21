"""Logarithmic axes, whiskers, and several charts in one picture."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from smqopt.document import Dots, Panel, PlottedCurve, Whiskers, chart, log_chart, panels
from smqopt.document._chart import elements
from smqopt.document._log_axis import LogAxis, log_spanning
from smqopt.document._svg import SVG


def test_decades_are_evenly_apart_and_clipped():
    axis = log_spanning([2.0, 500.0], 0, 100)
    assert axis.places(np.array([0.5, 1.0, 10.0, 100.0, 1000.0, 1e5])) == pytest.approx(
        [0, 0, 100 / 3, 200 / 3, 100, 100]
    )
    assert [label for _, label in axis.ticks()] == ["1", "10", "100", "1,000"]


def test_zero_stands_below_the_least_decade():
    axis = log_spanning([0.0, 20.0], 100, 0)
    assert axis.zero
    assert axis.place(0.0) == 100
    assert axis.place(10.0) < 100
    assert axis.place(100.0) == 0


def test_many_decades_have_few_ticks():
    assert len(LogAxis(-3, 17, 0, 100).ticks()) <= 7


@pytest.mark.parametrize("values", [[], [0.0], [5.0], [float("nan"), float("inf"), 3.0]])
def test_any_values_have_an_axis(values):
    axis = log_spanning(values, 0, 100)
    assert axis.high > axis.low


def drawn():
    marks = (
        Whiskers(np.array([0.2, 0.4]), np.array([1.0, 2.0]), np.array([3.0, 5.0]), "whiskers second"),
        Dots(np.array([0.2, 0.4]), np.array([2.0, 3.0]), "big-dots"),
    )
    first = chart("a", (0, 1), (0, 5), x_label="x", y_label="y", description="a", marks=marks)
    curve = PlottedCurve(np.array([0.2, 0.4]), np.array([0.0, 30.0]), "curve dashed")
    second = log_chart("b", (0, 1), [0.0, 30.0], x_label="x", y_label="z", description="b", marks=[curve])
    return panels(
        "both",
        [[Panel("A < B", first), Panel("two", second)], [Panel("three", second)]],
        [("curve", "one"), ("curve second", "two " * 60)],
        description="Two & two",
    )


def test_panels_are_one_picture():
    root = ET.fromstring(drawn())
    assert root.tag == f"{{{SVG}}}svg"
    assert root.find(f"{{{SVG}}}desc").text == "Two & two"
    titles = [text.text for text in root.iter(f"{{{SVG}}}text") if text.get("class") == "title middle"]
    assert titles == ["A < B", "two", "three"]
    groups = [group.get("transform") for group in root.iter(f"{{{SVG}}}g")]
    assert len(set(groups)) == 3
    whiskers = [path for path in root.iter(f"{{{SVG}}}path") if path.get("class") == "whiskers second"]
    assert len(whiskers) == 2


def test_whiskers_reach_from_low_to_high():
    picture = chart(
        "c",
        (0, 1),
        (0, 10),
        x_label="x",
        y_label="y",
        description="c",
        marks=[Whiskers(np.array([0.5]), np.array([0.0]), np.array([10.0]))],
    )

    (line,) = [one for one in elements(picture) if ("class", "whiskers") in one.attributes]
    x = picture.x.place(0.5)
    assert dict(line.attributes)["d"] == f"M{x:g} {picture.y.start:g}L{x:g} {picture.y.end:g}"
