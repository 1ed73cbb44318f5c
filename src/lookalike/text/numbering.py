"""Shingles of texts, numbered: what texts are compared by where no hash may decide. Those of words and of lines are numbered by
walking along the texts that came before, others token by token."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import core
from ..choices import UNITS
from ..core import drop_marked
from ..hashing import digest_secret, secret_words
from ..values import Int64Array
from .hashes import token_rows
from .shingle import Shingling, ignored_places
from .texts import Texts

Int32Array = NDArray[np.int32]


class Vocabulary:
    """Numbers the shingles of texts by first appearance: equal numbers mean equal shingles.

    Tokens of up to 15 bytes are compared byte by byte, shingles token by token; of longer tokens a digest under the secret
    ``key`` of 16 bytes (see ``native/digest.h``). Two long tokens of texts of n bytes together are taken for one with a
    probability of at most n^2 (1 + n / 2^13) / 2^125 over the choice of the key, whoever wrote them: 2^-65 for two texts of 8
    MB. The key changes no number otherwise.
    """

    def __init__(self, shingling: Shingling, key: bytes) -> None:
        self._shingling, self._points = shingling, digest_secret(key, "tokens")
        self._known = core.Interner(shingling.width, secret_words(key, "tables", 4))

    def number(self, texts: Texts) -> tuple[Int32Array, Int64Array]:
        """Return the numbers of the shingles of some texts, with repeats: (numbers, offsets)."""
        for offsets, keys in token_rows(self._shingling, self._points, texts):
            self._known.add(offsets, keys)
        return self._known.take()

    piece = number


class KnownText:
    """Numbers the shingles of words or lines as ``Vocabulary`` does, by walking along the texts that came before."""

    def __init__(self, shingling: Shingling, key: bytes) -> None:
        secrets = digest_secret(key, "tokens"), secret_words(key, "tables", 4)
        self._shingling = shingling
        self._known = core.KnownText(UNITS.index(shingling.unit), shingling.width, shingling.fold_case, *secrets)

    def number(self, texts: Texts) -> tuple[Int32Array, Int64Array]:
        """Return the numbers of the shingles of some texts, with repeats: (numbers, offsets)."""
        return self._known.number(*self.piece(texts)[1:])

    def piece(self, texts: Texts) -> tuple[Any, ...]:
        """Return texts as ``Rows`` take them, which number their shingles themselves."""
        return self._known, texts.data, texts.offsets, *self._shingling.form


class Counting:
    """Numbers shingles as another does, and drops those that do not count: their texts are numbered first."""

    def __init__(self, inner: Vocabulary | KnownText, shingling: Shingling) -> None:
        assert shingling.ignored is not None
        numbers, _ = inner.number(shingling.ignored.texts)
        self._inner, self._marked = inner, np.zeros(int(numbers.max(initial=-1)) + 1, np.bool_)
        self._marked[numbers[ignored_places(shingling)]] = True

    def number(self, texts: Texts) -> tuple[Int32Array, Int64Array]:
        """Return the numbers of the shingles of some texts that count, with repeats: (numbers, offsets)."""
        numbers, offsets = self._inner.number(texts)
        left = drop_marked(numbers, offsets, self._marked)
        return numbers[: left[-1]], left

    piece = number


def numbering(shingling: Shingling, key: bytes) -> Vocabulary | KnownText | Counting:
    """Return what numbers the shingles of texts that count."""
    by_tokens = shingling.tokenizer is not None or shingling.unit not in ("word", "line")
    numbers = Vocabulary(shingling, key) if by_tokens else KnownText(shingling, key)
    return numbers if shingling.ignored is None else Counting(numbers, shingling)
