"""Candidates by banding: documents that agree in all rows of a band share a bucket."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ..core import band_keys, band_pairs, packed_band_keys
from ..core.threads import in_order
from ..errors import IncompatibleSketchError, ParameterError
from ..values import Int64Array, PackedSignatures, Pairs, Signatures, UInt64Array
from ..values.arrays import concatenate_columns, expand_counts, whole
from ..wording import band_counts
from .fingerprints import SharedIndex


def _places(layout: Int64Array) -> Int64Array:
    """Return word and bit of the first plane of each packed slot, its planes, and the words from one plane to the next."""
    found = []
    for word, slots, bits in layout.tolist():
        place = np.arange(slots)
        width = (slots + 63) // 64
        found.append(np.stack([word + place // 64, place % 64, np.full(slots, bits), np.full(slots, width)], 1))
    return np.ascontiguousarray(np.concatenate(found))


def find_candidates(keys: UInt64Array, threads: int = 1) -> tuple[Int64Array, Int64Array]:
    """Find the pairs of rows that have an equal key in some column."""
    found = in_order(partial(band_pairs, keys), range(keys.shape[1]), threads)
    left, right = concatenate_columns([(np.empty(0, np.int64),) * 2, *found])
    return left, right


class BandingIndex(SharedIndex):
    """Signatures cut into bands; documents that agree in all rows of at least one band are candidates.

    Two documents of resemblance R become candidates with probability 1 - (1 - R^rows)^bands. Of signatures packed to b bits
    slots agree by chance, too: for R read P = 2^-b + (1 - 2^-b) R (``theory.packed_banding.candidate_probability``), and take
    more rows (``theory.packed_banding.choose_bands`` says how many). ``pairs_above`` with a ``recall`` does all of it.

    Parameters
    ----------
    bands, rows : int >= 1
        ``bands * rows`` slots of the signatures are used; of packed ones the stored slots, part after part.

    Raises
    ------
    ParameterError
        If a number is below 1.

    Notes
    -----
    Time: a sort of n keys a band, and the pairs found. Memory: 8 bytes a band and document. Empty documents are in no pair.
    Raw one-permutation signatures are refused, packed or not: their empty bins have to be filled first. The probability holds
    for slots that agree independently, ``MinHash``, and at least for ``FastSimilarity``; not for filled bins of sets that have
    not several times as many members as there are bins. With 9 bands of 2 of 128 bins, which find .92 of the pairs of R = 1/2,
    bins filled by rotation find .64 of those with 4 members in both together, "optimal" .91, "reverse" .92.

    References
    ----------
    Bands of codes of b bits: Li, Shrivastava, Moore & König, "Hashing Algorithms for Large-Scale Learning", NIPS 2011; their
    match probability: Li & König, "b-Bit Minwise Hashing", WWW 2010, Theorem 1.

    Examples
    --------
    >>> import lookalike as la
    >>> shingles = la.shingle(["a b c d e f g", "a b c d e f g", "something else altogether, five words"])
    >>> signatures = la.sketches.FastSimilarity(permutations=128).sign(shingles)
    >>> pairs = la.search.BandingIndex(bands=16, rows=8).add(signatures).pairs()
    >>> pairs.left.tolist(), pairs.right.tolist()
    ([0], [1])
    """

    def __init__(self, *, bands: int, rows: int) -> None:
        super().__init__()
        self.bands: int = whole("bands", bands, 1)
        self.rows: int = whole("rows", rows, 1)
        self._made_by: tuple[Any, ...] | None = None
        self._added: list[tuple[UInt64Array, Int64Array]] = []
        self._n_rows = 0

    def __len__(self) -> int:
        """Return the number of documents added."""
        return self._n_rows

    def _keys_of(self, signatures: Signatures | PackedSignatures, adds: bool) -> tuple[UInt64Array, Int64Array]:
        """Return (band keys, row numbers) of the rows that are not empty, after checking that they fit; those that are added
        fix what fits."""
        if not isinstance(signatures, (Signatures, PackedSignatures)):
            raise ParameterError(f"bands are cut from Signatures, not from {type(signatures).__name__}: use FastSimilarity")
        scheme = signatures.scheme
        if getattr(scheme, "may_be_empty", False):
            raise ParameterError(
                "bins of raw one-permutation signatures can be empty, and empty bins are equal without being similar: "
                "make them "
                'with OnePermutation(densify="reverse"), or fill these with OnePermutation.fill; then pack them, where they '
                "are to be packed. Small sets are found less often than planned then: FastSimilarity has no empty slots"
            )
        made_by: tuple[Any, ...]
        if isinstance(signatures, PackedSignatures):
            made_by, kind = (signatures.packing, scheme, signatures.shingling), "stored slots"
            n_slots = int(signatures.layout[:, 1].sum())
        else:
            made_by, kind, n_slots = (scheme, signatures.shingling), "permutations", signatures.values.shape[1]
        if n_slots < self.bands * self.rows:
            raise ParameterError(
                f"{band_counts(self.bands, self.rows)} need {self.bands * self.rows} {kind}; the signatures have {n_slots}"
            )
        with self._turn:
            if self._made_by not in (None, made_by):
                raise IncompatibleSketchError(
                    f"this index holds signatures of {self._made_by}; those of {made_by} cannot be compared with them"
                )
            if adds:
                self._made_by = made_by
        if isinstance(signatures, PackedSignatures):
            keys = packed_band_keys(signatures.words, _places(signatures.layout), self.bands, self.rows)
            return keys, np.arange(len(signatures))
        full = np.flatnonzero(~signatures.empty)
        slots = signatures.values[full]
        slots = slots if slots.dtype == np.uint32 else slots.astype(np.uint64)
        return band_keys(slots, np.zeros(len(full), np.uint64), self.bands, self.rows), full

    def add(self, signatures: Signatures | PackedSignatures) -> BandingIndex:
        """Add documents; they get the next row numbers. Returns the index itself.

        Parameters
        ----------
        signatures : Signatures or PackedSignatures

        Returns
        -------
        BandingIndex

        Raises
        ------
        IncompatibleSketchError
            If the signatures were made with other parameters than those added before.
        ParameterError
            If they are too short, or have bins that can be empty.
        """
        keys, full = self._keys_of(signatures, True)
        with self._turn:
            self._added.append((keys, full + self._n_rows))
            self._n_rows += len(signatures)
        return self

    def _stored(self) -> tuple[UInt64Array, Int64Array, int]:
        """Return (band keys, their rows, number of rows) of what was added."""
        with self._turn:
            added, n_rows = list(self._added), self._n_rows
        none = np.empty((0, self.bands), np.uint64), np.empty(0, np.int64)
        keys, full = concatenate_columns([none, *added])
        return keys, full, n_rows

    def pairs(self, *, threads: int = 1) -> Pairs:
        """Return all pairs of rows that share a bucket, each once, ascending. Empty documents are in no pair.

        Parameters
        ----------
        threads : int >= 1
        """
        threads = whole("threads", threads, 1)
        keys, full, n_rows = self._stored()
        left, right = find_candidates(keys, threads)
        order = np.lexsort((right, left))
        return Pairs(full[left[order]], full[right[order]], n_rows)

    def query(self, signatures: Signatures | PackedSignatures) -> tuple[Int64Array, Int64Array]:
        """Return (rows of ``signatures``, stored rows) of all pairs that share a bucket, each once, ascending.

        Parameters
        ----------
        signatures : Signatures or PackedSignatures
        """
        keys, full = self._keys_of(signatures, False)
        stored, rows, _ = self._stored()
        found = []
        for band in range(self.bands):
            order = np.argsort(stored[:, band], kind="stable")
            column = stored[order, band]
            begin = np.searchsorted(column, keys[:, band], "left")
            count = np.searchsorted(column, keys[:, band], "right") - begin
            query, place = expand_counts(count)
            place = order[begin[query] + place]
            for earlier in range(band):  # that a pair shares, too
                fresh = keys[query, earlier] != stored[place, earlier]
                query, place = query[fresh], place[fresh]
            found.append(query * max(1, len(rows)) + place)
        pairs = np.sort(np.concatenate(found))
        return full[pairs // max(1, len(rows))], rows[pairs % max(1, len(rows))]
