"""What is shown of a derivation: laws, their steps and equations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from smqopt.algebra import Verdict
from smqopt.derivation.render._latex_text import count_lines
from smqopt.document import break_lines

MARKS = {
    Verdict.PROVED: ("✓", "proved", "good"),
    Verdict.UNDECIDED: ("?", "undecided", "open"),
    Verdict.REFUTED: ("✗", "refuted", "bad"),
}
"""What a verdict shows: its mark, the word, and its style."""

REGULARITY = {
    Verdict.PROVED: "The distribution is regular: J does not fall, so one threshold per owner is optimal.",
    Verdict.REFUTED: "The distribution is irregular: J falls somewhere, and lotteries over two thresholds may do better than one.",
    Verdict.UNDECIDED: "Whether J falls somewhere is undecided, so the distribution is treated as irregular.",
}
NO_PRICE = "λ has no closed form: it is the price at which the budget is spent, found numerically."
ROUNDED = "Long numbers are rounded to six in print, and exact in every proof."


@dataclass(frozen=True)
class WordCount:
    """How a kind of page counts the words of an equation."""

    formula: Callable[[str], int]
    """Counts those of a formula, from its LaTeX."""
    marks: int
    """How many its name and its signs are."""
    in_numbers: int
    """How many stand before its formula in numbers."""
    step: int
    """How many signs a step has beside its title and its verdict."""


@lru_cache(maxsize=4096)
def _pieces(latex: str) -> int:
    """Count the pieces of a formula, after which a line may end."""
    return len(break_lines(latex)) if latex else 0


IN_MARKDOWN = WordCount(lambda latex: len(latex.split()), marks=3, in_numbers=2, step=2)
IN_HTML = WordCount(_pieces, marks=2, in_numbers=0, step=1)


@dataclass(frozen=True)
class ShownEquation:
    """An equation with its name on the page, and the mark of its verdict, if any."""

    key: str
    latex: str
    in_numbers: str = ""
    """The equation with an instance's numbers; empty where there are none, or it does not hold at
    them."""
    remark: str = ""
    """Where it holds, if not at these numbers."""
    mark: str = ""
    word: str = ""
    style: str = ""
    method: str = ""
    """What was tried, where it is not proved."""
    head: str = ""
    """How the formula begins: its left side and the relation, in LaTeX."""
    is_rounded: bool = False
    """Whether a number of it is printed rounded."""
    left: tuple[ShownEquation, ...] = ()
    """The equations for which it stands, where these are too long to be shown."""

    @cached_property
    def words(self) -> int:
        """The words that it takes in Markdown."""
        return self.count_words(IN_MARKDOWN)

    def count_words(self, count: WordCount) -> int:
        """Count its words, formulas as a kind of page has them."""
        marks = count.marks + count.in_numbers * bool(self.in_numbers) + bool(self.method)
        prose = len(f"{self.remark} {self.method}".split())
        return marks + prose + count.formula(self.latex) + count.formula(self.in_numbers)

    @cached_property
    def lines(self) -> int:
        """The lines that its formula takes in print."""
        return count_lines(self.latex) + (count_lines(self.in_numbers) if self.in_numbers else 0)


@dataclass(frozen=True)
class ShownStep:
    """One step."""

    anchor: str
    title: str
    equations: tuple[ShownEquation, ...]
    mark: str
    verdict: str
    style: str
    before: tuple[str, ...] = ()
    """Sentences before the formulas."""
    after: tuple[str, ...] = ()
    """Sentences after them."""
    left: tuple[ShownEquation, ...] = ()
    """Equations of which it gives the counts alone."""

    def count_words(self, count: WordCount) -> int:
        """Count its words, formulas as a kind of page has them."""
        prose = " ".join((self.title, self.verdict, *self.before, *self.after))
        return count.step + len(prose.split()) + sum(each.count_words(count) for each in self.equations)


@dataclass(frozen=True)
class ShownLaw:
    """The answer for one family of laws, and the steps that are its own."""

    name: str
    domain: str
    """What is asked of the parameters, in LaTeX."""
    findings: tuple[ShownEquation, ...]
    regularity: str
    """Whether J rises, in a sentence."""
    price: str
    """What is to be said of λ."""
    verdict: str
    steps: tuple[ShownStep, ...]
    numbers: tuple[str, ...] = ()
    """What letters stand for in an instance, in LaTeX."""
    parameters: tuple[tuple[str, str], ...] = ()
    """The letters of the law's own parameters in LaTeX, and their names."""
    again: str = ""
    """What it is called above its steps; empty where it is the only one."""
    counted: tuple[ShownEquation, ...] = ()
    """Equations of which it gives the counts alone."""

    @property
    def equations(self) -> tuple[ShownEquation, ...]:
        """All that are shown, in order."""
        return (*self.findings, *(each for step in self.steps for each in step.equations))

    @property
    def left(self) -> tuple[ShownEquation, ...]:
        """The equations that are too long to be shown."""
        equations = self.equations
        named = [*(each.left for each in equations), *(step.left for step in self.steps)]
        return (*self.counted, *(each for group in named for each in group))


def without_needless_note(laws: Sequence[ShownLaw]) -> list[ShownLaw]:
    """Drop the note that numbers are rounded where none is that is shown."""
    if any(each.is_rounded for law in laws for each in law.equations):
        return list(laws)
    return [replace(law, price=law.price.replace(ROUNDED, "").strip()) for law in laws]
