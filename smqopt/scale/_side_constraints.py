"""Side constraints in parts: how rows are kept, and what bounds the optimum."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

from smqopt.errors import InputError
from smqopt.numeric import SIDE_ROW, UNITS, doubles_around
from smqopt.scale._solution import ParquetSolution
from smqopt.scale.parts._part_records import PartFindings, StratumSums, join_strata
from smqopt.scale.parts._strata import Stratum, StratumRow, StratumTerms, columns_of, rows_of, terms_of
from smqopt.verification import Check


@dataclass(frozen=True)
class SideConstraints:
    """The rows of a solution, and what their multipliers make of ε and the price."""

    solution: ParquetSolution
    columns: Stratum
    rows: Sequence[StratumRow]
    terms: dict[Stratum, StratumTerms]

    @classmethod
    def of(cls, solution: ParquetSolution) -> Self | None:
        """Read them from a solution; None where it has none.

        Raises
        ------
        InputError
            If a constraint is not supported, or multipliers are not those of its rows.
        """
        if not solution.constraints:
            return None
        columns, counts = columns_of(solution.market.label_columns, solution.constraints), dict(solution.strata)
        where = "solution: key"
        if len(counts) < len(solution.strata) or not all(
            owners > 0 and len(stratum) == len(columns) for stratum, owners in counts.items()
        ):
            raise InputError(f"{where} 'strata'", "must name each stratum once, with its owners", remedy="solve again")
        rows = [row for one in rows_of(solution.constraints, columns, counts) for row in one]
        y = solution.constraint_prices
        signed = len(y) == len(rows) and all(
            math.isfinite(one) and (one >= 0 or row.equal) for one, row in zip(y, rows, strict=True)
        )
        if not signed or not 0 <= solution.budget_price < math.inf:
            raise InputError(
                f"{where} 'constraint_prices'", f"must be {len(rows)} numbers ≥ 0, of equations of any sign",
                remedy="solve again",
            )  # fmt: skip
        return cls(solution, columns, rows, terms_of(rows, solution.budget_price, y, sorted(counts)))

    def checks(self, found: Sequence[PartFindings]) -> list[Check]:
        """Check that strata are as large as was said, and every row."""
        sums = self._sums(found)
        counted, said = {one.stratum: one.rows for one in sums}, dict(self.solution.strata)
        odd = [stratum for stratum in {**counted, **said} if counted.get(stratum) != said.get(stratum)]
        checks = [Check("strata", not odd, float(len(odd)), 0.0, "strata whose owners are not as many as was said")]
        names: dict[str, int] = {}
        for row in self.rows:
            names[row.name] = names.get(row.name, 0) + 1
            name = row.name if names[row.name] == 1 else f"{row.name} (once more, {names[row.name]})"
            over, size = (Fraction(0), Fraction(1)) if odd else self._over(row, sums)
            value = _up(over / size) if size > 0 else math.inf if over > 0 else 0.0
            checks.append(
                Check(f"constraint: {name}", not odd and value <= SIDE_ROW.value, value, SIDE_ROW.value, SIDE_ROW.norm)
            )
        return checks

    def upper_bound(self, found: Sequence[PartFindings]) -> float:
        """Return λB + y·r + Σ max_q {(ε − a) q − p C(q)}, rounded up.

        What breaks rows is added, times their multipliers: offers that break them by a rounding may
        lie above what feasible offers reach.
        """
        sums = self._sums(found)
        if any(one.stratum not in self.terms for one in sums) or len(sums) < len(self.terms):
            return math.inf
        bound = Fraction(self.solution.budget_price) * Fraction(self.solution.budget)
        for row, y in zip(self.rows, map(Fraction, self.solution.constraint_prices), strict=True):
            bound += y * Fraction(row.at_most) + (abs(y) * self._over(row, sums)[0] if y else 0)
        for one in sums:
            price = Fraction(self.terms[one.stratum].price_low)
            bound += (one.rest + one.worth[0] - price * one.worth[1]) / UNITS
        most = math.ceil(bound * UNITS)
        return doubles_around(most, most)[1]

    def _sums(self, found: Sequence[PartFindings]) -> tuple[StratumSums, ...]:
        return join_strata(one for part in found for one in part.strata)

    def _over(self, row: StratumRow, sums: Sequence[StratumSums]) -> tuple[Fraction, Fraction]:
        """Return what a row is broken by at most, ≥ 0, and its absolute terms at least."""
        acceptance, spend = ({one.stratum: getattr(one, name) for one in sums} for name in ("acceptance", "spend"))
        low, high, size = row.usage(acceptance, spend, UNITS)
        over = high - Fraction(row.at_most)
        return max(over, Fraction(row.at_most) - low if row.equal else over, Fraction(0)), size


def _up(x: Fraction) -> float:
    nearest = float(x)
    return nearest if Fraction(nearest) >= x else math.nextafter(nearest, math.inf)
