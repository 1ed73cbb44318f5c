"""How documents become rows that can be compared: what the steps that compare have in common."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa

from ..kernels.families import keyed_mixer
from ..kernels.resemblance import Rows
from ..methods.exact_sets import Pieces
from ..text.shingle import Shingling
from ..text.texts import Texts, from_arrow_array
from ..values import Int64Array, UInt32Array, UInt64Array


class Comparable(Protocol):
    """Rows whose pairs can be scored."""

    @property
    def rows(self) -> Rows:
        """The form in which kernels compare them."""
        ...


class Measure(Protocol):
    """What of a method the steps that compare need."""

    def comparable(self, pieces: Pieces) -> Comparable:
        """Make shingle hashes, in pieces, ready for exact comparison."""
        ...

    def estimable(self, estimates: UInt32Array) -> Comparable:
        """Make the words kept for estimates ready for comparison."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparing:
    """How documents are compared.

    Parameters
    ----------
    method : Measure
    shingling : Shingling
    threshold : float
        A pair matches if its score reaches it.
    boundary : int, default 0
        Orders below it are references, which are not compared with each other.
    """

    method: Measure
    shingling: Shingling
    threshold: float
    boundary: int = 0


def comparable(batch: pa.RecordBatch, settings: Comparing, key: int) -> Rows:
    """Make the documents of a batch ready for comparison, by their ``estimate`` if there is one, else by their ``text``."""
    if "estimate" in batch.schema.names:
        words = from_arrow_array(batch.column("estimate").cast(pa.large_binary()))
        taken = words.data[words.offsets[0] : words.offsets[-1]].copy()
        return settings.method.estimable(taken.view(np.uint32).reshape(len(batch), -1)).rows
    texts = from_arrow_array(batch.column("text"))
    return settings.method.comparable(_pieces(texts, settings.shingling, key)).rows


def _pieces(texts: Texts, shingling: Shingling, key: int) -> Iterator[tuple[UInt64Array, Int64Array]]:
    """Yield the shingle hashes of a megabyte of text, or of one longer text, at a time; mixed with the key unless it is 0."""
    for begin, end in texts.cut():
        values, offsets = shingling.hashes(texts.slice(begin, end))
        if key:
            keyed_mixer(values, np.uint64(key), values)
        yield values, offsets


def weights(batch: pa.RecordBatch) -> Int64Array:
    """Return about how many bytes are worked on for each row of a batch with texts or estimates and perhaps partners."""
    if "estimate" in batch.schema.names:
        total = np.full(len(batch), max(64, batch.column("estimate").nbytes // len(batch)), np.int64)
    else:
        total = np.diff(from_arrow_array(batch.column("text")).offsets) + 64
    if "partners" in batch.schema.names:
        total = total + 32 * np.diff(partners_of(batch)[0])
    return total


def partners_of(batch: pa.RecordBatch) -> tuple[Int64Array, Int64Array]:
    """Return (offsets, orders) of the column ``partners``."""
    column = batch.column("partners").cast(pa.large_list(pa.int64()))
    return column.offsets.to_numpy(), column.values.to_numpy()
