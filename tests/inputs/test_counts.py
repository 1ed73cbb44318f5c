import os

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from raising import assert_raises

from lookalike.errors import InputDataError
from lookalike.inputs import counts as module
from lookalike.inputs.counts import COUNTS, CountRows, Counts, Part


def saved(folder, rows, group):
    table = pa.Table.from_pylist([{"row": row, "documents": 1, "n_exact": 0, "n_duplicates": row} for row in rows], COUNTS)
    pq.write_table(table, folder / "counts.parquet", row_group_size=group)
    return Counts(name="counts.parquet", source="x", of=[Part(folder="0", rows=len(rows))])


def refused(folder, counts, said):
    assert_raises(InputDataError, f"counts.parquet: damaged: {said}", list, CountRows(folder, counts, 0, 10).below(10))


def test_rows_that_no_job_wrote_are_refused(tmp_path, monkeypatch):
    """A few bytes can stand for any number of equal rows: no group has more than are written together."""
    counts = saved(tmp_path, [1, 2, 3], 2)
    path = tmp_path / "counts.parquet"
    table = pq.read_table(path)
    values = "has values that are not in 0 to"
    for said, name, column in (
        ("its column row does not ascend", "row", [2, 1, 3]),
        (f"its column row {values} 9", "row", [1, 2, 10]),
        (f"its column n_exact {values}", "n_exact", [0, -1, 0]),
        ("its column documents has nulls", "documents", [1, None, 1]),
    ):
        field = COUNTS.field(name)
        pq.write_table(table.set_column(table.column_names.index(name), field, pa.array(column, field.type)), path)
        refused(tmp_path, counts, said)
    for damaged in (table.slice(1), table.drop_columns("n_exact")):
        pq.write_table(damaged, path)
        refused(tmp_path, counts, "it has other rows, or other columns, than were written")
    pq.write_table(table, path)
    counts.of[0].rows = 4
    refused(tmp_path, counts, "it has other rows")
    counts.of[0].rows = 3
    monkeypatch.setattr(module, "GROUP_ROWS", 2)
    refused(tmp_path, counts, "3 rows are in one group; as many as 2 are written together")


def test_what_is_no_file_is_not_read(tmp_path):
    """A reader would wait for a pipe that nobody writes to: the test has it open."""
    for number, make in enumerate((os.mkfifo, os.mkdir, lambda path: path.symlink_to("/dev/zero"))):
        folder = tmp_path / str(number)
        folder.mkdir()
        make(path := folder / "counts.parquet")
        pipe = os.open(path, os.O_RDWR | os.O_NONBLOCK) if path.is_fifo() else os.open(folder, os.O_RDONLY)
        refused(folder, Counts(name=path.name, source="x", of=[Part(folder="0", rows=3)]), ".*not a file")
        os.close(pipe)


def test_a_folder_has_one_part():
    assert_raises(
        msgspec.ValidationError,
        "several parts about one folder",
        msgspec.convert,
        {"name": "x.parquet", "source": None, "of": 2 * [{"folder": "a", "rows": 1}]},
        Counts,
    )
