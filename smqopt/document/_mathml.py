"""Formulas: LaTeX in, MathML out, and only MathML that is well-formed XML."""

from __future__ import annotations

import functools
import re
import xml.etree.ElementTree as ET

from latex2mathml.converter import convert

from smqopt.document._line_breaks import break_lines
from smqopt.errors import InputError

MATHML = "http://www.w3.org/1998/Math/MathML"

_NAMESPACE = f' xmlns="{MATHML}"'
_LEAKS = re.compile(r"\\(begin|end)\{aligned\}")
"""`aligned` comes out with a raw `&`."""
_TEXT = re.compile(r"\\text\{([^{}]*)\}")
_ESCAPES = str.maketrans({"&": "&#38;", "<": "&#60;"})
"""What the converter lets through raw inside a text."""
_NUMBER = re.compile(r"[0-9][0-9.,]*")
_LETTER = re.compile(r"\\mathrm\{([A-Za-z])\}")
"""A single upright letter becomes italic on the way; as text it stays upright."""
_WITH_LIMITS = frozenset({"lim", "max", "min", "sup", "inf", "∑", "∏"})
"""Operators whose limits stand below and above them in a displayed formula."""
_LIMITS = {"msub": "munder", "msubsup": "munderover"}
"""Indices beside an operator, and as limits."""
_TALL = ("mfrac", "munder", "mover", "munderover", "mtable", "msqrt", "mroot")
"""Elements higher than a line."""
_ON_LETTERS = {"mover": ("accent", "true"), "munder": ("accentunder", "false")}
"""A bar lies close above a letter, and, so as to stay clear of it, not quite as close below."""
_BAR = "\u2015"
"""What the converter draws above and below a letter: a dash, wider than the letter."""


@functools.lru_cache(maxsize=1024)
def mathml(latex: str, *, block: bool = False, continued: bool = False) -> str:
    r"""Turn a formula into one `<math>` element, which carries its LaTeX as annotation.

    Parameters
    ----------
    latex
        The formula without dollar signs. `aligned` is refused: write separate equations.
    block
        Whether the formula stands on its own line.
    continued
        Whether it continues a formula before it, so that a sign at its start stands between two
        terms.

    Raises
    ------
    InputError
        If the formula is empty, or what comes out is not well-formed.

    Examples
    --------
    >>> mathml("x", block=True).partition("<annotation")[0]
    '<math xmlns="http://www.w3.org/1998/Math/MathML"
    display="block"><semantics><mrow><mi>x</mi></mrow>'
    """
    where = f"formula {latex!r}"
    if not latex.strip():
        raise InputError(where, "is empty", remedy="give a formula")
    if _LEAKS.search(latex):
        raise InputError(where, "uses 'aligned', which does not convert", remedy="write separate equations")
    spelled = _LETTER.sub(r"\\text{\1}", latex).replace(":=", r"\coloneqq ")
    spelled = _TEXT.sub(lambda found: rf"\text{{{found.group(1).translate(_ESCAPES)}}}", spelled)
    markup = convert(spelled, display="block" if block else "inline")
    try:
        # Without its namespace the tree is written back with plain names.
        root = ET.fromstring(markup.replace(_NAMESPACE, "", 1))  # noqa: S314 -- the converter's own output
    except ET.ParseError as error:
        raise InputError(
            where, f"does not convert to well-formed MathML ({error})", remedy="simplify the formula"
        ) from error
    _adapt(root, block=block)
    if continued:
        first = next((element for element in root.iter() if len(element) == 0), None)
        if first is not None and first.tag == "mo":
            first.set("form", "infix")
    return _annotate(root, latex)


def in_pieces(latex: str, *, block: bool = False) -> str:
    """Turn a formula into `<math>` elements between which a line may end.

    Raises
    ------
    InputError
        As `mathml` does.
    """
    pieces = (piece.strip() for piece in break_lines(latex))
    return "<wbr/>".join(mathml(piece, block=block, continued=k > 0) for k, piece in enumerate(pieces))


def _adapt(root: ET.Element, *, block: bool) -> None:
    """Correct what the converter sets badly: limits, bars, and their brackets."""
    for element in root.iter():
        if element.tag in _LIMITS and block and element[0].text in _WITH_LIMITS:
            element.tag = _LIMITS[element.tag]
        elif element.tag in ("munder", "mover") and element[1].text == _BAR:
            element[1].text = "\u203e" if element.tag == "mover" else "_"
            element[1].attrib = {"stretchy": "true"}
            element.set(*_ON_LETTERS[element.tag])
        elif element.tag == "mtext" and _NUMBER.fullmatch(element.text or ""):
            element.tag = "mn"  # beside a text alone an operator loses its space
    for element in root.iter("mrow"):
        fenced = len(element) > 0 and element[0].get("fence") and element[-1].get("fence")
        if fenced and not any(_is_tall(inner) for inner in element.iter()):
            element[0].set("stretchy", "false")
            element[-1].set("stretchy", "false")


def _is_tall(element: ET.Element) -> bool:
    """Tell whether brackets must grow for a part; a bar on a letter is not tall."""
    return element.tag in _TALL and not (element.tag in _ON_LETTERS and element.get(_ON_LETTERS[element.tag][0]))


def _annotate(root: ET.Element, latex: str) -> str:
    """Write the formula with its LaTeX beside it, for those who copy it."""
    math = ET.Element("math", {"xmlns": MATHML, **root.attrib})
    semantics = ET.SubElement(math, "semantics")
    row = ET.SubElement(semantics, "mrow")
    for child in root:
        row.extend(child if child.tag == "mrow" and len(root) == 1 else [child])
    ET.SubElement(semantics, "annotation", {"encoding": "application/x-tex"}).text = latex
    return ET.tostring(math, encoding="unicode")
