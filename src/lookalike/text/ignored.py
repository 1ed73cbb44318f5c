"""Shingles that do not count: those of templates, whatever documents they come in."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from hashlib import blake2b
from typing import Any

import numpy as np

from ..core import Dropped
from ..values import Int64Array, UInt64Array
from .texts import Texts, no_texts


@dataclass(frozen=True, slots=True)
class Ignored:
    """Shingles of some texts, which do not count: those whose hashes, without a key, are among ``hashes``.

    A result that was loaded knows how many there are, and their digest.
    """

    shingles: int
    digest: str
    names: tuple[str, ...] = field(default=(), compare=False)
    """Of the files that they come from; none: they were in memory."""
    texts: Texts = field(default_factory=partial(no_texts, 0), repr=False, compare=False)
    shingling: object = field(default=None, repr=False, compare=False)  # by which they are shingles, all of them
    hashes: UInt64Array = field(default_factory=lambda: np.empty(0, np.uint64), repr=False, compare=False)  # ascending

    @classmethod
    def of(cls, texts: Texts, hashes: UInt64Array, names: tuple[str, ...] = (), shingling: object = None) -> Ignored:
        """Return the shingles of texts that have one of some hashes."""
        hashes = np.unique(hashes)
        return cls(
            len(hashes), blake2b(hashes.astype("<u8").tobytes(), digest_size=16).hexdigest(), names, texts, shingling, hashes
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what tells them from others."""
        return {"shingles": self.shingles, "digest": self.digest}


class Dropping:
    """Drops some values, in place, from rows of hashes."""

    def __init__(self, values: UInt64Array) -> None:
        self._dropped = Dropped(np.ascontiguousarray(values))

    def __call__(self, values: UInt64Array, offsets: Int64Array) -> tuple[UInt64Array, Int64Array]:
        """Return the rows that are left: (values, offsets)."""
        left = self._dropped.drop(values, offsets)
        return values[: left[-1]], left
