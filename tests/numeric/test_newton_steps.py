"""Newton steps: equations of any units, and none at all."""

import numpy as np
import pytest
from scipy import sparse

from smqopt.numeric import newton_steps


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e9])
def test_units_of_equations_do_not_count(unit):
    """x² = 2 and unit · (x y − 1) = 0; from a start where the second one rises at first."""

    def residual(v):
        return np.array([v[0] ** 2 - 2.0, unit * (v[0] * v[1] - 1.0)])

    def jacobian(v, _r):
        return sparse.csc_array(np.array([[2 * v[0], 0.0], [unit * v[1], unit * v[0]]]))

    found = newton_steps(residual, np.array([3.0, 1.0 / 3.0]), jacobian)
    np.testing.assert_allclose(found, [2**0.5, 0.5**0.5], rtol=1e-12)


def test_no_equations_leave_nothing_to_do():
    found = newton_steps(lambda v: v, np.zeros(0), lambda _v, _r: sparse.csc_array((0, 0)))
    assert found.size == 0
