"""Tables of fingerprints sorted by blocks of bits: Manku's, and those that are probed a flip or two away as well."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np

from ..errors import check_choice
from ..kernels import tables as kernel
from ..kernels.hamming import bucket_offsets, prefixes
from ..kernels.scratch import Hits
from ..theory import blocks as theory
from ..theory.hamming_costs import Costs, layout_memory, layout_query
from ..values import Int64Array, UInt64Array
from ..values.arrays import whole
from .fingerprints import QUERIES_IN_FLIGHT, FingerprintIndex, Margins, Search, sorted_by_prefix
from .self_join import block_masks

MAX_PREFIX, MOST_TABLES, MOST_PROBES = 26, 16, 20_000
Ranges = tuple[tuple[int, int], ...]
Tables = tuple[tuple[Ranges, int], ...]


class TableIndex(FingerprintIndex):
    """Tables of all combinations of ``lead`` of ``blocks`` blocks: two fingerprints within the radius agree in one of them.

    Parameters
    ----------
    radius : int >= 0, default 3
    blocks : int, or sequence of int, default 4
        z: blocks of bits, as equal as can be, or the width of each, from the lowest bit on. Equal ones compare the fewest
        uniform fingerprints.
    lead : int, default 1
        x: blocks that must agree, with ``blocks - lead >= radius``.
    lookup : {"prefix", "binary"}, default "prefix"
        Direct access by the upper bits of the keys, or bisection.
    bits : int, optional

    Raises
    ------
    ParameterError
        If the blocks cannot guarantee the radius, their widths do not add up to the bits, or fingerprints are incompatible.

    Notes
    -----
    Exact. Memory: 12 bytes a fingerprint and table, and an index of its keys, C(blocks, lead) tables.

    References
    ----------
    Manku, Jain & Das Sarma, "Detecting near-duplicates for web crawling", WWW 2007; thesis on PSM, equations 6.1-6.12.
    """

    def __init__(
        self,
        *,
        radius: int = 3,
        blocks: int | Sequence[int] = 4,
        lead: int = 1,
        lookup: str = "prefix",
        bits: int | None = None,
    ) -> None:
        if isinstance(blocks, Sequence):
            blocks = tuple(whole("the width of a block", width, 1) for width in blocks)
            bits = sum(theory.block_sizes(sum(blocks) if bits is None else whole("bits", bits, 1), blocks))
        super().__init__(radius=radius, bits=bits)
        lead = whole("lead", lead, 1)
        if not isinstance(blocks, tuple):
            blocks = whole("blocks", blocks, 1)
        self.n_tables = theory.block_tables(len(blocks) if isinstance(blocks, tuple) else blocks, lead, radius)
        check_choice("lookup", lookup, ("prefix", "binary"))
        self.blocks: int | tuple[int, ...] = blocks
        self.lead, self.lookup = lead, lookup

    def _build(self) -> None:
        """Sort the keys of each table."""
        words = self._stored
        sizes = theory.block_sizes(self.bits or 64, self.blocks)
        masks = block_masks(sum(sizes), sizes, tuple(combinations(range(len(sizes)), self.lead)))
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


@dataclass(frozen=True, slots=True)
class Layout:
    """Tables of a search: for each the bits of its prefix, as ranges (first bit, number), and the flips it probes."""

    tables: Tables
    recall: float  # least share of pairs within the radius that are found if differing bits fall anywhere alike
    cost: float  # modelled nanoseconds of a query
    memory: float  # bytes of all tables

    @property
    def shape(self) -> list[tuple[int, int]]:
        """Bits of the prefix and flips of each table."""
        return [(sum(count for _, count in ranges), flips) for ranges, flips in self.tables]


def layouts(n: int, bits: int, radius: int, costs: Costs) -> list[Layout]:
    """All layouts of up to 16 tables, and what they find and cost. Tables are sorted by one block each of equal size, with up
    to two flips; or, exact without flips, by all combinations of blocks that leave as many out as bits may differ."""
    words, widest = (bits + 63) // 64, max(4, min(MAX_PREFIX, int(max(n, 16)).bit_length() + 1))
    found: dict[Tables, float] = {}
    for blocks in range(1, min(MOST_TABLES, bits // 4) + 1):
        sizes = theory.block_sizes(bits, blocks)
        starts = [sum(sizes[:i]) for i in range(blocks)]
        for flips in range(3):
            for more in range(1, blocks + 1) if flips else [blocks]:  # tables with so many flips, the others with one less
                for used in range(1, blocks + 1):
                    shape = [(min(size, widest), flips - (i >= more)) for i, size in enumerate(sizes[:used])]
                    if sum(theory.combinations_within(p, f) for p, f in shape) <= MOST_PROBES:
                        tables: Tables = tuple((((starts[i], p),), f) for i, (p, f) in enumerate(shape))
                        found[tables] = theory.found_share(bits, min(radius, bits), shape)
    for blocks, choices in theory.join_designs(bits, radius, MOST_TABLES) if radius else []:
        for most in (widest, widest - 2) if choices[0] else ():
            found[tuple((block_ranges(bits, blocks, choice, most), 0) for choice in choices)] = 1.0
    out = []
    for tables, recall in found.items():
        layout = Layout(tables, recall, 0.0, 0.0)
        cost, memory = layout_query(n, layout.shape, costs), layout_memory(n, words, layout.shape)
        out.append(Layout(tables, recall, cost, memory))
    return out


def block_ranges(bits: int, blocks: int, choice: tuple[int, ...], most: int) -> Ranges:
    """Return the bits of some blocks as ranges, neighbours joined, no more bits than ``most``."""
    sizes = theory.block_sizes(bits, blocks)
    out: list[tuple[int, int]] = []
    for block in choice:
        first, count = sum(sizes[:block]), min(sizes[block], most)
        most -= count
        if out and sum(out[-1]) == first:
            out[-1] = (out[-1][0], out[-1][1] + count)
        elif count:
            out.append((first, count))
    return tuple(out)


@lru_cache(maxsize=256)
def choose_layout(magnitude: int, bits: int, radius: int, recall: float, memory: float, costs: Costs) -> Layout | None:
    """Return the layout that costs least for 2^magnitude fingerprints, finds the wanted share and fits; None: scan them."""
    n = 1 << magnitude
    fitting = [x for x in layouts(n, bits, radius, costs) if x.recall >= recall - 1e-12 and x.memory <= memory]
    best = min(fitting, key=lambda x: (x.cost, len(x.tables)), default=None)
    return best if best is not None and best.cost < costs.scan * n else None


def _flips(bits: int, most: int) -> UInt64Array:
    """Masks of at most ``most`` of so many bits, fewest bits first."""
    chosen = (places for size in range(most + 1) for places in combinations(range(bits), size))
    return np.array([sum(1 << place for place in places) for places in chosen], np.uint64)


class BlockTables(FingerprintIndex):
    """The tables of one layout over fingerprints that stay as they are: a segment of ``HammingIndex``."""

    def __init__(self, words: UInt64Array, *, radius: int, bits: int, layout: Layout) -> None:
        super().__init__(radius=radius, bits=bits)
        self.layout = layout
        n, n_tables = len(words), len(layout.tables)
        tables, rows = np.empty((n_tables, n, words.shape[1]), np.uint64), np.empty((n_tables, n), np.uint32)
        masks = np.zeros((n_tables, words.shape[1]), np.uint64)
        offsets, sizes = [], [0]
        for table, (ranges, _) in enumerate(layout.tables):
            rows[table], begins = sorted_by_prefix(words, ranges)
            np.take(words, rows[table], axis=0, out=tables[table])
            offsets.append(begins)
            sizes.append(len(begins))
            for bit in (bit for first, count in ranges for bit in range(first, first + count)):
                masks[table, bit // 64] |= np.uint64(1 << bit % 64)
        self._tables = kernel.Tables(tables, rows, np.concatenate(offsets), np.cumsum(sizes)[:-1], masks)

    def __len__(self) -> int:
        """Return the number of fingerprints."""
        return int(self._tables.rows.shape[1])

    def _prepare(self) -> None:
        """Nothing is added later."""

    def _search(self, query: UInt64Array, margins: Margins, first_only: bool, self_join: bool) -> Search:
        masks = [_flips(count, most) for count, most in self.layout.shape]
        block = kernel.Block(*(np.empty(QUERIES_IN_FLIGHT, kind) for kind in (np.int64, np.int64, np.bool_)))
        flips = kernel.Flips(np.concatenate(masks), np.cumsum([0, *map(len, masks)]))
        ranges = [np.array(ranges, np.int64) for ranges, _ in self.layout.tables]

        def search(start: int, stop: int, hits: Hits, compared: Int64Array) -> int:
            own = np.empty((len(ranges), stop - start), np.uint64)
            for table in range(len(ranges)):
                prefixes(query, start, stop, ranges[table], own[table])
            return int(
                kernel.search(query, own, start, stop, self._tables, flips, self.radius, first_only, block, hits, compared)
            )

        return search
