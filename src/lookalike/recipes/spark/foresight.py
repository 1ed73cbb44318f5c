"""What a job on Spark will take, before it is run: bytes shuffled, kept and written, memory, tasks, and a cluster for it.

Sizes of tables follow from the job. Shuffles were measured by Spark's event log: compressed, random bits stay and ascending
numbers take little. Joins are taken to shuffle both sides; of tables that the driver makes nothing is shuffled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import ceil
from typing import Any

from ...engines.memory import parse_bytes
from ...engines.spark.engine import SparkEngine
from ...engines.spark.tables import connectable
from ...engines.spark.texts import UNIT_BYTES
from ...errors import from_caller
from ...settings.settings import Settings
from ...wording import counted, spelled, spoken
from ..sizes import REFERENCE, Corpus
from .job import TASK_MEMORY

SHARE = 1.03
"""Of random bits, on their way: what frames and rows add."""
NUMBER = 5
"""Bytes of an integer on its way, about, or of a missing one: most have high bytes in common."""
STORED = 2
"""Bytes of an integer in a file, about."""
KEY_ROW = 10
"""Bytes of a key and the document that has it."""
HOLDER, SHARED = 9.5, 0.5
"""Bytes of a sampled shingle and a document that holds it; and of two documents that share one, which come in their order."""
DECIDED = 160
"""Bytes a document, over all joins from what was decided to the rows that say so."""
TEXT = 0.6
"""Share that is left of texts in Spark's compression."""
LINKS_PER_PAIR = 4
"""Links on their way for each candidate pair: several bands find it, and the cut drops others."""
TEXTS_SENT = 1.5
"""How often the text of a document in pairs is sent in rounds, which compare few pairs; where components are walked: once."""
PAIRS_SENT, WALKED_SENT = 25, 2
"""How often a pair is sent, over all rounds and joins; where components are walked."""
HEAP_PER_CORE = 1 << 30
PARTITION = 64 << 20
"""Bytes of the largest shuffle that a task is to take."""
CORES_PER_EXECUTOR = 4
SHUFFLED_BYTE = 12.0
"""Nanoseconds a byte shuffled: sorted, compressed, and moved between JVM and Python, both together; of 5 to 20 GB of text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What a step takes of a cluster: bytes sent between tasks, and bytes kept in the work folder."""

    name: str
    does: str
    shuffled: int = 0
    kept: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterForesight:
    """What a job on Spark will take: see ``foresee``; all sizes in bytes."""

    documents: int
    bytes: int
    on_disk: int
    """Of the files that texts are read from."""
    duplicates: float
    family: float
    pairs: int
    steps: tuple[Step, ...]
    reading_tasks: int
    """Pieces that the inputs are read in."""
    partitions: int
    """For ``spark.sql.shuffle.partitions``."""
    task_memory: int
    """What Python may use in a task."""
    cpu_seconds: float
    """Of all cores, JVM and Python together."""

    @property
    def shuffled(self) -> int:
        """Bytes shuffled in all."""
        return sum(step.shuffled for step in self.steps)

    @property
    def kept(self) -> int:
        """Bytes in the work folder when the job ends; they are removed then."""
        return sum(step.kept for step in self.steps)

    @property
    def cores(self) -> int:
        """Cores that take an hour."""
        return max(1, ceil(self.cpu_seconds / 3600))

    @property
    def configuration(self) -> dict[str, str]:
        """Settings of Spark for these cores."""
        each = min(self.cores, CORES_PER_EXECUTOR)
        return {
            "spark.executor.instances": str(ceil(self.cores / each)),
            "spark.executor.cores": str(each),
            "spark.executor.memory": f"{each * HEAP_PER_CORE >> 20}m",
            "spark.executor.memoryOverhead": f"{-(-each * self.task_memory >> 20)}m",
            "spark.sql.shuffle.partitions": str(self.partitions),
        }

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        derived = {name: getattr(self, name) for name in ("shuffled", "kept", "cores", "configuration")}
        return asdict(self) | {"steps": [asdict(step) for step in self.steps]} | derived

    def __str__(self) -> str:
        """Say it in lines: the steps, and what they take together."""
        width = max(len(step.name) for step in self.steps)
        lines = [
            f"{counted(self.documents, 'document')}, {_size(self.bytes)} of text in files of {_size(self.on_disk)}; "
            f"{_size(self.shuffled)} will be shuffled, {_size(self.kept)} kept in the work folder:",
            *(
                f"  {step.name:<{width}}  {_size(step.shuffled):>9} shuffled  {_size(step.kept):>9} kept   {step.does}"
                for step in self.steps
            ),
            f"  tasks: {self.reading_tasks:,} read, {self.partitions:,} take each shuffle; each needs a core, "
            f"{_size(self.task_memory)} for Python (--memory (memory=)) and {_size(HEAP_PER_CORE)} for the JVM",
            f"  processor time: about {self.cpu_seconds / 3600:,.2f} core-hours; {counted(self.cores, 'core')} for an hour:",
            *(f"    --set conf={name}={value}" for name, value in self.configuration.items()),
            "  (Python's memory is outside the JVM's heap, hence memoryOverhead; spark.executor.pyspark.memory would limit",
            "  address space, which mapped files take too)",
            f"  assumed: {self.duplicates:.0%} of documents have a near-duplicate, {self.family:g} resemble",
            f"    each other on average, hence {counted(self.pairs, 'candidate pair')}; numbers of documents as the",
            "    metadata and the beginnings of files suggest; small tables are made by the driver; processor time: "
            f"{SHUFFLED_BYTE:g} ns per byte",
            "    shuffled, all else on a reference core; writing the cleaned files is not counted",
        ]
        return spoken("\n".join(lines))


