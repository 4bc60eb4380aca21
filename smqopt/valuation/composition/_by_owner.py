"""A different law for each owner, of any mixture of families."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Self, final

import numpy as np

from smqopt.errors import InputError, check_kind
from smqopt.numeric import Floats, Indices
from smqopt.valuation.law._base import Index, Valuation
from smqopt.valuation.law._verdict import CdfVerdict, Hazard, Irregular, Regular, Undecided, Verdict, worst_cdf


@final
class ByOwner(Valuation):
    """Owner i has the i-th law.

    Owners of one family are gathered, so that work goes family by family, not owner by owner.

    Parameters
    ----------
    laws
        One common law (scalar parameters) an owner.

    Raises
    ------
    InputError
        If there is no law, an entry is not a law, or an entry is itself a law of many owners.

    Examples
    --------
    >>> from smqopt import Power, Uniform
    >>> F = ByOwner([Uniform(0, 1), Power(2), Uniform(1, 2)])
    >>> F.cdf([0.5, 0.5, 1.5]).tolist()
    [0.5, 0.25, 0.5]
    """

    name = "by-owner"

    def __init__(self, laws: Sequence[Valuation]) -> None:
        check_kind(laws, Sequence, "by-owner: argument 'laws'", "a list of laws", "give one law an owner")
        if len(laws) == 0:
            raise InputError("by-owner: argument 'laws'", "must hold at least one law", remedy="give one law an owner")
        families: dict[object, list[int]] = {}
        for i, law in enumerate(laws):
            where = f"by-owner: law of owner {i + 1}"
            check_kind(law, Valuation, where, "a law of valuations")
            if law.size is not None:
                raise InputError(
                    where, "must have scalar parameters", value=f"{law.size} values", remedy="split it by owner"
                )
            if law.joint:
                raise InputError(
                    where, "must be one law: scenarios are joint", remedy="use Scenarios([ByOwner(...), ByOwner(...)])"
                )
            families.setdefault(law.family, []).append(i)
        self._fill(
            [
                (laws[owners[0]].stack([laws[i] for i in owners]), np.array(owners, dtype=np.intp))
                for owners in families.values()
            ]
        )

    def _fill(self, parts: list[tuple[Valuation, Indices]]) -> None:
        self._families, self._owners = parts, sum(owners.size for _, owners in parts)
        self.low = self._gather(lambda law: np.asarray(law.low))
        self.high = self._gather(lambda law: np.asarray(law.high))
        self.low.flags.writeable = self.high.flags.writeable = False

    def _size(self) -> int | None:
        return self._owners

    def _parts(self) -> Iterator[tuple[Valuation, Index]]:
        yield from self._families

    def _cdf(self, theta: Floats) -> Floats:
        return self._apply(lambda law, x: law.cdf(x), theta)

    def _log_cdf(self, theta: Floats) -> Floats:
        return self._apply(lambda law, x: law.log_cdf(x), theta)

    def _log_survival(self, theta: Floats) -> Floats:
        return self._apply(lambda law, x: law.log_survival(x), theta)

    def _pdf(self, theta: Floats) -> Floats:
        return self._apply(lambda law, x: law.pdf(x), theta)

    def _ppf(self, q: Floats) -> Floats:
        return self._apply(lambda law, x: law.ppf(x), q)

    def _virtual_cost(self, theta: Floats) -> Floats:
        return self._apply(lambda law, x: law.virtual_cost(x), theta)

    def _inverse_virtual_cost(self, v: Floats) -> Floats:
        return self._apply(lambda law, x: law.inverse_virtual_cost(x), v)

    def _take(self, index: Index) -> Self:
        where = np.empty(self._owners, dtype=np.intp)
        family = np.empty(self._owners, dtype=np.intp)
        for k, (_, owners) in enumerate(self._families):
            family[owners], where[owners] = k, np.arange(owners.size)
        chosen_family, chosen = family[index], where[index]
        law = object.__new__(type(self))
        law._fill(
            [
                (part.take(chosen[chosen_family == k]), np.flatnonzero(chosen_family == k))
                for k, (part, _) in enumerate(self._families)
                if np.any(chosen_family == k)
            ]
        )
        return law

    def _rescale(self, factor: float) -> Self:
        law = object.__new__(type(self))
        law._fill([(part.rescale(factor), owners) for part, owners in self._families])
        return law

    def _is_proved_cdf(self) -> CdfVerdict:
        verdicts = ((part.is_proved_cdf(), owners) for part, owners in self._families)
        return worst_cdf(
            verdict if verdict.is_proved else replace(verdict, owner=int(owners[verdict.owner or 0]))
            for verdict, owners in verdicts
        )

    def _regularity(self) -> Verdict:
        undecided: Undecided | None = None
        methods: list[str] = []
        for part, owners in self._families:
            verdict = part.regularity()
            first = int(owners[0 if isinstance(verdict, Regular) else verdict.owner or 0])
            if isinstance(verdict, Irregular):
                return Irregular(verdict.method, verdict.witness, verdict.virtual_costs, owner=first)
            if isinstance(verdict, Undecided):
                undecided = undecided or Undecided(verdict.method, owner=first)
            else:
                methods.append(f"{part.name}: {verdict.method}")
        return undecided or Regular("; ".join(methods))

    def _monotone_hazard(self) -> Hazard:
        undecided: Hazard | None = None
        methods: list[str] = []
        for part, owners in self._families:
            found = part.monotone_hazard()
            method, owner = f"{part.name}: {found.method}", int(owners[found.owner or 0])
            if found.monotone is False:
                return replace(found, method=method, owner=owner)
            if found.monotone is None:
                undecided = undecided or Hazard(None, method, owner=owner)
            else:
                methods.append(method)
        return undecided or Hazard(True, "; ".join(methods))

    def _has_falling_density(self) -> bool:
        return all(part.has_falling_density() for part, _ in self._families)

    def _to_dict(self) -> dict[str, Any]:
        return {
            "law": self.name,
            "parts": [{"owners": owners.tolist(), "valuation": part.to_dict()} for part, owners in self._families],
        }

    @classmethod
    def from_parts(cls, parts: Sequence[tuple[Sequence[int], Valuation]], where: str = "by-owner") -> ByOwner:
        """Rebuild the law that `to_dict` described from owners (from 0) and laws.

        Raises
        ------
        InputError
            If the owners are not exactly 0 … n−1, each once, or a part has another number of laws
            than owners.
        """
        every = (
            np.concatenate([np.asarray(owners, dtype=np.intp) for owners, _ in parts])
            if parts
            else np.array([], dtype=np.intp)
        )
        if every.size == 0 or not np.array_equal(np.sort(every), np.arange(every.size)):
            raise InputError(where, "must hold for each owner exactly once", remedy="number the owners from 0")
        law = object.__new__(cls)
        stacked: list[tuple[Valuation, Indices]] = []
        for owners, part in parts:
            if part.size not in (None, len(owners)):
                raise InputError(
                    where, f"a part of {len(owners)} owners needs as many laws", value=part.size, remedy="fix the part"
                )
            stacked.append((part, np.asarray(owners, dtype=np.intp)))
        law._fill(stacked)
        return law

    def _apply(self, method: Callable[[Valuation, Floats], Floats], x: Floats) -> Floats:
        values = np.broadcast_to(x, (self._owners,))
        return self._gather_with(lambda law, owners: method(law, values[owners]))

    def _gather(self, method: Callable[[Valuation], Floats]) -> Floats:
        return self._gather_with(lambda law, _: method(law))

    def _gather_with(self, method: Callable[[Valuation, Indices], Floats]) -> Floats:
        out = np.empty(self._owners)
        for law, owners in self._families:
            out[owners] = method(law, owners)
        return out

    def __repr__(self) -> str:
        return "ByOwner(" + ", ".join(f"{part.name} × {owners.size}" for part, owners in self._families) + ")"
