"""Links of buckets and of near fingerprints against their definition, for any cut of the input and any room of the output."""

import itertools
import pickle
from collections import defaultdict
from functools import partial
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from naive import dedup
from steps import naive_crowds as naive
from steps.made import code_column, columns, cut_at, grouped, places, rows_of

from lookalike.steps import pairs as linking
from lookalike.steps.pairs import at_most, bucket, head_places, near, nibbles_by_order, same_texts
from lookalike.values.tables import LINKS


def links_of(batches):
    return [tuple(row.values()) for batch in batches for row in batch.to_pylist()]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=25), st.lists(st.integers(0, 25), max_size=4),
       st.none() | st.integers(0, 12))  # fmt: skip
def test_links_end_with_the_last_that_is_wanted(links, cuts, limit):
    """Marks of crowds, links of a document with itself, do not count; nothing is asked for beyond the end."""
    bounds = [0, *sorted(min(cut, len(links)) for cut in cuts), len(links)]
    made = []

    def batches():
        for begin, end in itertools.pairwise(bounds):
            if end > begin:
                made.append(end)
                some = links[begin:end]
                yield pa.record_batch(
                    [pa.array([a for a, _ in some], pa.int64()), pa.array([b for _, b in some], pa.int64())], schema=LINKS
                )

    found = links_of(at_most(batches(), limit))
    if limit is None:
        assert found == links
        return
    ends = [place for place, (a, b) in enumerate(links) if a != b]
    last = 0 if not limit else ends[limit - 1] + 1 if len(ends) >= limit else len(links)
    assert found == links[:last]
    assert all(end - last < max(b - a for a, b in itertools.pairwise(bounds)) for end in made[-1:])


@given(st.sets(st.integers(0, 20)), st.integers(0, 6), st.integers(0, 20))
def test_the_heads_of_a_crowd(orders, heads, boundary):
    """Its first references and its first others."""
    orders = sorted(orders)
    wanted = [o for o in orders if o < boundary][:heads] + [o for o in orders if o >= boundary][:heads]
    places = head_places(np.array(orders, np.int64), heads, boundary)
    assert [orders[place] for place in places.tolist()] == wanted


bucket_groups = st.dictionaries(
    st.integers(-(2**63), 2**63 - 1), st.sets(st.integers(0, 40), min_size=1, max_size=20).map(sorted), max_size=6
)


bucket_rules = st.fixed_dictionaries(
    {"max_bucket": st.none() | st.integers(1, 8), "boundary": st.sampled_from([0, 0, 5, 20, 99]), "heads": st.integers(0, 3)}
)


def expected(bucket_groups, rule):
    """The links of all bucket_groups in the order in which they come: member by member."""
    found = []
    for members in bucket_groups.values():
        found += sorted(
            naive.bucket_links(members, rule["max_bucket"], rule["boundary"], rule["heads"]), key=lambda link: link[::-1]
        )
    return found


@given(bucket_groups, bucket_rules, places, st.integers(1, 30))
@example({1: [0, 1], 2: list(range(20))}, {"max_bucket": 4, "boundary": 3, "heads": 2}, [4, 7, 9], 1)
@example({1: list(range(20))}, {"max_bucket": 4, "boundary": 9, "heads": 2}, [1, 2, 3, 7, 8, 12], 3)
@example({1: list(range(20))}, {"max_bucket": 4, "boundary": 0, "heads": 0}, [6, 6, 19], 3)
@example({1: [0, 1, 2], 2: [5], 3: [6, 7]}, {"max_bucket": 2, "boundary": 0, "heads": 0}, [3, 4], 5)
@example({1: list(range(20))}, {"max_bucket": None, "boundary": 9, "heads": 8}, [6, 6, 19], 5)
def test_any_cut_gives_the_links_of_buckets(bucket_groups, rule, places, room):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linking, "AT_A_TIME", room)
        found = rows_of(bucket(iter(cut_at(grouped(bucket_groups), places)), **rule), LINKS)
    assert found == expected(bucket_groups, rule)


