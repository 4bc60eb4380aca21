import math
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given, strategies as st

from smqopt.document import _svg as svg
from smqopt.errors import InputError

S = f"{{{svg.SVG}}}"


def test_a_picture_is_xml_with_a_description():
    drawn = svg.picture(
        10,
        20,
        [
            svg.group([svg.line((0, 0), (1, 1), style="axis")], style="all"),
            svg.rect((0, 0), 1, 2, style="box"),
            svg.polygon([(0, 0), (1, 0), (1, 1)], style="area"),
            svg.text((1, 2), "a < b & “c”", style="label", turn=-90),
        ],
        name="example",
        description='less < more & "quoted"',
    )
    root = ET.fromstring(drawn.render())
    assert root.get("viewBox") == "0 0 10 20"
    assert root.find(f"{S}desc").text == 'less < more & "quoted"'
    assert root.get("aria-labelledby") == root.find(f"{S}desc").get("id")
    assert root.find(f"{S}text").text == "a < b & “c”"


def test_attributes_are_escaped():
    root = ET.fromstring(svg.line((0, 0), (1, 1), style='"><script>').render())
    assert root.get("class") == '"><script>'


@given(st.floats(-1e4, 1e4))
def test_a_coordinate_is_right_to_a_twentieth(x):
    assert abs(float(svg.coordinate(x)) - x) <= 0.05 + 1e-9
    assert svg.coordinate(x) != "-0"


@given(st.integers(-10_000, 10_000), st.integers(-20, 20), st.integers(-20, 20))
def test_last_bits_do_not_decide_halfway_between_two_tenths(k, one, other):
    x = k / 10 + 0.05
    ulp = math.ulp(x)
    assert svg.coordinate(x + one * ulp) == svg.coordinate(x + other * ulp)


@pytest.mark.parametrize("x", [math.nan, math.inf, -math.inf])
def test_a_place_that_is_none_is_refused(x):
    with pytest.raises(InputError, match="finite"):
        svg.polyline([(0, 0), (x, 1)], style="curve")


def test_many_dots_are_one_path():
    drawn = svg.dots([(float(k), 1.5) for k in range(2000)], style="dots").render()
    assert drawn.count("M") == 2000
    assert len(drawn) < 30_000
