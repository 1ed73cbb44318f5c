"""Objects that are read ahead: the same bytes, several requests at a time, none of them twice, and no more than may be held."""

import io
import random
import threading
from functools import partial
from itertools import product

import pytest
from faulty_store import failing
from raising import assert_raises

from lookalike.engines.memory import FLOOR, LEAST_ROOM, Memory
from lookalike.errors import ParameterError
from lookalike.files import ahead
from lookalike.files.ahead import (
    AT_ONCE,
    GAP,
    HELD,
    LEAST,
    PrefetchedFile,
    Prefetcher,
    _together,
    make_first,
    map_ahead,
)
from lookalike.files.urls import as_url

DATA = random.Random(5).randbytes(400_003)


class Held(Prefetcher):
    """A file in memory, which counts what is asked of it, and is read in small blocks."""

    def __init__(self, data=DATA, room=HELD * 1000, block=1000):
        super().__init__(self.ask, len(data))
        self.data, self.asked, self.room, self.block = data, [], room, block

    def ask(self, n_bytes, begin):
        self.asked.append((begin, begin + n_bytes))
        return self.data[begin : begin + n_bytes]


def test_the_bytes_are_those_of_the_file():
    for n, exact in product([0, 1, 999, 1000, 1001, len(DATA)], [False, True]):
        file = Held(DATA[:n])
        with PrefetchedFile(file, exact) as stream:
            assert stream.read() == DATA[:n]
            assert len(file.asked) <= (2 if exact else -(-n // 1000))
        draw = random.Random(n)
        for wanted in ([], [[(n // 3, n // 2), (n // 2 + 10, n // 2 + 200)]]):
            file = Held(DATA[:n], room=1 << 20)
            file.prefetch(wanted)
            with io.BufferedReader(PrefetchedFile(file, exact), 64) as stream:
                for _ in range(300):
                    begin = draw.randrange(n + 10)
                    size = draw.choice((1, 50, 1500, 9000))
                    stream.seek(begin)
                    assert stream.read(size) == DATA[begin : min(n, begin + size)]
                assert stream.seek(0, io.SEEK_END) == n


def test_what_is_read_here_and_there_is_not_read_ahead():
    file = Held()
    with PrefetchedFile(file) as stream:
        for begin in (90_500, 50_500, 20_500):
            stream.seek(begin)
            stream.read(10)
        assert len(file.asked) == 3


def test_no_more_is_held_than_may_be():
    """What just fits is asked for; the first block brings those after it; a range inside another one cuts nothing off."""
    file = Held()
    file.block_at(0)
    assert sorted(file._blocks) == [*range(AT_ONCE + 1)] and _together([(0, 100), (10, 20)]) == [(0, 100)]
    with PrefetchedFile(file) as stream:
        while stream.read(1500):
            assert len(file._blocks) <= HELD
    for room, groups in ((file.room, ([(0, 3000)], [(200_000, 204_000)])), (3000, ([(0, 1000)], [(5000, 7000)]))):
        file = Held(room=room)
        file.prefetch([*groups])
        assert sum(end - begin for begin, end in file._wanted) == 3000


def test_ranges_are_asked_for_once_and_together():
    """By two readers, as for Arrow and for pages; near ones are one request, and what is not wanted any more is let go."""
    file = Held(room=1 << 20, block=1 << 20)
    first = [(0, 1000), (1000 + GAP, 80_000)]
    second = [(200_000, 210_000), (300_000, 310_000)]
    raw = io.BufferedReader(PrefetchedFile(file), 64)
    file.prefetch([first, second])
    arrow = PrefetchedFile(file, exact=True, owner=False)
    for begin, end in (*first, *second):
        for stream in (raw, arrow):
            stream.seek(begin)
            assert stream.read(end - begin) == DATA[begin:end]
    assert sorted(file.asked) == [(0, 80_000), *second]
    file.prefetch([second])
    assert [*file._wanted] == second and len(file.asked) == 3
    raw.close()
    assert not file._wanted and arrow.read(0) == b""


def test_a_file_that_is_shorter_than_it_was_is_an_error():
    file = Held()
    file.data = DATA[:50_000]
    with PrefetchedFile(file) as stream, pytest.raises(OSError, match="has become shorter than 400,003 bytes"):
        stream.read()


def test_several_requests_are_in_flight_and_what_was_listed_is_opened_once(bucket, monkeypatch):
    (bucket / "a").write_bytes(DATA)
    with failing() as seen:
        (entry,) = as_url(str(bucket)).entries()
        before = len(seen.requests)
        for _ in range(3):
            file = entry.url.open_anywhere()
            file.seek(len(DATA) - 5)
            assert file.read(5) == DATA[-5:]
        assert [one.split()[0] for one in seen.requests[before:]] == ["HEAD", "GET"]
    monkeypatch.setattr(ahead, "LARGEST", 1000)
    with failing(delay=0.01) as seen, as_url(str(bucket / "a")).open_stream() as stream:
        assert stream.read() == DATA
    assert AT_ONCE <= seen.most_at_once <= AT_ONCE + 1


def slow(number, started, gate, n_items=3):
    started.append((number, threading.current_thread() is threading.main_thread()))
    for item in range(n_items):
        if number and not item:
            assert gate.wait(10)
        yield number, item


@pytest.mark.parametrize(("n_bytes", "early"), [(0, []), (1000, [1, 2, 3, 4]), (100 << 20, [1])])
def test_those_that_follow_are_begun(n_bytes, early):
    """Several small ones, one large one; those that read of no store when it is their turn."""
    started = []
    gate = threading.Event()
    found = []
    for number, items in enumerate(
        map_ahead(make_first, ((n_bytes, partial(slow, number, started, gate)) for number in range(7)))
    ):
        for item in items:
            if not number:
                while len(started) < 1 + len(early):
                    pass
                assert sorted(one for one, _ in started) == [0, *early]
                gate.set()
            found.append(item)
    assert found == [(number, item) for number in range(7) for item in range(3)]
    assert sorted(number for number, here in started if not here) == (list(range(7)) if n_bytes else [])


def test_an_error_is_raised_when_it_is_its_turn():
    def made(number, first):
        if number == 4 and first:
            raise OSError("at once")
        yield number
        if number == 2 and not first:
            raise OSError("late")

    for first, said, fine in ((False, "late", [0, 1, 2]), (True, "at once", [0, 1, 2, 3])):
        found = []
        with pytest.raises(OSError, match=said):
            for items in map_ahead(make_first, ((1, partial(made, number, first)) for number in range(6))):
                found += items
        assert found == fine


def test_who_stops_early_ends_what_was_begun():
    started = []
    closed = []

    def one(number):
        started.append(number)
        try:
            yield number
            yield -1
        finally:
            closed.append(number)

    all_of = map_ahead(make_first, ((1, partial(one, number)) for number in range(20)))
    assert next(next(all_of)) == 0
    while len(started) < 1 + AT_ONCE:
        pass
    all_of.close()
    assert sorted(closed)[-4:] == [1, 2, 3, 4]
    assert [*map_ahead(make_first, ())] == []


def test_side_by_side():
    seen = set()
    gate = threading.Barrier(AT_ONCE, timeout=10)

    def work(item):
        seen.add(threading.current_thread().name)
        gate.wait()
        return item * item

    assert list(map_ahead(work, ((1, n) for n in range(2 * AT_ONCE)))) == [n * n for n in range(2 * AT_ONCE)]
    assert len(seen) == AT_ONCE
    assert [*map_ahead(lambda item: threading.current_thread().name, [(0, 1), (0, 2)])] == ["MainThread"] * 2


def test_what_is_read_ahead_counts_as_memory():
    cap = FLOOR + LEAST_ROOM + LEAST
    memory = Memory(cap)
    ahead_of = Memory(cap).reading(True)
    assert memory.reading(False) == memory and memory.free == LEAST_ROOM + LEAST
    assert ahead_of.free == LEAST_ROOM and ahead_of.ahead == LEAST == ahead._room
    assert_raises(
        ParameterError,
        r"memory must be at least .* MB, .* and what is read ahead of stores 25; got",
        Memory(cap - 1).reading,
        True,
    )
    large = Memory(8 << 30).reading(True)
    assert large.ahead == ahead.MOST == ahead._room and Prefetcher(None, 1).room == ahead.MOST // 2
    memory.reading(True)
