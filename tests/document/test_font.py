"""The font of formulas: it has what formulas use, fits a report, and stands beside its licence."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from fontTools.ttLib import TTFont

from smqopt.document._mathml import mathml
from smqopt.document._page import _FONT
from smqopt.notation import LEGEND

ROOT = Path(__file__).parents[2]
ITALIC = {"h": 0x210E}
"""Letters of one-letter names are set in italics; that of h stands elsewhere than its neighbours."""


@pytest.fixture(scope="module")
def font():
    return TTFont(_FONT)


def italic(letter):
    for first, base in (("a", 0x1D44E), ("A", 0x1D434), ("α", 0x1D6FC), ("Α", 0x1D6E2)):
        if 0 <= ord(letter) - ord(first) < 26:
            return ITALIC.get(letter, base + ord(letter) - ord(first))
    return ord(letter)


def code_points(latex):
    for element in ET.fromstring(mathml(latex)).iter():
        tag = element.tag.rpartition("}")[2]
        text = (element.text or "").strip() if tag in ("mi", "mn", "mo", "mtext") else ""
        yield from map(ord, text)
        if tag == "mi" and len(text) == 1:
            yield italic(text)


def formulas():
    yield from (entry.latex for entry in LEGEND)
    for page in [*ROOT.glob("docs/*.md"), *ROOT.glob("docs/derivations/[kpu]*.md")]:
        text = page.read_text(encoding="utf-8")
        yield from re.findall(r"(?<![\\$`])\$([^$`\n]+)\$(?!\$)", text)
    yield r"\sqrt{\frac{a}{b}} \left\{ \overline{\theta} \underline{\theta} \hat{x} \ell' \right\} \int_0^1 \prod \mathbb{E}"


def test_the_font_has_what_formulas_use(font):
    known = set(font.getBestCmap())
    used = {code for latex in set(formulas()) for code in code_points(latex)}
    assert len(used) > 60
    assert {chr(code) for code in used - known} == set()


def test_braces_roots_and_bars_stretch(font):
    cmap, variants = font.getBestCmap(), font["MATH"].table.MathVariants
    for glyphs, codes in ((variants.VertGlyphCoverage.glyphs, "()[]{|√"), (variants.HorizGlyphCoverage.glyphs, "‾_")):
        assert {cmap[ord(code)] for code in codes} <= set(glyphs)


def test_bars_fill_their_own_width(font):
    outlines = font["CFF "].cff.topDictIndex[0].CharStrings
    for code in "‾_":
        name = font.getBestCmap()[ord(code)]
        assert font["hmtx"][name][0] > 300
        outlines[name].decompile()
        assert outlines[name].private.nominalWidthX + outlines[name].program[0] == font["hmtx"][name][0]


def test_the_font_is_small_and_its_licence_stands_beside_it():
    assert len(_FONT.read_bytes()) * 4 // 3 <= 50_000
    assert "LaTeX Project Public License" in (_FONT.parent / "GUST-FONT-LICENSE.txt").read_text(encoding="utf-8")
