"""Write the font of formulas anew: the part of Latin Modern Math that formulas use.

    python docs/generate/math_font.py latinmodern-math.otf

Debian's package fonts-lmodern has the font; `fonttools` and `brotli` read and write it.
"""

from __future__ import annotations

import sys
from pathlib import Path

from fontTools import subset
from fontTools.misc.transform import Offset
from fontTools.pens.boundsPen import BoundsPen
from fontTools.pens.t2CharStringPen import T2CharStringPen
from fontTools.pens.transformPen import TransformPen
from fontTools.ttLib import TTFont

FOLDER = Path(__file__).parents[2] / "smqopt" / "document" / "fonts"
FONT = FOLDER / "formula.woff2"
FAMILY = "Formula subset of Latin Modern Math"

_BARS = {0x203E: "overlinecmb", 0x5F: "lowlinecmb"}
"""Bars above and below letters, and the glyphs, combining ones, that the font has for them."""
_GROW_SIDEWAYS = ("overlinecmb", "lowlinecmb", "uni23DE", "uni23DF")
"""Bars and braces that stretch over what they stand on; arrows keep their length."""


def characters() -> set[int]:
    """List the characters of formulas: letters upright and italic, digits, operators, brackets."""
    ranges = [
        *((0x20, 0x7F), (0x391, 0x3AA), (0x3B1, 0x3CA)),  # Latin and Greek, upright
        *((0x1D434, 0x1D468), (0x1D6E2, 0x1D71C)),  # Latin and Greek, italic
    ]
    single = "\u00a0¬±·×÷¯ϑϕϵℎ′″ℓ∂∇∀∃∅∈∉∋∏∑−∓∗∘√∝∞∥∧∨∩∪∫∼≈≠≡≤≥≪≫⊂⊆⋅⋯⋮⌈⌉⌊⌋⟨⟩→←↦⇒⇔ℝ𝔼ℙ≔…–ˆ˜"
    return {code for first, end in ranges for code in range(first, end)} | set(map(ord, single))


def formula_font(source: Path) -> TTFont:
    """Take the characters, their sizes and the table of spacing from a font."""
    font = TTFont(source, recalcTimestamp=False)
    for code, glyph in _BARS.items():
        _stand_alone(font, glyph)
        for table in font["cmap"].tables:
            if table.isUnicode():
                table.cmap[code] = glyph
    variants = font["MATH"].table.MathVariants
    kept = [k for k, name in enumerate(variants.HorizGlyphCoverage.glyphs) if name in _GROW_SIDEWAYS]
    variants.HorizGlyphCoverage.glyphs = [variants.HorizGlyphCoverage.glyphs[k] for k in kept]
    variants.HorizGlyphConstruction = [variants.HorizGlyphConstruction[k] for k in kept]
    variants.HorizGlyphCount = len(kept)
    for name, construction in zip(variants.HorizGlyphCoverage.glyphs, variants.HorizGlyphConstruction, strict=True):
        if name in _BARS.values():  # a browser sets a letter as wide as the widest of these; pieces fit any width
            construction.MathGlyphVariantRecord = construction.MathGlyphVariantRecord[:1]
            construction.VariantCount = 1
    font["MATH"].table.MathGlyphInfo.MathTopAccentAttachment = None  # bars are as wide as their letter, so centred
    options = subset.Options(
        flavor="woff2", layout_features=[], hinting=False, desubroutinize=True, name_IDs=[0, 1, 4, 13]
    )
    part = subset.Subsetter(options)
    part.populate(unicodes=characters() | set(_BARS))
    part.subset(font)
    for name in font["name"].names:
        if name.nameID in {1, 4}:
            name.string = FAMILY
    font.flavor = "woff2"
    return font


def _stand_alone(font: TTFont, name: str) -> None:
    """Let a glyph that is drawn to the left of its place, over a letter, fill its own width."""
    glyphs = font.getGlyphSet()
    bounds = BoundsPen(glyphs)
    glyphs[name].draw(bounds)
    left, _, right, _ = bounds.bounds
    outlines = font["CFF "].cff.topDictIndex[0].CharStrings
    old = outlines[name]
    pen = T2CharStringPen(right - left - old.private.nominalWidthX, glyphs)
    glyphs[name].draw(TransformPen(pen, Offset(-left, 0)))
    outlines[name] = pen.getCharString(private=old.private, globalSubrs=old.globalSubrs)
    font["hmtx"][name] = (right - left, 0)


if __name__ == "__main__":
    formula_font(Path(sys.argv[1])).save(FONT)
