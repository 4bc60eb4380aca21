"""A derivation beside an instance, as Markdown with pictures in files."""

from __future__ import annotations

from smqopt.derivation import law_in_words, markdown_document, table, text
from smqopt.document import Figure, shown
from smqopt.report._derivation_report import DerivationRecord
from smqopt.report._frontier_figure import frontier_figure
from smqopt.report._instance import instance_figures, instance_numbers
from smqopt.report.sections._frontier_section import frontier_section
from smqopt.report.sections._program_section import program_section
from smqopt.report.sections._thresholds_section import thresholds_section


def derivation_markdown(
    record: DerivationRecord, name: str, *, form: str = "short", pictures: bool = True
) -> dict[str, str]:
    """Write a page and its pictures.

    Parameters
    ----------
    record
        What to show.
    name
        What the files' names begin with.
    form
        As of `markdown_document`.
    pictures
        Whether there are any: a page that stands alone links none.

    Returns
    -------
    dict
        Name of a file → its text; the page is `name` with `.md`, and says where the pictures stand
        beside it.
    """
    derivation, solution = record.derivation, record.solution
    laws = dict(instance_figures(derivation, solution)) if pictures else {}
    offers = dict(thresholds_section(solution).content["figures"]) if pictures else {}
    frontier = {"frontier": frontier_figure(record.frontier)} if pictures else {}
    page = markdown_document(
        derivation,
        form=form,
        title=record.title,
        label=name,
        numbers=instance_numbers(derivation, solution),
        opening=[
            f"Law of valuations: {text(law_in_words(derivation.law))}.",
            f"The instance: {text(record.description)}",
        ],
        figures=_pictures(name, laws),
        further=[
            "## The instance",
            _facts(record),
            "### Its thresholds",
            *_pictures(name, offers),
            _thresholds(record),
            "### Its frontier",
            r"$V(B)$ is the most privacy that a budget buys; its slope is the budget price, $V'(B) = \lambda$.",
            *_pictures(name, frontier),
            _frontier(record),
        ],
    )
    files = {f"{name}.md": page}
    return files | {f"{name}-{key}.svg": figure.standalone() for key, figure in (laws | offers | frontier).items()}


def _pictures(name: str, figures: dict[str, Figure]) -> list[str]:
    """Refer to pictures, each followed by its caption."""
    return [
        block
        for key, figure in figures.items()
        for block in (f"![{_alt(key)}]({name}-{key}.svg)", f"*{text(figure.caption)}*")
    ]


def _alt(key: str) -> str:
    """Name a picture, whose caption follows it."""
    return f"Figure: {key.replace('-', ' ')}"


def _facts(record: DerivationRecord) -> str:
    solution = record.solution
    facts = [
        *program_section(solution, record.description, brief=True).content["facts"],
        ("Status", solution.status.name.replace("_", " ").lower()),
        ("Budget price λ", shown(solution.budget_price)),
        ("Purchased privacy", shown(solution.purchased_privacy)),
        ("Expected spend", shown(solution.total_spend)),
    ]
    return table(["", "value"], [(text(name), text(value)) for name, value in facts])


def _thresholds(record: DerivationRecord) -> str:
    rows = thresholds_section(record.solution).content["rows"]
    return table([r"$\varepsilon$", r"threshold $\theta^*$", "acceptance", "expected payment"], rows)


def _frontier(record: DerivationRecord) -> str:
    rows = frontier_section(record.frontier).content["rows"]
    return table(["budget", "purchased privacy", r"price $\lambda$"], rows)