@from_caller
@spelled
def foresee(
    *, documents: int, bytes: int, on_disk: int, settings: Settings, duplicates: float = 0.3, family: float = 3.0,
    format: str = "parquet",
) -> ClusterForesight:  # fmt: skip
    """Foresee what ``lookalike.dedup`` will take of a cluster."""
    corpus = Corpus.of(documents, bytes, duplicates, family, settings)
    steps = tuple(_steps(corpus, settings))
    largest = max(step.shuffled for step in steps)
    speeds = REFERENCE[format]
    times = 2 if corpus.holders else 1  # texts are read and hashed
    own = (
        times * bytes * (speeds.read_byte + speeds.sketch_byte)
        + documents * (times * speeds.read_document + speeds.sketch_document + speeds.write_document)
        + corpus.holders * speeds.holder
        + corpus.shared * speeds.shared
        + corpus.pairs * speeds.pair
        + corpus.content * (speeds.compare_byte + speeds.write_byte)
    )
    seconds = (own + SHUFFLED_BYTE * sum(step.shuffled for step in steps)) / 1e9
    return ClusterForesight(
        documents=documents, bytes=bytes, on_disk=on_disk, duplicates=duplicates, family=family, pairs=corpus.pairs,
        steps=steps, reading_tasks=max(1, ceil(on_disk / UNIT_BYTES)),
        partitions=max(2 * ceil(seconds / 3600), ceil(largest / PARTITION), 2),
        task_memory=parse_bytes(settings.memory or TASK_MEMORY), cpu_seconds=seconds,
    )  # fmt: skip


