"""Links of buckets and of near fingerprints against their definition, for any cut of the input and any room of the output."""

from collections import defaultdict
from itertools import combinations, product

import numpy as np
import pyarrow as pa
import pytest
from cut_tables import cut_at, cut_rows, cuts, folded, run
from hypothesis import example, given
from hypothesis import strategies as st
from naive import dedup
from naive.crowds import heads_of
from steps.made import code_column, columns, grouped, links_of_bucket, rows_of

from lookalike.steps import pairs as linking
from lookalike.steps.pairs import bucket, near, nibbles_by_order, same_texts
from lookalike.values.tables import LINKS

bucket_groups = st.dictionaries(
    st.integers(-(2**63), 2**63 - 1), st.sets(st.integers(0, 40), min_size=1, max_size=20).map(sorted), max_size=6
)
bucket_rules = st.fixed_dictionaries(
    {"max_bucket": st.none() | st.integers(1, 8), "boundary": st.sampled_from([0, 0, 5, 20, 99]), "heads": st.integers(0, 3)}
)


def expected(groups, rule):
    """The links of all buckets in the order in which they come: member by member."""
    return [link for members in groups.values() for link in links_of_bucket(members, **rule)]


@given(bucket_groups, bucket_rules, cuts, st.integers(1, 30))
@example({1: [0, 1], 2: list(range(20))}, {"max_bucket": 4, "boundary": 3, "heads": 2}, [4, 7, 9], 1)
@example({1: list(range(20))}, {"max_bucket": 4, "boundary": 9, "heads": 2}, [1, 2, 3, 7, 8, 12], 3)
@example({1: list(range(20))}, {"max_bucket": None, "boundary": 9, "heads": 8}, [6, 6, 19], 5)
def test_any_cut_gives_the_links_of_buckets(groups, rule, cut, room):
    """A limit takes the first of them."""
    rows, wanted = cut_at(grouped(groups), cut), expected(groups, rule)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linking, "AT_A_TIME", room)
        assert rows_of(bucket(iter(rows), **rule), LINKS) == wanted
        some = rows_of(bucket(iter(rows), **rule, limit=room), LINKS)
    assert some == wanted[: len(some)] and sum(a < b for a, b in some) == min(room, sum(a < b for a, b in wanted))


@given(bucket_groups, bucket_rules, cuts, st.integers(0, 18), st.integers(1, 18), st.integers(0, 1 << 32))
def test_links_can_be_cut_while_they_are_made(groups, rule, cut, least, slots, seed):
    least, codes = min(least, slots), np.random.default_rng(seed).integers(0, 2, (41, slots), np.uint16)
    rows = cut_at(columns(order=np.arange(41), code=code_column(codes, slots)), range(0, 41, 5))
    nibbles = folded(nibbles_by_order(slots, 41), rows).reshape(-1)
    found = bucket(iter(cut_at(grouped(groups), cut)), **rule, nibbles=(nibbles, slots, least))
    agree = [(a, b) for a, b in expected(groups, rule) if (codes[a] == codes[b]).sum() >= least]
    assert rows_of(found, LINKS) == agree


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


# few fingerprints, some within a radius of 1 or 2 of each other, often repeated
prints = st.lists(st.sampled_from([0, 1, 3, 0xFF, 0xFE, 2**63, 2**64 - 1]), max_size=40)
near_rules = st.fixed_dictionaries({
    "radius": st.integers(0, 3), "bits": st.just(64), "max_bucket": st.none() | st.integers(1, 6),
    "boundary": st.sampled_from([0, 0, 10, 99]), "heads": st.integers(0, 3),
})  # fmt: skip


def fingerprinted(prints, groups=None):
    """A batch of documents, each other order left out."""
    keys = pa.array(np.asarray(prints, np.uint64).view(np.int64))
    lists = pa.LargeListArray.from_arrays(np.arange(len(prints) + 1), keys)
    named = {} if groups is None else {"within": pa.array(groups, pa.binary(16))}
    return columns(order=2 * np.arange(len(prints)), keys=lists, **named)


def near_links(prints, groups, radius, bits, **rule):
    """All links: those of equal documents by the rule of buckets, and those of the members that speak for two fingerprints."""
    same = defaultdict(list)
    for row, key in enumerate(zip(prints, groups, strict=True)):
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


@given(prints, near_rules, cuts, st.booleans(), st.integers(1, 30), st.randoms())
@example([0] * 9 + [1] * 9, {"radius": 1, "bits": 64, "max_bucket": 4, "boundary": 10, "heads": 2}, [3, 3], False, 7, None)
@example([0] * 9 + [1] * 9, {"radius": 1, "bits": 64, "max_bucket": None, "boundary": 10, "heads": 8}, [3, 3], False, 7, None)
def test_any_cut_gives_the_links_within_a_radius(prints, rule, cut, grouped, room, random):
    """A limit takes some of them."""
    groups = [random.choice([b"a" * 16, b"b" * 16]) if grouped and random else b"a" * 16 for _ in prints]
    rows = cut_at(fingerprinted(prints, groups if grouped else None), cut)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linking, "AT_A_TIME", room)
        found, some = (rows_of(near(iter(rows), **rule, limit=limit), LINKS) for limit in (None, room))
    wanted = near_links(prints, groups, **rule)
    assert sorted(found) == wanted and set(some) <= set(wanted) and len(set(some)) == len(some)
    assert sum(a < b for a, b in some) == min(room, sum(a < b for a, b in wanted))


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.booleans()), max_size=30), cuts)
def test_any_cut_links_equal_texts_with_the_first_of_two_values(documents, cut):
    """Value 0 is none; of the texts, some are empty."""
    documents = sorted(documents, key=lambda document: document[0])  # equal digests come together
    schema = pa.schema([("digest", pa.binary(16)), ("order", pa.int64()), ("empty", pa.bool_()), ("across", pa.binary(16))])
    given_rows = [(bytes([text]) * 16, 3 * i, empty, bytes([value]) * 16) for i, (text, value, empty) in enumerate(documents)]
    rows = [(3 * i, text, value or None) for i, (text, value, empty) in enumerate(documents) if not empty]
    assert set(run(same_texts, cut_rows(given_rows, schema, cut))) == dedup.same_texts(rows)
