"""A kind of index: a method, and how its sketches are stored and looked up.

From sketches come a few 64-bit keys, of which one must match for a document to be looked at, and codes of up to 16 bits, by
which it is scored. How documents are sketched and how pairs are scored exactly, the method says.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ..choices import Normalization, Unit
from ..methods.method import Method
from ..planner import check_targets
from ..text.shingle import Shingling
from ..values import Float64Array, Int64Array, UInt32Array, UInt64Array

NO_PREFIXES = np.empty((0, 0), np.uint32)


@dataclass(frozen=True, slots=True, eq=False)
class Sketches:
    """Sketches of documents, ready to be added or looked up."""

    keys: UInt64Array
    codes: NDArray[np.uint16]
    empty: NDArray[np.bool_]  # documents without a single token; they match nothing
    kind: SketchScheme  # whose parameters made them
    margins: NDArray[np.float32] | None = None  # (n, 64): how sure each bit is, to ask by weak bits; never stored

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
class SketchScheme(ABC):
    """What all documents of an index have in common; what a shingle is stands in ``lookalike.Shingling``."""

    threshold: float = 0.8  # resemblance from which documents are found (of SimHash: cosine)
    recall: float = 0.99
    unit: Unit = "word"
    width: int | None = None
    normalization: Normalization = "NFC"
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
    @abstractmethod
    def left_out(self) -> frozenset[str]:
        """Parameters that version 1 of the format did not have, where they say what it did: they are not written."""

    @property
    @abstractmethod
    def method(self) -> Method:
        """What sketches documents and scores pairs of them."""

    @property
    @abstractmethod
    def n_keys(self) -> int:
        """Tables of an index."""

    @property
    @abstractmethod
    def n_codes(self) -> int:
        """Words of 16 bits that the codes of a document fill."""

    @property
    @abstractmethod
    def lane(self) -> int:
        """Bits of a code."""

    @property
    @abstractmethod
    def prefix_bits(self) -> int:
        """Most bits by which a table may be entered."""

    @property
    @abstractmethod
    def lowest(self) -> int:
        """Lowest score there is."""

    @property
    @abstractmethod
    def least(self) -> int:
        """Least score of a match: the estimate is as high as of documents at the threshold, and the radius is not left."""

    @property
    @abstractmethod
    def recall_at_threshold(self) -> float:
        """Probability that a document at the threshold is looked at, probes apart, and estimated to be a match."""

    @property
    def candidate_recall(self) -> float:
        """Probability that a document at the threshold, or within the radius, is looked at, probes apart."""
        return 1.0

    @property
    def least_estimate(self) -> float:
        """The lowest estimate of a match."""
        place = self.least - self.lowest
        return float(self.estimates[0][place]) if place < len(self.estimates[0]) else 1.0

    @property
    @abstractmethod
    def error_at_threshold(self) -> float:
        """Standard error of an estimate of the threshold."""

    @property
    @abstractmethod
    def estimates(self) -> tuple[Float64Array, Float64Array]:
        """Estimates and their standard errors for every score there is, from the lowest."""

    @abstractmethod
    def sketch(self, values: UInt64Array, offsets: Int64Array, asking: bool = True) -> Sketches:
        """Sketch documents given by their shingle hashes; ``asking``: they are to be looked up, too, and not only added."""

    @property
    def radius(self) -> int:
        """Bits in which keys may differ."""
        return 0

    @property
    def probes(self) -> int | None:
        """Places of all tables that a query looks at; None where it looks at its own keys."""
        return None

    def share_probed(self, tables: Sequence[tuple[int, int]]) -> float:
        """Return the share found of what no probe should miss, in tables of (bits of a prefix, documents)."""
        return 1.0

    def prefixes(self, sketches: Sketches, prefix_bits: int) -> UInt32Array:
        """Return the prefixes that some queries look at in a table, the likeliest first; none where they look at their keys."""
        return NO_PREFIXES

    def estimate(self, score: Int64Array) -> tuple[Float64Array, Float64Array]:
        """Return (estimates, standard errors) of scores."""
        estimated, error = self.estimates
        places = score - self.lowest if self.lowest else score
        return estimated.take(places), error.take(places)

    def measure(self, values: UInt64Array, offsets: Int64Array, left: Int64Array, right: Int64Array) -> Float64Array:
        """Return the exact scores of pairs of documents, all of which are given by their shingle hashes."""
        scores: Float64Array = self.method.comparable([(values, offsets)]).compare(left, right, 0.0)
        return scores.clip(0.0, 1.0)
