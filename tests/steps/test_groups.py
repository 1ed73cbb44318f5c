"""The steps that count groups and choose in them, however rows are cut into batches, against plain Python."""

from collections import Counter

import numpy as np
import pyarrow as pa
from cut_tables import cut_rows, cuts, run, whole
from hypothesis import given
from hypothesis import strategies as st

from lookalike.steps.decide import (
    CONTRIBUTIONS,
    REASONS,
    REMOVED_DOCUMENTS,
    SHARES,
    add_contributions,
    add_row_numbers,
    count_by_value,
    count_groups,
    spare_first,
)
from lookalike.values.tables import SOURCE_BITS

members = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), max_size=40)  # (keeper, source)
groups = st.permutations(range(5))
"""An order of keepers: groups come in any."""


@given(members, st.integers(1, 5), cuts)
def test_the_first_removed_documents_of_each_group_are_spared(found, at_most, cut):
    rows = [(10 + i, keeper) for i, (keeper, _) in enumerate(sorted(found))]
    kept = []
    for group in range(5):
        kept += [(order, 1) for order, keeper in rows if keeper == group][: at_most - 1]
    assert run(spare_first, cut_rows(rows, REMOVED_DOCUMENTS, cut), at_most=at_most) == kept


@given(members, groups, cuts)
def test_what_each_source_has_in_a_group_is_added_up(found, turn, cut):
    """A document that is removed by its key is of no source."""
    found = sorted(found, key=lambda row: (turn[row[0]], row[1]))
    rows = [(10 + i, keeper, 100 + source, int(i % 4 > 0), i % 2, i % 3) for i, (keeper, source) in enumerate(found)]
    added, counted = [], []
    for both in set(found):
        own = [row for row in rows if (row[1], row[2] - 100) == both]
        first = min(own, key=lambda row: (row[3] == 0, row[0]))
        added.append((first[0], both[0], *(sum(row[n] for row in own) for n in (3, 4, 5))))
    for group in {keeper for keeper, _ in found}:
        own = [row for row in rows if row[1] == group]
        counted.append((group, *(sum(row[n] for row in own) for n in (4, 5)), len({row[2] for row in own if row[3]})))
    assert sorted(run(add_contributions, cut_rows(rows, CONTRIBUTIONS, cut))) == sorted(added)
    assert sorted(run(count_groups, cut_rows(rows, CONTRIBUTIONS, cut))) == sorted(counted)


@given(st.lists(st.tuples(st.sampled_from(REASONS), st.sampled_from(["de", "en", None]), st.booleans()), max_size=30), cuts)
def test_documents_are_counted_by_value(found, cut):
    """But for references, and those left out."""
    schema = pa.schema([("reason", pa.string()), ("column_l", pa.large_string()), ("kept", pa.bool_())])
    told = Counter()
    for _, value, documents, removed in run(count_by_value, cut_rows(found, schema, cut), columns=["column_l"]):
        told += Counter({(value, True): documents - removed, (value, False): removed})
    assert told == Counter((value, kept) for reason, value, kept in found if reason not in ("reference", "skipped"))


def test_kept_documents_are_numbered_through_all_inputs():
    rows = [(9, 2, 1, 0, 1, 2), (10, 7, 2, 1, 1, 1 << SOURCE_BITS), (11, 8, 1, 0, 0, (2 << SOURCE_BITS) + 1)]
    given_rows = cut_rows(rows, whole(*SHARES.names, "keeper_position"))
    assert run(add_row_numbers, given_rows, starts=np.array([0, 3, 3])) == [(9, 2, 1, 0, 1), (10, 3, 2, 1, 1), (11, 4, 1, 0, 0)]
