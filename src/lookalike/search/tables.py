"""Tables of fingerprints sorted by blocks of bits: Manku's, and those that are probed a flip or two away as well."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..choices import Lookup, check_choice
from ..core import manku_search, manku_tables, multi_index_search
from ..theory import blocks as theory
from ..theory.hamming_costs import Costs, layout_memory, layout_query
from ..values import UInt64Array
from ..values.arrays import whole
from .fingerprints import FingerprintIndex, Margins, PrefixTables, Search
from .self_join import block_masks

MAX_PREFIX, MOST_TABLES, MOST_PROBES = 26, 16, 20_000
Ranges = tuple[tuple[int, int], ...]
Tables = tuple[tuple[Ranges, int], ...]


class MankuTables(NamedTuple):
    """The fingerprints; the leading blocks of each table, its sorted keys, their rows, and an index on the keys' upper bits."""

    stored: UInt64Array
    masks: UInt64Array  # (tables, words)
    keys: UInt64Array  # (tables, n)
    rows: NDArray[np.uint32]
    offsets: NDArray[np.uint32]  # (tables, 2^bits + 1)


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

    Examples
    --------
    >>> import numpy as np
    >>> import lookalike as la
    >>> index = la.search.TableIndex(radius=3, blocks=5, lead=2).add(np.array([0b0000, 0b0111, 0b11111], np.uint64))
    >>> index.query(np.array([0], np.uint64)).distance.tolist()  # in batches: FingerprintFile(...).query(queries, TableIndex())
    [0, 3]
    """

    def __init__(
        self,
        *,
        radius: int = 3,
        blocks: int | Sequence[int] = 4,
        lead: int = 1,
        lookup: Lookup = "prefix",
        bits: int | None = None,
    ) -> None:
        if isinstance(blocks, Sequence):
            blocks = tuple(whole("the width of a block", width, 1) for width in blocks)
            bits = sum(theory.block_sizes(sum(blocks) if bits is None else whole("bits", bits, 1), blocks))
        super().__init__(radius=radius, bits=bits)
        lead = whole("lead", lead, 1)
        if not isinstance(blocks, tuple):
            blocks = whole("blocks", blocks, 1)
        self.n_tables: int = theory.block_tables(len(blocks) if isinstance(blocks, tuple) else blocks, lead, radius)
        check_choice("lookup", lookup, Lookup)
        self.blocks: int | tuple[int, ...] = blocks
        self.lead: int = lead
        self.lookup: Lookup = lookup

    def _build(self) -> None:
        """Sort the keys of each table."""
        words = self._stored
        sizes = theory.block_sizes(self.bits or 64, self.blocks)
        masks = block_masks(sum(sizes), sizes, tuple(combinations(range(len(sizes)), self.lead)))
        prefix_bits = min(24, max(1, (len(words) - 1).bit_length()))
        self._tables = MankuTables(words, masks, *manku_tables(words, masks, prefix_bits))

    def _search(self, query: UInt64Array, margins: Margins, first_only: bool, self_join: bool) -> Search:
        tables, binary, radius = self._tables, self.lookup == "binary", self.radius
        return lambda start, stop: manku_search(query, start, stop, tables, binary, radius, first_only, self_join)


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


class BlockTables(FingerprintIndex):
    """The tables of one layout over fingerprints that stay as they are: a segment of ``HammingIndex``."""

    def __init__(self, words: UInt64Array, *, radius: int, bits: int, layout: Layout) -> None:
        super().__init__(radius=radius, bits=bits)
        self.layout = layout
        self._ranges = np.array([(table, *some) for table, (ranges, _) in enumerate(layout.tables) for some in ranges])
        self._flips = np.array([flips for _, flips in layout.tables])
        self._tables = PrefixTables.of(words, self._ranges, len(self._flips))

    def __len__(self) -> int:
        """Return the number of fingerprints."""
        return len(self._tables.rows) // len(self._flips)

    def _prepare(self) -> None:
        """Nothing is added later."""

    def _search(self, query: UInt64Array, margins: Margins, first_only: bool, self_join: bool) -> Search:
        tables, ranges, flips, radius = self._tables, self._ranges, self._flips, self.radius
        return lambda start, stop: multi_index_search(query, start, stop, tables, ranges, flips, radius, first_only, self_join)
