"""`smq-derivation` in somebody else's Sphinx project: reStructuredText and MyST, HTML and LaTeX."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import docutils_namespace, patch_docutils

CONF = """
project = "A paper of others"
author = "Others"
extensions = ["myst_parser", "smqopt.sphinx"]
myst_enable_extensions = ["dollarmath"]
"""
INDEX = """
Others
======

.. smq-derivation:: uniform
   :parameters: low=1, high=3
   :label: ours
   :form: summary

As :eq:`ours-cost` says, J is linear.

.. toctree::

   formula
   general
   market
"""
FORMULA = """
# A formula

```{smq-derivation} theta**a
:parameters: a=1.5
:low: 0
:high: 1
:unfolded:
:without-figures:
```

And another on the same page.

```{smq-derivation} power
:form: summary
:without-figures:
```
"""
MARKET = """
# A market

```{smq-derivation} market.toml
```
"""
MODEL = """
title = "A market"
budget = 0.4
[valuation]
law = "uniform"
[owners]
epsilon = [0.2, 0.5, 1.0]
"""


def build(folder: Path, builder: str, **pages: str) -> Path:
    """Write a small project and build it; warnings are errors."""
    (folder / "source").mkdir(exist_ok=True)
    (folder / "source" / "conf.py").write_text(CONF)
    for name, text in pages.items():
        (folder / "source" / name.replace("__", ".")).write_text(text, encoding="utf-8")
    out = folder / builder
    with patch_docutils(), docutils_namespace():
        source = str(folder / "source")
        app = Sphinx(source, source, str(out), str(folder / "trees"), builder, warningiserror=True, status=None)
        app.build()
    assert app.statuscode == 0
    return out


def pages() -> dict[str, str]:
    general = "# For every law\n\n```{smq-derivation}\n```\n"
    return {
        "index__rst": INDEX,
        "formula__md": FORMULA,
        "general__md": general,
        "market__md": MARKET,
        "market__toml": MODEL,
    }


@pytest.mark.slow
def test_a_foreign_project_shows_derivations(tmp_path):
    out = build(tmp_path, "html", **pages())
    index, formula, market = ((out / f"{name}.html").read_text() for name in ("index", "formula", "market"))
    assert 'src="data:image/svg+xml;base64,' in index
    assert "<details" not in index
    assert re.search(r"As <a [^>]*>\(2\)</a> says|As <a .*ours-cost.*says", index)
    assert formula.count("<details open>") >= 7
    assert "data:image" not in formula
    assert "In numbers" in market
    assert (out / "general.html").read_text().count("<details>") == 17
    out = build(tmp_path, "latex", **pages())
    source = next(out.glob("*.tex")).read_text()
    drawn = re.findall(r"\\sphinxincludegraphics\[[^]]*\]\{(.*?)\}", source)
    assert len(drawn) == index.count("data:image") + market.count("data:image") == len({*drawn}) > 3
    assert all((out / name).read_bytes().startswith(b"%PDF") for name in drawn)
    assert "ours-cost" in source
    assert r"\textbf{Threshold rule}" in source


LATER = """
# A model that asks for more, and another

```{smq-derivation} least-error-with-coverage.toml
:form: summary
```

```{smq-derivation} heterogeneous-regions.toml
:form: summary
```
"""


@pytest.mark.slow
def test_what_is_left_out_is_said_and_names_stand_once(tmp_path):
    page = (build(tmp_path, "html", index__md=LATER) / "index.html").read_text()
    assert "OP2 alone, without the objective and the constraints of the model" in page
    assert page.count("Not at these numbers") == 2
    names = re.findall(r' id="([^"]+)"', page)
    assert len(names) == len(set(names)), names


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_a_foreign_project_compiles_twice_without_a_warning(tmp_path):
    long = "# Long\n\n```{smq-derivation} logistic\n```\n"
    index = INDEX.replace("   market\n", "   market\n   long\n")
    out = build(tmp_path, "latex", **pages() | {"index__rst": index, "long__md": long})
    (source,) = out.glob("*.tex")
    for _ in range(2):
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", source.name]
        done = subprocess.run(command, cwd=out, capture_output=True, check=False)
        assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]
    printed = done.stdout.decode(errors="replace")
    assert re.findall(r".*(?:[Ww]arning|Overfull).*", printed) == []


@pytest.mark.slow
def test_steps_of_a_law_with_its_own_page_are_cited(tmp_path):
    """The form of the third law is one of its own, so that it cannot be cited."""
    cited = "# Three\n\n```{smq-derivation} heterogeneous-regions.toml\n:cited: uniform\n```\n"
    uniform = "---\norphan: true\n---\n\n# One\n\n```{smq-derivation} uniform\n```\n"
    out = build(tmp_path, "html", index__md=cited, uniform__md=uniform)
    page = (out / "index.html").read_text()
    assert re.search(r'href="uniform.html"[^>]*>.{,80}The steps of the uniform law', page)
    assert 0 < page.count("<details") < 2.5 * (out / "uniform.html").read_text().count("<details")
    with pytest.raises(ExtensionError, match="names a law whose derivation is another"):
        build(tmp_path, "html", index__md=cited.replace(":cited: uniform", ":cited: kumaraswamy"))


@pytest.mark.parametrize(
    ("page", "rule"),
    [
        ("```{smq-derivation} unifrom\n```\n", "uniform"),
        ("```{smq-derivation} uniform\n:parameters: low=3, high=1\n```\n", "high"),
        ("```{smq-derivation} point-mass\n```\n", "atoms"),
        ("```{smq-derivation} nowhere.toml\n```\n", "nowhere"),
        ("```{smq-derivation} power\n:parameters: k=2, k=3\n```\n", "'k': is given twice"),
        ("```{smq-derivation} power\n:parameters: low=0\n:low: 0\n```\n", "'low': is given twice"),
        ("```{smq-derivation} fair-coverage.toml\n:parameters: k=2\n```\n", "'k': goes with a law"),
        ("```{smq-derivation}\n:high: 2\n```\n", "'high': goes with a law"),
        ("```{smq-derivation} uniform\n:cited: unifrom\n```\n", "'cited': names a law that is not shown"),
    ],
)
def test_what_cannot_be_derived_fails_the_build(tmp_path, page, rule):
    with pytest.raises(ExtensionError, match=rule):
        build(tmp_path, "html", index__md=f"# Others\n\n{page}")
