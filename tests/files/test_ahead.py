"""Objects that are read ahead: the same bytes, several requests at a time."""

import io
import random

import pytest
from faulty_store import failing

from lookalike.files import ahead
from lookalike.files.ahead import AT_ONCE, Ahead
from lookalike.files.urls import as_url

DATA = random.Random(5).randbytes(100_003)


class Held(io.BytesIO):
    """A file as Arrow has it, which counts what is asked of it."""

    asked = 0

    def size(self):
        return len(self.getvalue())

    def read_at(self, n_bytes, begin):
        self.asked += 1
        return self.getvalue()[begin : begin + n_bytes]


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(ahead, "BLOCK", 1000)


@pytest.mark.parametrize("n", [0, 1, 999, 1000, 1001, len(DATA)])
def test_the_bytes_are_those_of_the_file(n):
    file = Held(DATA[:n])
    with Ahead(file) as stream:
        assert stream.read() == DATA[:n]
        assert file.asked == -(-n // 1000)
    draw = random.Random(n)
    with io.BufferedReader(Ahead(Held(DATA[:n])), 64) as stream:
        for _ in range(300):
            begin, size = draw.randrange(n + 10), draw.choice((1, 50, 1500, 9000))
            stream.seek(begin)
            assert stream.read(size) == DATA[begin : min(n, begin + size)]
        assert stream.seek(0, io.SEEK_END) == n


def test_what_is_read_here_and_there_is_not_read_ahead():
    file = Held(DATA)
    with Ahead(file) as stream:
        for begin in (90_500, 50_500, 20_500):
            stream.seek(begin)
            stream.read(10)
        assert file.asked == 3


def test_a_file_that_is_shorter_than_it_was_is_an_error():
    file = Held(DATA)
    with Ahead(file) as stream, pytest.raises(OSError, match="has become shorter than 100,003 bytes"):
        file.truncate(50_000)
        stream.read()


@pytest.mark.parametrize("name", ["a.jsonl", "a"])
def test_several_requests_are_in_flight(bucket, name):
    (bucket / name).write_bytes(DATA)
    with failing(delay=0.01) as seen, as_url(str(bucket / name)).open_stream() as stream:
        assert stream.read() == DATA
    assert AT_ONCE <= seen.most_at_once <= AT_ONCE + 1
