"""A law taken from scipy.stats and truncated to a support.

Who passes such an object has scipy.stats loaded: it is not imported here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, final

import numpy as np

from smqopt.errors import InputError
from smqopt.numeric import Floats
from smqopt.valuation.composition._truncated import Truncated
from smqopt.valuation.law._base import Valuation
from smqopt.valuation.law._conformance import validate
from smqopt.valuation.law._parameters import checked_parameters, checked_support
from smqopt.valuation.law._verdict import CdfVerdict, Hazard, Regular, Verdict
from smqopt.valuation.law._work_at_the_door import within_work
from smqopt.valuation.monotonicity._grid_search import seek_fall
from smqopt.valuation.scipy_laws._integrated import sum_density
from smqopt.valuation.scipy_laws._source import (
    NEW_LAWS,
    OLD_LAWS,
    PIECES,
    Source,
    check_whole,
    histogram_of,
    source_of,
)
from smqopt.valuation.truncation._by_mass import TruncatedByMass


def _ANY(*shapes: float) -> bool:
    """Hold for all shapes that are numbers."""
    return all(math.isfinite(shape) for shape in shapes)


_LOG_CONCAVE_DENSITY: Mapping[str, Callable[..., bool]] = {
    **dict.fromkeys(
        ("norm", "uniform", "expon", "logistic", "gumbel_r", "gumbel_l", "laplace", "rayleigh", "maxwell", "halfnorm"),
        _ANY,
    ),
    **dict.fromkeys(("halflogistic", "gompertz", "triang", "semicircular", "Normal", "Uniform", "Logistic"), _ANY),
    "gamma": lambda a: a >= 1,
    "chi2": lambda df: df >= 2,
    "weibull_min": lambda c: c >= 1,
    "beta": lambda a, b: a >= 1 and b >= 1,
    "powerlaw": lambda a: a >= 1,
}
"""Laws whose density is log-concave for these shapes, however they are moved and stretched."""
_LOG_CONCAVE: Mapping[str, Callable[..., bool]] = {
    **_LOG_CONCAVE_DENSITY,
    "lognorm": _ANY,  # log Φ is concave and increasing, and log θ is concave
    "fisk": _ANY,  # log F = −log(1 + x^(−c)) has the decreasing slope c/(x + x^(c+1))
    "invweibull": _ANY,  # log F = −x^(−c)
    "powerlaw": _ANY,  # log F = a log x
}
"""Laws whose density, or at least whose F, is log-concave for these shapes, wherever they are moved
and however they are stretched."""
_FALLING: Mapping[str, Callable[..., bool]] = {
    **dict.fromkeys(("pareto", "lomax", "halfcauchy"), _ANY),
    "gamma": lambda a: a <= 1,
    "chi2": lambda df: df <= 2,
    "weibull_min": lambda c: c <= 1,
}
"""Laws whose density is non-increasing for these shapes."""


@within_work
def from_scipy(distribution: Any, low: float | None = None, high: float | None = None) -> Valuation:
    """Make a law from a distribution of scipy.stats, truncated to [low, high].

    Quantiles, masses and the virtual cost J(θ) = θ + (G(θ) − G(low))/g(θ) keep their digits in both
    tails as far as the distribution's own `cdf`, `sf`, `pdf` and their logarithms do. A histogram
    becomes `PiecewiseUniform`.

    Parameters
    ----------
    distribution
        A frozen `scipy.stats.rv_continuous`, an `rv_histogram`, or an object of the new
        infrastructure (`scipy.stats.Normal(...)`, what `make_distribution` makes), with scalar
        parameters.
    low, high
        Ends of the support, in currency; the distribution's own where it is narrower or where none
        is given; 0 ≤ low < high < ∞.

    Raises
    ------
    InputError
        If the object is no continuous distribution, its parameters are arrays or bad, the support
        is empty, unbounded or holds no mass, or its functions are not those of a law: cdf and sf
        that do not add to 1, a cdf that falls, a pdf that is not its derivative, NaN.

    Examples
    --------
    >>> import scipy.stats
    >>> F = from_scipy(scipy.stats.norm(0, 1), low=8, high=9)
    >>> round(float(F.ppf(0.9)), 4)
    8.2786
    """
    source = source_of(distribution)
    with np.errstate(all="ignore"):
        a, b = source.support()
    for end, name, own in ((low, "low", a), (high, "high", b)):
        if end is None and math.isinf(own):
            raise InputError(
                f"from_scipy: argument {name!r}",
                "must be given: the distribution has no such end",
                remedy="say where valuations end",
            )
    given = checked_parameters("from_scipy", low=a if low is None else low, high=b if high is None else high)
    for name, given_end in given.items():
        if isinstance(given_end, np.ndarray):
            raise InputError(
                f"from_scipy: parameter {name!r}",
                "must be one number",
                value=given_end.shape,
                remedy="use ByOwner for one law an owner",
            )
    checked_support("from_scipy", given["low"], given["high"])
    low, high = max(float(given["low"]), a), min(float(given["high"]), b)
    if not low < high:
        raise InputError(
            "from_scipy",
            "the support must meet that of the distribution",
            value=f"[{a!r}, {b!r}]",
            remedy="choose other ends",
        )
    source = sum_density(source, low, high)
    check_whole(source, low, high)
    histogram = histogram_of(source)
    if histogram is not None:
        return Truncated(histogram, low, high)
    law = ScipyLaw(source, low, high)
    validate(law)
    return law


@final
class ScipyLaw(TruncatedByMass):
    """A distribution of scipy.stats between two ends of its support.

    Made by `from_scipy`.
    """

    name = "scipy"

    low: float
    high: float

    def __init__(self, source: Source, low: float, high: float) -> None:
        self.low, self.high = low, high
        self._source = source
        theta = np.linspace(low, high, PIECES + 1)
        self._table = theta, np.maximum.accumulate(self.cdf(theta))

    def _is_proved_cdf(self) -> CdfVerdict:
        return CdfVerdict(None, f"of scipy's {self._source.shown()} nothing is known but its values")

    def _regularity(self) -> Verdict:
        name, shapes = self._source.name_and_shapes()
        if name in _LOG_CONCAVE and _LOG_CONCAVE[name](*shapes):
            return Regular(f"F of scipy's {name} is log-concave, truncated or not")
        if name in _FALLING and _FALLING[name](*shapes):
            return Regular(f"the density of scipy's {name} is non-increasing, truncated or not")
        return seek_fall(self, f"nothing is known of scipy's {self._source.shown()} but its values")

    def _has_falling_density(self) -> bool:
        name, shapes = self._source.name_and_shapes()
        return name in _FALLING and _FALLING[name](*shapes)

    def _monotone_hazard(self) -> Hazard:
        name, shapes = self._source.name_and_shapes()
        if name in _LOG_CONCAVE_DENSITY and _LOG_CONCAVE_DENSITY[name](*shapes):
            return Hazard(True, f"the density of scipy's {name} is log-concave, truncated or not")
        return Hazard(None, f"nothing is known of scipy's {self._source.shown()} but its values")

    def _family(self) -> Hashable:
        return (type(self), id(self._source), self.low, self.high)

    def _stack(self, laws: Sequence[Valuation]) -> Valuation:
        return laws[0]

    def _to_dict(self) -> dict[str, Any]:
        return {"law": self.name, **self._source.to_dict(), "low": self.low, "high": self.high}

    def __repr__(self) -> str:
        return f"from_scipy({self._source.shown()}, low={self.low!r}, high={self.high!r})"

    # --- the whole law ----------------------------------------------------------------------------

    def _whole_cdf(self, theta: Floats) -> Floats:
        return self._source("cdf", theta)

    def _whole_survival(self, theta: Floats) -> Floats:
        return self._source("sf", theta)

    def _whole_log_cdf(self, theta: Floats) -> Floats:
        return self._source("logcdf", theta)

    def _whole_log_survival(self, theta: Floats) -> Floats:
        return self._source("logsf", theta)

    def _whole_pdf(self, theta: Floats) -> Floats:
        return self._source("pdf", theta)

    def _whole_log_pdf(self, theta: Floats) -> Floats:
        return self._source("logpdf", theta)

    def _rough_quantile(self, q: Floats) -> Floats:
        # not scipy's own ppf, which may warn, or fail, where its cdf is good
        return np.interp(q, self._table[1], self._table[0])


def scipy_law_from_dict(table: Mapping[str, Any], where: str) -> Valuation:
    """Make the law that `ScipyLaw.to_dict` described.

    It loads scipy.stats, because the table asks for it by name.

    Raises
    ------
    InputError
        If scipy has no such distribution, or it was one made by code, which a file cannot bring
        back.
    """
    name, given = table.get("distribution"), dict(table)
    if table.get("known") is False:
        raise InputError(
            where,
            "is a distribution made by code, which no file can bring back",
            value=name,
            remedy="solve again, or plug the law in by an entry point",
        )
    for key in given:
        if key not in ("law", "distribution", "args", "kwds", "low", "high"):
            raise InputError(f"{where}: key {key!r}", "is not known for the scipy law", remedy="drop it")
    from scipy import stats  # noqa: PLC0415 (slow to load, and asked for by this table alone)

    kind = getattr(stats, name, None) if isinstance(name, str) and name.isidentifier() else None
    known = (OLD_LAWS, NEW_LAWS)
    if kind is None or (kind.__module__ if isinstance(kind, type) else type(kind).__module__) not in known:
        raise InputError(
            f"{where}: key 'distribution'",
            "is no continuous distribution of scipy.stats",
            value=name,
            remedy='give, say, "lognorm"',
        )
    args, kwds = table.get("args", []), table.get("kwds", {})
    numbers = [*args, *kwds.values()] if isinstance(args, list) and isinstance(kwds, Mapping) else [None]
    if not all(isinstance(x, (int, float)) and not isinstance(x, bool) for x in numbers):
        raise InputError(
            f"{where}: keys 'args' and 'kwds'", "must hold numbers", remedy="give a list, and names with numbers"
        )
    try:
        distribution = kind(*args, **kwds)
    except TypeError as error:
        raise InputError(where, f"{name} does not take these parameters: {error}", remedy="see scipy.stats") from error
    return from_scipy(distribution, table.get("low"), table.get("high"))
