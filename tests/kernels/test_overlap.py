"""Kernels of overlaps against sets and loops: lists of passages, hits, matches, short texts, judgements."""

import numpy as np
import pytest

from lookalike.kernels import overlap
from lookalike.kernels.scratch import room_for
from lookalike.text.hashes import KeyedHashes
from lookalike.text.shingle import Shingling
from lookalike.text.texts import from_strings

SPREAD = np.uint64(0x51ED270B9F4E5D35)


def lists_of(passages, threshold=0.0):
    """Return the distinct values of passages, and the inverted list of these, of which the last value's list is hidden."""
    distinct = np.unique(np.concatenate(passages))
    lists = [[p for p, members in enumerate(passages) if v in members] for v in distinct]
    table, numbers = np.zeros(256, np.uint64), np.zeros(256, np.int32)
    out = np.empty(2 * len(distinct), np.int32)
    assert overlap.fill_table(np.repeat(distinct, 2).astype(np.uint64), SPREAD, table, numbers, out) == len(distinct)
    assert out.tolist() == [i // 2 for i in range(len(out))]
    ends, sizes = np.cumsum([0, *map(len, lists)]), np.array([len(p) for p in passages])
    members = np.concatenate([np.searchsorted(distinct, p) for p in passages]).astype(np.int32)
    scanned, hidden = ends[1:].copy(), np.zeros(len(passages), np.int64)
    if threshold and all(threshold * size > 1 for size in sizes[lists[-1]]):
        scanned[-1] = ends[-2]
        hidden[lists[-1]] = 1
    flat, bounds = np.concatenate(lists).astype(np.int32), np.concatenate([[0], np.cumsum(sizes)])
    return distinct, overlap.Passages(table, numbers, ends, flat, scanned, hidden, sizes, bounds, members, SPREAD)


@pytest.mark.parametrize("covers", [0, 1, 3])
def test_matches_of_rows_equal_set_arithmetic(rng, covers):
    passages = [np.unique(rng.integers(0, 40, 12)) for _ in range(9)]
    distinct, known = lists_of(passages, 0.2)
    assert known.hidden.any()
    rows = [rng.integers(0, 50, int(rng.integers(0, 20))) for _ in range(30)]
    values = np.concatenate(rows).astype(np.uint64)
    places, numbers = np.empty(len(values), np.int64), np.empty(len(values), np.int32)
    n = overlap.find_values(values, known.table, known.numbers, SPREAD, places, numbers)
    assert places[:n].tolist() == np.flatnonzero(np.isin(values, distinct)).tolist()
    assert (distinct[numbers[:n]] == values[places[:n]]).all()
    bounds = np.searchsorted(places[:n], np.cumsum([0, *map(len, rows)]))
    counts = overlap.Counts(
        np.zeros(9, np.int64), np.zeros(9, np.int64), np.zeros(n, np.int64), np.zeros(len(distinct), np.int64)
    )
    needed, outside, found, row = np.zeros(n, np.bool_), np.zeros(n, np.bool_), [], 0
    while row < len(rows):
        out = room_for(12)
        row, count = overlap.match_rows(bounds, numbers[:n], known, 0.2, covers, counts, row, out, needed, outside)
        found += list(zip(*(array[:count].tolist() for array in out), strict=True))
    expected, wanted, first = set(), [], []
    for i, a in enumerate(rows):
        matching, covered = set(), set()
        for j, b in enumerate(passages):
            both = len(np.intersect1d(a, b))
            if both and both / len(b) >= 0.2:
                expected.add((i, j, both))
                matching |= {*b.tolist()}
                covered |= {*b.tolist()} if 0 < covers <= both else set()
        some = [v for v in a.tolist() if v in distinct]
        wanted += [v in matching for v in some]
        first += [v not in covered and v not in some[:place] for place, v in enumerate(some)]
    assert set(found) == expected and len(found) == len(expected) > 3
    assert needed.tolist() == wanted and outside.tolist() == first


def test_lists_hold_the_passages_of_each_number(rng):
    passages = np.sort(rng.integers(0, 9, 100)).astype(np.int32)
    numbers = rng.integers(0, 12, 100).astype(np.int32)
    sizes, bounds, last = np.zeros(9, np.int64), np.zeros(13, np.int64), np.full(12, -1, np.int32)
    overlap.count_lists(numbers, passages, last, sizes, bounds[1:])
    np.cumsum(bounds, out=bounds)
    ends, lists, members = bounds[:-1].copy(), np.empty(bounds[-1], np.int32), np.empty(bounds[-1], np.int32)
    last.fill(-1)
    overlap.fill_lists(numbers, passages, last, ends, lists, members)
    pairs = set(zip(numbers.tolist(), passages.tolist(), strict=True))
    assert sizes.tolist() == [sum(p == passage for _, p in pairs) for passage in range(9)]
    for number in range(12):
        assert lists[bounds[number] : bounds[number + 1]].tolist() == sorted(p for n, p in pairs if n == number)
    assert ends.tolist() == bounds[1:].tolist()
    for passage, some in enumerate(np.split(members, np.cumsum(sizes)[:-1])):
        assert some.tolist() == [*dict.fromkeys(numbers[passages == passage].tolist())]


@pytest.mark.parametrize("pairs", [False, True])
def test_short_texts_have_the_hashes_that_they_have_alone(rng, pairs):
    words = [f"w{i}" for i in range(6)]
    texts = [" ".join(rng.choice(words, int(rng.integers(0, 12)))) for _ in range(40)]
    short = sorted({" ".join(rng.choice(words, n)) for n in (2, 2, 4) for _ in range(3)} | ({"w3"} if not pairs else set()))
    key, most = b"k" * 16, max(len(text.split()) for text in short)
    hashing = KeyedHashes(Shingling(width=most), key)
    ((offsets, keys),) = hashing.rows(from_strings(short))
    begun, known = hashing.begun(offsets, keys, pairs), np.zeros(64, np.uint64)
    overlap.fill_filter(begun, known)
    own = dict(zip(hashing.hashes(from_strings(short))[0].tolist(), short, strict=True))
    assert len(own) == len(short)
    ((offsets, keys),) = hashing.rows(from_strings(texts))
    lengths = np.unique([len(text.split()) for text in short])
    places, values = hashing.short(offsets, keys, lengths, pairs, known)
    found = {(place, own[value]) for place, value in zip(places.tolist(), values.tolist(), strict=True) if value in own}
    expected = set()
    for text, first in zip(texts, offsets.tolist(), strict=False):
        tokens = text.split()
        for i in range(len(tokens)):
            expected |= {(first + i, one) for one in short if tokens[i : i + len(one.split())] == one.split()}
    assert found == expected and len(found) > 20
    assert len(places) < len(lengths) * len(keys), "the filter passes some only"


def test_judgements_equal_loops(rng):
    passages = [np.unique(rng.integers(0, 30, 9)) for _ in range(7)]
    distinct, known = lists_of(passages)
    commonplace = rng.random(len(distinct)) < 0.4
    rows = [np.sort(rng.choice(200, 25, replace=False)) for _ in range(12)]  # tokens that hits begin with
    numbers = [rng.integers(0, len(distinct), len(row)) for row in rows]
    chosen = [np.flatnonzero(rng.random(7) < 0.7) for _ in rows]
    bounds, match_bounds = (np.cumsum([0, *map(len, some)]) for some in (rows, chosen))
    tokens, flat = np.concatenate(rows), np.concatenate(numbers)
    found = overlap.Found(flat, tokens, 10 * tokens, 10 * tokens + 9 * (1 + flat % 3))
    out, pieces = np.empty((match_bounds[-1], 3), np.int64), np.zeros((bounds[-1], 2), np.int64)
    passage = np.concatenate(chosen)
    seen = np.zeros(len(distinct), np.int64)
    overlap.judge_rows(bounds, found, match_bounds, passage, known, commonplace, 0.4, 9, seen, out, pieces)
    links, ends = np.zeros(bounds[-1], np.int64), np.zeros(bounds[-1], np.int64)
    expected = []
    for i, row in enumerate(rows):
        for p in chosen[i].tolist():
            members = {*np.searchsorted(distinct, passages[p]).tolist()}
            rare = {m for m in members if not commonplace[m]}
            mine = [k for k in range(len(row)) if numbers[i][k] in members]
            both = {numbers[i][k] for k in mine}
            if not rare & both or len(rare & both) / len(rare) < 0.4:
                expected.append([-1, -1, len(both)])
                continue
            runs = []
            for k in mine:
                if not runs or row[k] - row[runs[-1][-1]] > 9:
                    runs.append([])
                runs[-1].append(k)
            runs = [run for run in runs if any(numbers[i][k] in rare for k in run)]
            spans = []
            for run in runs:
                at = [bounds[i] + k for k in run]
                links[at[0] : at[-1]] += 1
                ends[at] = found.ends[at]
                spans.append((found.begins[at[0]], found.ends[at].max()))
            expected.append([*max(spans, key=lambda span: (span[1] - span[0], -span[0])), len(both)])
    assert out.tolist() == [[int(x) for x in row] for row in expected] and (out[:, 0] >= 0).sum() > 5
    assert np.cumsum(pieces[:, 0]).tolist() == links.tolist() and pieces[:, 1].tolist() == ends.tolist()
