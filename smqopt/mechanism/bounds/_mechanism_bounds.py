"""Theorem 1 against every mechanism: bounds on OP1 from both sides.

Let V be the most that any mechanism buys (`OP1`): all interim rules Q_i, P_i of the reported
valuation that keep `eqn:IC`, `eqn:IR` and `eqn:BF`. Round every valuation to an end of its cell
(`rounded_types`); the rounded owners have finitely many types, so that the best of all mechanisms
for them is a linear program (`every_mechanism`). Then

    V(rounded up) ≤ V ≤ V(rounded down).

*Least payments.* Write two constraints of `eqn:IC` for types v_k < v_j and add them: (v_j −
v_k)(Q_k − Q_j) ≥ 0, so Q falls. For any falling Q let P′_m = v_m Q_m and P′_k = P′_{k+1} + v_k (Q_k
− Q_{k+1}). With P′ each type is indifferent to the next, hence prefers truth to all others, and its
utility is ≥ 0. And no payments with `eqn:IR` for the last type and `eqn:IC` of each type against
the next are lower, by induction from m down. P′ ≤ v_m. (a)

*V ≤ V(rounded down).* Take any mechanism for the law. Give type k, of valuation t_{k−1}, the means
Q̄_k and P̄_k of Q and P over cell k. Purchases and spend are the same. Q̄ falls. Type k against a
later type j: the mean over cell k of `eqn:IC` against (Q̄_j, P̄_j), which is a mixture of reports,
gives P̄_k − t_{k−1} Q̄_k ≥ P̄_j − t_{k−1} Q̄_j + mean of (θ − t_{k−1})(Q(θ) − Q̄_j), and the last
is ≥ 0 as Q falls. Likewise P̄_m ≥ t_{m−1} Q̄_m. So by (a) the payments P′ for Q̄ are no higher than
P̄, and with them it is a mechanism for the rounded owners.

*V(rounded up) ≤ V.* Take any mechanism for the rounded owners, with payments P′ by (a). Let each
owner be treated as her cell's type. Purchases and spend are the same. For θ in (t_{k−1}, t_k]: her
utility is at least that of type t_k, so ≥ 0. To treat her as a later type j would gain P_j − P_k +
θ (Q_k − Q_j) ≤ 0, as it gains type t_k nothing and θ ≤ t_k; to treat her as an earlier type j would
gain Σ over l from j to k−1 of (t_l − θ)(Q_l − Q_{l+1}) ≤ 0, as θ > t_l. (b)

*Rounded cdfs.* By (a) a falling Q costs Σ_k F_k v_k (Q_k − Q_{k+1}), F_k being the chance of types
up to k: summation by parts. In quantiles, where purchases do not depend on the law, it is the
dearer the lower F is. So V does not rise where F falls, and F(t_k) is taken from below in the lower
program and from above in the upper one, by the largest error that a certificate allows a cdf
(`ACCEPTANCE`).

Nothing here asks for a density or for regularity, and lotteries are mechanisms like others. The two
programs differ by a shift of all valuations by at most a cell, so the bounds close as 1/cells. Each
bound is then freed of the solver's accuracy: the lower one is what a repaired mechanism buys, the
upper one comes from multipliers of any accuracy.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from smqopt.errors import InputError, check_kind
from smqopt.market import Market, checked_budget
from smqopt.mechanism.bounds._every_mechanism import BestMechanism, best_mechanism
from smqopt.mechanism.bounds._rounded_types import Types, cell_edges, rounded_down, rounded_up
from smqopt.numeric import Floats

MOST_ROWS = 1_000_000
"""Rows of the linear program beyond which it is refused: it is meant for small markets."""


@dataclass(frozen=True, eq=False)
class MechanismBounds:
    """What the best of all mechanisms buys lies between these two, in units of ε.

    Examples
    --------
    >>> import smqopt as smq
    >>> market = smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1))
    >>> found = smq.mechanism_bounds(market, 0.5)
    >>> found.lower <= smq.solve(market, 0.5).purchased_privacy <= found.upper
    True
    """

    market: Market
    budget: float
    """B, in currency."""
    cells: int
    """How many cells each support was cut into."""
    lower: float
    """Some mechanism buys this much; rounded down."""
    upper: float
    """No mechanism buys more than this; rounded up."""
    types: tuple[Types, ...] = field(repr=False)
    """The types of each row's owner with valuations rounded up."""
    allocation: tuple[Floats, ...] = field(repr=False)
    """Q of these types in the best mechanism that was found, shape (m_i,) for each row: that it
    steps from 1 to 0 is found, not assumed."""
    payment: tuple[Floats, ...] = field(repr=False)
    """P of these types, shape (m_i,) for each row, in currency."""

    @property
    def gap(self) -> float:
        """(upper − lower)/upper; 0 where both are 0."""
        return (self.upper - self.lower) / self.upper if self.upper > 0 else 0.0

    def holds(self, purchased_privacy: float) -> bool:
        """Whether an optimum that is claimed lies between the bounds."""
        return self.lower <= purchased_privacy <= self.upper


