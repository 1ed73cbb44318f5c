"""How the engine on Spark keeps tables: what is whole is known, also if drivers die at the worst moments."""

import shutil
from types import SimpleNamespace

import pyarrow as pa
import pytest

from lookalike.engines.spark.engine import SparkEngine
from lookalike.engines.spark.texts import TextFiles


class _Rows:
    """Rows that one task writes, in this process."""

    schema = pa.schema([("order", pa.int64())])

    def mapped(self, step, _):
        """Return what gives, when it is asked for them, the rows that a step makes of these."""
        batch = pa.RecordBatch.from_pydict({"order": [1, 2]}, self.schema)

        def collect():
            return [SimpleNamespace(**row) for made in step(iter([batch])) for row in made.to_pylist()]

        return SimpleNamespace(frame=SimpleNamespace(collect=collect))


@pytest.fixture
def engine(tmp_path):
    conf = SimpleNamespace(get=lambda name, default="2": default, set=lambda name, value: None, unset=lambda name: None)
    return SparkEngine(SimpleNamespace(conf=conf), tmp_path / "tables")


def test_a_table_is_written_once(engine):
    first = engine.write(_Rows(), "links")
    assert engine.write(_Rows(), "links") == first
    assert first.paths[0].exists()


def test_a_table_that_is_begun_anew_has_other_files(engine):
    """An old driver's tasks may still write theirs; what it left takes no space."""
    (old,) = engine.write(_Rows(), "links").paths
    (engine.folder / "links.done").unlink()
    again = engine.write(_Rows(), "links")
    assert old not in again.paths and not old.exists()
    old.write_bytes(b"late")
    assert engine.write(_Rows(), "links") == again


def test_what_is_read_back_is_not_stored(engine):
    """It is removed once it is read."""
    assert engine.write(_Rows(), "read-0", again=True) != engine.write(_Rows(), "read-0", again=True)
    assert not list(engine.folder.glob("*.done"))


def test_nothing_counts_as_whole_once_removal_has_begun(engine, monkeypatch):
    engine.write(_Rows(), "links")

    def die(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(shutil, "rmtree", die)
    with pytest.raises(KeyboardInterrupt):
        engine.close()
    assert not list(engine.folder.glob("*.done"))


@pytest.mark.parametrize("is_whole", [False, True])
def test_texts_that_nothing_names_are_removed(engine, is_whole):
    """A driver that resumes a job needs the space."""
    files = TextFiles(engine.folder / "texts-files")
    files.path(7).parent.mkdir(parents=True)
    files.path(7).touch()
    if is_whole:
        engine.write(_Rows(), "texts")
    engine.discard_texts(files, "texts")
    assert files.path(7).exists() == is_whole


def test_workers_find_the_folder_from_folders_of_their_own(engine, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = SparkEngine(engine.session, "job/tables").write(_Rows(), "links")
    assert files.folder == tmp_path / "job" / "tables" / "links"
