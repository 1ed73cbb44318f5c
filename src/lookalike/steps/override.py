"""Overrides are looked up while documents are sketched: each document learns the number of the one that names it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..core import digest_documents
from ..hashing import digest_secret
from ..inputs.ids import Labels
from ..inputs.overrides import Overrides
from ..text.texts import from_arrow_array
from ..values.arrow import strings, to_arrow, to_numpy
from .batches import Batches, batch_of, ints
from .totals import Total

OVERRIDE = pa.field("override", pa.int32())
"""The number of the override of a document, from 1: positive if it is to be kept, negative if it is to be removed; 0: none."""

SPARED = pa.schema([("order", pa.int64())])
_NOWHERE = -(1 << 62)


def _digests(ids: pa.Array, key: bytes) -> NDArray[np.bytes_]:
    """Return keyed digests of ids, 16 bytes each."""
    texts = from_arrow_array(ids)
    found: NDArray[np.bytes_] = digest_documents(texts.data, texts.offsets, digest_secret(key, "overrides")).view("S16")[:, 0]
    return found


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Overriding:
    """Overrides as a step looks them up; 20 bytes each."""

    digests: NDArray[np.bytes_]  # keyed ones of the ids, ascending
    numbers: NDArray[np.int32]  # see ``OVERRIDE``
    boundary: int  # positions below it are references, which nothing overrides
    labels: Labels | None  # what documents are called, where ids are no column

    @classmethod
    def of(cls, overrides: Overrides, key: bytes, boundary: int, labels: Labels | None) -> Overriding:
        """Make overrides ready to be looked up under a secret key."""
        ids = [entry.id.encode("utf-8", "surrogatepass") for entry in overrides.entries]  # a lone surrogate is no document's
        removes = np.array([entry.action == "remove" for entry in overrides.entries], np.bool_)
        digests = _digests(strings(ids, pa.large_binary()), key)
        order = np.argsort(digests)
        numbers = np.arange(1, len(ids) + 1, dtype=np.int32)
        numbers[removes] *= -1
        return cls(digests=digests[order], numbers=numbers[order], boundary=boundary, labels=labels)

    def look_up(self, batch: pa.RecordBatch, key: bytes) -> NDArray[np.int32]:
        """Return the number of the override of each document; columns position, number and, where it is one, id."""
        found = np.zeros(len(batch), np.int32)
        positions = ints(batch, "position")
        if not len(self.digests) or not (positions >= self.boundary).any():
            return found
        if self.labels is None:
            ids = batch.column("id")
        else:
            ids = self.labels.ids(positions, ints(batch, "number")).cast(pa.large_string())
        digests = _digests(ids, key)
        places = np.minimum(np.searchsorted(self.digests, digests), len(self.digests) - 1)
        named = (self.digests[places] == digests) & (positions >= self.boundary)
        found[named] = self.numbers[places[named]]
        return found


def _add_named(total: NDArray[Any], batch: pa.RecordBatch) -> None:
    """Look at a batch of sketches: columns position and override."""
    override, position = to_numpy(batch["override"]), to_numpy(batch["position"])
    named = np.flatnonzero(override)
    number = np.abs(override[named]) - 1
    np.maximum.at(total[0], number, position[named])
    np.maximum.at(total[1], number, -position[named])


def named_documents(n: int) -> Total:
    """The last position of a document that each of n overrides names, and the first one, negated; far below 0: none."""
    return Total(_add_named, (2, n), fill=_NOWHERE, combine=np.maximum)


def spared(rows: Batches) -> Batches:
    """Choose the documents that an override keeps."""
    for batch in rows:
        chosen = batch.filter(to_arrow(ints(batch, "override") > 0))
        yield batch_of(SPARED, chosen.column("order"))
