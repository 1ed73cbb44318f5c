"""Lines and blocks of windows, and the table of what may come twice, against plain Python."""

import unicodedata
from itertools import pairwise

import numpy as np
import pytest
from conftest import JIT_OFF
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.hashing import MASK, PRIME, fmix64, keyed_digest
from naive.keyed import value_at
from naive.repeats import BLANKS, lines_of, paragraphs_of
from naive.repeats import pieces as naive_pieces
from naive.text import decoded, words

from lookalike.hashing import digest_secret
from lookalike.kernels import lines, places, repeats
from lookalike.kernels.folding import NOT_NFC
from lookalike.text.characters import character_tables
from lookalike.text.texts import from_bytes

PIECES = [b"a", b"Bc", b"0", b"_", b" ", b"\n", b"\n\n", b"\r\n", b"\t", b"\v", "é".encode(), "日".encode(), "ก".encode(), "\u0301".encode(),
          "\u2028".encode(), b"\xff", b"\xe6\x97", b"\0", b"x" * 70, b" " * 70, b"\n" * 70, "日".encode() * 30]  # fmt: skip
text = st.lists(st.sampled_from(PIECES), max_size=30).map(b"".join)
rows = st.lists(text, max_size=5)
ROOM = np.zeros(64, np.uint8)
LIMITS = settings(max_examples=30 if JIT_OFF else 300, deadline=None)
keys = st.lists(st.integers(0, MASK) | st.sampled_from([0, 1, MASK, 32, 64, 96]), max_size=70)


def split(texts, least, paragraphs):
    data, secret = from_bytes(texts), digest_secret(b"k" * 32, "lines")
    most = sum(map(len, texts)) + len(texts)
    spans, digests = np.zeros((most, 3), np.int64), np.zeros((most, 2), np.uint64)
    bounds, worded = np.zeros(len(texts) + 1, np.int64), np.zeros(len(texts), np.int64)
    lines.split_lines(
        data.data, data.offsets, least, paragraphs, character_tables(), secret, ROOM, spans, digests, bounds, worded
    )
    found = [[*span, *digest] for span, digest in zip(spans.tolist(), digests.tolist(), strict=True)]
    return [found[begin:end] for begin, end in pairwise(bounds.tolist())], worded.tolist()


@LIMITS
@given(rows, st.integers(1, 4), st.booleans())
def test_lines_and_paragraphs(texts, least, paragraphs):
    secret, expected, worded = digest_secret(b"k" * 32, "lines").tolist(), [], []
    for data in texts:
        some, n = [], 0
        for number, (begin, end) in enumerate(paragraphs_of(data) if paragraphs else lines_of(data)):
            inside = data[begin:end].strip(BLANKS)
            count = len(words(decoded(inside)))
            n += count > 0
            if count >= least:
                some.append([begin, end, number, *keyed_digest(inside, secret)])
        expected.append(some)
        worded.append(n)
    assert split(texts, least, paragraphs) == (expected, worded)


COMBINING = ["a", "=", " ", "\u0338", "\u0301", "\u0327", "\u2adc", "\u1100", "\u1161", "\u11a8", "\uac00", "\u212a", "\u00a8", "\u0f76", "\u09c7",
             "\u09be", "\u037e", "\u0344", "\uf900"]  # fmt: skip


@LIMITS
@given(st.lists(st.sampled_from(COMBINING), max_size=20).map("".join))
def test_pieces_are_normalized_one_by_one(text):
    data = np.frombuffer(text.encode(), np.uint8)
    count = places.cut_pieces(data, character_tables(), NOT_NFC, np.empty(0, np.int64))
    out = np.empty(count, np.int64)
    assert places.cut_pieces(data, character_tables(), NOT_NFC, out) == count
    bounds = [*out.tolist(), len(data)]
    assert bounds == sorted(set(bounds)) and bounds[0] == 0
    cut = [data[begin:end].tobytes().decode() for begin, end in pairwise(bounds)]
    assert "".join(unicodedata.normalize("NFC", piece) for piece in cut) == unicodedata.normalize("NFC", text)
    expected = [piece for *_, old, new in naive_pieces(text.encode(), "NFC") for piece in [(old, new)] if old != new]
    assert {old for old, _ in expected} <= set(cut)