def mechanism_bounds(market: Market, budget: float, *, cells: int = 32, incentives: str = "all") -> MechanismBounds:
    """Bound what any mechanism can buy (OP1), by two linear programs.

    The programs know no thresholds, no virtual cost and no regularity: that the optimum of OP2 lies
    between the bounds is evidence for Theorem 1 that rests on nothing it rests on. For laws that
    are not regular OP2 needs its lotteries for that (errata E17).

    Parameters
    ----------
    market
        Few owners: the program has about n · cells² rows.
    budget
        B ≥ 0, in currency.
    cells
        m ≥ 1, the number of cells that each support is cut into. The bounds close as 1/m.
    incentives
        "all": truth against every other type is a constraint. "neighbours": against the two next
        types, which implies the rest, with n · 3 m rows.

    Raises
    ------
    InputError
        If the budget is bad, `cells` is not a whole number ≥ 1, `incentives` is another word, or
        the program would be too large.
    SolverError
        If the linear program is not solved.

    Examples
    --------
    >>> import smqopt as smq
    >>> market = smq.Market([0.5, 1.0], smq.Uniform(0, 1))
    >>> bounds = mechanism_bounds(market, 0.4, cells=40)
    >>> bounds.holds(smq.solve(market, 0.4).purchased_privacy), bounds.gap < 0.05
    (True, True)
    """
    check_kind(market, Market, "mechanism_bounds: argument 'market'", "a Market", "make one of requirements and a law")
    asked = checked_budget(budget, "mechanism_bounds: argument 'budget'")
    if isinstance(cells, bool) or not isinstance(cells, (int, np.integer)) or cells < 1:
        raise InputError(
            "mechanism_bounds: argument 'cells'", "must be a whole number ≥ 1", value=cells, remedy="use, say, 32"
        )
    if incentives not in ("all", "neighbours"):
        raise InputError(
            "mechanism_bounds: argument 'incentives'",
            "must be 'all' or 'neighbours'",
            value=incentives,
            remedy="use 'all' for small markets",
        )
    every_pair = incentives == "all"
    rows = market.n * cells * (cells if every_pair else 3)
    if rows > MOST_ROWS:
        raise InputError(
            "mechanism_bounds",
            f"the linear program must have at most {MOST_ROWS} rows",
            value=rows,
            remedy="use fewer cells or owners, or incentives='neighbours'",
        )
    edges = cell_edges(market, int(cells))
    up, down = (tuple(rounded(*pair) for pair in edges) for rounded in (rounded_up, rounded_down))
    counts = market.weights

    def best(types: tuple[Types, ...]) -> BestMechanism:
        return best_mechanism(types, market.epsilon, counts, asked, every_pair=every_pair)

    dear = best(up)
    return MechanismBounds(
        market=market,
        budget=asked,
        cells=int(cells),
        lower=dear.lower,
        upper=best(down).upper,
        types=up,
        allocation=dear.allocation,
        payment=dear.payment,
    )
