"""The paper is cited alike everywhere."""

import re
from pathlib import Path

from smqopt.derivation import derive, markdown_document
from smqopt.notation import PAPER
from smqopt.valuation import Uniform

ROOT = Path(__file__).parents[1]
FAMILIES = [name.split()[-1] for name in PAPER.authors]


def test_the_citation_file_names_the_authors():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    found = re.findall(r"family-names: (\w+)\n\s+given-names: (\w+)", text)
    assert tuple(f"{given} {family}" for family, given in found) == PAPER.authors
    assert PAPER.title in text


def test_the_bibliography_names_the_authors():
    text = (ROOT / "docs" / "references.bib").read_text(encoding="utf-8")
    names = " and ".join(f"{name.split()[-1]}, {' '.join(name.split()[:-1])}" for name in PAPER.authors)
    entry = text.partition("{zhang2020,")[2].partition("\n}")[0]
    assert f"author = {{{names}}}" in entry
    assert f"title = {{{{{PAPER.title}}}}}" in entry
    assert f"year = {{{PAPER.year}}}" in entry


def test_no_page_gives_other_initials():
    wrong = re.compile(rf"([A-Z])\. ({'|'.join(FAMILIES)})\b")
    right = {(name[0], name.split()[-1]) for name in PAPER.authors}
    for folder in ("smqopt", "docs"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in {".py", ".md", ".html", ".bib"}:
                assert set(wrong.findall(path.read_text(encoding="utf-8"))) <= right, path


def test_every_derivation_names_the_authors():
    pages = [path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "derivations").glob("*.md")]
    derived = [page for page in pages if "{smq-derivation}" in page]
    assert len(derived) > 20
    assert all(PAPER.names in page for page in derived)
    assert PAPER.names in markdown_document(derive(Uniform(0, 1)))
