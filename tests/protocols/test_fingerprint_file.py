import fcntl
import tracemalloc
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from fingerprint_words import check_first, file_of, planted, triples
from raising import assert_raises

import lookalike as la
from lookalike.errors import IncompatibleSketchError, InputDataError, OutputError, ParameterError
from lookalike.search import ExhaustiveHammingIndex, FingerprintFile, HammingIndex, TableIndex, WeakBitIndex
from lookalike.search.chunked_file import ChunkedFile, _ascend
from lookalike.search.self_join import sort_rows
from lookalike.sketches import Shingles, SimHash

GOLDEN = Path(__file__).parents[1] / "golden/fingerprints"


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def methods(bits=64):
    return [
        HammingIndex(radius=3, bits=bits), TableIndex(radius=3, blocks=5, lead=2, bits=bits),
        WeakBitIndex(radius=3, probes=None, bits=bits), ExhaustiveHammingIndex(radius=3, bits=bits),
    ]  # fmt: skip


def prints_of(*texts, seed=3, **how):
    return SimHash(seed=seed, **how).sign(la.shingle(list(texts), width=1))


def all_of(path, bits=64):
    return np.concatenate(list(FingerprintFile(path, bits=bits)._chunks.batches())).tolist()


@pytest.mark.parametrize(
    ("bits", "threads", "batches"),
    [(64, 3, [1]), (64, 1, [1, 700, 3000, 2, 900]), (128, 1, [5000]), (128, 3, [1, 700, 3000, 2])],
)
def test_every_method_equals_the_oracle(rng, bits, threads, batches):
    words = planted(rng, sum(batches), bits, 3, 2 / 3)
    queries = np.concatenate([words[-200:], planted(rng, 50, bits, 3, 2 / 3)])
    file = FingerprintFile("seen.fps", bits=bits)
    for start, count in zip(np.cumsum([0, *batches]), batches, strict=False):
        assert file.append(words[start : start + count]) == start
    file = FingerprintFile("seen.fps", bits=bits)
    assert len(file) == len(words) and all_of("seen.fps", bits) == words.tolist()
    pieces = list(file._chunks.pieces(1024))
    assert all(len(rows) <= 1024 for _, rows in pieces) and sum(len(rows) for _, rows in pieces) == len(words)
    joined = FingerprintFile("joined.fps", bits=bits)
    assert joined.extend(file) == 0 and joined.extend(file) == len(words)
    assert all_of("joined.fps", bits) == [*words.tolist(), *words.tolist()]
    oracle = triples(ExhaustiveHammingIndex(radius=3, bits=bits).add(words).query(queries))
    for method in methods(bits):
        assert triples(file.query(queries, method, memory=1 << 20, threads=threads)) == oracle, type(method)
        check_first(file.first(queries, method, memory=1 << 20, threads=threads), oracle)
        assert len(method) == 0


@pytest.mark.parametrize("threads", [1, 3])
def test_first_reads_no_further_than_the_last_answer(rng, monkeypatch, threads):
    """The answers lie in the first three of thirty batches, the last one at the end of the third."""
    words = rng.integers(0, 1 << 64, 30 * 1500, "uint64")
    file = file_of(Path(), *np.split(words, 30))
    rows = [3, 700, 1600, 4499]
    queries = words[rows] ^ np.uint64(1)
    pieces, read, closed = list(file._chunks.pieces(2000)), [], []
    assert len(pieces) == 30

    def counted(most):
        read.clear(), closed.clear()
        try:
            for piece in pieces:
                read.append(piece)
                yield piece
        finally:
            closed.append(len(read))

    monkeypatch.setattr(file._chunks, "pieces", counted)
    for method in methods():
        assert file.first(queries, method, threads=threads).tolist() == rows
        assert closed == [len(read)] and 3 <= len(read) <= (3 if threads == 1 else 3 + 2 * threads)
        assert file.first(np.append(queries, ~words[0]), method, threads=threads).tolist() == [*rows, -1]
        assert closed == [len(read)] == [30], "a query without an answer is asked of the whole file"
        file.query(queries, method, threads=threads)
        assert closed == [len(read)] == [30], "all answers are in the whole file"


@pytest.mark.parametrize(("bits", "threads", "share"), [(64, 1, 1 / 3), (128, 3, 1)])
def test_memory_is_bounded_whatever_the_file(rng, bits, threads, share):
    """Room is for ``2 * threads + 1`` pieces; with one thread one of these is under way, and it must keep to its third."""
    words, memory = bits // 64, 12 << 20
    file = file_of(Path(), rng.integers(0, 1 << 64, (500_000, words), "uint64"), bits=bits)
    queries = np.arange(100 * words, dtype="uint64").reshape(100, words)
    for method in (WeakBitIndex(radius=3, bits=bits), HammingIndex(radius=3, bits=bits)):
        file.first(queries[:1], method, memory=memory, threads=threads)
        tracemalloc.start()
        file.first(queries, method, memory=memory, threads=threads)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < share * memory, type(method)
        # How many pieces are under way at once is up to the threads; one of them shows that the room is used.
        assert threads > 1 or 0.4 * memory / 3 < peak, type(method)


