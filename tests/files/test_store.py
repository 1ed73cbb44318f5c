"""Output and work folders on a store: nobody's files are touched, and what is complete says so last."""

import json

import pytest
from faulty_store import failing
from object_store import held

from lookalike.errors import IndexFormatError, OutputError, ParameterError
from lookalike.files.disk import SIDECAR
from lookalike.files.folder import Store
from lookalike.files.job import StoreWorkspace
from lookalike.files.places import place_of
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
    with pytest.raises(OutputError, match=r"clean exists; pass force=True"):
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
        with (
            pytest.raises(
                OutputError, match=rf"clean/{name}: {n_bytes} bytes were written, but {there} are there; write again"
            ),
            new_folder(folder, ["a", "b"], SIDECAR) as new,
            new.tasks(),
        ):
            (folder / "a").write_bytes(b"123")
            new.take(name, name, n_bytes)
    assert SIDECAR not in held(folder) and PLANNED in held(folder)


def test_a_listing_that_lags_loses_and_keeps_nothing(bucket):
    """What was written just now is asked for by its name."""
    write(bucket / "clean", {"a": b"1"})
    with failing(hidden=2) as faults:
        folder = as_url(str(bucket / "clean"))
        (folder / "a").write_bytes(b"22")
        with new_folder(folder, ["b"], SIDECAR) as new, new.tasks():
            assert faults.hidden == 1 and not (folder / "a").exists()
            (folder / "b").write_bytes(b"333")
            new.take("b", "b", 3)
        assert faults.hidden == 0
    assert held(bucket / "clean") == {"b": b"333"}


def test_an_upload_that_is_not_completed_is_begun_again(bucket):
    """Arrow asks again, and takes what the store said first for its answer."""
    data = bytes(range(256)) * (12 << 12)
    with failing(every=1, most=1, only="POST") as faults:
        as_url(str(bucket / "x")).write_bytes(data)
    assert faults.failed == 1
    with failing(every=1, most=1, only="?uploadId=") as faults:
        as_url(str(bucket / "y")).write_bytes(data)
    assert faults.failed == 1 and held(bucket) == {"x": data, "y": data}


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
    with pytest.raises(OutputError, match="w0 exists; pass force=True"):
        check_output(folder, False, "last")
    (folder / "last").unlink()
    with pytest.raises(OutputError, match="w0 exists; pass force=True"):  # an output of another kind, which is whole
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
        with pytest.raises(OutputError, match="replaced as a whole, but contains the input a;"):
            check_apart(output, one)
    for other in (bucket / "clean/work", bucket, bucket / "clean"):
        for name in (str(other), str(other).replace("s3://", "s3a://")):
            with pytest.raises(OutputError, match="overlap; choose another name"):
                check_apart(bucket / "clean", [], [name])
    (tmp_path / "a.jsonl").write_text("{}\n")
    check_apart(bucket / "clean", [split.place for split in open_sources([str(tmp_path)])], [str(tmp_path / "work")])


JOB = {"threshold": 0.8, "inputs": [{"name": "a"}]}


@pytest.fixture
def folder(bucket):
    return bucket / "jobs/one"


def test_a_job_is_resumed_with_its_secret(folder):
    space = StoreWorkspace(folder, JOB)
    assert set(held(folder)) == {"job.json", "secret"} and len(space.secret) == 16
    (space.folder / "tables/x.done").write_bytes(b"x")
    with pytest.raises(
        ParameterError, match=r"holds an unfinished job with other parameters or inputs: threshold was 0\.8, is 0\.7"
    ):
        StoreWorkspace(folder, JOB | {"threshold": 0.7})
    again = StoreWorkspace(folder, JOB)
    assert again.secret == space.secret and "tables/x.done" in held(folder)
    again.close()
    again.close()
    assert held(folder.parent.parent) == {}
    assert StoreWorkspace(folder, JOB).secret != space.secret


def test_what_belongs_to_others_is_refused(folder):
    (folder / "holiday.jpg").write_bytes(b"precious")
    with pytest.raises(ParameterError, match=r"contains files that do not belong to a job \(holiday.jpg\)"):
        StoreWorkspace(folder, JOB)
    assert held(folder) == {"holiday.jpg": b"precious"}


@pytest.mark.parametrize("damage", [b"", b"{}", b"[1]", None])
def test_a_damaged_job_is_refused(folder, damage):
    StoreWorkspace(folder, JOB)
    said = (folder / "job.json").read_bytes()
    (folder / "job.json").write_bytes(said.replace(b"0.8", b"0.9") if damage is None else damage)
    with pytest.raises(IndexFormatError, match=r"job.json: damaged, or of another version"):
        StoreWorkspace(folder, json.loads(json.dumps(JOB)))


@pytest.mark.parametrize("secret", [b"", None])
def test_a_secret_that_is_gone_is_missed(folder, secret):
    StoreWorkspace(folder, JOB)
    (folder / "secret").unlink() if secret is None else (folder / "secret").write_bytes(secret)
    with pytest.raises(IndexFormatError, match="secret: missing, damaged"):
        StoreWorkspace(folder, JOB)


@pytest.mark.parametrize("step", range(4))
def test_a_driver_that_is_killed_while_it_removes_leaves_waste(folder, step, monkeypatch):
    """Whatever was removed before, the next job begins anew."""
    space = StoreWorkspace(folder, JOB)
    (folder / "tables/x.done").write_bytes(b"x")
    removed, remove, unlink = [], Store.remove, type(folder).unlink

    def counted(do):
        def act(*given, **how):
            if len(removed) == step:
                raise KeyboardInterrupt
            removed.append(given)
            do(*given, **how)

        return act

    with monkeypatch.context() as patched:
        patched.setattr(Store, "remove", counted(remove))
        patched.setattr(type(folder), "unlink", counted(unlink))
        with pytest.raises(KeyboardInterrupt):
            space.close()
    assert "finished.json" in held(folder)
    StoreWorkspace(folder, JOB | {"threshold": 0.5})
    assert set(held(folder)) == {"job.json", "secret"}


def test_a_store_that_refuses_is_named(folder, monkeypatch):
    def refuse(*given):
        raise OSError("AWS Error ACCESS_DENIED during PutObject")

    monkeypatch.setattr(type(folder), "write_bytes", refuse)
    with pytest.raises(OutputError, match="jobs/one: cannot be used as work folder: AWS Error ACCESS_DENIED"):
        StoreWorkspace(folder, JOB)


def test_a_job_does_not_find_the_tables_of_another(folder):
    """Such as a second driver in the same folder has left, after the first one removed everything."""
    space, other = StoreWorkspace(folder, JOB), StoreWorkspace(folder, JOB)
    assert space.tables == other.tables
    space.close()
    (other.tables / "x.done").write_bytes(b"x")
    new = StoreWorkspace(folder, JOB | {"threshold": 0.5})
    assert new.tables != other.tables and not (new.tables / "x.done").exists()
    new.close()
    assert held(folder) == {}


def test_a_bucket_as_work_folder_stays(bucket, monkeypatch):
    removed = []
    system = bucket.filesystem

    class Recording:
        def __getattr__(self, name):
            return removed.append if name == "delete_dir" else getattr(system, name)

    monkeypatch.setattr(type(bucket), "filesystem", Recording())
    StoreWorkspace(bucket, JOB).close()
    assert removed and bucket.inside not in removed
