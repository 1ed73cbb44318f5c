import json
import os
import stat
from pathlib import Path

import pytest
from msgspec import Struct
from raising import assert_raises
from waiting import at_once

from lookalike.errors import InputDataError, OutputError, ParameterError
from lookalike.files import secrets, urls
from lookalike.files.descriptions import Count, check_trusted, checksum_of, encoded, places_named, read_description
from lookalike.files.workspace import Workspace


def test_a_secret_is_read_as_it_was_written_by_its_owner_alone(tmp_path):
    before = os.umask(0)
    for secret in (bytes(range(16)), secrets.new_secret()):  # one that was left behind gives way
        secrets.write_secret(tmp_path, secret)
        assert len(secret) == 16 and secrets.known_secret(tmp_path, secrets.token_of(secret)) == secret
    os.umask(before)
    assert stat.S_IMODE(Path("secret").stat().st_mode) == 0o600 and os.listdir() == ["secret"]
    job = Workspace(tmp_path, {})  # nor does one that a killed job left alone block a folder
    assert secrets.read_secret(tmp_path) == job.secret != secret
    job.close()
    assert os.listdir() == []


def test_what_is_no_secret_is_not_taken_for_one(tmp_path):
    """Whatever is in its place stays."""
    for name in ("elsewhere", "file", "folder/secret", "link"):
        Path(name).mkdir(parents=True)
    secrets.write_secret(Path("elsewhere"), bytes(16))
    Path("file/secret").write_text("of my own")
    Path("link/secret").symlink_to(tmp_path / "elsewhere/secret")
    for folder in map(Path, ("file", "folder", "link")):
        assert secrets.read_secret(folder) is None
        assert_raises(OutputError, "not the secret of a job", secrets.write_secret, folder, bytes(16))
        assert_raises(ParameterError, r"files that do not belong to a job \(secret\)", Workspace, folder, {})
    assert Path("file/secret").read_text() == "of my own" and secrets.read_secret(Path("elsewhere")) == bytes(16)


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
    found = read(Path("x.json"), mine)
    assert found.own and found.said == SAID and found.typed.rows == 3
    assert not read(Path("x.json"), encoded(SAID, own=False)).own
    held = json.loads(mine) | {"rows": 4}
    held.pop("checksum")
    assert not read(Path("x.json"), json.dumps({"checksum": checksum_of(held), **held}).encode()).own, "an old seal"
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "other"))
    assert not read(Path("x.json"), mine).own, "another user, who has sealed nothing yet"
    other = encoded(SAID)
    assert json.loads(other)["seal"] != json.loads(mine)["seal"] and read(Path("x.json"), other).own


def test_the_key_is_drawn_once_and_private(tmp_path, monkeypatch):
    """Without a home nothing is sealed."""

    def sealed(home):
        monkeypatch.setenv("XDG_STATE_HOME", str(home))
        return read(Path("x.json"), encoded(SAID)).own

    assert len(set(at_once(8, lambda _: json.loads(encoded(SAID))["seal"]))) == 1
    (key,) = Path("state/lookalike").iterdir()
    assert (key.name, key.stat().st_mode & 0o777) == ("secret", 0o600)
    key.chmod(0o644)
    assert "seal" not in json.loads(encoded(SAID)), "others could have read it"
    Path("file").touch()
    assert not sealed(tmp_path / "file")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert sealed("not/from/the/root")  # by the rules of such folders it does not count
    assert Path("home/.local/state/lookalike/secret").exists()


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
    said = r"k: you did not save it on this machine, or XDG_STATE_HOME.*trust="
    for name in names:
        if allowed:
            assert check_trusted(Path("k"), [name], trusted) == [name]
        else:
            assert_raises(InputDataError, said, check_trusted, Path("k"), [name], trusted)


def test_only_what_is_in_a_place_named_is_read(tmp_path):
    Path("in").mkdir()
    Path("secret").touch()
    Path("in/link").symlink_to(tmp_path / "secret")
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
    web, hub = "https://data.org/pages", "hf://datasets/o/n"
    for place, inside, outside in (
        (f"{web}/", [f"{web}/a.jsonl", f"{web}/b/c.jsonl?x=1"], [
            f"{web}2/a", "https://data.org/other/a", "https://data.org.evil.org/pages/a", "http://data.org/pages/a",
            "https://data.org:99/pages/a"]),
        (hub, [f"{hub}/a.parquet"], [f"{hub}@v1/a.parquet", f"{hub}2/a.parquet", "https://huggingface.co/a"]),
    ):  # fmt: skip
        trusted = places_named(place)
        trusted_is(inside, trusted, True)
        trusted_is(outside, trusted, False)
        assert_raises(ParameterError, "without '.' and '..'", check_trusted, Path("k"), [f"{web}/%2E%2e/a"], trusted)
