"""A law of samples with heaps, cut."""

import numpy as np
import pytest

import smqopt as smq


def test_a_cut_of_a_law_of_samples_is_that_of_its_parts():
    law = smq.from_samples([0.1, 0.5, 0.9] + [0.2] * 30)
    cut, theta = smq.Truncated(law, 0.15, 0.8), np.array([0.15, 0.2, 0.3, 0.5, 0.8])
    below = law.cdf(np.nextafter(0.15, 0))
    assert cut.cdf(theta) == pytest.approx((law.cdf(theta) - below) / (law.cdf(0.8) - below), rel=1e-12)
    assert smq.verify(smq.solve(smq.Market([0.3, 0.6], cut), 0.2)).valid


def test_a_cut_histogram_of_samples_is_proved_as_histograms_are():
    cut = smq.Truncated(smq.from_samples([0.1, 0.2, 0.5, 0.9, 1.3]), 0.15, 0.8)
    certificate = smq.verify(smq.solve(smq.Market([0.3, 0.6], cut), 0.2))
    assert (certificate.grade, certificate.valid) == ("proved", True)
