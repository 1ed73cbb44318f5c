"""A file searched as a stream gives what the index in memory gives; appends are whole or not there."""

import os
import struct
import tracemalloc
from dataclasses import replace
from itertools import product
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest
from fingerprint_words import check_first, file_of, of_margins, planted, triples

import lookalike as la
from lookalike.errors import IncompatibleSketchError, InputDataError, OutputError, ParameterError
from lookalike.search import ExhaustiveHammingIndex, FingerprintFile, HammingIndex, TableIndex, WeakBitIndex
from lookalike.search.chunked_file import ChunkedFile, _ascend
from lookalike.search.self_join import sort_rows
from lookalike.sketches import Shingles, SimHash


def methods(bits=64):
    return [
        HammingIndex(radius=3, bits=bits), TableIndex(radius=3, blocks=5, lead=2, bits=bits),
        WeakBitIndex(radius=3, probes=None, bits=bits), ExhaustiveHammingIndex(radius=3, bits=bits),
    ]  # fmt: skip


@pytest.mark.parametrize("bits", [64, 128])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("batches", [[1], [5000], [1, 700, 3000, 2, 900]])
def test_every_method_equals_the_oracle(rng, tmp_path, bits, threads, batches):
    words = planted(rng, sum(batches), bits, 3, 2 / 3)
    queries = np.concatenate([words[-200:], planted(rng, 50, bits, 3, 2 / 3)])
    file = FingerprintFile(tmp_path / "seen.fps", bits=bits)
    starts = np.cumsum([0, *batches])
    for start, count in zip(starts, batches, strict=False):
        assert file.append(words[start : start + count]) == start
    file = FingerprintFile(tmp_path / "seen.fps", bits=bits)
    assert len(file) == len(words)
    pieces = list(file._chunks.pieces(1024))
    assert all(len(rows) <= 1024 for _, rows in pieces) and sum(len(rows) for _, rows in pieces) == len(words)
    oracle = triples(ExhaustiveHammingIndex(radius=3, bits=bits).add(words).query(queries))
    for method in methods(bits):
        assert triples(file.query(queries, method, memory=1 << 20, threads=threads)) == oracle, type(method)
        check_first(file.first(queries, method, memory=1 << 20, threads=threads), oracle)
        assert len(method) == 0


