"""Links of buckets against their definition, for any cut of the input and any room of the output."""

import pickle
from functools import partial

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from steps import naive_crowds as naive
from steps.made import columns, cut_at, grouped, places, rows_of

from lookalike.steps import links as linking
from lookalike.steps.links import bucket
from lookalike.values.tables import LINKS

groups = st.dictionaries(
    st.integers(-(2**63), 2**63 - 1), st.sets(st.integers(0, 40), min_size=1, max_size=20).map(sorted), max_size=6
)
rules = st.fixed_dictionaries(
    {"max_bucket": st.none() | st.integers(1, 8), "boundary": st.sampled_from([0, 0, 5, 20, 99]), "heads": st.integers(0, 3)}
)


def expected(groups, rule):
    """The links of all groups in the order in which they come: member by member."""
    found = []
    for members in groups.values():
        found += sorted(
            naive.bucket_links(members, rule["max_bucket"], rule["boundary"], rule["heads"]), key=lambda link: link[::-1]
        )
    return found


@given(groups, rules, places, st.integers(1, 30))
@example({1: [0, 1], 2: list(range(20))}, {"max_bucket": 4, "boundary": 3, "heads": 2}, [4, 7, 9], 1)
@example({1: list(range(20))}, {"max_bucket": 4, "boundary": 9, "heads": 2}, [1, 2, 3, 7, 8, 12], 3)
@example({1: list(range(20))}, {"max_bucket": 4, "boundary": 0, "heads": 0}, [6, 6, 19], 3)
@example({1: list(range(20))}, {"max_bucket": None, "boundary": 9, "heads": 8}, [6, 6, 19], 5)
def test_any_cut_gives_the_links_of_the_definition(groups, rule, places, room):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linking, "AT_A_TIME", room)
        found = rows_of(bucket(iter(cut_at(grouped(groups), places)), **rule), LINKS)
    assert found == expected(groups, rule)


@given(groups, rules, places, st.integers(0, 30))
def test_a_limit_takes_the_first_links_of_two_documents(groups, rule, places, limit):
    found = rows_of(bucket(iter(cut_at(grouped(groups), places)), **rule, limit=limit), LINKS)
    wanted = expected(groups, rule)
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


def test_no_rows_give_no_links_and_the_step_pickles():
    step = pickle.loads(pickle.dumps(partial(bucket, max_bucket=2, boundary=0)))
    assert (
        rows_of(step(iter([])))
        == rows_of(step(iter([columns(key=[], order=[])])))
        == rows_of(step(iter([columns(key=[7], order=[1])])))
        == []
    )
