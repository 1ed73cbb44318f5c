"""Links of crowded documents by their rarest shingles."""

from itertools import combinations, product
from unittest.mock import patch

import numpy as np
import pyarrow as pa
from cut_tables import cut_at, cuts
from hypothesis import given
from hypothesis import strategies as st
from steps.made import columns, counted, rows_of

from lookalike import core
from lookalike.steps.crowds import CELL_BITS, prefix, prefix_links, prefixes_schema, shingle_counts
from lookalike.text.shingle import Shingling
from lookalike.values.tables import LINKS, PREFIXES, PREFIXES_AND_BITS

KEY = bytes(range(16))


WORDS = Shingling(width=1)


documents = st.lists(st.lists(st.integers(0, 30), min_size=1, max_size=25), max_size=12)


near = st.builds(  # subsets of one set, with members of their own
    lambda base, parts: [[*base[a : len(base) - b], *range(100 + 9 * i, 100 + 9 * i + c)] for i, (a, b, c) in enumerate(parts)],
    st.lists(st.integers(0, 60), min_size=8, max_size=40, unique=True),
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(0, 5)), max_size=12),
)


thresholds = st.sampled_from([0.1, 0.3, 0.5, 0.6, 2 / 3, 0.75, 0.8, 0.9, 1.0])


def table(texts, groups=None):
    text = pa.array([" ".join(map(str, words)).encode() for words in texts], "large_binary")
    codes = None if groups is None else [(int(group) << 56).to_bytes(16, "little") for group in groups]
    named = {} if groups is None else {"within": pa.array(codes, pa.binary(16))}
    return columns(order=np.arange(len(texts)) * 2, text=text, **named)


def prefixes(batch, threshold, counts=None, cut=(), schema=PREFIXES):
    rows = cut_at(batch, cut)
    known = counted(shingle_counts(WORDS, KEY), rows) if counts is None else counts
    yield from prefix(iter(rows), known, shingling=WORDS, key=KEY, threshold=threshold, schema=schema)


def links(batch, threshold, boundary=0, counts=None, cut=(), schema=PREFIXES, firsts=False):
    """Repeats included; groups of equal keys come in any order."""
    rows = pa.Table.from_batches(prefixes(batch, threshold, counts, cut, schema), schema)
    rows = rows.sort_by([("key", "descending"), ("order", "ascending")]).combine_chunks().to_batches()
    return rows_of(prefix_links((part for one in rows for part in cut_at(one, cut)), threshold, boundary, firsts), LINKS)


def resemblance(a, b):
    return len(set(a) & set(b)) / len(set(a) | set(b))


@given(
    documents | near, thresholds, st.integers(0, 12), cuts, st.integers(1, 5), st.booleans(), st.randoms(use_true_random=False)
)
def test_no_match_is_left_out_whatever_the_counts_are(texts, threshold, boundary, cut, room, grouped, random):
    """Of equal sets, if so wanted, only the first is linked with later ones."""
    texts = [*texts, *(words[::-1] for words in texts[::2]), *(words * 2 for words in texts[::3])]
    groups = [i % 2 if grouped else 0 for i in range(len(texts))]
    batch, first = table(texts, groups if grouped else None), {}
    for i, words in enumerate(texts):
        first.setdefault((frozenset(words), groups[i]), 2 * i)
    counts = np.full(1 << CELL_BITS, 2, "int32")
    for cell in range(0, len(counts), 4096):
        counts[cell : cell + 4096] = random.choice([2, 3, 5, 8, 0, -1, -(2**31)])  # the last of these from 2^31 on
    wanted = {
        (2 * i, 2 * j)
        for (i, a), (j, b) in combinations(enumerate(texts), 2)
        if resemblance(a, b) >= threshold and 2 * j >= boundary and groups[i] == groups[j]
    }
    with patch("lookalike.steps.crowds.AT_A_TIME", room), patch("lookalike.steps.pairs.AT_A_TIME", room):
        for schema, known in product((PREFIXES, PREFIXES_AND_BITS), (None, counts)):
            every, firsts = (set(links(batch, threshold, boundary, known, cut, schema, some)) for some in (False, True))
            assert wanted <= every and all(left < right and right >= boundary for left, right in every)
            assert firsts == {(i, j) for i, j in every if first[frozenset(texts[i // 2]), groups[i // 2]] == i}


def test_small_sets_are_told_apart_by_bits():
    assert prefixes_schema(40, 0.6) is PREFIXES_AND_BITS and prefixes_schema(1000, 0.6) is PREFIXES


def test_roundings_shorten_no_prefix():
    """0.55 * 100 is above 55 in floating point: 55 shared shingles reach the threshold all the same."""
    counts, values, offsets = np.full(2, 5, "int32"), np.arange(1, 101), np.array([0, 100])
    found = core.Prefixes(values, offsets, np.array([7]), counts, 63, 0.55, False).next(1000)
    assert [len(column) for column in found] == [46] * 7


def test_prefixes_of_a_large_document_come_in_pieces(monkeypatch):
    """Its rows have eleven times the bytes of its hashes: with all at once, a cap on memory was not kept."""
    batch = table([list(range(1000))] * 2)
    (whole,) = prefixes(batch, 0.3, schema=PREFIXES_AND_BITS)
    monkeypatch.setattr("lookalike.steps.crowds.AT_A_TIME", 64)
    pieces = list(prefixes(batch, 0.3, schema=PREFIXES_AND_BITS))
    assert max(map(len, pieces)) == 64 and pa.Table.from_batches(pieces) == pa.Table.from_batches([whole])
    assert len(whole) == 2 * 701
