"""One way of writing numbers, with no digit that is not supported."""

from __future__ import annotations

import decimal
import math
from collections.abc import Sequence
from typing import Literal

Rounding = Literal["nearest", "down", "up"]

DIGITS = 6
"""Significant digits where nothing says how many are supported."""
MOST_DIGITS = 15
"""Decimal digits that every double carries."""
_LOWEST_POSITIONAL = -4
"""Below 10 to this power, numbers are written with a power of ten."""
_HIGHEST_POSITIONAL = 7
"""From 10 to this power on, numbers are written with a power of ten, unless all digits before the
point are supported."""

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_ROUNDINGS = {"nearest": decimal.ROUND_HALF_EVEN, "down": decimal.ROUND_FLOOR, "up": decimal.ROUND_CEILING}
_MINUS = "−"


def supported_digits(value: float, error: float) -> int:
    """Count the digits of `value` that an error of this size leaves, 1 to 15.

    Examples
    --------
    >>> supported_digits(1234.5, 0.1), supported_digits(1234.5, 0.0), supported_digits(0.0, 1.0)
    (4, 15, 1)
    """
    if not (math.isfinite(value) and math.isfinite(error)):
        return 1
    if error == 0.0:
        return MOST_DIGITS
    if value == 0.0:
        return 1
    return max(1, min(MOST_DIGITS, math.floor(math.log10(abs(value)) - math.log10(abs(error)))))


def digits_down_to(value: float, fineness: float) -> int:
    """Count the digits of `value` down to the power of ten of `fineness`, 1 to 15.

    Examples
    --------
    >>> digits_down_to(7774.4, 4.2), digits_down_to(7774.4, 0.99), digits_down_to(0.0, 1.0), digits_down_to(1.0, 0.0)
    (4, 5, 1, 15)
    """
    if value == 0.0 or not (math.isfinite(value) and math.isfinite(fineness)):
        return 1
    if fineness == 0.0:
        return MOST_DIGITS
    places = math.floor(math.log10(abs(value))) - math.floor(math.log10(abs(fineness)))
    return max(1, min(MOST_DIGITS, places + 1))


def shown(x: float, digits: int = DIGITS, *, rounding: Rounding = "nearest") -> str:
    """Write a number for a reader.

    Parameters
    ----------
    x
        Whole numbers given as `int` are written in full; floats with at most `digits` significant
        digits.
    digits
        Significant digits, 1 to 17.
    rounding
        "nearest", or towards −∞ ("down") or +∞ ("up"): a bound is rounded against itself.

    Examples
    --------
    >>> shown(32561), shown(0.25), shown(1.5e-12, 3), shown(math.inf)
    ('32,561', '0.25', '1.5×10⁻¹²', '∞')
    >>> shown(-1234.56789, 6), shown(2 / 3, 3, rounding="up"), shown(12345678.9, 3)
    ('−1,234.57', '0.667', '1.23×10⁷')
    """
    mantissa, exponent = _split(x, digits, rounding)
    if exponent is None:
        return mantissa
    power = f"10{str(exponent).translate(_SUPERSCRIPTS)}"
    return mantissa[:-1] + power if mantissa in ("1", f"{_MINUS}1") else f"{mantissa}×{power}"


def shown_latex(x: float, digits: int = DIGITS) -> str:
    r"""Write a number as `shown` does, in LaTeX.

    Examples
    --------
    >>> print(shown_latex(32561), shown_latex(1.5e-12), shown_latex(math.inf), shown_latex(-0.5))
    \text{32,561} 1.5\times 10^{-12} \infty -0.5
    """
    mantissa, exponent = _split(x, digits, "nearest")
    sign, body = ("-", mantissa[1:]) if mantissa.startswith(_MINUS) else ("", mantissa)
    if body == "∞":
        return rf"{sign}\infty"
    if exponent is None:
        return sign + (body if body.replace(".", "", 1).isdecimal() else rf"\text{{{body}}}")
    power = f"10^{{{exponent}}}"
    return sign + (power if body == "1" else rf"{body}\times {power}")


def show_interval(lower: float, upper: float) -> tuple[str, str]:
    """Write two bounds, rounded outwards, with one digit more than they share.

    Examples
    --------
    >>> show_interval(1234.56789012, 1234.56789534)
    ('1,234.56789', '1,234.567896')
    """
    if not (math.isfinite(lower) and math.isfinite(upper)):
        return shown(lower, MOST_DIGITS, rounding="down"), shown(upper, MOST_DIGITS, rounding="up")
    largest = max(abs(lower), abs(upper))
    digits = min(MOST_DIGITS, supported_digits(largest, upper - lower) + 2)
    return shown(lower, digits, rounding="down"), shown(upper, digits, rounding="up")


def shown_share(part: float, whole: float) -> str:
    r"""Write a share in percent with one decimal, never a false 0 % or 100 %.

    Examples
    --------
    >>> [text.replace("\xa0", " ") for text in (shown_share(1, 3), shown_share(1, 100000), shown_share(99999, 100000), shown_share(0, 0))]
    ['33.3 %', '< 0.1 %', '> 99.9 %', '–']
    """
    if whole == 0:
        return "–"
    percent = 100.0 * part / whole
    if part in (0, whole):
        return f"{percent:.0f}\u00a0%"
    text = f"{percent:.1f}"
    if text == "0.0":
        return "<\u00a00.1\u00a0%"
    if text == "100.0" and part < whole:
        return ">\u00a099.9\u00a0%"
    return f"{text}\u00a0%"


def column(values: Sequence[float], digits: int = DIGITS) -> list[str]:
    """Write a column of numbers with the same number of decimals.

    The largest gets `digits` significant digits; numbers that this would flatten to zero are no
    news beside the largest.

    Examples
    --------
    >>> column([1234.5678, 0.25, 0.0]), column([1.0, 20.0])
    (['1,234.57', '0.25', '0.00'], ['1', '20'])
    """
    finite = [abs(float(x)) for x in values if math.isfinite(x)]
    largest = max(finite, default=0.0)
    if largest == 0.0 or not _LOWEST_POSITIONAL <= math.floor(math.log10(largest)) < _HIGHEST_POSITIONAL:
        return [shown(x, digits) for x in values]
    decimals = max(0, digits - 1 - math.floor(math.log10(largest)))
    rounded = [f"{x:,.{decimals}f}" for x in values if math.isfinite(x)]
    while decimals and all(text.endswith("0") for text in rounded):
        decimals -= 1
        rounded = [text[:-1] for text in rounded]
    return [f"{float(x):,.{decimals}f}".replace("-", _MINUS) if math.isfinite(x) else shown(x) for x in values]


def _split(x: float, digits: int, rounding: Rounding) -> tuple[str, int | None]:
    """Return the mantissa's text and the power of ten; None without a power."""
    if isinstance(x, int) and not isinstance(x, bool):
        return f"{x:,}".replace("-", _MINUS), None
    value = float(x)
    if math.isnan(value):
        return "not a number", None
    if math.isinf(value):
        return "∞" if value > 0 else f"{_MINUS}∞", None
    if value == 0.0:
        return "0", None
    exact = decimal.Decimal(value)
    with decimal.localcontext(prec=digits, rounding=_ROUNDINGS[rounding]):
        rounded = +exact
    exponent = rounded.adjusted()
    if _LOWEST_POSITIONAL <= exponent < max(digits, _HIGHEST_POSITIONAL):
        text = f"{rounded:,f}"
        power = None
    else:
        text = f"{rounded.scaleb(-exponent):f}"
        power = exponent
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return text.replace("-", _MINUS), power