@given(bucket_groups, bucket_rules, places, st.integers(0, 18), st.integers(1, 18), st.integers(0, 1 << 32))
def test_links_can_be_cut_while_they_are_made(bucket_groups, rule, places, least, slots, seed):
    least = min(least, slots)
    codes = np.random.default_rng(seed).integers(0, 2, (41, slots), np.uint16)
    rows = (columns(order=[i], code=code_column(codes[i : i + 1], slots)) for i in range(41))
    by_order = nibbles_by_order(slots, 41)
    total = by_order.start()
    for row in rows:
        by_order.add(total, row)
    found = bucket(iter(cut_at(grouped(bucket_groups), places)), **rule, nibbles=(total.reshape(-1), slots, least))
    agree = [(a, b) for a, b in expected(bucket_groups, rule) if (codes[a] == codes[b]).sum() >= least]
    assert rows_of(found, LINKS) == agree


@given(bucket_groups, bucket_rules, places, st.integers(0, 30))
def test_a_limit_takes_the_first_links_of_two_documents(bucket_groups, rule, places, limit):
    found = rows_of(bucket(iter(cut_at(grouped(bucket_groups), places)), **rule, limit=limit), LINKS)
    wanted = expected(bucket_groups, rule)
    assert found == wanted[: len(found)]
    assert sum(a < b for a, b in found) == min(limit, sum(a < b for a, b in wanted))


def test_a_crowd_larger_than_a_batch_of_links_comes_in_pieces():
    n = 200_000
    rule = {"max_bucket": 128, "boundary": 0}
    sizes, links, marks = [], 0, 0
    for batch in bucket(iter(cut_at(columns(key=np.zeros(n), order=np.arange(n)), [70_001, 70_002])), **rule):
        left, right = (column.to_numpy() for column in batch.columns)
        sizes.append(len(left))
        marks += int((left == right).sum())
        links += int((left < right).sum())
        assert left[left < right].max(initial=0) < 8
    assert marks == n and links == 8 * n - 36 and max(sizes) <= 1 << 21


def test_a_limit_reads_no_more_than_it_needs():
    """All pairs of a million documents would be 5e11; the next batch is not even asked for."""

    def rows():
        yield columns(key=np.zeros(1_000_000), order=np.arange(1_000_000))
        yield columns(key=[0], order=[1_000_000])
        raise AssertionError("read on")

    found = rows_of(bucket(rows(), max_bucket=None, boundary=0, limit=1000))
    assert found == [(a, b) for b in range(46) for a in range(b)][:1000]


def test_no_buckets_give_no_links_and_the_step_pickles():
    step = pickle.loads(pickle.dumps(partial(bucket, max_bucket=2, boundary=0)))
    assert (
        rows_of(step(iter([])))
        == rows_of(step(iter([columns(key=[], order=[])])))
        == rows_of(step(iter([columns(key=[7], order=[1])])))
        == []
    )


# few fingerprints, some within a radius of 1 or 2 of each other, often repeated
prints = st.lists(st.sampled_from([0, 1, 3, 0xFF, 0xFE, 2**63, 2**64 - 1]), max_size=40)


near_rules = st.fixed_dictionaries(
    {
        "radius": st.integers(0, 3),
        "bits": st.just(64),
        "max_bucket": st.none() | st.integers(1, 6),
        "boundary": st.sampled_from([0, 0, 10, 99]),
        "heads": st.integers(0, 3),
    }
)


def fingerprinted(prints, groups=None):
    """A batch of documents, each other order left out."""
    keys = pa.array(np.asarray(prints, np.uint64).view(np.int64))
    lists = pa.LargeListArray.from_arrays(np.arange(len(prints) + 1), keys)
    named = {} if groups is None else {"within": pa.array(groups, pa.binary(16))}
    return columns(order=2 * np.arange(len(prints)), keys=lists, **named)


