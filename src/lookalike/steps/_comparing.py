"""How documents become rows that can be compared: what the steps that compare have in common."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np
import pyarrow as pa

from ..kernels.resemblance import Rows
from ..methods.exact_sets import Piece, numbered
from ..methods.method import Method
from ..text.shingle import Shingling
from ..text.texts import from_arrow_array
from ..text.vocabulary import Vocabulary
from ..values import Int64Array, UInt64Array
from ..values.arrow import to_numpy
from ._binary import words_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparing:
    """How documents are compared.

    Parameters
    ----------
    threshold : float
        A pair matches if its score reaches it.
    boundary : int, default 0
        Orders below it are references, which are not compared with each other.
    """

    method: Method
    shingling: Shingling
    threshold: float
    boundary: int = 0


def comparable(batches: Iterator[pa.RecordBatch], settings: Comparing, key: bytes) -> Rows:
    """Make the documents of batches ready for comparison; there is at least one, and each is done with before the next comes.

    By ``estimate`` if there is one, by ``values`` (the hashes of ready sets), or by ``text``, whose shingles are compared
    themselves: see ``Vocabulary``.
    """
    first = next(batches)
    batches = chain([first], batches)
    if "estimate" in first.schema.names:
        width = 4 * settings.method.n_estimates
        words = np.concatenate([words_of(batch.column("estimate"), width, np.uint32) for batch in batches])
        return settings.method.estimable(words.astype(np.uint32)).rows
    if "values" in first.schema.names:
        return settings.method.comparable(numbered(_lists(batch, "values") for batch in batches)).rows
    del first  # not held while the next is read
    return settings.method.comparable(_numbered_texts(batches, settings.shingling, key)).rows


def _numbered_texts(batches: Iterator[pa.RecordBatch], shingling: Shingling, key: bytes) -> Iterator[Piece]:
    """Number the shingles of texts, of ``PIECE_BYTES`` or of one longer text at a time.

    What has been given, and the text that it was made of, is not held: both may be large.
    """
    vocabulary = Vocabulary(shingling, key)
    for batch in batches:
        texts = from_arrow_array(batch.column("text"))
        del batch
        pieces = [texts.slice(begin, end) for begin, end in texts.cut()][::-1]
        del texts
        while pieces:
            yield (*vocabulary.number(pieces.pop()), len(vocabulary))


def _lists(batch: pa.RecordBatch, name: str) -> tuple[UInt64Array, Int64Array]:
    """Return (values, offsets) of a column of lists of integers; offsets begin at 0."""
    column = batch.column(name).cast(pa.large_list(pa.int64()))
    offsets = to_numpy(column.offsets)
    values = to_numpy(column.values)[offsets[0] : offsets[-1]]
    return values.view(np.uint64), offsets - offsets[0]


def weights(batch: pa.RecordBatch) -> Int64Array:
    """Return about how many bytes are worked on for each row of a batch with texts or estimates and perhaps partners."""
    if "estimate" in batch.schema.names:
        kind = batch.schema.field("estimate").type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        total = np.full(len(batch), 64 + (kind.byte_width if pa.types.is_fixed_size_binary(kind) else 1024), np.int64)
    elif "values" in batch.schema.names:
        total = 8 * np.diff(_lists(batch, "values")[1]) + 64
    else:
        total = np.diff(from_arrow_array(batch.column("text")).offsets) + 64
    if "partners" in batch.schema.names:
        total = total + 32 * np.diff(_lists(batch, "partners")[1])
    return total


def partners_of(batch: pa.RecordBatch) -> tuple[Int64Array, Int64Array]:
    """Return (offsets, orders) of the column ``partners``."""
    orders, offsets = _lists(batch, "partners")
    return offsets, orders.view(np.int64)
