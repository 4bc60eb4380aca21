"""The generated pages: a derivation for every law and model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import zip_longest
from pathlib import Path

from smqopt.derivation import derive, is_derived_alike, table, text, verdict_in_words
from smqopt.errors import InputError
from smqopt.files import write_text
from smqopt.market import PurchasedPrivacy
from smqopt.model_files import Model, make_instance, model_files, read_model
from smqopt.notation import PAPER
from smqopt.valuation import LAWS, Valuation, valuation_from_dict

INDEX = "index.md"
_KINDS = (".md", ".svg")
_SHOWN = 80
"""So many characters of a line are shown where two differ."""


def pages_folder(given: str | None) -> Path:
    """Return the folder of the pages: the one named, or that of a clone.

    Raises
    ------
    InputError
        If none is named and there are no documents beside the package.
    """
    if given is not None:
        return Path(given)
    documents = Path(__file__).parents[3] / "docs"
    if not (documents / "conf.py").is_file():
        raise InputError(
            "option '--folder'", "is needed: the documents are not beside the package", remedy="name the folder"
        )
    return documents / "derivations"


def pages() -> Iterator[dict[str, str]]:
    """Make the pages one by one, the index last: name of a file → its text.

    A page is a directive, by which the documents show the derivation; here it is derived too.
    """
    rows: list[tuple[str, str, str]] = []
    for name, (_, _, example) in LAWS.items():
        yield _page(
            name, f"The {name} distribution", name, partial(valuation_from_dict, {"law": name, **example}), rows
        )
    for path in model_files():
        model = read_model(path)
        if is_derived(model):
            yield _page(f"model-{path.stem}", model.title, path.name, partial(_law_of_model, model), rows)
    yield {"general.md": _GENERAL}
    yield {INDEX: _index(rows)}


def _law_of_model(model: Model) -> Valuation:
    return make_instance(model).market.valuation


def _page(
    name: str, title: str, argument: str, law: Callable[[], Valuation], rows: list[tuple[str, str, str]]
) -> dict[str, str]:
    try:
        derivation = derive(law())
    except InputError as error:
        rows.append((name, title, "no derivation"))
        return {f"{name}.md": f"# {title}\n\nThere is no derivation: {text(str(error))}.\n"}
    rows.append((name, title, verdict_in_words(derivation)))
    alike = [part.derivation.law.name for part in derivation.parts if is_derived_alike(part.derivation)]
    cited = f":cited: {', '.join(alike)}\n" if alike else ""
    return {f"{name}.md": f"# {title}\n\n```{{smq-derivation}} {argument}\n{cited}```\n\n{_CITED}\n"}


_CITED = f"What holds for every law stands on [a page of its own](general.md). {PAPER.credit}"
_GENERAL = f"""# What holds for every law

A buyer posts a threshold to each owner of data: she sells if her valuation is no higher, and is then paid the threshold. The thresholds
are to buy as much privacy as a budget allows, in expectation (the paper’s program OP2). {PAPER.credit} Letters with an index speak of
one owner.

```{{smq-derivation}}
:unfolded:
```
"""


def is_derived(model: Model) -> bool:
    """Tell whether a model is OP2 alone, of which the derivation speaks."""
    return not model.constraints and isinstance(model.objective, PurchasedPrivacy)


def differences(expected: Mapping[str, str], folder: Path) -> list[str]:
    """Say which files differ from what they must be, and in which lines.

    Parameters
    ----------
    expected
        Name of a file → its text.
    folder
        Where the files are; pages and pictures there beyond these are named too.
    """
    found = []
    for name, wanted in expected.items():
        path = folder / name
        if not path.is_file():
            found.append(f"{name}: is missing")
            continue
        there = path.read_text(encoding="utf-8")
        if there != wanted:
            found.append(f"{name}: {_first_difference(there, wanted)}")
    return found + [f"{name}: is not generated any more" for name in _strangers(expected, folder)]


def write_pages(expected: Mapping[str, str], folder: Path) -> list[str]:
    """Write the files that differ, and remove those that are not generated.

    Returns
    -------
    list of str
        The names of the files that changed.
    """
    changed = [
        name
        for name, wanted in expected.items()
        if not (folder / name).is_file() or (folder / name).read_text(encoding="utf-8") != wanted
    ]
    for name in changed:
        write_text(folder / name, expected[name])
    stale = _strangers(expected, folder)
    for name in stale:
        (folder / name).unlink()
    return [*changed, *stale]


def _strangers(expected: Mapping[str, str], folder: Path) -> list[str]:
    there = sorted(path.name for path in folder.iterdir() if path.suffix in _KINDS) if folder.is_dir() else []
    return [name for name in there if name not in expected]


def _first_difference(there: str, wanted: str) -> str:
    lines = zip_longest(there.splitlines(), wanted.splitlines())
    number, (old, new) = next(((k, pair) for k, pair in enumerate(lines, start=1) if pair[0] != pair[1]), (0, ("", "")))
    if number == 0:
        return "differs in its line ends"
    return f"line {number}: has {_shorten(old)}, must have {_shorten(new)}"


def _shorten(line: str | None) -> str:
    if line is None:
        return "no line"
    return repr(line if len(line) <= _SHOWN else line[:_SHOWN] + "…")


def _index(rows: list[tuple[str, str, str]]) -> str:
    listed = table(["page", "steps"], [(f"[{text(title)}]({name}.md)", verdict) for name, title, verdict in rows])
    names = "\n".join(name for name, _, _ in rows)
    return (
        "\n\n".join(
            [
                "# Derivations",
                (
                    "For every distribution (law) of the registry, and every model of the library that is OP2 alone: the thresholds, and what proves them. "
                    "[What holds for every law](general.md) stands on a page of its own. The pages are made by `smqopt derive --all --write`; "
                    "`smqopt derive --all --check` fails where one differs."
                ),
                listed,
                f"```{{toctree}}\n:hidden:\n\ngeneral\n{names}\n```",
            ]
        )
        + "\n"
    )
