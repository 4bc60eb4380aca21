"""How the ordinary program is put together."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from scipy import sparse

from smqopt.market._market import Market
from smqopt.market._most_acceptance import most_acceptance
from smqopt.market._offers import Offers
from smqopt.market.constraints._constraint_record import ConstraintRecord, Row, check_records
from smqopt.market.constraints._parity import Parity
from smqopt.market.expansion._bent import BentTerms, OverLaws, bent_utilities, lines_at
from smqopt.market.expansion._expansion import LEFT, Expansion
from smqopt.market.expansion._posted import Posted
from smqopt.market.expansion._under_laws import (
    GivenRows,
    MinimumRows,
    OneOffer,
    UnderLaws,
    no_worst_edge,
    refuse_both_signs,
)
from smqopt.market.objectives._linear_form import LinearTerms
from smqopt.market.objectives._objective_record import Objective
from smqopt.market.objectives._purchased_privacy import PurchasedPrivacy
from smqopt.market.objectives._utility import Utility
from smqopt.numeric import Floats, Indices
from smqopt.valuation import ByOwner, PointMass, Uniform, Valuation, possible_laws

BUDGET_WORDS = "the budget"
_ROOM = 2.0
"""The budget of all rows together is so many times what the rows allow: it never binds."""
_LEAST = 2.0**-44
"""Of what buying from everybody costs: less spend than that is not told from none."""
_LITTLE = 2.0**-30
"""What bounds of acceptance may be off by, relative to them."""


def expansion_of(
    market: Market,
    budget: float,
    records: Sequence[ConstraintRecord],
    aim: Objective,
    *,
    margin: float = 0.0,
    at: Offers | None = None,
    shares: Sequence[float] | None = None,
    above: float | None = None,
) -> Expansion | None:
    """Return the ordinary program; None where the program is one already.

    Parameters
    ----------
    market, budget, records, aim
        What the user asks.
    margin
        How much tighter inequalities are stated, relative to their limits: what a solver may break
        them by.
    at
        Where lines stand for an objective that bends: they touch it at these offers. Without, the
        objective is one that bends itself.
    shares
        What each law counts in it, in place of the user's weights or the worst law.
    above
        A value, in the direction of maximising, that is known to be reached: of an objective that
        counts the spend, offers are told apart that are worth as much.

    Raises
    ------
    InputError
        If the objective has no bound under laws in doubt, or objective or a record rises and falls
        with F under a band.
    """
    if not needs_expansion(market, aim, records):
        return None
    possible = possible_laws(market.valuation)
    laws = (market.valuation,) if possible is None else possible.laws
    weights = np.ones(1) if possible is None else possible.weights
    base = tuple(_with_law(market, law) for law in laws)
    maker = _Maker(base, weights, budget, margin, between=possible is not None and possible.between)
    if type(aim).linear_form is not Objective.linear_form:
        linear = tuple(aim.linear_form(market) for market in base)
        if maker.between and linear[0].price and (linear[0].least or np.any(linear[0].each)):
            raise no_worst_edge(
                "argument 'objective'", "acceptances against what they cost", "limit the spend by a budget"
            )
        return maker.make(records, linear, above=above)
    bent = bent_utilities(aim, base)
    if at is None:
        known = [1.0] if len(base) == 1 else [] if weights is None else weights.tolist()
        return maker.make(records, bent, shares or known)
    given = Posted.of(at, market.n, 1)
    found = [np.minimum(given.mean(given.acceptance_of(one.valuation)), 1.0) for one in base]
    return maker.make(
        records, tuple(lines_at(*each) for each in zip(bent, [market.weights] * len(base), found, strict=True))
    )


def needs_expansion(market: Market, aim: Objective, records: Sequence[ConstraintRecord] = ()) -> bool:
    """Say whether a program is stated as another one.

    Raises
    ------
    InputError
        If an entry is no record, or a parity names no column of the market.
    """
    check_records(records)
    is_linear = type(aim).linear_form is not Objective.linear_form
    minima = is_linear and not aim.separable
    levels = is_linear and any(isinstance(record, Parity) and record.has_level(market) for record in records)
    return minima or levels or possible_laws(market.valuation) is not None


def _with_law(market: Market, law: Valuation) -> Market:
    if law is market.valuation:
        return market
    return Market(
        market.epsilon, law, owner_ids=market.owner_ids, groups=market.groups, multiplicity=market.multiplicity
    )


class _Maker:
    """Rows of an expanded program, as they are put together."""

    def __init__(
        self, base: tuple[Market, ...], weights: Floats | None, budget: float, margin: float, *, between: bool
    ) -> None:
        self._base, self._weights, self._budget, self._margin, self.between = base, weights, budget, margin, between
        self._n, self._m = base[0].n, base[0].weights
        self._counted = budget
        self._labels = tuple(f" (law {k} of {len(base)})" if len(base) > 1 else "" for k in range(1, len(base) + 1))
        if between:
            self._labels = (" (lower edge)", " (upper edge)")
        self._units, self._worth = list[float](), list[float]()
        self._rows = list[Row]()
        self._levels = list[tuple[int, sparse.csr_array]]()
        self._alone = len(base) == 1 and budget > 0
        self._step = 1 if self._alone else 2

    def make(
        self,
        records: Sequence[ConstraintRecord],
        worth_under: tuple[LinearTerms, ...] | tuple[Utility, ...],
        shares: Sequence[float] = (),
        above: float | None = None,
    ) -> Expansion:
        """Put a program together: of linear terms, or with shares of what bends."""
        base = self._base
        self._most = self._most_acceptances(records)
        linear = tuple(one for one in worth_under if isinstance(one, LinearTerms))
        if above is not None and self._budget > 0 and linear[0].price:
            self._count_less(records, linear, above)
        bent = tuple(one for one in worth_under if isinstance(one, Utility))
        worths = linear or tuple(BentTerms(np.zeros(self._n), utility=one) for one in bent)
        epsilon, shift = self._objective(worths) if linear else (np.zeros(self._n * len(base)), 0.0)
        own = [self._state(record) for record in records]
        count, rest = len(self._units), self._step * len(self._units)
        law = _laws_of(base, count, self._step)
        m = None if base[0].multiplicity is None else np.append(np.tile(self._m, len(base)), np.ones(rest))
        worth = np.zeros(rest)
        worth[:: self._step] = self._worth
        market = Market(np.append(epsilon, worth), law, multiplicity=m)
        places = len(base) * self._n + self._step * np.arange(count)
        stated: list[ConstraintRecord] = [MinimumRows(of="the objective", given=tuple(self._rows), places=places)]
        if not self._alone:
            bends = any(isinstance(one, BentTerms) for one in worths)
            stated = [*self._one_offer(count, drawn=bends and self._weights is None and len(base) > 1), *stated]
        stated += own
        room = self._budget if self._alone else _ROOM * (len(base) * self._budget if self._budget > 0 else 1.0)
        of_budget = slice(0, 0 if self._alone else len(base))
        units = np.array(self._units)
        return Expansion(
            base,
            self._weights,
            worths,
            self._budget,
            self._counted,
            market,
            tuple(stated),
            room,
            units,
            shift,
            self._labels,
            of_budget,
            self._step,
            tuple(self._levels),
            OverLaws(bent, tuple(shares), rest) if bent else PurchasedPrivacy(),
        )

    def _count_less(self, records: Sequence[ConstraintRecord], worths: Sequence[LinearTerms], above: float) -> None:
        """Count no more spend than leaves a value.

        price · Σ b is at most what acceptances are worth beyond it. Less spend allows less
        acceptance, so that it is asked again.
        """
        least = _LEAST * min(self._budget, *(math.fsum(self._m * one.high) for one in self._base))
        shares = [1.0] * len(worths) if self._weights is None else self._weights.tolist()
        while self._counted > least:
            whole = [self._value_of(worth, most) for worth, most in zip(worths, self._most, strict=True)]
            if self._weights is not None:
                whole = [math.fsum(share * w for share, w in zip(shares, whole, strict=True))] * len(whole)
            left = max(
                (w - above) / (share * worth.price) if share > 0 else math.inf
                for w, share, worth in zip(whole, shares, worths, strict=True)
            )
            before, self._counted = self._counted, min(self._counted, max(left * (1.0 + _LITTLE), least))
            if self._counted > 0.5 * before:
                break
            self._most = self._most_acceptances(records)

    def _value_of(self, worth: LinearTerms, most: Floats) -> float:
        minima = [one.weight * float(np.min(one.forms @ most)) for one in worth.least]
        return math.fsum([*(self._m * worth.each * most).tolist(), *minima, worth.height])

    def _most_acceptances(self, records: Sequence[ConstraintRecord]) -> list[Floats]:
        """Return what the budget allows of each acceptance, one array a law.

        Minima are small where it is: the unit of each is little more than it can be.
        """
        found = []
        for market in self._base:
            floor = np.zeros(self._n)
            for record in records:
                for bounds in record.price_bounds(market):
                    floor[bounds.owners] = np.maximum(floor[bounds.owners], bounds.least)
                listed = record.price_list(market)
                if listed is not None:
                    floor[listed[0]] = np.maximum(floor[listed[0]], listed[1].min(initial=np.inf))
            spend = self._counted / self._m if self._budget > 0 else np.full(self._n, np.inf)
            found.append(most_acceptance(market.valuation, spend, floor))
        return found

    def _state(self, record: ConstraintRecord) -> ConstraintRecord:
        """Return a record under each law; groups of a parity about a level."""
        if isinstance(record, Parity) and record.has_level(self._base[0]):
            return GivenRows(of=record.words, given=tuple(self._about_levels(record)))
        return UnderLaws(record=record, markets=self._base, labels=self._labels, between=self.between)

    def _about_levels(self, record: Parity) -> Iterator[Row]:
        """State 2 |mean − t| ≤ within for each group, one t a law."""
        room = record.within
        for k, (market, law) in enumerate(zip(self._base, self._labels, strict=True)):
            means = record.means(market)
            entries = np.concatenate([shares for _, _, shares in means])
            columns = np.concatenate([owners for _, owners, _ in means])
            of = np.repeat(np.arange(len(means)), [owners.size for _, owners, _ in means])
            forms = sparse.csr_array((entries, (of, columns)), shape=(len(means), self._n))
            place = np.array([self._place(self._add(float(np.max(forms @ self._most[k])), 0.0))])
            self._levels.append((k, forms))
            for label, owners, shares in means:
                rows = np.append(k * self._n + owners, place).astype(np.intp)
                for sign, side in ((1.0, "above"), (-1.0, "below")) if room > 0 else ((1.0, "at"),):
                    name = f"{record.words}{law}: {label} {side} the level"
                    values = 2.0 * sign * np.append(shares, -self._units[-1])
                    row = Row(name, room, room == 0, acceptance=(rows, values), rounded=True)
                    if self.between:
                        refuse_both_signs(row, record)
                    yield row

    def _one_offer(self, count: int, *, drawn: bool) -> list[ConstraintRecord]:
        """Return one offer for all laws, and the budget under each."""
        laws, n = len(self._base), self._n
        number = np.append(np.tile(np.arange(n), laws), n + np.repeat(np.arange(count), 2)).astype(np.intp)
        limit = self._budget * (1.0 - self._margin)
        rows = tuple(
            Row(BUDGET_WORDS + label, limit, spend=(k * n + np.arange(n), self._m.copy()))
            for k, label in enumerate(self._labels)
        )
        offer = OneOffer(number=number, for_nothing=np.arange(laws * n, number.size), drawn=drawn)
        return [offer, GivenRows(of=BUDGET_WORDS, given=rows)]

    def _objective(self, worths: Sequence[LinearTerms]) -> tuple[Floats, float]:
        """Return ε of the owners' rows, and the shift; writes down minima."""
        laws, n, m = len(worths), self._n, self._m
        worst = self._weights is None and laws > 1
        shares = [0.0] * laws if worst else [1.0] if self._weights is None else self._weights.tolist()
        columns, totals, price = list[list[tuple[int, float]]](), list[float](), worths[0].price
        for k, (worth, share) in enumerate(zip(worths, shares, strict=True)):
            own = list[tuple[int, float]]()
            for one in worth.least:
                most = float(np.min(one.forms @ self._most[k]))
                own.append((self._add(most, share * one.weight), one.weight))
                for row in sparse.csr_array(one.forms):
                    entry = sparse.coo_array(row)
                    at = entry.coords[-1]
                    self._bound(own[-1][0], ((k * n + at).astype(np.intp), entry.data), None)
            if price:
                own.append((self._add(LEFT * self._counted if self._budget > 0 else 1.0, share * price), price))
                self._bound(own[-1][0], None, (k * n + np.arange(n), m))
            columns.append(own)
            above = worth.height - min(one.height for one in worths) if worst else 0.0
            most = math.fsum(m * worth.each * self._most[k])
            totals.append(most + math.fsum(w * self._units[t] for t, w in own) + above)
        if worst:
            whole = self._add(min(totals), 1.0)
            for k, (worth, own) in enumerate(zip(worths, columns, strict=True)):
                some = np.flatnonzero(worth.each)
                places = np.append(k * n + some, [self._place(t) for t, _ in own])
                values = np.append(m[some] * worth.each[some], [w * self._units[t] for t, w in own])
                above = worth.height - min(one.height for one in worths)
                self._bound(whole, (places.astype(np.intp), values), None, above)
        heights = [one.height for one in worths]
        height = min(heights) if worst else math.fsum(w * x for w, x in zip(shares, heights, strict=True))
        epsilon = np.concatenate([share * worth.each for share, worth in zip(shares, worths, strict=True)])
        return epsilon, price * LEFT * self._counted - height

    def _place(self, minimum: int) -> int:
        return len(self._base) * self._n + self._step * minimum

    def _add(self, most: float, worth: float) -> int:
        """Write down one more minimum; return its number."""
        self._units.append(most if most > 0 else 1.0)
        self._worth.append(worth * self._units[-1])
        return len(self._units) - 1

    def _bound(
        self,
        minimum: int,
        above: tuple[Indices, Floats] | None,
        spent: tuple[Indices, Floats] | None,
        height: float = 0.0,
    ) -> None:
        """State t ≤ Σ a q + height, or t + Σ b ≤ U."""
        unit, place = self._units[minimum], np.array([self._place(minimum)])
        nothing: tuple[Indices, Floats] = (np.zeros(0, dtype=np.intp), np.zeros(0))
        rows, values = above or nothing
        acceptance = np.append(rows, place).astype(np.intp), np.append(-values, unit)
        most = height if spent is None else LEFT * self._counted * (1.0 - self._margin)
        owners, m = spent or nothing
        self._rows.append(Row("the objective", most, acceptance=acceptance, spend=(owners, m.copy())))


def _laws_of(base: Sequence[Market], minima: int, step: int) -> Valuation:
    """Return the laws of all rows, one after the other."""
    n = base[0].n
    parts = list[tuple[Sequence[int], Valuation]]()
    for k, market in enumerate(base):
        rows = np.arange(n, dtype=np.intp)
        parts += [((rows[index] + k * n).tolist(), law) for law, index in market.valuation.parts()]
    first = n * len(base) + step * np.arange(minima)
    if minima:
        parts.append((first.tolist(), PointMass(0.0)))
    if minima and step > 1:
        # two laws share the price 0, at which one sells: posted prices, as all others
        parts.append(((first + 1).tolist(), Uniform(0.0, 1.0)))
    return ByOwner.from_parts(parts)
