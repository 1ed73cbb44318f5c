from collections import defaultdict
from itertools import combinations, product
from unittest.mock import patch

import numpy as np
import pyarrow as pa
from cut_tables import cut_at, cuts
from hypothesis import example, given
from hypothesis import strategies as st
from naive.crowds import heads_of
from steps.made import columns, grouped, links_of_bucket, rows_of

from lookalike.steps.pairs import bucket, near
from lookalike.values.tables import LINKS

bucket_groups = st.dictionaries(
    st.integers(-(2**63), 2**63 - 1), st.sets(st.integers(0, 40), min_size=1, max_size=20).map(sorted), max_size=6
)
bucket_rules = st.fixed_dictionaries(
    {"max_bucket": st.none() | st.integers(1, 8), "boundary": st.sampled_from([0, 0, 5, 20, 99]), "heads": st.integers(0, 3)}
)


def expected(groups, rule):
    return [link for members in groups.values() for link in links_of_bucket(members, **rule)]


@given(bucket_groups, bucket_rules, cuts, st.integers(1, 30))
@example({1: [0, 1], 2: list(range(20))}, {"max_bucket": 4, "boundary": 3, "heads": 2}, [4, 7, 9], 1)
@example({1: list(range(20))}, {"max_bucket": 4, "boundary": 9, "heads": 2}, [1, 2, 3, 7, 8, 12], 3)
@example({1: list(range(20))}, {"max_bucket": None, "boundary": 9, "heads": 8}, [6, 6, 19], 5)
def test_any_cut_gives_the_links_of_buckets(groups, rule, cut, room):
    rows, wanted = cut_at(grouped(groups), cut), expected(groups, rule)
    with patch("lookalike.steps.pairs.AT_A_TIME", room):
        assert rows_of(bucket(iter(rows), **rule), LINKS) == wanted
        some = rows_of(bucket(iter(rows), **rule, limit=room), LINKS)
    assert some == wanted[: len(some)] and sum(a < b for a, b in some) == min(room, sum(a < b for a, b in wanted))


def test_a_crowd_larger_than_a_batch_of_links_comes_in_pieces():
    n, links, marks = 200_000, 0, 0
    for batch in bucket(iter(cut_at(columns(key=np.zeros(n), order=np.arange(n)), [70_001, 70_002])), 128, 0):
        left, right = (column.to_numpy() for column in batch.columns)
        marks += int((left == right).sum())
        links += int((left < right).sum())
        assert left[left < right].max(initial=0) < 8 and len(left) <= 1 << 21
    assert marks == n and links == 8 * n - 36


def test_a_limit_reads_no_more_than_it_needs():
    """All pairs of a million documents would be 5e11; the next batch is not even asked for."""

    def rows():
        yield columns(key=np.zeros(1_000_000), order=np.arange(1_000_000))
        yield columns(key=[0], order=[1_000_000])
        raise AssertionError("read on")

    found = rows_of(bucket(rows(), max_bucket=None, boundary=0, limit=1000))
    assert found == [(a, b) for b in range(46) for a in range(b)][:1000]


# few fingerprints, some within a radius of 1 or 2 of each other, often repeated, of two groups
fingerprints = st.lists(
    st.tuples(st.sampled_from([0, 1, 3, 0xFF, 0xFE, 2**63, 2**64 - 1]), st.sampled_from([b"a" * 16, b"b" * 16])), max_size=40
)
CROWDED = [(number, b"a" * 16) for number in [0] * 9 + [1] * 9]


def near_links(documents, radius, **rule):
    """All links: those of equal documents by the rule of buckets, and those of the members that speak for two fingerprints."""
    same = defaultdict(list)
    for row, key in enumerate(documents):
        same[key].append(2 * row)
    found, speak = expected(same, rule), dict(same)
    for key, members in same.items():
        if rule["max_bucket"] is not None and len(members) > rule["max_bucket"]:
            speak[key] = heads_of(members, rule["boundary"], rule["heads"])
    for one, other in combinations(same, 2):
        if one[1] == other[1] and (one[0] ^ other[0]).bit_count() <= radius:
            links = map(sorted, product(speak[one], speak[other]))
            found += [(a, b) for a, b in links if b >= rule["boundary"]]
    return sorted(found)


@given(fingerprints, st.integers(0, 3), bucket_rules, cuts, st.integers(1, 30))
@example(CROWDED, 1, {"max_bucket": 4, "boundary": 10, "heads": 2}, [3, 3], 7)
@example(CROWDED, 1, {"max_bucket": None, "boundary": 10, "heads": 8}, [3, 3], 7)
def test_any_cut_gives_the_links_within_a_radius(documents, radius, rule, cut, room):
    keys = pa.array(np.array([number for number, _ in documents], "uint64").view("int64"))
    lists = pa.LargeListArray.from_arrays(np.arange(len(documents) + 1), keys)
    within = pa.array([group for _, group in documents], pa.binary(16))
    rows = cut_at(columns(order=2 * np.arange(len(documents)), keys=lists, within=within), cut)
    with patch("lookalike.steps.pairs.AT_A_TIME", room):
        found, some = (rows_of(near(iter(rows), radius=radius, bits=64, limit=n, **rule), LINKS) for n in (None, room))
    wanted = near_links(documents, radius, **rule)
    assert sorted(found) == wanted and set(some) <= set(wanted) and len(set(some)) == len(some)
    assert sum(a < b for a, b in some) == min(room, sum(a < b for a, b in wanted))
