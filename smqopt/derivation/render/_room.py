"""What of a derivation has room on a page; what has none is named."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from smqopt.algebra import Verdict
from smqopt.derivation.render._shown import (
    IN_MARKDOWN,
    MARKS,
    NO_PRICE,
    REGULARITY,
    ROUNDED,
    ShownEquation,
    ShownLaw,
    ShownStep,
    WordCount,
    without_needless_note,
)

MOST_WORDS = 1200
"""Of a page, formulas counted as it has them."""
_LONG, _LONG_ANSWER = 100, 500
"""Formulas go in by the hundreds of their words, of an answer five; then as they are read."""
_MOST_HEADS, _LONGEST_HEAD = 3, 24
"""How many beginnings of formulas are named together, and of how many words each."""
_NOTE = -1
"""The place of a step's note among its formulas."""
_IN_SHORT = {
    REGULARITY[Verdict.PROVED]: "Regular: J does not fall.",
    REGULARITY[Verdict.REFUTED]: "Irregular: J falls somewhere.",
    REGULARITY[Verdict.UNDECIDED]: "Whether J falls somewhere is undecided.",
}
_OTHERS, _ALL = "Other steps", "All steps"
_SHARED = (
    "All laws share one budget price λ, at which all owners together spend the budget; a closed form of λ below is for owners of that law alone. "
    "Where J does not fall, one threshold per owner is optimal; elsewhere lotteries over two may do better."
)
_SENTENCE = re.compile(r"(?<=\.) (?=[A-Zλ])")
_LEFT = "A formula that is too long for this page is named by how it begins; the full form has all of them."


@dataclass(frozen=True)
class _Item:
    """A formula of an answer, a formula or the note of a step, or counts by step."""

    law: int
    step: int | None
    place: int

    @property
    def spot(self) -> tuple[int | None, int]:
        return self.step, self.place


def about_laws(laws: Sequence[ShownLaw]) -> str:
    """Say what several laws share, and where what is left out stands."""
    parts = (_SHARED if len(laws) > 1 else "", _LEFT if any(law.left for law in laws) else "")
    return " ".join(filter(None, parts))


def fit(laws: Sequence[ShownLaw], room: int, count: WordCount = IN_MARKDOWN) -> list[ShownLaw]:
    """Keep what has room: answers first, then steps; name the rest.

    Parameters
    ----------
    laws
        All that could be shown.
    room
        How many words there are for them.
    count
        How the page counts words.
    """

    def words_of(law: ShownLaw) -> int:
        return words(law, count)

    if sum(map(words_of, laws)) + len(about_laws(laws).split()) <= room:
        return list(laws)
    return without_needless_note(_fit_parts(laws, room, words_of))


def _fit_parts(laws: Sequence[ShownLaw], room: int, count: Callable[[ShownLaw], int]) -> list[ShownLaw]:
    """Keep what has room, and name the rest."""
    room -= len(f"{_SHARED if len(laws) > 1 else ''} {_LEFT}".split())
    whole, laws = laws, _say_once(laws)
    shown = [_reduce(law, frozenset()) for law in laws]
    for k in reversed(range(len(laws))):
        if sum(map(count, shown)) <= room:
            break
        shown[k] = _row(laws[k], _statements(whole[k : k + 1]))
    open_laws = {k for k, law in enumerate(shown) if law.steps or law.findings}
    first = len(shown) - 1
    while sum(map(count, shown)) > room and first > 1:  # as many rows as there is room for
        first -= 1
        shown = [*shown[:first], _rest(laws[first:], _statements(whole[first:]))]
    used = sum(map(count, shown))
    kept: list[frozenset[tuple[int | None, int]]] = [frozenset()] * len(laws)
    for item in sorted(_items(laws), key=lambda each: _order(laws, each)):
        k = item.law
        if k not in open_laws:
            continue
        tried = _reduce(laws[k], kept[k] | {item.spot})
        total = used - count(shown[k]) + count(tried)
        if total <= room:
            kept[k], shown[k], used = kept[k] | {item.spot}, tried, total
    return shown


def words(law: ShownLaw, count: WordCount = IN_MARKDOWN) -> int:
    """Count the words of what is shown of a law, as a kind of page has them."""
    head = f"## {law.name} {law.regularity} {law.price} Steps: {law.verdict}."
    domain = "For, with x = e:" if law.domain else ""
    numbers = "word " * 12 if law.numbers else ""
    again = f"### {law.again}" if law.again and law.steps else ""
    prose = len(f"{head} {domain} {numbers} {again}".split())
    return prose + sum(
        (
            *(count.formula(latex) for latex in (law.domain, *law.numbers)),
            *(each.count_words(count) for each in law.findings),
            *(step.count_words(count) for step in law.steps),
        )
    )


def _items(laws: Sequence[ShownLaw]) -> Iterator[_Item]:
    for k, law in enumerate(laws):
        yield from (_Item(k, None, place) for place in range(len(law.findings)))
        for number, step in enumerate(law.steps):
            places = range(_NOTE if step.after else 0, len(step.equations))
            yield from (_Item(k, number, place) for place in places)
        yield _Item(k, len(law.steps), _NOTE)


def _order(laws: Sequence[ShownLaw], item: _Item) -> tuple[int, int, int, int, int]:
    """Order by hundreds of words: answers, what is not proved, and the rest."""
    law = laws[item.law]
    if item.step is None:
        return law.findings[item.place].words // _LONG_ANSWER, 0, item.law, 0, item.place
    if item.step == len(law.steps):
        return 0, 1, item.law, item.step, item.place
    step = law.steps[item.step]
    if item.place == _NOTE:
        length, is_open = len(" ".join(step.after).split()), step.verdict != MARKS[Verdict.PROVED][1]
    else:
        length, is_open = step.equations[item.place].words, bool(step.equations[item.place].method)
    return 0 if is_open else length // _LONG, 1 if is_open else 2, item.law, item.step, item.place


