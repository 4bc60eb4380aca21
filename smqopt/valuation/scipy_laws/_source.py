"""Distributions of scipy.stats under one set of names.

Frozen ones, histograms, and objects of the new infrastructure.

scipy.stats itself is not imported here: who passes such an object has it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smqopt.errors import InputError
from smqopt.numeric import MASS, SUPPORT_END, Floats, count_work
from smqopt.valuation.tabular._piecewise_uniform import PiecewiseUniform

PIECES = 256
"""The cdf is looked at between so many pieces of the support first."""
WHERE = "from_scipy: argument 'distribution'"
TWINS: Mapping[str, tuple[str, Callable[[Floats], Floats]]] = {
    "pdf": ("logpdf", lambda x: np.exp(np.minimum(x, 709.0))),  # exp overflows above 709.78
    "logcdf": ("cdf", np.log),
    "logsf": ("sf", np.log),
}
"""What is asked for instead where scipy raises an error: another function, and the way back."""
AN_INTEGRAL = 1_000
"""Units of work of one value that scipy integrates: some 300 µs."""
_INTEGRALS = ("cdf", "sf", "logcdf", "logsf")
_QUARTERS = np.array([0.25, 0.5, 0.75])
OLD_LAWS = "scipy.stats._continuous_distns"
NEW_LAWS = "scipy.stats._new_distributions"


class Source:
    """A distribution by the names that frozen `rv_continuous` have."""

    names: Mapping[str, str] = {}
    """Names that the object has instead."""

    def __init__(self, distribution: Any) -> None:
        self.distribution = distribution

    def __call__(self, function: str, x: Floats) -> Floats:
        name = self.names.get(function, function)
        if function in _INTEGRALS and self.integrates:
            count_work(AN_INTEGRAL * np.size(x))
        try:
            with np.errstate(all="ignore"):
                value = getattr(self.distribution, name)(x)
        except (ArithmeticError, ValueError) as error:  # Boost raises, and so do root finders that scipy goes through
            if function not in TWINS:
                raise InputError(
                    WHERE, f"scipy does not find its {name}: {error}", remedy="choose other ends"
                ) from error
            twin, inverse = TWINS[function]
            with np.errstate(all="ignore"):
                value = inverse(self(twin, x))
        except RecursionError as error:  # scipy derives each function from the others, and may go round in circles
            raise InputError(WHERE, f"scipy does not find its {name}", remedy="define pdf and cdf both") from error
        value = np.array(value, dtype=np.float64)
        if function in ("cdf", "sf"):  # a cdf that scipy integrates may leave [0, 1] by its rounding
            value = np.where(np.abs(value - 0.5) <= 0.5 + MASS.value, np.clip(value, 0.0, 1.0), value)
        return value

    @property
    def integrates(self) -> bool:
        """Whether scipy knows no cdf of it, and integrates its density at each value."""
        return False

    def support(self) -> tuple[float, float]:
        a, b = (np.asarray(end, dtype=np.float64) for end in self.distribution.support())
        if a.ndim or b.ndim:
            raise InputError(
                WHERE, "must have scalar parameters", value=a.shape, remedy="use ByOwner for one law an owner"
            )
        if not a < b:
            raise InputError(WHERE, "has no support: a parameter is out of range", remedy="fix its parameters")
        return float(a), float(b)

    def name_and_shapes(self) -> tuple[str, tuple[float, ...]]:
        """Return the name in scipy, "" where it is none of scipy's own, and the shapes."""
        return "", ()

    def shown(self) -> str:
        return type(self.distribution).__name__

    def to_dict(self) -> dict[str, Any]:
        """Return what a file says of it.

        Its name and parameters, or, where scipy does not know its name, values of its cdf.
        """
        a, b = self.support()
        ends = [a if math.isfinite(a) else str(a), b if math.isfinite(b) else str(b)]
        return {
            "distribution": self.shown(),
            "known": False,
            "support": ends,
            "quartiles": self("ppf", _QUARTERS).tolist(),
        }


class Frozen(Source):
    """A frozen `rv_continuous`."""

    @property
    def integrates(self) -> bool:
        return str(self.distribution.dist._cdf.__qualname__) == "rv_continuous._cdf"  # noqa: SLF001 -- the only hook there is

    def name_and_shapes(self) -> tuple[str, tuple[float, ...]]:
        kind = self.distribution.dist
        if type(kind).__module__ != OLD_LAWS or kind.name + "_gen" != type(kind).__name__:
            return "", ()
        shapes, _, _ = kind._parse_args(*self.distribution.args, **self.distribution.kwds)  # noqa: SLF001 -- the only hook there is
        return str(kind.name), tuple(float(shape) for shape in shapes)

    def shown(self) -> str:
        given = [repr(float(x)) for x in self.distribution.args] + [
            f"{k}={float(v)!r}" for k, v in self.distribution.kwds.items()
        ]
        return f"{self.distribution.dist.name}({', '.join(given)})"

    def to_dict(self) -> dict[str, Any]:
        name, _ = self.name_and_shapes()
        if not name:
            return super().to_dict()
        args = [float(x) for x in self.distribution.args]
        return {
            "distribution": name,
            "args": args,
            "kwds": {key: float(value) for key, value in self.distribution.kwds.items()},
        }


