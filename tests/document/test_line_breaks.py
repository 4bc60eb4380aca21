import xml.etree.ElementTree as ET

import pytest
from hypothesis import given, strategies as st

from smqopt.document import break_lines
from smqopt.document._mathml import MATHML, in_pieces


@given(st.text(alphabet="ab+-=<>(){}[]^_\\ &", max_size=30))
def test_pieces_joined_are_the_formula(latex):
    assert "".join(break_lines(latex)) == latex


@pytest.mark.parametrize(
    "latex",
    [
        r"\left(a + b\right)",
        r"\frac{a + b}{c - d}",
        r"\begin{cases} a & \text{for}\: x \leq b \\c & \text{otherwise} \end{cases}",
        r"x^{a + b}",
        r"\left\{a - b\right.",
        r"\max_{q} \{ a - b \}",
        r"\sqrt{a = b}",
        "-x",
    ],
)
def test_nothing_is_broken_inside_brackets_or_after_a_leading_sign(latex):
    assert break_lines(latex) == [latex]


@pytest.mark.parametrize("latex", [r"a = b", r"a \le b", r"a := b", r"a + b", r"a \ge -b"])
def test_relations_and_signs_begin_a_piece(latex):
    first, second = break_lines(latex)
    assert first == "a "
    assert second == latex[2:]


def test_a_sign_at_the_start_of_a_line_stands_between_two_terms():
    pieces = in_pieces("a - b", block=True).split("<wbr/>")
    assert len(pieces) == 2
    sign = ET.fromstring(pieces[1]).find(f".//{{{MATHML}}}mo")
    assert (sign.text, sign.get("form")) == ("−", "infix")