def fit_lines(equations: Iterable[ShownEquation], most: int) -> Iterator[ShownEquation]:
    """Show equations as long as there are lines for them in print; name the others."""
    for each in equations:
        shown = each if each.lines <= most else begin(each.key, [each])
        most -= shown.lines
        yield shown


def _reduce(law: ShownLaw, kept: frozenset[tuple[int | None, int]]) -> ShownLaw:
    """Show some of the formulas of a law, and name the others."""
    findings = tuple(
        each if (None, place) in kept else begin(each.key, [each]) for place, each in enumerate(law.findings)
    )
    steps, further = [], []
    for number, step in enumerate(law.steps):
        shown = [each for place, each in enumerate(step.equations) if (number, place) in kept]
        left = [each for place, each in enumerate(step.equations) if (number, place) not in kept]
        after = step.after if (number, _NOTE) in kept else ()
        if not shown and (number, _NOTE) not in kept:
            further.append(step)
            continue
        named = [begin(f"{step.anchor}-left", left)] if left else []
        steps.append(replace(step, equations=(*shown, *named), after=after))
    if further:
        steps.append(_together(further, _OTHERS if steps else _ALL, by_step=(len(law.steps), _NOTE) in kept))
    return replace(law, findings=findings, steps=tuple(steps))


def begin(key: str, equations: Sequence[ShownEquation]) -> ShownEquation:
    """Name formulas by how they begin, with their length and verdicts."""
    heads = dict.fromkeys(each.head for each in equations if len(each.head.split()) <= _LONGEST_HEAD)
    named = [rf"{head} \ldots" for head in list(heads)[:_MOST_HEADS]] or [r"\ldots"]
    longest = max(each.lines for each in equations)
    lines = "1 line" if longest == 1 else f"{longest} lines"
    methods = list(dict.fromkeys(each.method for each in equations if each.method and each.word))
    count = f"{len(equations)} statements of up to {lines}" if len(equations) > 1 else lines
    verdicts = f": {count_verdicts(equations)}" if any(each.word for each in equations) else ""
    why = f" ({methods[0]})" if methods else ""
    return ShownEquation(
        key, r", \quad ".join(named), remark=f"{count}{verdicts}{why}; see the full form.", left=tuple(equations)
    )


def count_verdicts(equations: Sequence[ShownEquation]) -> str:
    """Count statements by verdict, best first, definitions last."""
    counts = Counter(each.word for each in equations)
    known = [f"{counts[word]} {word}" for _, word, _ in MARKS.values() if counts[word]]
    return ", ".join([*known, *([f"{counts['']} by definition"] if counts[""] else [])])


def _together(steps: Sequence[ShownStep], title: str, *, by_step: bool) -> ShownStep:
    """Count the statements of steps that have no room."""
    marks = list(MARKS.values())
    worst = max(((step.mark, step.verdict, step.style) for step in steps), key=marks.index)
    left = tuple(each for step in steps for each in step.equations)
    named = [step for step in steps if by_step or step.verdict != marks[0][1]]
    whole = [] if by_step else [f"statements: {count_verdicts(left)}"]
    said = "; ".join([*whole, *(f"{step.title}: {count_verdicts(step.equations) or step.verdict}" for step in named)])
    anchor = f"{steps[0].anchor.rpartition('-')[0]}-further"
    return ShownStep(
        anchor, title, (), *worst, before=(f"{said[:1].upper()}{said[1:]}. See the full form.",), left=left
    )


def _say_once(laws: Sequence[ShownLaw]) -> list[ShownLaw]:
    """Leave out what was said above, and of several laws what all share."""
    said: set[str] = set()
    found = []
    for k, law in enumerate(laws, start=1):
        answered = {each.latex for each in law.findings}
        steps = []
        for step in law.steps:
            sentences = [each for note in step.after for each in _SENTENCE.split(note)]
            new = " ".join(each for each in sentences if each not in said)
            said.update(sentences)
            own = tuple(each for each in step.equations if each.latex.replace(":=", "=") not in answered)
            steps.append(replace(step, equations=own, after=(new,) if new else ()))
        known = replace(law, steps=tuple(steps))
        if len(laws) > 1:
            price = law.price.replace(NO_PRICE, "").replace(ROUNDED, "" if ROUNDED in said else ROUNDED).strip()
            said.add(ROUNDED if ROUNDED in price else "")
            known = replace(
                known,
                name=f"law {k}: {law.name}",
                again=f"law {k}",
                regularity=_IN_SHORT[law.regularity],
                price=price,
            )
        found.append(known)
    return found


def _statements(laws: Sequence[ShownLaw]) -> tuple[ShownEquation, ...]:
    return tuple(each for law in laws for step in law.steps for each in step.equations)


def _row(law: ShownLaw, statements: tuple[ShownEquation, ...]) -> ShownLaw:
    """Say of a law its name, whether it is regular, and count its statements."""
    counts = f"statements: {count_verdicts(statements)}; see the full form"
    verdict = f"{law.verdict}; {counts}" if statements else law.verdict
    return replace(law, domain="", findings=(), price="", verdict=verdict, steps=(), numbers=(), counted=statements)


def _rest(laws: Sequence[ShownLaw], statements: tuple[ShownEquation, ...]) -> ShownLaw:
    """Count laws for which not even a line is left."""
    regular = Counter(law.regularity for law in laws)
    said = " ".join(f"{count} laws: {sentence}" for sentence, count in regular.items())
    count = f"{len(laws)} further laws"
    return _row(replace(laws[0], name=count, regularity=said, verdict=f"of {count}"), statements)
