"""What all kinds of index have in common, and the sketches that they make."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ..planner import check_targets
from ..text.shingle import Shingling
from ..values import Int64Array, UInt64Array

NO_PREFIXES = np.empty((0, 0), np.uint32)


@dataclass(frozen=True, slots=True, eq=False)
class Sketches:
    """Sketches of documents, ready to be added or looked up.

    Parameters
    ----------
    empty : ndarray of bool, shape (n,)
        Documents without a single token; they match nothing.
    kind : Kind
        The parameters that made them.
    margins : ndarray of float32, shape (n, 64), optional
        How sure each bit of a fingerprint is, where an index is searched by weak bits; they are never stored.
    """

    keys: UInt64Array
    codes: NDArray[np.uint16]
    empty: NDArray[np.bool_]
    kind: Kind
    margins: NDArray[np.float32] | None = None

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self.keys)

    def take(self, rows: Int64Array) -> Sketches:
        """Return the sketches of some documents: of all where as many are asked for as there are, which ascend."""
        if len(rows) == len(self):
            return self
        margins = None if self.margins is None else self.margins[rows]
        return Sketches(self.keys[rows], self.codes[rows], self.empty[rows], self.kind, margins)


@dataclass(frozen=True, kw_only=True)
class Kind:
    """What all documents of an index have in common.

    Parameters
    ----------
    threshold : float in (0, 1]
        Resemblance from which documents are found (of SimHash: cosine).
    unit, width, normalization, fold_case
        What a shingle is: see ``lookalike.Shingling``.
    """

    threshold: float = 0.8
    recall: float = 0.99
    unit: str = "word"
    width: int | None = None
    normalization: str = "NFC"
    fold_case: bool = True
    seed: int = 1
    name: ClassVar[str]

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_targets(self.threshold, self.recall)
        _ = self.shingling

    @cached_property
    def shingling(self) -> Shingling:
        """What a shingle is."""
        return Shingling(unit=self.unit, width=self.width, normalization=self.normalization, fold_case=self.fold_case)

    def resolved(self) -> Self:
        """Return the same with all that is left to defaults and planner written out, so that it means the same for ever."""
        return replace(self, width=self.shingling.to_dict()["width"])

    def to_dict(self) -> dict[str, Any]:
        """Return all parameters as plain values."""
        given = {name: value for name, value in asdict(self).items() if name not in self.left_out}
        return {"kind": self.name} | given | {"shingling": self.shingling.to_dict()}

    @property
    def left_out(self) -> frozenset[str]:
        """Parameters that version 1 of the format did not have, where they say what it did: they are not written."""
        return frozenset()
