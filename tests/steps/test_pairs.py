import tracemalloc
from unittest.mock import patch

from cut_tables import cut_at, cuts
from hypothesis import example, given
from hypothesis import strategies as st
from steps.made import binary_column, columns, kinds, nibble_column, rows_of

from lookalike.steps.pairs import cut
from lookalike.values.tables import PAIRS

some_pairs = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=50)
sorted_links = some_pairs.map(lambda found: sorted((min(pair), max(pair)) for pair in found))


def with_sides(links, **columns_of):
    """``columns_of`` has the values of all documents and what makes a column."""
    named = {
        f"{side}_{name}": make([rows[link[i]] for link in links])
        for name, (rows, make) in columns_of.items()
        for i, side in enumerate(("left", "right"))
    }
    return columns(left=[a for a, _ in links], right=[b for _, b in links], **named)


def agreeing(left, right):
    """Slots whose codes agree in the lowest four bits."""
    return sum(a % 16 == b % 16 for a, b in zip(left, right, strict=True))


@given(
    sorted_links,
    st.integers(0, 11) | st.sampled_from([64, 65, 300]),
    st.integers(0, 9) | st.integers(60, 300),
    st.sampled_from([0, 0, 4]),
    kinds,
    st.booleans(),
    cuts,
    st.randoms(),
)
@example([(0, 1)] * 5, 4, 0, 0, "fixed", False, [1, 2, 2], None)
def test_any_cut_gives_the_pairs_of_the_definition(links, slots, least, boundary, kind, grouped, places, random):
    """Marks, repeats and pairs of references fall; and others, where there are codes or groups."""
    draw = random.choice if random else max
    codes = [[draw([0, 1, 2, 16, 0x1111, 0x8000, 0xFFFF]) for _ in range(slots)] for _ in range(10)]
    groups = [draw([b"a" * 15 + b"a", b"a" * 15 + b"b"]) if grouped else b"" for _ in range(10)]
    given_columns = {"code": (codes, lambda rows: nibble_column(rows, slots, kind))} if slots else {}
    given_columns |= {"within": (groups, lambda rows: binary_column(rows, 16))} if grouped else {}
    rows = cut_at(with_sides(links, **given_columns), places)
    with patch("lookalike.steps.pairs.CUT_AT_A_TIME", 1 + slots):
        found = rows_of(cut(iter(rows), slots=slots or 96, least=least, boundary=boundary), PAIRS)
    least = least if slots else 0
    assert found == [
        (a, b)
        for a, b in sorted(set(links))
        if a != b and b >= boundary and groups[a] == groups[b] and agreeing(codes[a], codes[b]) >= least
    ]


def test_few_pairs_that_stay_hold_little():
    """Not the arrays of all links of their batch, of which they would be views."""
    rows = columns(left=[0] * 2000, right=range(1, 2001))
    tracemalloc.start()
    held = [batch for _ in range(100) for batch in cut(iter([rows]), slots=0, least=0, boundary=1999)]
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert sum(map(len, held)) == 200 and size < 100 * 2000 * 8
