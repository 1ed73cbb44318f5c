"""The array types that values are made of, and the checks of what callers pass in. Public functions and constructors check
once; the kernels behind them trust what they get."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import ParameterError

UInt64Array = NDArray[np.uint64]
UInt32Array = NDArray[np.uint32]
Int64Array = NDArray[np.int64]
Float64Array = NDArray[np.float64]

MOST_SEED = (1 << 64) - 1
RANDOM = "random"
MAX_PERMUTATIONS = 1 << 16


def runs(labels: NDArray[np.integer[Any]]) -> list[tuple[int, int]]:
    """Return the bounds of each run of equal labels, none of them negative."""
    starts = np.flatnonzero(np.diff(labels, prepend=-1)).tolist()
    return list(pairwise([*starts, len(labels)])) if starts else []


def expand_counts(counts: Int64Array) -> tuple[Int64Array, Int64Array]:
    """Number things of which there are ``counts``: return (which, number among its like) of each."""
    which = np.repeat(np.arange(len(counts)), counts)
    return which, np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)


def concatenate_columns(parts: Iterable[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Return the arrays at each place of some tuples one after the other."""
    return tuple(map(np.concatenate, zip(*parts, strict=True)))


def number_type(n: int) -> type[np.integer[Any]]:
    """Return the smallest type that row numbers below n are kept in."""
    return np.uint32 if n <= 1 << 32 else np.int64


def places_of(mask: NDArray[np.bool_], block: int = 1 << 20) -> NDArray[Any]:
    """Return where a mask is set, in few bytes; ``numpy.flatnonzero`` needs eight for each place."""
    found = np.empty(np.count_nonzero(mask), number_type(len(mask)))
    end = 0
    for begin in range(0, len(mask), block):
        some = np.flatnonzero(mask[begin : begin + block])
        found[end : end + len(some)] = some + begin
        end += len(some)
    return found


def whole(name: str, value: Any, low: int, high: int | None = None) -> int:
    """Return an integer parameter as int if it is in [low, high]; floats, texts and bools are no integers."""
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, (bool, np.bool_)):
        raise ParameterError("must be an integer", name, value)
    if number < low or (high is not None and number > high):
        limits = f"at least {low}" if high is None else f"in {low}..{'2^64-1' if high == MOST_SEED else high}"
        raise ParameterError(f"must be {limits}", name, number)
    return number


def drawn_seed() -> int:
    """Draw a seed from the system's randomness, which nobody can know before."""
    return int.from_bytes(os.urandom(8), "little")


def number(name: str, value: Any, rule: str = "a number") -> float:
    """Return a real parameter as float; texts, bools, arrays and nan are no numbers."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)) or value != value:
        raise ParameterError(f"must be {rule}", name, value)
    try:
        return float(value)
    except OverflowError:
        raise ParameterError(f"{name} must be {rule}; got an integer of {int(value).bit_length()} bits") from None


def share(name: str, value: Any) -> float:
    """Return a real parameter as float if it is in (0, 1]."""
    found = number(name, value, "a number in (0, 1]")
    if not 0.0 < found <= 1.0:
        raise ParameterError("must be in (0, 1]", name, value)
    return found


def plain(value: Any) -> Any:
    """Return a NumPy number as Python's, any other value as it is."""
    return value.item() if isinstance(value, np.generic) else value


def native(values: Any, dtype: type) -> NDArray[Any]:
    """Return an array as the core takes it: of native byte order, contiguous, aligned."""
    return np.require(values, dtype, ("C", "A"))


def keys_of(values: ArrayLike, name: str = "values") -> UInt64Array:
    """Return one-dimensional integers as uint64 for the core; negative ones modulo 2^64."""
    keys = np.asarray(values)
    if keys.ndim != 1 or (keys.size and keys.dtype.kind not in "iu"):
        raise ParameterError(f"{name} must be one-dimensional integers; got {keys.dtype} of shape {keys.shape}")
    return native(keys, np.uint64)


def offsets_of(offsets: ArrayLike, n: int) -> Int64Array:
    """Return the bounds of rows in n values as int64 if they rise from 0 to n, equal neighbours allowed."""
    bounds = np.asarray(offsets)
    if bounds.ndim != 1 or bounds.size == 0 or bounds.dtype.kind not in "iu":
        raise ParameterError(
            f"offsets must be one-dimensional integers with at least the entry 0; got {bounds.dtype} of shape {bounds.shape}"
        )
    falls = np.flatnonzero(bounds[1:] < bounds[:-1])
    if len(falls):
        at = int(falls[0]) + 1
        raise ParameterError(
            f"offsets must rise from 0 to the number of values, {n}; entry {at} falls from {bounds[at - 1]} to {bounds[at]}"
        )
    if bounds[0] != 0 or bounds[-1] != n:
        raise ParameterError(f"offsets must rise from 0 to the number of values, {n}; they go from {bounds[0]} to {bounds[-1]}")
    return native(bounds, np.int64)


def rows_of(rows: ArrayLike, n: int, name: str = "rows") -> Int64Array:
    """Return row numbers as int64, of the shape they have, if all are in [0, n)."""
    found = np.asarray(rows)
    if found.size and found.dtype.kind not in "iu":
        raise ParameterError("must be integers", name, found.dtype)
    if found.size and (found.min() < 0 or found.max() >= n):
        first = found[(found < 0) | (found >= n)].flat[0] if found.ndim else found
        raise ParameterError(
            f"{name} must be in 0..{n - 1}, the rows there are; got {first}" if n else f"{name}: there are no rows"
        )
    return native(found, np.int64)


def pairs_of_rows(left: ArrayLike, n_left: int, right: ArrayLike, n_right: int) -> tuple[Int64Array, Int64Array]:
    """Return row numbers of two sides as int64 if all are there and their shapes broadcast against each other."""
    a, b = rows_of(left, n_left, "left"), rows_of(right, n_right, "right")
    try:
        np.broadcast_shapes(a.shape, b.shape)
    except ValueError:
        raise ParameterError(
            f"left and right must have the same number of rows, or one of them one row; got shapes {a.shape} and {b.shape}"
        ) from None
    return a, b


def matrix(name: str, values: Any, kinds: dict[str, type]) -> Any:
    """Return a two-dimensional array of one of some kinds of numbers for the core. ``kinds`` maps the kinds and sizes that are
    allowed, as in "u4", to types."""
    array = np.asarray(values)
    dtype = kinds.get(array.dtype.str[1:])
    if array.ndim != 2 or dtype is None:
        allowed = " or ".join(np.dtype(kind).name for kind in kinds.values())
        raise ParameterError(f"{name} must be {allowed} of two dimensions; got {array.dtype} of shape {array.shape}")
    return native(array, dtype)
