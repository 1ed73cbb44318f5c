"""An index of SimHash fingerprints: radius + 1 turned tables that find all within the radius, or one that weak bits probe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from ..errors import ParameterError
from ..methods.simhash import SimHashMethod
from ..search.weak_bits import MAX_PREFIX, WeakBits
from ..sketches.simhash import SimHash
from ..theory import simhash
from ..theory.hamming_search import combinations_within, probed_share
from ..values import Float64Array, Int64Array, UInt32Array, UInt64Array
from ..values.weighted import count_repeats
from .kind import NO_PREFIXES, Kind, Sketches

BITS = 64
MOST_PROBES = 20_000


@dataclass(frozen=True, kw_only=True)
class SimHashKind(Kind):
    """64-bit fingerprints, turned by one of ``radius + 1`` blocks each, as keys, and plain, in four pieces, as codes.

    With ``probes`` there is one key, the plain fingerprint.

    Parameters
    ----------
    radius : int in [0, 7], default 3
        Bits in which fingerprints of near-duplicates may differ.
    probes : int in [1, 20000], optional
        Runs of the one table that a query looks at: its own, and those that it would be in if its weakest bits were others.

    References
    ----------
    Thesis on probabilistic SimHash matching, chapters IV and V.
    """

    name = "simhash"
    radius: int = 3
    probes: int | None = None
    lane: ClassVar[int] = 1

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        SimHash(bits=BITS, seed=self.seed)
        if not 0 <= self.radius <= 7:
            raise ParameterError(f"radius must be in 0..7 for an index; got {self.radius}")
        if self.probes is not None and not 1 <= self.probes <= MOST_PROBES:
            raise ParameterError(f"probes must be in 1..{MOST_PROBES:,}; got {self.probes}")

    @property
    def left_out(self) -> frozenset[str]:
        """Probes, where there are none."""
        return frozenset(("probes",)) if self.probes is None else frozenset()

    @property
    def n_keys(self) -> int:
        """Tables of an index: of radius + 1 blocks one is free of differences. What is probed needs one."""
        return self.radius + 1 if self.probes is None else 1

    @property
    def n_codes(self) -> int:
        """Codes of a document."""
        return 4

    @property
    def prefix_bits(self) -> int:
        """Most bits by which a table may be entered: those of a block, or of the longest prefix that is probed."""
        return BITS // self.n_keys if self.probes is None else MAX_PREFIX

    @cached_property
    def least(self) -> int:
        """Least score of a match: neither the radius is left nor the estimate below the threshold."""
        distances = np.arange(self.radius + 1)
        enough = distances[simhash.cosine(distances, BITS) >= self.threshold - 1e-12]
        return -int(enough.max(initial=-1)) if len(enough) else 1

    @property
    def recall_at_threshold(self) -> float:
        """Probability that a document whose cosine is the threshold is within the radius, and estimated to reach it.

        It is then found, unless it is searched for by weak bits: see ``share_probed``.
        """
        return float(simhash.within_radius(self.threshold, -self.least, BITS)) if self.least <= 0 else 0.0

    @cached_property
    def method(self) -> SimHashMethod:
        """What fingerprints."""
        return SimHashMethod(radius=self.radius, seed=self.seed, verify="sketch")

    @property
    def error_at_threshold(self) -> float:
        """Standard error of an estimate of the threshold."""
        return float(simhash.cosine_variance(self.threshold, BITS) ** 0.5)

    @property
    def _farthest(self) -> int:
        """Most bits in which a match differs."""
        return max(0, -self.least)

    def share_probed(self, tables: Sequence[tuple[int, int]]) -> float:
        """Return the share of the documents at the threshold that its probes find, of those that an exact search would.

        Notes
        -----
        By a model: sums of bits are normal and independent, as they are for documents of many features of like weights.
        """
        if self.probes is None:
            return 1.0
        shares = [(n, probed_share(self.threshold, bits, self.probes, self._farthest, BITS)) for bits, n in tables if n]
        if not shares:
            return probed_share(self.threshold, MAX_PREFIX, self.probes, self._farthest, BITS)
        return sum(n * share for n, share in shares) / sum(n for n, _ in shares)

    def prefixes(self, sketches: Sketches, prefix_bits: int) -> UInt32Array:
        """Return the prefixes that some queries look at in a table, the likeliest first; none where they look at their keys."""
        if self.probes is None:
            return NO_PREFIXES
        every = combinations_within(prefix_bits, self._farthest)
        weak = WeakBits(BITS - prefix_bits, prefix_bits, self._farthest, min(self.probes, every))
        return weak.prefixes(sketches.keys, sketches.margins, 0, len(sketches))

    def sketch(self, values: UInt64Array, offsets: Int64Array, asking: bool = True) -> Sketches:
        """Fingerprint documents given by their shingle hashes; a feature weighs as often as it occurs.

        ``asking``: margins come with them, if this kind needs any; what is only added needs none.
        """
        empty = np.diff(offsets) == 0
        made = self.method.fingerprints(values, offsets, margins=asking and self.probes is not None)
        words = made.words[:, 0]
        margins = None if made.margins is None else made.margins.astype(np.float32, copy=False)
        turns = (self.prefix_bits * np.arange(self.n_keys)).astype(np.uint64)
        keys = (words[:, None] << turns) | ((words[:, None] >> np.uint64(1)) >> (np.uint64(63) - turns))
        return Sketches(keys, words[:, None].view(np.uint16), empty, self, margins)

    def estimate(self, score: Int64Array) -> tuple[Float64Array, Float64Array]:
        """Return (estimated cosine, standard error) of scores."""
        estimated, error = self._estimates
        return estimated[-score], error[-score]

    @cached_property
    def _estimates(self) -> tuple[Float64Array, Float64Array]:
        """The same for every distance there is."""
        estimated = np.asarray(simhash.cosine(np.arange(BITS + 1), BITS), np.float64)
        return estimated, np.asarray(simhash.cosine_error(np.arange(BITS + 1), BITS), np.float64)

    def measure(self, values: UInt64Array, offsets: Int64Array, left: Int64Array, right: Int64Array) -> Float64Array:
        """Return the exact cosine of pairs of documents, all of which are given by their features."""
        distinct, counts, bounds = count_repeats(values, offsets)
        parts = [slice(*bounds[i : i + 2]) for i in range(len(offsets) - 1)]
        lengths = [float(np.linalg.norm(counts[part])) for part in parts]
        out = np.zeros(len(left))
        for pair, (a, b) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
            if lengths[a] and lengths[b]:
                some, others = distinct[parts[a]], distinct[parts[b]]
                _, i, j = np.intersect1d(some, others, assume_unique=True, return_indices=True)
                dot = float(counts[parts[a]][i].astype(np.float64) @ counts[parts[b]][j].astype(np.float64))
                out[pair] = min(1.0, dot / (lengths[a] * lengths[b]))
        return out
