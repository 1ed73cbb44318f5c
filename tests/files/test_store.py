"""Output and work folders on a store: nobody's files are touched, and what is complete says so last."""

import json

import pytest
from faulty_store import failing
from object_store import held
from raising import assert_raises

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
    check_output(folder, force)
    with new_folder(folder, list(files), SIDECAR) as new:
        for name, data in files.items():
            with new.file(name) as stream:
                stream.write(data)
        describe(new, {"lookalike": "x"})


@pytest.fixture
def clean(bucket):
    return bucket / "clean"


def test_a_folder_is_replaced_on_demand_alone_and_files_of_others_stay(bucket, clean):
    write(clean, {"a": b"1", "sub/b": b"22"})
    assert set(held(clean)) == {"a", "sub/b", SIDECAR}
    assert json.loads(held(clean)[SIDECAR]) == {"lookalike": "x", "files": ["a", "sub/b"]}
    assert_raises(OutputError, r"clean exists; pass force=True", check_output, clean, force=False)
    write(clean, {"c": b"3"}, force=True)
    assert held(clean).keys() == {"c", SIDECAR} and held(clean)["c"] == b"3"
    for url in (clean / "mine", bucket / "file"):
        url.write_bytes(b"precious")
    for force in (False, True):
        for url, said in (
            (clean, r"clean contains 1 file that no earlier run wrote \(mine\)"),
            (bucket / "file", "means a folder, but a file"),
        ):
            assert_raises(OutputError, said, check_output, url, force)


def test_what_a_killed_run_left_is_replaced_without_being_asked(clean, monkeypatch):
    """Also what is left of a folder if the run is killed while it replaces it."""
    prepare(clean, ["a", "b"])
    (clean / "a").write_bytes(b"half of it")
    assert SIDECAR not in held(clean)
    write(clean, {"b": b"1", "both": b"1"})
    removed = iter("1")

    def counted(url, missing_ok=False):
        if next(removed, None) is None:
            raise KeyboardInterrupt
        url.filesystem.delete_file(url.inside)

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(type(clean), "unlink", counted)
        prepare(clean, ["new", "both"])
    write(clean, {"new": b"2"})
    assert set(held(clean)) == {"new", SIDECAR}


def test_files_that_are_not_as_they_were_written_are_noticed(clean):
    for n_bytes, name, there in ((4, "a", "3"), (1, "b", "none")):
        said = rf"clean/{name}: {n_bytes} bytes were written, but {there} are there; write again"
        with pytest.raises(OutputError, match=said), new_folder(clean, ["a", "b"], SIDECAR) as new, new.tasks():
            (clean / "a").write_bytes(b"123")
            new.take(name, name, n_bytes)
    assert SIDECAR not in held(clean) and PLANNED in held(clean)


def test_a_listing_that_lags_loses_and_keeps_nothing(clean):
    """What was written just now is asked for by its name."""
    write(clean, {"a": b"1"})
    with failing(hidden=2) as faults:
        folder = as_url(str(clean))
        (folder / "a").write_bytes(b"22")
        with new_folder(folder, ["b"], SIDECAR) as new, new.tasks():
            assert faults.hidden == 1 and not (folder / "a").exists()
            (folder / "b").write_bytes(b"333")
            new.take("b", "b", 3)
        assert faults.hidden == 0
    assert held(clean) == {"b": b"333"}


def test_an_upload_that_is_not_completed_is_begun_again(bucket):
    """Arrow asks again, and takes what the store said first for its answer."""
    data = bytes(range(256)) * (12 << 12)
    for name, only in (("x", "POST"), ("y", "?uploadId=")):
        with failing(every=1, most=1, only=only) as faults:
            as_url(str(bucket / name)).write_bytes(data)
        assert faults.failed == 1 and held(bucket)[name] == data


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
    for remove in (lambda: None, (folder / "last").unlink):  # without it, an output of another kind, which is whole
        remove()
        assert_raises(OutputError, "w0 exists; pass force=True", check_output, folder, False, "last")


def test_a_file_is_copied_whole(bucket, tmp_path):
    for data in (b"", bytes(range(256)) * 50):
        (tmp_path / "a").write_bytes(data)
        upload(tmp_path / "a", bucket / "x/a")
        assert held(bucket) == {"x/a": data}
    assert_raises(
        OutputError,
        r"none-such/a: cannot be written: .*(NO_SUCH_BUCKET|does not exist)",
        upload,
        tmp_path / "a",
        as_url("s3://none-such/a"),
    )


