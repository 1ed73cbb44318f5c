"""Queries compared with the texts of their matches, exactly, many at a time."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from ..text.keyed import KeyedHashes
from ..text.texts import Texts, from_bytes
from ..values import Float64Array
from .kinds import AnyKind
from .lookup import Found
from .segments import Segment

BLOCK_BYTES = 4 << 20  # of texts that are compared together


def measure(kind: AnyKind, segments: Sequence[Segment], asked: Texts, found: Found) -> Float64Array:
    """Return how alike queries, given by their texts, and their matches are: by hashes under a key drawn for it.

    Equal texts are shingled once: a thousand copies that ten queries find are one text, and not ten thousand.
    """
    out = np.empty(len(found.query))
    hashing = KeyedHashes(kind.shingling, os.urandom(16)) if len(out) else None
    rows = list(zip(found.query.tolist(), found.segment.tolist(), found.row.tolist(), strict=True))
    begin = 0
    while hashing is not None and begin < len(rows):
        numbers, left, right, size = dict[bytes, int](), list[int](), list[int](), 0
        while begin + len(left) < len(rows) and size <= BLOCK_BYTES:
            query, segment, row = rows[begin + len(left)]
            for side, text in ((left, asked.row(query)), (right, segments[segment].text(row))):
                size += 0 if text in numbers else len(text)
                side.append(numbers.setdefault(text, len(numbers)))
        values = hashing.hashes(from_bytes(list(numbers)))
        out[begin : begin + len(left)] = kind.measure(*values, np.array(left), np.array(right))
        begin += len(left)
    return out
