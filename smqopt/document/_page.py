"""A self-contained HTML page from sections."""

from __future__ import annotations

import base64
import functools
import html
import re
from collections.abc import Sequence
from importlib.resources import files
from types import SimpleNamespace
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from smqopt._version import __version__
from smqopt.document._equations import EquationList
from smqopt.document._mathml import mathml
from smqopt.document._prose import with_indices
from smqopt.document._section import Section
from smqopt.notation import PAPER

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Names and titles come from files: what would steer a terminal that shows the page."""

_FONT = files("smqopt.document") / "fonts" / "formula.woff2"
"""Without it θ̄, braces and roots depend on the reader's machine; it is made by
`docs/generate/math_font.py`."""

_LATEX = re.compile(r"<annotation[^>]*>(.*?)</annotation>", re.DOTALL)
_UNREAD = re.compile(r"<(style|svg)\b.*?</\1>", re.DOTALL)
_MATH = re.compile(r"<math\b.*?</math>", re.DOTALL)
_TAG = re.compile(r"<[^>]*>")

_SCROLLS = re.compile(r'<div (class="(?:table|formula)\b)')
"""What is wider than a narrow screen scrolls by itself, and so takes the keyboard's focus."""


def page(
    template: str, *, packages: tuple[str, ...], kind: str, title: str, sections: Sequence[Section], **content: Any
) -> str:
    """Write a page.

    Parameters
    ----------
    template
        A file under `templates/` that extends `page.html`.
    packages
        The packages whose `templates/` hold it and what the sections are shown by.
    kind
        What sort of document it is, in a line above the title.
    title
        Its title.
    sections
        Its sections, in order.
    **content
        What the template shows beside the sections.
    """
    equations = EquationList()
    values: dict[str, Any] = {
        "kind": kind,
        "title": title,
        "sections": [(section, SimpleNamespace(**section.content)) for section in sections],
        "version": __version__,
        "paper": PAPER,
        "equation": equations.equation,
        "ref": equations.reference,
        **content,
    }
    written = _environment(packages).get_template(template, globals=values).render()
    return _CONTROL.sub("\ufffd", _SCROLLS.sub(r'<div tabindex="0" \1', written))


def formulas_of(page: str) -> list[str]:
    """List the formulas of a page, in LaTeX."""
    return [html.unescape(latex) for latex in _LATEX.findall(page)]


def visible_words(page: str) -> int:
    """Count the words of a page without its figures; each piece of a formula is one."""
    return len(_TAG.sub(" ", _MATH.sub(" formula ", _UNREAD.sub(" ", page))).split())


@functools.cache
def _environment(packages: tuple[str, ...]) -> Environment:
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package, "templates") for package in (*packages, __package__)]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["prose"] = _prose
    environment.globals["formula_font"] = base64.b64encode(_FONT.read_bytes()).decode()
    environment.globals["tex"] = lambda latex: Markup(mathml(latex))  # noqa: S704 -- MathML that has been parsed as XML
    return environment


def _prose(text: str) -> Markup:
    """Escape prose and set its indices below."""
    return Markup(with_indices(str(escape(text))))  # noqa: S704 -- escaped before it is set
