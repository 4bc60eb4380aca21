"""What a market that lies in parts offers to the five verbs.

`smq.solve`, `smq.verify`, `smq.procure` and `smq.answer` hand such records over to themselves, so
that no layer needs to know the one above it; `smqopt.scale` fills them in.
"""

from __future__ import annotations

import abc
from typing import Any


class MarketInParts(abc.ABC):
    """A market whose owners are not in memory."""

    @abc.abstractmethod
    def solve(self, budget: float, **options: Any) -> SolutionInParts:
        """Find thresholds; arguments as for `smq.solve`."""


class SolutionInParts(abc.ABC):
    """Thresholds that lie on disk."""

    @abc.abstractmethod
    def verify(self, **options: Any) -> CertificateInParts:
        """Check them; arguments as for `smq.verify`."""


class CertificateInParts(abc.ABC):
    """What was found when they were verified."""

    @abc.abstractmethod
    def procure(self, reported_valuations: Any, **options: Any) -> OutcomeInParts:
        """Buy; arguments as for `smq.procure`."""


class OutcomeInParts(abc.ABC):
    """Who was bought, on disk."""

    @abc.abstractmethod
    def answer(self, query: Any, data: Any, **options: Any) -> Any:
        """Answer a query on the bought entries; arguments as for `smq.answer`."""
