"""Derivation of all random numbers from one seed."""

from __future__ import annotations

import hashlib

import numpy as np

from .values import UInt64Array


def derive(seed: int, purpose: str, count: int) -> UInt64Array:
    """Return ``count`` uint64 numbers fixed by a seed and a purpose, the same on every machine and version.

    Numbers of different purposes are unrelated; a longer sequence starts with the shorter one.
    """
    stream = hashlib.shake_128(seed.to_bytes(8, "little") + purpose.encode()).digest(8 * count)
    return np.frombuffer(stream, "<u8").astype(np.uint64)
