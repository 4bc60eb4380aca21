"""OP2 as a cvxpy program, to solve as it stands or to extend."""

from typing import TYPE_CHECKING

from smqopt._door import open_door

if TYPE_CHECKING:
    from smqopt.program._extensions import Entry as Entry
    from smqopt.program._linear_rows import (
        FLOOR_ON_SPEND as FLOOR_ON_SPEND,
        LinearConstraint as LinearConstraint,
    )
    from smqopt.program._program import Program as Program
    from smqopt.program.dcp._affine import dense as dense
    from smqopt.program.dcp._curvature import require_convex as require_convex
    from smqopt.program.dcp._wording import shortened_text as shortened_text, words_of as words_of
    from smqopt.program.scaling._normalised import NormalisedProblem as NormalisedProblem
else:
    __getattr__, __dir__, __all__ = open_door(__name__, __file__)
