"""`smqopt derive`: the optimal thresholds of a law, in checked steps."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from smqopt.algebra import Verdict
from smqopt.cli._exit_codes import CHECK_FAILED
from smqopt.cli.outputs._folder import check_files
from smqopt.cli.pages._derivation_pages import differences, pages, pages_folder, write_pages
from smqopt.cli.pages._derivation_source import record_of_law, record_of_model
from smqopt.cli.terminal._completion import ModelFile
from smqopt.cli.terminal._options import DATA, SEED
from smqopt.cli.terminal._output import print_text, quiet_stdout
from smqopt.derivation import FORMS, LATEX_FORMS, Derivation, check_form, derive as derive_law, latex_document
from smqopt.errors import InputError, locate_errors, nearest
from smqopt.files import write_text
from smqopt.market import numbers
from smqopt.model_files import model_files, read_model
from smqopt.report import DerivationRecord, derivation_markdown, instance_numbers
from smqopt.valuation import LAWS, Valuation, valuation_from_dict

_KINDS = (".md", ".html", ".tex")
_MODEL = ".toml"


@click.command()
@click.argument("law", required=False, type=ModelFile(laws=True))
@click.option(
    "--cdf", metavar="TEXT", help="A distribution function in theta, as 'theta**2*(3 - 2*theta)', in place of LAW."
)
@click.option("--low", metavar="NUMBER", help="The low end of the support.")
@click.option("--high", metavar="NUMBER", help="The high end of the support.")
@click.option(
    "--param", "parameters", multiple=True, metavar="NAME=NUMBER", help="A parameter of the law; may be repeated."
)
@click.option(
    "--market",
    metavar="MODEL.toml",
    type=ModelFile(),
    help="Put the numbers of this model beside the symbols: its owners and budget, under LAW.",
)
@click.option(
    "--out",
    multiple=True,
    metavar="FILE",
    help="Write FILE: .md is Markdown (MyST), .html a page that holds all it needs, .tex LaTeX. May be repeated; without it Markdown "
    "goes to standard output.",
)
@click.option(
    "--form",
    metavar="FORM",
    help="How much is shown: short, summary or full; of .tex, theorem or full. By default short, and full of .tex.",
)
@SEED
@DATA
@click.option(
    "--all", "everything", is_flag=True, help="Make the pages of all laws and models, with --check or --write."
)
@click.option("--check", is_flag=True, help="With --all: fail where a page differs from what it must be.")
@click.option("--write", is_flag=True, help="With --all: write the pages.")
@click.option(
    "--folder", metavar="DIR", help="With --all: where the pages are; docs/derivations of a clone by default."
)
def derive(
    law: str | None,
    cdf: str | None,
    low: str | None,
    high: str | None,
    parameters: Sequence[str],
    market: str | None,
    out: Sequence[str],
    form: str | None,
    seed: int | None,
    data_file: str | None,
    folder: str | None,
    *,
    everything: bool,
    check: bool,
    write: bool,
) -> int:
    """Derive the optimal thresholds of a law, in checked steps.

    LAW is a name of the registry, such as uniform or power, or a MODEL.toml, whose law and market
    are taken; --cdf states another law. The derivation holds for all parameters, so they may be
    left out. A page without a market shows a stated example of one.
    """
    if everything:
        if law is not None or cdf is not None or market is not None or out or form or parameters or low or high:
            raise InputError("option '--all'", "takes no law, market, form or file", remedy="leave them out")
        return _all_pages(folder, check=check, write=write)
    for option, given in (("--check", check), ("--write", write), ("--folder", folder is not None)):
        if given:
            raise InputError(f"option '{option}'", "goes with --all", remedy="add --all, or leave it out")
    check_files(out, _KINDS)
    for file in out or [".md"]:
        if form is not None:
            check_form(form, LATEX_FORMS if file.endswith(".tex") else FORMS, "option '--form'")
    with quiet_stdout():
        title, derivation, record = _source(law, cdf, low, high, parameters, market, seed, data_file)
        for file in out:
            _write(Path(file), title, derivation, record, form)
    if not out:
        print_text(_markdown(derivation, record, "derivation", form, pictures=False)["derivation.md"])
    return CHECK_FAILED if any(step.verdict is Verdict.REFUTED for step in derivation.steps) else 0


def _source(
    law: str | None,
    cdf: str | None,
    low: str | None,
    high: str | None,
    parameters: Sequence[str],
    market: str | None,
    seed: int | None,
    data_file: str | None,
) -> tuple[str, Derivation, DerivationRecord | None]:
    """Return a title and the derivation, and the instance where there is one."""
    if law is not None and (law.endswith(_MODEL) or _is_model(law)):
        if cdf is not None or market is not None or parameters or low is not None or high is not None:
            raise InputError(
                "argument 'LAW'",
                "is a model, which brings its own law and market",
                value=law,
                remedy="leave the rest out",
            )
        market, given = law, None
    else:
        given = None if law is None and cdf is None and market is not None else _law(law, cdf, low, high, parameters)
    if market is None:
        if seed is not None or data_file is not None:
            raise InputError(
                "options '--seed' and '--data'", "are for a model", remedy="give --market, or leave them out"
            )
        assert given is not None  # noqa: S101 -- `_law` gives a law or raises
        return f"The {given.name} distribution", derive_law(given), None
    record = record_of_model(read_model(market), law=given, seed=seed, data_file=data_file)
    return record.title, record.derivation, record


def _is_model(name: str) -> bool:
    """Tell whether it is a name of the library, and of no law."""
    return name not in LAWS and name in (file.stem for file in model_files())


def _write(file: Path, title: str, derivation: Derivation, record: DerivationRecord | None, form: str | None) -> None:
    if file.suffix == ".html":
        from smqopt.report import derivation_report  # noqa: PLC0415 -- comes with an extra

        shown = record_of_law(derivation.law, title) if record is None else record
        write_text(file, derivation_report(shown, form=form or "short"))
    elif file.suffix == ".tex":
        beside = [] if record is None else instance_numbers(derivation, record.solution)
        write_text(file, latex_document(derivation, form=form or "full", title=title, numbers=beside))
    else:
        for name, content in _markdown(derivation, record, file.stem, form).items():
            write_text(file.parent / name, content)


def _markdown(
    derivation: Derivation, record: DerivationRecord | None, name: str, form: str | None, *, pictures: bool = True
) -> dict[str, str]:
    """Return the page, and its pictures where there is an instance to draw."""
    if record is None:
        return {f"{name}.md": derivation.to_markdown(form or "short")}
    return derivation_markdown(record, name, form=form or "short", pictures=pictures)


def _all_pages(folder: str | None, *, check: bool, write: bool) -> int:
    if check == write:
        raise InputError("option '--all'", "needs one of --check and --write", remedy="add one of them")
    place = pages_folder(folder)
    expected: dict[str, str] = {}
    for page in pages():
        expected |= page
    if write:
        changed = write_pages(expected, place)
        click.echo(f"{len(expected)} files, {len(changed)} changed")
        return 0
    found = differences(expected, place)
    click.echo("\n".join([*found, f"{len(expected)} files, {len(found)} differ"]))
    return CHECK_FAILED if found else 0


def _law(law: str | None, cdf: str | None, low: str | None, high: str | None, parameters: Sequence[str]) -> Valuation:
    given = {
        name: _number(f"option '--{name}'", text) for name, text in (("low", low), ("high", high)) if text is not None
    }
    for parameter in parameters:
        name, equals, text = parameter.partition("=")
        if not equals:
            raise InputError("option '--param'", "must be NAME=NUMBER", value=parameter, remedy="write, say, k=2")
        if name in given:
            raise InputError("option '--param'", "gives a parameter twice", value=name, remedy="give it once")
        given[name] = _number(f"option '--param' {name!r}", text)
    if law is not None and cdf is None:
        if law not in LAWS:
            raise InputError("argument 'LAW'", "is not a known law", value=law, remedy=nearest(law, LAWS))
        return valuation_from_dict({"law": law, **LAWS[law][2], **given}, f"law {law!r}")
    if cdf is None or law is not None:
        raise InputError(
            "command line", "needs either LAW or --cdf", remedy=f"LAW is a model or one of {', '.join(LAWS)}"
        )
    with locate_errors("option '--cdf'"):
        return valuation_from_dict({"cdf": cdf, **given}, "option '--cdf'")


def _number(where: str, text: str) -> float:
    return float(numbers([text], where)[0])
