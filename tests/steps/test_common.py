"""Shingles are counted exactly, however the rows are cut, and texts are found that have them."""

import pickle
from collections import Counter
from functools import partial, reduce

import numpy as np
import pyarrow as pa
import pytest
from conftest import JIT_OFF
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.kernels import filters
from lookalike.steps import common as module
from lookalike.steps.common import CELLS, COUNTED, SEEN, Tally, counted, flagged_in, seen, windows
from lookalike.text.shingle import Shingling
from lookalike.text.texts import from_strings

WAYS = [{"width": 2}, {"unit": "char", "width": 4}, {"unit": "line"}, {"tokenizer": str.split, "width": 1}]


def documents(texts, skipped):
    n = np.arange(len(texts))
    columns = {"position": n, "number": n + 1, "text": pa.array([text.encode() for text in texts], pa.large_binary())}
    return pa.table(columns | {"skipped": pa.array(skipped, pa.bool_())})


def run(step, table, schema, size):
    step = pickle.loads(pickle.dumps(step))
    batches = [pa.Table.from_batches(step(iter([batch])), schema) for batch in table.to_batches(max_chunksize=size)]
    return pa.concat_tables([schema.empty_table(), *batches]).combine_chunks()


def found(texts, skipped, way, least, size):
    """What is common, the texts, and how many documents there are."""
    shingling, table = Shingling(**way), documents(texts, skipped)
    totals = []
    for batch in run(partial(seen, shingling=shingling), table, SEEN, size).to_batches():
        totals.append(CELLS.start())
        CELLS.add(totals[-1], batch)
    counts = reduce(CELLS.combine, totals, CELLS.start())
    cells = flagged_in(counts, least)
    tally = Tally(shingling, cells)
    rows = run(partial(counted, shingling=shingling, cells=cells), table, COUNTED, size)
    order = np.random.default_rng(1).permutation(len(rows))
    for batch in rows.take(pa.array(order)).to_batches(max_chunksize=7):
        tally.take(batch)
    return (*tally.common(least), int(counts[0, -1]))


texts = st.lists(
    st.tuples(st.lists(st.sampled_from(["a", "b", "c", "\u00e9\n", "d" * 40]), max_size=12).map(" ".join), st.booleans())
)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("bits", [2, 22])
@settings(max_examples=8 if JIT_OFF else 25)
@given(rows=texts, least=st.integers(0, 4), size=st.integers(1, 9))
def test_what_is_common_is_exact(way, bits, rows, least, size):
    """With four cells, each is of many shingles."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "CELL_BITS", bits)
        patch.setattr(module, "_SHIFT", np.uint64(64 - bits))
        patch.setattr(module, "WINDOW_BYTES", 24)
        patch.setattr(module, "CELLS", module.Total(module._add_cells, (2, (1 << bits) + 1), dtype=np.int32))
        patch.setitem(globals(), "CELLS", module.CELLS)
        values, some, n = found([text for text, _ in rows], [left for _, left in rows], way, least, size)
    there = [text for text, left_out in rows if not left_out]
    counts, shingling = Counter(), Shingling(**way)
    for text in there:
        counts.update(set(shingling.hashes(from_strings([text]))[0].tolist()))
    assert values.tolist() == sorted(value for value, count in counts.items() if count > least)
    assert n == len(there)
    assert set(values.tolist()) <= set(shingling.hashes(some)[0].tolist() if len(some) else [])


def test_texts_are_pieces_of_the_documents():
    """Of a long document with a short template, hardly more than the template is held."""
    template = " ".join(f"t{i}" for i in range(50))
    long = [" ".join([*(f"a{d}x{i}" for i in range(2000)), template, *(f"b{d}x{i}" for i in range(2000))]) for d in range(9)]
    values, some, _ = found(long, [False] * 9, {"width": 5}, 5, 3)
    assert len(values) == 46 and some.n_bytes <= 2 * module.WINDOW_BYTES


def test_windows_overlap_by_half_and_break_no_character():
    text = ("\u65e5" * 400 + "a" * 5).encode()
    pieces = windows(text)
    assert pieces[0] == text[:513] and all(piece.decode() for piece in pieces) and text.endswith(pieces[-1])
    for place in range(0, len(text) - 260, 3):
        assert any(text[place : place + 240] in piece for piece in pieces)
    assert windows(b"") == [b""]


def test_cells_hold_as_many_as_their_shingles(rng):
    values = rng.integers(0, 1 << 64, 1000, dtype=np.uint64)
    total = CELLS.start()
    CELLS.add(total, pa.record_batch({"value": np.concatenate([np.zeros(3, np.int64), values.view(np.int64)])}))
    plain = np.zeros(1 << 22, np.int32)
    filters.count_members(values, np.uint64(42), plain)
    assert (total[0, :-1] == plain).all() and total[0, -1] == 3 and total[1].sum() == 1000