def test_outputs_meet_no_input(bucket, clean, tmp_path):
    for name in ("in/a.jsonl", "in/sub/b.jsonl"):
        (bucket / name).write_bytes(b"{}\n")
    (tmp_path / "a.jsonl").write_text("{}\n")
    here, there = ([split.place for split in open_sources([str(folder)])] for folder in (tmp_path, bucket / "in"))
    one = [place_of(bucket / "in/a.jsonl", "a", "a")]
    overlap = "overlap; choose another name"
    for output, places, *works in (
        (clean, there),
        (bucket / "inside", there, [f"{bucket}work"]),
        (bucket / "in/clean", one),
        (clean, here, [str(tmp_path / "work")]),
    ):
        check_apart(output, places, *works)
    inside = "is inside the input folder .*/in, which the next run would read"
    contains = "replaced as a whole, but contains the input a;"
    for said, output, places, *works in (
        (inside, bucket / "in", there),
        (inside, bucket / "in/clean", there),
        (contains, bucket / "in", one),
        (contains, bucket, one),
        *((overlap, clean, [], [str(other)]) for other in (clean / "work", bucket, clean)),
        *((overlap, clean, [], [str(other).replace("s3://", "s3a://")]) for other in (clean / "work", bucket, clean)),
    ):
        assert_raises(OutputError, said, check_apart, output, places, *works)


JOB = {"threshold": 0.8, "inputs": [{"name": "a"}]}


@pytest.fixture
def folder(bucket):
    return bucket / "jobs/one"


def test_a_job_is_resumed_with_its_secret(folder):
    space = StoreWorkspace(folder, JOB)
    assert set(held(folder)) == {"job.json", "secret"} and len(space.secret) == 16
    (space.folder / "tables/x.done").write_bytes(b"x")
    said = r"holds an unfinished job with other parameters or inputs: threshold was 0\.8, is 0\.7"
    assert_raises(ParameterError, said, StoreWorkspace, folder, JOB | {"threshold": 0.7})
    again = StoreWorkspace(folder, JOB)
    assert again.secret == space.secret and "tables/x.done" in held(folder)
    again.close()
    again.close()
    assert held(folder.parent.parent) == {} and StoreWorkspace(folder, JOB).secret != space.secret


def test_what_belongs_to_others_is_refused(folder):
    (folder / "holiday.jpg").write_bytes(b"precious")
    assert_raises(ParameterError, r"contains files that do not belong to a job \(holiday.jpg\)", StoreWorkspace, folder, JOB)
    assert held(folder) == {"holiday.jpg": b"precious"}


def test_a_damaged_job_is_refused(folder):
    StoreWorkspace(folder, JOB)
    job = folder / "job.json"
    secret = folder / "secret"
    whole = job.read_bytes()
    for data in (b"", b"{}", b"[1]", whole.replace(b"0.8", b"0.9")):
        job.write_bytes(data)
        assert_raises(IndexFormatError, r"job.json: damaged, or of another version", StoreWorkspace, folder, JOB)
    job.write_bytes(whole)
    for damage in (lambda: secret.write_bytes(b""), secret.unlink):
        damage()
        assert_raises(IndexFormatError, "secret: missing, damaged", StoreWorkspace, folder, JOB)


@pytest.mark.parametrize("step", range(4))
def test_a_driver_that_is_killed_while_it_removes_leaves_waste(folder, step, monkeypatch):
    """Whatever was removed before, the next job begins anew."""
    space = StoreWorkspace(folder, JOB)
    left = iter(range(step))
    (folder / "tables/x.done").write_bytes(b"x")

    def counted(do):
        def act(*given, **how):
            if next(left, None) is None:
                raise KeyboardInterrupt
            do(*given, **how)

        return act

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        for kind, name in ((Store, "remove"), (type(folder), "unlink")):
            patched.setattr(kind, name, counted(getattr(kind, name)))
        space.close()
    assert "finished.json" in held(folder)
    StoreWorkspace(folder, JOB | {"threshold": 0.5})
    assert set(held(folder)) == {"job.json", "secret"}


def test_a_store_that_refuses_is_named(folder, monkeypatch):
    def refuse(*given):
        raise OSError("AWS Error ACCESS_DENIED during PutObject")

    monkeypatch.setattr(type(folder), "write_bytes", refuse)
    assert_raises(OutputError, "jobs/one: cannot be used as work folder: AWS Error ACCESS_DENIED", StoreWorkspace, folder, JOB)


def test_a_job_does_not_find_the_tables_of_another(folder):
    """Such as a second driver in the same folder has left, after the first one removed everything."""
    space = StoreWorkspace(folder, JOB)
    other = StoreWorkspace(folder, JOB)
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
