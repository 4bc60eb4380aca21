"""A derivation as a self-contained HTML page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from smqopt.derivation.render._figures import law_figures
from smqopt.derivation.render._general_page import general_section
from smqopt.derivation.render._room import about_laws
from smqopt.derivation.render._sections import (
    ONCE,
    AllNumbers,
    derivation_section,
    families_of,
    shown_laws,
    verdict_in_words,
)
from smqopt.derivation.statement._law_in_words import law_in_words
from smqopt.document import Figure, Section, page, symbols_section

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
    found = shown_laws(derivation, numbers, "found", form=form)
    answer = {"laws": found, "about": about_laws(found), "figures": figures, "once": ONCE}
    count = len(families_of(derivation))
    law = law_in_words(derivation.law) if count == 1 else f"by owner, of {count} families"
    sections = [
        Section("summary", "In short", "summary.html", answer),
        *further,
        *([] if form == "summary" else [derivation_section(derivation, numbers, form)]),
        *([general_section()] if form == "full" else []),
        symbols_section(),
    ]
    return page(
        "derivation.html",
        packages=(*packages, "smqopt.derivation"),
        kind="Derivation of optimal thresholds",
        title=title or f"The {derivation.law.name} distribution",
        sections=sections,
        opening=f"Distribution of valuations: {law}. Steps: {verdict_in_words(derivation)}.",
    )
