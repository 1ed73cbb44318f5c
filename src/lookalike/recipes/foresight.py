"""The cost of a deduplication before it is run: memory, disk space, processor time, by rates and sizes that were measured."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from math import sqrt
from typing import Any, Literal

import pyarrow as pa

from ..choices import Keep, Measure, Verify, check_choice
from ..engines.local.bundles import GROUP_BYTES
from ..engines.local.engine import MATCH_BYTES, SETS, WORD
from ..engines.memory import BYTES_PER_DOCUMENT, LEAST, Memory, enough
from ..errors import ParameterError, from_caller
from ..settings.settings import Settings
from ..steps.containment import map_bits
from ..steps.pairs import packed_width
from ..steps.sketch import sketches_schema
from ..values.arrays import number, whole
from ..values.tables import DOCUMENTS, LINKS, PAIRS
from ..wording import plural, text_size


@dataclass(frozen=True, slots=True, kw_only=True)
class Speeds:
    """Nanoseconds of processor time by ``benchmarks/speeds.py``: a busy 2.x GHz server core with AVX-512."""

    start: float = 0.55e9
    """Of a process, until it has loaded what a job needs."""
    read_byte: float = 1.0
    read_document: float = 25.0
    sketch_byte: float = 0.65
    """To shingle and sketch a text that was read, to sort its keys and to tell what became of it."""
    sketch_document: float = 1350.0
    pair: float = 200.0
    """To find a pair of candidates, and to compare it beyond what each of its texts costs."""
    compare_byte: float = 2.2
    write_byte: float = 4.5
    """To write a text that is compared to the disk, and to read it from there."""
    write_document: float = 850.0
    write_pair: float = 340.0
    new_byte: float = 0.9
    """To be given memory by the system."""
    sample: float = 250.0
    """To find that a document holds a sampled shingle, and to sort and count it."""


REFERENCE = {"parquet": Speeds(), "jsonl": Speeds(read_byte=2.6, read_document=760.0)}
# Bytes, by benchmarks/foresight.py: a process after a small job; pages of mapped libraries; texts that one thread
# sketches, and each other one.
LOADED, LIBRARIES, PIECES, PIECES_PER_THREAD = 64_000_000, 66_000_000, 50_000_000, 28_000_000
# Links for each pair that remains of them after the cut; bytes of a shingle of words.
LINKS_PER_PAIR, SHINGLE_BYTES = 1.5, 6.5
# Bytes: a pair, and a sampled shingle of a document, while all are sorted in memory; a document while texts are compared.
PAIR_WORK, SAMPLE_WORK, VERIFYING = 140, 56, 19


class Estimate:
    """Sizes of what a job makes of a corpus: bytes, but for counts of documents, pairs and links.

    As many candidates are below the threshold as above. So a document meets none with the probability that it has no
    near-duplicate and, as likely once more, none that is almost one. Sampled shingles are held by the documents themselves,
    once more by those that are compared, and by chance: of exponential sizes, as many times more as the square root says.
    """

    def __init__(self, n: int, text: int, duplicates: float, family: float, memory: Memory, settings: Settings) -> None:
        if settings.recall == 1:
            raise ParameterError(
                "the cost of recall 1 depends on which shingles documents share, and cannot be estimated: use a recall below 1"
            )
        method, later = settings.finder, memory.holding(n)
        self.n, self.text, self.threads, self.exact = n, text, settings.n_threads, method.exact
        self.compared = n * (1 - (1 - duplicates) ** 2)
        sampled = method.n_keys if method.meets == "samples" else 0
        by_chance = sqrt(1 + 1.25 * text / SHINGLE_BYTES / (1 << map_bits(sampled * n))) - 1 if sampled else 0.0
        self.samples = int(min(sampled * (n * (1 + by_chance) + self.compared), 2 * text / SHINGLE_BYTES))
        self.content = self.compared * (text / max(1, n) if self.exact else 4 * method.n_estimates)
        self.pairs = self.compared * (family - 1) / 2
        self.links = self.pairs
        if not self.samples:
            self.links = LINKS_PER_PAIR * self.pairs + (replace(settings.plan, documents=n).false_candidates or 0.0)
        tables, codes = n * stored_width(sketches_schema(DOCUMENTS, method)), n * packed_width(method.n_codes)
        links, pairs = stored_width(LINKS) * self.links, stored_width(PAIRS) * self.pairs
        held, walked = text + tables, SETS * min(GROUP_BYTES, self.content) * self.threads
        sorting = PAIR_WORK * self.pairs + SAMPLE_WORK * self.samples
        early = settings.work is not None or held > memory.table_budget
        self.on_disk = early or held + max(links + pairs, 4 * WORD * self.samples) > later.table_budget
        if not self.on_disk:
            self.disk, most = 0, held + BYTES_PER_DOCUMENT * n + max(sorting, links + pairs + walked)
        else:
            filed = codes if codes > later.free // 8 else 0
            texts = self.content + 2 * WORD * self.compared if self.exact else 0
            met = max(2 * pairs + texts + MATCH_BYTES * n * duplicates, 2 * WORD * self.samples)
            self.disk = int(tables + links + max(filed, met))
            most = max(
                0 if settings.work is not None else min(memory.table_budget, held),
                (0 if early else held) + BYTES_PER_DOCUMENT * n + codes - filed + min(sorting, 3 * later.sort_budget),
                VERIFYING * n + min(2 * later.partition(self.threads), self.content) + walked,
            )
        self.peak = int(LOADED + PIECES + PIECES_PER_THREAD * (self.threads - 1) + most)

    def seconds(self, speeds: Speeds) -> dict[str, float]:
        """Return processor time by stage."""
        reading = self.text * speeds.read_byte + self.n * speeds.read_document
        nanoseconds = {
            "starting": speeds.start,
            "reading": reading,
            "sketching": self.text * speeds.sketch_byte + self.n * speeds.sketch_document,
            "memory": self.peak * speeds.new_byte,
            "comparing": self.pairs * speeds.pair + self.content * speeds.compare_byte,
        }
        if self.samples:
            nanoseconds["finding"] = self.text * speeds.sketch_byte + self.samples * speeds.sample
        if self.on_disk:
            texts = reading + self.content * speeds.write_byte if self.exact else 0.0
            nanoseconds["disk"] = texts + self.n * speeds.write_document + self.pairs * speeds.write_pair
        return {name: value / 1e9 for name, value in nanoseconds.items()}


def stored_width(schema: pa.Schema) -> int:
    """Return the bytes that a row takes as columns of a part: see ``engines.local.tables``."""
    kinds = [field.type for field in schema]
    return sum(
        WORD * kind.list_size + 1 if pa.types.is_fixed_size_list(kind) else max(1, kind.bit_width // 8)  # and if it is missing
        for kind in kinds
    )


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
    cap = Memory.wanted(memory)
    found = Estimate(n, text, float(duplicates), float(family), cap, settings)
    times = 1.0 if measure == "containment" else settings.plan.permutations / Settings().plan.permutations
    speeds = replace(REFERENCE[format], sketch_document=times * REFERENCE[format].sketch_document)
    return Foresight(
        documents=n, bytes=text, memory=cap.cap, least_memory=LEAST + BYTES_PER_DOCUMENT * n,
        duplicates=float(duplicates), family=float(family), threads=found.threads, peak_memory=found.peak,
        high_water=found.peak + LIBRARIES, disk=found.disk, seconds=found.seconds(speeds),
    )  # fmt: skip


def _count(name: str, value: float) -> int:
    """Return a whole number that may come as a float, such as 1e9."""
    given = number(name, value, "a number >= 0")
    if abs(given) == float("inf") or given != int(given):
        raise ParameterError("must be a whole number", name, value)
    return whole(name, int(given), 0, 10**15)
