import itertools
import resource
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from raising import assert_raises

from lookalike.engines import memory
from lookalike.engines.memory import BYTES_PER_DOCUMENT, FLOOR, LEAST_ROOM, MOST, Memory, MemoryReleaser
from lookalike.errors import ParameterError

LEAST = FLOOR + LEAST_ROOM


@given(st.integers(0, 9000), st.sampled_from(["", "B", "k", "KB", "MiB", "gi", "G", "TB"]), st.sampled_from(["", " "]))
def test_units_are_powers_of_ten_or_of_two(n, unit, space):
    power = "KMGT".find(unit[:1].upper()) + 1 if unit not in ("", "B") else 0
    assert memory.parse_bytes(f"{n}{space}{unit}") == n * (1024 if "i" in unit.lower() else 1000) ** power


@pytest.mark.parametrize(
    ("read", "size", "said"),
    [
        *((memory.parse_bytes, size, "such as 4GB") for size in ("", "much", "-4GB", "4 PB", "4GBB")),
        *((Memory.wanted, n, f"means {int(n):,} bytes: add a unit, as in {int(n)}GB or") for n in (4, "4", " 16 ", "999999")),
        (Memory, LEAST - 1, f"at least {LEAST / 1e6:,.0f} MB, of which the interpreter .* {FLOOR / 1e6:,.0f}; got"),
    ],
)
def test_what_is_no_size_or_too_little_is_refused(read, size, said):
    assert_raises(ParameterError, said, read, size)
    assert Memory.wanted(10**9).cap == Memory.wanted("1000000000").cap == 10**9 and Memory(LEAST).free == LEAST_ROOM


@given(st.integers(LEAST, 1 << 60), st.integers(1, 256), st.integers(0, 1 << 40))
def test_all_parts_fit_the_cap(cap, threads, documents):
    """Beside what is known of the documents; two partitions are held at once, and what waits is there three times."""
    made = Memory(cap, documents)
    assert made.free == max(LEAST_ROOM, cap - FLOOR - BYTES_PER_DOCUMENT * documents) and 5 * made.table_budget <= 2 * made.free
    assert made.table_budget + 2 * made.partition(threads) + 3 * made.sort_budget <= made.free
    assert made.partition(threads) <= max(32 << 20, threads * (32 << 20))
    for share, part in ((24, made.slice(threads)), (12, made.component_budget(threads))):
        assert part == 1 << 20 or threads * part * share <= made.free
    assert made.partition(threads) >= made.partition(1) >= 1 << 20


@given(st.integers(LEAST, 1 << 40), st.integers(0, 1 << 36))
def test_documents_are_refused_beyond_their_number(cap, n):
    most = (cap - LEAST) // memory.BYTES_PER_DOCUMENT
    for count in (n, most, most + 1):
        if count <= most:
            assert Memory(cap).holding(count) == Memory(cap, count)
        else:
            assert_raises(ParameterError, rf"^{count:,} documents need", Memory(cap).holding, count)


def test_what_is_asked_for_or_a_share_of_what_is_free(monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: 10**10)
    assert Memory.wanted(None).cap == 6 * 10**9 and Memory.wanted("4GB").cap == 4 * 10**9
    assert Memory.wanted("1e30").cap == MOST and Memory.wanted(2e9).cap == 2 * 10**9
    monkeypatch.setattr(memory, "free_memory", lambda: 10**6)
    assert Memory.wanted(None).cap == LEAST, "a job that asks for nothing is not refused"


@pytest.fixture
def files(monkeypatch):
    held = {}

    def read(name):
        if name not in held:
            raise FileNotFoundError(name)
        return held[name]

    monkeypatch.setattr(memory, "Path", lambda name: SimpleNamespace(read_text=lambda: read(name)))
    monkeypatch.setattr(memory, "open", lambda name, *_, **__: read(name), raising=False)
    return held


@pytest.mark.parametrize(
    ("limit", "used", "free"),
    [(None, None, 8_192_000), (5e6, 1e6, 4_000_000), ("max", None, 8_192_000), (5e6, 6e6, 0), (9e10, 1e6, 8_192_000)],
)
def test_a_control_group_limits_what_is_free(files, limit, used, free):
    files["/proc/meminfo"] = "MemTotal: 9000 kB\nMemAvailable:    8000 kB\n"
    for name, value in (("max", limit), ("current", used)):
        if value is not None:
            files[f"/sys/fs/cgroup/memory.{name}"] = f"{value if value == 'max' else int(value)}\n"
    assert memory.free_memory() == free


def test_without_the_files_of_linux_it_is_what_the_machine_has(files, monkeypatch):
    assert memory.resident_memory() == 0
    monkeypatch.setattr(memory.os, "sysconf", {"SC_PHYS_PAGES": 1000, "SC_PAGE_SIZE": 4096}.__getitem__)
    assert memory.free_memory() == 4_096_000
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for platform, unit in (("linux", 1024), ("darwin", 1)):  # bytes there
        monkeypatch.setattr(memory.sys, "platform", platform)
        assert peak * unit <= memory.peak_memory() < 2 * peak * unit


def test_a_valve_opens_when_the_process_has_grown_by_a_step(monkeypatch):
    """What does not come back is not asked for again at once."""
    size, opened, clock = [0], [], itertools.count(1.0)
    monkeypatch.setattr(memory, "monotonic", lambda: next(clock))
    monkeypatch.setattr(memory, "resident_memory", lambda: size[0])
    monkeypatch.setattr(memory, "give_back", lambda: opened.append(size[0]) or size.__setitem__(0, min(size[0], 120)))
    valve = MemoryReleaser(100, 10)
    for size[0] in (50, 100, 101, 102, 110, 111, 140, 125, 131, 90):
        valve.check()
    assert opened == [101, 140, 131], "111 is no more than a step beyond what was left of 101"
    valve.open()
    size[0] = 101
    valve.check()
    assert opened == [101, 140, 131, 90, 101]
    size[0] = 200
    assert list(valve.before(lambda rows: (2 * row for row in rows), iter([1, 2]))) == [2, 4] and opened[5:] == [200]
    clock, size[0] = itertools.repeat(next(clock)), 300
    valve.check()
    clock, size[0] = itertools.repeat(next(clock) + 0.9 * memory.PAUSE), 900
    valve.check()
    assert opened[6:] == [300], "that was a moment ago"


def test_memory_that_is_free_is_given_back():
    """Also what lies below something that is held."""
    blocks = [np.ones(100_000, "uint8") for _ in range(600)]
    held, before = np.ones(100_000, "uint8"), memory.resident_memory()
    del blocks
    memory.give_back()
    assert 0 < memory.resident_memory() < before - 40e6 and held.all()


def test_the_peak_counts_what_was_touched():
    before = memory.peak_memory()
    block = np.ones(before + (32 << 20), "uint8")
    assert memory.peak_memory() >= len(block)
