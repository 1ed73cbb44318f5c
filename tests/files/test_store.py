"""Output and work folders on a store: nobody's files are touched, and what is complete says so last."""

import json
from itertools import product

import pytest
from faulty_store import failing
from files.folder_files import stopped
from object_store import held
from raising import assert_raises

from lookalike.errors import OutputError
from lookalike.files.disk import SIDECAR
from lookalike.files.job import StoreWorkspace
from lookalike.files.places import place_of
from lookalike.files.store import check_apart, check_output, new_folder, prepare, upload
from lookalike.files.urls import as_url
from lookalike.formats.sources import open_sources
from lookalike.formats.writers import describe


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


def test_a_folder_is_replaced_on_demand_alone_and_files_of_others_stay(clean):
    write(clean, {"a": b"1", "sub/b": b"22"})
    assert json.loads(held(clean)[SIDECAR]) == {"lookalike": "x", "files": ["a", "sub/b"]}
    assert_raises(OutputError, r"clean exists; pass force=True", check_output, clean, force=False)
    write(clean, {"c": b"3"}, force=True)
    assert held(clean).keys() == {"c", SIDECAR} and held(clean)["c"] == b"3"
    (clean / "mine").write_bytes(b"precious")
    for force in (False, True):
        assert_raises(OutputError, r"clean contains 1 file that no earlier run wrote \(mine\)", check_output, clean, force)
        assert_raises(OutputError, "means a folder, but a file", check_output, clean / "mine", force)


def test_what_a_killed_run_left_is_replaced_without_being_asked(clean):
    """Also what is left of a folder if the run is killed while it replaces it."""
    prepare(clean, ["a", "b"])
    (clean / "a").write_bytes(b"half of it")
    write(clean, {"b": b"1", "both": b"1"})
    with stopped(1, (type(clean), "unlink")):
        prepare(clean, ["new", "both"])
    write(clean, {"new": b"2"})
    assert set(held(clean)) == {"new", SIDECAR}


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


def test_the_last_file_counts(clean):
    """Without it the folder may be replaced without being asked, whatever list there is."""
    with pytest.raises(KeyboardInterrupt), new_folder(clean, ["rows/", SIDECAR], "last") as new:
        (clean / "rows" / "a").write_bytes(b"1")
        with new.file(SIDECAR) as stream:
            stream.write(b'{"files": ["rows/"]}')
        raise KeyboardInterrupt
    check_output(clean, False, "last")
    with new_folder(clean, [SIDECAR], "last") as new:
        for name in (SIDECAR, "last"):
            with new.file(name) as stream:
                stream.write(b'{"files": ["last"]}')
    assert set(held(clean)) == {SIDECAR, "last"}
    for remove in (lambda: None, (clean / "last").unlink):  # without it, an output of another kind, which is whole
        remove()
        assert_raises(OutputError, "clean exists; pass force=True", check_output, clean, False, "last")


def test_a_file_is_copied_whole(bucket, tmp_path):
    for data in (b"", bytes(range(256)) * 50):
        (tmp_path / "a").write_bytes(data)
        upload(tmp_path / "a", bucket / "x/a")
        assert held(bucket) == {"x/a": data}
    said = "none-such/a: cannot be written: .*(NO_SUCH_BUCKET|does not exist)"
    assert_raises(OutputError, said, upload, tmp_path / "a", as_url("s3://none-such/a"))


def test_outputs_meet_no_input(bucket, clean, tmp_path):
    def refused(said, *given):
        assert_raises(OutputError, said, check_apart, *given)

    for name in ("in/a.jsonl", "in/sub/b.jsonl"):
        (bucket / name).write_bytes(b"{}\n")
    there, one = [split.place for split in open_sources([str(bucket / "in")])], [place_of(bucket / "in/a.jsonl", "a", "a")]
    check_apart(clean, there, [str(tmp_path / "work")])
    check_apart(bucket / "inside", there, [f"{bucket}work"])
    check_apart(bucket / "in/clean", one)
    for output in (bucket / "in", bucket / "in/clean"):
        refused("is inside the input folder .*/in, which the next run would read", output, there)
    for output in (bucket / "in", bucket):
        refused("but contains the input a;", output, one)
    for scheme, other in product(("s3://", "s3a://"), (clean / "work", bucket, clean)):
        refused("overlap; choose another name", clean, [], [str(other).replace("s3://", scheme)])


def test_a_store_that_refuses_is_named(clean, monkeypatch):
    def refuse(*given):
        raise OSError("AWS Error ACCESS_DENIED during PutObject")

    monkeypatch.setattr(type(clean), "write_bytes", refuse)
    assert_raises(OutputError, "clean: cannot be used as work folder: AWS Error ACCESS_DENIED", StoreWorkspace, clean, {})


def test_a_job_does_not_find_the_tables_of_another(clean):
    """Such as a second driver in the same folder has left, after the first one removed everything."""
    space, other = (StoreWorkspace(clean, {}) for _ in range(2))
    assert space.tables == other.tables
    space.close()
    (other.tables / "x.done").write_bytes(b"x")
    new = StoreWorkspace(clean, {"threshold": 0.5})
    assert new.tables != other.tables and not (new.tables / "x.done").exists()
    new.close()
    assert held(clean) == {}


def test_a_bucket_as_work_folder_stays(bucket, monkeypatch):
    removed = []
    system = bucket.filesystem

    class Recording:
        def __getattr__(self, name):
            return removed.append if name == "delete_dir" else getattr(system, name)

    monkeypatch.setattr(type(bucket), "filesystem", Recording())
    StoreWorkspace(bucket, {}).close()
    assert removed and bucket.inside not in removed
