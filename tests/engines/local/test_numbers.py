import itertools
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from cut_tables import cut_at, cut_rows, rows_of
from engine_kinds import make

from lookalike.engines.local import sort as local_sort
from lookalike.files.workspace import Workspace
from lookalike.values.tables import LINKS


def meeting(engine, found, cut, once):
    batches = list(cut_rows(found, LINKS, range(cut, len(found), cut)))
    return engine.group_by(engine.rows(pa.Table.from_batches(batches, LINKS)), "left", "right", once=once).batches()


def test_a_table_without_repeats_is_not_sorted_again_and_again(monkeypatch, tmp_path):
    """Else its cost would grow with the square of its rows."""
    counted, distinct = [], local_sort._distinct
    monkeypatch.setattr(local_sort, "_distinct", lambda arrays: counted.append(1) or distinct(arrays))
    monkeypatch.setattr(local_sort, "DISTINCT_BYTES", 800)
    found = list(itertools.product(range(80), range(80)))
    assert len(rows_of(meeting(make("local", tmp_path, monkeypatch), found, 10, True))) == 6400
    assert len(counted) <= 1 + np.log2(6400 * 8 / 800) + 2


@pytest.mark.parametrize("memory", [500, 1 << 30])
@pytest.mark.parametrize("bound", [None, 200])
def test_a_job_goes_on_after_the_mark_of_each_piece(tmp_path, memory, bound):
    """Spread over the parts of a workspace or held."""
    found = [(n, 199 - n) for n in range(200)]
    rows = SimpleNamespace(schema=LINKS, batches=lambda: cut_rows(found, LINKS, range(0, 200, 30)))
    space = Workspace(tmp_path / "work", {"a": "job"})
    table = local_sort.by_number(rows, "left", "right", space, memory, 1, lambda size: None, bound=bound)

    def after(mark):
        return [(piece.mark, rows_of(piece.make())) for piece in table.pieces(mark)]

    pieces = after(0)
    assert sorted(row for _, rows in pieces for row in rows) == found and len(pieces) > 30
    for place, (mark, _) in enumerate(pieces):
        assert after(mark) == pieces[place + 1 :]


@pytest.mark.parametrize("kind", ["local", "spilled"])
def test_a_large_group_comes_in_several_batches(kind, tmp_path, monkeypatch):
    """Joins add to each row what is wide: of the first document of a crowd there are millions."""
    engine = make(kind, tmp_path, monkeypatch)
    monkeypatch.setattr(local_sort, "BLOCK", 10)
    monkeypatch.setattr(local_sort, "JOINED", 1 << 40)
    found = list(itertools.product(range(3), range(97)))
    batches = list(meeting(engine, found, 291, False))
    assert max(map(len, batches)) <= 10 and len(batches) >= 30
    groups = [list(rows) for _, rows in itertools.groupby(rows_of(batches), key=lambda row: row[0])]
    assert sorted(groups) == cut_at(found, [97, 194]), "together, and in order"
    engine.close()


def test_repeats_in_many_parts_are_dropped_as_they_are_read(tmp_path, monkeypatch):
    """A pair that every band repeats is not held once for each band."""
    engine = make("spilled", tmp_path, monkeypatch)
    monkeypatch.setattr(local_sort, "DISTINCT_BYTES", 800)
    once, joined, most = [(0, right) for right in range(100)], local_sort.NumberSort.join_parts, []

    def joining(self, parts):
        together = joined(self, parts)
        most.append(sum(array.nbytes for array in together.values()))
        return together

    monkeypatch.setattr(local_sort.NumberSort, "join_parts", joining)
    assert rows_of(meeting(engine, once * 60, 50, True)) == once
    assert sum(most) > 0 and max(most) < 60 * 800 / 3
    engine.close()
