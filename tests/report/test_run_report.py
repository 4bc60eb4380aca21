import dataclasses

import numpy as np
import pytest
from bs4 import BeautifulSoup
from page_checks import check_page, first_statements

import smqopt as smq
from smqopt.errors import InputError
from smqopt.notation import PAPER
from smqopt.report import RunRecord, run_report

LAWS = {
    "uniform": smq.Uniform(0, 1),
    "uniform-above": smq.Uniform(1, 3),
    "power": smq.Power(2),
    "power-above": smq.Power(0.5, 1, 2),
    "exponential": smq.TruncatedExponential(rate=2),
    "exponential-steep": smq.TruncatedExponential(rate=60),
    "formula": smq.from_cdf("theta**2 * (3 - 2*theta)", low=0, high=1),
}


def a_run(law=None, n=300, share=0.2, seed=5, query=None, private=False, epsilon=None, steps=2, **market):
    """Go the whole road on drawn owners; of the derivation the first steps alone, unless `steps` is None."""
    rng = np.random.default_rng(seed)
    epsilon = rng.random(n) if epsilon is None else np.asarray(epsilon)
    market = smq.Market(epsilon, law or LAWS["uniform"], **market)
    solution = smq.solve(market, share * float(market.most_that_can_be_spent))
    certificate = smq.verify(solution)
    population = market.population
    outcome = smq.procure(certificate, market.expand().valuation.sample(rng, population))
    answer = None
    if outcome.bought:
        data = rng.integers(0, 2, outcome.bought)
        answer = smq.answer(query or smq.Count(), data, outcome, None if private else rng, estimator="P-E")
    derivation = smq.derive(market.valuation)
    return RunRecord(
        title="How many?",
        provenance="Drawn for a test, doi 10.24432/C5XW20.\n\nSecond <paragraph> & more.",
        certificate=certificate,
        derivation=dataclasses.replace(derivation, steps=derivation.steps[:steps]),
        outcome=outcome,
        answer=answer,
        description="Each owner’s entry is 0 or 1.",
        seed=None if private else seed,
        exact_law=None if private or answer is None else answer.distribution(),
    )


@pytest.fixture(scope="module")
def simulation():
    return a_run(steps=None)


@pytest.fixture(scope="module")
def release():
    return a_run(private=True)


def test_a_simulation_is_a_page_with_banner_and_law(simulation):
    soup = check_page(run_report(simulation))
    assert "Simulation, not a private release" in soup.select_one(".banner").text
    assert soup.find(id="output-law")
    assert soup.find(id="figure-output-law")
    assert "noise only, not sampling error" in soup.find(id="answer").text


def test_a_release_has_neither_banner_nor_law_nor_seed(release):
    soup = check_page(run_report(release))
    assert soup.select_one(".banner") is None
    assert "imulation" not in soup.get_text()
    assert "seed" not in soup.get_text()
    assert soup.find(id="output-law") is None
    assert "noise only, not sampling error" in soup.find(id="answer").text


def test_an_answer_from_a_generator_is_a_simulation_even_where_the_seed_is_not_told(simulation):
    record = dataclasses.replace(simulation, seed=None)
    assert record.is_simulation
    assert "Simulation" in check_page(run_report(record)).select_one(".banner").text


def test_the_exact_law_of_a_release_is_refused(release):
    law = (np.array([0.0, 1.0]), np.array([0.5, 0.5]))
    with pytest.raises(InputError, match="private"):
        dataclasses.replace(release, exact_law=law)


def test_an_exact_law_without_an_answer_or_with_falling_values_is_refused(simulation):
    law = simulation.exact_law
    with pytest.raises(InputError, match="private"):
        dataclasses.replace(simulation, answer=None)
    with pytest.raises(InputError, match="increasing"):
        dataclasses.replace(simulation, exact_law=(law[0][::-1], law[1]))


@pytest.mark.parametrize("name", LAWS)
def test_every_law_gives_a_page_with_its_derivation(name):
    record = a_run(LAWS[name], n=40, steps=None)
    soup = check_page(run_report(record))
    first = first_statements(record.derivation)
    for step in record.derivation.steps:
        own = [equation for equation in step.equations if not equation.every_law and equation.left != equation.right]
        shown = soup.find(id=f"law-{step.name}")
        assert (shown is None) == (not own)
        if own:
            assert step.title in shown.select_one("summary").text
            assert step.verdict.name.lower() in shown.select_one(".verdict").text
            assert len(shown.select(".equation")) == first[step.name]
        assert soup.find(id=f"general-{step.name}")


def test_lotteries_of_an_irregular_law_are_shown():
    record = a_run(
        smq.from_cdf("((1 - 99*theta/100)**(-1/2) - 1)/9", low=0, high=1),
        n=5,
        epsilon=[0.3, 0.5, 0.5, 0.5, 0.9],
        share=0.55,
    )
    assert record.certificate.solution.lottery is not None
    soup = check_page(run_report(record))
    assert "Offer drawn from two thresholds" in soup.find(id="budget-price").text
    assert " or " in soup.find(id="thresholds").text
    assert "ironed" in soup.find(id="figure-virtual-cost").text
    assert "drawn from two" in soup.find(id="purchase").text


def test_laws_by_owner_give_one_derivation_a_family():
    law = smq.ByOwner([smq.Uniform(0, 1), smq.Power(2), smq.Uniform(1, 2), smq.TruncatedExponential(3.0)] * 10)
    soup = check_page(run_report(a_run(law, n=40)))
    assert len(soup.select("#derivation h3")) == 3


