import errno
from pathlib import Path
from unittest.mock import patch

import pyarrow as pa
import pytest
from cut_tables import cut_rows, whole
from hypothesis import given
from hypothesis import strategies as st
from raising import assert_raises

from lookalike.engines.spark.files import WRITTEN, TableFiles, rows_of, write_rows

pytest.importorskip("pyspark")

ORDERS = whole("order")


def written(folder, order):
    made = list(write_rows(cut_rows([(order,)], ORDERS), folder, ORDERS))
    assert all(batch.schema == WRITTEN for batch in made)
    return [row for batch in made for row in batch.to_pylist()]


def test_attempts_of_a_task_write_files_of_their_own(tmp_path):
    """The second does not harm what the first wrote, and one that fails tells nothing."""
    (one,), (other,) = (written(tmp_path, order) for order in range(2))
    assert one["name"] != other["name"] and TableFiles.task_of(one["name"]) == TableFiles.task_of(other["name"]) == 0
    (batch,) = rows_of(tmp_path / one["name"], ORDERS)
    assert batch["order"].to_pylist() == [0]

    def rows():
        yield pa.record_batch({"order": [1]})
        raise OSError(errno.EIO, "no")

    assert_raises(OSError, "no", next, write_rows(rows(), tmp_path, ORDERS))


def test_which_files_count_is_kept(tmp_path):
    done, half = tmp_path / "t.done", tmp_path / "half.done"
    for names in ((), ("00000000-a.parquet",), ("00000003-a.parquet", "00000010-b.parquet", "00000011-c.parquet")):
        files = TableFiles(tmp_path, names, tuple(range(len(names))), tuple(10 * i for i in range(len(names))))
        files.save(done)
        half.write_text(done.read_text()[:-1])
        assert TableFiles.load(half, tmp_path) is None and TableFiles.load(done, tmp_path) == files
        assert files.rows == sum(range(len(names))) and [path.name for path in files.paths] == list(names)
    assert TableFiles.load(tmp_path / "none.done", tmp_path) is None


@given(st.lists(st.integers(0, 90), max_size=30))
def test_tasks_share_the_files(sizes):
    """Each file is read by one task, which reads neighbours, and few bytes beyond its share."""
    with patch("lookalike.engines.spark.files.TASK_BYTES", 40):
        shares = TableFiles(Path(), tuple(map(str, sizes)), tuple(sizes), tuple(sizes)).shares()
    assert [i for begin, end in shares for i in range(begin, end)] == list(range(len(sizes)))
    assert all(begin < end and sum(sizes[begin : end - 1]) < 40 for begin, end in shares)
