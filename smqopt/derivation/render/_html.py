"""A derivation as a self-contained HTML page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from smqopt.derivation.render._figures import law_figures
from smqopt.derivation.render._general_page import general_section
from smqopt.derivation.render._room import MOST_WORDS, about_laws, fit
from smqopt.derivation.render._sections import (
    ONCE,
    AllNumbers,
    families_of,
    laws_without_limit,
    section_of_laws,
    verdict_in_words,
)
from smqopt.derivation.render._shown import IN_HTML, ShownLaw
from smqopt.derivation.statement._law_in_words import law_in_words
from smqopt.document import Figure, Section, formulas_of, page, symbols_section, visible_words

if TYPE_CHECKING:
    from smqopt.derivation.statement._derived import Derived


def html_document(
    derivation: Derived,
    *,
    form: str = "short",
    title: str = "",
    numbers: AllNumbers = (),
    figures: Sequence[tuple[str, Figure]] | None = None,
    further: Sequence[Section] = (),
    packages: tuple[str, ...] = (),
) -> str:
    """Write a derivation as a page that loads nothing and runs nothing.

    Parameters
    ----------
    derivation
        What to show.
    form
        "short" for at most a page, "summary" without the steps, "full" for every step, and the
        argument that holds for every law.
    title
        The page's title; by default it names the law.
    numbers
        For each family of laws, an instance's numbers, shown below the formulas.
    figures
        Figures and their names; by default those of a law that all owners have.
    further
        Sections after the answer.
    packages
        The packages that hold the templates of `further`.

    Raises
    ------
    InputError
        If the form is not known.
    """
    if figures is None:
        figures = law_figures(derivation.law) if len(families_of(derivation)) == 1 else ()
    count = len(families_of(derivation))
    law = law_in_words(derivation.law) if count == 1 else f"by owner, of {count} families"
    verdict = f" Steps: {verdict_in_words(derivation)}." if count > 1 else ""

    def write(laws: Sequence[ShownLaw], symbols: Section) -> str:
        answer = {"laws": laws, "about": about_laws(laws), "figures": figures, "once": ONCE}
        sections = [
            Section("summary", "In short", "summary.html", answer),
            *further,
            *([] if form == "summary" else [section_of_laws(laws)]),
            *([general_section()] if form == "full" else []),
            symbols,
        ]
        return page(
            "derivation.html",
            packages=(*packages, "smqopt.derivation"),
            kind="Derivation of optimal thresholds",
            title=title or f"The {derivation.law.name} distribution",
            sections=sections,
            opening=f"Distribution of valuations: {law}.{verdict}",
        )

    laws = laws_without_limit(derivation, numbers, form=form)
    if form == "full":
        return write(laws, symbols_section())
    symbols = symbols_section(formulas_of(write(fit(laws, MOST_WORDS, IN_HTML), symbols_section([]))))
    return write(fit(laws, MOST_WORDS - visible_words(write([], symbols)), IN_HTML), symbols)
