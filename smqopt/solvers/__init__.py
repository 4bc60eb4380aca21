"""Routes to thresholds: the price search and the conic program."""

from typing import TYPE_CHECKING

from smqopt._door import open_door

if TYPE_CHECKING:
    from smqopt.solvers._solve import solve as solve
    from smqopt.solvers.price_search._response import OwnerPart as OwnerPart, answers as answers, parts_of as parts_of
    from smqopt.solvers.price_search._tied_owners import tied_pieces as tied_pieces
    from smqopt.solvers.structured._structured_solver import StructuredSolver as StructuredSolver
else:
    __getattr__, __dir__, __all__ = open_door(__name__, __file__)
