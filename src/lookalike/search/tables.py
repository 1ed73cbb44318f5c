"""Manku's tables: fingerprints that agree in some blocks of bits."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from ..errors import ParameterError
from ..kernels import tables as kernel
from ..kernels.hamming import bucket_offsets
from ..kernels.hits import Hits
from ..theory import blocks as theory
from ..values import Int64Array, UInt64Array
from ._fingerprints import FingerprintIndex, Margins, Search
from .self_join import block_masks


class TableIndex(FingerprintIndex):
    """Tables of all combinations of ``lead`` of ``blocks`` blocks: two fingerprints within the radius agree in one of them.

    Parameters
    ----------
    radius : int >= 0, default 3
    blocks : int, default 4
        z: blocks of bits, as equal as can be.
    lead : int, default 1
        x: blocks that must agree, with ``blocks - lead >= radius``.
    lookup : {"prefix", "binary"}, default "prefix"
        Direct access by the upper bits of the keys, or bisection.
    bits : int, optional

    Raises
    ------
    ParameterError
        If the blocks cannot guarantee the radius, or fingerprints are incompatible.

    Notes
    -----
    Exact. Memory: 12 bytes a fingerprint and table, and an index of its keys, C(blocks, lead) tables.

    References
    ----------
    Manku, Jain & Das Sarma, "Detecting near-duplicates for web crawling", WWW 2007; thesis on PSM, equations 6.1-6.12.
    """

    def __init__(
        self, *, radius: int = 3, blocks: int = 4, lead: int = 1, lookup: str = "prefix", bits: int | None = None
    ) -> None:
        super().__init__(radius=radius, bits=bits)
        self.n_tables = theory.block_tables(blocks, lead, radius)
        if lookup not in ("prefix", "binary"):
            raise ParameterError(f"lookup must be prefix or binary; got {lookup!r}")
        self.blocks, self.lead, self.lookup = blocks, lead, lookup

    def _build(self) -> None:
        """Sort the keys of each table."""
        words = self._stored
        choices = tuple(combinations(range(self.blocks), self.lead))
        masks = block_masks(self.bits or 64, self.blocks, choices)
        n = len(words)
        prefix_bits = min(24, max(1, int(max(n, 2) - 1).bit_length()))
        shift = np.uint64(64 - prefix_bits)
        sorted_keys, rows = np.empty((self.n_tables, n), np.uint64), np.empty((self.n_tables, n), np.uint32)
        offsets = np.empty((self.n_tables, (1 << prefix_bits) + 1), np.uint32)
        keys = np.empty(n, np.uint64)
        for table, mask in enumerate(masks):
            kernel.block_keys(words, mask, keys)
            order = np.argsort(keys, kind="stable")
            sorted_keys[table], rows[table] = keys[order], order
            bucket_offsets(sorted_keys[table] >> shift, offsets[table], 0)
        self._tables = kernel.BlockTables(words, masks, sorted_keys, rows, offsets, shift)

    def _search(self, query: UInt64Array, margins: Margins, first_only: bool, self_join: bool) -> Search:
        query_keys = np.empty((self.n_tables, len(query)), np.uint64)
        tables, binary = self._tables, self.lookup == "binary"
        for table, mask in enumerate(tables.masks):
            kernel.block_keys(query, mask, query_keys[table])

        def search(start: int, stop: int, hits: Hits, compared: Int64Array) -> int:
            return int(
                kernel.search_blocks(
                    query, query_keys, start, stop, tables, binary, self.radius, first_only, self_join, hits, compared
                )
            )

        return search
