"""Sphinx configuration: MyST pages, and a page an object from docstrings."""

import os
import re
import sys
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.ext.intersphinx import resolve_reference_any_inventory
from sphinx.util.docutils import SphinxDirective
from sphinx.util.math import get_node_equation_number

import smqopt
from smqopt.document._mathml import in_pieces

HERE = Path(__file__).parent
os.environ.setdefault("DASK_LOGGING__DISTRIBUTED", "critical")  # a cluster of an example is of no interest
sys.path.insert(0, str(HERE / "generate"))
from inline_math import split  # noqa: E402 -- a generator beside this file

project = "smqopt"
author = "The smqopt developers"
copyright = "2026, The smqopt developers"
version = release = smqopt.__version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.napoleon",
    "sphinx_click",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "sphinxcontrib.bibtex",
    "smqopt.sphinx",
]
exclude_patterns = ["_build", "_templates", "examples", "inventories", "generate"]
templates_path = ["_templates"]
nitpicky = False

html_theme = "furo"
html_title = f"smqopt {version}"
html_static_path = ["_static", "../smqopt/document/fonts"]
html_css_files = ["site.css"]
html_search_scorer = str(HERE / "_static" / "prose_first.js")
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}
html_math_renderer = "mathml"

myst_enable_extensions = ["amsmath", "attrs_block", "colon_fence", "deflist", "dollarmath", "fieldlist"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_type_aliases = {name: name for name in ("ArrayLike", "Floats", "Integers", "Booleans", "NDArray")}
autosummary_generate = True
autosummary_ignore_module_all = False
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 80
default_role = "py:obj"
napoleon_google_docstring = False
napoleon_use_rtype = False

# Names of other projects that pages cite, as plain text beside this file: the build asks no network.
intersphinx_mapping = {
    name: (address, str(HERE / "inventories" / f"{name}.txt"))
    for name, address in {
        "python": "https://docs.python.org/3/",
        "numpy": "https://numpy.org/doc/stable/",
        "scipy": "https://docs.scipy.org/doc/scipy/",
        "sympy": "https://docs.sympy.org/latest/",
        "cvxpy": "https://www.cvxpy.org/",
    }.items()
}

bibtex_bibfiles = ["references.bib"]
bibtex_default_style = "plain"
bibtex_reference_style = "author_year"

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "ignore_repr_types": r"matplotlib",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 10**6,
    "remove_config_comments": True,
    "write_computation_times": False,
}


_MODEL = """
.. tab-set::

   .. tab-item:: Model file
      :sync: toml

      .. literalinclude:: ../../models/{name}.toml
         :language: toml

   .. tab-item:: Command line
      :sync: cli

      .. code-block:: console

         $ smqopt run {name} --out out

   .. tab-item:: Python
      :sync: python

      The program below.
"""


class ModelTabs(SphinxDirective):
    """Show one of our models as its file and as a command."""

    required_arguments = 1

    def run(self):
        return self.parse_text_to_nodes(_MODEL.format(name=self.arguments[0]))


_AS_IT_STANDS = (
    *(nodes.FixedTextElement, nodes.literal, nodes.math, nodes.math_block, nodes.title, nodes.raw, nodes.comment),
    *(nodes.reference, addnodes.pending_xref, addnodes.desc_signature, addnodes.desc_name, nodes.term, nodes.citation),
)
"""Nodes whose text is no prose."""


def _inline(translator, node):
    translator.body.append(in_pieces(node.astext()))
    raise nodes.SkipNode


def _display(translator, node):
    text = node.astext().replace(r"\tag{OP2}", r"\qquad (\mathrm{OP2})")
    translator.body.append(translator.starttag(node, "div", CLASS="formula"))
    translator.body.append(f'<div class="pieces" tabindex="0">{in_pieces(text, block=True)}</div>')
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


def _typeset(_app, doctree):
    """Typeset the formulas that prose holds as plain text."""
    for text in list(doctree.findall(nodes.Text)):
        above = text.parent
        while above is not None and not isinstance(above, _AS_IT_STANDS):
            above = above.parent
        pieces = list(split(text.astext())) if above is None else []
        if any(latex for _, latex in pieces):
            text.parent.replace(text, [nodes.math(latex, latex) if latex else nodes.Text(t) for t, latex in pieces])


def _short_types(_app, _what, _name, _obj, _options, signature, returned):
    """Name a type by the name that we write."""
    return tuple(part and re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", part) for part in (signature, returned))


def _public_name(app, env, node, contnode):
    """Let a type in a signature link to the page of its public name."""
    if node.get("refdomain") != "py":
        return None
    target = node["reftarget"]
    name = target.rpartition(".")[2]
    if name in smqopt.__all__ and target != f"smqopt.{name}":
        node["reftarget"] = f"smqopt.{name}"
        domain = env.get_domain("py")
        return domain.resolve_any_xref(env, node["refdoc"], app.builder, node["reftarget"], node, contnode)[0][1]
    if not resolve_reference_any_inventory(env, False, node, contnode):
        return contnode if node.get("reftype") in ("class", "obj") else None
    return None


_ALIAS_OF_PROPERTY = re.compile(
    r"TypeAliasForwardRef(?:<[^>]*>)+\((?:<[^>]*>)+(?:'|&#39;)(\w+)(?:'|&#39;)(?:<[^>]*>)+\)</span>"
)
"""What `_short_types` does not reach."""


def _name_roles(_app, _page, _template, context, _doctree):
    """Say what screen readers and the keyboard need, and what our tools leave out."""
    body = context.get("body", "")
    body = body.replace('<div class="table-wrapper', '<div tabindex="0" class="table-wrapper')
    body = body.replace("<pre>", '<pre tabindex="0">')
    body = body.replace('<div role="list" class="citation-list">', '<div class="citation-list">')  # no list items in it
    body = _ALIAS_OF_PROPERTY.sub(r"\1", body)
    context["body"] = re.sub(r'<dt class="sig .*?</dt>', _parameters_as_list, body, flags=re.DOTALL)
    tree = context.get("furo_navigation_tree", "")
    context["furo_navigation_tree"] = tree.replace('role="heading"', 'role="heading" aria-level="2"')


def _parameters_as_list(signature):
    found = signature.group().replace("<dl>", '<dl role="list">')
    return found.replace("<dd>", '<dd role="listitem">')


def setup(app: Sphinx) -> None:
    """Render formulas as MathML, so that pages need no script and no network."""
    app.connect("autodoc-process-docstring", _escape_bars)
    app.connect("autodoc-process-signature", _short_types)
    app.connect("doctree-read", _typeset)
    app.connect("html-page-context", _name_roles, priority=900)
    app.connect("missing-reference", _public_name)
    app.add_directive("model", ModelTabs)
    app.add_html_math_renderer("mathml", inline_renderers=(_inline, None), block_renderers=(_display, None))
