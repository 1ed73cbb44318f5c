"""What the steps of a deduplication take, worked out from the sizes of a corpus.

The local engine divides its memory by fixed shares (``engines.memory``) and stores tables of known widths (``values.tables``).
So most of it follows from how many documents there are, how long they are, and how many of them meet.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import log

import pyarrow as pa

from ..engines.local.bundles import GROUP_BYTES
from ..engines.local.engine import MATCH_BYTES, SETS, WORD
from ..engines.local.tables import PART_BYTES
from ..engines.memory import BYTES_PER_DOCUMENT, Memory
from ..formats.row_groups import MOST_BYTES
from ..kernels._compile import MODE
from ..settings.settings import Settings
from ..steps.pairs import packed_width
from ..steps.sketch import sketches_schema
from ..values.tables import DOCUMENTS, LINKS, PAIRS
from .calibration import Speeds

# Measured by benchmarks/foresight.py, in bytes. What a process has of its own after a small job; and pages of mapped
# libraries: the high-water mark less what is its own. Where Numba compiles kernels, it is loaded, too.
LOADED, LIBRARIES = (114_000_000, 137_000_000) if MODE == "jit" else (64_000_000, 66_000_000)
# Pieces of text on their way through sketching: the peak while reading less what is held, with one thread; each more adds.
PIECES, PIECES_PER_THREAD = 20_000_000, 28_000_000
# The same for JSON lines, less that for Parquet of short documents: lines become Python's objects.
LINES = 40_000_000
# Rows of a page of Parquet, as PyArrow writes them: one is held as a whole while its texts are taken out.
PAGE_ROWS = 1024
# Links and pairs while they are sorted and cut, in memory; the stored ones, two times 16, are among them.
PAIR_WORK = 140
# From docs/scale.md: while texts are compared, so much is kept of each document; while candidates are found, the most there is.
VERIFYING = 19
RANKING = 12  # of each document, where keep order is not that of the input
# Links for each pair that remains of them after the cut: between 0.4 and 1.9.
LINKS_PER_PAIR = 1.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """Sizes of a corpus and of the tables that a job makes of it.

    Parameters
    ----------
    n, text : int
        Documents, and bytes of their texts.
    tables : int
        Bytes of what is stored of all documents.
    nibbles : int
        Bytes of the codes that the cut compares, of all documents.
    compared : int
        Documents that are compared with others.
    content : int
        Bytes that they are compared by.
    pairs : int
        Candidate pairs.
    links : int
        What is stored before the cut: pairs that meet in some band, those of unrelated documents too.
    matched : int
        Documents that have a near-duplicate.
    largest : int
        Bytes of the largest component.
    exact : bool
        Whether texts are compared, not estimates.
    """

    n: int
    text: int
    tables: int
    nibbles: int
    compared: int
    content: int
    pairs: int
    links: int
    matched: int
    largest: int
    exact: bool

    @classmethod
    def of(cls, n: int, text: int, duplicates: float, family: float, settings: Settings) -> Corpus:
        """Return what comes of so many documents.

        Below the threshold there are about as many candidates as above it: a document meets none with the probability that
        it has no near-duplicate and, as likely once more, none that is almost one. Families of documents are taken to have
        sizes spread exponentially, so that the largest of k is about ln k times as large as the mean.
        """
        method = settings.finder
        compared = n * (1 - (1 - duplicates) ** 2)
        content = compared * (text / n if method.exact else 4 * method.n_estimates) if n else 0.0
        families = max(1.0, compared / family)
        pairs = compared * (family - 1) / 2
        unrelated = replace(settings.plan, documents=n).false_candidates or 0.0
        return cls(
            n=n, text=text, tables=n * stored_width(sketches_schema(DOCUMENTS, method)),
            nibbles=n * packed_width(method.n_codes), compared=int(compared), content=int(content),
            pairs=int(pairs), links=int(LINKS_PER_PAIR * pairs + unrelated), matched=int(n * duplicates),
            largest=int(min(content, content / families * max(1.0, log(families)))), exact=method.exact,
        )  # fmt: skip

    @property
    def linked(self) -> int:
        """Bytes of the stored links and pairs."""
        return self.links * stored_width(LINKS) + self.pairs * stored_width(PAIRS)


def stored_width(schema: pa.Schema) -> int:
    """Return the bytes that a row takes as columns of a part: see ``engines.local.columns``."""
    return sum(_widths(schema))


def _widths(schema: pa.Schema) -> Iterator[int]:
    for field in schema:
        kind = field.type
        if pa.types.is_fixed_size_list(kind):
            yield WORD * kind.list_size + 1  # and whether it is missing
        elif pa.types.is_fixed_size_binary(kind):
            yield kind.byte_width
        else:
            yield max(1, kind.bit_width // 8)


class Footprint:
    """What a job takes, stage by stage.

    Parameters
    ----------
    memory : Memory
        Before documents are counted.
    """

    def __init__(self, corpus: Corpus, memory: Memory, settings: Settings, format: str) -> None:
        self.corpus, self.first, self.settings = corpus, memory, settings
        self.memory = memory.holding(corpus.n)
        self.threads = settings.n_threads
        page = min(MOST_BYTES, PAGE_ROWS * corpus.text // max(1, corpus.n)) if format == "parquet" else LINES
        self.pieces = PIECES + PIECES_PER_THREAD * (self.threads - 1) + page
        told = corpus.linked + MATCH_BYTES * corpus.pairs
        self.spills_reading = settings.work is None and corpus.text + corpus.tables > self.first.held
        self.spills_later = settings.work is None and not self.spills_reading and (
            corpus.text + corpus.tables + told > self.memory.held or SETS * corpus.largest > self.memory.free // 2
        )  # fmt: skip

    @property
    def on_disk(self) -> bool:
        """Whether anything goes to the disk."""
        return self.settings.work is not None or self.spills_reading or self.spills_later

    @property
    def _nibbles_filed(self) -> bool:
        """Whether the codes that are compared lie in a file: see ``LocalEngine``."""
        return self.on_disk and self.corpus.nibbles > max(WORD * self.corpus.n, self.memory.free // 8)

    @property
    def _parts(self) -> int:
        """Bytes of a part that is written, and of what waits to be the next."""
        return 2 * min(PART_BYTES, self.memory.free // 8)

    def peak(self) -> int:
        """Return the most memory of any stage."""
        corpus, memory = self.corpus, self.memory
        whole_corpus = corpus.text + corpus.tables
        held = 0 if self.settings.work is not None else min(self.first.held, whole_corpus)
        reading = held + (min(corpus.tables, self._parts) if self.settings.work is not None else 0)
        of_each = BYTES_PER_DOCUMENT + (0 if self.settings.keep == "first" else RANKING)
        linking = of_each * corpus.n + (0 if self._nibbles_filed else corpus.nibbles)
        sorting = PAIR_WORK * corpus.pairs
        if self.on_disk:  # where the stored ones are
            stored = (stored_width(LINKS) + stored_width(PAIRS)) * corpus.pairs
            sorting = min(sorting - stored, 3 * memory.waiting + self._parts)
        in_memory = self.settings.work is None and not self.spills_reading
        linking += sorting + (held if in_memory else 0)
        verifying = VERIFYING * corpus.n
        if self.on_disk:
            partition, one = memory.partition(self.threads), memory.whole(self.threads)
            verifying += min(2 * partition, corpus.content)
            # the largest component is walked by one thread; what the others walk meanwhile is half as large
            each = max(min(GROUP_BYTES, corpus.content), min(corpus.largest, partition, one))
            verifying += SETS * each * (self.threads + 1) // 2
        else:
            group = min(GROUP_BYTES, corpus.content)
            verifying += whole_corpus + corpus.linked + SETS * (max(group, corpus.largest) + group * (self.threads - 1))
        return int(LOADED + self.pieces + max(reading, linking, verifying))

    def disk(self) -> int:
        """Return the most bytes in the work folder."""
        corpus = self.corpus
        if not self.on_disk:
            return 0
        # rows that wait to be sorted are written as one word a link, about twice, as other bands repeat it
        met = 2 * WORD * corpus.links if WORD * corpus.links > self.memory.waiting else 0
        texts = corpus.content + 2 * WORD * corpus.compared if corpus.exact else 0
        paired = stored_width(PAIRS) * corpus.pairs
        later = met + 2 * paired + texts + MATCH_BYTES * corpus.matched
        return int(
            corpus.tables + stored_width(LINKS) * corpus.links + max(corpus.nibbles if self._nibbles_filed else 0, later)
        )

    def seconds(self, speeds: Speeds) -> dict[str, float]:
        """Return processor time by stage."""
        corpus = self.corpus
        reading = corpus.text * speeds.read_byte + corpus.n * speeds.read_document
        nanoseconds = {
            "starting": speeds.start,
            "reading": reading,
            "sketching": corpus.text * speeds.sketch_byte + corpus.n * speeds.sketch_document,
            "memory": self.peak() * speeds.new_byte,
            "comparing": corpus.pairs * speeds.pair + corpus.content * speeds.compare_byte,
        }
        if self.on_disk:
            written = corpus.n * speeds.write_document + corpus.pairs * speeds.write_pair
            texts = reading + corpus.content * speeds.write_byte if corpus.exact else 0.0
            nanoseconds["disk"] = written + texts
        return {name: value / 1e9 for name, value in nanoseconds.items()}
