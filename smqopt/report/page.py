"""A self-contained HTML page from sections: templates, style and formulas in one text."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

import smqopt
from smqopt.report.equations import EquationList
from smqopt.report.mathml import mathml
from smqopt.report.sections.section import Section

__all__ = ["page"]

_INDEX = re.compile(r"(?<=[A-Za-zΑ-ωεθλμγψφℓ′])_([a-z])\b")
"""An index in prose, as in q_i."""


def page(template: str, *, kind: str, title: str, sections: Sequence[Section], **content: Any) -> str:
    """Write a page.

    Parameters
    ----------
    template
        A file under `templates/` that extends `page.html`.
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
        "version": smqopt.__version__,
        "equation": equations.equation,
        "ref": equations.reference,
        **content,
    }
    return _environment().get_template(template, globals=values).render()


@functools.cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("smqopt.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["prose"] = _prose
    environment.globals["tex"] = lambda latex: Markup(mathml(latex))  # noqa: S704 -- MathML that has been parsed as XML
    return environment


def _prose(text: str) -> Markup:
    """Escape prose and set its indices below."""
    return Markup(_INDEX.sub(r"<sub>\1</sub>", str(escape(text))))  # noqa: S704 -- escaped before it is set
