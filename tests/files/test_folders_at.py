"""Folders on a store whose last file says that they are whole: see also the tests of saved sketches."""

import pytest
from object_store import held

import lookalike as la
from lookalike.files.disk import SIDECAR
from lookalike.files.store import PLANNED, NewFolderAt, check_output_at, folder_at

ROWS = "_sketches"


def test_files_that_are_not_as_they_were_written(bucket):
    folder = NewFolderAt(bucket / "w0")
    (bucket / "w0/_sketches/a").write_bytes(b"123")
    (bucket / "w0/_sketches/b").write_bytes(b"of an attempt that does not count")
    with pytest.raises(la.OutputError, match=r"w0/_sketches/a: 4 bytes were written, and are not there; write again"):
        folder.take(ROWS, {"_sketches/a": 4})
    assert set(held(bucket)) == {"w0/_sketches/a"}
    folder.take(ROWS, {"_sketches/a": 3})
    assert folder.files == ["_sketches/a", "_sketches/"]


def test_the_last_file_counts(bucket):
    """Without it the folder may be replaced without being asked, whatever list there is."""
    folder = bucket / "w0"
    with pytest.raises(KeyboardInterrupt), folder_at(folder, [f"{ROWS}/", SIDECAR], "last") as new:
        (folder / ROWS / "a").write_bytes(b"1")
        with new.file(SIDECAR) as stream:
            stream.write(b'{"files": ["last", "_sketches/"]}')
        raise KeyboardInterrupt
    assert set(held(folder)) == {PLANNED, SIDECAR, f"{ROWS}/a"}
    check_output_at(folder, False, "last")
    with folder_at(folder, [SIDECAR], "last") as new:
        assert set(held(folder)) == {PLANNED}
        for name in (SIDECAR, "last"):
            with new.file(name) as stream:
                stream.write(b'{"files": ["last"]}')
    assert new.files == [SIDECAR, "last"] and set(held(folder)) == {SIDECAR, "last"}
    with pytest.raises(la.OutputError, match="w0 exists; pass --force"):
        check_output_at(folder, False, "last")
    (folder / "last").unlink()
    with pytest.raises(la.OutputError, match="w0 exists; pass --force"):  # an output of another kind, which is whole
        check_output_at(folder, False, "last")
