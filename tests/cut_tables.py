import pickle
from functools import partial
from itertools import pairwise

import pyarrow as pa
from hypothesis import strategies as st

cuts = st.lists(st.integers(0, 40), max_size=6)


def whole(*names):
    return pa.schema([(name, "int64") for name in names])


def columns_of(rows, schema):
    return {name: [row[i] for row in rows] for i, name in enumerate(schema.names)}


def cut_at(rows, cuts):
    bounds = [0, *sorted(min(cut, len(rows)) for cut in cuts), len(rows)]
    return [rows[begin:end] for begin, end in pairwise(bounds)]


def batches(columns, schema, cuts=()):
    arrays = [pa.array(columns[field.name], field.type) for field in schema]
    yield from cut_at(pa.RecordBatch.from_arrays(arrays, schema=schema), cuts)


def cut_rows(rows, schema, cuts=()):
    return batches(columns_of(rows, schema), schema, cuts)


def rows_of(batches):
    return [tuple(row.values()) for batch in batches for row in batch.to_pylist()]


def run(step, rows, **arguments):
    return rows_of(pickle.loads(pickle.dumps(partial(step, **arguments)))(rows))
