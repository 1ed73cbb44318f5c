"""Documents of pairs, and links each once."""

from cut_tables import batches, cuts, run
from hypothesis import given
from hypothesis import strategies as st

from lookalike.steps.pairs import MEMBERS, distinct, each_once, sides
from lookalike.values.tables import LINKS, PAIRS

pairs = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=30)


def columns(rows, schema):
    """Rows as columns."""
    return {name: [row[i] for row in rows] for i, name in enumerate(schema.names)}


@given(pairs, cuts)
def test_both_documents_of_a_pair_come(found, cut):
    made = run(sides, batches(columns(found, PAIRS), PAIRS, cut))
    assert sorted(made) == sorted((order,) for pair in found for order in pair)


@given(st.lists(st.integers(0, 5), max_size=30), cuts)
def test_of_each_document_one_row_is_left(orders, cut):
    """Repeats lie beside each other, perhaps in several batches."""
    made = run(distinct, batches({"order": sorted(orders)}, MEMBERS, cut))
    assert made == [(order,) for order in sorted(set(orders))]


@given(pairs, cuts)
def test_of_equal_links_one_is_left(found, cut):
    made = run(each_once, batches(columns(sorted(found), LINKS), LINKS, cut))
    assert made == sorted(set(found))
