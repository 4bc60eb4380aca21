"""The best mechanism for finitely many types: OP1 as a linear program.

For owner i with types v_1 ≤ … ≤ v_m, of probabilities p_k, the variables are Q_k in [0, 1] and P_k,
the chance that she sells and what she expects to be paid where she reports type k. Nothing is
assumed of their form. Over all owners, with counts c_i,

    maximise  Σ c_i ε_i Σ_k p_k Q_k
    subject to  P_k − v_k Q_k ≥ P_j − v_k Q_j    for all types k, j   (eqn:IC)
                P_k − v_k Q_k ≥ 0                for all types k      (eqn:IR)
                Σ c_i Σ_k p_k P_k ≤ B                                 (eqn:BF)

The c_i alike owners of a row share one (Q, P): the mean of theirs is as good, as all constraints
are linear. Any interim Q can be had: owners' entries are bought one by one, and a coin decides
where 0 < Q < 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

from smqopt.errors import SolverError
from smqopt.mechanism.bounds._rounded_types import Types
from smqopt.numeric import BUDGET_MARGIN, ROUNDING, Floats


@dataclass(frozen=True, eq=False)
class BestMechanism:
    """The solver's answer, and what follows from it whatever the solver's accuracy."""

    allocation: tuple[Floats, ...]
    """Q_k of each owner, shape (m_i,), as the solver gave them."""
    payment: tuple[Floats, ...]
    """P_k of each owner, shape (m_i,), in currency, as the solver gave them."""
    value: float
    """Purchased privacy, as the solver gave it."""
    lower: float
    """What a mechanism buys that keeps all constraints, rounded down: the solver's, repaired."""
    upper: float
    """No mechanism buys more: the solver's multipliers, made into a bound that needs no accuracy of
    theirs, rounded up."""


def best_mechanism(
    owners: Sequence[Types], epsilon: Floats, counts: Floats, budget: float, *, every_pair: bool = True
) -> BestMechanism:
    """Solve the linear program with HiGHS.

    Parameters
    ----------
    owners
        Their types.
    epsilon
        Requirements ε_i, shape (n,).
    counts
        How many alike owners each stands for, shape (n,).
    budget
        B ≥ 0, in currency.
    every_pair
        Whether to state truth against every other type, or against the two neighbours only.
        Neighbours imply the rest, since the valuations are sorted (single crossing); both are here
        so that this can be tested.

    Raises
    ------
    SolverError
        If HiGHS gives no answer.
    """
    money = max((float(types.valuation[-1]) for types in owners), default=0.0) or 1.0
    unit = float(np.max(epsilon, initial=0.0)) or 1.0
    sizes = np.array([types.valuation.size for types in owners])
    allocation = np.repeat(epsilon / unit * counts, sizes) * np.concatenate([types.probability for types in owners])
    paying = np.repeat(counts, sizes) * np.concatenate([types.probability for types in owners])
    total = int(sizes.sum())
    truth = sparse.block_diag([_truth(types.valuation / money, every_pair=every_pair) for types in owners], "csr")
    order = _columns(sizes)
    rows = sparse.vstack(
        [truth[:, order], sparse.csr_matrix(np.concatenate([np.zeros(total), paying])[np.newaxis])], "csr"
    )
    limits = np.append(np.zeros(rows.shape[0] - 1), budget / money)
    gain = np.concatenate([allocation, np.zeros(total)])
    most = np.concatenate([np.ones(total), np.repeat([types.valuation[-1] / money for types in owners], sizes)])
    done = linprog(  # type: ignore[call-overload]  # its stubs take no sparse matrix
        -gain, A_ub=rows, b_ub=limits, bounds=np.column_stack([np.zeros(2 * total), most]), method="highs"
    )
    if done.x is None or done.status != 0:
        raise SolverError("the program over all mechanisms", f"HiGHS says: {done.message}", remedy="use fewer cells")
    Q, P = done.x[:total], done.x[total:]
    ends = np.cumsum(sizes)[:-1]
    return BestMechanism(
        allocation=tuple(np.split(Q, ends)),
        payment=tuple(np.split(P * money, ends)),
        value=float(gain @ done.x) * unit,
        lower=unit * _repair(owners, np.split(Q, ends), (gain[:total], paying), budget),
        upper=unit * _bound(gain, rows, limits, most, np.maximum(-done.ineqlin.marginals, 0.0)),
    )


