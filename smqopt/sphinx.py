"""A directive for Sphinx: a checked derivation in anybody's documents.

With `extensions = ["smqopt.sphinx"]`, reStructuredText and MyST know `smq-derivation`:

    ```{smq-derivation} uniform
    :parameters: low=0, high=2
    ```

The argument is a law of the registry, a formula of F in theta, or a model file (`.toml`), beside
the document or from the library. Without an argument the general argument is shown. The build fails
where a step is refuted. Derivations are kept in smqopt's cache.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from smqopt._version import __version__
from smqopt.algebra import Verdict
from smqopt.derivation import (
    FORMS,
    Derivation,
    ShownLaw,
    ShownStep,
    about_laws,
    checks_in_words,
    derive,
    general_page,
    in_lines,
    is_derived_alike,
    law_figures,
    prose_in_latex,
    shown_laws,
)
from smqopt.document import Figure, pdf
from smqopt.errors import InputError, nearest
from smqopt.market import numbers
from smqopt.model_files import load_model
from smqopt.report import instance_figures, instance_numbers, what_is_left_out
from smqopt.solvers import solve
from smqopt.valuation import LAWS, Irregular, Valuation, valuation_from_dict

_LOG = logging.getLogger(__name__)
_REST_ON_J = ("regularity", "threshold")
_BESIDE = "display: inline-block; vertical-align: top; width: 48%; min-width: 15rem; margin: 0 1% 0 0"
"""Two figures stand beside each other where there is room."""
_NAME = re.compile(r"[A-Za-z][A-Za-z_-]*")
_FITTED = (
    r"\resizebox{\ifdim\width>\dimexpr\linewidth-4em\relax\dimexpr\linewidth-4em\relax\else\width\fi}"
    r"{!}{$\displaystyle %s$}"
)
"""In LaTeX a formula that is still too wide for a line is made smaller."""
_IN_NUMBERS = "In numbers: "
_INDEX = re.compile(r"(?<=[A-Za-zΑ-ωεθλμγψφℓ′])_([a-z])\b")


class fold(nodes.General, nodes.Element):  # type: ignore[misc]  # noqa: N801 -- named as its element
    """A step that a reader unfolds."""


class drawing(nodes.General, nodes.Element):  # type: ignore[misc]  # noqa: N801 -- named as its element
    """A figure and its caption."""


class SmqDerivation(SphinxDirective):
    """Show a derivation: `smq-derivation`."""

    optional_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar[dict[str, Any]] = {
        "parameters": directives.unchanged,
        "low": directives.unchanged,
        "high": directives.unchanged,
        "form": lambda given: directives.choice(given, FORMS),
        "label": directives.unchanged,
        "cited": directives.unchanged,
        "unfolded": directives.flag,
        "without-figures": directives.flag,
    }

    def run(self) -> list[nodes.Node]:
        """Make the nodes, or fail the build."""
        try:
            return list(self._nodes())
        except InputError as error:
            raise ExtensionError(f"{self.get_location()}: smq-derivation: {error}") from error

    def _nodes(self) -> Iterator[nodes.Node]:
        if not self.arguments:
            if values := self._values():
                raise InputError(
                    f"option {next(iter(values))!r}", "goes with a law", remedy="name one, or leave it out"
                )
            yield from self._paragraph(checks_in_words())
            for step in general_page():
                yield self._step(step)
            return
        derivation, beside, figures, left_out = self._source(self.arguments[0].strip())
        refuted = [step.title for step in derivation.steps if step.verdict is Verdict.REFUTED]
        if refuted and not _is_irregular(derivation):
            raise ExtensionError(f"{self.get_location()}: smq-derivation: refuted: {', '.join(refuted)}")
        label = self.options.get("label") or self._own_label()
        form = self.options.get("form", "short")
        laws = shown_laws(derivation, beside, label, form=form)
        for said in filter(None, (left_out, about_laws(laws))):
            yield from self._paragraph(said)
        for law in laws:
            yield from self._answer(law)
        if "without-figures" not in self.options:
            yield from (drawing("", name=f"{label}-{name}", figure=figure) for name, figure in figures)
        if form != "summary":
            yield from self._paragraph(checks_in_words())
            cited = [name.strip() for name in self.options.get("cited", "").split(",") if name.strip()]
            families = [part.derivation for part in derivation.parts] or [derivation]
            for name in set(cited) - {family.law.name for family in families}:
                raise InputError(
                    "option 'cited'", "names a law that is not shown here", value=name, remedy="leave it out"
                )
            for law, family in zip(laws, families, strict=False):  # the last may stand for several
                if family.law.name in cited:
                    yield self._citation(family)
                    continue
                if law.again and law.steps:
                    yield nodes.paragraph("", "", nodes.strong(law.again, law.again))
                yield from (self._step(step) for step in law.steps)

    def _own_label(self) -> str:
        """Name the document, and from its second derivation on which of them this is."""
        count = self.env.new_serialno("smq-derivation") + 1
        name = re.sub(r"[^a-z0-9]+", "-", self.env.docname.lower()).strip("-")
        return name if count == 1 else f"{name}-{count}"

    def _source(self, given: str) -> tuple[Derivation, list[Any], list[tuple[str, Figure]], str]:
        """Return a derivation, numbers, figures, and what is left out."""
        if given.endswith(".toml"):
            if values := self._values():
                raise InputError(
                    f"option {next(iter(values))!r}", "goes with a law, not with a model file", remedy="leave it out"
                )
            beside = Path(self.env.doc2path(self.env.docname)).parent / given
            if beside.is_file():
                self.env.note_dependency(str(beside))
            instance = load_model(beside if beside.is_file() else Path(given).stem)
            derivation, solution = derive(instance.market.valuation), solve(instance.market, instance.budget)
            left_out = what_is_left_out(instance.objective, instance.constraints)
            figures = instance_figures(derivation, solution)
            return derivation, instance_numbers(derivation, solution), figures, left_out
        law = self._law(given)
        return derive(law), [], law_figures(law), ""

    def _values(self) -> dict[str, float]:
        """Read the parameters and ends that are given, each once."""
        texts = [text.partition("=") for text in self.options.get("parameters", "").split(",") if text.strip()]
        pairs = [(name.strip(), f"parameter {name.strip()!r}", text.strip()) for name, _, text in texts]
        pairs += [(end, f"option {end!r}", self.options[end]) for end in ("low", "high") if end in self.options]
        values: dict[str, float] = {}
        for name, where, text in pairs:
            if name in values:
                raise InputError(where, "is given twice", remedy="give it once")
            values[name] = float(numbers([text], where)[0])
        return values

    def _law(self, given: str) -> Valuation:
        values = self._values()
        if given in LAWS:
            return valuation_from_dict({"law": given, **LAWS[given][2], **values}, f"law {given!r}")
        if _NAME.fullmatch(given) and "theta" not in given:
            raise InputError("law", "is not a known law", value=given, remedy=nearest(given, LAWS))
        return valuation_from_dict({"cdf": given, **values}, "formula")

    def _answer(self, law: ShownLaw) -> Iterator[nodes.Node]:
        yield nodes.paragraph("", "", nodes.strong(law.name, law.name))
        if law.domain:
            yield self._with_mathematics("For ", law.domain, ", with ", r"x_i = \varepsilon_i/\lambda", ":")
        for shown in law.findings:
            yield from self._formula(shown.latex, shown.key)
            if shown.in_numbers:
                yield self._with_mathematics(_IN_NUMBERS, shown.in_numbers)
            if shown.remark:
                yield from self._paragraph(shown.remark)
        yield from self._paragraph(" ".join(filter(None, (law.regularity, law.price, f"Steps: {law.verdict}."))))

    def _citation(self, family: Derivation) -> nodes.Node:
        """Say that the steps of a law stand on the page beside, where they do."""
        name = family.law.name
        if not is_derived_alike(family):
            raise InputError(
                "option 'cited'", "names a law whose derivation is another", value=name, remedy="leave it out"
            )
        said = f"The steps of the {name} law stand on a page of its own"
        link = addnodes.pending_xref(
            "", refdomain="std", reftype="doc", reftarget=name, refdoc=self.env.docname, refexplicit=True, refwarn=True
        )
        link += nodes.inline(said, said)
        return nodes.paragraph("", "", link, nodes.Text("."))

    def _step(self, step: ShownStep) -> nodes.Node:
        found = fold("", title=step.title, verdict=step.verdict, is_open="unfolded" in self.options)
        for text in step.before:
            found += self._paragraph(text)
        for shown in step.equations:
            found += list(self._formula(shown.latex, shown.key))
            found += self._paragraph(shown.remark) if shown.remark else []
            if shown.method and shown.word:
                found += self._paragraph(f"{shown.word}: {shown.method}")
        for text in step.after:
            found += self._paragraph(text)
        return found

    def _formula(self, latex: str, key: str) -> Iterator[nodes.Node]:
        """Make a numbered formula to which others may refer by `:eq:`."""
        domain = self.env.get_domain("math")
        node = nodes.math_block(latex, latex, nowrap=False, number=None, label=key, fitted=_FITTED % in_lines(latex))
        self.set_source_info(node)
        node["docname"] = self.env.docname
        domain.note_equation(self.env.docname, key, location=node)  # type: ignore[attr-defined]
        node["number"] = domain.get_equation_number_for(key)  # type: ignore[attr-defined]
        target = nodes.target("", "", ids=[nodes.make_id(f"equation-{key}")])
        self.state.document.note_explicit_target(target)
        yield from (target, node)

    def _paragraph(self, text: str) -> list[nodes.Node]:
        inner: list[nodes.Node] = []
        for k, part in enumerate(_INDEX.split(text)):
            inner.append(nodes.subscript(part, part) if k % 2 else nodes.Text(part))
        return [nodes.paragraph("", "", *inner, prose=text)]

    def _with_mathematics(self, *parts: str) -> nodes.Node:
        """Make a paragraph of which every second part is a formula."""
        made = (nodes.math(part, part) if k % 2 else nodes.Text(part) for k, part in enumerate(parts))
        return nodes.paragraph("", "", *made, in_numbers=parts[1] if parts[0] == _IN_NUMBERS else "")


def _is_irregular(derivation: Derivation) -> bool:
    """Tell whether all that is refuted is that J of an irregular law rises."""
    families = [part.derivation for part in derivation.parts] or [derivation]
    refuted = [
        (family.law, step.name) for family in families for step in family.steps if step.verdict is Verdict.REFUTED
    ]
    return all(name in _REST_ON_J and isinstance(law.regularity(), Irregular) for law, name in refuted)


def _draw_html(translator: Any, node: drawing) -> None:
    figure = node["figure"]
    data = base64.b64encode(figure.standalone().encode()).decode()
    image = f'<img alt="{escape(figure.caption)}" src="data:image/svg+xml;base64,{data}"/>'
    caption = f"<figcaption>{escape(figure.caption)}</figcaption>"
    translator.body.append(
        f'<figure class="smq-figure" style="{_BESIDE}" id="{node["name"]}">{image}{caption}</figure>'
    )


def _draw_latex(translator: Any, node: drawing) -> None:
    """Draw the chart beside the document; without matplotlib say that it is missing."""
    figure, name = node["figure"], f"{node['name']}.pdf"
    try:
        (Path(translator.builder.outdir) / name).write_bytes(pdf(figure.chart))
    except InputError as error:
        _LOG.info("smq-derivation: no figure in LaTeX: %s", error)
        return
    image = rf"\sphinxincludegraphics[width=0.6\linewidth]{{{name}}}"
    caption = rf"\par\small {prose_in_latex(figure.caption)}"
    translator.body.append(
        rf"\begin{{center}}\begin{{minipage}}{{0.9\linewidth}}\centering {image}{caption}\end{{minipage}}\end{{center}}"
    )


def _open_html(translator: Any, node: fold) -> None:
    opened = " open" if node["is_open"] else ""
    verdict = f" <em>({node['verdict']})</em>" if node["verdict"] else ""
    translator.body.append(f"<details{opened}><summary>{node['title']}{verdict}</summary>\n")


def _close_html(translator: Any, _: fold) -> None:
    translator.body.append("</details>\n")


def _open_latex(translator: Any, node: fold) -> None:
    verdict = f" ({node['verdict']})" if node["verdict"] else ""
    translator.body.append(
        rf"\par\medskip\noindent\textbf{{{translator.encode(node['title'])}}}{verdict}\par\nopagebreak "
    )


def _open_text(translator: Any, node: fold) -> None:
    translator.new_state(0)
    translator.add_text(node["title"])
    translator.end_state()


def _nothing(_: Any, __: nodes.Element) -> None:
    """End what nothing ends, and show nothing."""


def _set_in_latex(app: Sphinx, doctree: nodes.document, _: str) -> None:
    """Break formulas into lines, and set letters in prose as mathematics, for LaTeX."""
    if app.builder.format != "latex":
        return
    for block in doctree.findall(nodes.math_block):
        if "fitted" in block:
            block[:] = [nodes.Text(block["fitted"])]
    for paragraph in doctree.findall(nodes.paragraph):
        if paragraph.get("in_numbers"):
            fitted = _FITTED % in_lines(paragraph["in_numbers"])
            paragraph[:] = [nodes.raw("", rf"{_IN_NUMBERS}\[{fitted}\]", format="latex")]
        elif "prose" in paragraph:
            paragraph[:] = [nodes.raw("", prose_in_latex(paragraph["prose"]), format="latex")]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive and its folded steps."""
    app.add_latex_package("mathtools")
    app.connect("doctree-resolved", _set_in_latex)
    app.add_node(
        fold,
        html=(_open_html, _close_html),
        latex=(_open_latex, _nothing),
        text=(_open_text, _nothing),
    )
    app.add_node(
        drawing,
        html=(_draw_html, _nothing),
        latex=(_draw_latex, _nothing),
        text=(_nothing, _nothing),
    )
    app.add_directive("smq-derivation", SmqDerivation)
    return {"version": __version__, "parallel_read_safe": True, "parallel_write_safe": True}
