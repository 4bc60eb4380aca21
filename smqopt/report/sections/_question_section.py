"""The question that was asked of the market, as a section."""

from __future__ import annotations

import numpy as np

from smqopt.document import Section
from smqopt.report._question_record import QuestionAnswered
from smqopt.report._thinning import thin

_ROWS = 25


def question_section(question: QuestionAnswered) -> Section:
    """Return the question, and its answer; of a long table some rows."""
    rows = thin(np.arange(len(question.rows), dtype=np.float64), _ROWS).tolist()
    return Section(
        "question",
        "The question",
        "question.html",
        {"words": question.words, "header": question.header, "rows": [question.rows[row] for row in rows]},
    )