def test_parameters_by_owner_are_shown_as_ranges():
    soup = check_page(run_report(a_run(smq.Power(np.linspace(0.5, 2.5, 40)), n=40)))
    assert "k from 0.5 to 2.5" in soup.find(id="program").text


def test_alike_owners_are_counted():
    record = a_run(n=4, epsilon=[0.1, 0.4, 0.4, 0.9], multiplicity=[100, 1, 30, 9])
    soup = check_page(run_report(record))
    assert "140" in soup.find(id="program").text
    assert sum(int(row.select("td")[0].text) for row in soup.select("#purchase tbody tr")) == 140


def test_every_check_stands_with_its_verdict(simulation):
    soup = check_page(run_report(simulation))
    rows = soup.select("table.checks tbody")
    assert [row.select_one("th").text for row in rows] == [check.name for check in simulation.certificate.checks]
    words = {True: "passed", False: "failed", None: "undecided"}
    for row, check in zip(rows, simulation.certificate.checks, strict=True):
        expected = words[check.passed] if check.passed is not None or np.isfinite(check.tolerance) else "reported"
        assert expected in row.select_one(".verdict").text
        assert check.norm.replace("_", "") in row.text


@pytest.mark.parametrize(
    "damage",
    [
        lambda solution: {"thresholds": solution.thresholds * 1.5},
        lambda solution: {"thresholds": np.full_like(solution.thresholds, np.nan)},
        lambda solution: {"thresholds": solution.thresholds[:-1]},
        lambda _: {"budget_price": float("nan")},
        lambda _: {"budget_price": -1.0},
        lambda _: {"budget_price": 0.0},
        lambda _: {"budget_price": float("inf")},
        lambda _: {"budget": 0.0},
    ],
    ids=["too-high", "nan", "too-few", "nan-price", "negative-price", "no-price", "infinite-price", "no-budget"],
)
def test_a_certificate_that_is_not_valid_says_why(simulation, damage):
    solution = simulation.certificate.solution
    certificate = smq.verify(dataclasses.replace(solution, **damage(solution)))
    assert not certificate.valid
    page = run_report(RunRecord("Damaged", "A test.", certificate, simulation.derivation))
    soup = BeautifulSoup(page, "html.parser")
    assert "not valid" in soup.find(id="certificate").text
    assert len(soup.select("#certificate ul li")) == len(certificate.reasons) > 0
    assert "failed" in soup.find(id="certificate").text


@pytest.mark.parametrize(
    ("epsilon", "share"),
    [([0.2, 0.5, 1.0], 0.0), ([0.2, 0.5, 1.0], 2.0), ([0.0, 0.0], 0.5), ([0.7], 0.5), ([0.0, 1e-12, 1e9], 0.5)],
    ids=["zero-budget", "slack", "no-privacy", "one-owner", "wide"],
)
def test_edges_of_the_program(epsilon, share):
    record = a_run(n=len(epsilon), epsilon=epsilon, share=share)
    soup = check_page(run_report(record))
    status = record.certificate.solution.status
    assert status.name.replace("_", " ").lower() in soup.find(id="budget-price").text
    assert (soup.find(id="answer") is None) == (record.answer is None)


def test_a_median_speaks_of_its_own_unit():
    record = a_run(query=smq.Median(0, 1))
    soup = check_page(run_report(record))
    assert record.answer.noise_unit in soup.find(id="answer").text


def test_private_things_and_single_owners_never_appear():
    rng = np.random.default_rng(3)
    ids = [f"owner-{k:05d}-zq" for k in range(200)]
    market = smq.Market(rng.random(200), smq.Uniform(0, 1), owner_ids=ids)
    certificate = smq.verify(smq.solve(market, 20.0))
    reports = rng.random(200)
    outcome = smq.procure(certificate, reports)
    answer = smq.answer(smq.Median(100_000, 999_999), rng.integers(765_000, 766_000, outcome.bought), outcome)
    page = run_report(RunRecord("Private", "A test.", certificate, smq.derive(market.valuation), outcome, answer))
    text = BeautifulSoup(page, "html.parser").get_text()
    assert "-zq" not in page
    assert not any(f"{report:.4f}" in text for report in reports)
    assert "765," not in text.replace(f"{int(answer.value):,}", "")


def test_a_paid_sum_above_the_budget_is_told_plainly(simulation):
    records = (a_run(seed=seed, n=60) for seed in range(40))
    above = next(r for r in records if r.outcome.total_payment > r.certificate.solution.budget)
    text = " ".join(BeautifulSoup(run_report(above), "html.parser").find(id="purchase").text.split())
    assert "The budget holds in expectation" in text
    assert "above the budget" in text


def test_provenance_is_escaped_and_a_doi_is_a_link(simulation):
    soup = check_page(run_report(simulation))
    link = soup.select_one("header a")
    assert link["href"] == "https://doi.org/10.24432/C5XW20"
    assert "Second <paragraph> & more." in soup.select_one("header").text


def test_the_page_names_the_papers_authors(simulation):
    assert f"those of {PAPER.names}, <cite>{PAPER.title}</cite>" in run_report(simulation)


def test_the_same_record_gives_the_same_page(simulation):
    assert run_report(simulation) == run_report(simulation)


def test_as_many_owners_as_adult_stay_small():
    page = run_report(a_run(n=32_561))
    check_page(page)
    assert len(page.encode()) < 600_000
