"""How much memory a job may use, and what it does with it; how large a document may be, so that a cap holds."""

from __future__ import annotations

import os
import re
import resource
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic

from ..errors import ParameterError
from ..files import ahead
from ..formats.split import ROOM, Limit
from ..values.arrow import give_back, keep_little
from .engine import Batches, Step

# Measured (benchmarks/memory.py): interpreter, NumPy and PyArrow, with pandas, after a small job.
FLOOR = 130_000_000
LEAST_ROOM = 67_000_000
LEAST = FLOOR + LEAST_ROOM
# The most of any stage: benchmarks/results/memory.md.
BYTES_PER_DOCUMENT = 48
# What merging segments of an index takes.
BYTES_PER_ENTRY = 72
DEFAULT_SHARE = 0.6
AHEAD_SHARE = 8  # what is read ahead of stores may take this part of the memory
PARTITION = 32 << 20
LARGEST = 10  # of which the largest document is one: the part of the memory whose texts, sets and copies fit into it
TOKEN_BYTES = 160  # that each word takes of the largest documents while two of them are compared
BANDED_TOKEN_BYTES = 112  # where bands of MinHash find the two
MOST = 1 << 60  # bytes; more than any machine has, and far from what 64 bits can count
PAUSE = 0.01  # seconds between two looks at the size of the process
UNITLESS = 1_000_000  # a smaller number is meant to have a unit
_UNITS = {"": 1, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40}


def parse_bytes(size: str | int | float, name: str = "memory") -> int:
    """Read a number of bytes: 4000000000, "4GB", "3.5 GiB", "500M"; ``name`` is what a message calls it."""
    match = re.fullmatch(r"\s*([0-9._]+(?:[eE][+]?[0-9]+)?)\s*([KMGT]I?)?B?\s*", str(size), re.IGNORECASE)
    try:
        if match:
            return int(float(match[1]) * _UNITS[(match[2] or "").upper()])
    except (ValueError, OverflowError):
        pass
    raise ParameterError("must be a number of bytes such as 4GB or 500MiB", name, size)


def enough(n_bytes: int) -> str:
    """Say a size in whole megabytes, rounded up."""
    return f"{-(-n_bytes // 10**6):,} MB"


def peak_memory() -> int:
    """Bytes: largest resident size so far of this process, or of one that it started and that has ended, such as a parser."""
    unit = 1 if sys.platform == "darwin" else 1024
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * unit
    try:  # the kernel's own high-water mark; ru_maxrss would start from that of the parent process
        status = Path("/proc/self/status").read_text()
        return max(int(status.partition("VmHWM:")[2].split()[0]) * 1024, children)
    except (OSError, IndexError, ValueError):
        return max(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit, children)


def free_memory() -> int:
    """Bytes that this process could still use: what the machine has, or its control group allows."""
    free = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        free = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
        limit = int(Path("/sys/fs/cgroup/memory.max").read_text())
        free = min(free, max(0, limit - int(Path("/sys/fs/cgroup/memory.current").read_text())))
    except (OSError, StopIteration, ValueError):
        pass  # no Linux, no control group, or "max" for its limit: what is known so far
    return free


def resident_memory() -> int:
    """Resident size of this process, in bytes; 0 where the system does not say."""
    try:
        with open("/proc/self/statm", "rb", buffering=0) as file:  # a Path takes twice as long
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError, ValueError):
        return 0


class MemoryReleaser:
    """Gives memory back whenever the process has grown by a step, once it is beyond a size; both in bytes."""

    def __init__(self, start: int, step: int) -> None:
        self._start, self._step, self._next, self._due = start, step, start, 0.0

    def check(self) -> None:
        """Look how large the process is, if that was a while ago: small batches come faster than the system answers."""
        now = monotonic()
        if now >= self._due:
            self._due = now + PAUSE
            if resident_memory() > self._next:
                self.open()

    def before(self, step: Step, rows: Batches) -> Batches:
        """Run a step, and look how large the process is before each batch that it is given."""
        return step(self._checked(rows))

    def _checked(self, rows: Batches) -> Batches:
        for batch in rows:
            self.check()
            yield batch
            del batch  # not held while the next is made

    def open(self) -> None:
        """Give memory back now."""
        give_back()
        self._next = max(self._start, resident_memory() + self._step)