def _steps(corpus: Corpus, settings: Settings) -> Sequence[Step]:
    """Return the steps of a job, and what each sends and keeps."""
    n, method = corpus.n, settings.finder
    codes, keys = 2 * method.n_codes, 8 * method.n_keys
    named = 0 if settings.id is None else 16
    apart = 16 * sum(column is not None for column in (settings.within, settings.across, settings.key))
    sketch = 32 + keys + codes + 4 * method.n_estimates + named + apart
    links = LINKS_PER_PAIR * corpus.pairs
    text = corpus.text / n if n else 0.0
    policy = str(settings.keep).partition(":")[0]
    ranked = 0 if policy in ("first", "last") else sketch * n
    whole = SHARE * sketch  # sent wherever documents that are copies are left out
    halves = SHARE * codes / 4 + 2 * NUMBER
    content = 0 if not corpus.exact else int(TEXT * corpus.content)
    each = TEXT * text if corpus.exact else 4 * method.n_estimates
    walked = connectable(corpus.pairs, n)
    texts_sent, pairs_sent = (1.0, WALKED_SENT) if walked else (TEXTS_SENT, PAIRS_SENT)

    def sent(size: float, width: int) -> int:
        """Return what is sent of a table of all documents, some bytes wide; the driver makes small ones."""
        return 0 if n * width <= SparkEngine.few_bytes else int(size)

    found = [
        Step(name="read and sketch", does="in the tasks, from the files", kept=sketch * n),
        Step(name="order", does=f"keep order, by the policy {settings.keep}", shuffled=sent(ranked, sketch), kept=ranked),
        Step(name="exact duplicates", does="documents of equal digests meet", shuffled=sent(n * (16 * SHARE + 2 * NUMBER), 25),
             kept=STORED * n // 10),
        *(_sampled(corpus, settings, whole) if corpus.holders else (
            Step(name="candidates", does=f"documents meet by {method.n_keys} keys",
                 shuffled=sent(n * (whole + KEY_ROW * method.n_keys) + NUMBER * 2 * links, keys + 8),
                 kept=2 * STORED * links),
            Step(name="crowds", does=f"documents in buckets of more than {settings.max_bucket}",
                 shuffled=sent(n * 2 * (whole + SHARE * codes), codes + 8)),  # where they are searched, and vouched for
            Step(name="cut", does="pairs meet their codes, 4 bits of each",
                 shuffled=sent(n * (whole + 2 * halves) + links * (halves / 2 + 3 * NUMBER), codes + 8),
                 kept=2 * STORED * corpus.pairs),
        )),
        Step(name="texts", does="of documents in pairs, read once" if walked else "of documents in pairs, read and kept",
             shuffled=sent(n * 2 * NUMBER, 16) + 5 * NUMBER * corpus.compared if corpus.exact else 0,
             kept=0 if walked else content),
        Step(name="verify", does="by components, each text once" if walked else "in rounds, each text to its partners",
             shuffled=int(texts_sent * corpus.compared * each + pairs_sent * NUMBER * corpus.pairs),
             kept=(2 if walked else 6) * STORED * corpus.pairs),
        Step(name="decisions", does="a row for each document", shuffled=sent(n * (DECIDED + 3 * named), 42 + named),
             kept=(32 + named) * n),
    ]  # fmt: skip
    return found


def _sampled(corpus: Corpus, settings: Settings, whole: float) -> Sequence[Step]:
    """Return the steps by which samples are searched: texts are found by their places, and read in the tasks."""
    n, method = corpus.n, settings.finder
    few = n * (8 * method.n_keys + 8) <= SparkEngine.few_bytes
    placed = 0 if few else int(n * (whole + 4 * NUMBER))
    return (
        Step(name="samples", does="the texts are read again: who holds sampled shingles", shuffled=placed),
        Step(name="candidates", does=f"documents that share {method.n_keys} sampled shingles, or enough of these",
             shuffled=int(HOLDER * corpus.holders + SHARED * corpus.shared), kept=STORED * corpus.links // 2),
        Step(name="cut", does="each pair once", shuffled=2 * corpus.links, kept=STORED * corpus.pairs),
    )  # fmt: skip


def _size(n_bytes: float) -> str:
    """Return a number of bytes in the unit that suits it."""
    for unit, name in ((1e12, "TB"), (1e9, "GB")):
        if n_bytes >= unit:
            return f"{n_bytes / unit:,.1f} {name}"
    return f"{n_bytes / 1e6:,.1f} MB"
