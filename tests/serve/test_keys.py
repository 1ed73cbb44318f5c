import os
from hashlib import sha256

import pytest
from raising import assert_raises

from lookalike.errors import ParameterError
from lookalike.serve.guard import read_keys

READER, WRITER = "reader-reader-reader", "writer~writer!writer"
READING = f'read = ["{READER}", "another-key-of-16"]\n'


def written(tmp_path, text, mode=0o600):
    path = tmp_path / "keys.toml"
    path.write_bytes(text.encode("latin-1"))
    path.chmod(mode)
    return path


def test_keys_in_full_and_hashed(tmp_path):
    hashed = sha256(WRITER.encode()).hexdigest()
    keys = read_keys(written(tmp_path, f'{READING}write = ["sha256:{hashed}"]\n'))
    for key, may in (
        (READER, {"read"}),
        ("another-key-of-16", {"read"}),
        (WRITER, {"read", "write"}),
        (f"sha256:{hashed}", set()),
    ):
        assert keys.may(f"Bearer {key}".encode()) == may
    assert keys.may(hashed.encode()) == keys.may(b"") == frozenset() and READER not in repr(keys)


def test_every_key_is_compared(tmp_path, monkeypatch):
    compared = []
    keys = read_keys(written(tmp_path, f'{READING}write = ["{WRITER}"]\n'))
    monkeypatch.setattr("lookalike.serve.guard.hmac.compare_digest", lambda a, b: compared.append(len(b)) or a == b)
    for n, key in enumerate((READER, WRITER, "unknown"), 1):
        keys.may(f"Bearer {key}".encode())
        assert compared == [32] * 3 * n


REFUSED = {
    "": "no keys",
    "read = []": "no keys",
    'read = ["short"]': "key 0 of read",
    "read = [": "not TOML",
    'read = ["\xff"]': "not TOML",
    'write = ["long-enough-long-enough", 5]': "key 1 of write",
    'write = ["with a space in it it is"]': "key 0 of write",
    'write = ["sha256:0123456789abcdef"]': "key 0 of write",
    'write = "long-enough-long-enough"': "write must be a list",
    'admin = ["long-enough-long-enough"]': "unknown entry 'admin'",
}


def test_files_that_are_refused(tmp_path):
    for text, said in REFUSED.items():
        with pytest.raises(ParameterError, match=said) as error:
            read_keys(written(tmp_path, text))
        assert "long-enough" not in str(error.value)
    for mode in (0o640, 0o604, 0o620, 0o601, 0o777):
        assert_raises(ParameterError, f"its mode is {mode:04o}.*chmod 600", read_keys, written(tmp_path, READING, mode))
    for path, said in ((tmp_path / "none", "No such file"), (tmp_path, "directory"), (os.devnull, "not a regular file")):
        assert_raises(ParameterError, said, read_keys, path)


def test_files_of_others(tmp_path, monkeypatch):
    path = written(tmp_path, READING)
    owned = os.stat_result([*os.stat(path)[:4], 12345, *os.stat(path)[5:10]])
    monkeypatch.setattr("lookalike.serve.guard.os.fstat", lambda _: owned)
    assert_raises(ParameterError, "another user", read_keys, path)
