"""The built pages and a report in a real browser: narrow screens, readers of all kinds, formulas, search, print."""

from __future__ import annotations

import functools
import re
import subprocess
import sys
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from smqopt.cli._entry import run

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[2]
SITE = ROOT / "docs" / "_build" / "html"
LOOKED_AT = [
    *(
        "index",
        "tutorial",
        "theory",
        "glossary",
        "files",
        "command-line",
        "laws",
        "benchmarks",
        "references",
        "how-to/read-a-certificate",
    ),
    *("api/smqopt.solve", "api/smqopt.Market", "derivations/index", "derivations/uniform"),
    *("gallery/index", "gallery/plot_fair_coverage"),
]
NARROW = {"width": 375, "height": 800}
WIDE = {"width": 1280, "height": 900}
BAR = "[...document.querySelectorAll('mover, munder')].map(e => [e.children[0], e.children[1]].map(c => c.getBoundingClientRect().width))"
OUTSIDE = """[...document.querySelectorAll('.verdict')].filter(e => {
    const box = e.getBoundingClientRect(); return box.width && (box.right > innerWidth || box.left < 0)}).length"""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def site():
    """Build the pages, or bring them up to date, and serve them."""
    build = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", str(ROOT / "docs"), str(SITE)]
    subprocess.run(build, check=True)
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(SITE))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    assert run(["run", "adult-income-count", "--out", str(folder / "out")]) == 0
    return (folder / "out" / "report.html").as_uri()


@pytest.fixture
def page(browser, request):
    context = browser.new_context(**getattr(request, "param", {"viewport": WIDE}))
    yield context.new_page()
    context.close()


def serious_faults(page):
    axe = pytest.importorskip("axe_playwright_python", reason="no axe: pip install axe-playwright-python")
    (script,) = Path(axe.__file__).parent.rglob("axe.min.js")
    page.evaluate(script.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run({resultTypes: ['violations']})")["violations"]
    return [
        (fault["id"], fault["nodes"][0]["html"][:200]) for fault in found if fault["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize("page", [{"viewport": NARROW}], indirect=True, ids=["narrow"])
def test_no_page_scrolls_sideways(site, page):
    pages = [path.relative_to(SITE).as_posix() for path in sorted(SITE.rglob("*.html"))]
    assert len(pages) > 150
    wide = {}
    for name in pages:
        page.goto(site + name)
        width = page.evaluate("document.documentElement.scrollWidth")
        if width > NARROW["width"]:
            wide[name] = width
    assert not wide


@pytest.mark.parametrize(
    "page",
    [{"viewport": NARROW, "color_scheme": "light"}, {"viewport": WIDE, "color_scheme": "dark"}],
    indirect=True,
    ids=["narrow-light", "wide-dark"],
)
def test_axe_finds_no_serious_fault(site, report, page):
    faults = {}
    for address in [*(f"{site}{name}.html" for name in LOOKED_AT), report]:
        page.goto(address)
        if found := serious_faults(page):
            faults[address] = found
    assert not faults


def test_types_in_the_reference_are_readable_and_link_to_those_of_others(site):
    pages = {path.name: path.read_text(encoding="utf-8") for path in sorted((SITE / "api").glob("*.html"))}
    assert len(pages) > 100
    assert [name for name, page in pages.items() if "_SupportsArray" in page or "ForwardRef" in page] == []
    every = "".join([*pages.values(), *(path.read_text(encoding="utf-8") for path in SITE.glob("*.html"))])
    for project in (
        "numpy.org/doc/stable/",
        "docs.scipy.org/doc/scipy/",
        "docs.sympy.org/latest/",
        "www.cvxpy.org/api",
    ):
        assert f'href="https://{project}' in every, project


def test_pages_ask_nobody_else(site, page):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    for name in LOOKED_AT:
        page.goto(f"{site}{name}.html")
    assert asked
    assert [url for url in asked if not url.startswith((site, "data:"))] == []


@pytest.mark.parametrize("name", ["theory", "derivations/uniform"])
def test_formulas_have_their_font_and_bars_their_letters(site, page, name):
    page.goto(f"{site}{name}.html")
    page.evaluate("document.fonts.ready")
    assert page.evaluate("[...document.fonts].some(font => font.family.includes('Formula') && font.status == 'loaded')")
    assert page.locator("math").count() > 20
    bars = page.evaluate(BAR)
    assert bars
    for letter, bar in bars:
        assert bar <= 2.5 * letter


def test_search_finds_prose_before_derivations(site, page):
    for words in (*("virtual cost", "budget price", "threshold"), *("certificate", "budget", "regularity", "lottery")):
        page.goto(f"{site}search.html?q={words}")
        page.wait_for_function("/matching the search/.test(document.querySelector('p.search-summary').textContent)")
        links = page.evaluate("[...document.querySelectorAll('ul.search > li > a')].map(a => a.getAttribute('href'))")
        of_derivations = ["derivations/" in link for link in links if "#cmdoption" not in link]
        assert len(links) > 5
        assert of_derivations == sorted(of_derivations), (words, links[:10])
        assert not links[0].startswith("api/"), (words, links[:10])


def test_dark_pages_are_dark(site, browser):
    for scheme, dark in (("light", False), ("dark", True)):
        context = browser.new_context(viewport=WIDE, color_scheme=scheme)
        page = context.new_page()
        page.goto(f"{site}index.html")
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, re.findall(r"\d+", colour)[:3])) < 200) == dark
        context.close()


@pytest.mark.parametrize("page", [{"viewport": NARROW}], indirect=True, ids=["narrow"])
def test_a_report_fits_a_narrow_screen_and_shows_every_verdict(report, page):
    page.goto(report)
    for fold in page.locator("details").all():
        fold.evaluate("fold => fold.open = true")
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    assert page.evaluate("document.querySelectorAll('.verdict').length") > 10
    assert page.evaluate(OUTSIDE) == 0


def test_the_adult_report_prints_on_six_pages(report, page):
    page.goto(report)
    printed = page.pdf(format="A4", prefer_css_page_size=True)
    assert 3 <= len(re.findall(rb"/Type\s*/Page\b(?!s)", printed)) <= 6
