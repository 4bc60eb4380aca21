import xml.etree.ElementTree as ET

import pytest

from smqopt.document._mathml import MATHML, mathml
from smqopt.errors import InputError
from smqopt.notation import LEGEND

M = f"{{{MATHML}}}"


@pytest.mark.parametrize("entry", LEGEND, ids=lambda entry: entry.name)
@pytest.mark.parametrize("block", [False, True])
def test_every_letter_of_the_legend_converts(entry, block):
    root = ET.fromstring(mathml(entry.latex, block=block))
    assert root.tag == f"{M}math"
    assert root.get("display") == ("block" if block else "inline")
    assert root.find(f"{M}semantics/{M}annotation").text == entry.latex


@pytest.mark.parametrize(
    "latex",
    [
        r"\begin{cases} a & b < c \\ d & \text{otherwise} \end{cases}",
        r"\left(\frac{\theta - \underline{\theta}}{\overline{\theta} - \underline{\theta}}\right)^{k}",
        r"\text{a < b & c > d}",
        r"x < y > z",
        r"\sum_{i=1}^{n} \varepsilon_{i} F{\left(\theta_{i} \right)}",
        r"\log{\left(1 + W\left(e^{x}\right) \right)}",
    ],
)
def test_what_derivations_write_converts(latex):
    root = ET.fromstring(mathml(latex, block=True))
    assert "".join(root.find(f"{M}semantics/{M}mrow").itertext()).strip()


def test_comparison_signs_in_a_text_stay_what_they_are():
    root = ET.fromstring(mathml(r"\text{a<b & c}"))
    assert root.find(f".//{M}mtext").text.replace("\xa0", " ") == "a<b & c"


def test_the_index_of_max_stands_below_in_a_displayed_formula_alone():
    assert ET.fromstring(mathml(r"\max_{x} y", block=True)).find(f".//{M}munder") is not None
    assert ET.fromstring(mathml(r"\max_{x} y")).find(f".//{M}munder") is None


def test_a_single_upright_letter_stays_upright():
    root = ET.fromstring(mathml(r"\mathrm{d}\theta"))
    assert root.find(f".//{M}mtext").text == "d"


@pytest.mark.parametrize("latex", ["", "   ", r"\begin{aligned} a &= b \end{aligned}", r"a & b"])
def test_a_formula_that_does_not_convert_is_refused(latex):
    with pytest.raises(InputError, match="formula"):
        mathml(latex)


def test_a_number_with_separators_is_a_number():
    root = ET.fromstring(mathml(r"B = \text{6,512.2}"))
    assert root.find(f".//{M}mn").text == "6,512.2"
    assert root.find(f".//{M}mtext") is None
