"""The tokens of texts as two words each, which tell a token from all others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from ..kernels import digests, vocabulary
from ..kernels._scratch import scratch
from ..kernels.shingling import UNITS
from ..values import Int64Array, UInt64Array
from .characters import character_tables
from .texts import Texts

if TYPE_CHECKING:
    from .shingle import Shingling

AT_A_TIME = 1 << 16  # tokens that are worked on together: these stay in a cache
BEYOND = 96  # bytes that kernels may read, or write, behind a text
TokenRows = tuple[Int64Array, UInt64Array]  # offsets of some rows, keys of their tokens


def token_rows(
    shingling: Shingling, points: UInt64Array, texts: Texts, name_row: Callable[[int], str], strict: bool = False
) -> Iterator[TokenRows]:
    """Yield the tokens of some rows after the other; each is done with before the next comes."""
    if shingling.tokenizer is not None:
        if strict:
            texts.check()
        tokens, bounds = shingling.tokens(texts, name_row)
        keys = np.empty((len(tokens), 2), np.uint64)
        padded = np.concatenate([tokens.data[tokens.offsets[0] : tokens.offsets[-1]], np.zeros(BEYOND, np.uint8)])
        digests.key_rows(padded, tokens.offsets - tokens.offsets[0], points, keys)
        yield bounds, keys
        return
    texts = shingling.normalized(texts, strict)
    if shingling.unit == "byte":
        for begin, end in texts.cut(AT_A_TIME):
            first, last = texts.offsets[[begin, end]]
            data = texts.data[first:last].astype(np.uint64)
            yield texts.offsets[begin : end + 1] - first, np.stack([data, np.ones_like(data)], 1)
        return
    folded = scratch("folded", 3 * int(np.diff(texts.offsets).max(initial=0)) + BEYOND, np.uint8)
    offsets, row, room = np.empty(len(texts) + 1, np.int64), 0, AT_A_TIME
    where, fold_case = (texts.data, texts.offsets), shingling.fold_case
    while row < len(texts):
        keys = scratch("keys", 2 * room, np.uint64)[: 2 * room].reshape(-1, 2)
        if shingling.unit == "char":
            after = vocabulary.key_points(*where, row, fold_case, character_tables(), folded, offsets, keys)
        else:
            unit = UNITS.index(shingling.unit)
            after = vocabulary.key_texts(*where, row, unit, fold_case, character_tables(), folded, points, offsets, keys)
        if after == row:  # it can have more tokens than there is room for: nearly always as many, at most, as it has bytes
            room = max(2 * room, int(texts.offsets[row + 1] - texts.offsets[row]) + 1)
        else:
            yield offsets[: after - row + 1], keys[: offsets[after - row]]
        row = after
