"""What is shown of a derivation: the answer first, then each step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import sympy as sp

from smqopt.algebra import (
    CLIPPED_THRESHOLD,
    LAMBDA,
    THRESHOLD,
    Equation,
    F,
    J,
    Relation,
    SymbolRange,
    Verdict,
    X,
)
from smqopt.derivation.closed_form._threshold_rule import threshold_in_cases
from smqopt.derivation.render._author_form import has_rounded
from smqopt.derivation.render._instance_numbers import InstanceNumbers
from smqopt.derivation.render._room import MOST_WORDS, fit
from smqopt.derivation.render._shown import (
    MARKS,
    NO_PRICE,
    REGULARITY,
    ROUNDED,
    ShownEquation,
    ShownLaw,
    ShownStep,
    without_needless_note,
)
from smqopt.derivation.render._typeset import (
    latex_of_domain,
    latex_of_equation,
    latex_of_head,
    latex_of_parameters,
    parameters_in_latex,
    printed_bounds,
)
from smqopt.derivation.statement._law_in_words import law_in_words
from smqopt.document import Section
from smqopt.errors import InputError, nearest

if TYPE_CHECKING:
    from smqopt.derivation.argument._argument import Argument
    from smqopt.derivation.statement._derived import Derived
    from smqopt.derivation.statement._step import Step

AllNumbers = Sequence[InstanceNumbers | None]
"""For each family of laws, the numbers that stand beside its symbols; None where there are none."""

FORMS = ("short", "summary", "full")
LATEX_FORMS = ("theorem", "full")
BESIDE = 150
"""How many words a page has beside its laws: its title, sentences on the method, captions."""
ONCE = (
    "What holds for every law with a density is shown once, on the page of the general argument, and in the full form."
)
HOW = "What has a verdict is proved by exact algebra, and holds to 40 digits where it is evaluated."
_CHECKED = "All lines agree with the law’s own functions."


def check_form(form: str, known: Sequence[str], where: str = "argument 'form'") -> None:
    """Refuse an unknown form.

    Raises
    ------
    InputError
        If the form is not among those known.
    """
    if form not in known:
        raise InputError(where, "is not a known form", value=form, remedy=nearest(form, known))


def families_of(derivation: Derived) -> tuple[Derived, ...]:
    """Return the derivation of each family of laws; one for a common law."""
    return tuple(part.derivation for part in derivation.parts) or (derivation,)


def shown_laws(
    derivation: Derived, numbers: AllNumbers = (), key: str = "law", *, form: str = "short", beside: int = BESIDE
) -> list[ShownLaw]:
    """Show each family of laws: the answer, and its own steps.

    Parameters
    ----------
    derivation
        What to show.
    numbers
        For each family, an instance's numbers.
    key
        What the names of equations begin with.
    form
        "short" for what has room on a page; "summary" without the steps; "full" for all of it.
    beside
        How many words a page of Markdown has beside the laws.

    Raises
    ------
    InputError
        If the form is not known.
    """
    laws = laws_without_limit(derivation, numbers, key, form=form)
    return laws if form == "full" else fit(laws, MOST_WORDS - beside)


def laws_without_limit(
    derivation: Derived, numbers: AllNumbers = (), key: str = "law", *, form: str = "short"
) -> list[ShownLaw]:
    """Show each family of laws as `shown_laws` does, whatever room there is.

    Raises
    ------
    InputError
        If the form is not known.
    """
    check_form(form, FORMS)
    families = families_of(derivation)
    given = numbers or [None] * len(families)
    names = [key] if len(families) == 1 else [f"{key}-{k}" for k in range(1, len(families) + 1)]
    laws = [_shown_law(*each) for each in zip(families, names, given, strict=True)]
    if len(laws) > 1:
        laws = [replace(law, again=law.name) for law in laws]
    if form == "summary":
        laws = [replace(law, steps=()) for law in laws]
    return [noted for law in laws for noted in without_needless_note([law])]


def _shown_law(family: Derived, key: str, numbers: InstanceNumbers | None) -> ShownLaw:
    argument = family.argument
    regularity = next((step.verdict for step in family.steps if step.name == "regularity"), Verdict.UNDECIDED)
    price = family.budget_price
    return ShownLaw(
        law_in_words(family.law),
        "" if argument is None else latex_of_parameters(argument.law, argument.domain),
        tuple(findings(family, key, numbers)),
        REGULARITY[regularity],
        f"{NO_PRICE if price is None else f'The closed form of λ holds where {price.condition}.'} {ROUNDED}",
        verdict_in_words(family),
        tuple(_own_steps(family, key)),
        () if numbers is None else numbers.latex(),
        () if argument is None else parameters_in_latex(argument.law),
    )


def findings(derivation: Derived, key: str, numbers: InstanceNumbers | None = None) -> list[ShownEquation]:
    """Show F, J, the threshold rule and λ, as far as they were found."""
    argument = derivation.argument
    if argument is None:
        return []
    theta, price = argument.theta, derivation.budget_price
    regularity = next((step.verdict for step in derivation.steps if step.name == "regularity"), Verdict.UNDECIDED)
    rule = threshold_in_cases(argument) if regularity is Verdict.PROVED else None
    spelled = rule is not None and not rule.has(THRESHOLD)
    inside = () if spelled or rule is None else argument.off_jumps(_solved_by_threshold(argument))
    found: list[tuple[str, sp.Expr, sp.Expr | None]] = [
        ("cdf", F(theta), argument.law.cdf),
        ("cost", J(theta), derivation.virtual_cost),
        ("threshold", CLIPPED_THRESHOLD, rule),
    ]
    shown = [(name, Equation(left, Relation.EQUAL, right)) for name, left, right in found if right is not None]
    shown += [(f"inside-{k}" if k > 1 else "inside", each) for k, each in enumerate(inside, start=1)]
    shown += [] if price is None else [("price", Equation(LAMBDA, Relation.EQUAL, price.expression))]
    return [shown_equation(each, f"{key}-{name}", numbers) for name, each in shown]


def _solved_by_threshold(argument: Argument) -> Equation:
    """State J(θ*(x)) = x between the values of J at the ends of the support."""
    low, high = argument.cost_at_low, argument.cost_at_high
    short = high is not None and high.is_number
    upper = None if high == sp.oo else high if short else J(argument.law.high)
    ends = SymbolRange(X, sp.Integer(0) if low is None else low, upper)
    return Equation(J(THRESHOLD(X)), Relation.EQUAL, X, domain=(ends,))


def verdict_in_words(derivation: Derived) -> str:
    """Count the steps by verdict, best first."""
    counts = {verdict: sum(step.verdict is verdict for step in derivation.steps) for verdict in MARKS}
    return ", ".join(f"{count} {MARKS[verdict][1]}" for verdict, count in counts.items() if count)


def _own_steps(family: Derived, key: str) -> Iterator[ShownStep]:
    """Show what the steps say of this law alone, each statement once.

    What is given by cases on pieces stands in the answer, and is named here.
    """
    argument = family.argument
    cost = None if argument is None or not argument.pieces else family.virtual_cost
    seen: dict[tuple[object, ...], Verdict | None] = {}
    if argument is not None and argument.pieces:
        seen[F(argument.theta), Relation.EQUAL, argument.law.cdf, ()] = None
    for step in family.steps:
        own, shown = list(_own_equations(step)), []
        if not own:
            continue
        for k, each in enumerate(own, start=1):
            relation = Relation.EQUAL if each.relation is Relation.DEFINED else each.relation
            said = (each.left, relation, each.right, each.domain)
            if said not in seen or each.verdict not in (None, Verdict.PROVED, seen[said]):
                known = each if argument is None or each.right != cost else replace(each, right=J(argument.theta))
                shown.append(shown_equation(known, f"{key}-{step.name}-{k}"))
            seen[said] = each.verdict
        note = (step.note,) if step.note else ()
        yield ShownStep(f"{key}-{step.name}", step.title, tuple(shown), *MARKS[step.verdict], after=note)


def _own_equations(step: Step) -> Iterator[Equation]:
    return (each for each in step.equations if not each.every_law and each.left != each.right)


def derivation_section(
    derivation: Derived, numbers: AllNumbers = (), form: str = "short", *, beside: int = BESIDE
) -> Section:
    """Show every law's own steps in one section, folded."""
    return section_of_laws(shown_laws(derivation, numbers, form=form, beside=beside))


def section_of_laws(laws: Sequence[ShownLaw]) -> Section:
    """Show the steps of laws in one section, folded."""
    content = {"laws": laws, "how": checks_in_words()}
    return Section("derivation", "The derivation", "derivation.html", content)


def checks_in_words() -> str:
    """Say how statements are checked, in a sentence or two."""
    return f"{HOW} {_CHECKED}"


def shown_equation(equation: Equation, key: str, numbers: InstanceNumbers | None = None) -> ShownEquation:
    """Show an equation with its verdict, and with numbers where they are given."""
    mark, word, style = ("", "", "") if equation.verdict is None else MARKS[equation.verdict]
    inserted, remark = (None, "") if numbers is None else numbers.at_numbers(equation)
    domain = latex_of_domain(equation.domain)
    return ShownEquation(
        key,
        latex_of_equation(equation) + (rf" \qquad \text{{for }} {domain}" if domain else ""),
        "" if inserted is None else latex_of_equation(inserted),
        remark,
        mark,
        word,
        style,
        "" if equation.verdict is Verdict.PROVED else equation.method,
        latex_of_head(equation),
        is_rounded=has_rounded([equation.left, equation.right, *printed_bounds(equation.domain)]),
    )
