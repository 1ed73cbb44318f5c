"""How much memory a job may use, and what it does with it."""

from __future__ import annotations

import os
import re
import resource
import sys
from dataclasses import dataclass
from pathlib import Path

from ..errors import ParameterError

# Measured (benchmarks/scale.py): interpreter, NumPy, PyArrow and Numba after a small job, inner loops compiled or not.
FLOOR = 320_000_000
# Row numbers, places, components and a band of keys and of entries while buckets are found; less before and after.
BYTES_PER_DOCUMENT = 52
DEFAULT_SHARE = 0.6
PARTITION = 32 << 20
MOST = 1 << 60  # bytes; more than any machine has, and far from what 64 bits can count
_UNITS = {"": 1, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40}


def parse_bytes(size: str | int | float, name: str = "memory") -> int:
    """Read a number of bytes: 4000000000, "4GB", "3.5 GiB", "500M"; ``name`` is what a message calls it.

    Raises
    ------
    ParameterError
        If it is none.
    """
    match = re.fullmatch(r"\s*([0-9.]+(?:[eE][0-9]+)?)\s*([KMGT]I?)?B?\s*", str(size), re.IGNORECASE)
    try:
        if match:
            return int(float(match[1]) * _UNITS[(match[2] or "").upper()])
    except (ValueError, OverflowError):
        pass
    raise ParameterError(f"{name} must be a number of bytes such as 4GB or 500MiB; got {size!r:.60}")


def peak_memory() -> int:
    """Largest resident size of this process so far, in bytes."""
    try:  # the kernel's own high-water mark; ru_maxrss would start from that of the parent process
        status = Path("/proc/self/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) * 1024
    except (OSError, IndexError, ValueError):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024


def free_memory() -> int:
    """Bytes that this process could still use: what the machine has, or its control group allows."""
    free = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        free = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
        limit = Path("/sys/fs/cgroup/memory.max").read_text().strip()
        if limit != "max":
            used = int(Path("/sys/fs/cgroup/memory.current").read_text())
            free = min(free, max(0, int(limit) - used))
    except (OSError, StopIteration, ValueError):
        pass  # no Linux, or no control group: what is known so far
    return free


@dataclass(frozen=True, slots=True)
class Memory:
    """A cap on the whole process, and its division.

    Parameters
    ----------
    cap : int
        Bytes.

    Raises
    ------
    ParameterError
        If it is below what the interpreter and its libraries take.
    """

    cap: int

    def __post_init__(self) -> None:
        """Refuse a cap that cannot be kept."""
        if self.cap < FLOOR + (64 << 20):
            raise ParameterError(
                f"memory must be at least {(FLOOR + (64 << 20)) / 1e6:,.0f} MB, of which the interpreter and its libraries "
                f"take {FLOOR / 1e6:,.0f}; got {self.cap / 1e6:,.0f} MB"
            )

    @classmethod
    def wanted(cls, size: str | int | None) -> Memory:
        """Return the cap asked for, or a share of what is free now."""
        if size is not None:
            return cls(min(parse_bytes(size), MOST))
        return cls(max(FLOOR + (64 << 20), int(DEFAULT_SHARE * free_memory())))

    @property
    def free(self) -> int:
        """Bytes beyond the floor."""
        return self.cap - FLOOR

    @property
    def held(self) -> int:
        """Bytes of texts and tables that are held before they go to the disk."""
        return self.free * 2 // 5

    def partition(self, threads: int) -> int:
        """Bytes of text that are verified together: enough for all threads, few enough to fit."""
        return max(1 << 20, min(PARTITION * threads, self.free // 8))

    def slice(self, threads: int) -> int:
        """Bytes of text whose sets are held at once; hashes, numbers and maps take several times as much."""
        return max(1 << 20, self.free // (24 * threads))

    def check_documents(self, n: int) -> None:
        """Refuse more documents than the cap has room for.

        Raises
        ------
        ParameterError
            If there are more.
        """
        needed = FLOOR + (64 << 20) + BYTES_PER_DOCUMENT * n
        if needed > self.cap:
            raise ParameterError(
                f"{n:,} documents need {needed / 1e6:,.0f} MB ({BYTES_PER_DOCUMENT} bytes each beyond the floor); "
                f"the cap is {self.cap / 1e6:,.0f} MB: raise --memory (memory=)"
            )
