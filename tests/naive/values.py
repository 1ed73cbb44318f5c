"""As policies and groups tell them apart (docs/definition.md)."""

import json
from fractions import Fraction


def bounded(digits):
    """As a fraction; one with thousands of digits is the largest or smallest of its sign."""
    mantissa, _, exponent = digits.lower().partition("e")
    if len(exponent.lstrip("+-0")) <= 3:
        return Fraction(digits)
    if not any(digit in mantissa for digit in "123456789"):
        return Fraction(mantissa)
    size = Fraction(10) ** (-5000 if exponent[0] == "-" else 5000)
    return -size if digits[0] == "-" else size


def untyped(cell):
    """Null if empty; what reads as a number or truth value of JSON is that."""
    if not cell:
        return None
    try:
        value = json.loads(cell, parse_float=bounded)
    except (ValueError, RecursionError):
        return cell
    return value if isinstance(value, (bool, int, Fraction)) else cell


def value_key(value):
    """None for null, as which NaN counts."""
    if value is None or value != value:
        return None
    if isinstance(value, bool):
        return "truth", value
    if isinstance(value, (int, float, Fraction)):
        return "number", value if abs(value) == float("inf") else Fraction(value)
    return ("text", value) if isinstance(value, str) else ("other", json.dumps(value, sort_keys=True))
