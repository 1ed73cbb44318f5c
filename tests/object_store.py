"""An object store that speaks as S3 does, in this process; it holds what tests put there, and nothing leaves the machine."""

import logging
import uuid
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest

from lookalike.files import filesystems
from lookalike.files.urls import as_url

KEYS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_REGION": "us-east-1"}


@cache
def server():
    """Start it, once in a process; return its address."""
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)

    started = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    started.start()
    return "http://{}:{}".format(*started.get_host_and_port())


@contextmanager
def environment(address=None):
    """While this lasts, this process and those that it starts look for S3 there, or at another address."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (KEYS | {"AWS_ENDPOINT_URL": address or server()}).items():
            patch.setenv(name, value)
        filesystems.options_of.cache_clear()
        try:
            yield
        finally:
            filesystems.options_of.cache_clear()


def new_bucket():
    """Make a bucket; return its URL."""
    name = f"b{uuid.uuid4().hex}"
    url = as_url(f"s3://{name}")
    from pyarrow.fs import S3FileSystem

    S3FileSystem(**dict(url.options), scheme="http", allow_bucket_creation=True).create_dir(name)
    return url


def put_folder(folder, url):
    """Copy all files below a folder."""
    for path in sorted(Path(folder).rglob("*")):
        if path.is_file():
            (url / str(path.relative_to(folder))).write_bytes(path.read_bytes())
    return url


@contextmanager
def copied(folder):
    """The URL of a copy of a folder in a new bucket, while this lasts."""
    with environment():
        yield put_folder(folder, new_bucket() / "in")


def held(url):
    """{name: bytes} of all files below a URL."""
    found = (entry.url for entry in url.entries(recursive=True) if not entry.is_folder)
    return {one.key.removeprefix(url.key).lstrip("/"): one.read_bytes() for one in found}
