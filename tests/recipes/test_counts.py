"""tests/jobs/counts.job has what is written of counts."""

from contextlib import closing

import pyarrow as pa
import pytest

import lookalike as la
from lookalike.errors import ParameterError

LONG = "the quick brown fox jumps over the lazy dog near the bank of the river"
ROWS = [
    {"id": "a", "text": LONG, "from": "wiki", "lang": "en"}, {"id": "b", "text": "another text of its own", "from": "news", "lang": "de"},
    {"id": "c", "text": LONG, "from": "news", "lang": "en"}, {"id": "d", "text": f"{LONG} again", "from": None, "lang": "en"},
    {"id": "e", "text": LONG, "from": "news", "lang": "de"}, {"id": "f", "text": LONG, "from": "crawl", "lang": None},
]  # fmt: skip


def test_who_shares_documents_with_whom():
    with closing(la.dedup(ROWS, id="id", counts=True, source="from")) as result:
        rows = [tuple(row.values()) for row in result.matrix.to_pylist()]
        assert rows[0] == ("news", "wiki", 2) and {*rows[1:]} == {("crawl", "wiki", 1), (None, "wiki", 1)}
    plain = la.dedup({"one": pa.table({"text": [LONG]}), "two": pa.table({"text": [LONG, LONG]})})
    assert plain.matrix.to_pylist() == [{"removed_from": "two", "kept_in": "one", "documents": 2}]


def test_known_pairs_do_not_count_groups_anew():
    result = la.dedup(ROWS, id="id", evidence="all", counts=True)
    with pytest.raises(ParameterError, match="rethreshold does not count groups again"):
        result.rethreshold(0.95)
    opened = la.dedup(ROWS, id="id", counts=True).rethreshold(1.0)
    assert opened.kept.to_pylist()[0]["n_duplicates"] == 3
