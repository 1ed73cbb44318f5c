"""Kernels of overlaps against sets and loops: lists of passages, hits, matches, short texts, judgements."""

import numpy as np
import pytest

from lookalike import core
from lookalike.search.passages import Lists
from lookalike.text.hashes import KeyedHashes
from lookalike.text.shingle import Shingling
from lookalike.text.texts import from_strings


def lists_of(passages, threshold=0.0):
    """Return the distinct values of passages, and the inverted list of these, of which the last value's list is hidden."""
    distinct = np.unique(np.concatenate(passages))
    lists = [[p for p, members in enumerate(passages) if v in members] for v in distinct]
    index, out, count = core.index_values(np.repeat(distinct, 2).astype(np.uint64))
    assert count == len(distinct) and out.tolist() == [i // 2 for i in range(len(out))]
    ends, sizes = np.cumsum([0, *map(len, lists)]), np.array([len(p) for p in passages])
    members = np.concatenate([np.searchsorted(distinct, p) for p in passages]).astype(np.int32)
    scanned, hidden = ends[1:].copy(), np.zeros(len(passages), np.int64)
    if threshold and all(threshold * size > 1 for size in sizes[lists[-1]]):
        scanned[-1] = ends[-2]
        hidden[lists[-1]] = 1
    flat, bounds = np.concatenate(lists).astype(np.int32), np.concatenate([[0], np.cumsum(sizes)])
    return distinct, index, Lists(ends, flat, scanned, hidden, bounds, members)


@pytest.mark.parametrize("covers", [0, 1, 3])
def test_matches_of_rows_equal_set_arithmetic(rng, covers):
    passages = [np.unique(rng.integers(0, 40, 12)) for _ in range(9)]
    distinct, index, known = lists_of(passages, 0.2)
    assert known.hidden.any()
    rows = [rng.integers(0, 50, int(rng.integers(0, 20))) for _ in range(30)]
    values = np.concatenate(rows).astype(np.uint64)
    places, numbers = core.find_values(values, index)
    assert places.tolist() == np.flatnonzero(np.isin(values, distinct)).tolist()
    assert (distinct[numbers] == values[places]).all()
    bounds = np.searchsorted(places, np.cumsum([0, *map(len, rows)]))
    *found, needed, outside = core.match_passages(bounds, numbers, known, 0.2, covers)
    found = list(zip(*(column.tolist() for column in found), strict=True))
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
    passages = np.sort(rng.integers(0, 9, 100))
    numbers = rng.integers(0, 12, 100).astype(np.int32)
    offsets, lists, bounds, members = core.invert_passages(numbers, np.bincount(passages, minlength=10), 13)
    pairs = set(zip(numbers.tolist(), passages.tolist(), strict=True))
    assert len(offsets) == 14 and len(bounds) == 11 and len(lists) == len(members) == len(pairs)
    for number in range(13):
        assert lists[offsets[number] : offsets[number + 1]].tolist() == sorted(p for n, p in pairs if n == number)
    for passage, some in enumerate(np.split(members, bounds[1:-1])):
        assert some.tolist() == [*dict.fromkeys(numbers[passages == passage].tolist())]


def test_values_are_numbered_by_first_appearance_and_found(rng):
    """Among them 0, the number that stands for it, and, the factor being known, values that all begin at one place."""
    for n in [0, 1, 7, 8, 9, 3000]:
        factor = core.index_values(np.empty(0, np.uint64))[0][2]
        assert factor % 2
        crafted = np.arange(n, dtype=np.uint64) * np.uint64(pow(factor, -1, 1 << 64))
        values = np.concatenate(
            [rng.permutation(np.repeat(crafted, 2)), np.array([0, 0xA0761D6478BD642F, 5] if n else [], np.uint64)]
        )
        index, out, count = core.index_values(values)
        known = {}
        zero = [v or 0xA0761D6478BD642F for v in values.tolist()]
        assert out.tolist() == [known.setdefault(value, len(known)) for value in zero] and count == len(known)
        asked = np.concatenate([values, rng.integers(1, 1 << 63, n, dtype=np.uint64)])
        places, numbers = core.find_values(asked, index)
        assert places.tolist() == list(range(len(values))) and numbers.tolist() == out.tolist()


def test_no_hits_and_no_passages_match_nothing():
    none, zero, lists = np.empty(0, np.int32), np.zeros(1, np.int64), np.empty(0, np.int64)
    offsets, listed, bounds, members = core.invert_passages(none, lists, 0)
    known = Lists(offsets, listed, lists, lists, bounds, members)
    for rows in (zero, np.zeros(4, np.int64)):
        assert [len(column) for column in core.match_passages(rows, none, known, 0.5, 0)] == [0] * 5
    out, pieces = core.judge_matches(zero, (lists,) * 4, zero, lists, known, np.empty(0, np.bool_), 0.5, 9)
    assert out.shape == (0, 3) and pieces.shape == (0, 2)


@pytest.mark.parametrize("pairs", [False, True])
def test_short_texts_have_the_hashes_that_they_have_alone(rng, pairs):
    words = [f"w{i}" for i in range(6)]
    texts = [" ".join(rng.choice(words, int(rng.integers(0, 12)))) for _ in range(40)]
    short = sorted({" ".join(rng.choice(words, n)) for n in (2, 2, 4) for _ in range(3)} | ({"w3"} if not pairs else set()))
    key, most = b"k" * 16, max(len(text.split()) for text in short)
    hashing = KeyedHashes(Shingling(width=most), key)
    ((offsets, keys),) = hashing.rows(from_strings(short))
    known = core.fill_filter(hashing.begun(offsets, keys, pairs))
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


@pytest.mark.parametrize("n", [25, 64, 130])
def test_judgements_equal_loops(rng, n):
    passages = [np.unique(rng.integers(0, 30, 9)) for _ in range(7)]
    distinct, _, known = lists_of(passages)
    commonplace = rng.random(len(distinct)) < 0.4
    rows = [np.sort(rng.choice(8 * n, n, replace=False)) for _ in range(12)]  # tokens that hits begin with
    numbers = [rng.integers(0, len(distinct), len(row)) for row in rows]
    chosen = [np.flatnonzero(rng.random(7) < 0.7) for _ in rows]
    bounds, match_bounds = (np.cumsum([0, *map(len, some)]) for some in (rows, chosen))
    tokens, flat = np.concatenate(rows), np.concatenate(numbers)
    begins, text_ends = 10 * tokens, 10 * tokens + 9 * (1 + flat % 3)
    found = flat, tokens, begins, text_ends
    out, pieces = core.judge_matches(bounds, found, match_bounds, np.concatenate(chosen), known, commonplace, 0.4, 9)
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
                ends[at] = text_ends[at]
                spans.append((begins[at[0]], text_ends[at].max()))
            expected.append([*max(spans, key=lambda span: (span[1] - span[0], -span[0])), len(both)])
    assert out.tolist() == [[int(x) for x in row] for row in expected] and (out[:, 0] >= 0).sum() > 5
    assert np.cumsum(pieces[:, 0]).tolist() == links.tolist() and pieces[:, 1].tolist() == ends.tolist()
