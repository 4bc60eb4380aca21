import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from smqopt.document import Area, Dots, Level, PlottedCurve, chart, render, round_step
from smqopt.document._axis import spanning
from smqopt.document._svg import SVG


@given(st.floats(-1e9, 1e9), st.floats(0, 1e9))
@example(0.0, 5e-324)
@example(1e-310, 1e-311)
@example(0.0, 1e-279)
def test_an_axis_holds_its_range_between_round_ticks(low, width):
    high = low + width
    axis = spanning(low, high, 0, 100)
    slack = 1e-6 * (axis.high - axis.low)
    assert axis.low <= low + slack
    assert axis.high >= high - slack
    labels = [label for _, label in axis.ticks()]
    assert 2 <= len(labels) <= 13
    assert len(set(labels)) == len(labels)


@given(st.floats(1e-300, 1e300))
def test_a_round_step_is_not_below_and_at_most_two_and_a_half_times_above(step):
    assert step * (1 - 1e-8) <= round_step(step) <= 2.5 * step * (1 + 1e-8)


def test_places_are_linear_and_clipped():
    axis = spanning(0, 1, 10, 20)
    assert axis.places(np.array([-1.0, 0.0, 0.5, 1.0, 2.0])).tolist() == [10, 10, 15, 20, 20]


@pytest.mark.parametrize("value", [0.0, 1.0, -3.0])
def test_a_range_of_one_value_still_has_an_axis(value):
    axis = spanning(value, value, 0, 1)
    assert axis.low <= value <= axis.high
    assert axis.low < axis.high


def test_a_chart_is_xml_inside_its_frame():
    x = np.linspace(0, 1, 11)
    drawn = render(
        chart(
            "example",
            (0, 1),
            (0, 1),
            x_label="x < 1",
            y_label="y",
            description="all marks",
            marks=[
                Area(x, x**2),
                PlottedCurve(x, x),
                Dots(x, 1 - x),
                Dots(x[:0], x[:0]),
                Level(0.5, "half"),
                Level(0.9, "late", upright=True),
                Level(0.1, "early", upright=True),
                Level(1.0, "top"),
            ],
        )
    )
    root = ET.fromstring(drawn)
    assert len(root.findall(f"{{{SVG}}}path")) > 6
    for text in root.iter(f"{{{SVG}}}text"):
        assert 0 <= float(text.get("x")) <= 360
        assert 0 <= float(text.get("y")) <= 240
