"""Figures known from other trials of the same experiments."""

from __future__ import annotations

from dataclasses import dataclass

from smqopt.document import shown
from smqopt.paper.claims._setups import PAPER_SHARES, SMQ_PRINTED
from smqopt.paper.experiments._grid import CORRELATIONS
from smqopt.paper.experiments._summary import Results

CLOSE = 0.1
"""Sizes from 15 to 300 trials are taken as known to within so much, relative."""
ERRORS = 3.0
"""And figures found here to within so many standard errors."""


@dataclass(frozen=True)
class Size:
    """One figure, known and found."""

    words: str
    known: tuple[float, float]
    """Between these."""
    found: tuple[float, float]
    """From the least to the largest where there are several."""
    error: float = 0.0
    """The standard error of one."""

    @property
    def agrees(self) -> bool:
        """Whether what is found lies within what is known, with both allowances."""
        low, high = self.known
        return self.found[0] + ERRORS * self.error >= low * (1 - CLOSE) and self.found[
            1
        ] - ERRORS * self.error <= high * (1 + CLOSE)

    @property
    def row(self) -> tuple[str, str, str, str]:
        """Cells of a table."""
        verdict = "agrees" if self.agrees else "differs"
        error = f" ± {shown(self.error, 2)}" if self.error else ""
        return self.words, _span(self.known), _span(self.found) + error, verdict


def sizes(results: Results) -> tuple[Size, ...]:
    """Compare."""
    smq = results.setup("adult", "count", 0.0, 0.3, SMQ_PRINTED)
    rows = [
        Size("Adult count, ρ = 0, B = 0.3 θ̄n: RMSE of SMQ", (113.0, 113.0), (smq.rmse,) * 2, smq.rmse_error),
        Size("of that, sampling", (84.0, 84.0), (smq.sampling_rmse,) * 2, smq.rmse_error),
        Size("of that, noise", (76.0, 76.0), (smq.noise_rmse,) * 2, smq.rmse_error),
        Size("owners SMQ buys", (15_450.0, 15_450.0), (smq.bought,) * 2),
    ]
    for name, words, known in (
        ("fq-printed-scale", "RMSE of FQ, printed rule, noise by scale", 28_700.0),
        ("fq-original-scale", "RMSE of FQ, original rule, noise by scale", 350.0),
    ):
        found = results.setup("adult", "count", 0.0, 0.3, name)
        rows.append(Size(words, (known, known), (found.rmse,) * 2, found.rmse_error))
    for rho, known in ((-0.5, 1.32), (-1.0, 1.60)):
        spend = results.setup("adult", "count", rho, 0.1, SMQ_PRINTED).spend
        rows.append(
            Size(f"payments/B, marginal law, B = 0.1 θ̄n, ρ = {rho:g}".replace("-", "−"), (known, known), (spend,) * 2)
        )
    kwh = [results.setup("recs", "median", rho, share, SMQ_PRINTED) for rho in CORRELATIONS for share in PAPER_SHARES]
    errors = [setup.rmse for setup in kwh]
    rows.append(
        Size(
            "RECS median: RMSE of SMQ in kWh, B = 0.1 to 0.9 θ̄n, all ρ",
            (60.0, 170.0),
            (min(errors), max(errors)),
            max(setup.rmse_error for setup in kwh),
        )
    )
    return tuple(rows)


def _span(ends: tuple[float, float]) -> str:
    low, high = (shown(end, 4) for end in ends)
    return low if low == high else f"{low} to {high}"