def test_weak_bits_of_queries_lead_into_the_file(rng, tmp_path):
    """As in memory: few probes find most of the pairs whose differing bits are weak, margins of a byte nearly as many."""
    n = 20_000
    margins = rng.normal(0, 1, (n, 64)).astype(np.float32)
    queries, stored = of_margins(margins), of_margins(margins + rng.normal(0, 0.05, margins.shape))
    distance = np.bitwise_count(queries ^ stored)
    wanted = (distance >= 1) & (distance <= 3)
    file = file_of(tmp_path, stored[: n // 2], stored[n // 2 :])
    small = np.rint(margins * (127 / np.abs(margins).max(1, keepdims=True))).astype(np.int8)
    shares = []
    for sums in (margins, small, None):
        found = file.query(queries, WeakBitIndex(prefix_bits=12, probes=8), sums, memory=1 << 20)
        shares.append(np.isin(np.flatnonzero(wanted), found.left[found.left == found.right]).mean())
        again = WeakBitIndex(prefix_bits=12, probes=8).add(stored).query(queries, sums)
        assert triples(found) == triples(again)
    assert shares[0] > 0.95 and abs(shares[1] - shares[0]) < 0.01 and shares[2] < shares[0] - 0.1, shares


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("method", methods(), ids=lambda method: type(method).__name__)
def test_first_reads_no_further_than_the_last_answer(rng, tmp_path, monkeypatch, method, threads):
    """The answers lie in the first three of thirty batches, the last one at the end of the third."""
    words = rng.integers(0, 1 << 64, 30 * 1500, dtype=np.uint64)
    file = file_of(tmp_path, *np.split(words, 30))
    rows = np.array([3, 700, 1600, 4499])
    queries = words[rows] ^ np.uint64(1)
    pieces, read, closed = list(file._chunks.pieces(2000)), [], []
    assert len(pieces) == 30

    def counted(most):
        try:
            for piece in pieces:
                read.append(piece)
                yield piece
        finally:
            closed.append(len(read))

    monkeypatch.setattr(file._chunks, "pieces", counted)
    assert file.first(queries, method, threads=threads).tolist() == rows.tolist()
    assert closed == [len(read)] and 3 <= len(read) <= (3 if threads == 1 else 3 + 2 * threads)
    read.clear(), closed.clear()
    assert file.first(np.append(queries, ~words[0]), method, threads=threads).tolist() == [*rows.tolist(), -1]
    assert closed == [len(read)] == [30], "a query without an answer is asked of the whole file"
    read.clear(), closed.clear()
    file.query(queries, method, threads=threads)
    assert closed == [len(read)] == [30], "all answers are in the whole file"


@pytest.mark.parametrize(("threads", "share"), [(1, 1 / 3), (3, 1)])
@pytest.mark.parametrize("bits", [64, 128])
def test_memory_is_bounded_whatever_the_file(rng, tmp_path, bits, threads, share):
    """Room is for ``2 * threads + 1`` pieces; with one thread one of these is under way, and it must keep to its third."""
    words, memory = bits // 64, 12 << 20
    file = file_of(tmp_path, rng.integers(0, 1 << 64, (500_000, words), dtype=np.uint64), bits=bits)
    queries = np.arange(100 * words, dtype=np.uint64).reshape(100, words)
    for method in (WeakBitIndex(radius=3, bits=bits), HammingIndex(radius=3, bits=bits)):
        file.first(queries[:1], method, memory=memory, threads=threads)
        tracemalloc.start()
        file.first(queries, method, memory=memory, threads=threads)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < share * memory, type(method)
        # How many pieces are under way at once is up to the threads; one of them shows that the room is used.
        assert threads > 1 or 0.4 * memory / 3 < peak, type(method)


def test_an_append_cut_off_does_not_count(rng, tmp_path):
    path = tmp_path / "seen.fps"
    words = planted(rng, 300, 64, 3, 2 / 3)
    file = FingerprintFile(path)
    file.append(words[:100])
    committed = path.stat().st_size
    file.append(words[100:])
    whole = path.read_bytes()
    for size in (committed + 3, committed + 40, committed + 700):
        path.write_bytes(whole[:committed] + bytes(size - committed))  # what a crash before the head leaves
        reopened = FingerprintFile(path)
        assert len(reopened) == 100
        assert reopened.append(words[100:]) == 100
        assert path.read_bytes() == whole


def test_damage_is_told_from_an_end(rng, tmp_path):
    path = tmp_path / "seen.fps"
    FingerprintFile(path).append(planted(rng, 500, 64, 3, 2 / 3))
    whole = path.read_bytes()
    for position in range(0, len(whole), 97):
        path.write_bytes(whole[:position] + bytes([whole[position] ^ 4]) + whole[position + 1 :])
        with pytest.raises((InputDataError, ParameterError)):
            FingerprintFile(path).query(np.zeros(1, np.uint64), HammingIndex())
    path.write_bytes(whole[:-7])
    with pytest.raises(InputDataError, match="cut short"):
        FingerprintFile(path)
    path.write_bytes(whole[:8] + struct.pack("<I", 9) + whole[12:])
    with pytest.raises(InputDataError, match="version 9 is newer"):
        FingerprintFile(path)
    path.write_bytes(b"something else altogether")
    with pytest.raises(InputDataError, match="not a file of fingerprints"):
        FingerprintFile(path)


def test_what_does_not_fit_is_refused(rng, tmp_path):
    path = tmp_path / "seen.fps"
    file = FingerprintFile(path)
    assert len(file) == 0 and file.first(np.zeros(2, np.uint64), HammingIndex()).tolist() == [-1, -1]
    assert file.append(np.empty(0, np.uint64)) == 0 and not path.exists()
    prints = SimHash(seed=3).sign(la.shingle(["a b c", "d e f"], width=1))
    file.append(prints)
    with_margins = SimHash(seed=3, margins=True).sign(la.shingle(["a b c"], width=1))
    assert FingerprintFile(path).query(with_margins, WeakBitIndex()).right.tolist() == [0]
    with pytest.raises(IncompatibleSketchError):
        FingerprintFile(path).append(SimHash(seed=4).sign(la.shingle(["a"], width=1)))
    with pytest.raises(ParameterError, match="64 bits"):
        FingerprintFile(path, bits=128)
    for call in (
        lambda: file.query(prints, HammingIndex().add(np.zeros(3, np.uint64))),
        lambda: file.query(prints, HammingIndex(), memory=10),
        lambda: file.query(prints, HammingIndex(), threads=0),
        lambda: file.query(np.zeros((2, 2), np.uint64), HammingIndex()),
        lambda: file.query(prints, WeakBitIndex(), np.zeros((1, 64), np.float32)),
    ):
        with pytest.raises(ParameterError):
            call()


def test_what_made_them_is_known_in_every_process(tmp_path):
    """Two functions of one name are the same tokenizer, wherever they lie in memory."""
    path = tmp_path / "seen.fps"

    def tokens():
        def split(text):
            return text.split()

        return split

    for _ in range(2):
        prints = SimHash().sign(la.shingle(["a b c"], tokenizer=tokens()))
        FingerprintFile(path).append(prints)
    assert len(FingerprintFile(path)) == 2


def test_one_writer_at_a_time(rng, tmp_path):
    import fcntl

    path = tmp_path / "seen.fps"
    one, two = FingerprintFile(path), FingerprintFile(path)
    words = planted(rng, 60, 64, 3, 2 / 3)
    assert one.append(words[:20]) == 0
    assert two.append(words[20:]) == 20  # sees what the other appended
    assert len(FingerprintFile(path)) == 60
    late, other = FingerprintFile(tmp_path / "new.fps"), FingerprintFile(tmp_path / "new.fps", bits=128)
    other.append(np.zeros((3, 2), np.uint64))
    with pytest.raises(InputDataError, match="128 bits by now"):
        late.append(words)
    assert len(FingerprintFile(tmp_path / "new.fps", bits=128)) == 3
    with path.open("r+b") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(OutputError, match="another process"):
            one.append(words)
    assert len(FingerprintFile(path)) == 60


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(OutputError):
        FingerprintFile(tmp_path / "seen.fps").append(np.zeros(1, np.uint64))


def test_the_format_stays(tmp_path):
    """Known answer: two fingerprints, the larger first."""
    ChunkedFile(tmp_path / "a.fps", 64).append(np.array([[0x0102], [7]], np.uint64), "arrays", lambda header: None)
    data = (tmp_path / "a.fps").read_bytes()
    words, rows = struct.pack("<QQ", 7, 0x0102), struct.pack("<II", 1, 0)
    header = b'{"meta": {"bits": 64, "made_by": "arrays"}, "arrays": []}'.ljust(104)
    batch = (b'{"meta": {}, "arrays": [["words", "<u8", [2, 1], 0, "%08x"], ["rows", "<u4", [2], 64, "%08x"]], "at": 128}'
             % (crc32(words), crc32(rows))).ljust(168)  # fmt: skip
    assert data == b"".join((
        b"LOOKAFPS", struct.pack("<IIQ", 1, crc32(header), len(header)), header,
        b"LOOKAFPS", struct.pack("<IIQ", 1, crc32(batch), len(batch)), batch, words.ljust(64, b"\0"), rows.ljust(64, b"\0"),
    ))  # fmt: skip


GOLDEN = Path(__file__).parents[1] / "golden/fingerprints"
WORDS = np.arange(1, 31, dtype=np.uint64)[:, None] * np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F], np.uint64)


