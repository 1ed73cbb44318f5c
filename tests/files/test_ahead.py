"""The same bytes, several requests at a time, none of them twice, and no more than may be held."""

import io
import random
from functools import partial
from itertools import product

import pytest
from faulty_store import failing
from raising import assert_raises
from waiting import until

from lookalike.engines.memory import FLOOR, LEAST_ROOM, Memory
from lookalike.errors import ParameterError
from lookalike.files import ahead
from lookalike.files.ahead import AT_ONCE, HELD, LEAST, PrefetchedFile, Prefetcher, _together, make_first, map_ahead
from lookalike.files.urls import as_url

DATA = random.Random(5).randbytes(400_003)


class Held(Prefetcher):
    def __init__(self, data=DATA, room=HELD * 1000, block=1000):
        super().__init__(self.ask, len(data))
        self.data, self.asked, self.room, self.block = data, [], room, block

    def ask(self, n_bytes, begin):
        self.asked.append((begin, begin + n_bytes))
        return self.data[begin : begin + n_bytes]


def test_the_bytes_are_those_of_the_file():
    for n, exact in product([0, 1, 999, 1000, 1001, len(DATA)], [False, True]):
        draw, wanted = random.Random(n), [[(n // 3, n // 2), (n // 2 + 10, n // 2 + 200)]]
        file = Held(DATA[:n])
        with PrefetchedFile(file, exact) as stream:
            assert stream.read() == DATA[:n] and len(file.asked) <= (2 if exact else -(-n // 1000))
        for groups in ([], wanted):
            file = Held(DATA[:n], room=1 << 20)
            file.prefetch(groups)
            with io.BufferedReader(PrefetchedFile(file, exact), 64) as stream:
                for _ in range(300):
                    begin, size = draw.randrange(n + 10), draw.choice((1, 50, 1500, 9000))
                    stream.seek(begin)
                    assert stream.read(size) == DATA[begin : min(n, begin + size)]
                assert stream.seek(0, io.SEEK_END) == n


def test_no_more_is_held_than_may_be():
    """What just fits is asked for; the first block brings those after it; a range inside another one cuts nothing off."""
    file = Held()
    file.block_at(0)
    assert sorted(file._blocks) == [*range(AT_ONCE + 1)] and _together([(0, 100), (10, 20)]) == [(0, 100)]
    with PrefetchedFile(file) as stream:
        while stream.read(1500):
            assert len(file._blocks) <= HELD
    for room, *groups in ((file.room, [(0, 3000)], [(200_000, 204_000)]), (3000, [(0, 1000)], [(5000, 7000)])):
        file = Held(room=room)
        file.prefetch(groups)
        assert sum(end - begin for begin, end in file._wanted) == 3000
    file = Held()
    with PrefetchedFile(file) as stream:
        for begin in (90_500, 50_500, 20_500):
            stream.seek(begin)
            stream.read(10)
        assert len(file.asked) == 3, "what is read here and there is not read ahead"
    file = Held()
    file.data = DATA[:50_000]
    with PrefetchedFile(file) as stream:
        assert_raises(OSError, "has become shorter than 400,003 bytes", stream.read)


def test_several_requests_are_in_flight_and_what_was_listed_is_opened_once(bucket, monkeypatch):
    (bucket / "a").write_bytes(DATA)
    monkeypatch.setattr(ahead, "LARGEST", 1000)
    with failing(delay=0.01) as seen, as_url(str(bucket / "a")).open_stream() as stream:
        assert stream.read() == DATA
    assert AT_ONCE <= seen.most_at_once <= AT_ONCE + 1
    with failing() as seen:
        (entry,) = as_url(str(bucket)).entries()
        del seen.requests[:]
        for _ in range(3):
            file = entry.url.open_anywhere()
            file.seek(len(DATA) - 5)
            assert file.read(5) == DATA[-5:]
        assert [one.split()[0] for one in seen.requests] == ["HEAD", "GET"]


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


@pytest.mark.parametrize(("n_bytes", "begun"), [(0, [0]), (1000, [0, 1, 2, 3, 4]), (100 << 20, [0, 1])])
def test_those_that_follow_are_begun_and_who_stops_early_ends_them(n_bytes, begun):
    """Several small ones, one large one; those that read of no store when it is their turn."""
    started, closed = [], []

    def one(number):
        started.append(number)
        try:
            yield number
            yield -1
        finally:
            closed.append(number)

    all_of = map_ahead(make_first, ((n_bytes, partial(one, number)) for number in range(20)))
    assert [*next(all_of)] == [0, -1]
    until(lambda: len(started) == len(begun))
    all_of.close()
    assert sorted(started) == sorted(closed) == begun
    assert [*map_ahead(make_first, ())] == []


def test_what_is_read_ahead_counts_as_memory():
    cap = FLOOR + LEAST_ROOM + LEAST
    memory, ahead_of = Memory(cap), Memory(cap).reading(True)
    assert memory.reading(False) == memory and memory.free == LEAST_ROOM + LEAST
    assert ahead_of.free == LEAST_ROOM and ahead_of.ahead == LEAST == ahead._room
    said = r"memory must be at least .* MB, .* and what is read ahead of stores 25; got"
    assert_raises(ParameterError, said, Memory(cap - 1).reading, True)
    large = Memory(8 << 30).reading(True)
    assert large.ahead == ahead.MOST == ahead._room and Prefetcher(None, 1).room == ahead.MOST // 2
    memory.reading(True)
