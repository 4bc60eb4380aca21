"""The README's and the documents' code blocks run, their links resolve, and every public name is documented."""

import doctest
import inspect
import re
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from inline_math import split

import smqopt as smq
from smqopt.document._mathml import in_pieces

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
DOCUMENTS = [path for path in DOCUMENTS if "_build" not in path.parts]


def blocks(path, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_console_sessions_run(path):
    session = "\n".join(blocks(path, "pycon"))
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    test = doctest.DocTestParser().get_doctest(session, {}, path.name, str(path), 0)
    runner = doctest.DocTestRunner(optionflags=flags)
    lines = []
    runner.run(test, out=lines.append)
    assert runner.failures == 0, "".join(lines)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_python_blocks_run(path):
    scope = {}
    for block in blocks(path, "python"):
        exec(compile(block, str(path), "exec"), scope)  # noqa: S102


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_relative_links_resolve(path):
    for target in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), target


def test_the_readme_opens_with_the_program_and_ten_lines():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert text.index(r"\tag{OP2}") < text.index("```pycon")
    statements = [line for line in blocks(ROOT / "README.md", "pycon")[0].splitlines() if line.startswith(">>>")]
    assert len(statements) == 10


def test_the_readme_holds_exactly_the_two_commands_that_ci_runs():
    commands = [line for block in blocks(ROOT / "README.md", "console") for line in block.splitlines()]
    assert len(commands) == 2
    assert "smqopt run models/adult-income-count.toml" in commands[0]
    assert commands[1].endswith("python -m pytest -n auto --dist loadfile")


@pytest.mark.parametrize("name", [name for name in smq.__all__ if name != "__version__"])
def test_every_public_name_is_in_the_reference(name):
    assert re.search(rf"\b{name}\b", (ROOT / "docs" / "reference.md").read_text(encoding="utf-8"))
    assert ">>> " in inspect.getdoc(getattr(smq, name)), "a public name has an example, which doctest runs"


def test_the_gallery_has_one_entry_with_a_picture_for_each_model():
    entries = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs" / "examples").glob("plot_*.py"))]
    shown = [re.findall(r"^\.\. model:: (\S+)$", entry, flags=re.MULTILINE) for entry in entries]
    assert sorted(shown) == sorted([path.stem] for path in (ROOT / "models").glob("*.toml"))
    assert all("matplotlib" in entry or ".plot(" in entry for entry in entries)


FORMULAS = {
    "J(θ) = θ + F(θ)/f(θ).": [r"J(\theta) = \theta + F(\theta) / f(\theta)"],
    "Owner i asks μ_i = (λJ_i − ε_i)₊ of n.": ["i", r"\mu_{i} = (\lambda  J_{i} - \varepsilon_{i})_+", "n"],
    "0 ≤ θ̲_i < θ̄_i": [r"0 \le \underline{\theta}_{i} < \overline{\theta}_{i}"],
    "√(Σ ε²/(4B))": [r"\sqrt{(\sum  \varepsilon^{2} / (4  B))}"],
    "n = 32,561 and 3θ² − 2θ³": [r"n = 32{,}561", r"3  \theta^{2} - 2  \theta^{3}"],
    "In 10 lines a P-E law, E1, shape (n,), and/or C code, 10 %.": [],
}


@pytest.mark.parametrize("prose", FORMULAS)
def test_formulas_in_prose_are_found_and_nothing_is_lost(prose):
    pieces = list(split(prose))
    assert "".join(text for text, _ in pieces) == prose
    assert [latex for _, latex in pieces if latex] == FORMULAS[prose]


@given(st.text("θ̲_iFn(),[]=≤ Σ√/1.aε²", max_size=30))
def test_whatever_is_read_is_kept_and_can_be_set(prose):
    pieces = list(split(prose))
    assert "".join(text for text, _ in pieces) == prose
    for _, latex in pieces:
        assert latex is None or in_pieces(latex)


def test_the_certificate_of_the_landing_page_holds_today():
    """Its bounds are rounded outwards, so that no machine's last bits move them."""
    model = smq.load_model("adult-income-count")
    certificate = smq.verify(smq.solve(model.market, model.budget))
    page = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    least, most = (
        float(re.search(rf"{words} \| ([\d,.]+) \|", page)[1].replace(",", "")) for words in ("at least", "more than")
    )
    assert (certificate.grade, certificate.valid) == ("proved", True)
    assert least <= certificate.lower_bound <= certificate.upper_bound <= most
    assert most - least < 2e-8
    assert "| relative gap | below 10⁻¹³ |" in page
    assert certificate.gap < 1e-13


BENCHMARKS = [path.stem for path in sorted((ROOT / "tests" / "benchmarks").glob("test_*.py"))]


@pytest.mark.parametrize("name", BENCHMARKS)
def test_the_benchmarks_page_holds_a_whole_run_of_each_file(name):
    """A run that was cut off says nothing of how many benchmarks it held."""
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    block = page.partition(f"% {name}\n")[2].partition("% end")[0]
    assert re.search(r"^# .*, Python 3", block, flags=re.MULTILINE)
    assert re.search(r"^# whole: \d+ benchmarks? in \d+ s$", block, flags=re.MULTILINE)


HOUSE_VERBS = re.compile(
    r"\b(?:gives?|gave|mend(?:s|ed|ing)?|blam(?:e|es|ed)|worth|judg(?:e|es|ed|ing))\b", re.IGNORECASE
)


@pytest.mark.parametrize("name", [name for name in smq.__all__ if name != "__version__"])
def test_the_reference_speaks_the_words_of_the_field(name):
    """As the pages do: returns, states, counts, verifies."""
    found = getattr(smq, name)
    members = [part for key, part in vars(found).items() if not key.startswith("_")] if inspect.isclass(found) else []
    texts = [inspect.getdoc(found), *(inspect.getdoc(part) for part in members)]
    assert [text for text in texts if text and HOUSE_VERBS.search(text)] == []
