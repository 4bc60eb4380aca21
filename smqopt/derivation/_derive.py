"""From a law to the whole derivation, as checked steps."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import sympy as sp

from smqopt.algebra import (
    LONGEST_DERIVATION,
    Equation,
    F,
    J,
    Relation,
    Verdict,
    remember,
    work_budget,
    work_share,
    worst,
)
from smqopt.derivation._story import general_steps, proved_part, steps_of
from smqopt.derivation.argument._argument import Argument
from smqopt.derivation.argument._budget_price import BudgetPrice
from smqopt.derivation.closed_form._agreement import disagreement
from smqopt.derivation.closed_form._apply_regularity import settle, without_regularity
from smqopt.derivation.closed_form._comparison import compare, instances_of
from smqopt.derivation.closed_form._evaluation import (
    BudgetPriceFunction,
    ThresholdFunction,
    budget_price_function,
    threshold_function,
)
from smqopt.derivation.render._latex import latex_document
from smqopt.derivation.render._markdown import markdown_document, markdown_summary
from smqopt.derivation.render._sections import verdict_in_words
from smqopt.derivation.statement._law_in_words import law_in_words
from smqopt.derivation.statement._step import Step
from smqopt.derivation.steps._slackness_step import slackness_conditions
from smqopt.derivation.steps._threshold_step import threshold_cases
from smqopt.derivation.storage._cache import keep
from smqopt.derivation.storage._memo import find_argument, find_closed_form
from smqopt.errors import check_kind
from smqopt.valuation import (
    LAWS,
    Index,
    LawFormulas,
    Row,
    Valuation,
    by_sides,
    candidates,
    in_numbers,
    valuation_from_dict,
)


@dataclass(frozen=True)
class LawFamily:
    """The owners of one family of laws, and the derivation for them."""

    owners: Index
    derivation: Derivation


@dataclass(frozen=True, repr=False)
class Derivation:
    """The symbolic story of OP2 for one law, as data; reports render it.

    Of a different law an owner (`ByOwner`) it holds one part a family, and so of one family whose
    owners' parameters stand on both sides of a case; there the steps are those of all parts, and
    the fields that speak of one law are None.

    Examples
    --------
    >>> import smqopt as smq
    >>> derivation = smq.derive(smq.Uniform(0, 1))
    >>> [step.title for step in derivation.steps][:2]
    ['Law and support', 'Virtual cost']
    """

    law: Valuation
    steps: tuple[Step, ...]
    argument: Argument | None = None
    """What the steps argue with, kept to what they prove."""
    parts: tuple[LawFamily, ...] = ()

    def __repr__(self) -> str:
        """Name the law, count the steps by verdict, and give what was found."""
        found = (("J", self.virtual_cost), ("threshold", self.threshold), ("price", self.budget_price))
        known = [
            f"{name}={form.expression if isinstance(form, BudgetPrice) else form}"
            for name, form in found
            if form is not None
        ]
        return f"Derivation({', '.join([law_in_words(self.law), verdict_in_words(self), *known])})"

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        """Show the findings in notebooks: F, J, θ* and λ, with the verdict on the steps."""
        return {"text/plain": repr(self), "text/markdown": markdown_summary(self)}

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of all steps."""
        return worst([step.verdict for step in self.steps])

    def step(self, name: str) -> Step:
        """Look a step up by its name; of parts, with the statements of each of them.

        Raises
        ------
        KeyError
            If no step is called so.
        """
        found = [step for step in self.steps if step.name == name]
        if not found:
            raise KeyError(name)
        return replace(
            found[0],
            equations=tuple(equation for step in found for equation in step.equations),
            note=" ".join(dict.fromkeys(step.note for step in found if step.note)),
            open=any(step.open for step in found),
        )

    @property
    def virtual_cost(self) -> sp.Expr | None:
        """J(θ), in currency (Appendix D)."""
        return None if self.argument is None else self.argument.virtual_cost

    @property
    def threshold(self) -> sp.Expr | None:
        """θ*(x) inside the support, x = ε/λ, in currency; None without a proof (KKT)."""
        return None if self.argument is None or self.argument.inverse is None else self.argument.inverse.threshold

    @property
    def threshold_rule(self) -> sp.Piecewise | None:
        """θ*(x) with its cases at the ends of the support; None without a proof (KKT)."""
        if self.argument is None or self.argument.inverse is None:
            return None
        return threshold_cases(self.argument).replace(*next(iter(self.argument.meaning.items())))

    @property
    def budget_price(self) -> BudgetPrice | None:
        """λ in closed form, with its condition; None where there is none (KKT)."""
        return None if self.argument is None else self.argument.budget_price

    @property
    def kkt(self) -> tuple[sp.Basic, ...] | None:
        """The optimality conditions as SymPy relations (KKT, errata E2, E15)."""
        if self.argument is None:
            return None
        argument, theta = self.argument, self.argument.theta
        stationary = Equation(argument.stationarity, Relation.EQUAL, sp.Integer(0))
        known = {function: formula for function, formula in argument.meaning.items() if function in (F, J)}
        relations = [condition.as_sympy() for condition in (stationary, *slackness_conditions(theta))]
        return tuple(
            functools.reduce(lambda relation, item: relation.replace(*item), known.items(), relation)
            for relation in relations
        )

    def threshold_function(self) -> ThresholdFunction | None:
        """Make θ*(ε/λ), clipped to the support, a function of arrays.

        Returns
        -------
        callable
            `rule(x, law)`: x = ε/λ of shape (n,), in currency, may be +∞; the law must be of this
            family. Returns thresholds of shape (n,), in currency.
        """
        return threshold_function(self)

    def budget_price_function(self) -> BudgetPriceFunction | None:
        """Make the closed form of λ a function of numbers; None where there is none.

        Returns
        -------
        callable
            `price(epsilon, budget, law, multiplicity=None)` returns λ, or None where its condition
            does not hold.
        """
        return budget_price_function(self)

    def to_markdown(self, form: str = "short") -> str:
        """Write the derivation as Markdown (MyST), its formulas between dollar signs.

        Parameters
        ----------
        form
            "short" for a page of at most 1,200 words, which names what it leaves out; "summary" for
            the answer without its steps; "full" for every statement.

        Raises
        ------
        InputError
            If the form is not known.
        """
        return markdown_document(self, form=form)

    def to_html(self, form: str = "short") -> str:
        """Write the derivation as a self-contained HTML page without scripts.

        Parameters
        ----------
        form
            As of `to_markdown`.

        Raises
        ------
        InputError
            If the form is not known.
        ModuleNotFoundError
            Without the extra `report`, which holds what pages are made with.
        """
        from smqopt.derivation.render._html import html_document  # noqa: PLC0415 - only a page needs the extra

        return html_document(self, form=form)

    def to_latex(self, form: str = "full") -> str:
        """Write the derivation as a LaTeX document.

        Parameters
        ----------
        form
            "theorem" for a proposition with conditions, proof, legend and bibliography; "full" for
            every step too.

        Raises
        ------
        InputError
            If the form is not known.
        """
        return latex_document(self, form=form)


