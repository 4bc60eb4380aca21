"""Solve, verify, save, load, and verify what was loaded."""

import numpy as np

import smqopt as smq


def solved_and_loaded(law, folder, n=12, share=0.3):
    """Give the certificate that was read back, after checking that the solution that was read back is the same and certifies too."""
    epsilon = np.random.default_rng(3).uniform(0, 1, n)
    market = smq.Market(epsilon, law)
    solution = smq.solve(market, share * market.most_that_can_be_spent)
    certificate = smq.verify(solution)
    assert certificate.valid, certificate.reasons
    solution.save(folder)
    certificate.save(folder / "certificate.json")
    again = smq.Solution.load(folder)
    assert again.market.fingerprint == market.fingerprint
    assert again.thresholds.tolist() == solution.thresholds.tolist()
    assert smq.verify(again).valid
    return smq.Certificate.load(folder / "certificate.json", thresholds=folder / "thresholds.csv")
