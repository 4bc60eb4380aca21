"""The explorer in a real browser: move the sliders, read the numbers, compare with `smq.solve`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import smqopt as smq
from smqopt.document import show_interval, shown
from smqopt.questions import CertifiedGrid, certified_grid, movable_limit

pytestmark = pytest.mark.browser

NAMES = ("irregular-lotteries", "frontier-with-coverage", "parity")
STEPS = 8


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    from smqopt.cli._entry import run

    folder = tmp_path_factory.mktemp("pages")
    for name in NAMES:
        assert run(["explore", name, "--out", str(folder / f"{name}.html")]) == 0
    return {name: folder / f"{name}.html" for name in NAMES}


@pytest.fixture
def opened(browser: Any, files: dict[str, Path], request: pytest.FixtureRequest) -> Iterator[Any]:
    """A page with what it complained of and asked for in `page.heard`."""
    name, options = request.param
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
    page = context.new_page()
    page.heard = []
    page.on("console", lambda message: page.heard.append(message.text))
    page.on("pageerror", lambda error: page.heard.append(str(error)))
    page.on("request", lambda asked: page.heard.append(asked.url) if not asked.url.startswith("file:") else None)
    page.goto(files[name].as_uri())
    page.model = name
    yield page
    assert page.heard == []
    context.close()


def each(*names: str, **options: Any) -> Any:
    return pytest.mark.parametrize("opened", [(name, options) for name in names], indirect=True, ids=names)


def move(page: Any, slider: str, position: int) -> None:
    script = "([id, at]) => { const one = document.getElementById(id); one.value = at; one.dispatchEvent(new Event('input')); }"
    page.evaluate(script, [slider, str(position)])


def read(page: Any, name: str) -> str:
    return str(page.locator(f"#v-{name}").inner_text())


def numbers(text: str) -> list[tuple[float, float]]:
    """The numbers of a text, each with a unit of its last digit."""
    found = re.findall(r"−?[\d,]+(?:\.(\d+))?", text)
    values = [float(one.replace(",", "").replace("−", "-")) for one in re.findall(r"−?[\d,]+(?:\.\d+)?", text)]
    return [(value, 10.0 ** -len(part)) for value, part in zip(values, found, strict=True)]


def grid_on(page: Any) -> CertifiedGrid:
    """The grid of the page, solved anew at the budgets that it states."""
    data = page.evaluate("JSON.parse(document.getElementById('data').textContent)")
    instance = smq.load_model(page.model)
    records = tuple(instance.constraints)
    return certified_grid(instance.market, records, np.array(data["budgets"]), movable_limit(instance.market, records))


@each(*NAMES)
def test_at_knots_the_page_shows_what_is_solved(opened: Any) -> None:
    grid = grid_on(opened)
    market = smq.load_model(opened.model).market
    for k in range(0, grid.limits.size, 3):
        if grid.limit is not None:
            move(opened, "limit", k * STEPS)
        for j, budget in enumerate(grid.budgets.tolist()):
            move(opened, "budget", j * STEPS)
            records = () if grid.limit is None else grid.limit.at(float(grid.limits[k]))
            solution = smq.solve(market, budget, constraints=records)
            if solution.status is smq.Status.INFEASIBLE:
                assert "infeasible" in opened.locator("#state").inner_text()
                assert read(opened, "mean") == "–"
                continue
            assert opened.locator("#state").inner_text() == "A solved and certified budget."
            (low, _), (high, _) = numbers(read(opened, "privacy"))
            assert low <= solution.purchased_privacy <= high
            assert high - low <= 2e-9 * max(high, 1.0)
            assert read(opened, "price") == ("–" if budget == 0 else shown(solution.budget_price))
            assert read(opened, "budget") == shown(budget, 9)
            paid = smq.realised_payments(solution)
            sold = float(market.weights @ solution.acceptance)
            for name, value in (("mean", paid.mean), ("deviation", paid.standard_deviation), ("sold", sold)):
                if value > 1e-3:
                    ((told, unit),) = numbers(read(opened, name))
                    assert abs(told - value) <= 0.6 * unit or abs(told / value - 1) < 6e-6


@each(*NAMES)
def test_between_knots_the_interval_holds_what_is_solved(opened: Any) -> None:
    grid = grid_on(opened)
    market = smq.load_model(opened.model).market
    rng = np.random.default_rng(20)
    last = (grid.budgets.size - 1) * STEPS
    for position in rng.integers(1, last, 30).tolist():
        at = int(rng.integers(0, (grid.limits.size - 1) * STEPS + 1)) if grid.limit is not None else 0
        if grid.limit is not None:
            move(opened, "limit", at)
        move(opened, "budget", position)
        budget = float(np.interp(position / STEPS, np.arange(grid.budgets.size), grid.budgets))
        limit = float(np.interp(at / STEPS, np.arange(grid.limits.size), grid.limits))
        records = () if grid.limit is None else grid.limit.at(limit)
        solution = smq.solve(market, budget, constraints=records)
        lower, upper = grid.bounds(budget, limit)
        text = read(opened, "privacy")
        if lower == -np.inf:
            assert text.startswith("at most")
            continue
        told = numbers(text)
        assert told[0][0] <= solution.purchased_privacy * (1 + 1e-9)
        assert told[1][0] >= solution.purchased_privacy * (1 - 1e-9)
        if position % STEPS or at % STEPS:
            assert opened.locator("#t-mean").inner_text() == "interpolated, not proved"
            for (value, unit), expected in zip(told, (lower, upper), strict=True):
                assert abs(value - expected) <= 1.01 * unit  # the page works out what Python does, rounded outwards
            assert text == " to ".join(show_interval(lower, upper)) or upper - lower < 1e-9
        assert "not proved" in opened.locator("#t-total").inner_text()


@each(*NAMES)
def test_keys_and_buttons_move_the_budget(opened: Any) -> None:
    slider = opened.locator("#budget")
    slider.focus()
    before = slider.input_value()
    slider.press("ArrowRight")
    assert int(slider.input_value()) == int(before) + 1
    told = slider.get_attribute("aria-valuetext")
    assert told == f"budget {read(opened, 'budget')}: purchased privacy {read(opened, 'privacy')}"
    opened.locator("#next").press("Enter")
    assert int(slider.input_value()) % STEPS == 0
    assert opened.locator("#state").inner_text() == "A solved and certified budget."
    opened.locator("#previous").press("Space")
    assert int(slider.input_value()) == int(before)
    slider.press("End")
    opened.locator("#next").click()
    assert slider.input_value() == slider.get_attribute("max")
    names = opened.evaluate("[...document.querySelectorAll('input')].map((one) => one.labels[0].textContent)")
    assert all(names)


@each("frontier-with-coverage", viewport={"width": 375, "height": 800}, color_scheme="dark")
def test_nothing_scrolls_sideways_on_a_telephone(opened: Any) -> None:
    assert opened.evaluate("document.documentElement.scrollWidth") == 375


@each("irregular-lotteries", java_script_enabled=False)
def test_without_scripts_the_page_is_read(opened: Any) -> None:
    assert opened.locator("#controls").is_hidden()
    assert opened.locator("noscript").is_visible()
    assert opened.locator("#knots tbody tr").count() == 25
    assert "to" in read(opened, "privacy")


@each("irregular-lotteries")
def test_no_other_script_runs_and_nothing_is_loaded(opened: Any) -> None:
    opened.evaluate("""() => {
        const other = document.createElement("script"); other.textContent = "window.ran = true"; document.body.append(other);
        const picture = document.createElement("img"); picture.src = "http://127.0.0.1:9/x.png"; document.body.append(picture);
    }""")
    opened.wait_for_timeout(200)
    assert opened.evaluate("window.ran === undefined")
    refused = [heard for heard in opened.heard if "Content Security Policy" in heard]
    assert len(refused) == 2
    assert opened.evaluate("document.images[0].naturalWidth") == 0
    opened.heard.clear()


@each(*NAMES)
def test_the_script_writes_what_stood_there(opened: Any, files: dict[str, Path]) -> None:
    text = files[opened.model].read_text(encoding="utf-8")
    stood = dict(re.findall(r'id="v-([a-z]+)">([^<]*)<', text))
    assert len(stood) >= 10
    assert stood == {name: read(opened, name) for name in stood}
