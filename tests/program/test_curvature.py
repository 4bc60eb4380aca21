"""Mistakes in convexity that users make, each explained: which term, why, and what to write instead."""

import cvxpy as cp
import numpy as np
import pytest

import smqopt as smq
from smqopt.errors import InputError
from smqopt.program import require_convex
from smqopt.program.dcp._hints import instead_of

INDEFINITE = np.array([[1.0, 2.0], [2.0, 1.0]])
MISTAKES = {
    "payment as a product": (lambda q, b: cp.multiply(q, b)[0] <= 1, r"acceptance \* spend.* product of two", "is `spend` itself"),
    "an inner product": (lambda q, b: q @ b <= 1, "acceptance @ spend.* product of two", "is `spend` itself"),
    "a price as a quotient": (lambda q, b: b[0] / q[0] <= 1, "divides by what varies", r"spend <= p \* acceptance"),
    "a price as a power": (lambda q, b: cp.multiply(b, cp.power(q, -1)) <= 1, "product of two", "is `spend` itself"),
    "convex and concave in a sum": (lambda q, b: cp.sum(cp.square(q) + cp.sqrt(b)) <= 1, "mixes convex and concave", "split it"),
    "an equation of squares": (lambda q, _: cp.sum_squares(q) == 0.5, "in an equation all must be affine", "write an inequality"),
    "a floor on a square": (lambda q, _: cp.square(q[0]) >= 0.25, "is convex, and stands where a concave", r"x \*\* 2 >= c is x >= c \*\* 0.5"),
    "a ceiling on a root": (lambda q, _: cp.sqrt(q[0]) <= 0.5, "is concave, and stands where a convex", r"x \*\* 0.5 <= c is x <= c \*\* 2"),
    "a floor on an inverse": (lambda q, _: cp.inv_pos(q[0]) >= 2, "is convex", r"x \*\* -1 >= c is x <= c \*\* \(-1\)"),
    "a ceiling on roots": (lambda q, _: cp.sum(cp.sqrt(q)) <= 0.5, "is concave", "bound cp.sum of what is under it"),
    "a ceiling on a logarithm": (lambda q, _: cp.log(q[0]) <= -1, "is concave", r"log\(x\) <= c is x <= exp\(c\)"),
    "a distance of at least": (lambda q, _: cp.abs(q[0] - q[1]) >= 0.1, "is convex", "say which side is the larger"),
    "a largest of at least": (lambda q, _: cp.max(q) >= 0.4, "is convex", "say which entry is to be that large"),
    "a smallest of at most": (lambda q, _: cp.min(q) <= 0.1, "is concave", "say which entry is to be that small"),
    "a norm of at least": (lambda q, _: cp.norm(q) >= 0.5, "is convex", "bound cp.sum of the entries from below"),
    "with the sign turned": (lambda q, _: -cp.norm1(q) <= -0.5, "is concave", "cp.sum, which is affine"),
    "an indefinite form": (lambda q, _: cp.quad_form(q, INDEFINITE) <= 1, "eigenvalues of both signs", "without negative eigenvalues"),
    "whole numbers": (lambda q, _: q[0] <= cp.Variable(boolean=True, name="in"), "'in', which may only be whole", "PriceMenu"),
    "no comparison": (lambda q, _: cp.sum(q), "is the expression 'Sum.*compares nothing", "write a comparison"),
    "numbers in place of variables": (lambda *_: np.array([0.1, 0.2]) <= 0.5, "is no cvxpy constraint", "compare program.acceptance"),
}  # fmt: skip


@pytest.mark.parametrize(("constraint", "why", "remedy"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_explained(constraint, why, remedy):
    program = smq.Program(smq.Market([0.5, 1.0], smq.Beta(2, 3)), 0.1)
    program.constraints += [constraint(program.acceptance, program.spend)]
    with pytest.raises(InputError, match=why) as caught:
        smq.solve(program)
    assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match=remedy):
        smq.solve(program, solver="conic")


def test_what_is_right_passes():
    q = cp.Variable(2, name="acceptance")
    for constraint in (cp.sum_squares(q) <= 1, cp.sqrt(q) >= 0.5, q[0] == q[1], cp.SOC(1.0, q), True, np.True_):
        require_convex(constraint)


@pytest.mark.parametrize("p", [0.25, 0.5, 1.5, 3.0, -0.5, -2.0])
def test_a_reworded_power_says_the_same(p):
    """x ** p on the wrong side of c, and what is proposed, hold for the same x."""
    words = instead_of(cp.power(cp.Variable(), p))
    here, there = words.removesuffix(", where x is not negative").split(" is ")
    for c in (0.3, 1.0, 2.5):
        for x in (0.01, 0.2, 0.9, 1.0, 1.7, 40.0):
            values = {"x": x, "c": c}
            assert eval(here, {}, values) == eval(there, {}, values) or abs(x**p - c) < 0.05 * c  # noqa: S307 -- a test's own text
