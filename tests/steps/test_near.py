"""Links of fingerprints against their definition."""

import pickle
from collections import defaultdict
from functools import partial
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from conftest import JIT_OFF
from hypothesis import example, given
from hypothesis import strategies as st
from steps import naive_crowds as naive
from steps.made import columns, cut_at, places, rows_of

from lookalike.steps import links as linking
from lookalike.steps.links import near
from lookalike.values.tables import LINKS

# few fingerprints, some within a radius of 1 or 2 of each other, often repeated
prints = st.lists(st.sampled_from([0, 1, 3, 0xFF, 0xFE, 2**63, 2**64 - 1]), max_size=40)
rules = st.fixed_dictionaries(
    {
        "radius": st.integers(0, 3),
        "bits": st.just(64),
        "max_bucket": st.none() | st.integers(1, 6),
        "boundary": st.sampled_from([0, 0, 10, 99]),
        "heads": st.integers(0, 3),
    }
)


def batch_of(prints, groups=None):
    """A batch of documents, each other order left out."""
    keys = pa.array(np.asarray(prints, np.uint64).view(np.int64))
    lists = pa.LargeListArray.from_arrays(np.arange(len(prints) + 1), keys)
    named = {} if groups is None else {"within": pa.array(groups, pa.binary(16))}
    return columns(order=2 * np.arange(len(prints)), keys=lists, **named)


def naively(prints, groups, rule):
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


@given(prints, rules, places, st.booleans(), st.integers(1, 30), st.randoms())
@example([0] * 9 + [1] * 9, {"radius": 1, "bits": 64, "max_bucket": 4, "boundary": 10, "heads": 2}, [3, 3], False, 7, None)
@example([0] * 9 + [1] * 9, {"radius": 1, "bits": 64, "max_bucket": None, "boundary": 10, "heads": 8}, [3, 3], False, 7, None)
def test_any_cut_gives_the_links_of_the_definition(prints, rule, places, grouped, room, random):
    groups = [random.choice([b"a" * 16, b"b" * 16]) if grouped and random else b"a" * 16 for _ in prints]
    batches = cut_at(batch_of(prints, groups if grouped else None), places)
    step = pickle.loads(pickle.dumps(partial(near, **rule)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linking, "AT_A_TIME", room)
        found = rows_of(step(iter(batches)), LINKS)
    assert sorted(found) == naively(prints, groups, rule)


@given(prints, rules, st.integers(0, 30))
def test_a_limit_takes_some_links_of_two_documents(prints, rule, limit):
    rule |= {"max_bucket": None, "heads": 8}
    found = rows_of(near(iter([batch_of(prints)]), **rule, limit=limit), LINKS)
    wanted = naively(prints, [b""] * len(prints), rule)
    assert len(set(found)) == len(found) == min(limit, len(wanted)) and set(found) <= set(wanted)


def test_fingerprints_of_two_words_and_of_threads(rng):
    words = rng.integers(0, 1 << 64, (60, 2), dtype=np.uint64)
    words[30:] = words[:30]
    words[30:, 1] ^= np.uint64(1) << rng.integers(0, 64, 30, dtype=np.uint64)
    lists = pa.LargeListArray.from_arrays(2 * np.arange(61), pa.array(words.ravel().view(np.int64)))
    batch = columns(order=np.arange(60), keys=lists)
    rule = {"radius": 1, "bits": 128, "max_bucket": 4, "boundary": 0, "threads": 1 if JIT_OFF else 2}
    assert sorted(rows_of(near(iter([batch[:7], batch[7:]]), **rule))) == [(i, i + 30) for i in range(30)]


def test_no_rows_give_no_links():
    rule = {"radius": 3, "bits": 64, "max_bucket": 4, "boundary": 0}
    assert (
        rows_of(near(iter([]), **rule))
        == rows_of(near(iter([batch_of([])]), **rule))
        == rows_of(near(iter([batch_of([5])]), **rule))
        == []
    )
