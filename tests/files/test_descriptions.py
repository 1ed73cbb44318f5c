"""Secrets and descriptions of saved folders."""

import json
import os
import stat
from pathlib import Path

import pytest
from msgspec import Struct
from raising import assert_raises
from waiting import at_once

from lookalike.errors import IndexFormatError, InputDataError, OutputError, ParameterError
from lookalike.files import secrets, urls
from lookalike.files.descriptions import Count, check_trusted, checksum_of, encoded, places_named, read_description
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
    assert os.listdir() == ["secret"]
    secrets.write_secret(tmp_path, other := secrets.new_secret())  # one that was left behind gives way
    assert secrets.known_secret(tmp_path, secrets.token_of(other)) == other != secret


def test_what_is_no_secret_is_not_taken_for_one(tmp_path):
    path = tmp_path / "secret"
    secret = bytes(range(16))
    assert secrets.read_secret(tmp_path) is None
    secrets.write_secret(tmp_path, secret)
    whole = path.read_bytes()
    for held in (whole[:-1], whole[:20] + b"?" + whole[21:], whole + b"?", b"", b"lookalike secret"):
        path.write_bytes(held)
        assert secrets.read_secret(tmp_path) is None
        assert_raises(
            IndexFormatError,
            r"secret: missing, damaged, unreadable, or of another job.*start again",
            secrets.known_secret,
            tmp_path,
            secrets.token_of(secret),
        )
        assert_raises(OutputError, "not the secret of a job", secrets.write_secret, tmp_path, bytes(16))
        assert path.read_bytes() == held and os.listdir() == ["secret"]
    path.write_bytes(whole)

    for name in ("folder", "link"):
        (tmp_path / name).mkdir()
    (tmp_path / "folder/secret").mkdir()
    (tmp_path / "link/secret").symlink_to(path)
    assert secrets.read_secret(tmp_path / "folder") is secrets.read_secret(tmp_path / "link") is None
    assert secrets.read_secret(tmp_path) == secret


def test_a_job_keeps_its_secret_while_it_can_be_resumed(tmp_path):
    folder = tmp_path / "work"
    first = Workspace(folder, {"a": 1})
    secret = first.secret
    assert secrets.read_secret(folder) == secret and secret.hex() not in (folder / "job.json").read_text()
    first._unlock()
    again = Workspace(folder, {"a": 1})
    assert again.secret == secret
    again.close()
    assert os.listdir(folder) == []
    assert Workspace(folder, {"a": 1}).secret != secret != Workspace().secret


def test_a_secret_that_a_killed_job_left_alone_does_not_block_a_folder(tmp_path):
    """Somebody else's file of that name stays."""
    secrets.write_secret(tmp_path, bytes(range(16)))
    job = Workspace(tmp_path, {})
    assert job.secret != bytes(range(16)) and secrets.read_secret(tmp_path) == job.secret
    job.close()
    assert os.listdir() == []
    (tmp_path / "secret").write_text("of my own")
    assert_raises(ParameterError, r"files that do not belong to a job \(secret\)", Workspace, tmp_path, {})
    assert (tmp_path / "secret").read_text() == "of my own"


class Kind(Struct):
    rows: Count


SAID = {"lookalike": "1", "format": 1, "rows": 3}


@pytest.fixture(autouse=True)
def _home(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def read(path, data):
    path.write_bytes(data)
    return read_description(path, Kind, 1, "tests")


def test_its_user_alone_seals_a_description(tmp_path, monkeypatch):
    mine = encoded(SAID)
    found = read(tmp_path / "x.json", mine)
    assert found.own and found.said == SAID and found.typed.rows == 3
    assert not read(tmp_path / "x.json", encoded(SAID, own=False)).own
    held = json.loads(mine) | {"rows": 4}
    held.pop("checksum")
    assert not read(tmp_path / "x.json", json.dumps({"checksum": checksum_of(held), **held}).encode()).own, "an old seal"
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "other"))
    assert not read(tmp_path / "x.json", mine).own, "another user, who has sealed nothing yet"
    other = encoded(SAID)
    assert json.loads(other)["seal"] != json.loads(mine)["seal"] and read(tmp_path / "x.json", other).own


