"""What a report opens with: results, a figure, caveats; an overspend is in red beside the budget."""

import numpy as np
import pytest
from bs4 import BeautifulSoup

import smqopt as smq
from smqopt.report import RunRecord, run_report


def opening(reports, payments="posted", budget=1.0):
    market = smq.Market([0.5, 0.5, 1.0], smq.Uniform(0, 1))
    certificate = smq.verify(smq.solve(market, budget))
    outcome = smq.procure(certificate, reports, payments=payments, rng=np.random.default_rng(1))
    page = run_report(RunRecord(title="t", provenance="p", certificate=certificate, derivation=None, outcome=outcome))
    return BeautifulSoup(page, "html.parser").header, outcome


@pytest.mark.parametrize(("reports", "over"), [([0.0, 0.0, 0.0], True), ([0.9, 0.9, 0.9], False)])
def test_an_overspend_is_red_beside_the_budget(reports, over):
    header, outcome = opening(reports)
    assert (outcome.total_payment > 1) == over
    (tile,) = [tile for tile in header.select(".glance > div") if tile.dt.text == "Paid"]
    assert ("bad" in tile.find(class_="large")["class"]) == over
    assert ("over the budget of 1; expected 1" in tile.text) == over
    assert ("budget 1, expected 1" in tile.text) != over
    assert ("this run paid" in header.find(class_="caveats").text) == over


def test_the_opening_holds_a_figure_with_units_and_caveats():
    header, _ = opening([0.1, 0.1, 0.1])
    assert {"privacy requirement ε (nats)", "threshold θ* (currency)"} <= {
        text.text for text in header.select("svg text")
    }
    assert "taken as given" in header.find(class_="caveats").text


def test_other_rules_say_what_to_know_of_them():
    header, outcome = opening([0.1, 0.1, 0.1], payments="ex-post-budget")
    said = [item.text.rstrip(".").lower() for item in header.select(".caveats li")]
    assert {text.rstrip(".").lower() for text in outcome.caveats} <= set(said)
