"""A work folder on a store: what it holds is resumed, refused or removed as on a disk."""

import json

import pytest
from object_store import held

from lookalike.errors import IndexFormatError, OutputError, ParameterError
from lookalike.files.folder import Store
from lookalike.files.job import StoreWorkspace

JOB = {"threshold": 0.8, "inputs": [{"name": "a"}]}


@pytest.fixture
def folder(bucket):
    return bucket / "jobs/one"


def test_a_job_is_resumed_with_its_secret(folder, caplog):
    caplog.set_level("INFO", "lookalike")
    space = StoreWorkspace(folder, JOB, resume=False)
    assert set(held(folder)) == {"job.json", "secret"} and len(space.secret) == 16
    (space.folder / "tables/x.done").write_bytes(b"x")
    with pytest.raises(ParameterError, match="jobs/one: holds an unfinished job; pass --resume"):
        StoreWorkspace(folder, JOB, resume=False)
    with pytest.raises(ParameterError, match=r"holds a job with other parameters or inputs: threshold was 0\.8, is 0\.7"):
        StoreWorkspace(folder, JOB | {"threshold": 0.7}, resume=True)
    again = StoreWorkspace(folder, JOB, resume=True)
    assert again.secret == space.secret and "tables/x.done" in held(folder)
    again.close()
    again.close()
    assert held(folder.parent.parent) == {} and caplog.messages == []
    assert StoreWorkspace(folder, JOB, resume=True).secret != space.secret
    assert caplog.messages == [f"{folder}: no job to resume; starting one"]


def test_what_belongs_to_others_is_refused(folder):
    (folder / "holiday.jpg").write_bytes(b"precious")
    with pytest.raises(ParameterError, match=r"contains files that do not belong to a job \(holiday.jpg\)"):
        StoreWorkspace(folder, JOB, resume=False)
    assert held(folder) == {"holiday.jpg": b"precious"}


@pytest.mark.parametrize("damage", [b"", b"{}", b"[1]", None])
def test_a_damaged_job_is_refused(folder, damage):
    StoreWorkspace(folder, JOB, resume=False)
    said = (folder / "job.json").read_bytes()
    (folder / "job.json").write_bytes(said.replace(b"0.8", b"0.9") if damage is None else damage)
    with pytest.raises(IndexFormatError, match=r"job.json: damaged, or of another version"):
        StoreWorkspace(folder, json.loads(json.dumps(JOB)), resume=True)


@pytest.mark.parametrize("secret", [b"", None])
def test_a_secret_that_is_gone_is_missed(folder, secret):
    StoreWorkspace(folder, JOB, resume=False)
    (folder / "secret").unlink() if secret is None else (folder / "secret").write_bytes(secret)
    with pytest.raises(IndexFormatError, match="secret: missing, damaged"):
        StoreWorkspace(folder, JOB, resume=True)


@pytest.mark.parametrize("step", range(4))
def test_a_driver_that_is_killed_while_it_removes_leaves_waste(folder, step, monkeypatch):
    """Whatever was removed before, the next job begins anew."""
    space = StoreWorkspace(folder, JOB, resume=False)
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
    StoreWorkspace(folder, JOB | {"threshold": 0.5}, resume=False)
    assert set(held(folder)) == {"job.json", "secret"}


def test_a_store_that_refuses_is_named(folder, monkeypatch):
    def refuse(*given):
        raise OSError("AWS Error ACCESS_DENIED during PutObject")

    monkeypatch.setattr(type(folder), "write_bytes", refuse)
    with pytest.raises(OutputError, match="jobs/one: cannot be used as work folder: AWS Error ACCESS_DENIED"):
        StoreWorkspace(folder, JOB, resume=False)


def test_a_job_does_not_find_the_tables_of_another(folder):
    """Such as a second driver in the same folder has left, after the first one removed everything."""
    space, other = StoreWorkspace(folder, JOB, resume=False), StoreWorkspace(folder, JOB, resume=True)
    assert space.tables == other.tables
    space.close()
    (other.tables / "x.done").write_bytes(b"x")
    new = StoreWorkspace(folder, JOB | {"threshold": 0.5}, resume=False)
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
    StoreWorkspace(bucket, JOB, resume=False).close()
    assert removed and bucket.inside not in removed
