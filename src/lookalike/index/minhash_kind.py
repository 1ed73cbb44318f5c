"""An index of MinHash signatures: bands find documents, slots that no band uses say how alike they are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from ..errors import ParameterError
from ..kernels.banding import band_keys
from ..kernels.bbit import pack_lanes
from ..methods.exact_sets import RowSets
from ..planner import Plan, choose_sketch, plan
from ..sketches.fast_similarity import FastSimilarity
from ..theory import shares
from ..values import Float64Array, Int64Array, UInt32Array, UInt64Array
from ..values.arrays import MAX_PERMUTATIONS, whole
from .kind import NO_PREFIXES, Kind, Sketches

SLOTS, BITS = 256, 16
PLANNED = ("standard_error", "sketch_bytes")
LANES = (1, 2, 4, 8, 16)  # what divides the 16 bits of a stored word


@dataclass(frozen=True, kw_only=True)
class MinHashKind(Kind):
    """Bands of a MinHash signature as keys, the lowest bits of more slots, side by side in words of 16, as codes.

    Parameters
    ----------
    bands, rows : int >= 1, optional
        In place of the planner's choice.
    bits : {1, 2, 4, 8, 16}, default 16
        Of a slot. The 16 are those of its value; fewer are taken from the value mixed with its place.
    """

    bands: int | None = None
    rows: int | None = None
    bits: int = BITS
    slots: int = SLOTS
    name = "minhash"
    radius: ClassVar[int] = 0
    probes: ClassVar[None] = None

    @cached_property
    def plan(self) -> Plan:
        """Bands and rows."""
        return plan(threshold=self.threshold, recall=self.recall, bands=self.bands, rows=self.rows)

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        whole("slots", self.slots, 1, MAX_PERMUTATIONS)
        if self.bits not in LANES:
            raise ParameterError(f"bits must be one of {', '.join(map(str, LANES))}; got {self.bits}")
        _ = self.scheme

    def resolved(self) -> Self:
        """Write out bands and rows too."""
        return replace(super().resolved(), bands=self.plan.bands, rows=self.plan.rows)

    @property
    def n_keys(self) -> int:
        """Tables of an index."""
        return self.plan.bands

    @property
    def left_out(self) -> frozenset[str]:
        """Bits and slots, if they are those of all indexes of version 1."""
        return frozenset(("bits", "slots")) if (self.bits, self.slots) == (BITS, SLOTS) else frozenset()

    @property
    def lane(self) -> int:
        """Bits of a code."""
        return self.bits

    @property
    def n_codes(self) -> int:
        """Words of 16 bits that the codes of a document fill."""
        return -(-self.slots * self.bits // BITS)

    @property
    def chance(self) -> float:
        """Probability that two unequal slots have equal codes."""
        return 2.0**-self.bits

    @property
    def prefix_bits(self) -> int:
        """Most bits by which a table may be entered."""
        return 32

    @cached_property
    def least(self) -> int:
        """Least score of a match: the estimate reaches the threshold."""
        return self._enough - self._perfect

    @cached_property
    def _enough(self) -> int:
        """Least number of equal slots with which an estimate reaches the threshold."""
        return int(np.ceil(self.slots * (self.threshold * (1 - self.chance) + self.chance) - 1e-9))

    @property
    def _perfect(self) -> int:
        """Slots that are equal where the score is 0: whole codes are counted if they are equal, packed ones if they differ."""
        return 0 if self.bits == BITS else self.slots

    @property
    def recall_at_threshold(self) -> float:
        """Probability that a document at the threshold is found: looked at, and estimated to reach the threshold."""
        match = self.threshold * (1 - self.chance) + self.chance
        return self.plan.recall_at_threshold * shares.reach_probability(match, min(1.0, self._enough / self.slots), self.slots)

    @property
    def error_at_threshold(self) -> float:
        """Standard error of an estimate of the threshold."""
        match = self.threshold * (1 - self.chance) + self.chance
        return float((match * (1 - match) / self.slots) ** 0.5 / (1 - self.chance))

    def share_probed(self, tables: Any) -> float:
        """Return the share of what bands bring together that is looked at: all of it."""
        return 1.0

    def prefixes(self, sketches: Sketches, prefix_bits: int) -> UInt32Array:
        """Return no prefixes: a query looks at its own keys only."""
        return NO_PREFIXES

    @cached_property
    def scheme(self) -> FastSimilarity:
        """What signs: the slots of the bands, then as many for estimates as there are codes."""
        return FastSimilarity(permutations=self.plan.bands * self.plan.rows + self.slots, seed=self.seed)

    def sketch(self, values: UInt64Array, offsets: Int64Array, asking: bool = True) -> Sketches:
        """Sketch documents given by their shingle hashes."""
        n, bands = len(offsets) - 1, self.plan.bands
        signed, keys = self.scheme.sign_values(values, offsets), np.empty((n, bands), np.uint64)
        band_keys(signed, np.zeros(n, np.uint64), bands, self.plan.rows, keys)
        estimates = signed[:, signed.shape[1] - self.slots :]
        if self.bits == BITS:
            codes = estimates.astype(np.uint16)
        else:
            codes = np.zeros((n, self.n_codes), np.uint16)
            pack_lanes(np.ascontiguousarray(estimates), self.bits, codes)
        return Sketches(keys, codes, offsets[1:] == offsets[:-1], self)

    def estimate(self, score: Int64Array) -> tuple[Float64Array, Float64Array]:
        """Return (estimated resemblance, standard error) of scores."""
        estimated, error = self._estimates
        return estimated[score + self._perfect], error[score + self._perfect]

    @cached_property
    def _estimates(self) -> tuple[Float64Array, Float64Array]:
        """The same for every number of equal slots there is."""
        equal = np.arange(self.slots + 1)
        estimated = np.clip((equal / self.slots - self.chance) / (1 - self.chance), 0, 1)
        return estimated, np.asarray(shares.share_error(equal, self.slots) / (1 - self.chance), np.float64)

    def measure(self, values: UInt64Array, offsets: Int64Array, left: Int64Array, right: Int64Array) -> Float64Array:
        """Return the exact resemblance of pairs of documents, all of which are given by their shingle hashes."""
        return np.maximum(RowSets.from_values(values, offsets).compare(left, right, 0.0), 0.0)


def plan_codes(given: dict[str, Any]) -> dict[str, Any]:
    """Return parameters with ``standard_error`` or ``sketch_bytes`` replaced by the planner's choice of bits and slots."""
    rest = dict(given)
    error, size = (rest.pop(name, None) for name in PLANNED)
    if error is None and size is None:
        return rest
    if "slots" in rest:
        raise ParameterError("slots fix the standard error and the bytes: give slots, a standard error or a number of bytes")
    if size is not None:
        size = whole("sketch_bytes", size, 2, 2 * MAX_PERMUTATIONS) // 2 * 2  # codes fill words of 16 bits
    bits = LANES if rest.get("bits") not in LANES else (rest["bits"],)
    chosen = choose_sketch(rest["threshold"], error, size, bits=bits, combined=())
    if chosen.slots > MAX_PERMUTATIONS:
        raise ParameterError(
            f"a standard error of {error} takes {chosen.slots:,} slots; an index has at most {MAX_PERMUTATIONS:,}"
        )
    return {"bits": chosen.bits, "slots": chosen.slots} | rest
