"""The steps that count groups and choose in them, however rows are cut into batches, against plain Python."""

from collections import Counter

import numpy as np
import pyarrow as pa
from cut_tables import batches, cuts, run
from hypothesis import given
from hypothesis import strategies as st

from lookalike.steps.decide import (
    CONTRIBUTIONS,
    REASONS,
    REMOVED_DOCUMENTS,
    ROW_CONTRIBUTIONS,
    SHARES,
    SourceKey,
    add_contributions,
    add_row_numbers,
    count_by_value,
    count_groups,
    list_contributions,
    number_texts,
    spare_first,
)
from lookalike.values.tables import SOURCE_BITS

members = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), max_size=40).map(sorted)  # (keeper, source)


groups = st.permutations(range(5))
"""An order of keepers: groups come in any."""


def table(rows, schema):
    return pa.Table.from_pylist([dict(zip(schema.names, row, strict=False)) for row in rows], schema)


@given(members, st.integers(1, 5), cuts)
def test_the_first_removed_documents_of_each_group_are_spared(found, at_most, cut):
    rows = [(10 + i, keeper) for i, (keeper, _) in enumerate(found)]
    kept = []
    for group in range(5):
        kept += [order for order, keeper in rows if keeper == group][: at_most - 1]
    assert run(spare_first, batches(table(rows, REMOVED_DOCUMENTS), REMOVED_DOCUMENTS, cut), at_most=at_most) == [
        (order, 1) for order in kept
    ]


@given(members, groups, cuts)
def test_groups_are_counted(found, turn, cut):
    """A document that is removed by its key is of no source."""
    found = sorted(found, key=lambda row: turn[row[0]])
    rows = [(10 + i, keeper, 100 + source, int(i % 4 > 0), i % 2, i % 3) for i, (keeper, source) in enumerate(found)]
    expected = []
    for group in sorted({keeper for keeper, _ in found}):
        own = [row for row in rows if row[1] == group]
        expected.append((group, *(sum(row[n] for row in own) for n in (4, 5)), len({row[2] for row in own if row[3]})))
    assert sorted(run(count_groups, batches(table(rows, CONTRIBUTIONS), CONTRIBUTIONS, cut))) == expected


@given(members, groups, cuts)
def test_what_each_source_has_in_a_group_is_added_up(found, turn, cut):
    found = sorted(found, key=lambda row: turn[row[0]])
    rows = [(10 + i, keeper, 100 + source, 1, i % 2, i % 3) for i, (keeper, source) in enumerate(found)]
    expected = []
    for keeper, source in set(found):
        own = [row for row in rows if row[1:3] == (keeper, 100 + source)]
        expected.append((own[0][0], keeper, *(sum(row[n] for row in own) for n in (3, 4, 5))))
    assert sorted(run(add_contributions, batches(table(rows, CONTRIBUTIONS), CONTRIBUTIONS, cut))) == sorted(expected)


def test_documents_join_groups_as_what_they_are():
    """References count nothing here; spared documents are members, and not removed; those of a key are removed, no members."""
    schema = pa.schema(
        [
            ("order", pa.int64()),
            ("keeper", pa.int64()),
            ("reason", pa.string()),
            ("column_x", pa.large_string()),
        ]
    )
    rows = [
        (0, 0, "reference", "a"), (1, 1, "kept", "a"), (2, 0, "exact", ""), (3, 1, "spared", "b"),
        (5, 0, "key", "b"), (6, None, "empty", "b"), (7, 1, "near", "a"),
    ]  # fmt: skip
    origins = SourceKey(column="x", documents=())
    told = run(list_contributions, table(rows, schema).to_batches(), origins=origins, boundary=1)
    a, b, none = number_texts(["a", "b", ""]).tolist()
    assert told == [
        (1, 1, a, 1, 0, 0), (2, 0, none, 1, 1, 1), (3, 1, b, 1, 0, 0), (5, 0, b, 0, 0, 1), (7, 1, a, 1, 0, 1),
    ]  # fmt: skip
    removed = run(list_contributions, table(rows, schema).to_batches(), origins=None)
    assert removed == [(2, 0, 0, 1, 1, 1), (5, 0, 0, 0, 0, 1), (7, 1, 0, 1, 0, 1)]


def test_kept_documents_are_numbered_through_all_inputs():
    schema = pa.schema([*SHARES, ("keeper_position", pa.int64())])
    rows = [(9, 2, 1, 0, 1, 2), (10, 7, 2, 1, 1, 1 << SOURCE_BITS), (11, 8, 1, 0, 0, (2 << SOURCE_BITS) + 1)]
    told = run(add_row_numbers, table(rows, schema).to_batches(), starts=np.array([0, 3, 3]))
    assert told == [(9, 2, 1, 0, 1), (10, 3, 2, 1, 1), (11, 4, 1, 0, 0)] and len(told[0]) == len(ROW_CONTRIBUTIONS)


def test_files_are_sources_and_so_is_each_file_that_is_a_document():
    origins = SourceKey(column=None, documents=(False, True))
    positions = [0, 7, 1 << SOURCE_BITS, (1 << SOURCE_BITS) + 1]
    schema = pa.schema([("position", pa.int64())])
    (batch,) = table([(p,) for p in positions], schema).to_batches()
    first, same, one, other = origins.of(batch).tolist()
    assert first == same == 0 and len({first, one, other}) == 3


@given(st.lists(st.tuples(st.sampled_from(REASONS), st.sampled_from(["de", "en", None]), st.booleans()), max_size=30), cuts)
def test_documents_are_counted_by_value(found, cut):
    schema = pa.schema([("reason", pa.string()), ("column_l", pa.large_string()), ("kept", pa.bool_())])
    told = Counter()
    for _, value, documents, removed in run(count_by_value, batches(table(found, schema), schema, cut), columns=["column_l"]):
        told[value] += documents + 1000 * removed
    own = [(value, kept) for reason, value, kept in found if reason not in ("reference", "skipped")]
    assert +told == +Counter({v: sum((1 if kept else 1001) for value, kept in own if value == v) for v in ("de", "en", None)})
