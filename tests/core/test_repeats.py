"""Lines, windows and blocks of these, and the table of what may come twice, against plain Python."""

import unicodedata
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.hashing import MASK, fmix64, keyed_digest
from naive.repeats import BLANKS, lines_of, paragraphs_of, repeated_passages
from naive.repeats import pieces as naive_pieces
from naive.text import decoded, words

import lookalike as la
from lookalike import core
from lookalike.hashing import digest_secret
from lookalike.text.characters import FORMS, native_characters
from lookalike.text.texts import from_bytes

PIECES = [b"a", b"Bc", b"0", b"_", b" ", b"\n", b"\n\n", b"\r\n", b"\t", b"\v", "é".encode(), "日".encode(), "ก".encode(), "\u0301".encode(),
          "\u2028".encode(), b"\xff", b"\xe6\x97", b"\0", b"x" * 70, b" " * 70, b"\n" * 70, "日".encode() * 30]  # fmt: skip
text = st.lists(st.sampled_from(PIECES), max_size=30).map(b"".join)
rows = st.lists(text, max_size=5)
LIMITS, ALL = settings(max_examples=300, deadline=None), np.empty(0, np.uint64)
keys = st.lists(st.integers(0, MASK) | st.sampled_from([0, 1, MASK, 32, 64, 96]), max_size=70)


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


class Cells:
    """How often the cells of a table of so many words were counted."""

    def __init__(self, size):
        self.counts, self.size = Counter(), size

    def of(self, key):
        hashed = fmix64(key)
        return {(hashed >> (64 - self.size.bit_length() + 1), cell) for cell in (hashed & 31, hashed >> 5 & 31)}

    def count(self, keys):
        """Count keys, here and in a table."""
        table = np.zeros(self.size, np.uint64)
        core.count_keys(np.array(keys, np.uint64), table)
        for key in keys:
            self.counts.update(self.of(key))
        return table

    def twice(self, key):
        return all(self.counts[cell] > 1 for cell in self.of(key))


@LIMITS
@given(keys, st.sampled_from([2, 4, 64]))
def test_what_was_met_and_met_again_is_marked(some, size):
    cells = Cells(size)
    table, expected = cells.count(some), [0] * size
    for (word, cell), n in cells.counts.items():
        expected[word] |= 1 << cell | (n > 1) << 32 + cell
    assert table.tolist() == expected


@LIMITS
@given(rows, st.integers(1, 4), st.booleans(), st.data())
def test_lines_and_paragraphs_that_may_come_twice(texts, least, paragraphs, data):
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
    cells = Cells(64)
    table = cells.count([unit[0] for some in every for unit in some for _ in range(data.draw(st.integers(0, 2)))])
    expected = [[unit for unit in some if cells.twice(unit[0])] for some in every]
    assert split(texts, least, paragraphs, table) == (expected, worded)


@pytest.mark.parametrize("length", [1, 2, 12])
def test_passages_are_those_of_the_definition(rng, length):
    """Texts of pieces of a few others, so that blocks of windows, and windows at their ends, are repeated in all ways."""
    sources, documents = rng.choice([b"ape", b"bee", b"cat", b"dog", b"eel", b"fox"], (4, 900)), [b"", b"a"]
    for n in rng.integers(0, 6, 40).tolist():
        places, sizes = rng.integers(0, 900, n), rng.integers(0, 400, n)
        words = [word for i in range(n) for word in [*sources[i % 4][places[i] : places[i] + sizes[i]], b"new"]]
        documents.append(b" ".join(words))
    found = la.repeats(documents, unit="passage", length=length)
    removed = [[] for _ in documents]
    for row in found.removed.to_pylist():
        removed[row["id"]].append((row["begin"], row["end"]))
    assert removed == repeated_passages(documents, length)[0] and sum(map(len, removed)) > 20


def test_line_feeds_at_the_ends_of_blocks():
    for size in [63, 64, 65, 127, 128, 129]:
        for place in range(size):
            data = b"a" * place + b"\n" + b"b" * (size - place - 1)
            assert [unit[2:4] for unit in split([data], 1, False)[0][0]] == [
                list(span) for span in lines_of(data) if data[slice(*span)].strip()
            ]
