"""Lines, windows and blocks of these, and the table of what may come twice, against plain Python."""

import unicodedata
from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.hashing import keyed_digest
from naive.repeats import BLANKS, lines_of, paragraphs_of
from naive.repeats import pieces as naive_pieces
from naive.text import decoded, words

from lookalike import core
from lookalike.hashing import digest_secret
from lookalike.text.characters import FORMS, native_characters
from lookalike.text.texts import from_bytes

PIECES = [b"a", b"Bc", b"0", b"_", b" ", b"\n", b"\n\n", b"\r\n", b"\t", b"\v", "é".encode(), "日".encode(), "ก".encode(), "\u0301".encode(),
          "\u2028".encode(), b"\xff", b"\xe6\x97", b"\0", b"x" * 70, b" " * 70, b"\n" * 70, "日".encode() * 30]  # fmt: skip
text = st.lists(st.sampled_from(PIECES), max_size=30).map(b"".join)
rows = st.lists(text, max_size=5)
LIMITS, ALL = settings(max_examples=300, deadline=None), np.empty(0, np.uint64)


def split(texts, least, paragraphs, table=ALL):
    where, secret = from_bytes(texts), digest_secret(b"k" * 32, "lines")
    found = core.find_lines(where.data, where.offsets, least, paragraphs, native_characters(), secret, table)
    units, bounds, worded = (column.tolist() for column in found)
    return [units[begin:end] for begin, end in pairwise(bounds)], worded


COMBINING = ["a", "=", " ", "\u0338", "\u0301", "\u0327", "\u2adc", "\u1100", "\u1161", "\u11a8", "\uac00", "\u212a", "\u00a8", "\u0f76", "\u09c7",
             "\u09be", "\u037e", "\u0344", "\uf900"]  # fmt: skip


@LIMITS
@given(st.lists(st.sampled_from(COMBINING), max_size=20).map("".join))
def test_pieces_are_normalized_one_by_one(text):
    data = np.frombuffer(text.encode(), np.uint8)
    bounds = [*core.cut_pieces(data, native_characters(), FORMS["NFC"]).tolist(), len(data)]
    assert bounds == sorted(set(bounds)) and bounds[0] == 0
    cut = [data[begin:end].tobytes().decode() for begin, end in pairwise(bounds)]
    assert "".join(unicodedata.normalize("NFC", piece) for piece in cut) == unicodedata.normalize("NFC", text)
    expected = [piece for *_, old, new in naive_pieces(text.encode(), "NFC") for piece in [(old, new)] if old != new]
    assert {old for old, _ in expected} <= set(cut)


@LIMITS
@given(rows, st.integers(1, 4), st.booleans(), st.data())
def test_lines_and_paragraphs_that_may_come_twice(texts, least, paragraphs, data):
    """All of them; with a table of keys none is left out that was counted twice."""
    secret, every, worded = digest_secret(b"k" * 32, "lines").tolist(), [], []
    for text in texts:
        some, n = [], 0
        for number, (begin, end) in enumerate(paragraphs_of(text) if paragraphs else lines_of(text)):
            inside = text[begin:end].strip(BLANKS)
            count = len(words(decoded(inside)))
            n += count > 0
            if count >= least:
                some.append([*keyed_digest(inside, secret), begin, end, number, 1])
        every.append(some)
        worded.append(n)
    assert split(texts, least, paragraphs) == (every, worded)
    table, keys = np.zeros(64, np.uint64), [unit[0] for some in every for unit in some]
    twice = {key for key in keys if data.draw(st.booleans())}
    core.count_keys(np.array([*twice, *keys], np.uint64), table)
    left, same = split(texts, least, paragraphs, table)
    assert same == worded
    for some, units in zip(left, every, strict=True):
        assert all(unit in some for unit in units if unit[0] in twice or keys.count(unit[0]) > 1)
        assert all(unit in units for unit in some)


def test_a_table_tells_what_came_once(rng):
    """Two bits of 32 a word: of 500 keys in 1,024 words hardly one is taken for one that came twice."""
    table, texts = np.zeros(1024, np.uint64), [b"%d" % number for number in rng.integers(0, 1 << 60, 500)]
    keys = [unit[0] for some in split(texts, 1, False)[0] for unit in some]
    core.count_keys(np.array([*keys, *keys[:50]], np.uint64), table)
    assert 50 <= sum(map(len, split(texts, 1, False, table)[0])) < 60


def test_line_feeds_at_the_ends_of_blocks():
    for size in (63, 64, 65, 127, 128, 129):
        texts = [b"a" * place + b"\n" + b"b" * (size - place - 1) for place in range(size)]
        for text, units in zip(texts, split(texts, 1, False)[0], strict=True):
            assert [unit[2:4] for unit in units] == [list(span) for span in lines_of(text) if text[slice(*span)].strip()]
