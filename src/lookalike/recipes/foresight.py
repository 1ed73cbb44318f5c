"""What a deduplication will take, before it is run: memory, disk space, processor time.

Most follows from the fixed shares of memory (``engines.memory``), the known widths of tables (``values.tables``), the sizes of
the corpus and of the tables that a job makes of it, and what a core takes for each.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from math import log, sqrt
from typing import Any, Literal

import pyarrow as pa

from ..choices import Keep, Measure, Verify, check_choice
from ..engines.local.bundles import GROUP_BYTES
from ..engines.local.engine import MATCH_BYTES, SETS, WORD
from ..engines.local.sort import SPREAD
from ..engines.local.tables import PART_BYTES
from ..engines.memory import BYTES_PER_DOCUMENT, LEAST, Memory, enough
from ..errors import ParameterError, from_caller
from ..formats.row_groups import MOST_BYTES
from ..settings.settings import Settings
from ..steps.containment import map_bits
from ..steps.pairs import packed_width
from ..steps.sketch import sketches_schema
from ..values.arrays import number, whole
from ..values.tables import DOCUMENTS, LINKS, PAIRS, SHARED_COUNTS
from ..wording import plural, text_size

# Links for each pair that remains of them after the cut: between 0.4 and 1.9.
LINKS_PER_PAIR = 1.5
# Of shingles of words; and sampled ones that two candidates share, those of documents that share too few counted in: 11 to 30.
SHINGLE_BYTES, SHARED_PER_PAIR = 6.5, 15


@dataclass(frozen=True, slots=True, kw_only=True)
class Speeds:
    """Nanoseconds of processor time by ``benchmarks/speeds.py``: a busy 2.x GHz server core with AVX-512."""

    start: float = 0.55e9
    """Of a process, until it has loaded what a job needs."""
    read_byte: float = 1.8
    read_document: float = 80.0
    sketch_byte: float = 1.8
    """To shingle and sketch a text that was read, to sort its keys and to tell what became of it."""
    sketch_document: float = 2800.0
    pair: float = 350.0
    """To find a pair of candidates, and to compare it beyond what each of its texts costs."""
    compare_byte: float = 7.5
    write_byte: float = 9.5
    """To write a text that is compared to the disk, and to read it from there."""
    write_document: float = 1500.0
    write_pair: float = 750.0
    new_byte: float = 0.6
    """To be given memory by the system."""
    holder: float = 250.0
    """To find that a document holds a sampled shingle, and to sort it; and to count one that two documents share."""
    shared: float = 40.0


REFERENCE = {"parquet": Speeds(), "jsonl": Speeds(read_byte=3.2, read_document=900.0)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """Sizes of a corpus and of the tables that a job makes of it: bytes, but for counts of documents, pairs and links."""

    n: int
    text: int
    tables: int
    """What is stored of all documents."""
    nibbles: int
    """Codes that the cut compares."""
    compared: int
    content: int
    """What these documents are compared by."""
    pairs: int
    links: int
    """What is stored before the cut: pairs that meet in some band, those of unrelated documents too."""
    matched: int
    largest: int
    """Of components."""
    exact: bool
    """Whether texts are compared, not estimates."""
    holders: int = 0
    """With containment: shingles of which a document is noted to hold them; and how often two documents share one."""
    shared: int = 0

    @classmethod
    def of(cls, n: int, text: int, duplicates: float, family: float, settings: Settings) -> Corpus:
        """Return what comes of so many documents; the largest of k families is taken to be ln k times the mean.

        Families' sizes are exponential. As many candidates are below the threshold as above: a document meets none with
        the probability that it has no near-duplicate and, as likely once more, none that is almost one. Sampled shingles are
        held by the documents themselves, once more by those that are compared, and by chance: of exponential sizes, as many
        times more as the square root says (to a tenth; the integral of ``g (1 - exp(-z (1 - g)))``).
        """
        if settings.recall == 1:
            raise ParameterError(
                "the cost of recall 1 depends on which shingles documents share, and cannot be estimated: use a recall below 1"
            )
        method = settings.finder
        compared = n * (1 - (1 - duplicates) ** 2)
        content = compared * (text / n if method.exact else 4 * method.n_estimates) if n else 0.0
        families = max(1.0, compared / family)
        pairs = compared * (family - 1) / 2
        sampled = method.n_keys if method.meets == "samples" else 0
        unrelated = 0.0 if sampled else replace(settings.plan, documents=n).false_candidates or 0.0
        by_chance = sqrt(1 + 1.25 * text / SHINGLE_BYTES / (1 << map_bits(sampled * n))) - 1 if sampled else 0.0
        return cls(
            n=n, text=text, tables=n * stored_width(sketches_schema(DOCUMENTS, method)),
            nibbles=n * packed_width(method.n_codes), compared=int(compared), content=int(content),
            pairs=int(pairs), links=int((1 if sampled else LINKS_PER_PAIR) * pairs + unrelated), matched=int(n * duplicates),
            largest=int(min(content, content / families * max(1.0, log(families)))), exact=method.exact,
            holders=int(min(sampled * (n * (1 + by_chance) + compared), 2 * text / SHINGLE_BYTES)),
            shared=int(SHARED_PER_PAIR * pairs) if sampled else 0,
        )  # fmt: skip

    @property
    def link_width(self) -> int:
        """Bytes of a stored link."""
        return stored_width(SHARED_COUNTS if self.holders else LINKS)

    @property
    def linked(self) -> int:
        """Bytes of the stored links and pairs."""
        return self.links * self.link_width + self.pairs * stored_width(PAIRS)


def stored_width(schema: pa.Schema) -> int:
    """Return the bytes that a row takes as columns of a part: see ``engines.local.tables``."""
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


# Measured by benchmarks/foresight.py, in bytes. What a process has of its own after a small job; and pages of mapped
# libraries: the high-water mark less what is its own.
LOADED, LIBRARIES = 64_000_000, 66_000_000
# Pieces of text on their way through sketching: the peak while reading less what is held, with one thread; each more adds.
PIECES, PIECES_PER_THREAD = 20_000_000, 28_000_000
# The same for JSON lines, less that for Parquet of short documents: lines become Python's objects.
LINES = 40_000_000
# Rows of a page of Parquet, as PyArrow writes them: one is held as a whole while its texts are taken out.
PAGE_ROWS = 1024
# Links and pairs while they are sorted and cut, in memory; the stored ones, two times 16, are among them.
PAIR_WORK = 140
# Bytes per document (benchmarks/results/memory.md) while texts are compared; while candidates are found, the most there is.
VERIFYING = 19
# A shingle that a document holds, while those of all are put together and sorted in memory; one that two documents share.
HOLDER_WORK, SHARED_WORK = 56, 12
RANKING = 12  # of each document, where keep order is not that of the input


class Footprint:
    """What a job takes, stage by stage; ``memory`` is that before documents are counted."""

    def __init__(self, corpus: Corpus, memory: Memory, settings: Settings, format: str) -> None:
        self.corpus, self.first, self.settings = corpus, memory, settings
        self.memory = memory.holding(corpus.n)
        self.threads = settings.n_threads
        page = min(MOST_BYTES, PAGE_ROWS * corpus.text // max(1, corpus.n)) if format == "parquet" else LINES
        self.pieces = PIECES + PIECES_PER_THREAD * (self.threads - 1) + page
        told = corpus.linked + MATCH_BYTES * corpus.pairs
        self.spills_reading = settings.work is None and corpus.text + corpus.tables > self.first.table_budget
        self.spills_later = settings.work is None and not self.spills_reading and (
            corpus.text + corpus.tables + max(told, 4 * WORD * corpus.holders) > self.memory.table_budget
            or SETS * corpus.largest > self.memory.free // 2
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
        held = 0 if self.settings.work is not None else min(self.first.table_budget, whole_corpus)
        reading = held + (min(corpus.tables, self._parts) if self.settings.work is not None else 0)
        of_each = BYTES_PER_DOCUMENT + (0 if self.settings.keep == "first" else RANKING)
        linking = of_each * corpus.n + (0 if self._nibbles_filed else corpus.nibbles)
        sorting = PAIR_WORK * corpus.pairs
        if self.on_disk:  # where the stored ones are
            stored = (corpus.link_width + stored_width(PAIRS)) * corpus.pairs
            sorting = min(sorting - stored, 3 * memory.sort_budget + self._parts)
        in_memory = self.settings.work is None and not self.spills_reading
        finding = HOLDER_WORK * corpus.holders + SHARED_WORK * corpus.shared
        if self.on_disk:  # each waits until it is written; a part of those that are written is sorted
            finding = min(finding, 6 * memory.sort_budget + finding // SPREAD)
        linking += max(sorting, finding) + (held if in_memory else 0)
        verifying = VERIFYING * corpus.n
        if self.on_disk:
            partition, one = memory.partition(self.threads), memory.component_budget(self.threads)
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
        met = 2 * WORD * corpus.links if WORD * corpus.links > self.memory.sort_budget else 0
        met += sum(
            n_bytes for n_bytes in (2 * WORD * corpus.holders, WORD * corpus.shared) if n_bytes > self.memory.sort_budget
        )
        texts = corpus.content + 2 * WORD * corpus.compared if corpus.exact else 0
        paired = stored_width(PAIRS) * corpus.pairs
        later = met + 2 * paired + texts + MATCH_BYTES * corpus.matched
        return int(corpus.tables + corpus.link_width * corpus.links + max(corpus.nibbles if self._nibbles_filed else 0, later))

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
        if corpus.holders:
            again = corpus.text * speeds.sketch_byte + (reading if self.on_disk else 0.0)
            nanoseconds["finding"] = again + corpus.holders * speeds.holder + corpus.shared * speeds.shared
        if self.on_disk:
            written = corpus.n * speeds.write_document + corpus.pairs * speeds.write_pair
            texts = reading + corpus.content * speeds.write_byte if corpus.exact else 0.0
            nanoseconds["disk"] = written + texts
        return {name: value / 1e9 for name, value in nanoseconds.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Foresight:
    """Estimated cost of a job: see ``lookalike.foresee``.

    Parameters
    ----------
    documents, bytes : int >= 0
        Size of the corpus.
    memory : int
        Memory limit, in bytes.
    least_memory : int
        The smallest limit that such a job accepts.
    duplicates : float in [0, 1]
        Share of documents that have a near-duplicate.
    family : float >= 2
        Average number of documents in a group of near-duplicates.
    threads : int >= 1
    peak_memory : int
        Peak of the process's own memory (on Linux: RssAnon and RssShmem), in bytes.
    high_water : int
        The same with pages of mapped libraries (VmHWM).
    disk : int
        Peak of the work folder, in bytes; 0: all is held in memory.
    seconds : dict of str to float
        Processor time by stage: of all threads, user and system, on a reference core.
    """

    documents: int
    bytes: int
    memory: int
    least_memory: int
    duplicates: float
    family: float
    threads: int
    peak_memory: int
    high_water: int
    disk: int
    seconds: dict[str, float]

    @property
    def cpu_seconds(self) -> float:
        """Processor time of the whole job."""
        return sum(self.seconds.values())

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return asdict(self) | {"cpu_seconds": self.cpu_seconds}

    def __str__(self) -> str:
        """Say it in a few lines."""
        text = f"{self.bytes / 1e9:,.2f} GB of text" if self.bytes >= 1e8 else text_size(self.bytes)
        disk = f"{self.disk / 1e9:,.2f} GB in the work folder" if self.disk else "none: all is held in memory"
        return (
            f"{plural(self.documents, 'document')}, {text}, of which {self.duplicates:.0%} have a "
            f"near-duplicate, with {self.memory / 1e9:,.2f} GB of memory and {plural(self.threads, 'thread')}:\n"
            f"  memory: about {self.peak_memory / 1e9:,.2f} GB ({self.high_water / 1e9:,.2f} GB with libraries); "
            f"the smallest limit is {enough(self.least_memory)}\n"
            f"  disk: {disk}\n"
            f"  processor time: {plural(round(self.cpu_seconds), 'second')} on a reference core"
        )


@from_caller
def foresee(
    *,
    documents: float,
    bytes: float,
    memory: int | str | None = None,
    duplicates: float = 0.3,
    family: float = 3.0,
    threads: int | None = None,
    work: bool = False,
    format: Literal["parquet", "jsonl"] = "parquet",
    threshold: float = 0.8,
    recall: float = 0.99,
    permutations: int | None = None,
    bands: int | None = None,
    rows: int | None = None,
    verify: Verify = "exact",
    keep: Keep | None = None,
    measure: Measure = "resemblance",
    floor: float = 0.0,
) -> Foresight:
    """Estimate memory, disk space and processor time of ``dedup``.

    The sizes of tables and texts follow from the parameters, and how they share the memory from the rules of the local engine.
    Writing the documents that are kept is not counted: it reads all inputs once more.

    Parameters
    ----------
    documents : whole number >= 0
        Size of the corpus.
    bytes : whole number >= 0
        Bytes of text (UTF-8) in all documents.
    memory : int or str, optional
        Limit of the whole process, as ``dedup`` takes it. Default: 60% of the free memory.
    duplicates : float in [0, 1], default 0.3
        Share of documents that have a near-duplicate, whether they are kept or removed; if lengths differ much, share of
        the text. Exact copies do not count.
    family : float >= 2, default 3
        Average number of documents in a group of near-duplicates: each is taken to be in (family - 1) / 2 candidate pairs.
    threads : int >= 1, optional
        Default: all processors this process may use.
    work : bool, default False
        Whether the job has a work folder; then nothing is held in memory that can lie there.
    format : {"parquet", "jsonl"}, default "parquet"
        Of the inputs; others read about as JSON lines do, or slower.
    threshold, recall, permutations, bands, rows, verify, keep, measure, floor
        As ``dedup`` takes them.

    Returns
    -------
    Foresight

    Raises
    ------
    ParameterError
        If a parameter is out of its range, or the limit cannot be kept: the message states the least that can.

    Notes
    -----
    What cannot be foreseen: how documents of different lengths and families of different sizes are spread, which is why memory
    and disk space of a corpus full of near-duplicates can be a fifth larger or more.

    Examples
    --------
    >>> import lookalike as la
    >>> found = la.foresee(documents=10**6, bytes=10**9, memory="1GB", threads=1)
    >>> 0.3e9 < found.peak_memory < 0.6e9, 0.8e9 < found.disk < 1e9
    (True, True)
    """
    n, text = _count("documents", documents), _count("bytes", bytes)
    for name, value, least, most in (("duplicates", duplicates, 0.0, 1.0), ("family", family, 2.0, float("inf"))):
        if not least <= number(name, value) <= most:
            upper = "" if most == float("inf") else f" and at most {most:g}"
            raise ParameterError(f"must be at least {least:g}{upper}", name, value)
    check_choice("verify", verify, ("exact", "sketch"))
    check_choice("format", format, REFERENCE)
    chosen: dict[str, Any] = {
        "threshold": threshold, "recall": recall, "permutations": permutations, "bands": bands, "rows": rows, "verify": verify,
        "measure": measure, "floor": floor,
    }  # fmt: skip
    settings = Settings(threads=threads, memory=memory, keep=keep, work="work" if work else None, **chosen)
    stages = Footprint(Corpus.of(n, text, float(duplicates), float(family), settings), Memory.wanted(memory), settings, format)
    times = 1.0 if measure == "containment" else settings.plan.permutations / Settings().plan.permutations
    speeds = replace(REFERENCE[format], sketch_document=times * REFERENCE[format].sketch_document)
    peak = stages.peak()
    return Foresight(
        documents=n, bytes=text, memory=stages.first.cap, least_memory=LEAST + BYTES_PER_DOCUMENT * n,
        duplicates=float(duplicates), family=float(family), threads=settings.n_threads, peak_memory=peak,
        high_water=peak + LIBRARIES, disk=stages.disk(), seconds=stages.seconds(speeds),
    )  # fmt: skip


def _count(name: str, value: float) -> int:
    """Return a whole number that may come as a float, such as 1e9."""
    given = number(name, value, "a number >= 0")
    if abs(given) == float("inf") or given != int(given):
        raise ParameterError("must be a whole number", name, value)
    return whole(name, int(given), 0, 10**15)
