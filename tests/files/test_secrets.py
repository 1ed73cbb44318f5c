"""Secrets in files: whole, and for their owner alone."""

import os
import stat

import pytest

import lookalike as la
from lookalike.files import secrets
from lookalike.files.workspace import Workspace


def test_a_secret_is_read_as_it_was_written_by_its_owner_alone(tmp_path):
    before = os.umask(0)
    try:
        secret = secrets.new_secret()
        secrets.write_secret(tmp_path, secret)
    finally:
        os.umask(before)
    assert len(secret) == 16 and secrets.known_secret(tmp_path, secrets.token_of(secret)) == secret
    assert stat.S_IMODE((tmp_path / "secret").stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["secret"]
    secrets.write_secret(tmp_path, other := secrets.new_secret())  # one that was left behind gives way
    assert secrets.known_secret(tmp_path, secrets.token_of(other)) == other != secret


@pytest.mark.parametrize("damage", [lambda held: held[:-1], lambda held: held[:20] + b"?" + held[21:], lambda held: held + b"?",
                                    lambda held: b"", lambda held: b"lookalike secret"])  # fmt: skip
def test_what_is_no_secret_is_not_taken_for_one(tmp_path, damage):
    secrets.write_secret(tmp_path, bytes(range(16)))
    held = damage((tmp_path / "secret").read_bytes())
    (tmp_path / "secret").write_bytes(held)
    assert secrets.read_secret(tmp_path) is None
    with pytest.raises(
        la.IndexFormatError, match=r"secret: missing, damaged, not readable, or that of another job.*start again"
    ):
        secrets.known_secret(tmp_path, secrets.token_of(bytes(range(16))))
    with pytest.raises(la.OutputError, match="a file of this name is there"):
        secrets.write_secret(tmp_path, bytes(16))
    assert (tmp_path / "secret").read_bytes() == held and os.listdir(tmp_path) == ["secret"]


def test_folders_links_and_nothing_are_no_secrets(tmp_path):
    assert secrets.read_secret(tmp_path) is None
    (tmp_path / "secret").mkdir()
    assert secrets.read_secret(tmp_path) is None
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.mkdir()
    secrets.write_secret(real, bytes(range(16)))
    (link / "secret").symlink_to(real / "secret")
    assert secrets.read_secret(link) is None


def test_a_job_keeps_its_secret_while_it_can_be_resumed(tmp_path):
    folder = tmp_path / "work"
    first = Workspace(folder, {"a": 1})
    secret = first.secret
    assert secrets.read_secret(folder) == secret and secret.hex() not in (folder / "job.json").read_text()
    first._unlock()
    again = Workspace(folder, {"a": 1}, resume=True)
    assert again.secret == secret
    again.close()
    assert os.listdir(folder) == []
    assert Workspace(folder, {"a": 1}).secret != secret != Workspace().secret


def test_a_secret_that_a_killed_job_left_alone_does_not_block_a_folder(tmp_path):
    secrets.write_secret(tmp_path, bytes(range(16)))
    job = Workspace(tmp_path, {})
    assert job.secret != bytes(range(16)) and secrets.read_secret(tmp_path) == job.secret
    job.close()
    assert os.listdir(tmp_path) == []


def test_somebody_elses_file_of_that_name_stays(tmp_path):
    (tmp_path / "secret").write_text("of my own")
    with pytest.raises(la.ParameterError, match=r"files that do not belong to a job \(secret\)"):
        Workspace(tmp_path, {})
    assert (tmp_path / "secret").read_text() == "of my own"
