"""A law before it is truncated, and its mass between two points.

Without cancellation or underflow in either tail.

Far out in a tail, G(t) − G(s) loses its digits and then itself. What does not is the mass in units
of the density at the point of [s, t] nearest to the centre: both Mills ratios G/g and (1 − G)/g
stay near 1 there, and where s and t are so close that even they cancel, quadrature adds positive
terms.
"""

from __future__ import annotations

import abc
from typing import Self

import numpy as np
from numpy.typing import NDArray

from smqopt.numeric import Floats, Mask

CANCELLED = 2.0**-2
"""Differences of less than this share of their first term are found by quadrature."""

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)
NODES: Floats = 0.5 * (1.0 + _NODES)
"""Gauss–Legendre nodes on [0, 1]."""
WEIGHTS: Floats = 0.5 * _WEIGHTS


class Parent(abc.ABC):
    """A law with distribution function G and density g, in a coordinate of its own.

    On the line, or on its positive half.
    """

    centre: float | Floats
    """A point with much mass on either side, near the median."""

    @abc.abstractmethod
    def log_density_ratio(self, s: Floats, t: Floats, step: Floats) -> Floats:
        """Compute log(g(s)/g(t)), with step = s − t to full relative accuracy."""

    @abc.abstractmethod
    def lower_ratio(self, t: Floats) -> Floats:
        """Compute G(t)/g(t) for t up to the centre."""

    @abc.abstractmethod
    def upper_ratio(self, t: Floats) -> Floats:
        """Compute (1 − G(t))/g(t) for t from the centre on."""

    @abc.abstractmethod
    def nearby_mass(self, s: Floats, t: Floats, step: Floats, reference: Floats) -> Floats:
        """Compute (G(t) − G(s))/g(reference) by quadrature, where G changes by little.

        Step = t − s; reference in [s, t].
        """

    @property
    def centre_is_common(self) -> bool:
        """Whether the parent is one law, and not one an owner."""
        return np.ndim(self.centre) == 0

    def of_elements(self, shape: tuple[int, ...], index: NDArray[np.bool_]) -> Self:  # noqa: ARG002
        """Compute the law of some elements of an array of that shape.

        A law without parameters is its own.
        """
        return self


def interval_mass(parent: Parent, s: Floats, t: Floats, step: Floats) -> tuple[Floats, Floats]:
    """Compute the mass between two points over the density at a third.

    The third is the point between them that is nearest to the centre.

    Parameters
    ----------
    parent
        The law.
    s, t
        The points, s ≤ t, in the law's coordinate; they broadcast against each other and the law's
        parameters.
    step
        t − s to full relative accuracy.

    Returns
    -------
    mass
        (G(t) − G(s))/g(r).
    reference
        r, the centre clipped to [s, t].
    """
    c = np.asarray(parent.centre)
    reference = np.minimum(np.maximum(c, s), t)
    below, above = t <= c, s >= c
    with np.errstate(all="ignore"):  # ends at infinity and densities that are infinite are settled here
        shape = np.broadcast_shapes(s.shape, t.shape, c.shape)
        from_low = _ratio(parent, "lower_ratio", np.minimum(s, c), ~above, shape)
        from_low = from_low * np.exp(
            parent.log_density_ratio(np.minimum(s, c), reference, np.where(below, -step, s - c))
        )
        from_low = np.where(above | ~(from_low > 0), 0.0, from_low)
        to_high = _ratio(parent, "upper_ratio", np.maximum(t, c), ~below, shape)
        to_high = to_high * np.exp(parent.log_density_ratio(np.maximum(t, c), reference, np.where(above, step, t - c)))
        to_high = np.where(below | ~(to_high > 0), 0.0, to_high)
        to_reference = _ratio(parent, "lower_ratio", np.minimum(t, c), ~above, shape)
        from_reference = _ratio(parent, "upper_ratio", np.maximum(s, c), ~below, shape)
        head = np.where(below, to_reference, np.where(above, from_reference, to_reference + from_reference))
        mass = np.array(head - from_low - to_high)
        near = ~(mass > CANCELLED * head) & (step < np.inf)
        if np.any(near):
            s, t, step, r = (np.broadcast_to(array, mass.shape)[near] for array in (s, t, step, reference))
            mass[near] = parent.of_elements(mass.shape, near).nearby_mass(s, t, step, r)
    return mass, reference


def _ratio(parent: Parent, name: str, points: Floats, needed: Mask, shape: tuple[int, ...]) -> Floats:
    """Compute a Mills ratio where it is needed; 0 elsewhere."""
    found = np.zeros(shape)
    if points.size == 1 and parent.centre_is_common:
        if np.any(needed):
            found[np.broadcast_to(needed, shape)] = getattr(parent, name)(points.ravel())
        return found
    at = np.broadcast_to(needed, shape)
    if np.any(at):
        found[at] = getattr(parent.of_elements(shape, at), name)(np.broadcast_to(points, shape)[at])
    return found
