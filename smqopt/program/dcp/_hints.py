"""What to write instead of a term of the wrong curvature, by its function."""

from __future__ import annotations

import cvxpy as cp
from cvxpy.atoms.atom import Atom

_AT_LEAST = "a floor on it is not convex: "
_AT_MOST = "a ceiling on it is not convex: "
_LARGE = {
    "abs": "a distance of at least so much is two cases: say which side is the larger, as in x - y >= c",
    "max": _AT_LEAST + "say which entry is to be that large, as in acceptance[i] >= c, or bound the sum",
    "maximum": _AT_LEAST + "say which of the two is to be that large",
    "exp": "exp(x) >= c is x >= log(c)",
    "norm1": _AT_LEAST + "acceptance and spend are not negative, so their norm is cp.sum, which is affine",
    "norm_inf": _AT_LEAST + "say which entry is to be that large, as in acceptance[i] >= c",
    "Pnorm": _AT_LEAST + "bound cp.sum of the entries from below instead",
    "quad_over_lin": _AT_LEAST + "bound cp.sum of the entries from below instead",
}
"""Convex functions where a concave one must stand."""
_SMALL = {
    "min": _AT_MOST + "say which entry is to be that small, as in acceptance[i] <= c",
    "minimum": _AT_MOST + "say which of the two is to be that small",
    "log": "log(x) <= c is x <= exp(c)",
    "log1p": "log1p(x) <= c is x <= expm1(c)",
    "GeoMean": _AT_MOST + "bound cp.sum of the entries from above instead",
    "entr": _AT_MOST + "bound acceptance itself from above or below",
}
"""Concave functions where a convex one must stand."""


def instead_of(term: cp.Expression) -> str | None:
    """Say what to write instead of a convex or concave term; else None.

    The function that bends it is looked for inside.

    Examples
    --------
    >>> instead_of(cp.log(cp.Variable()))
    'log(x) <= c is x <= exp(c)'
    """
    bent = _bent(term)
    if bent is None:
        return None
    known = _LARGE if bent.is_convex() else _SMALL
    name = type(bent).__name__.removesuffix("Approx")
    if name.startswith("Power"):
        return _power(float(bent.p.value if hasattr(bent.p, "value") else bent.p), alone=bent is term)
    return known.get(name)


def _power(p: float, *, alone: bool) -> str:
    if not alone:
        of_sum = "bound cp.sum of what is under it"
        return f"{_AT_MOST if 0 < p < 1 else _AT_LEAST}{of_sum} instead, or each entry by itself"
    root = f"c ** {1 / p:.3g}" if p > 0 else f"c ** ({1 / p:.3g})"
    sign = "<=" if 0 < p < 1 else ">="
    turned = sign if p > 0 else "<="
    return f"x ** {p:g} {sign} c is x {turned} {root}, where x is not negative"


def _bent(term: cp.Expression) -> cp.Expression | None:
    """Find the outermost function that is not affine in what it is given."""
    if not isinstance(term, Atom):
        return None
    if not term.is_atom_affine():
        return term
    for argument in term.args:
        if not argument.is_affine():
            return _bent(argument)
    return None
