"""The exact law of the answer: for simulations alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from smqopt.document import Section, shown
from smqopt.report._figures import output_law_figure

if TYPE_CHECKING:
    from smqopt.query import Answer


def output_law_section(law: tuple[NDArray[np.float64], NDArray[np.float64]], answer: Answer) -> Section:
    """Draw the exact law that the answer was drawn from."""
    values, probabilities = law
    return Section(
        "output-law",
        "The exact distribution of the answer",
        "output_law.html",
        {
            "figure": output_law_figure(values, probabilities, float(np.ravel(answer.value)[0])),
            "values": shown(int(values.size)),
            "most_likely": shown(float(values[int(np.argmax(probabilities))])),
        },
    )
