"""What is called a cdf: proved over the whole support, refuted with a point, or left undecided."""

import random

import mpmath
import numpy as np
import pytest

import smqopt as smq
from smqopt.valuation import CopulaConditional, Valuation

CDFS = {
    "theta**2*(3-2*theta)": {},
    "theta**a": {"a": [0.3, 1.5, 2.5, 7.0]},
    "p*log(1+theta)/log(2)+(1-p)*theta": {"p": 0.4},
    "theta*(1-log(theta))": {},
    "1-(1-theta**a)**b": {"a": 2.5, "b": 0.7},
    "(exp(theta**2)-1)/(exp(1)-1)": {},
    "theta-sin(2*pi*theta)/(2*pi)": {},
}


@pytest.mark.parametrize("text", CDFS)
def test_a_sound_formula_is_proved(text):
    verdict = smq.from_cdf(text, 0, 1, **CDFS[text]).is_proved_cdf()
    assert verdict.is_proved
    assert verdict.method.startswith("f ≥ 0")


@pytest.mark.parametrize("width", [1e-3, 1e-5, 1e-7])
def test_a_bump_between_the_points_of_a_grid_is_refused(width):
    rate = 1 / width
    with pytest.raises(smq.InputError, match="must not fall"):
        smq.from_cdf("theta**2+c*exp(-(r*(theta-0.3))**2)", 0, 1, c=0.5, r=rate)


def test_every_row_of_an_array_is_looked_at():
    c = np.full(40, 0.0)
    smq.from_cdf("theta+c*exp(-(1000*(theta-0.3))**2)", 0, 1, c=c)
    c[23] = 0.25
    with pytest.raises(smq.InputError, match="of owner 24: must not fall"):
        smq.from_cdf("theta+c*exp(-(1000*(theta-0.3))**2)", 0, 1, c=c)


def test_a_jump_down_is_not_proved_whatever_the_slope():
    """The slope of atan(−1/x) is 1/(1 + x²) wherever there is one, and yet it falls by π at 0."""
    text = "theta - c*(atan(1/(s*(theta-t))) - atan(1/(s*(1-t)))*theta + (1-theta)*atan(1/(s*t)))/10**9"
    law = smq.from_cdf(text, 0, 1, c=0.1, s=1.0, t=0.3)
    assert law.is_proved_cdf().holds is None
    assert "continuous" in law.is_proved_cdf().method


def test_laws_answer_by_their_parts():
    class Outside(Valuation):
        low, high = 0.0, 1.0

        def cdf(self, t):
            return np.clip(t, 0.0, 1.0)

        def pdf(self, t):
            return np.where((np.asarray(t) >= 0) & (np.asarray(t) <= 1), 1.0, 0.0)

    jump = smq.from_cdf("theta+sin(2*pi*theta)/(2*pi)", 0, 1)  # f = 0 at 1/2, a double root that balls do not settle
    assert jump.is_proved_cdf().holds is None
    for part in (jump, Outside()):
        for law in (
            smq.Mixture([smq.Uniform(0, 1), part], [0.5, 0.5]),
            smq.Truncated(part, 0.1, 0.7),
            CopulaConditional(part, 0.3, 0.5),
            part.scaled(2.0),
        ):
            assert law.is_proved_cdf().holds is None
        assert smq.ByOwner([smq.Uniform(0, 1), part]).is_proved_cdf().owner == 1
    assert smq.Mixture([smq.Uniform(0, 1), smq.Beta(2, 3)], [0.5, 0.5]).is_proved_cdf().is_proved


@pytest.mark.parametrize("seed", range(6))
def test_no_formula_that_falls_is_proved(seed):
    """Sums of a rising law and bumps of random place, height and width: refused or undecided where mpmath sees a fall."""
    draw = random.Random(seed)  # noqa: S311
    for _ in range(10):
        width, place = 10 ** draw.uniform(-6, -0.5), draw.uniform(0.05, 0.95)
        height = 10 ** draw.uniform(-8, 0)
        k = draw.choice([1, 2, 3])
        text = "((theta**k)+h*exp(-((theta-m)/w)**2)-z)/(1+o-z)"
        zero, one = (float(height * mpmath.exp(-(((t - place) / width) ** 2))) for t in (0.0, 1.0))
        given = {"k": float(k), "h": height, "m": place, "w": width, "z": zero, "o": one}
        points = [place + width * j / 16 for j in range(-64, 65)]

        def slope(t, k=k, height=height, place=place, width=width):
            t = mpmath.mpf(t)
            return k * t ** (k - 1) - 2 * height * (t - place) / width**2 * mpmath.exp(-(((t - place) / width) ** 2))

        falls = any(slope(t) < 0 for t in points if 0 < t < 1)
        try:
            law = smq.from_cdf(text, 0, 1, **given)
        except smq.InputError:
            continue
        assert not (falls and law.is_proved_cdf().is_proved)
        assert not falls, given  # a fall this deep is seen
