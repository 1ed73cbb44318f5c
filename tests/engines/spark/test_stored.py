from unittest.mock import patch

import pyarrow as pa
import pytest
from raising import assert_raises

pytest.importorskip("pyspark")
from toy_frames import ToySession

from lookalike.engines.spark.engine import SparkEngine
from lookalike.engines.spark.texts import TextFiles


@pytest.fixture
def engine(tmp_path):
    return SparkEngine(ToySession(), tmp_path / "tables")


@pytest.fixture
def rows(engine):
    return engine.rows(pa.table({"order": [1, 2]}))


def test_a_table_is_written_once_and_one_that_is_begun_anew_has_other_files(engine, rows):
    """An old driver's tasks may still write theirs; what it left takes no space."""
    first = engine.write(rows, "links")
    (old,) = first.paths
    assert old.exists() and engine.write(rows, "links") == first
    (engine.folder / "links.done").unlink()
    again = engine.write(rows, "links")
    assert old not in again.paths and not old.exists()
    old.write_bytes(b"late")
    assert engine.write(rows, "links") == again


def test_what_is_read_back_is_not_stored(engine, rows):
    """It is removed once it is read."""
    assert engine.write(rows, "read-0", again=True) != engine.write(rows, "read-0", again=True)
    assert not list(engine.folder.glob("*.done"))


def test_nothing_counts_as_whole_once_removal_has_begun(engine, rows):
    engine.write(rows, "links")
    with patch("shutil.rmtree", side_effect=KeyboardInterrupt):
        assert_raises(KeyboardInterrupt, "", engine.close)
    assert not list(engine.folder.glob("*.done"))


@pytest.mark.parametrize("is_whole", [False, True])
def test_texts_that_nothing_names_are_removed(engine, rows, is_whole):
    """A driver that resumes a job needs the space."""
    files = TextFiles(engine.folder / "texts-files")
    files.path(7).parent.mkdir(parents=True)
    files.path(7).touch()
    if is_whole:
        engine.write(rows, "texts")
    engine.discard_texts(files, "texts")
    assert files.path(7).exists() == is_whole


def test_workers_find_the_folder_from_folders_of_their_own(engine, rows, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = SparkEngine(engine.session, "job/tables").write(rows, "links")
    assert files.folder == tmp_path / "job" / "tables" / "links"