def test_what_does_not_fit_is_refused():
    path, zeros = Path("seen.fps"), np.zeros((2, 2), "uint64")
    file = FingerprintFile(path)
    assert len(file) == 0 and file.first(zeros[0], HammingIndex()).tolist() == [-1, -1]
    assert file.append(zeros[:0, 0]) == 0 and file.extend(FingerprintFile("none")) == 0 and not path.exists()
    prints, other_seed = prints_of("a b c", "d e f"), FingerprintFile("other")
    file.append(prints)
    other_seed.append(prints_of("a", seed=4))
    assert FingerprintFile(path).query(prints_of("a b c", margins=True), WeakBitIndex()).right.tolist() == [0]
    late, wide = FingerprintFile("wide"), FingerprintFile("wide", bits=128)
    wide.append(zeros)
    before = path.read_bytes()
    for error, words, call in (
        (IncompatibleSketchError, "SimHash", lambda: FingerprintFile(path).append(prints_of("a", seed=4))),
        (IncompatibleSketchError, "SimHash", lambda: file.query(prints_of("a", seed=4), HammingIndex())),
        (IncompatibleSketchError, "SimHash", lambda: file.extend(other_seed)),
        (ParameterError, "64 bits", lambda: FingerprintFile(path, bits=128)),
        (ParameterError, "128 bits", lambda: file.extend(wide)),
        (InputDataError, "128 bits by now", lambda: late.append(prints)),
        (ParameterError, "empty index", lambda: file.query(prints, HammingIndex().add(zeros[0]))),
        (ParameterError, "memory", lambda: file.query(prints, HammingIndex(), memory=10)),
        (ParameterError, "threads", lambda: file.query(prints, HammingIndex(), threads=0)),
        (ParameterError, "64 bits", lambda: file.query(zeros, HammingIndex())),
        (ParameterError, "margins", lambda: file.query(prints, WeakBitIndex(), np.zeros((1, 64), "float32"))),
    ):
        assert_raises(error, words, call)
    assert path.read_bytes() == before and len(FingerprintFile("wide", bits=128)) == 2


def test_what_made_them_is_known():
    """Two functions of one name are the same tokenizer, wherever they lie in memory."""
    for _ in range(2):

        def split(text):
            return text.split()

        FingerprintFile("seen.fps").append(SimHash().sign(la.shingle(["a b c"], tokenizer=split)))
    assert len(FingerprintFile("seen.fps")) == 2


def test_one_writer_at_a_time(rng):
    path = Path("seen.fps")
    one, two = FingerprintFile(path), FingerprintFile(path)
    words = planted(rng, 60, 64, 3, 2 / 3)
    assert one.append(words[:20]) == 0
    assert two.append(words[20:]) == 20  # sees what the other appended
    with path.open("r+b") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert_raises(OutputError, "another process", one.append, words)
    assert len(FingerprintFile(path)) == 60


def test_the_format_stays():
    words = np.arange(1, 31, dtype="uint64")[:, None] * np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F], "uint64")
    file_of(Path(), words[:1], words[1:20], words[20:], bits=128)
    assert Path("seen.fps").read_bytes() == (GOLDEN / "arrays.fps").read_bytes()
    shingles = la.shingle(["The quick brown fox jumps over the lazy dog"], width=1)
    prints = SimHash(seed=3).sign(replace(shingles, parameters=la.Shingling(width=1, rules=2)))
    assert FingerprintFile(GOLDEN / "simhash.fps").query(prints, HammingIndex(radius=0)).right.tolist() == [0, 3]


def test_margins_of_a_byte_are_those_of_numbers(rng):
    words = planted(rng, 500, 64, 3, 2 / 3)
    file, sums, make = (
        file_of(Path(), words[:200], words[200:]),
        rng.integers(-127, 128, (500, 64)),
        {"prefix_bits": 12, "probes": 8},
    )
    first, *others = (
        triples(found)
        for some in (sums.astype("int8"), sums.astype("float32"))
        for found in (WeakBitIndex(**make).add(words).query(words, some), file.query(words, WeakBitIndex(**make), some))
    )
    assert others == [first] * 3 and len(words) < len(first)


def test_headers_that_could_not_be_read_again_are_not_written():
    for bits in (64.0, True, "64", 0, 1025):
        assert_raises(ParameterError, "bits must be", FingerprintFile, "f", bits=bits)
    shingles = la.shingle(["a b c d"], width=1)
    wordy = Shingles(shingles.values, shingles.offsets, {f"feature number {i}": i for i in range(60_000)})
    file = FingerprintFile("f", bits=np.int64(64))
    assert_raises(ParameterError, "short name", file.append, SimHash(bits=64).sign(wordy))
    assert not Path("f").exists()
    assert file.append(SimHash(bits=64).sign(shingles)) == 0 and len(FingerprintFile("f")) == 1


def test_what_ascends_is_told_from_what_does_not(rng):
    """As numbers, the last word the most significant; equal ones are in order."""
    for n_words, n in product([1, 2, 3], [0, 1, 2, 3, 5]):
        seen = set()
        for _ in range(200):
            words = rng.integers(0, 2, (n, n_words), "uint64")
            numbers = [sum(int(word) << (64 * place) for place, word in enumerate(row)) for row in words]
            seen.add(numbers == sorted(numbers))
            assert _ascend(words, 64 * n_words) == (numbers == sorted(numbers))
            assert _ascend(words[sort_rows(words)], 64 * n_words)
        assert seen == {True} or n > 1


def test_bits_that_fingerprints_do_not_have_are_damage():
    """They would stand in no prefix: what ascends as numbers would have prefixes that do not."""
    for bits in (60, 100):
        words = np.zeros((2, (bits + 63) // 64), "uint64")
        words[:, -1] = (1 << bits % 64) - 1, 1 << bits % 64
        ChunkedFile(str(bits), bits).append(words, "arrays", lambda header: None)
        file = FingerprintFile(str(bits), bits=bits)
        for using in methods(bits):
            assert_raises(InputDataError, "damaged: the batch of rows 0 to 1", file.query, words[:1], using)
