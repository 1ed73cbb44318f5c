"""The file of keys."""

import os
from hashlib import sha256

import pytest

from lookalike.errors import ParameterError
from lookalike.serve.guard import read_keys

READER, WRITER = "reader-reader-reader", "writer~writer!writer"


def written(tmp_path, text, mode=0o600):
    """Write a file of keys."""
    path = tmp_path / "keys.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    path.chmod(mode)
    return path


def test_keys_in_full_and_hashed(tmp_path):
    hashed = sha256(WRITER.encode()).hexdigest()
    keys = read_keys(written(tmp_path, f'read = ["{READER}", "another-key-of-16"]\nwrite = ["sha256:{hashed}"]\n'))
    assert keys.may(f"Bearer {READER}".encode()) == {"read"}
    assert keys.may(b"Bearer another-key-of-16") == {"read"}
    assert keys.may(f"Bearer {WRITER}".encode()) == {"read", "write"}
    assert keys.may(f"Bearer sha256:{hashed}".encode()) == keys.may(hashed.encode()) == keys.may(b"") == frozenset()
    assert READER not in repr(keys)


def test_every_key_is_compared(tmp_path, monkeypatch):
    compared = []
    keys = read_keys(written(tmp_path, f'read = ["{READER}", "another-key-of-16"]\nwrite = ["{WRITER}"]\n'))
    monkeypatch.setattr("lookalike.serve.guard.hmac.compare_digest", lambda a, b: compared.append(len(b)) or a == b)
    for key in (READER, WRITER, "unknown"):
        keys.may(f"Bearer {key}".encode())
        assert compared == [32, 32, 32]
        compared.clear()


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o601, 0o777])
def test_files_that_others_can_use_are_refused(tmp_path, mode):
    with pytest.raises(ParameterError, match=f"its mode is {mode:04o}.*chmod 600"):
        read_keys(written(tmp_path, f'read = ["{READER}"]', mode))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no keys"),
        ("read = []", "no keys"),
        ('read = ["short"]', "key 0 of read"),
        ('write = ["long-enough-long-enough", 5]', "key 1 of write"),
        ('write = ["with a space in it it is"]', "key 0 of write"),
        ('write = ["sha256:0123456789abcdef"]', "key 0 of write"),
        ('write = "long-enough-long-enough"', "write must be a list"),
        ('admin = ["long-enough-long-enough"]', "unknown entry 'admin'"),
        ("read = [", "not TOML"),
        (b'read = ["\xff"]', "not TOML"),
    ],
)
def test_files_that_are_refused(tmp_path, text, said):
    with pytest.raises(ParameterError, match=said) as error:
        read_keys(written(tmp_path, text))
    assert "long-enough" not in str(error.value)


def test_what_is_no_file(tmp_path):
    with pytest.raises(ParameterError, match="No such file"):
        read_keys(tmp_path / "keys.toml")
    with pytest.raises(ParameterError, match="directory"):
        read_keys(tmp_path)
    with pytest.raises(ParameterError, match="not a regular file"):
        read_keys(os.devnull)


def test_files_of_others(tmp_path, monkeypatch):
    path = written(tmp_path, f'read = ["{READER}"]')
    monkeypatch.setattr("lookalike.serve.guard.os.geteuid", lambda: os.getuid() + 1)
    if os.getuid() != 0:
        with pytest.raises(ParameterError, match="another user"):
            read_keys(path)
    else:
        assert read_keys(path).write == ()
