"""A derivation beside an instance: figures, numbers, frontier and routes."""

import dataclasses
import re

import numpy as np
import pytest
from page_checks import check_page, first_statements

import smqopt as smq
from smqopt.cli.work._frontier_points import frontier_of
from smqopt.derivation import html_document
from smqopt.report import DerivationRecord, compare_routes, derivation_markdown, derivation_report, instance_numbers

IRREGULAR = smq.PiecewiseUniform([0, 1, 2], [0.25, 0.75])
"""Its density jumps up at 1, where J falls."""


def a_record(law, epsilon=None, share=0.3):
    """Solve a market under a law."""
    market = smq.Market(np.arange(1, 9) / 8 if epsilon is None else epsilon, law)
    solution = smq.solve(market, share * market.most_that_can_be_spent)
    return DerivationRecord("A law", smq.derive(law), solution, frontier_of(solution), "A test.")


@pytest.fixture(scope="module")
def uniform():
    return a_record(smq.Uniform(1, 3))


def test_to_html_is_a_whole_page_that_shows_every_step_and_check():
    derivation = smq.derive(smq.Uniform(0, 1))
    soup = check_page(derivation.to_html("full"))
    first = first_statements(derivation)
    for step in derivation.steps:
        own = [equation for equation in step.equations if not equation.every_law]
        shown = soup.find(id=f"law-{step.name}")
        assert (shown is None) == (not own)
        if own:
            assert step.title in shown.select_one("summary").text
            assert len(shown.select(".equation")) == first[step.name]
        assert soup.find(id=f"general-{step.name}")
    assert soup.find(id="figure-virtual-cost")
    assert soup.find(id="figure-acceptance-from-spend")


def test_families_have_steps_of_their_own():
    soup = check_page(html_document(smq.derive(smq.ByOwner([smq.Uniform(0, 1), smq.Power(2)])), form="full"))
    assert soup.find(id="law-1-threshold")
    assert soup.find(id="law-2-threshold")


@pytest.mark.parametrize(
    "law",
    [
        smq.Uniform(0, np.linspace(1, 2, 8)),
        smq.ByOwner([smq.Uniform(0, 1), smq.Power(2)] * 4),
        smq.PiecewiseUniform([0, 1, 2], [0.25, 0.75]),
    ],
    ids=["parameters by owner", "laws by owner", "histogram"],
)
def test_pages_of_other_markets(law):
    record = a_record(law)
    check_page(derivation_report(record))
    assert set(derivation_markdown(record, "law")) >= {"law.md", "law-frontier.svg"}


@pytest.mark.parametrize(("epsilon", "share"), [([0.0, 0.0], 0.5), ([1.0], 0.0), ([0.5, 1.0], 2.0)])
def test_edges(epsilon, share):
    market = smq.Market(epsilon, smq.Uniform(0, 1))
    solution = smq.solve(market, share * 2)
    record = DerivationRecord("Edge", smq.derive(market.valuation), solution, frontier_of(solution), "A test.")
    check_page(derivation_report(record))


def test_numbers_stand_beside_the_symbols(uniform):
    numbers = instance_numbers(uniform.derivation, uniform.solution)[0]
    argument = uniform.derivation.argument
    values = dict(numbers.values)
    assert (values[argument.law.low], values[argument.law.high]) == (1, 3)
    threshold = uniform.derivation.step("threshold").equations
    inserted = [numbers.insert(equation) for equation in threshold]
    assert any(
        one is not None and not one.right.free_symbols & {argument.law.low, argument.law.high} for one in inserted
    )
    soup = check_page(derivation_report(uniform))
    assert soup.select(".in-numbers")


def test_what_is_differentiated_by_stays_a_symbol(uniform):
    numbers = instance_numbers(uniform.derivation, uniform.solution)[0]
    first = uniform.derivation.step("sensitivity").equations[0]
    assert numbers.insert(first).left == first.left


def test_the_ironed_part_is_marked():
    soup = check_page(derivation_report(a_record(IRREGULAR)))
    figure = soup.find(id="figure-virtual-cost")
    assert figure.select(".band")
    assert figure.select(".ironed")
    assert "ironed" in figure.text
    assert not check_page(derivation_report(a_record(smq.Uniform(0, 1)))).select("#figure-virtual-cost .band")


def test_the_slope_of_the_frontier_is_the_price(uniform):
    frontier = uniform.frontier
    assert frontier.budgets.size == 40
    assert frontier.slope_error < 1e-6
    wrong = dataclasses.replace(frontier, prices=frontier.prices * 1.1)
    assert wrong.slope_error > 1e-3


def test_the_three_routes_agree_and_a_wrong_one_shows():
    market = smq.Market([0.4, 0.5, 0.6], smq.Uniform(0, 1))
    solution = smq.solve(market, 0.3)
    derivation = smq.derive(market.valuation)
    own, closed, conic = compare_routes(solution, derivation, smq.solve(market, 0.3, solver="conic"))
    assert own.price == pytest.approx(closed.price, rel=1e-9)
    assert closed.distance < 1e-9
    assert conic.distance < 1e-4
    wrong = dataclasses.replace(solution, thresholds=solution.thresholds * 0.9)
    assert compare_routes(wrong, derivation)[1].distance > 1e-3
    assert compare_routes(solution, None, note="too large")[1:] == (
        type(own)("closed form", None, None, None, "none is proved for this law"),
        type(own)("conic program", None, None, None, "too large"),
    )


def test_the_conic_row_is_what_the_conic_program_found_and_not_the_polished_answer():
    market = smq.Market(np.arange(1, 49) / 48, smq.Beta(2, 3))
    solution = smq.solve(market, 0.3 * market.most_that_can_be_spent)
    conic = smq.solve(market, solution.budget, solver="conic")
    row = compare_routes(solution, None, conic)[2]
    offered = (solution.acceptance > 0) | (conic.raw.acceptance > 0)
    distance = np.abs(solution.thresholds - conic.raw.thresholds)[offered].max()
    assert row.distance == distance > np.abs(solution.thresholds - conic.thresholds).max()
    assert row.price == conic.raw.budget_price != conic.budget_price
    assert row.privacy == pytest.approx(conic.raw.acceptance @ market.epsilon, rel=1e-14)
    assert row.note == "stated in cvxpy, solved anew, before polishing"
    assert compare_routes(solution, None, conic.raw)[2] == dataclasses.replace(row, note="stated in cvxpy, solved anew")


def test_markdown_names_every_picture(uniform):
    files = derivation_markdown(uniform, "law")
    named = set(re.findall(r"\]\((law-[a-z0-9-]+\.svg)\)", files["law.md"]))
    assert named == set(files) - {"law.md"}
    assert files == derivation_markdown(uniform, "law")
