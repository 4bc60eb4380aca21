"""The generated pages: one for each law and model, and every formula that they show parses strictly."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from pylatexenc.latexwalker import LatexMacroNode, LatexWalker, get_default_latex_context_db

from smqopt.cli.pages._derivation_pages import is_derived
from smqopt.derivation import derive, general_page, shown_laws
from smqopt.document._mathml import in_pieces
from smqopt.model_files import model_files, read_model
from smqopt.valuation import LAWS, valuation_from_dict

ATOMS = ("point-mass", "discrete")
FOLDER = Path(__file__).parents[2] / "docs" / "derivations"
PAGES = sorted(FOLDER.glob("*.md"))
_SIGNS = r"\cdot\times\le\ge\leq\geq\neq\in\notin\to\partial\infty\sum\int\limits\lim\max\min\exp\log\erf\wedge\vee\quad\qquad"
_SHAPES = r"\frac\sqrt\left\right\begin\end\text\mathrm\operatorname\overline\underline"
_LETTERS = r"\theta\varepsilon\lambda\mu\gamma\sigma\pi\Phi\varphi\Gamma\psi\rho\omega\beta\ell"
KNOWN = frozenset(name for names in (_SIGNS, _SHAPES, _LETTERS) for name in names.split("\\"))
SPACES = frozenset(" ,:;!\\{}|")


def formulas(shown):
    """Yield what a page shows: the answer, and every step."""
    for law in shown:
        yield law.domain
        yield from (each.latex for each in law.findings)
        yield from steps(law.steps)


def steps(shown):
    return [each.latex for step in shown for each in step.equations]


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
    names = {
        *LAWS,
        *(f"model-{path.stem}" for path in model_files() if is_derived(read_model(path))),
        "index",
        "general",
    }
    assert {page.stem for page in PAGES} == names


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name != "uniform")) for name in LAWS if name not in ATOMS]
)
def test_every_formula_parses(name):
    law = valuation_from_dict({"law": name, **LAWS[name][2]})
    found = set(formulas(shown_laws(derive(law))))
    assert len(found) >= 15
    for latex in found:
        parsed(latex)
        ET.fromstring(f"<p>{in_pieces(latex, block=True)}</p>")


def test_every_formula_of_the_general_argument_parses():
    found = set(steps(general_page()))
    assert len(found) > 60
    for latex in found:
        parsed(latex)
        ET.fromstring(f"<p>{in_pieces(latex, block=True)}</p>")


@pytest.mark.parametrize("wrong", [r"\frac{a", r"a}", r"\left(a", r"\begin{cases} a", r"\unheardof a", r"x^{a}}"])
def test_a_formula_that_is_wrong_does_not_parse(wrong):
    with pytest.raises(Exception):  # noqa: B017, PT011 -- the parser's own, or an assertion
        parsed(wrong)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pages_are_the_same_everywhere(page):
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"/work|/home|/tmp|\.pyenv|20\d\d-\d\d-\d\d|object at 0x|\bnan\b", text)
