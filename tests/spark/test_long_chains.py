"""A chain in keep order, of which a round decides one document: the engine streams what is left."""

from functools import partial

import numpy as np
import pyarrow as pa
import pytest
from engine_kinds import spark_engine
from spark_session import MOST_BYTES, events, sent

from lookalike.recipes.decide import Rounds
from lookalike.steps.pairs import MEMBERS
from lookalike.steps.totals import N_ROWS
from lookalike.values.tables import MATCHES, PAIRS

pytestmark = [pytest.mark.spark, pytest.mark.slow]
N, PIECE = 1_000_000, 50_000


def linked(rows, schema):
    """All documents of a piece, each beside the next one as far as wanted."""
    for batch in rows:
        for first in batch.column(0).to_pylist():
            orders = np.arange(first, first + PIECE)
            columns = [orders] if len(schema) == 1 else [orders[orders < N - 1], orders[orders < N - 1] + 1]
            yield pa.RecordBatch.from_arrays([pa.array(column) for column in columns], schema=schema)


def matching(rows):
    for batch in rows:
        yield pa.RecordBatch.from_arrays([*batch.columns, pa.array(np.full(len(batch), 0.9))], schema=MATCHES)


def others(rows):
    """Matches but those of an even document and the next one."""
    for batch in rows:
        left, right = (np.asarray(batch.column(name)) for name in ("left", "right"))
        yield batch.filter(pa.array((left % 2 == 1) | (right != left + 1)))


def test_a_chain_of_a_million(cluster, tmp_path):
    engine, start = spark_engine(tmp_path, 4), len(events(cluster))
    firsts = engine.rows(pa.table({"order": np.arange(0, N, PIECE)}))
    pairs, members = (
        engine.materialize(engine.map(firsts, partial(linked, schema=schema), schema), name)
        for schema, name in ((PAIRS, "pairs"), (MEMBERS, "members"))
    )
    found = Rounds(engine, lambda rows: engine.map(rows, matching, MATCHES), 0, "").kept_of(pairs, members)
    assert engine.aggregate(found, N_ROWS) == N // 2 and engine.aggregate(engine.map(found, others, MATCHES), N_ROWS) == 0
    assert sum(sent(events(cluster, start))) <= MOST_BYTES
    engine.close()
