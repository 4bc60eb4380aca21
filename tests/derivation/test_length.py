"""The length of pages: at most 1,200 words, and what is left out is named, with its verdict."""

import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from bs4 import BeautifulSoup
from page_checks import check_page

import smqopt as smq
from smqopt.derivation import derive, general_page, shown_laws, text
from smqopt.derivation.render._latex_text import display
from smqopt.derivation.render._room import _SENTENCE, _reduce, about_laws, count_verdicts, fit, words
from smqopt.derivation.render._shown import ROUNDED, ShownEquation

MOST_WORDS = 1200
SEVERAL = smq.ByOwner([smq.Uniform(0, 1), smq.Power(2)])
MANY = smq.ByOwner(
    [
        smq.Uniform(0, 1),
        smq.Power(2),
        smq.Triangular(0, 0.4, 1),
        smq.Normal(0.5, 0.2, 0, 1),
        smq.Weibull(1.5, 1, 0, 2),
        smq.Kumaraswamy(2, 3),
    ]
)
CUT = smq.Truncated(
    smq.Mixture(
        [smq.Weibull(2.82, 1.3464, 0.09, 1.67), smq.PiecewiseUniform([0.09, 0.44, 0.88, 1.32, 1.67], [3, 3, 3, 2])],
        [0.55, 0.45],
    ),
    0.33,
    1.35,
)
DEEP = smq.Mixture(
    [
        smq.PiecewiseUniform([0, 0.241, 0.482, 0.724, 0.965, 1.206, 1.448, 1.689, 1.93], [5, 5, 4, 3, 4, 2, 5, 1]),
        smq.Weibull(3.16, 2.895, 0, 1.93),
        smq.Mixture([smq.Weibull(3.07, 3.03975, 0, 1.93), smq.Normal(0.22, 0.82, 0, 1.93)], [0.56, 0.44]),
    ],
    [0.56, 0.2, 0.24],
)
LAWS = {
    "uniform": smq.Uniform(0, 1),
    "several": SEVERAL,
    "many": MANY,
    "a cut of a mixture": CUT,
    "a mixture of mixtures": DEEP,
    "compositions by owner": smq.ByOwner([CUT, smq.Uniform(0, 1)]),
    "sides": smq.ByOwner([smq.Beta(2, 0.5), smq.Logistic(0, 1.5, 0, 1), smq.Beta(1, 1), smq.Beta(0.5, 0.6)]),
}
QUICK = ("uniform",)


def own_words(page):
    """Count the words of a page, without figures; a formula is one."""
    soup = BeautifulSoup(page, "html.parser")
    for element in soup(["style", "svg"]):
        element.decompose()
    for element in soup("math"):
        element.replace_with(" formula ")
    return len(soup.get_text(" ").split())


def statements(laws):
    return [each for law in laws for step in law.steps for each in step.equations if not each.left]


def check_nothing_is_lost(short, full):
    """Each statement of the full form is shown in the short one, or named as left out, with its verdict."""
    shown = {replace(each, key="") for each in statements(short)}
    answered = {each.latex for law in short for each in (*law.findings, *law.left)}
    left = {replace(each, key="") for law in short for each in law.left}
    for each in statements(full):
        known = replace(each, key="")
        assert known in shown | left or (each.word == "" and each.latex.replace(":=", "=") in answered), each
    for law in short:
        for named in (*law.findings, *(each for step in law.steps for each in step.equations)):
            if named.left and any(each.word for each in named.left):
                assert count_verdicts(named.left) in named.remark
        if law.counted:
            assert count_verdicts(law.counted) in law.verdict
    assert about_laws(short) or not left


def check_length(derivation):
    short, full = shown_laws(derivation), shown_laws(derivation, form="full")
    check_nothing_is_lost(short, full)
    page, html = derivation.to_markdown(), derivation.to_html()
    assert len(page.split()) <= MOST_WORDS
    assert own_words(html) <= MOST_WORDS
    assert len(derivation._repr_mimebundle_()["text/markdown"].split()) <= MOST_WORDS
    check_page(html)
    whole, document, soup = (
        derivation.to_markdown("full"),
        derivation.to_latex("full"),
        BeautifulSoup(derivation.to_html("full"), "html.parser"),
    )
    for each in [*statements(full), *(each for step in general_page() for each in step.equations)]:
        assert each.latex in whole
        assert soup.find(id=f"eq-{each.key}")
    for each in statements(full):
        assert display(each.latex)[2:-2] in document
    assert len(page.split()) <= len(whole.split())


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name not in QUICK)) for name in LAWS])
def test_a_page_has_at_most_1200_words_and_loses_nothing(name):
    check_length(derive(LAWS[name]))


@pytest.fixture(scope="module")
def full():
    return shown_laws(derive(smq.Power(2)), form="full")


@pytest.mark.parametrize("count", [1, 2, 7, 60])
@pytest.mark.parametrize("room", [-5, 0, 200, 400, 1000, 1200])
def test_any_number_of_laws_fits(full, count, room):
    laws = [replace(full[0], name=f"power (k {k})") for k in range(count)]
    shown = fit(laws, room)
    check_nothing_is_lost(shown, laws)
    assert sum(each.name.startswith(("power", "law")) for each in shown) == len(shown) - (len(shown) < count)
    if room >= 400:
        assert sum(map(words, shown)) + len(about_laws(shown).split()) <= room
    if len(shown) < count:
        assert shown[-1].name == f"{count - len(shown) + 1} further laws"
        assert len(shown[-1].counted) == (count - len(shown) + 1) * len(statements(full))


