"""The explorer's page as it stands without its script."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

import smqopt as smq
from smqopt.document import show_interval, shown
from smqopt.questions import movable_limit


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    from smqopt.cli._entry import run

    folder = tmp_path_factory.mktemp("pages")
    for name in ("slack-market", "frontier-with-coverage"):
        assert run(["explore", name, "--out", str(folder / f"{name}.html")]) == 0
    return {file.stem: file for file in folder.glob("*.html")}


@pytest.mark.parametrize("name", ["slack-market", "frontier-with-coverage"])
def test_the_page_holds_all_it_needs(pages: dict[str, Path], name: str) -> None:
    text = pages[name].read_text(encoding="utf-8")
    assert len(text.encode()) < 300_000
    soup = BeautifulSoup(text, "html.parser")
    policy = soup.find("meta", attrs={"http-equiv": "Content-Security-Policy"})["content"]
    assert policy.startswith("default-src 'none'; font-src data:;")
    scripts = [one for one in soup.find_all("script") if one.get("type") is None]
    (style,) = soup.find_all("style")
    for (element,), kind in ((scripts, "script-src"), ([style], "style-src")):
        digest = base64.b64encode(hashlib.sha256(element.string.encode()).digest()).decode()
        assert re.search(rf"{kind} '([^']*)'", policy).group(1) == f"sha256-{digest}"
    assert soup.find(["link", "iframe", "object", "embed", "img", "base", "form"]) is None
    for element in soup.find_all(True):
        assert not any(attribute.startswith("on") or attribute in ("src", "style") for attribute in element.attrs)
    assert re.findall(r"https?://[a-z.]+", text.replace("http://www.w3.org/2000/svg", "")) == []


@pytest.mark.parametrize("name", ["slack-market", "frontier-with-coverage"])
def test_the_page_is_complete_without_its_script(pages: dict[str, Path], name: str) -> None:
    soup = BeautifulSoup(pages[name].read_text(encoding="utf-8"), "html.parser")
    instance = smq.load_model(name)
    certificate = smq.verify(smq.solve(instance.market, instance.budget, constraints=instance.constraints))
    read = {one["id"][2:]: one.get_text() for one in soup.select("#readings span")}
    assert float(read["budget"]) == instance.budget
    assert read["privacy"] == " to ".join(show_interval(certificate.lower_bound, certificate.upper_bound))
    assert read["price"] == shown(certificate.solution.budget_price)
    assert soup.select_one("#controls").has_attr("hidden")
    limits = 1 if movable_limit(instance.market, instance.constraints) is None else 8
    assert len(soup.select("#knots tbody tr")) == limits * (25 if limits == 1 else 13)
    marked = {one["id"]: one.get_text() for one in soup.select("#readings small")}
    assert all(marked[f"t-{part}"] == "predicted, not proved" for part in ("total", "sampling", "noise"))
    assert not re.search(r"\b(None|nan|undefined)\b|\{\{|\{%", soup.main.get_text())
    assert len(soup.select("figure svg desc")) == 5


def test_the_same_bytes_each_time(pages: dict[str, Path], tmp_path: Path, smqopt: Callable) -> None:
    called = smqopt("explore", "slack-market", "--out", tmp_path / "again.html", "--json")
    assert json.loads(called.out)["certified"] == 25
    assert (tmp_path / "again.html").read_bytes() == pages["slack-market"].read_bytes()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("slack-market", "--out", "page.htm"), "must end in .html"),
        (("slack-market", "--out", "/proc/x/page.html"), "cannot be made"),
        (("minimum-variance", "--out", "page.html"), "has no frontier"),
        (("nothing.toml", "--out", "page.html"), "nothing.toml"),
    ],
)
def test_what_is_refused(
    arguments: tuple[str, ...], told: str, smqopt: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    called = smqopt("explore", *arguments)
    assert called.code == 2
    assert told in called.error
    assert list(tmp_path.iterdir()) == []


def test_a_title_cannot_break_out_of_the_page(small: Path, smqopt: Callable, tmp_path: Path) -> None:
    text = small.read_text(encoding="utf-8")
    small.write_text('title = "</script><script>alert(1)</script>"\n' + text, encoding="utf-8")
    assert smqopt("explore", small, "--out", tmp_path / "page.html").code == 0
    soup = BeautifulSoup((tmp_path / "page.html").read_text(encoding="utf-8"), "html.parser")
    assert "alert" not in "".join(one.string for one in soup.find_all("script"))
