"""Sphinx configuration: MyST pages, and the reference from docstrings."""

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.math import get_node_equation_number

import smqopt
from smqopt.document._mathml import in_pieces

project = "smqopt"
author = "The smqopt developers"
copyright = "2026, The smqopt developers"
version = release = smqopt.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_math_renderer = "mathml"
myst_enable_extensions = ["dollarmath", "amsmath", "deflist"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
html_theme = "alabaster"
html_static_path = ["_static"]
html_css_files = ["formulas.css"]
nitpicky = False
autodoc_member_order = "bysource"
autodoc_typehints = "signature"


def _inline(translator, node):
    translator.body.append(in_pieces(node.astext()))
    raise nodes.SkipNode


def _display(translator, node):
    text = node.astext().replace(r"\tag{OP2}", r"\qquad (\mathrm{OP2})")
    translator.body.append(translator.starttag(node, "div", CLASS="formula"))
    translator.body.append(f'<div class="pieces">{in_pieces(text, block=True)}</div>')
    if node["number"]:
        translator.body.append(f'<span class="eqno">({get_node_equation_number(translator, node)})')
        translator.add_permalink_ref(node, "Link to this equation")
        translator.body.append("</span>")
    translator.body.append("</div>\n")
    raise nodes.SkipNode


def _escape_bars(_app, _what, _name, _obj, _options, lines):
    """Let |x| stand for a size in docstrings, not for a substitution."""
    for k, line in enumerate(lines):
        spans = line.split("`")
        spans[::2] = [span.replace("|", r"\|") for span in spans[::2]]
        lines[k] = "`".join(spans)


def setup(app: Sphinx) -> None:
    """Render formulas as MathML, so that pages need no script and no network."""
    app.connect("autodoc-process-docstring", _escape_bars)
    app.add_html_math_renderer("mathml", inline_renderers=(_inline, None), block_renderers=(_display, None))
