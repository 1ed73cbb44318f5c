"""Output folders on a store: nobody's files are touched, and what is complete says so last."""

import json

import pytest
from object_store import held

from lookalike.errors import OutputError
from lookalike.files import store
from lookalike.files.disk import SIDECAR
from lookalike.files.inputs import place_of
from lookalike.files.store import PLANNED, check_apart_at, check_output_at, prepare, publish, upload
from lookalike.files.urls import as_url
from lookalike.formats.sources import open_sources


def write(folder, files, force=False):
    """Write a folder as a job does."""
    check_output_at(folder, force)
    prepare(folder, list(files))
    for name, data in files.items():
        (folder / name).write_bytes(data)
    publish(folder, {name: len(data) for name, data in files.items()}, {"lookalike": "x"})


def test_a_folder_is_replaced_on_demand_alone(bucket):
    folder = bucket / "clean"
    write(folder, {"a": b"1", "sub/b": b"22"})
    assert set(held(folder)) == {"a", "sub/b", SIDECAR}
    assert json.loads(held(folder)[SIDECAR]) == {"lookalike": "x", "files": ["a", "sub/b"]}
    with pytest.raises(OutputError, match=r"clean exists; pass --force"):
        check_output_at(folder, force=False)
    write(folder, {"c": b"3"}, force=True)
    assert {name: data for name, data in held(folder).items() if name != SIDECAR} == {"c": b"3"}


@pytest.mark.parametrize("force", [False, True])
def test_files_of_others_stay(bucket, force):
    folder = bucket / "clean"
    write(folder, {"a": b"1"})
    (folder / "mine").write_bytes(b"precious")
    with pytest.raises(OutputError, match=r"clean contains 1 file that no earlier run wrote \(mine\)"):
        check_output_at(folder, force)
    (bucket / "file").write_bytes(b"precious")
    with pytest.raises(OutputError, match="means a folder, but a file of that name exists"):
        check_output_at(bucket / "file", force)


def test_what_a_killed_run_left_is_replaced_without_being_asked(bucket):
    folder = bucket / "clean"
    prepare(folder, ["a", "b"])
    (folder / "a").write_bytes(b"half of it")
    assert SIDECAR not in held(folder)
    write(folder, {"b": b"1"})
    assert set(held(folder)) == {"b", SIDECAR}


def test_a_run_that_is_killed_while_it_replaces_leaves_what_can_be_replaced(bucket, monkeypatch):
    folder = bucket / "clean"
    write(folder, {"old": b"1", "both": b"1"})
    removed = []

    def counted(url, missing_ok=False):
        removed.append(url)
        if len(removed) == 2:
            raise KeyboardInterrupt
        url.filesystem.delete_file(url.inside)

    with monkeypatch.context() as patched:
        patched.setattr(type(folder), "unlink", counted)
        with pytest.raises(KeyboardInterrupt):
            prepare(folder, ["new", "both"])
    write(folder, {"new": b"2"})
    assert set(held(folder)) == {"new", SIDECAR}


def test_files_that_are_not_as_they_were_written_are_noticed(bucket):
    folder = bucket / "clean"
    prepare(folder, ["a", "b"])
    (folder / "a").write_bytes(b"123")
    with pytest.raises(OutputError, match=r"clean/a: 4 bytes were written, 3 are there; write again"):
        publish(folder, {"a": 4}, {})
    with pytest.raises(OutputError, match=r"clean/b: 1 bytes were written, none are there"):
        publish(folder, {"a": 3, "b": 1}, {})
    assert SIDECAR not in held(folder) and PLANNED in held(folder)


def test_a_file_is_copied_whole(bucket, tmp_path, monkeypatch):
    monkeypatch.setattr("lookalike.files.store._BLOCK", 1000)
    data = bytes(range(256)) * 50
    (tmp_path / "a").write_bytes(data)
    upload(tmp_path / "a", bucket / "x/a")
    assert held(bucket) == {"x/a": data}
    with pytest.raises(OutputError, match=r"none-such/a: cannot be written: .*(NO_SUCH_BUCKET|does not exist)"):
        upload(tmp_path / "a", as_url("s3://none-such/a"))


def test_an_upload_that_is_cut_off_leaves_the_file_of_another_attempt(bucket, tmp_path, monkeypatch):
    """A late attempt of a task may be stopped after the folder was said to be complete."""
    monkeypatch.setattr("lookalike.files.store._BLOCK", 1000)
    (tmp_path / "a").write_bytes(bytes(3000))
    upload(tmp_path / "a", bucket / "a")
    monkeypatch.setattr(store, "open", lambda *given: Stopped(open(*given)), raising=False)
    with pytest.raises(KeyboardInterrupt):
        upload(tmp_path / "a", bucket / "a")
    assert len((bucket / "a").read_bytes()) == 3000


class Stopped:
    """A file of which the second block is not read."""

    def __init__(self, file):
        self.file, self.n_read = file, 0

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.file.close()

    def read(self, n_bytes):
        self.n_read += 1
        if self.n_read == 2:
            raise KeyboardInterrupt
        return self.file.read(n_bytes)


def test_outputs_meet_no_input(bucket, tmp_path):
    for name in ("in/a.jsonl", "in/sub/b.jsonl"):
        (bucket / name).write_bytes(b"{}\n")
    places = [split.place for split in open_sources([str(bucket / "in")])]
    check_apart_at(bucket / "clean", places)
    check_apart_at(bucket / "inside", places, [str(bucket / "work")])
    for output in (bucket / "in", bucket / "in/clean"):
        with pytest.raises(OutputError, match="is inside the input folder .*/in, which the next run would read"):
            check_apart_at(output, places)
    one = [place_of(bucket / "in/a.jsonl", "a", "a")]
    check_apart_at(bucket / "in/clean", one)
    for output in (bucket / "in", bucket):
        with pytest.raises(OutputError, match="replaced as a whole, contains the input a;"):
            check_apart_at(output, one)
    for other in (bucket / "clean/work", bucket, bucket / "clean"):
        for name in (str(other), str(other).replace("s3://", "s3a://")):
            with pytest.raises(OutputError, match="meet; choose another name"):
                check_apart_at(bucket / "clean", [], [name])
    (tmp_path / "a.jsonl").write_text("{}\n")
    check_apart_at(bucket / "clean", [split.place for split in open_sources([str(tmp_path)])], [str(tmp_path / "work")])
