"""Profiles as vectors: the cosine computed from vectors written out."""

from __future__ import annotations

import numpy as np
import pytest

from smqopt.paper.data_sets._profiles import Categories, Numbers, Sparse, weights_to_last

NUMBERS = np.array([2.0, np.nan, 6.0, 4.0])
WORDS = np.array(["a", "b", "?", "a"])
OWNER, ATTRIBUTE, VALUE = np.array([0, 1, 1, 3, 3]), np.array([0, 0, 2, 1, 2]), np.array([0.5, 1.0, 0.25, 0.75, 1.0])


def vectors():
    numbers = np.array([[0.0], [0.0], [1.0], [0.5]])
    words = np.array([[1, 0], [0, 1], [0, 0], [1, 0]])
    table = np.zeros((4, 3))
    table[OWNER, ATTRIBUTE] = VALUE
    return np.hstack([numbers, words, table])


def test_weights_are_cosines_of_the_vectors_written_out():
    y = vectors()
    expected = [(row @ y[-1]) / (np.linalg.norm(row) * np.linalg.norm(y[-1])) for row in y[:-1]]
    attributes = [
        Numbers("n", NUMBERS),
        Categories("c", WORDS, frozenset(["?"])),
        Sparse("s", 4, OWNER, ATTRIBUTE, VALUE),
        Numbers("constant", np.full(4, 3.0)),
        Numbers("nowhere", np.full(4, np.nan)),
    ]
    assert weights_to_last(attributes) == pytest.approx(np.array(expected))


def test_an_empty_profile_weighs_nothing():
    words = Categories("c", np.array(["?", "a", "a"]), frozenset(["?"]))
    assert weights_to_last([words]).tolist() == [0.0, 1.0]
    assert weights_to_last([Categories("c", np.array(["a", "?"]), frozenset(["?"]))]).tolist() == [0.0]


def test_nobody_is_more_alike_than_the_same():
    rng = np.random.default_rng(0)
    column = rng.random(50)
    column[0] = column[-1]
    weights = weights_to_last([Numbers("a", column), Numbers("b", column**2)])
    assert weights.max() <= 1.0
    assert weights[0] == pytest.approx(1.0)
