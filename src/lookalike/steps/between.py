"""Pairs of which one document is in a part of the keep order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from ..values.arrow import to_arrow, to_numpy


@dataclass(frozen=True, slots=True, kw_only=True)
class Between:
    """Orders from ``begin`` on, and below ``end``."""

    begin: int
    end: int


def between(rows: Iterator[pa.RecordBatch], settings: Between) -> Iterator[pa.RecordBatch]:
    """Choose the pairs whose right document is in the part."""
    for batch in rows:
        right = to_numpy(batch["right"])
        yield batch.filter(to_arrow((right >= settings.begin) & (right < settings.end)))