def test_golden_files_are_searched():
    """The format is a contract."""
    file = FingerprintFile(GOLDEN / "arrays.fps", bits=128)
    assert len(file) == 30 and np.concatenate(list(file._chunks.batches())).tolist() == WORDS.tolist()
    for method in methods(128):
        assert triples(file.query(WORDS, method)) == triples(ExhaustiveHammingIndex(radius=3, bits=128).add(WORDS).query(WORDS))
    shingles = la.shingle(["The quick brown fox jumps over the lazy dog"], width=1)
    prints = SimHash(seed=3).sign(replace(shingles, parameters=la.Shingling(width=1, rules=2)))
    file = FingerprintFile(GOLDEN / "simhash.fps")
    assert file.query(prints, HammingIndex(radius=0)).right.tolist() == [0, 3]
    with pytest.raises(IncompatibleSketchError):
        file.query(SimHash(seed=4).sign(la.shingle(["a"], width=1)), HammingIndex())


def test_files_are_joined(rng, tmp_path):
    words = planted(rng, 500, 64, 3, 2 / 3)
    one, other = FingerprintFile(tmp_path / "one"), FingerprintFile(tmp_path / "other")
    assert one.extend(other) == 0 and not (tmp_path / "one").exists()
    one.append(words[:100])
    for part in (words[100:250], words[250:]):
        other.append(part)
    assert one.extend(other) == 100 and one.extend(FingerprintFile(tmp_path / "none")) == 500
    assert (np.concatenate(list(FingerprintFile(tmp_path / "one")._chunks.batches())) == words).all()
    with pytest.raises(ParameterError, match="128 bits"):
        one.extend(FingerprintFile(GOLDEN / "arrays.fps", bits=128))
    simhash = FingerprintFile(tmp_path / "simhash")
    simhash.append(SimHash(seed=4).sign(la.shingle(["a b c"], width=1)))
    before = (tmp_path / "simhash").read_bytes()
    with pytest.raises(IncompatibleSketchError):
        simhash.extend(FingerprintFile(GOLDEN / "simhash.fps"))
    assert (tmp_path / "simhash").read_bytes() == before


