import math
from decimal import Decimal

import pytest
from hypothesis import given, strategies as st

from smqopt.document import column, show_interval, shown, shown_latex, shown_share, supported_digits
from smqopt.document._number_format import MOST_DIGITS

numbers = st.floats(allow_nan=False, allow_infinity=False)
NORMAL = "-0123456789"


def read(text: str) -> Decimal:
    """Read a number back that `shown` wrote."""
    text = text.replace(",", "").replace("−", "-")
    mantissa, times, power = text.partition("×10")
    if not times and text.startswith("10") and text[2:].translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", NORMAL)) != text[2:]:
        mantissa, power = "1", text[2:]
    elif not times and text.startswith("-10") and any(sign in text for sign in "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"):
        mantissa, power = "-1", text[3:]
    exponent = int(power.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", NORMAL))) if power else 0
    return Decimal(mantissa).scaleb(exponent)


@given(numbers, st.integers(1, 15))
def test_a_number_is_off_by_at_most_half_a_unit_of_its_last_digit(x, digits):
    exact = Decimal(x)
    assert abs(read(shown(x, digits)) - exact) * 2 <= abs(exact).scaleb(1 - digits) * (1 + Decimal(10) ** -10)


@given(numbers, st.integers(1, 15))
def test_bounds_are_rounded_against_themselves(x, digits):
    assert read(shown(x, digits, rounding="down")) <= Decimal(x) <= read(shown(x, digits, rounding="up"))


@given(numbers, st.integers(1, 15))
def test_no_more_significant_digits_than_asked_for(x, digits):
    assert len(read(shown(x, digits)).normalize().as_tuple().digits) <= digits


@given(numbers, numbers)
def test_an_interval_is_never_narrowed(x, y):
    lower, upper = min(x, y), max(x, y)
    low, high = show_interval(lower, upper)
    assert read(low) <= Decimal(lower)
    assert read(high) >= Decimal(upper)


@given(st.integers(-(10**18), 10**18))
def test_whole_numbers_are_written_in_full(k):
    assert int(shown(k).replace(",", "").replace("−", "-")) == k


@pytest.mark.parametrize(
    ("x", "digits", "text"),
    [
        (0.0, 6, "0"),
        (-0.0, 6, "0"),
        (math.inf, 6, "∞"),
        (-math.inf, 6, "−∞"),
        (math.nan, 6, "not a number"),
        (9.9999999, 3, "10"),
        (9.99e-5, 2, "0.0001"),
        (9.99e-5, 3, "9.99×10⁻⁵"),
        (1e-10, 3, "10⁻¹⁰"),
        (-1e-10, 3, "−10⁻¹⁰"),
        (1e22, 6, "10²²"),
        (6512.2, 12, "6,512.2"),
        (247205.6, 3, "247,000"),
        (5e-324, 3, "4.94×10⁻³²⁴"),
    ],
)
def test_edges(x, digits, text):
    assert shown(x, digits) == text


@pytest.mark.parametrize(
    ("x", "latex"),
    [
        (math.inf, r"\infty"),
        (-math.inf, r"-\infty"),
        (-1234.5, r"-\text{1,234.5}"),
        (2e-9, r"2\times 10^{-9}"),
        (-1e-9, "-10^{-9}"),
    ],
)
def test_latex_edges(x, latex):
    assert shown_latex(x) == latex


def test_supported_digits_follow_the_error():
    assert supported_digits(1000.0, 1.0) == 3
    assert supported_digits(1000.0, 1e6) == 1
    assert supported_digits(1.0, math.inf) == 1
    assert supported_digits(1.0, 0.0) == MOST_DIGITS


def test_a_share_is_never_a_false_nought_or_whole():
    assert shown_share(10**6 - 1, 10**6).startswith(">")
    assert shown_share(1, 10**6).startswith("<")
    assert shown_share(10**6, 10**6).startswith("100")


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=8))
def test_a_column_has_one_number_of_decimals(values):
    decimals = {len(text.partition(".")[2]) for text in column(values) if "×" not in text and "10⁻" not in text}
    assert len(decimals) <= 1 or max(abs(x) for x in values) < 1e-3