def _truth(v: Floats, *, every_pair: bool) -> sparse.csr_matrix:
    """Return the rows of `eqn:IC` and `eqn:IR` of one owner, A (Q, P) ≤ 0."""
    m = v.size
    k, j = (grid.ravel() for grid in np.meshgrid(np.arange(m), np.arange(m), indexing="ij"))
    kept = (k != j) if every_pair else (np.abs(k - j) == 1)
    k, j = k[kept], j[kept]
    row = np.arange(k.size)
    last = k.size + np.arange(m)
    own = np.arange(m)
    entries = [
        (row, k, v[k]),
        (row, j, -v[k]),
        (row, m + k, -1.0),
        (row, m + j, 1.0),
        (last, own, v),
        (last, m + own, -1.0),
    ]
    rows, columns = (np.concatenate([entry[part] for entry in entries]) for part in (0, 1))
    value = np.concatenate([np.broadcast_to(entry[2], entry[0].shape) for entry in entries])
    return sparse.csr_matrix((value, (rows, columns)), shape=(k.size + m, 2 * m))


def _columns(sizes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return where (Q, P) of each owner stand, all Q first and then all P."""
    start = np.concatenate([[0], np.cumsum(2 * sizes)[:-1]])
    first = np.concatenate([begin + np.arange(m) for begin, m in zip(start.tolist(), sizes.tolist(), strict=True)])
    return np.concatenate([first, first + np.repeat(sizes, sizes)])


def _repair(owners: Sequence[Types], allocation: Sequence[Floats], sums: tuple[Floats, Floats], budget: float) -> float:
    """Make the answer a mechanism beyond doubt, and give what it buys.

    Q is made to fall from type to type, each type is paid the least that keeps truth and
    participation, and if that is more than the budget all is scaled down: truth and participation
    are kept by any share of a mechanism that keeps them.
    """
    gain, paying = sums
    Q = [np.minimum.accumulate(np.clip(found, 0.0, 1.0)) for found in allocation]
    spend = float(
        paying @ np.concatenate([_least_payments(types.valuation, q) for types, q in zip(owners, Q, strict=True)])
    )
    share = min(1.0, budget / spend * (1.0 - BUDGET_MARGIN.value)) if spend > 0 else 1.0
    return share * float(gain @ np.concatenate(Q)) * (1.0 - ROUNDING.value)


def _least_payments(v: Floats, Q: Floats) -> Floats:
    """Return the least payments that keep truth and participation for falling Q.

    P_m = v_m Q_m, P_k = P_{k+1} + v_k (Q_k − Q_{k+1}).
    """
    steps = v * (Q - np.append(Q[1:], 0.0))
    return np.asarray(np.cumsum(steps[::-1])[::-1])


def _bound(gain: Floats, rows: sparse.csr_matrix, limits: Floats, most: Floats, y: Floats) -> float:
    """Bound the program from above by multipliers y ≥ 0 of any accuracy.

    y·b + Σ_j max(0, (c − Aᵀy)_j) u_j, with u the bounds of the variables.

    The idea is that of Neumaier and Shcherbina (2004). That P_k may be held to v_m is shown in
    `mechanism_bounds`.
    """
    reduced = gain - rows.T @ y
    size = np.abs(gain) + abs(rows).T @ y
    terms = np.maximum(reduced, 0.0) * most
    allowance = ROUNDING.value * (float(y @ limits) + float(size @ most))
    return float(y @ limits) + float(terms.sum()) + allowance