@dataclass(frozen=True, slots=True)
class Memory:
    """A cap on the whole process, in bytes, and its division; what is kept of each known document is not free."""

    cap: int
    documents: int = 0
    ahead: int = 0  # bytes that stores may send before they are read

    def __post_init__(self) -> None:
        """Refuse a cap that cannot be kept."""
        least = LEAST + self.ahead
        if self.cap < least:
            more = f", and what is read ahead of stores {self.ahead / 1e6:,.0f}" if self.ahead else ""
            raise ParameterError(
                f"memory must be at least {enough(least)}, of which the interpreter and its "
                f"libraries take {FLOOR / 1e6:,.0f}{more}; got {self.cap / 1e6:,.0f} MB",
                "memory",
                self.cap,
            )

    @classmethod
    def wanted(cls, size: str | int | None) -> Memory:
        """Return the cap asked for, or a share of what is free now."""
        if size is not None:
            cap = parse_bytes(size)
            if 0 < cap < UNITLESS and str(size).strip().isdecimal():
                raise ParameterError(f"memory {size} means {cap:,} bytes: add a unit, as in {cap}GB or {cap}MB")
            keep_little()
            return cls(min(cap, MOST))
        return cls(max(LEAST, int(DEFAULT_SHARE * free_memory())))

    def reading(self, remote: bool) -> Memory:
        """Return what there is once inputs are known: while those on stores (``remote``) are read, some is held of them."""
        if not remote:
            return self
        n_bytes = min(ahead.MOST, max(ahead.LEAST, (self.cap - FLOOR) // AHEAD_SHARE))
        ahead.allow(n_bytes)
        return replace(self, ahead=n_bytes)

    @property
    def free(self) -> int:
        """Bytes beyond the floor, what is read ahead, and what is kept of each document."""
        return max(LEAST_ROOM, self.cap - FLOOR - self.ahead - BYTES_PER_DOCUMENT * self.documents)

    @property
    def table_budget(self) -> int:
        """Bytes of texts and tables that are held before they go to the disk."""
        return self.free * 2 // 5

    @property
    def sort_budget(self) -> int:
        """Bytes of rows that wait to be sorted or written; while they are, they take two or three times as much."""
        return self.free // 16

    @property
    def valve(self) -> MemoryReleaser:
        """What keeps allocators from holding more than a small part."""
        return MemoryReleaser(FLOOR + (self.cap - FLOOR) // 4, self.free // 16)

    def partition(self, threads: int) -> int:
        """Bytes of text that are verified together: enough for all threads, few enough to fit twice."""
        return max(1 << 20, min(PARTITION * threads, self.free // 12))

    def component_budget(self, threads: int) -> int:
        """Bytes of the text of a component that one thread compares at one go; its sets take several times as much."""
        return max(1 << 20, self.free // (12 * threads))

    def slice(self, threads: int) -> int:
        """Bytes of text whose sets are held at once; hashes, numbers and maps take several times as much."""
        return max(1 << 20, self.free // (24 * threads))

    def batch(self, most: int) -> int:
        """Bytes of texts, up to the ``most``, that are added to an index at one go."""
        return max(1 << 20, min(most, self.free // 20))

    def holding(self, n: int) -> Memory:
        """Return what there is once the number of documents is known."""
        self.check_documents(n)
        return replace(self, documents=n)

    def check_documents(self, n: int, each: int = BYTES_PER_DOCUMENT) -> None:
        """Refuse more documents, of which so many bytes ``each`` are kept, than the cap has room for."""
        needed = LEAST + self.ahead + each * n
        if needed > self.cap:
            raise ParameterError(
                f"{n:,} documents need {enough(needed)} ({each} bytes each beyond the floor); "
                f"the limit is {self.cap / 1e6:,.0f} MB: raise --memory (memory=)"
            )


def skips_oversized(on_error: str | None, max_document: int | str | None) -> bool:
    """Tell whether large documents are left out; never by the default limit, which depends on the memory, as no result may."""
    return on_error == "skip" and max_document is not None


def limit_of(
    max_document: int | str | None, on_error: str | None, memory: Memory, token_bytes: int = TOKEN_BYTES
) -> Limit:  # fmt: skip
    """Return how large documents may be, and what becomes of those that are larger or cannot be parsed."""
    most = memory.cap // LARGEST
    wanted = most if max_document is None else parse_bytes(max_document, "max_document")
    if not 0 < wanted <= most:
        raise ParameterError(
            f"--max-document (max_document) must be from 1 byte to a tenth of the memory, {most / 1e6:,.0f} MB; got "
            f"{wanted:,} bytes: raise --memory (memory=) with it",
            "max_document",
            wanted,
        )
    room, skips = int((memory.cap - FLOOR) * ROOM), on_error == "skip"
    tokens = (memory.cap - FLOOR) // token_bytes
    return Limit(wanted, skips_oversized(on_error, max_document), on_error != "stop", room, skips, tokens)
