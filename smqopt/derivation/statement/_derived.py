"""What renderers and closed forms read of a derivation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import sympy as sp

    from smqopt.algebra import Verdict
    from smqopt.derivation.argument._argument import Argument
    from smqopt.derivation.argument._budget_price import BudgetPrice
    from smqopt.derivation.statement._step import Step
    from smqopt.valuation import Index, Valuation


class DerivedPart(Protocol):
    """The owners of one family of laws, and what was derived for them."""

    @property
    def owners(self) -> Index: ...
    @property
    def derivation(self) -> Derived: ...


class Derived(Protocol):
    """A derivation as data; `Derivation` documents each part."""

    @property
    def law(self) -> Valuation: ...
    @property
    def steps(self) -> tuple[Step, ...]: ...
    @property
    def argument(self) -> Argument | None: ...
    @property
    def parts(self) -> Sequence[DerivedPart]: ...
    @property
    def verdict(self) -> Verdict: ...
    @property
    def virtual_cost(self) -> sp.Expr | None: ...
    @property
    def threshold(self) -> sp.Expr | None: ...
    @property
    def budget_price(self) -> BudgetPrice | None: ...