def derive(law: Valuation) -> Derivation:
    """Derive the whole story of OP2 for a law of valuations, every step checked.

    One derivation with symbols as parameters serves all owners of a family, and is made once.

    Parameters
    ----------
    law
        A law with a density in symbols, or a different law an owner.

    Returns
    -------
    Derivation
        Steps with claims, reasons and verdicts; what is not proved says so.

    Raises
    ------
    InputError
        If the law has no symbolic form: atoms in place of a density, or no formula. The error says
        which.

    Examples
    --------
    >>> from smqopt import Uniform
    >>> d = derive(Uniform(0, 1))
    >>> d.virtual_cost, d.threshold, d.verdict.name
    (-low + 2*theta, (low + x)/2, 'PROVED')
    """
    check_kind(law, Valuation, "derive: argument 'law'", "a law")
    families = sum(len(by_sides(part)) for part, _ in law.parts())
    return derive_within(law, LONGEST_DERIVATION * families)


def is_derived_alike(derivation: Derivation) -> bool:
    """Tell whether a law of the registry has the steps of that law's own page."""
    if derivation.argument is None or derivation.law.name not in LAWS:
        return False
    own = derive(valuation_from_dict({"law": derivation.law.name, **LAWS[derivation.law.name][2]}))
    return own.steps == derivation.steps


def derive_within(law: Valuation, calls: int) -> Derivation:
    """Derive as `derive` does, with a limit to the calls that algebra may take.

    What holds for every law is not counted. Beyond the limit claims are undecided, and nothing of
    them is kept for later.
    """
    general_steps()
    with work_budget(calls):
        return _derive(law)


