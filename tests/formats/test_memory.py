"""Texts and tables that are in memory."""

import pyarrow as pa
import pytest

from lookalike.formats.memory import list_split, table_split

TEXTS = ["a", "b", "c"]


@pytest.mark.parametrize(
    ("split", "n"),
    [
        (list_split(TEXTS), 3),
        (list_split(pa.chunked_array([TEXTS[:1], TEXTS[1:]])), 3),
        (table_split(pa.table({"text": TEXTS})), 3),
        (list_split(iter(TEXTS)), 0),
    ],
)
def test_rows_are_counted_where_that_costs_nothing(split, n):
    """Their bytes are in memory already, and need no more room."""
    assert split.expected("text") == (n, 0)
