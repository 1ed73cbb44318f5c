"""What a deduplication will take, before it is run: memory, disk space, processor time."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from ..engines.memory import BYTES_PER_DOCUMENT, FLOOR, LEAST_ROOM, Memory
from ..errors import ParameterError
from ..settings.settings import Settings
from ..values.arrays import number, whole
from ..wording import counted, spelled
from .calibration import REFERENCE, measure
from .footprint import LIBRARIES, Corpus, Footprint


@dataclass(frozen=True, slots=True, kw_only=True)
class Foresight:
    """What a job will take: see ``lookalike.foresee``.

    Parameters
    ----------
    documents, bytes : int >= 0
        Size of the corpus.
    memory : int
        Cap, in bytes.
    least_memory : int
        The least cap that such a job accepts.
    duplicates : float in [0, 1]
        Share of documents that have a near-duplicate.
    family : float >= 2
        Documents that resemble each other, on average.
    threads : int >= 1
    peak_memory : int
        The most that is the process's own at a time (on Linux: RssAnon and RssShmem), in bytes.
    high_water : int
        The same with pages of mapped libraries (VmHWM).
    disk : int
        The most that lies in the work folder at a time, in bytes; 0: all is held in memory.
    seconds : dict of str to float
        Processor time by stage: of all threads, user and system.
    calibrated : bool
        Whether processor time was measured on this machine; else it is that of a reference core.
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
    calibrated: bool

    @property
    def cpu_seconds(self) -> float:
        """Processor time of the whole job."""
        return sum(self.seconds.values())

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return asdict(self) | {"cpu_seconds": self.cpu_seconds}

    def __str__(self) -> str:
        """Say it in a few lines."""
        core = "this machine" if self.calibrated else "a reference core (--calibrate, calibrate=True: this machine)"
        disk = f"{self.disk / 1e9:,.2f} GB in the work folder" if self.disk else "none: all is held in memory"
        return (
            f"{counted(self.documents, 'document')}, {self.bytes / 1e9:,.2f} GB of text, of which {self.duplicates:.0%} have a "
            f"near-duplicate, with {self.memory / 1e9:,.2f} GB of memory and {counted(self.threads, 'thread')}:\n"
            f"  memory: about {self.peak_memory / 1e9:,.2f} GB ({self.high_water / 1e9:,.2f} GB with libraries); "
            f"the least cap is {self.least_memory / 1e9:,.2f} GB\n"
            f"  disk: {disk}\n"
            f"  processor time: {counted(round(self.cpu_seconds), 'second')} on {core}"
        )


@spelled
def foresee(
    *,
    documents: float,
    bytes: float,
    memory: int | str | None = None,
    duplicates: float = 0.3,
    family: float = 3.0,
    threads: int | None = None,
    work: bool = False,
    format: str = "parquet",
    calibrate: bool = False,
    threshold: float = 0.8,
    recall: float = 0.99,
    permutations: int | None = None,
    bands: int | None = None,
    rows: int | None = None,
    verify: str = "exact",
    keep: str = "first",
) -> Foresight:
    """Foresee what ``dedup`` will take: memory, disk space and processor time.

    The sizes of tables and texts follow from the parameters, and how they share the memory from the rules of the local engine.
    Writing the documents that are kept is not counted: it reads all inputs once more.

    Parameters
    ----------
    documents : whole number >= 0
        Size of the corpus.
    bytes : whole number >= 0
        Bytes of text (UTF-8) in all documents.
    memory : int or str, optional
        Cap on the whole process, as ``dedup`` takes it. Default: 60% of the free memory.
    duplicates : float in [0, 1], default 0.3
        Share of documents that have a near-duplicate, whether they are kept or removed; where lengths differ much, share of
        the text. Exact copies do not count.
    family : float >= 2, default 3
        Documents that resemble each other, on average: each is taken to be in (family - 1) / 2 candidate pairs.
    threads : int >= 1, optional
        Default: all processors this process may use.
    work : bool, default False
        Whether the job has a work folder; then nothing is held in memory that can lie there.
    format : {"parquet", "jsonl"}, default "parquet"
        Of the inputs; others read about as JSON lines do, or slower.
    calibrate : bool, default False
        Measure for about five seconds how fast this machine is. Otherwise processor time is that of a reference core.
    threshold, recall, permutations, bands, rows, verify, keep
        As ``dedup`` takes them.

    Returns
    -------
    Foresight

    Raises
    ------
    ParameterError
        If a parameter is out of its range, or the cap cannot be kept: the message states the least that can.

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
            raise ParameterError(f"{name} must be at least {least:g}{upper}; got {value}")
    if verify not in ("exact", "sketch"):
        raise ParameterError(f"verify must be exact or sketch to be foreseen; got {verify!r}")
    if format not in REFERENCE:
        raise ParameterError(f"format must be {' or '.join(REFERENCE)} to be foreseen; got {format!r}")
    chosen: dict[str, Any] = {
        "threshold": threshold, "recall": recall, "permutations": permutations, "bands": bands, "rows": rows, "verify": verify,
    }  # fmt: skip
    settings = Settings(threads=threads, memory=memory, keep=keep, work="work" if work else None, **chosen)
    stages = Footprint(Corpus.of(n, text, float(duplicates), float(family), settings), Memory.wanted(memory), settings, format)
    if calibrate:
        speeds = measure(format, **chosen)
    else:
        speeds, usual = REFERENCE[format], Settings()
        times = settings.plan.permutations / usual.plan.permutations
        speeds = replace(speeds, sketch_document=times * speeds.sketch_document)
    peak = stages.peak()
    return Foresight(
        documents=n, bytes=text, memory=stages.first.cap, least_memory=FLOOR + LEAST_ROOM + BYTES_PER_DOCUMENT * n,
        duplicates=float(duplicates), family=float(family), threads=settings.n_threads, peak_memory=peak,
        high_water=peak + LIBRARIES, disk=stages.disk(), seconds=stages.seconds(speeds), calibrated=calibrate,
    )  # fmt: skip


def _count(name: str, value: float) -> int:
    """Return a whole number that may come as a float, such as 1e9."""
    given = number(name, value, "a number >= 0")
    if abs(given) == float("inf") or given != int(given):
        raise ParameterError(f"{name} must be a whole number; got {value}")
    return whole(name, int(given), 0, 10**15)
