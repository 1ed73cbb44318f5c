"""Look-up in sorted tables and inverted lists equals plain searches."""

import numpy as np
import pytest

from lookalike.kernels import lookup

NONE = np.empty((0, 0), np.uint32)


def search(keys, codes, *how, near, query=0, room=400, ahead=lookup.AHEAD):
    """Search in one file, or in several; return what the kernel returns, and query, file, row and score of the matches."""
    *how, tables = how
    files = [tables] if isinstance(tables, lookup.Tables) else tables
    runs, hits = np.zeros((len(files), ahead, keys.shape[1], 2), np.int64), np.zeros((4, room), np.int64)
    asked = lookup.Asked(keys, codes, np.zeros(len(keys), np.bool_), NONE)
    after, count = lookup.search(asked, *how, lookup.places_of(files), np.zeros(near, np.int64), runs, query, hits)
    return (after, count), hits[:, :count].T.tolist()


@pytest.mark.parametrize("n", [0, 1, 2, 63, 64, 65, 300])
@pytest.mark.parametrize("prefix_bits", [1, 3, 16])
def test_runs_start_where_prefixes_change(rng, n, prefix_bits):
    keys = np.sort(rng.integers(0, 1 << 64, n, dtype=np.uint64))
    if n > 1:
        keys[-1] = np.uint64(0xFFFFFFFFFFFFFFFF)
        keys[0] = 0
    starts = np.zeros((1 << prefix_bits) + 1, np.uint32)
    lookup.start_runs(keys, np.uint64(prefix_bits), starts)
    prefixes = [int(k) >> (64 - prefix_bits) for k in keys.tolist()]
    assert starts.tolist() == [sum(p < i for p in prefixes) for i in range((1 << prefix_bits) + 1)]


