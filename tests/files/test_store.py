"""Output folders on a store: nobody's files are touched, and what is complete says so last."""

import json

import pytest
from object_store import held

from lookalike.errors import OutputError
from lookalike.files.disk import SIDECAR
from lookalike.files.inputs import place_of
from lookalike.files.store import PLANNED, check_apart, check_output, new_folder, prepare, upload
from lookalike.files.urls import as_url
from lookalike.formats.sources import open_sources
from lookalike.formats.writers import describe

ROWS = "_sketches"


def write(folder, files, force=False):
    """Write a folder as a job does."""
    check_output(folder, force)
    with new_folder(folder, list(files), SIDECAR) as new:
        for name, data in files.items():
            with new.file(name) as stream:
                stream.write(data)
        describe(new, {"lookalike": "x"})


def test_a_folder_is_replaced_on_demand_alone(bucket):
    folder = bucket / "clean"
    write(folder, {"a": b"1", "sub/b": b"22"})
    assert set(held(folder)) == {"a", "sub/b", SIDECAR}
    assert json.loads(held(folder)[SIDECAR]) == {"lookalike": "x", "files": ["a", "sub/b"]}
    with pytest.raises(OutputError, match=r"clean exists; pass --force"):
        check_output(folder, force=False)
    write(folder, {"c": b"3"}, force=True)
    assert {name: data for name, data in held(folder).items() if name != SIDECAR} == {"c": b"3"}


@pytest.mark.parametrize("force", [False, True])
def test_files_of_others_stay(bucket, force):
    folder = bucket / "clean"
    write(folder, {"a": b"1"})
    (folder / "mine").write_bytes(b"precious")
    with pytest.raises(OutputError, match=r"clean contains 1 file that no earlier run wrote \(mine\)"):
        check_output(folder, force)
    (bucket / "file").write_bytes(b"precious")
    with pytest.raises(OutputError, match="means a folder, but a file of that name exists"):
        check_output(bucket / "file", force)


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
    for n_bytes, name, there in ((4, "a", "3"), (1, "b", "none")):
        with pytest.raises(OutputError, match=rf"clean/{name}: {n_bytes} bytes were written, {there} are there; write again"):  # noqa: SIM117
            with new_folder(folder, ["a", "b"], SIDECAR) as new, new.tasks():
                (folder / "a").write_bytes(b"123")
                new.take(name, name, n_bytes)
    assert SIDECAR not in held(folder) and PLANNED in held(folder)


def test_the_last_file_counts(bucket):
    """Without it the folder may be replaced without being asked, whatever list there is."""
    folder = bucket / "w0"
    with pytest.raises(KeyboardInterrupt), new_folder(folder, [f"{ROWS}/", SIDECAR], "last") as new:
        (folder / ROWS / "a").write_bytes(b"1")
        with new.file(SIDECAR) as stream:
            stream.write(b'{"files": ["last", "_sketches/"]}')
        raise KeyboardInterrupt
    assert set(held(folder)) == {PLANNED, SIDECAR, f"{ROWS}/a"}
    check_output(folder, False, "last")
    with new_folder(folder, [SIDECAR], "last") as new:
        assert set(held(folder)) == {PLANNED}
        for name in (SIDECAR, "last"):
            with new.file(name) as stream:
                stream.write(b'{"files": ["last"]}')
    assert new.files == [SIDECAR, "last"] and set(held(folder)) == {SIDECAR, "last"}
    with pytest.raises(OutputError, match="w0 exists; pass --force"):
        check_output(folder, False, "last")
    (folder / "last").unlink()
    with pytest.raises(OutputError, match="w0 exists; pass --force"):  # an output of another kind, which is whole
        check_output(folder, False, "last")


def test_a_file_is_copied_whole(bucket, tmp_path):
    data = bytes(range(256)) * 50
    for data in (b"", bytes(range(256)) * 50):
        (tmp_path / "a").write_bytes(data)
        upload(tmp_path / "a", bucket / "x/a")
        assert held(bucket) == {"x/a": data}
    with pytest.raises(OutputError, match=r"none-such/a: cannot be written: .*(NO_SUCH_BUCKET|does not exist)"):
        upload(tmp_path / "a", as_url("s3://none-such/a"))


def test_outputs_meet_no_input(bucket, tmp_path):
    for name in ("in/a.jsonl", "in/sub/b.jsonl"):
        (bucket / name).write_bytes(b"{}\n")
    places = [split.place for split in open_sources([str(bucket / "in")])]
    check_apart(bucket / "clean", places)
    check_apart(bucket / "inside", places, [str(bucket / "work")])
    for output in (bucket / "in", bucket / "in/clean"):
        with pytest.raises(OutputError, match="is inside the input folder .*/in, which the next run would read"):
            check_apart(output, places)
    one = [place_of(bucket / "in/a.jsonl", "a", "a")]
    check_apart(bucket / "in/clean", one)
    for output in (bucket / "in", bucket):
        with pytest.raises(OutputError, match="replaced as a whole, contains the input a;"):
            check_apart(output, one)
    for other in (bucket / "clean/work", bucket, bucket / "clean"):
        for name in (str(other), str(other).replace("s3://", "s3a://")):
            with pytest.raises(OutputError, match="meet; choose another name"):
                check_apart(bucket / "clean", [], [name])
    (tmp_path / "a.jsonl").write_text("{}\n")
    check_apart(bucket / "clean", [split.place for split in open_sources([str(tmp_path)])], [str(tmp_path / "work")])
