"""How object stores are reached: where they are, and the file systems of Arrow that speak with them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import lru_cache
from typing import Any

from ..errors import ParameterError
from .remote import ATTEMPTS, PATIENCE

_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
_REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION")
_USUAL_REGION = "us-east-1"
Options = tuple[tuple[str, str], ...]


@lru_cache
def options_of(scheme: str, store: str) -> Options:
    """Return what this process knows of a store, for others that do not: where S3 is, and the region of a bucket."""
    if scheme != "s3":
        return ()
    known = {"region": next(filter(None, map(os.environ.get, _REGIONS)), "")}
    known["endpoint_override"] = next(filter(None, map(os.environ.get, _ENDPOINTS)), "")
    if not known["region"]:
        known["region"] = _USUAL_REGION if known["endpoint_override"] else _region(store)
    return tuple((name, value) for name, value in known.items() if value)


def _region(bucket: str) -> str:
    from pyarrow.fs import resolve_s3_region

    try:
        return str(resolve_s3_region(bucket))
    except OSError as error:
        raise ParameterError(f"s3://{bucket}: the region of the bucket cannot be found: {error}; set AWS_REGION") from None


def container_of(root: str) -> str:
    """Return what paths of a file system begin with: the bucket or the container; of HDFS nothing."""
    scheme, _, store = root.partition("://")
    return "" if scheme == "hdfs" else store.partition("@")[0]


@contextmanager
def refusals() -> Iterator[None]:
    """Make what Arrow raises of some stores an OSError, as it is of others."""
    import pyarrow as pa

    try:
        yield
    except pa.ArrowException as error:
        raise OSError(str(error)) from None


@lru_cache
def filesystem_of(root: str, options: Options) -> Any:
    from pyarrow import fs

    scheme, _, store = root.partition("://")
    if scheme == "s3":
        endpoint = dict(options).get("endpoint_override", "")
        return fs.S3FileSystem(
            **dict(options), scheme="http" if endpoint.startswith("http:") else "https", connect_timeout=PATIENCE,
            request_timeout=PATIENCE, retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=ATTEMPTS),
            allow_delayed_open=True,  # one request for a small file instead of three
        )  # fmt: skip
    if scheme == "gs":
        return fs.GcsFileSystem(retry_time_limit=timedelta(seconds=PATIENCE * ATTEMPTS))  # Arrow tries for 15 minutes
    if scheme == "abfss":
        account = store.partition("@")[2].partition(".")[0]
        return fs.AzureFileSystem(account_name=account, account_key=os.environ.get("AZURE_STORAGE_KEY"))
    return fs.FileSystem.from_uri(f"{root}/")[0]