@pytest.mark.parametrize("lane", [16, 1, 2, 4, 8])
@pytest.mark.parametrize("most", [0, -1, 1, 3, 50])
@pytest.mark.parametrize("copies", [1, 12, 60])
def test_search_equals_a_plain_one(rng, lane, most, copies):
    differing = lane == 1
    n, tables, prefix_bits, radius = 120, 4, 16, 3 if differing else 0
    codes = rng.integers(0, 1 << 16, (n, 4)).astype(np.uint16)
    if differing:
        codes[1::2] = codes[::2] ^ (np.uint16(1) << rng.integers(0, 16, (n // 2, 4)).astype(np.uint16)) * (
            rng.random((n // 2, 4)) < 0.6
        )
        words = codes.copy().view(np.uint64)
        turns = (16 * np.arange(tables)).astype(np.uint64)
        keys = (words << turns) | ((words >> np.uint64(1)) >> (np.uint64(63) - turns))
    else:
        keys = rng.integers(0, 30, (n, tables)).astype(np.uint64) << np.uint64(55)
        codes = codes % 3 if lane == 16 else (codes % 2) << rng.integers(0, 16, (n, 4)).astype(np.uint16)
    same = np.arange(n) // copies * copies  # copies of rows that stand together, and of some that do not
    same[5::7] = same[0]
    keys, codes = keys[same], codes[same]
    if lane not in (1, 16):  # copies of the keys whose codes differ in a single bit, whichever of its lane
        some = np.flatnonzero(rng.random(n) < 0.3)
        codes[some, 0] ^= np.uint16(1) << rng.integers(0, 16, len(some)).astype(np.uint16)
    order = np.argsort(keys, axis=0, kind="stable").T.copy()
    ordered = np.take_along_axis(keys.T, order, 1)
    starts = np.zeros((tables, (1 << prefix_bits) + 1), np.uint32)
    for t in range(tables):
        lookup.start_runs(ordered[t], np.uint64(prefix_bits), starts[t])
    removed = rng.random(n) < 0.2
    least = -radius if differing else 2 if lane == 16 else -2
    query, found = 0, []
    stored = lookup.Tables(ordered, order.astype(np.uint32), starts, np.uint64(prefix_bits), codes, removed)
    while query < n:
        (query, _), some = search(keys, codes, radius, least, lane, most, stored, near=400, query=query)
        found += [(q, r, score) for q, _, r, score in some]
    expected = []
    for q in range(n):
        mine = []
        for r in range(n):
            distance = int(np.bitwise_count(codes[q] ^ codes[r]).sum())
            lanes = [(a >> s) % (1 << lane) == (b >> s) % (1 << lane)
                     for a, b in zip(codes[q].tolist(), codes[r].tolist(), strict=True) for s in range(0, 16, lane)]  # fmt: skip
            score = sum(lanes) if lane == 16 else sum(lanes) - len(lanes)
            candidate = distance <= radius if differing else bool((keys[q] == keys[r]).any())
            if candidate and score >= least and not removed[r]:
                mine.append((q, r, score))
        expected += mine[:1] if most < 0 else sorted(mine, key=lambda match: -match[2])[: most or None]
    assert found == expected and len(found) > n // 3


@pytest.mark.parametrize("most", [0, -1, 1, 4])
@pytest.mark.parametrize("ahead, room", [(1, 90), (8, 40)])
def test_files_are_searched_as_one_after_the_other(rng, most, ahead, room):
    """The best of all files, or the first of the first file that has one; a query without shingles finds nothing."""
    codes, files, alone = rng.integers(0, 3, (40, 8)).astype(np.uint16), [], []
    keys = rng.integers(0, 4, (40, 1)).astype(np.uint64)
    for part in np.array_split(np.arange(40), [9, 9, 30]):
        order = np.argsort(keys[part, 0], kind="stable")
        starts = np.array([[0, len(part), len(part)]], np.uint32)
        removed = rng.random(len(part)) < 0.3 if len(part) < 15 else np.zeros(0, np.bool_)
        files.append(lookup.Tables(keys[part][order].T.copy(), order[None].astype(np.uint32), starts, np.uint64(1), codes[part],
                                   removed))  # fmt: skip
        alone.append(search(keys, codes, 0, 4, 16, 0, files[-1], near=40)[1])
    query, found = 0, []
    while query < 40:
        (query, _), some = search(keys, codes, 0, 4, 16, most, files, near=40, query=query, room=room, ahead=ahead)
        found += some
    expected = []
    for q in range(40):
        mine = [[q, number, row, score] for number, one in enumerate(alone) for other, _, row, score in one if other == q]
        firsts = [match for match in mine if match[1] == mine[0][1]]
        expected += [min(firsts)] if most < 0 and mine else sorted(mine, key=lambda m: -m[3])[: max(most, 0) or None]
    assert found == expected and len({match[1] for match in found}) > 1
    asked = lookup.Asked(keys, codes, np.arange(40) % 2 == 0, NONE)
    hits, runs = np.zeros((4, 2000), np.int64), np.zeros((4, ahead, 1, 2), np.int64)
    _, count = lookup.search(asked, 0, 4, 16, most, lookup.places_of(files), np.zeros(40, np.int64), runs, 0, hits)
    assert hits[:, :count].T.tolist() == [match for match in expected if match[0] % 2]


def test_many_copies_cost_no_more_than_the_first_of_them(rng):
    """A query gets those that it wants, and looks at no others: there is no room for them."""
    n, codes = 1000, np.repeat(rng.integers(0, 1 << 16, (1, 4)).astype(np.uint16), 1000, 0)
    starts = np.zeros((2, 3), np.uint32)
    for table in range(2):
        lookup.start_runs(np.ones(n, np.uint64), np.uint64(1), starts[table])
    removed = np.arange(n) < 4
    tables = lookup.Tables(np.ones((2, n), np.uint64), np.tile(np.arange(n, dtype=np.uint32), (2, 1)), starts, np.uint64(1),
                           codes, removed)  # fmt: skip
    for most, rows in ((3, [4, 5, 6]), (-1, [4])):
        found, hits = search(np.ones((3, 2), np.uint64), codes[:3], 0, 2, 16, most, tables, near=20, room=40)
        assert found == (3, 3 * len(rows)) and [row for _, _, row, _ in hits] == 3 * rows


@pytest.mark.parametrize("rows, starts", [([1, 2, 0], [0, 3, 3]), ([1, 0, 9], [0, 3, 3]), ([1, 0, 1], [0, 7, 7]),
                                          ([1, 0, 1], [3, 2, 3])])  # fmt: skip
def test_a_damaged_table_is_reported_and_not_read_beyond(rows, starts):
    """Rows at and beyond the end of the codes, runs that end beyond the keys or before they begin."""
    keys, codes = np.zeros((1, 3), np.uint64), np.zeros((2, 4), np.uint16)
    tables = lookup.Tables(keys, np.array([rows], np.uint32), np.array([starts], np.uint32), np.uint64(1), codes,
                           np.zeros(0, np.bool_))  # fmt: skip
    whole = lookup.Tables(keys, np.array([[1, 0, 1]], np.uint32), np.array([[0, 3, 3]], np.uint32), *tables[3:])
    for files, after in ((tables, -1), ([whole, tables], -2)):
        assert search(np.zeros((1, 1), np.uint64), codes[:1], 0, 0, 16, 0, files, near=8, room=8)[0][0] == after


@pytest.mark.parametrize("near, found", [(2, 8), (8, 2), (2, 2), (3, 3)])
def test_a_query_with_more_candidates_than_room_gets_no_answer(near, found):
    """Nothing is written beyond the room; what was answered before is kept."""
    keys, codes = np.zeros((1, 3), np.uint64), np.zeros((3, 4), np.uint16)
    tables = lookup.Tables(keys, np.array([[2, 0, 1]], np.uint32), np.array([[0, 3, 3]], np.uint32), np.uint64(1), codes,
                           np.zeros(0, np.bool_))  # fmt: skip
    asked = np.array([[1 << 63], [0]], np.uint64)
    for first, expected in ((0, 1), (1, 1)):
        answer, hits = search(asked, codes[:2], 0, 0, 16, 0, tables, near=near, query=first, room=found)
        assert answer == ((2, 3) if near == found == 3 else (expected, 0))
    if near == found == 3:
        assert hits == [[1, 0, row, 4] for row in range(3)]
