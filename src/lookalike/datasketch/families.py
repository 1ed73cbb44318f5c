"""The three families of datasketch 2.0: types, permutations, hash functions."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha1
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import ParameterError

_MERSENNE = (1 << 61) - 1
TYPES: dict[str, Any] = {"affine32": np.uint32, "affine64": np.uint64, "legacy": np.uint64}
EMPTY = {"affine32": (1 << 32) - 1, "affine64": (1 << 64) - 1, "legacy": (1 << 32) - 1}


def sha1_hash32(data: bytes) -> int:
    """Return the first 32 bits of the SHA-1 digest of some bytes."""
    return int.from_bytes(sha1(data).digest()[:4], "little")


def sha1_hash64(data: bytes) -> int:
    """Return the first 64 bits of the SHA-1 digest of some bytes."""
    return int.from_bytes(sha1(data).digest()[:8], "little")


@lru_cache(64)
def permutations_of(num_perm: int, seed: int, scheme: str) -> NDArray[Any]:
    """Return the multipliers and increments that NumPy's older generator draws; sketches share them."""
    random, of = np.random.RandomState(seed), TYPES[scheme]
    if scheme == "legacy":
        drawn = [(random.randint(1, _MERSENNE, dtype=of), random.randint(0, _MERSENNE, dtype=of)) for _ in range(num_perm)]
        made = np.ascontiguousarray(np.array(drawn, of).T)
    else:
        width = 8 * np.dtype(of).itemsize
        odd = random.randint(0, 1 << (width - 1), num_perm, dtype=of) * of(2) + of(1)
        made = np.array([odd, random.randint(0, 1 << width, num_perm, dtype=of)])
    made.flags.writeable = False
    return made


def checked_scheme(scheme: str | None, given: bool) -> str:
    if scheme is None and given:
        raise ParameterError(
            "scheme must be given with hashvalues or permutations: that of the MinHash they came from, or 'legacy' for those "
            "of datasketch before 2.0"
        )
    if scheme is not None and scheme not in TYPES:
        raise ParameterError(f"scheme must be one of {', '.join(TYPES)}; got {scheme!r}")
    return scheme or "affine32"


def array_of(values: ArrayLike, scheme: str, what: str) -> NDArray[Any]:
    """Return integers as the type of a scheme, copied."""
    try:
        if isinstance(values, np.ndarray) and values.size and (int(values.min()) < 0 or int(values.max()) > EMPTY[scheme]):
            raise OverflowError(f"found {int(values.max() if values.min() >= 0 else values.min())}")
        return np.array(values, TYPES[scheme])
    except OverflowError as error:
        raise ParameterError(f"{what} must be integers from 0 to {EMPTY[scheme]} with the scheme {scheme}: {error}") from None