def test_what_fits_is_shown_as_it_is(full):
    assert fit(full, words(full[0])) == full
    assert fit(full, words(full[0]) - 1) != full
    assert about_laws(full) == ""


def test_answers_come_first_and_short_formulas_before_long_ones(full):
    law = full[0]
    long = replace(law.findings[0], key="long", latex=" ".join([f"x_{{{k}}} +" for k in range(500)]))
    shown = fit([replace(law, findings=(*law.findings, long))], 900)[0]
    assert [bool(each.left) for each in shown.findings] == [False] * len(law.findings) + [True]
    assert shown.findings[-1].remark.startswith(f"{long.lines} lines")
    none = fit([law], 300)[0]
    assert not any(each.left for each in none.findings)
    assert none.steps[-1].title == "Other steps"


def test_what_is_not_proved_is_shown_before_what_is_proved(full):
    law = full[0]
    wrong = ShownEquation("wrong", "0 = 1", "", "", "✗", "refuted", "bad", "left − right = -1", "0 =")
    last = replace(law.steps[-1], equations=(*law.steps[-1].equations, wrong), verdict="refuted", mark="✗", style="bad")
    shown = fit([replace(law, steps=(*law.steps[:-1], last))], 400)[0]
    assert wrong in shown.steps[-2].equations + shown.steps[-1].equations
    named = fit([replace(law, steps=(replace(last, equations=(wrong,) * 300),))], 400)[0]
    found = named.steps[0].equations[-1]
    assert re.search(r"\d+ refuted \(left − right = -1\)", found.remark)
    assert Counter(each.word for each in found.left) == {"refuted": len(found.left)}


def test_steps_that_are_counted_have_the_worst_verdict_of_them(full):
    wrong = ShownEquation("wrong", "0 = 1", mark="✗", word="refuted", style="bad", method="left − right = -1")
    first = replace(full[0].steps[0], equations=(wrong,), verdict="refuted", mark="✗", style="bad")
    (counted,) = _reduce(replace(full[0], steps=(first, *full[0].steps[1:])), frozenset()).steps
    assert (counted.mark, counted.verdict, counted.style) == ("✗", "refuted", "bad")
    assert f"{first.title}: 1 refuted" in counted.before[0]


def test_what_was_said_above_is_left_out_where_room_is_short(full):
    findings = tuple(replace(each, is_rounded=True) for each in full[0].findings)
    law = replace(full[0], price=ROUNDED, findings=findings)
    shown = fit([law] * 2, 2 * words(law) - 1)
    assert [each.price for each in shown] == [ROUNDED, ""]
    exact = replace(law, findings=full[0].findings)
    assert [each.price for each in fit([exact] * 2, 2 * words(exact) - 1)] == ["", ""]
    said = [each for law in shown for step in law.steps for note in step.after for each in _SENTENCE.split(note)]
    assert said
    assert len(set(said)) == len(said)
    for law in shown:
        answered = {each.latex for each in law.findings}
        assert not answered & {each.latex.replace(":=", "=") for each in statements([law])}


def test_notes_are_said_once():
    page = derive(SEVERAL).to_markdown()
    assert page.count("All laws share one budget price λ") == 1
    assert "λ has no closed form" not in page
    assert all(text(f"Law {k}: ") in page for k in (1, 2))


@pytest.mark.parametrize("write", ["to_markdown", "to_html", "to_latex"])
def test_an_unknown_form_is_refused(write):
    with pytest.raises(smq.InputError, match=r"'form'.*'fulll'.*full"):
        getattr(derive(smq.Uniform(0, 1)), write)(form="fulll")


def test_a_summary_has_no_steps():
    derivation = derive(smq.Uniform(0, np.array([1.0, 2.0])))
    assert "<details>" not in derivation.to_markdown("summary")
    assert 'id="law-threshold"' not in derivation.to_html("summary")


@pytest.mark.slow
def test_a_page_says_that_numbers_are_rounded_wherever_they_are():
    exact = smq.Mixture([smq.Uniform(0, 1), smq.Power(2)], [0.25, 0.75])
    for law, said in ((exact, 0), (CUT, 1), (LAWS["compositions by owner"], 1)):
        page = derive(law).to_markdown()
        assert page.count("rounded to six in print") == said, law
        assert derive(law).to_markdown("full").count("rounded to six in print") >= said


@pytest.mark.slow
def test_no_note_on_rounding_where_what_is_shown_is_exact():
    """Of this law a formula of one step alone is rounded."""
    derivation = derive(smq.LogNormal(0, 0.5, 0.25, 3))
    decimals = re.compile(r"[0-9][.][0-9]{5,}")
    pages = [derivation.to_markdown(form) for form in ("summary", "short", "full")] + [derivation.to_latex("theorem")]
    for page in pages:
        assert ("rounded to six in print" in page) == bool(decimals.search(page))
