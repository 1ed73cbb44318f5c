"""How the engine on Spark keeps tables: what is whole is known, also if drivers die at the worst moments."""

import shutil
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlparse

import pytest

from semblance.engines.spark import SparkEngine
from semblance.engines.spark_texts import TextFiles


class _Frame:
    """A data frame that can be written."""

    def __init__(self):
        self.write, self.folders = self, []

    def parquet(self, uri):
        folder = Path(urlparse(uri).path)
        folder.mkdir()
        self.folders.append(folder)


@pytest.fixture
def engine(tmp_path):
    conf = SimpleNamespace(get=lambda name, default="2": default, set=lambda name, value: None, unset=lambda name: None)
    return SparkEngine(SimpleNamespace(conf=conf), tmp_path / "tables")


def test_a_table_is_written_once(engine):
    frame = _Frame()
    rows = SimpleNamespace(frame=frame)
    first = engine.write(rows, "links")
    assert engine.write(rows, "links") == first
    assert frame.folders == [first]


def test_a_table_that_is_begun_anew_has_a_folder_of_its_own(engine):
    """An old driver's tasks may still write into the folder that it had chosen."""
    frame = _Frame()
    rows = SimpleNamespace(frame=frame)
    first = engine.write(rows, "links")
    (engine.folder / "links.done").unlink()
    assert engine.write(rows, "links") != first
    assert engine.write(rows, "links") == frame.folders[1]
    assert not first.exists()  # what was half written takes no space


def test_what_is_read_back_is_not_stored(engine):
    """It is removed once it is read."""
    rows = SimpleNamespace(frame=_Frame())
    assert engine.write(rows, "read-0", again=True) != engine.write(rows, "read-0", again=True)
    assert not list(engine.folder.glob("*.done"))


def test_nothing_counts_as_whole_once_removal_has_begun(engine, monkeypatch):
    engine.write(SimpleNamespace(frame=_Frame()), "links")

    def die(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(shutil, "rmtree", die)
    with pytest.raises(KeyboardInterrupt):
        engine.close()
    assert not list(engine.folder.glob("*.done"))


@pytest.mark.parametrize("is_whole", [False, True])
def test_texts_that_nothing_names_are_removed(engine, is_whole):
    """A driver that resumes a job needs the space."""
    files = TextFiles(str(engine.folder / "texts-files"))
    files.path(7).parent.mkdir(parents=True)
    files.path(7).touch()
    if is_whole:
        engine.write(SimpleNamespace(frame=_Frame()), "texts")
    engine.discard_texts(files, "texts")
    assert files.path(7).exists() == is_whole
