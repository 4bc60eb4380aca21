"""The report of one run, as one page."""

from __future__ import annotations

import re
from dataclasses import replace

from markupsafe import Markup, escape

from smqopt.derivation import derivation_section, general_section
from smqopt.document import Section, page, symbols_section
from smqopt.report._instance import instance_numbers
from smqopt.report._of_op2 import is_in_doubt, is_of_op2
from smqopt.report._opening import caveats, is_well_formed, opening_figure, tiles
from smqopt.report._run_record import RunRecord
from smqopt.report.sections._answer_section import answer_section
from smqopt.report.sections._budget_price_section import budget_price_section
from smqopt.report.sections._certificate_section import certificate_section
from smqopt.report.sections._comparison_section import comparison_section
from smqopt.report.sections._frontier_section import frontier_section
from smqopt.report.sections._law_section import law_section
from smqopt.report.sections._laws_in_doubt_section import laws_in_doubt_section
from smqopt.report.sections._output_law_section import output_law_section
from smqopt.report.sections._program_section import program_section
from smqopt.report.sections._purchase_section import purchase_section
from smqopt.report.sections._question_section import question_section
from smqopt.report.sections._thresholds_section import thresholds_section

_DOI = re.compile(r"\bdoi[: ]\s*(10\.\d{4,9}/[^\s,;()]*[^\s,;().])", re.IGNORECASE)

PACKAGES = ("smqopt.report", "smqopt.derivation")
"""The packages that hold the templates of a run."""


def run_report(run: RunRecord) -> str:
    """Write the report of a run: one HTML document that loads nothing.

    Private things never appear: no report, no entry, no single owner who sold. The exact law of the
    answer appears for a simulation alone, below a banner that says what the run is.

    Parameters
    ----------
    run
        What happened.

    Returns
    -------
    str
        HTML, with formulas in MathML and figures in SVG.

    Raises
    ------
    InputError
        If a formula of the derivation does not convert.
    """
    return page(
        "run.html",
        packages=PACKAGES,
        kind="Report of a procurement of private data",
        title=run.title,
        sections=_sections(run),
        simulation=run.is_simulation,
        seed=run.seed,
        provenance=[_link(paragraph) for paragraph in re.split(r"\n\s*\n", run.provenance.strip()) if paragraph],
        glance=tiles(run),
        figure=opening_figure(run),
        caveats=caveats(run),
    )


def _sections(run: RunRecord) -> list[Section]:
    solution = run.certificate.solution
    sound = is_well_formed(solution)
    told = run.derivation is not None and sound and is_of_op2(solution)  # else λ is not that of the derivation
    numbers = instance_numbers(run.derivation, solution) if run.derivation is not None and told else []
    sections = [program_section(solution, run.description)]
    if not is_in_doubt(solution):
        sections.append(law_section(solution, run.derivation, numbers))
    elif sound:
        sections.append(laws_in_doubt_section(solution))
    if sound:
        sections += [budget_price_section(solution), thresholds_section(solution, drawn_before=True)]
    if run.question is not None:
        sections.append(question_section(run.question))
    if run.frontier is not None:
        sections.append(frontier_section(run.frontier))
    sections.append(certificate_section(run.certificate))
    if run.routes:
        sections.append(comparison_section(run.routes, derived=run.derivation is not None))
    if run.outcome is not None:
        sections.append(purchase_section(run.outcome))
    if run.answer is not None:
        sections.append(answer_section(run.answer))
    if run.exact_law is not None and run.answer is not None:
        sections.append(output_law_section(run.exact_law, run.answer))
    if run.derivation is not None:
        sections.append(replace(derivation_section(run.derivation, numbers, beside=0), folded=True))
        sections.append(replace(general_section(), folded=True))
    return [*sections, replace(symbols_section(), folded=True)]


def _link(text: str) -> Markup:
    """Make a link of each DOI."""
    return Markup(  # noqa: S704 -- escaped before it is linked
        _DOI.sub(
            lambda found: f'doi <a href="https://doi.org/{found.group(1)}">{found.group(1)}</a>', str(escape(text))
        )
    )
