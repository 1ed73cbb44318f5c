"""Links of buckets against their definition, for any cut of the input and any room of the output."""

import numpy as np
import pytest
from cut_tables import cut_at, cuts
from hypothesis import example, given
from hypothesis import strategies as st
from steps.made import columns, grouped, links_of_bucket, rows_of

from lookalike.steps import pairs as linking
from lookalike.steps.pairs import bucket
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