def near_links(prints, groups, rule):
    """All links: those of equal documents by the rule of buckets, and those of the members that speak for two fingerprints."""
    same = defaultdict(list)
    for row, key in enumerate(zip(prints, groups, strict=True)):
        same[key].append(2 * row)
    found, speak = [], {}
    for key, members in same.items():
        found += naive.bucket_links(members, rule["max_bucket"], rule["boundary"], rule["heads"])
        speak[key] = members
        if rule["max_bucket"] is not None and len(members) > rule["max_bucket"]:
            speak[key] = [a for a in members if a < rule["boundary"]][: rule["heads"]]
            speak[key] += [a for a in members if a >= rule["boundary"]][: rule["heads"]]
    for (a, within_a), (b, within_b) in combinations(same, 2):
        if within_a == within_b and (a ^ b).bit_count() <= rule["radius"]:
            links = [(min(x, y), max(x, y)) for x in speak[a, within_a] for y in speak[b, within_b]]
            found += [link for link in links if link[1] >= rule["boundary"]]
    return sorted(found)


@given(prints, near_rules, places, st.booleans(), st.integers(1, 30), st.randoms())
@example([0] * 9 + [1] * 9, {"radius": 1, "bits": 64, "max_bucket": 4, "boundary": 10, "heads": 2}, [3, 3], False, 7, None)
@example([0] * 9 + [1] * 9, {"radius": 1, "bits": 64, "max_bucket": None, "boundary": 10, "heads": 8}, [3, 3], False, 7, None)
def test_any_cut_gives_the_links_within_a_radius(prints, rule, places, grouped, room, random):
    groups = [random.choice([b"a" * 16, b"b" * 16]) if grouped and random else b"a" * 16 for _ in prints]
    batches = cut_at(fingerprinted(prints, groups if grouped else None), places)
    step = pickle.loads(pickle.dumps(partial(near, **rule)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linking, "AT_A_TIME", room)
        found = rows_of(step(iter(batches)), LINKS)
    assert sorted(found) == near_links(prints, groups, rule)


@given(prints, near_rules, st.integers(0, 30))
def test_a_limit_takes_some_links_of_two_documents(prints, rule, limit):
    rule |= {"max_bucket": None, "heads": 8}
    found = rows_of(near(iter([fingerprinted(prints)]), **rule, limit=limit), LINKS)
    wanted = near_links(prints, [b""] * len(prints), rule)
    assert len(set(found)) == len(found) == min(limit, len(wanted)) and set(found) <= set(wanted)


def test_fingerprints_of_two_words_and_of_threads(rng):
    words = rng.integers(0, 1 << 64, (60, 2), dtype=np.uint64)
    words[30:] = words[:30]
    words[30:, 1] ^= np.uint64(1) << rng.integers(0, 64, 30, dtype=np.uint64)
    lists = pa.LargeListArray.from_arrays(2 * np.arange(61), pa.array(words.ravel().view(np.int64)))
    batch = columns(order=np.arange(60), keys=lists)
    rule = {"radius": 1, "bits": 128, "max_bucket": 4, "boundary": 0, "threads": 2}
    assert sorted(rows_of(near(iter([batch[:7], batch[7:]]), **rule))) == [(i, i + 30) for i in range(30)]


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.booleans()), max_size=30), places)
def test_any_cut_links_equal_texts_with_the_first_of_two_values(documents, places):
    """Value 0 is none; of the texts, some are empty."""
    documents = sorted(documents, key=lambda document: document[0])  # equal digests come together
    batch = columns(
        digest=pa.array([bytes([text]) * 16 for text, _, _ in documents], pa.binary(16)),
        order=3 * np.arange(len(documents)),
        empty=pa.array([empty for *_, empty in documents], pa.bool_()),
        across=pa.array([bytes([value]) * 16 for _, value, _ in documents], pa.binary(16)),
    )
    rows = [(3 * i, text, value or None) for i, (text, value, empty) in enumerate(documents) if not empty]
    step = pickle.loads(pickle.dumps(same_texts))
    assert set(rows_of(step(iter(cut_at(batch, places))), LINKS)) == dedup.same_texts(rows)


def test_no_rows_give_no_links():
    rule = {"radius": 3, "bits": 64, "max_bucket": 4, "boundary": 0}
    assert (
        rows_of(near(iter([]), **rule))
        == rows_of(near(iter([fingerprinted([])]), **rule))
        == rows_of(near(iter([fingerprinted([5])]), **rule))
        == []
    )
