"""The page that `smqopt derive LAW --out x.html` writes: at most 1,200 words, and nothing left out."""

import numpy as np
import pytest
from bs4 import BeautifulSoup
from page_checks import check_page

import smqopt as smq
from smqopt.cli.pages._derivation_source import record_of_law
from smqopt.derivation import shown_laws
from smqopt.document import visible_words
from smqopt.report import derivation_markdown, derivation_report
from smqopt.valuation import LAWS, valuation_from_dict

MOST_WORDS = 1200
REGISTRY = {
    name: valuation_from_dict({"law": name, **LAWS[name][2]}) for name in LAWS if name not in ("point-mass", "discrete")
}
COMPOSITIONS = {
    repr(law): law
    for law in (
        smq.Power(2, low=0.5),
        smq.Kumaraswamy(2, 1),
        smq.Triangular(0, 1, 1),
        smq.PiecewiseUniform([0.5, 1, 2, 4], [4, 0, 1]),
        smq.from_cdf("theta**a", low=0, high=1, a=1.5),
        smq.from_cdf("sin(pi*theta/2)", low=0, high=1),
        smq.Mixture([smq.TruncatedExponential(1), smq.TruncatedExponential(3)], [0.5, 0.5]),
        smq.Truncated(smq.Triangular(0, 0.5, 1), 0.2, 0.9),
    )
}
QUICK = ("uniform",)


def words_of(page):
    """Count the words that a page shows, each piece of a formula as one."""
    soup = BeautifulSoup(page, "html.parser")
    for element in soup(["style", "svg"]):
        element.decompose()
    for element in soup("math"):
        element.replace_with(" formula ")
    return len(soup.get_text(" ").split())


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * (name not in QUICK)) for name in {**REGISTRY, **COMPOSITIONS}],
)
def test_a_page_with_its_market_has_at_most_1200_words_and_every_statement(name):
    record = record_of_law({**REGISTRY, **COMPOSITIONS}[name], name)
    page = derivation_report(record)
    check_page(page)
    assert visible_words(page) == words_of(page) <= MOST_WORDS
    assert "see the full form" not in page.lower()
    for law in shown_laws(record.derivation, form="full"):
        answered = {each.latex for each in law.findings}
        for step in law.steps:
            assert f'id="{step.anchor}"' in page
            for equation in step.equations:
                said = f'id="eq-{equation.key}"' in page or equation.latex.replace(":=", "=") in answered
                assert said, equation
    assert len(derivation_markdown(record, "law")["law.md"].split()) <= MOST_WORDS
    assert words_of(record.derivation.to_html()) <= MOST_WORDS
    assert len(record.derivation.to_markdown().split()) <= MOST_WORDS


def test_laws_without_room_are_named_within_the_words_of_a_page():
    several = smq.ByOwner([smq.Uniform(0, 1), smq.Power(2), smq.Triangular(0, 0.4, 1), smq.Kumaraswamy(2, 3)] * 2)
    market = smq.Market(np.arange(1, 9) / 8, several)
    record = record_of_law(smq.Uniform(0, 1), "by owner")
    solution = smq.solve(market, 0.2 * market.most_that_can_be_spent)
    record = type(record)("By owner", smq.derive(several), solution, record.frontier, "A test.")
    page = derivation_report(record)
    check_page(page)
    assert words_of(page) <= MOST_WORDS
    assert "see the full form" in page


def test_letters_are_those_of_the_page():
    page = derivation_report(record_of_law(smq.Uniform(0, 1), "uniform"))
    rows = BeautifulSoup(page, "html.parser").find(id="symbols").select("tbody tr")
    said = [row.select("td")[1].text for row in rows]
    assert "budget of the broker" in said
    assert "the query" not in said
    every = BeautifulSoup(smq.derive(smq.Uniform(0, 1)).to_html("full"), "html.parser").find(id="symbols")
    assert len(every.select("tbody tr")) > len(rows)
