"""Shingle hashes of texts, the same everywhere or under a key."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from .. import core
from ..choices import UNITS, EncodingErrors, Normalization, Unit, check_choice
from ..core import begin_texts, hash_short, key_tokens
from ..core.scratch import scratch
from ..errors import InputDataError, ParameterError, from_caller
from ..hashing import PRIME, digest_secret, secret_words
from ..values import Int64Array, Shingles, UInt64Array, drop_repeats
from .characters import native_characters
from .ignored import Dropping
from .shingle import Shingling, Tokenizer, ignored_places
from .texts import Texts, as_texts

LEAST_KEY, MOST_KEY = 16, 64  # bytes
AT_A_TIME = 1 << 16  # tokens that are worked on together: these stay in a cache
TokenRows = tuple[Int64Array, UInt64Array]  # offsets of some rows, keys of their tokens


def token_rows(shingling: Shingling, points: UInt64Array, texts: Texts, strict: bool = False) -> Iterator[TokenRows]:
    """Yield the tokens of some rows after the other; each is done with before the next comes."""
    if shingling.tokenizer is not None:
        if strict:
            texts.check()
        tokens, bounds = shingling.tokens(texts)
        yield bounds, core.token_keys(tokens.data, tokens.offsets, points)
        return
    texts, row = shingling.normalized(texts, strict), 0
    how = UNITS.index(shingling.unit), shingling.fold_case, native_characters(), points
    while row < len(texts):
        offsets, keys = key_tokens(texts.data, texts.offsets, row, *how, AT_A_TIME)
        yield offsets, keys
        row += len(offsets) - 1


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
    """Return the secret of shingles of keys: powers of a point, and a word."""
    point, word = (int(word) for word in secret_words(key, "shingles", 2))
    return np.array([*(pow(point, power, PRIME) for power in (1, 2, 3)), word], np.uint64)


class KeyedHashes:
    """Shingle hashes of texts under a key.

    Two different shingles of m tokens at most, chosen by somebody who does not know the key, share a hash with a probability
    of at most (3 m + 1) / 2^61 over the choice of the key (2^-57 for five words). Their polynomials differ: they agree at no
    more than 3 m of the 2^61 - 1 points, each of which is drawn with a probability of at most 9 / 2^64, and most with 8 / 2^64.
    That holds as long as the tokens are told apart: those of up to 15 bytes always are, and two longer ones of n bytes
    together but for a probability of (2^-64 + (3 n / 256 + 7) / 2^61)^2 (see ``native/digest.h``), 2^-88 for 8 MB.
    """

    def __init__(self, shingling: Shingling, key: bytes) -> None:
        self._shingling = shingling
        self._points, self._secret = digest_secret(key, "tokens of shingles"), shingle_secret(key)
        self._drop: Dropping | None = None
        if shingling.ignored is not None:
            ignored = self._hashes(shingling.ignored.texts)[0].copy()
            self._drop = Dropping(ignored[ignored_places(shingling)])

    def rows(self, texts: Texts, strict: bool = False) -> Iterator[TokenRows]:
        """Yield the tokens of some rows after the other: see ``token_rows``."""
        return token_rows(self._shingling, self._points, texts, strict)

    def values(self, offsets: Int64Array, keys: UInt64Array, out: UInt64Array) -> Int64Array:
        """Write the shingle hashes of rows of tokens, of which there is at most one each; return where those of rows begin."""
        bounds: Int64Array = core.hash_keys(keys, offsets, self._shingling.width, self._secret, out)
        return bounds

    def hashes(self, texts: Texts, strict: bool = False) -> tuple[UInt64Array, Int64Array]:
        """Return what ``Shingling.hashes`` returns, and raise what it raises: (values with repeats, offsets)."""
        found = self._hashes(texts, strict)
        return found if self._drop is None else self._drop(*found)

    def _hashes(self, texts: Texts, strict: bool = False) -> tuple[UInt64Array, Int64Array]:
        """Return the hashes of all shingles."""
        out, ends, done = scratch("values", texts.n_bytes // 4, np.uint64), [np.zeros(1, np.int64)], 0
        for offsets, keys in self.rows(texts, strict):
            if len(out) < done + len(keys):
                fewer, out = out, scratch("values", 2 * (done + len(keys)), np.uint64)
                out[:done] = fewer[:done]
            ends.append(self.values(offsets, keys, out[done:])[1:] + done)
            done = int(ends[-1][-1])
        return out[:done], np.concatenate(ends)

    def begun(self, offsets: Int64Array, keys: UInt64Array, pairs: bool) -> UInt64Array:
        """Return what rows of tokens are known by if they are short: the token that each begins with, or two, ``pairs``."""
        found: UInt64Array = begin_texts(keys, offsets, self._secret, pairs)
        return found

    def short(
        self, offsets: Int64Array, keys: UInt64Array, lengths: Int64Array, pairs: bool, known: UInt64Array
    ) -> tuple[Int64Array, UInt64Array]:
        """Return (tokens, hashes) of what may be short texts in rows of tokens, of one of the ``lengths`` and, by the filter
        ``known``, of a known beginning."""
        places, values = hash_short(keys, offsets, self._secret, lengths, pairs, known)
        return places, values


@from_caller
def shingle(
    texts: Any,
    *,
    unit: Unit = "word",
    width: int | None = None,
    normalization: Normalization = "NFC",
    fold_case: bool = True,
    tokenizer: Tokenizer | None = None,
    encoding_errors: EncodingErrors = "strict",
    key: bytes | None = None,
) -> Shingles:
    """Turn texts into sets of shingle hashes.

    Parameters
    ----------
    texts : list of str, or an Arrow, pandas or polars column of strings
        None and null count as empty texts.
    unit, width, normalization, fold_case
        See ``Shingling``.
    tokenizer : callable, optional
        From a str to its tokens, instead of ``unit``: one Python call per text, ten to a hundred times slower.
    encoding_errors : {"strict", "replace"}, default "strict"
        Whether invalid UTF-8 is an error or separates words (and counts as U+FFFD among characters).
    key : bytes, 16 to 64 of them, optional
        A secret, for example ``secrets.token_bytes(32)``, for hashes that nobody else can foresee. They take up to twice
        the time. Only shingles made with the same key, and sketches of them, can be compared.

    Returns
    -------
    Shingles
        One set of 64-bit hashes per text; an empty set if the text has no token.

    Raises
    ------
    InputDataError
        If an item is not a text, or the tokenizer fails or yields anything but str; names the row.
    EncodingError
        If an item is not valid UTF-8; names the row.
    ParameterError
        If a parameter is out of its range.

    Notes
    -----
    Without a key the hash of a shingle is the same everywhere and always. Two different shingles that nobody made for it share
    theirs with probability 2^-64; but who knows this program can write shingles that do, and so texts that are alike by these
    sets only. With a key, two different shingles of m tokens at most, whoever wrote them, share theirs with a probability of at
    most (3 m + 1) / 2^61 over the choice of the key, 2^-57 for five words: the hash is the value of a polynomial of degree 3 m,
    three coefficients for a token, at a secret point modulo the prime 2^61 - 1, and two of these have one value at no more than
    3 m points. Tokens of more than 15 bytes take part by a keyed digest; two of them have one with a probability of at most
    (2^-64 + (3 n / 256 + 6) / 2^61)^2, for n bytes together. All that as long as who writes the texts does not see hashes, or
    what follows from them. Jobs, such as ``decontaminate``, need no key: they compare shingles themselves, or draw one.

    References
    ----------
    Broder, "On the resemblance and containment of documents", 1997.
    Carter & Wegman, "Universal classes of hash functions", 1979.

    Examples
    --------
    >>> import lookalike as la
    >>> la.shingle(["One two three", "one, two: THREE four"], width=2).sizes.tolist()
    [2, 3]
    """
    shingling = Shingling(unit=unit, width=width, normalization=normalization, fold_case=fold_case, tokenizer=tokenizer)
    check_choice("encoding_errors", encoding_errors, EncodingErrors)
    made_by, hashes_of = shingling, shingling.hashes
    if key is not None:
        made_by = replace(shingling, key_fingerprint=fingerprint(check_key(key)))
        hashes_of = KeyedHashes(shingling, key).hashes
    chunks = as_texts(texts, encoding_errors)
    values, sizes, first_row = [], [np.zeros(1, np.int64)], 0
    for chunk in chunks:
        try:
            hashes = hashes_of(chunk, encoding_errors == "strict")
        except InputDataError as error:
            error.row = first_row + (error.row or 0)
            raise
        found, offsets = drop_repeats(*hashes)
        values.append(found)
        sizes.append(np.diff(offsets))
        first_row += len(chunk)
    # What is left of a single chunk stays where it is, unless most of that is not needed any more.
    compact = len(values) == 1 and 2 * len(values[0]) > len(hashes[0])
    whole = values[0] if compact else np.concatenate([np.zeros(0, np.uint64), *values])
    return Shingles(whole, np.cumsum(np.concatenate(sizes)), made_by)