@LIMITS
@given(keys, st.sampled_from([2, 4, 64]))
def test_what_comes_twice_is_found(some, size):
    table, counts = np.zeros(size, np.uint64), [[0] * 32 for _ in range(size)]
    repeats.count_keys(np.array(some, np.uint64), table)

    def places(key):
        hashed = fmix64(key)
        return hashed >> (64 - size.bit_length() + 1), {hashed & 31, hashed >> 5 & 31}

    for key in some:
        word, cells = places(key)
        for cell in cells:
            counts[word][cell] += 1
    expected = [all(counts[word][cell] > 1 for cell in cells) for word, cells in map(places, some)]
    found = np.zeros(len(some), np.bool_)
    repeats.find_repeated(np.array(some, np.uint64), table, found)
    assert found.tolist() == expected
    assert all(is_found for key, is_found in zip(some, expected, strict=True) if some.count(key) > 1)


@LIMITS
@given(st.lists(keys, max_size=4), st.data())
def test_blocks(some, data):
    second = [[fmix64(key ^ 7) for key in row] for row in some]
    points = [data.draw(st.integers(0, PRIME - 1) | st.sampled_from([0, 1, PRIME - 1])) for _ in range(2)]
    blocks, bounds, owner = [], [0], []
    for row, others in zip(some, second, strict=True):
        for i, pair in enumerate(zip(row, others, strict=True)):
            if i == 0 or pair[0] % (1 << repeats.CUT) == 0:
                blocks.append([])
            blocks[-1].append(pair)
            owner.append(len(blocks) - 1)
        bounds.append(len(blocks))
    flat = [np.array([key for row in side for key in row], np.uint64) for side in (some, second)]
    windows = np.cumsum([0, *map(len, some)]).astype(np.int64)
    out, ends = np.zeros((len(flat[0]), 2), np.uint64), np.zeros(len(some) + 1, np.int64)
    n = repeats.block_keys(*flat, windows, np.array(points, np.uint64), out, ends)
    expected = [
        tuple(value_at(point, column) for point, column in zip(points, zip(*block, strict=True), strict=True))
        for block in blocks
    ]
    assert (n, ends.tolist(), [tuple(row) for row in out[:n].tolist()]) == (len(blocks), bounds, expected)
    marked = data.draw(st.sets(st.integers(0, max(0, len(blocks) - 1))))
    bits = np.zeros(len(blocks) // 8 + 1, np.uint8)
    repeats.mark_numbers(np.array(sorted(marked), np.int64), bits)
    assert np.flatnonzero(np.unpackbits(bits, bitorder="little")).tolist() == sorted(marked)
    known = np.zeros(len(flat[0]), np.bool_)
    repeats.marked_windows(flat[0], windows, np.array(bounds[:-1], np.int64), bits, known)
    assert known.tolist() == [block in marked for block in owner]


@pytest.mark.parametrize("size", [63, 64, 65, 127, 128, 129])
def test_line_feeds_at_the_ends_of_blocks(size):
    for place in range(size):
        data = b"a" * place + b"\n" + b"b" * (size - place - 1)
        assert [span[:2] for span in split([data], 1, False)[0][0]] == [
            list(span) for span in lines_of(data) if data[slice(*span)].strip()
        ]


@pytest.mark.parametrize("text", ["\uac00\u11c2", "\uac00\u11a8", "\u1100\u1161", "\u1112\u1175"])
def test_conjoining_letters_are_one_piece(text):
    data = np.frombuffer(text.encode(), np.uint8)
    assert places.cut_pieces(data, character_tables(), NOT_NFC, np.empty(9, np.int64)) == 1
