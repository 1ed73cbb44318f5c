"""What is done with files is the same on a disk and on a store."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lookalike.errors import ParameterError
from lookalike.files.folder import files_in, new_file, new_folder, parquet_file, path_of, put, remove_tree


@pytest.fixture(params=["disk", "store"])
def root(request, tmp_path):
    """An empty folder."""
    return tmp_path / "root" if request.param == "disk" else request.getfixturevalue("bucket") / "root"


def names(root):
    return sorted(path.name for path in files_in(root, ""))


def test_files_are_written_and_removed(root):
    assert names(root) == []
    new_folder(root)
    put(root / "a.done", b"12")
    put(root / "a.done", b"345")
    with new_file(root / "sub/b.gz") as stream:
        stream.write(b"plain")
    assert (root / "a.done").read_bytes() == b"345" and (root / "sub/b.gz").read_bytes() == b"plain"
    assert [path.name for path in files_in(root, ".done")] == ["a.done"]
    remove_tree(root)
    remove_tree(root)
    assert names(root) == [] and not (root / "sub/b.gz").exists()


def test_parquet_is_read_by_row_groups(root):
    table = pa.table({"n": range(100), "text": [f"text {i}" * 9 for i in range(100)]})
    with new_file(root / "t.parquet") as stream:
        pq.write_table(table, stream, row_group_size=30)
    with parquet_file(root / "t.parquet") as file:
        assert file.num_row_groups == 4
        assert pa.concat_tables(file.read_row_group(i, ["text"]) for i in range(4)).equals(table.select(["text"]))


def test_a_new_folder_is_empty_on_a_disk_alone(root, tmp_path):
    """On a store another driver may be writing there."""
    put(root / "old", b"")
    new_folder(root)
    assert names(root) == ([] if root.parent == tmp_path else ["old"])


def test_an_error_reaches_the_caller(root):
    with pytest.raises(ZeroDivisionError), new_file(root / "x") as stream:
        stream.write(b"half")
        raise ZeroDivisionError


def test_paths_are_from_the_root(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert path_of("a/b") == tmp_path / "a/b" and path_of(tmp_path) == tmp_path
    with pytest.raises(ParameterError, match="no store is known for ftp://"):
        path_of("ftp://x/y")
