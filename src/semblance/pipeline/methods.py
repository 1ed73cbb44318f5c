"""Candidates by MinHash: documents that share a band."""

from __future__ import annotations

from dataclasses import dataclass

from ..methods import minhash
from ..search.banding import Candidates, find_candidates
from ..values import Int64Array, UInt32Array, UInt64Array


@dataclass(frozen=True, slots=True, kw_only=True)
class MinHashMethod(minhash.MinHashMethod):
    """MinHash with the search of a corpus, which needs no codes."""

    max_bucket: int
    coded: bool = False

    @property
    def estimation_slots(self) -> int:
        """Slots of each signature that are set aside for estimates."""
        return self.n_estimates

    def keys(self, values: UInt64Array, offsets: Int64Array, groups: UInt64Array) -> tuple[UInt64Array, UInt32Array]:
        """Return (band keys, slots set aside for estimates) of documents."""
        sketched = self.sketch(values, offsets, groups)
        return sketched.keys, sketched.estimates

    def candidates(
        self, keys: UInt64Array, groups: UInt64Array, n_reference: int, every_pair: bool, max_pairs: int | None, threads: int
    ) -> Candidates:
        """Return the pairs that share a bucket; buckets are large beyond ``max_bucket`` unless every pair is wanted."""
        max_bucket = None if every_pair else self.max_bucket
        return find_candidates(keys, max_bucket=max_bucket, n_reference=n_reference, max_pairs=max_pairs, threads=threads)
