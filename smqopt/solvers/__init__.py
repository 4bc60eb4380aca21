"""Routes to thresholds: the price search and the conic program."""

from typing import TYPE_CHECKING

from smqopt._door import open_door

if TYPE_CHECKING:
    from smqopt.solvers._solve import solve as solve
    from smqopt.solvers.price_search._bracketing import CLOSE as CLOSE, search as search
    from smqopt.solvers.price_search._response import Part as Part, answers as answers, parts_of as parts_of
    from smqopt.solvers.structured._pooled_search import solve_pooled as solve_pooled, spend_on_all as spend_on_all
    from smqopt.solvers.structured._structured_route import solve_statement as solve_statement
else:
    __getattr__, __dir__, __all__ = open_door(__name__, __file__)
