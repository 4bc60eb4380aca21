from types import SimpleNamespace

import pytest

from smqopt.report.sections._answer_section import answer_in_words


@pytest.mark.parametrize(
    ("value", "half_width", "words"),
    [
        (7774.388687, 423.0068, ("7,774", "424")),
        (7774.388687, 4.230068, ("7,774.39", "4.24")),
        (0.0, 5.0, ("0", "5")),
        (22, 4, ("22", "4")),
        (123_456_789, 23, ("123,456,789", "23")),
        (32561 / 3, 32561.0, ("10,900", "32,600")),
        (10853.666666666666, 0.0, ("10,853.6666666667", "0")),
    ],
)
def test_an_answer_is_written_to_a_hundredth_of_its_noise(value, half_width, words):
    answer = SimpleNamespace(value=value, noise_half_width=lambda _: half_width)
    assert answer_in_words(answer) == words
