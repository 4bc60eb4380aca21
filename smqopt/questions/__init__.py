"""Questions a broker asks of a market: the frontier, the least budget, sensitivities, what another law would do, and what will be paid."""