class _New(Source):
    """An object of the new infrastructure."""

    names: Mapping[str, str] = {"sf": "ccdf", "logsf": "logccdf", "ppf": "icdf", "isf": "iccdf"}

    def name_and_shapes(self) -> tuple[str, tuple[float, ...]]:
        kind = type(self.distribution)
        return (kind.__name__, ()) if kind.__module__ == NEW_LAWS else ("", ())

    def shown(self) -> str:
        return " ".join(repr(self.distribution).replace("np.float64", "").split())

    def to_dict(self) -> dict[str, Any]:
        name, _ = self.name_and_shapes()
        if not name:
            return super().to_dict()
        return {
            "distribution": name,
            "kwds": {key: float(value) for key, value in self.distribution._original_parameters.items()},  # noqa: SLF001 -- the only hook there is
        }


def source_of(distribution: Any) -> Source:
    """Tell what kind of object it is by what it answers."""
    if isinstance(distribution, type):
        raise InputError(
            WHERE,
            "must be a continuous distribution of scipy.stats, not a class of them",
            value=distribution.__name__,
            remedy=f"give its parameters: {distribution.__name__}(...)",
        )
    kinds = {kind.__name__ for kind in type(distribution).__mro__}
    if "DiscreteDistribution" in kinds or (hasattr(distribution, "pmf") and not hasattr(distribution, "pdf")):
        raise InputError(
            WHERE, "must be continuous", value=type(distribution).__name__, remedy="use Discrete for atoms"
        )
    if hasattr(distribution, "freeze") and hasattr(distribution, "logsf"):
        try:
            distribution = distribution()
        except TypeError as error:
            raise InputError(
                WHERE,
                "lacks parameters",
                value=str(distribution.name),
                remedy=f"give its shapes: {distribution.shapes}",
            ) from error
    if all(hasattr(distribution, name) for name in ("dist", "args", "kwds", "logsf", "logcdf", "logpdf")):
        return Frozen(distribution)
    if all(hasattr(distribution, name) for name in ("logccdf", "logcdf", "logpdf", "icdf", "support")):
        return _New(distribution)
    raise InputError(
        WHERE,
        "must be a continuous distribution of scipy.stats",
        value=type(distribution).__name__,
        remedy="give, say, scipy.stats.lognorm(0.5)",
    )


def histogram_of(source: Source) -> PiecewiseUniform | None:
    """Return the histogram that an `rv_histogram` is, if that is what it is."""
    kind = getattr(source.distribution, "dist", None)
    if kind is None or not hasattr(kind, "_histogram"):
        return None
    _, loc, scale = kind._parse_args(*source.distribution.args, **source.distribution.kwds)  # noqa: SLF001 -- the only hook there is
    counts, edges = (np.asarray(column, dtype=np.float64) for column in kind._histogram)  # noqa: SLF001 -- the only hook there is
    masses = counts * np.diff(edges) if kind._density else counts  # noqa: SLF001 -- the only hook there is
    ends = loc + scale * edges
    inside = np.flatnonzero(ends >= 0)
    if inside.size < ends.size:  # a histogram that begins below 0 is cut there, where from_scipy's low is at least
        return None
    return PiecewiseUniform(ends, masses)


def check_whole(source: Source, low: float, high: float) -> None:
    """Check on a grid that cdf and survival function are those of a law.

    Finite, rising and falling, adding to 1, with mass on the support.
    """
    t = np.linspace(low, high, PIECES + 1)
    G, S = source("cdf", t), source("sf", t)

    def require(good: NDArray[np.bool_], rule: str, shown: Floats) -> None:
        bad = np.flatnonzero(~good)
        if bad.size:
            k = bad[0]
            raise InputError(
                f"from_scipy: {source.shown()}",
                rule,
                value=f"{float(shown[k])!r} at theta = {float(t[k])!r}",
                remedy="fix the distribution",
            )

    if G.shape != t.shape:
        raise InputError(WHERE, "must have scalar parameters", value=G.shape, remedy="use ByOwner for one law an owner")
    require(np.isfinite(G) & (G >= 0) & (G <= 1), "its cdf must lie between 0 and 1", G)
    require(np.isfinite(S) & (S >= 0) & (S <= 1), "its survival function must lie between 0 and 1", S)
    require(np.abs(G + S - 1.0) <= MASS.value, "its cdf and survival function must add to 1", G + S)
    rises = np.append(True, np.diff(G) >= -SUPPORT_END.value)
    require(rises, "its cdf must not fall", G)
    ends = np.array([low, high])
    log_G, log_S = source("logcdf", ends), source("logsf", ends)
    if not (log_G[1] > log_G[0] or log_S[0] > log_S[1]):
        raise InputError(
            f"from_scipy: {source.shown()}",
            "has no mass on the support",
            value=f"[{low!r}, {high!r}]",
            remedy="choose other ends",
        )
