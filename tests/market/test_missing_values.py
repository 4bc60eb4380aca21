"""No door takes what is masked or missing: NumPy would drop the mask, and bring to light what it hid."""

import numpy as np
import pytest

import smqopt as smq
from smqopt.numeric import plain_array


class NAType:
    """As pandas' NA, which need not be installed."""


MARKET = smq.Market([1.0, 1.0, 1.0], smq.Uniform(0, 1))
CERTIFICATE = smq.verify(smq.solve(MARKET, 9.0))
OUTCOME = smq.procure(CERTIFICATE, [0.1, 0.2, 0.3])
MASKED = np.ma.masked_equal([0.2, 999.0, 1.0], 999.0)
WHOLE = np.ma.masked_equal([1, 999, 0], 999)
BAD = {
    "mask": MASKED,
    "mask of whole numbers": WHOLE,
    "a list with a mask": [0.2, np.ma.masked, 1.0],
    "None": [0.2, None, 1.0],
    "NA": [0.2, NAType(), 1.0],
    "an array of objects": np.array([1, None, 0], dtype=object),
    "NaT": np.array([1, type("NaTType", (), {})(), 0], dtype=object),
}
DOORS = {
    "epsilon": lambda x: smq.Market(x, smq.Uniform(0, 1)),
    "multiplicity": lambda x: smq.Market([1.0, 1.0, 1.0], smq.Uniform(0, 1), multiplicity=x),
    "parameter": lambda x: smq.Uniform(0, x),
    "power": smq.Power,
    "reports": lambda x: smq.procure(CERTIFICATE, x),
    "data": lambda x: smq.answer(smq.Sum(0, 1), x, OUTCOME, np.random.default_rng(1)),
    "data by group": lambda x: smq.answer_by_group(smq.Count(), x, OUTCOME, "abc", np.random.default_rng(1)),
    "weights": lambda x: smq.WeightedSum(x, 0, 1),
    "edges": smq.Histogram,
    "alphabet": lambda x: smq.OwnQuery("one's own", x, [1, 2], lambda entry, candidate: float(entry != candidate)),
    "budgets": lambda x: smq.frontier(MARKET, x),
    "prior": lambda x: smq.EntryPrior(x, [1, 1, 1]),
    "audit": lambda x: smq.audit_query(smq.Count(), x, [0, 1]),
    "discrete": lambda x: smq.Discrete([1, 2, 3], x),
    "pieces": lambda x: smq.PiecewiseUniform([0, 1, 2, 3], x),
    "samples": smq.from_samples,
    "cdf": smq.Uniform(0, 1).cdf,
    "quantile": smq.Beta(2, 3).ppf,
    "virtual cost": smq.Power(2).virtual_cost,
    "mixture": lambda x: smq.Mixture([smq.Uniform(0, 1), smq.Uniform(0, 2), smq.Uniform(0, 3)], x),
}


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("door", DOORS)
def test_what_is_not_there_is_refused(door, bad):
    with pytest.raises(smq.InputError) as caught:
        DOORS[door](BAD[bad])
    assert "999" not in str(caught.value)


@pytest.mark.parametrize("bad", [["x"], "x", [1j], [b"1"], object(), np.array([1, "y"], dtype=object)])
def test_a_law_is_asked_at_numbers(bad):
    with pytest.raises(smq.InputError, match=r"argument 't'.* must be numbers"):
        smq.Uniform(0, 1).cdf(bad)


def test_a_ledger_takes_no_mask(tmp_path):
    for bad in BAD.values():
        with pytest.raises(smq.InputError):
            smq.Ledger(tmp_path / "ledger.txt").charge(["ann", "bo", "cy"], bad)
    assert not (tmp_path / "ledger.txt").exists()


@pytest.mark.parametrize("bad", BAD)
def test_an_owner_whose_report_is_not_there_may_take_no_part(bad):
    outcome = smq.procure(CERTIFICATE, BAD[bad], missing="absent")
    assert outcome.owner_ids == ("1", "3")
    assert outcome.selected.all()


def test_a_mask_that_hides_nothing_and_objects_that_are_numbers_are_taken():
    free = np.ma.array([0.25, 0.5], mask=[False, False])
    assert smq.Market(free, smq.Uniform(0, 1)).epsilon.tolist() == [0.25, 0.5]
    assert plain_array(np.array([1, 2.5, np.float32(3)], dtype=object), "x").tolist() == [1.0, 2.5, 3.0]
    assert plain_array(["a", "b"], "x").tolist() == ["a", "b"]
