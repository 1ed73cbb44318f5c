"""Shingle hashes under a key: of texts that somebody wrote who does not know it, no two shingles share theirs on purpose."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ParameterError
from ..hashing import digest_secret, secret_words
from ..kernels import keyed as kernel
from ..kernels._scratch import scratch
from ..kernels.digests import P
from ..values import Int64Array, UInt64Array
from .texts import Texts
from .tokens import token_rows

if TYPE_CHECKING:
    from .shingle import Shingling

LEAST_KEY, MOST_KEY = 16, 64  # bytes


def check_key(key: Any) -> bytes:
    """Return a key as bytes."""
    if not isinstance(key, bytes):
        raise ParameterError(f"key must be bytes; got {type(key).__name__}")
    if not LEAST_KEY <= len(key) <= MOST_KEY:
        raise ParameterError(f"key must have {LEAST_KEY} to {MOST_KEY} bytes; it has {len(key)}")
    return key


def fingerprint(key: bytes) -> str:
    """Return what tells a key from others without giving it away, as 16 digits."""
    return hashlib.blake2b(key, digest_size=8, person=b"lookalike key").hexdigest()


def shingle_secret(key: bytes) -> UInt64Array:
    """Return the secret of ``kernels.keyed``."""
    point, word = (int(word) for word in secret_words(key, "shingles", 2))
    return np.array([*(pow(point, power, int(P)) for power in (1, 2, 3)), word], np.uint64)


class KeyedHashes:
    """Shingle hashes of texts under a key.

    Two different shingles of m tokens at most, chosen by somebody who does not know the key, share a hash with a probability
    of at most (3 m + 1) / 2^61 over the choice of the key (2^-57 for five words). Their polynomials differ: they agree at no
    more than 3 m of the 2^61 - 1 points, each of which is drawn with a probability of at most 9 / 2^64, and most with 8 / 2^64.
    That holds as long as the tokens are told apart: those of up to 15 bytes always are, and two longer ones of n bytes
    together but for a probability of (2^-64 + (3 n / 256 + 7) / 2^61)^2 (see ``kernels.digests``), 2^-88 for 8 MB.
    """

    def __init__(self, shingling: Shingling, key: bytes) -> None:
        self._shingling = shingling
        self._points, self._secret = digest_secret(key, "tokens of shingles"), shingle_secret(key)

    def hashes(
        self, texts: Texts, name_row: Callable[[int], str] = "row {}".format, strict: bool = False
    ) -> tuple[UInt64Array, Int64Array]:
        """Return what ``Shingling.hashes`` returns, and raise what it raises: (values with repeats, offsets)."""
        width = self._shingling.width
        assert width is not None
        out, ends, done = scratch("values", texts.n_bytes // 4, np.uint64), [np.zeros(1, np.int64)], 0
        for offsets, keys in token_rows(self._shingling, self._points, texts, name_row, strict):
            if len(out) < done + len(keys):
                fewer, out = out, scratch("values", 2 * (done + len(keys)), np.uint64)
                out[:done] = fewer[:done]
            found = np.empty_like(offsets)
            kernel.hash_keys(keys, offsets, width, self._secret, scratch("tokens", len(keys), np.uint64), found, out[done:])
            ends.append(found[1:] + done)
            done = int(ends[-1][-1])
        return out[:done], np.concatenate(ends)