_ALL = slice(None)


def _derive(law: Valuation, owners: Index = _ALL) -> Derivation:
    parts = tuple(law.parts())
    if len(parts) > 1 or parts[0][0] is not law:
        return _of_parts(law, parts)
    if len(sides := by_sides(law)) > 1:
        return _of_parts(law, sides)
    best: tuple[Argument, tuple[Step, ...]] | None = None
    for formulas, rows in _closed_first(law):
        # a special form of what is proved is looked at for closed forms alone
        if best is not None and _is_proved(best) and not _adds_closed_form(formulas, best[0].law):
            continue
        in_letters = bool(rows) and law.size is None  # half of the work is left to the form in numbers
        with work_share(2 if in_letters else 1):
            found = _settle_steps(_derive_formulas(formulas, rows), law, owners)
        best = found if best is None or _rank(found) < _rank(best) else best
        if _is_proved(best) and best[0].inverse is not None:
            break
    assert best is not None  # noqa: S101 - there is always a general form
    if not _is_proved(best) and law.size is None and best[0].law.parameters:
        numbers = in_numbers(law)
        if numbers is not None:
            best = min(best, _settle_steps(_derive_formulas(numbers, ()), law, owners), key=_rank)
    return Derivation(law, best[1], best[0])


def _adds_closed_form(special: LawFormulas, general: LawFormulas) -> bool:
    return special.cdf != general.cdf and any(find_closed_form(special))


def _closed_first(law: Valuation) -> Iterator[tuple[LawFormulas, tuple[Row, ...]]]:
    """Yield forms with a closed threshold first; others need no check beside them."""
    later: list[tuple[LawFormulas, tuple[Row, ...]]] = []
    for form in candidates(law):
        known = any(form[0].cdf == other[0].cdf for other in later)  # J is the same, under other ranges
        if form[1] or not (known or not find_closed_form(form[0])[0]):
            yield form
        else:
            later.append(form)
    yield from later


def _of_parts(law: Valuation, parts: Sequence[tuple[Valuation, Index]]) -> Derivation:
    everyone = np.arange(law.size or 1)
    split = [(side, everyone[owners][index]) for part, owners in parts for side, index in by_sides(part)]
    derived = tuple(LawFamily(owners, _derive(side, owners)) for side, owners in split)
    return Derivation(law, tuple(step for part in derived for step in part.derivation.steps), parts=derived)


def _settle_steps(
    found: tuple[Argument, tuple[Step, ...]], law: Valuation, owners: Index
) -> tuple[Argument, tuple[Step, ...]]:
    """Settle the regularity of the law at hand, and what rests on it."""
    argument, steps = found
    wrong = disagreement(argument.law, law)
    if wrong:
        steps = tuple(_refuse(step, wrong) for step in steps)
    instances = [] if wrong else instances_of(law, argument.law)
    settled = without_regularity(tuple(settle(step, law, owners) for step in steps))
    return argument, compare(settled, instances, known=general_steps().values())


def _refuse(step: Step, wrong: str) -> Step:
    """Refute the definitions of F and f, which are not those of the law."""
    if step.name != "law":
        return step
    equations = tuple(
        replace(equation, verdict=Verdict.REFUTED, method=wrong) if equation.relation is Relation.DEFINED else equation
        for equation in step.equations
    )
    return replace(step, equations=equations)


def _is_proved(found: tuple[Argument, tuple[Step, ...]]) -> bool:
    return worst([step.verdict for step in found[1]]) is Verdict.PROVED


def _rank(found: tuple[Argument, tuple[Step, ...]]) -> tuple[int, bool, bool, int]:
    """Rank by open steps, closed thresholds, a cost curve in cones, and letters."""
    argument, steps = found
    open_steps = sum(step.verdict is not Verdict.PROVED for step in steps)
    return open_steps, argument.inverse is None, argument.curve is None, -len(argument.law.parameters)


@remember
def _derive_formulas(formulas: LawFormulas, rows: tuple[Row, ...]) -> tuple[Argument, tuple[Step, ...]]:
    """Make argument and steps once for laws that differ in numbers alone."""

    def make() -> tuple[Argument, tuple[Step, ...]]:
        argument = proved_part(find_argument(formulas, rows))
        return argument, steps_of(argument)

    return keep("derivation", formulas, rows, make)