def test_the_key_is_drawn_once_and_private(tmp_path, monkeypatch):
    """Without a home nothing is sealed."""
    seals = at_once(8, lambda _: json.loads(encoded(SAID))["seal"])
    assert len(seals) == 8 and len(set(seals)) == 1
    folder = tmp_path / "state/lookalike"
    assert [(path.name, path.stat().st_mode & 0o777) for path in folder.iterdir()] == [("secret", 0o600)]
    (folder / "secret").chmod(0o644)
    assert "seal" not in json.loads(encoded(SAID)), "others could have read it"
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    assert not read(tmp_path / "x.json", encoded(SAID)).own
    monkeypatch.setenv("XDG_STATE_HOME", "not/from/the/root")  # by the rules of such folders it does not count
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert read(tmp_path / "x.json", encoded(SAID)).own and (tmp_path / "home/.local/state/lookalike/secret").exists()


def test_what_is_no_description(tmp_path):
    """Also values of other types, though the checksum fits, and a pipe, which is not waited for."""
    path = tmp_path / "x.json"
    for data in (b"", b"[]", b"{}", b"[" * 10**5, b'{"checksum": "x", "format": 1, "lookalike": 1}', b"\xff"):
        assert_raises(InputDataError, "damaged", read, path, data)
    for rows in (None, "3", 1.5, True, [], -1, 1 << 70):
        assert_raises(InputDataError, r"x\.json: damaged: Expected `int`", read, path, encoded(SAID | {"rows": rows}))
    path.unlink()
    os.mkfifo(path)
    assert_raises(InputDataError, "not a file", read_description, path, Kind, 1, "tests")


def trusted_is(names, trusted, allowed):
    """Check whether files may be read; where they may not, the error says what to do."""
    if allowed:
        assert check_trusted(Path("k"), names, trusted) == names
        return
    for name in names:
        assert_raises(
            InputDataError,
            r"k: you did not save it on this machine, or XDG_STATE_HOME.*trust=",
            check_trusted,
            Path("k"),
            [name],
            trusted,
        )


def test_only_what_is_in_a_place_named_is_read(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "secret").touch()
    (tmp_path / "in/link").symlink_to(tmp_path / "secret")
    inside, link, beside = (str(tmp_path / name) for name in ("in/a.txt", "in/link", "in2/a.txt"))
    trusted = places_named(tmp_path / "in")
    assert check_trusted(Path("k"), [beside, inside], trusted) == [inside]
    trusted_is([link, beside], None, True)  # all of one's own
    trusted_is([link, beside, f"{tmp_path}/in/../secret", f"{tmp_path}/in/\0", "s3://b/x"], trusted, False)
    trusted_is([inside], places_named([tmp_path / "other", inside]), True)  # a file is a place
    for given in ("", ["in", ""]):
        assert_raises(ParameterError, r"got an empty path: name '\.'", places_named, given)


def test_no_disk_and_no_store_is_asked_about_what_nobody_named(tmp_path, monkeypatch):
    asked = []
    real = os.path.realpath
    monkeypatch.setattr(os.path, "realpath", lambda path, **how: asked.append(os.fspath(path)) or real(path, **how))
    trusted_is(["/net/attacker/x", f"{tmp_path}/../x"], places_named(tmp_path), False)
    assert set(asked) == {str(tmp_path)}
    trusted = places_named([urls.Url("s3://lake", "pages")])
    monkeypatch.setattr(urls, "options_of", lambda scheme, store: pytest.fail(f"{store} was asked"))
    trusted_is(["s3a://lake/pages/1.jsonl"], trusted, True)
    others = ("s3://attacker/x", "s3://lake/pages2/x", "s3://lake/pages/../x", "s3://lakes/pages/x", "gs://lake/pages/x")
    trusted_is(others, trusted, False)


def test_places_on_the_web():
    for place, inside, outside in (
        ("https://data.org/pages/", ["https://data.org/pages/a.jsonl", "https://data.org/pages/b/c.jsonl?x=1"],
         ["https://data.org/other/a", "https://data.org.evil.org/pages/a", "http://data.org/pages/a", "https://data.org/pages2/a",
          "https://data.org:99/pages/a"]),
        ("hf://datasets/o/n", ["hf://datasets/o/n/a.parquet"],
         ["hf://datasets/o/n@v1/a.parquet", "hf://datasets/o/n2/a.parquet", "https://huggingface.co/a"]),
    ):  # fmt: skip
        trusted = places_named(place)
        trusted_is(inside, trusted, True)
        trusted_is(outside, trusted, False)
        assert_raises(
            ParameterError, "without '.' and '..'", check_trusted, Path("k"), ["https://data.org/pages/%2E%2e/a"], trusted
        )
