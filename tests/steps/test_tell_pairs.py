"""Pairs are told by what their documents are called."""

import pyarrow as pa
from cut_tables import batches, cuts, run
from hypothesis import given
from hypothesis import strategies as st

from lookalike import Settings
from lookalike.formats.memory import as_sources
from lookalike.inputs.ids import Labels
from lookalike.steps.rows import POSITIONS, pair_rows
from lookalike.values.tables import MATCHES

integer = pa.int64()
SIDES = [(f"{side}_{name}", kind) for side in ("left", "right") for name, kind in
         (("position", integer), ("number", integer), ("id", pa.large_string()), ("keys", pa.list_(integer, 1)))]  # fmt: skip
FOUND = pa.schema([*MATCHES, *SIDES])
BOUNDARY = 3
rows = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 9), st.sampled_from([0.8, 0.9, 1.0]), st.integers(0, 99), st.integers(0, 99))
    .filter(lambda row: row[0] < row[1] and row[3] != row[4]), max_size=20,
)  # fmt: skip


def telling(method, named=True):
    """The settings of the step, and the columns that are told."""
    labels = Labels.of(as_sources(["a"]), named, False)
    ends = [pa.field(name, integer) for name in ("left", "right")]
    ids = [pa.field(name, labels.kind) for name in ("left_id", "right_id")]
    added = [pa.field(name, integer if name == "distance" else pa.float64()) for name in method.added[1:]]
    schema = pa.schema([*ends, *ids, pa.field("left_is_reference", pa.bool_()), pa.field("resemblance", pa.float64()), *added])
    return {"schema": pa.schema([*schema, *POSITIONS]), "labels": labels, "method": method, "boundary": BOUNDARY}


def told(found, cut, settings, schema=FOUND):
    """What the step tells of pairs."""
    full = [(a, b, s, p, p + 1, f"id{a}", [1 << a], q, q + 1, f"id{b}", [1 << b]) for a, b, s, p, q in found]
    columns = {name: [row[FOUND.names.index(name)] for row in full] for name in schema.names}
    return run(pair_rows, batches(columns, schema, cut), **settings)


@given(rows, cuts)
def test_the_document_that_comes_first_in_the_input_is_on_the_left(found, cut):
    schema = pa.schema([field for field in FOUND if not field.name.endswith("_keys")])
    wanted = []
    for a, b, score, p, q in found:
        (p, left), (q, right) = sorted([(p, a), (q, b)])
        wanted.append((left, right, f"id{left}", f"id{right}", left < BOUNDARY, score, p, q))
    assert told(found, cut, telling(Settings().finder), schema) == wanted


@given(rows, cuts)
def test_fingerprints_are_told_with_their_distance(found, cut):
    method = Settings(method="simhash", radius=3).finder
    for row in told(found, cut, telling(method)):
        assert row[6] == 2


def test_documents_without_ids_are_called_by_their_numbers():
    schema = pa.schema([field for field in FOUND if field.name.rpartition("_")[2] not in ("keys", "id")])
    ((_, _, one, other, *_),) = told([(4, 5, 0.9, 8, 2)], [], telling(Settings().finder, named=False), schema)
    assert (one, other) == (3, 9)