def test_headers_that_could_not_be_read_again_are_not_written(tmp_path):
    for bits in (64.0, True, "64", 0, 1025):
        with pytest.raises(ParameterError, match="bits must be"):
            FingerprintFile(tmp_path / "f", bits=bits)
    shingles = la.shingle(["a b c d"], width=1)
    wordy = Shingles(shingles.values, shingles.offsets, {f"feature number {i}": i for i in range(60_000)})
    file = FingerprintFile(tmp_path / "f", bits=np.int64(64))
    with pytest.raises(ParameterError, match="short name"):
        file.append(SimHash(bits=64).sign(wordy))
    assert not (tmp_path / "f").exists()
    assert file.append(SimHash(bits=64).sign(shingles)) == 0 and len(FingerprintFile(tmp_path / "f")) == 1


def test_what_ascends_is_told_from_what_does_not(rng):
    """As numbers, the last word the most significant; equal ones are in order."""
    for n_words, n in product([1, 2, 3], [0, 1, 2, 3, 5]):
        seen = set()
        for _ in range(200):
            words = rng.integers(0, 2, (n, n_words), dtype=np.uint64)
            numbers = [sum(int(word) << (64 * place) for place, word in enumerate(row)) for row in words]
            ascend = numbers == sorted(numbers)
            assert _ascend(words, 64 * n_words) == ascend
            assert _ascend(words[sort_rows(words)], 64 * n_words)
            seen.add(ascend)
        assert seen == {True} or n > 1


@pytest.mark.parametrize("bits", [60, 100])
def test_bits_that_fingerprints_do_not_have_are_damage(tmp_path, bits):
    """They would stand in no prefix: what ascends as numbers would have prefixes that do not."""
    words = np.zeros((2, (bits + 63) // 64), np.uint64)
    words[:, -1] = (1 << bits % 64) - 1, 1 << bits % 64
    ChunkedFile(tmp_path / "x", bits).append(words, "arrays", lambda header: None)
    file = FingerprintFile(tmp_path / "x", bits=bits)
    for using in methods(bits):
        with pytest.raises(InputDataError, match="damaged: the batch of rows 0 to 1"):
            file.query(words[:1], using)
