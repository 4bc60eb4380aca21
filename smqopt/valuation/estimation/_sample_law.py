"""The law that `from_samples` makes, as files keep it."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, final

import numpy as np

from smqopt.errors import InputError
from smqopt.numeric import Floats, Mask
from smqopt.valuation.composition._mixture import Mixture
from smqopt.valuation.law._base import Index, Valuation
from smqopt.valuation.law._parameters import check_keys
from smqopt.valuation.law._verdict import Hazard, Verdict
from smqopt.valuation.tabular._discrete import Discrete
from smqopt.valuation.tabular._piecewise_uniform import PiecewiseUniform

CONFIDENCE = 0.95
"""The band that is shown holds with this probability."""


@final
class SampleLaw(Valuation):
    """A law estimated from n valuations, with what is known of its error.

    A histogram, atoms, or both; made by `from_samples`.
    """

    name = "from-samples"
    table_pays = False

    n: int
    """The number of valuations."""
    smoothing_error: float
    """The largest |F − F_n|, F_n the empirical distribution function, in probability."""

    def __init__(self, law: Valuation, n: int, smoothing_error: float) -> None:
        self.law, self.n, self.smoothing_error = law, n, smoothing_error
        self.low, self.high = law.low, law.high

    @property
    def histogram(self) -> PiecewiseUniform | None:
        """The values that are spread; None where all are heaps."""
        return next((part for part in self._kinds() if isinstance(part, PiecewiseUniform)), None)

    @property
    def heaps(self) -> Discrete | None:
        """The values that are kept, with their counts; None where all are spread."""
        return next((part for part in self._kinds() if isinstance(part, Discrete)), None)

    def _kinds(self) -> tuple[Valuation, ...]:
        return self.law.laws if isinstance(self.law, Mixture) else (self.law,)

    @property
    def sampling_error(self) -> float:
        """Half the width of the 95 % band round F_n, in probability (see `half_width`)."""
        return self.half_width(CONFIDENCE)

    def half_width(self, confidence: float) -> float:
        """Return h with P(largest |F_n − true F| ≤ h) ≥ confidence.

        √(log(2/(1 − confidence))/(2n)) (Massart 1990).

        The law itself is `smoothing_error` further off at most.

        Raises
        ------
        InputError
            If the confidence does not lie in (0, 1).
        """
        if not 0 < confidence < 1:
            raise InputError(
                "half_width: argument 'confidence'", "must lie in (0, 1)", value=confidence, remedy="use, say, 0.95"
            )
        return math.sqrt(math.log(2.0 / (1.0 - confidence)) / (2 * self.n))

    def _parts(self) -> Iterator[tuple[Valuation, Index]]:
        yield self.law, slice(None)

    def _knots(self) -> Floats:
        return self.law.knots()

    def _is_atom(self, theta: Floats) -> Mask:
        return self.law.is_atom(theta)

    def _cdf(self, theta: Floats) -> Floats:
        return self.law.cdf(theta)

    def _pdf(self, theta: Floats) -> Floats:
        return self.law.pdf(theta)

    def _log_cdf(self, theta: Floats) -> Floats:
        return self.law.log_cdf(theta)

    def _log_survival(self, theta: Floats) -> Floats:
        return self.law.log_survival(theta)

    def _ppf(self, q: Floats) -> Floats:
        return self.law.ppf(q)

    def _virtual_cost(self, theta: Floats) -> Floats:
        return self.law.virtual_cost(theta)

    def _inverse_virtual_cost(self, v: Floats) -> Floats:
        return self.law.inverse_virtual_cost(v)

    def _offer(self, v: Floats) -> tuple[Floats, Floats]:
        return self.law.offer(v)

    def _regularity(self) -> Verdict:
        return self.law.regularity()  # it speaks of the estimate, not of the law that the values came from

    def _has_falling_density(self) -> bool:
        return self.law.has_falling_density()

    def _monotone_hazard(self) -> Hazard:
        return self.law.monotone_hazard()

    def _rescale(self, factor: float) -> SampleLaw:
        return SampleLaw(self.law.rescale(factor), self.n, self.smoothing_error)

    def _family(self) -> Hashable:
        tables = (table.tobytes() for part in self._kinds() for table in _columns(part).values())
        return (type(self), *tables, self.n, self.smoothing_error)

    def _stack(self, laws: Sequence[Valuation]) -> Valuation:
        return laws[0]

    def _to_dict(self) -> dict[str, Any]:
        columns = {key: table for part in self._kinds() for key, table in _columns(part).items()}
        return {"law": self.name, **columns, "n": self.n, "smoothing_error": self.smoothing_error}

    def __repr__(self) -> str:
        pieces, heaps = self.histogram, self.heaps
        parts = [f"{pieces.masses.size} pieces"] if pieces else []
        parts += [f"{heaps.masses.size} heaps"] if heaps else []
        return (
            f"from_samples(<{self.n} values>: {' and '.join(parts)} on [{self.low!r}, {self.high!r}], "
            f"±{self.sampling_error:.2g} at {CONFIDENCE:.0%}, smoothed by at most {self.smoothing_error:.2g})"
        )


def _columns(part: Valuation) -> dict[str, Floats]:
    """Return what a file says of the histogram, or of the heaps."""
    if isinstance(part, Discrete):
        return {"heaps": part.values, "heap_masses": part.masses}
    return {"edges": part.edges, "masses": part.masses} if isinstance(part, PiecewiseUniform) else {}


def sample_law_from_dict(table: Mapping[str, Any], where: str) -> SampleLaw:
    """Make the law that `SampleLaw.to_dict` described.

    Raises
    ------
    InputError
        If a key is missing, unknown or bad.
    """
    kinds = [kind for kind in (("edges", "masses"), ("heaps", "heap_masses")) if set(kind) & set(table)]
    keys = [key for kind in kinds or [("edges", "masses")] for key in kind]
    check_keys(table, (*keys, "n", "smoothing_error"), "a law of samples", where)
    n, error = table["n"], table["smoothing_error"]
    if isinstance(n, bool) or not isinstance(n, int) or n < 2:
        raise InputError(f"{where}: key 'n'", "must be a whole number ≥ 2", value=n, remedy="estimate the law again")
    if isinstance(error, bool) or not isinstance(error, (int, float)) or not 0 <= error <= 1:
        raise InputError(
            f"{where}: key 'smoothing_error'", "must lie in [0, 1]", value=error, remedy="estimate the law again"
        )
    parts: list[Valuation] = [Discrete(table["heaps"], table["heap_masses"])] if "heaps" in table else []
    parts += [PiecewiseUniform(table["edges"], table["masses"])] if "edges" in table else []
    counts = [float(np.sum(column)) for key in ("heap_masses", "masses") if (column := table.get(key)) is not None]
    return SampleLaw(parts[0] if len(parts) == 1 else Mixture(parts, counts), n, float(error))
