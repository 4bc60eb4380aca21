"""`smqopt derive`: documents in three formats, with an instance's numbers, and the generated pages."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest

from smqopt.cli.pages import _derivation_pages as derivation_pages
from smqopt.cli.pages._derivation_pages import INDEX, differences, pages_folder, write_pages
from smqopt.document._svg import SVG


def test_a_law_gives_three_documents(tmp_path: Path, smqopt: Callable) -> None:
    files = [tmp_path / f"law{suffix}" for suffix in (".md", ".html", ".tex")]
    called = smqopt("derive", "uniform", *(part for file in files for part in ("--out", file)))
    assert (called.code, called.out, called.err) == (0, "", "")
    markdown, html, latex = (file.read_text(encoding="utf-8") for file in files)
    assert markdown.startswith("# Derivation")
    assert "An example: 10 owners" in html
    assert "<script" not in html
    assert latex.rstrip().endswith(r"\end{document}")


def test_a_formula_of_ones_own_gives_a_page(tmp_path: Path, smqopt: Callable) -> None:
    page = tmp_path / "law.html"
    called = smqopt("derive", "--cdf", "theta**2*(3-2*theta)", "--low", "0", "--high", "1", "--out", page)
    assert (called.code, called.err) == (0, "")
    for name in ("virtual-cost", "acceptance-from-spend", "thresholds", "frontier"):
        assert f'id="figure-{name}"' in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("arguments", [("{model}",), ("--market", "{model}"), ("uniform", "--market", "{model}")])
def test_a_market_puts_its_numbers_beside_the_symbols(
    arguments: tuple[str, ...], small: Path, tmp_path: Path, smqopt: Callable
) -> None:
    out = [tmp_path / f"law{suffix}" for suffix in (".md", ".html", ".tex")]
    given = [argument.format(model=small) for argument in arguments]
    called = smqopt("derive", *given, *(part for file in out for part in ("--out", file)))
    assert (called.code, called.err) == (0, "")
    markdown, html, latex = (file.read_text(encoding="utf-8") for file in out)
    for text in (markdown, latex):
        assert "B = 1.5" in text
        assert "In numbers" in text
    assert "in-numbers" in html
    pictures = re.findall(r"\]\((law-[a-z-]+\.svg)\)", markdown)
    assert len(pictures) == 5
    for picture in pictures:
        assert ET.parse(tmp_path / picture).getroot().tag == f"{{{SVG}}}svg"


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        (("uniform", "--out", "law.doc"), "must end in .md or .html or .tex"),
        (
            ("uniform", "--form", "theorm", "--out", "law.tex"),
            "'--form': is not a known form (found 'theorm'); did you mean 'theorem'",
        ),
        (("uniform", "--form", "theorem"), "is not a known form"),
        (("--all",), "needs one of --check and --write"),
        (("--all", "--check", "--write"), "needs one of --check and --write"),
        (("uniform", "--all", "--check"), "takes no law, market, form or file"),
        (("uniform", "--check"), "goes with --all"),
        (("uniform", "--seed", "3"), "are for a model"),
        (("model.toml", "--low", "0"), "brings its own law and market"),
        (("--all", "--check", "--low", "0"), "takes no law, market, form or file"),
    ],
)
def test_options_that_do_not_fit_are_refused(arguments: tuple[str, ...], rule: str, smqopt: Callable) -> None:
    called = smqopt("derive", *arguments)
    assert called.code == 2
    assert rule in called.error


def test_a_form_that_fits_one_file_alone_writes_none(tmp_path: Path, smqopt: Callable) -> None:
    files = [tmp_path / "law.md", tmp_path / "law.tex"]
    called = smqopt("derive", "uniform", "--form", "short", "--out", files[0], "--out", files[1])
    assert called.code == 2
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def few_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make only the page of the first law, of no model, and the index."""
    laws = dict(list(derivation_pages.LAWS.items())[:1])
    monkeypatch.setattr(derivation_pages, "LAWS", laws)
    monkeypatch.setattr(derivation_pages, "model_files", list)


@pytest.mark.usefixtures("few_pages")
def test_pages_are_written_and_checked(tmp_path: Path, smqopt: Callable) -> None:
    here = ("--folder", tmp_path)
    missing = smqopt("derive", "--all", "--check", *here)
    assert missing.code == 1
    assert "uniform.md: is missing" in missing.out
    assert smqopt("derive", "--all", "--write", *here).code == 0
    assert smqopt("derive", "--all", "--check", *here).code == 0
    assert "0 changed" in smqopt("derive", "--all", "--write", *here).out

    page = tmp_path / "uniform.md"
    lines = page.read_text(encoding="utf-8").splitlines(keepends=True)
    lines[2] = "Another law.\n"
    page.write_text("".join(lines), encoding="utf-8")
    (tmp_path / "old.svg").write_text("<svg/>", encoding="utf-8")
    changed = smqopt("derive", "--all", "--check", *here)
    assert changed.code == 1
    assert "uniform.md: line 3: has 'Another law.', must have " in changed.out
    assert "old.svg: is not generated any more" in changed.out
    assert smqopt("derive", "--all", "--write", *here).code == 0
    assert not (tmp_path / "old.svg").exists()
    assert smqopt("derive", "--all", "--check", *here).code == 0


def test_only_generated_kinds_of_files_are_removed(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("kept", encoding="utf-8")
    assert write_pages({INDEX: "# D\n"}, tmp_path) == [INDEX]
    assert (tmp_path / "notes.txt").exists()
    assert differences({INDEX: "# D"}, tmp_path) == [f"{INDEX}: differs in its line ends"]
    assert differences({INDEX: "# D\nmore\n"}, tmp_path) == [f"{INDEX}: line 2: has no line, must have 'more'"]


def test_the_pages_of_a_clone_stand_in_its_documents() -> None:
    assert (pages_folder(None).parent / "conf.py").is_file()


@pytest.mark.parametrize("suffix", [".md", ".tex"])
def test_a_file_that_cannot_be_written_is_named(tmp_path: Path, smqopt: Callable, suffix: str) -> None:
    (tmp_path / "file").touch()
    called = smqopt("derive", "uniform", "--out", str(tmp_path / "file" / f"page{suffix}"))
    assert called.code == 2
    assert "cannot be made" in called.error
