"""What every page must be: well-formed, self-contained, numbered, linked, with formulas and pictures that are XML."""

import re
import xml.etree.ElementTree as ET

from bs4 import BeautifulSoup

from smqopt.algebra import Relation
from smqopt.document._mathml import MATHML
from smqopt.document._svg import SVG

__all__ = ["check_page", "first_statements"]

FONT_BYTES = 60_000
"""So much of a page may be its font."""


def check_page(page):
    """Check all that every report must be."""
    assert ET.fromstring(page).tag == "html"
    soup = BeautifulSoup(page, "html.parser")

    assert soup.find(["script", "link", "iframe", "object", "embed", "img", "base", "form"]) is None
    for element in soup.find_all(True):
        for name in element.attrs:
            assert not name.startswith("on")
            assert name not in ("src", "srcset", "action", "data", "xlink:href", "style")
        if element.has_attr("href"):
            assert element.name == "a"
            assert element["href"].startswith(("#", "https://doi.org/10."))
    for style in soup.find_all("style"):
        assert "@import" not in style.text
        sources = re.findall(r"url\(([^)]*)\)", style.text)
        assert all(source.startswith("data:font/woff2;base64,") for source in sources)
        assert sum(map(len, sources)) <= FONT_BYTES

    ids = [element["id"] for element in soup.find_all(id=True)]
    assert len(set(ids)) == len(ids)
    for link in soup.find_all("a", href=re.compile("^#")):
        assert link["href"][1:] in ids

    formulas = re.findall(r"<math .*?</math>", page, flags=re.DOTALL)
    assert formulas
    for formula in formulas:
        assert ET.fromstring(formula).tag == f"{{{MATHML}}}math"
    pictures = re.findall(r"<svg .*?</svg>", page, flags=re.DOTALL)
    for picture in pictures:
        assert ET.fromstring(picture).tag == f"{{{SVG}}}svg"

    numbers = [int(number.text.strip("()")) for number in soup.select(".equation .number")]
    assert numbers == list(range(1, len(numbers) + 1))
    sections = [section["id"] for section in soup.select("main > section")]
    assert [link["href"][1:] for link in soup.select("nav.contents a")] == sections
    assert not re.search(r"\bUndefined\b|object at 0x|\bNone\b|\bnan\b|\{\{|\{%", soup.get_text())
    return soup


def first_statements(derivation):
    """Count the statements of each step that no step before says of the law alike; {step: count}."""
    said, counts = set(), {}
    for step in derivation.steps:
        own = {
            (
                equation.left,
                "=" if equation.relation is Relation.DEFINED else equation.relation,
                equation.right,
                equation.domain,
            )
            for equation in step.equations
            if not equation.every_law and equation.left != equation.right
        }
        counts[step.name] = len(own - said)
        said |= own
    return counts
