"""The generated pages: one for each law and model, every formula parses strictly, every picture is XML."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from pylatexenc.latexwalker import LatexMacroNode, LatexWalker, get_default_latex_context_db

from smqopt.cli.pages._derivation_pages import is_derived
from smqopt.document._mathml import in_pieces
from smqopt.document._svg import SVG
from smqopt.model_files import model_files, read_model
from smqopt.valuation import LAWS

FOLDER = Path(__file__).parents[2] / "docs" / "derivations"
PAGES = sorted(FOLDER.glob("*.md"))
PICTURES = sorted(FOLDER.glob("*.svg"))
_SIGNS = (
    r"\cdot\times\le\ge\leq\geq\neq\in\to\partial\infty\sum\int\limits\lim\max\min\exp\log\erf\wedge\vee\quad\qquad"
)
_SHAPES = r"\frac\sqrt\left\right\begin\end\text\mathrm\operatorname\overline\underline"
_LETTERS = r"\theta\varepsilon\lambda\mu\gamma\sigma\pi\Phi\varphi\Gamma\psi\rho\omega\beta\ell"
KNOWN = frozenset(name for names in (_SIGNS, _SHAPES, _LETTERS) for name in names.split("\\"))
SPACES = frozenset(" ,:;!\\{}|")


def formulas(page):
    text = page.read_text(encoding="utf-8")
    displayed = re.findall(r"^\$\$\n(.*?)\n\$\$ \(", text, flags=re.MULTILINE | re.DOTALL)
    rest = re.sub(r"^\$\$\n.*?\n\$\$ \(", "(", text, flags=re.MULTILINE | re.DOTALL)
    return displayed + re.findall(r"(?<!\\)\$([^$\n]+)\$", rest)


def parsed(latex):
    """Parse strictly: braces, delimiters and environments must match, and every command must be known."""
    walker = LatexWalker(f"${latex}$", latex_context=get_default_latex_context_db(), tolerant_parsing=False)
    nodes, _, length = walker.get_latex_nodes()
    assert length == len(latex) + 2
    depth, stack = 0, [*nodes]
    while stack:
        node = stack.pop()
        if isinstance(node, LatexMacroNode):
            assert node.macroname in KNOWN or node.macroname in SPACES, node.macroname
            depth += {"left": 1, "right": -1}.get(node.macroname, 0)
        stack += getattr(node, "nodelist", None) or []
        arguments = getattr(node, "nodeargd", None)
        stack += [child for child in (arguments.argnlist if arguments else None) or [] if child is not None]
    assert depth == 0
    assert not re.search(r"\^[^{\\]*\^|_\{[^{}]*\}_", latex)


def test_there_is_a_page_for_every_law_and_model():
    names = {*LAWS, *(f"model-{path.stem}" for path in model_files() if is_derived(read_model(path))), "index"}
    assert {page.stem for page in PAGES} == names


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_formula_parses(page):
    for latex in set(formulas(page)):
        parsed(latex)
        ET.fromstring(f"<p>{in_pieces(latex, block=True)}</p>")


@pytest.mark.parametrize("wrong", [r"\frac{a", r"a}", r"\left(a", r"\begin{cases} a", r"\unheardof a", r"x^{a}}"])
def test_a_formula_that_is_wrong_does_not_parse(wrong):
    with pytest.raises(Exception):  # noqa: B017, PT011 -- the parser's own, or an assertion
        parsed(wrong)


def test_formulas_are_found():
    assert sum(len(formulas(page)) for page in PAGES) > 500


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.stem)
def test_every_picture_is_xml_with_its_own_style(picture):
    root = ET.parse(picture).getroot()
    assert root.tag == f"{{{SVG}}}svg"
    assert root.find(f"{{{SVG}}}style") is not None
    assert "url(" not in picture.read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pages_are_the_same_everywhere(page):
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"/work|/home|/tmp|\.pyenv|20\d\d-\d\d-\d\d|object at 0x|\bnan\b", text)
