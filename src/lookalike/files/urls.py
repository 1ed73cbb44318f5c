"""Files on object stores, under URLs such as s3://bucket/folder/name, with as much of what ``pathlib`` offers as is needed.

A URL knows where its store is, and pickles with it; credentials it does not hold: each process finds its own as the store's
tools do (of S3: environment, ``~/.aws``, the role of the machine).
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from ..errors import ParameterError
from .ahead import PrefetchedFile, Prefetcher
from .filesystems import Options, container_of, filesystem_of, options_of, refusals
from .names import GivenPath
from .remote import HttpFile, HubRepository, RemoteInfo

SCHEMES = {
    "s3": "s3", "s3a": "s3", "s3n": "s3", "gs": "gs", "abfs": "abfss", "abfss": "abfss", "hdfs": "hdfs", "hf": "hf",
    "https": "https", "http": "http",
}  # fmt: skip
"""What URLs may begin with, as Spark and others call it, and what it is here."""
WEB, READ_ONLY = ("https", "http"), ("https", "http", "hf")
UPLOADS = 3
"""How often a large file is uploaded, if the store fails to complete it."""
TAIL = 1 << 16  # bytes at the end of a file, which are held
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/(?!/*$)/?(.*)", re.DOTALL)  # pathlib leaves one slash of two


class Status(NamedTuple):
    """What a store says of a file: bytes, and when it was written, to the second: of one file some stores tell no more."""

    st_size: int
    st_mtime_ns: int


class StoreObject(NamedTuple):
    """What is in a folder of a store."""

    url: Url
    is_folder: bool
    status: Status


@dataclass(frozen=True, slots=True)
class Url:
    """A file or folder on an object store."""

    root: str  # scheme and store: ``s3://bucket``
    key: str  # what follows, without a slash at either end; no character is escaped
    options: Options = ()  # how the store is reached, where its name does not say it
    known: Status | None = field(default=None, compare=False)  # what the store said of it when it was listed

    def __str__(self) -> str:
        return f"{self.root}/{self.key}"

    def __fspath__(self) -> str:
        """Return the URL, by which messages name it."""
        return str(self)

    def __truediv__(self, name: GivenPath) -> Url:
        """Return what has a name inside this folder."""
        return self._of("/".join(filter(None, (self.key, os.fspath(name).strip("/")))))

    def _of(self, key: str) -> Url:
        return Url(self.root, key, self.options)

    @property
    def scheme(self) -> str:
        return self.root.partition(":")[0]

    @property
    def name(self) -> str:
        if self.scheme not in WEB:
            return self.key.rpartition("/")[2]
        part = re.split("[?#]", self.key)[0].rpartition("/")[2]
        return part if "/" in unquote(part) else unquote(part)

    @property
    def suffix(self) -> str:
        """What follows the last point of the name, and the point."""
        point = self.name.rfind(".")
        return self.name[point:] if point > 0 else ""

    @property
    def parent(self) -> Url:
        return self._of(self.key.rpartition("/")[0])

    @property
    def number(self) -> int:
        """What tells it from others, in place of an inode."""
        return int.from_bytes(blake2b(str(self).encode("utf-8", "surrogateescape"), digest_size=8).digest()) >> 1

    @property
    def has_odd_name(self) -> bool:
        """Whether a part of the name is empty: Arrow lists such an object, and does not open it."""
        return self.scheme not in WEB and (self.key.startswith("/") or "//" in self.key)

    def absolute(self) -> Url:
        return self

    def is_symlink(self) -> bool:
        """Return False: stores have no links."""
        return False

    @property
    def filesystem(self) -> Any:
        """The file system of Arrow that reaches the store, one for each process."""
        return filesystem_of(self.root, self.options)

    @property
    def inside(self) -> str:
        """What that calls it."""
        container = container_of(self.root)
        return f"{container}/{self.key}".rstrip("/") or "/"

    def entry(self) -> StoreObject | None:
        """Return what it is; None if there is nothing under it."""
        if self.scheme in WEB:
            try:
                web = HttpFile(str(self))
            except FileNotFoundError:
                return None
            return self._seen(RemoteInfo(self.key, False, web.size, web.version))
        if self.scheme == "hf":
            found = self.data_set.seen()
            return None if found is None else self._seen(found)
        with refusals():
            return self._entry(self.filesystem.get_file_info(self.inside))

    @property
    def data_set(self) -> HubRepository:
        return HubRepository(self.key, dict(self.options).get("endpoint"))

    def _seen(self, seen: RemoteInfo) -> StoreObject:
        status = Status(seen.size, seen.version)
        return StoreObject(Url(self.root, seen.path, self.options, status), seen.is_folder, status)

    def _entry(self, info: Any) -> StoreObject | None:
        from pyarrow.fs import FileType

        if info.type == FileType.NotFound:
            return None
        key = info.path[len(container_of(self.root)) :].removeprefix("/").rstrip("/")
        modified_ns = (info.mtime_ns or 0) // 10**9 * 10**9
        return self._seen(RemoteInfo(key, info.type == FileType.Directory, info.size or 0, modified_ns))

    def entries(self, *, recursive: bool = False) -> Iterator[StoreObject]:
        """Yield what is in this folder, or anywhere below it, in the order of names."""
        if self.scheme in WEB:
            raise ParameterError(f"{self}: a web server lists no folders; name the files one by one")
        if self.scheme == "hf":
            seen = map(self._seen, self.data_set.inside(recursive))
            yield from sorted(seen, key=lambda entry: entry.url.key.split("/"))
            return
        from pyarrow.fs import FileSelector

        with refusals():
            found = self.filesystem.get_file_info(FileSelector(self.inside, recursive=recursive, allow_not_found=True))
        entries = [entry for info in found if (entry := self._entry(info)) is not None]
        yield from sorted(entries, key=lambda entry: entry.url.key.split("/"))

    def stat(self) -> Status:
        entry = self.entry()
        if entry is None or entry.is_folder:
            raise FileNotFoundError(2, "no such object", str(self))
        return entry.status

    def exists(self) -> bool:
        """Tell whether there is anything under it."""
        return self.entry() is not None

    def read_bytes(self) -> bytes:
        with self._of(self.key).open_anywhere() as file:  # as it is now: another of its size may be as old by the listing
            held: bytes = file.read()
            return held

    def write_bytes(self, data: Any) -> None:
        """Write a file whole or not at all: at once, as Arrow cannot abort an upload, and completes it when its stream goes.

        Arrow asks again where a store fails, but of the request that completes an upload it reads the first answer each time.
        """
        for left in reversed(range(UPLOADS)):
            try:
                with self.filesystem.open_output_stream(self.inside, compression=None) as stream:  # whatever the name says
                    stream.write(data)
                return
            except OSError as error:
                if not left or "CompleteMultipartUpload" not in str(error):
                    raise

    @contextmanager
    def create(self) -> Iterator[Any]:
        """Give a stream into a temporary file, which is uploaded once it is complete; after an error nothing is."""
        import tempfile  # here, for what is not needed to start

        with tempfile.NamedTemporaryFile(prefix="lookalike-") as file:
            yield file
            file.flush()
            self.upload(file.name)

    def upload(self, file: GivenPath) -> None:
        """Copy a complete file from the disk."""
        import pyarrow as pa

        with pa.memory_map(os.fspath(file)) as source:
            self.write_bytes(source.read_buffer())

    def ahead(self) -> Prefetcher:
        """Open a file, of which several readers ask for what they will read; one that was listed is opened once."""
        opened = _opened_lately(self, self.known) if self.known is not None else Opened(self)
        return Prefetcher(opened.fetch, opened.size)

    def open_stream(self, n_bytes: int | None = None) -> Any:
        """Open a file, of which what follows is read ahead, or only so many bytes are read."""
        return io.BufferedReader(PrefetchedFile(self.ahead(), exact=n_bytes is not None), n_bytes or 1 << 16)

    def open_anywhere(self) -> Any:
        """Open a file for Arrow, which reads its bytes here and there."""
        import pyarrow as pa

        return pa.PythonFile(PrefetchedFile(self.ahead(), exact=True), "r")

    def unlink(self, missing_ok: bool = False) -> None:
        try:
            self.filesystem.delete_file(self.inside)
        except FileNotFoundError:
            if not missing_ok:
                raise

    def mkdir(self, parents: bool = False, exist_ok: bool = False) -> None:
        """Do nothing: a folder is there while something is in it."""


def is_url(given: Any, but: Collection[str] = ()) -> bool:
    """Tell whether a path is a URL of something on a store that is known, ``but`` some; no store is asked."""
    return _parsed(given)[0] in SCHEMES.keys() - set(but)


def _parsed(given: Any) -> tuple[str, str]:
    """Return what a URL begins with, in lower case, and what follows; nothing of other paths."""
    found = _URL.fullmatch(os.fspath(given)) if isinstance(given, str | os.PathLike) else None
    return ("", "") if found is None else (found[1].lower(), found[2])


def check_url(given: Any) -> None:
    """Check that a path is none of a store that is not known; no store is asked."""
    scheme, _ = _parsed(given)
    if scheme and scheme not in SCHEMES and "://" in os.fspath(given):
        known = ", ".join(f"{name}://" for name in SCHEMES)
        raise ParameterError(
            f"{os.fspath(given)}: no store is known for {scheme}://; known are {known}, and paths of files on this machine"
        )


def check_on_disk(given: Any, what: str) -> None:
    """Check that a path is no URL, for what is on disks only; no store is asked."""
    check_url(given)
    if is_url(given):
        scheme, rest = _parsed(given)
        where = "on the web" if scheme in READ_ONLY else "on an object store"
        raise ParameterError(f"{scheme}://{rest} is {where}, {what}")


def as_url(given: Any, ask: bool = True) -> Url | None:
    """Return the URL that a path is; None if it is none. Unless ``ask``, no store is asked, and none can be with it."""
    if isinstance(given, Url):
        return given
    check_url(given)
    if not is_url(given):
        return None
    scheme, rest = _parsed(given)
    store, _, key = rest.partition("/")
    if scheme in READ_ONLY:
        return _read_only(scheme, store, key)
    if not store and SCHEMES[scheme] != "hdfs":
        raise ParameterError(f"{os.fspath(given)}: names no bucket; write {scheme}://bucket/{key or 'name'}")
    root = f"{SCHEMES[scheme]}://{store}"
    return Url(root, "/".join(filter(None, key.split("/"))), options_of(SCHEMES[scheme], store) if ask else ())


def _read_only(scheme: str, store: str, key: str) -> Url:
    """Return the URL of a file on a web server, which stays as it was given, or of something in a data set."""
    if scheme == "hf":
        parts = [part for part in key.split("/") if part]
        if store != "datasets" or len(parts) < 2:
            raise ParameterError(
                f"hf://{store}/{key}: name a data set of the Hub: hf://datasets/OWNER/NAME/FILE, or .../*.parquet"
            )
        endpoint = os.environ.get("HF_ENDPOINT")
        return Url("hf://datasets", "/".join(parts), (("endpoint", endpoint),) if endpoint else ())
    host = store.rpartition("@")[2]
    if host != store:
        raise ParameterError(
            f"{scheme}://...@{host}: an address with a password is refused, because outputs record what was read"
        )
    if {"..", "."} & set(unquote(key.partition("?")[0]).split("/")):
        raise ParameterError(f"{scheme}://{store}/{key}: write the address without '.' and '..'")
    return Url(f"{scheme}://{store}", key)


def check_writable(given: Any) -> None:
    """Check that a path is none where nothing is written."""
    if _parsed(given)[0] in READ_ONLY:
        raise ParameterError(f"{os.fspath(given)}: nothing is written there; name a folder on this machine or an object store")


class Opened:
    """A file on a store whose size is known; its end is asked for once."""

    def __init__(self, url: Url) -> None:
        if url.scheme in READ_ONLY:
            web = url.data_set.web() if url.scheme == "hf" else HttpFile(str(url))
            self._read, self.size = web.fetch, web.size
            told = url.known or Status(web.size, web.version)
            if told.st_size != web.size or (url.scheme in WEB and told.st_mtime_ns != web.version):
                raise OSError(0, "HTTP error: it changed while it was read; run again")
        else:
            with refusals():
                file = url.filesystem.open_input_file(url.inside)
            self._read, self.size = file.read_at, int(file.size())
        self._last, self._tail = max(0, self.size - TAIL), b""

    def fetch(self, n_bytes: int, begin: int) -> bytes:
        """Return some bytes; of the last ones, which say of some formats what is where, all are held."""
        if begin < self._last:
            return self._read(n_bytes, begin)
        self._tail = self._tail or self._read(self.size - self._last, self._last)
        return self._tail[begin - self._last :][:n_bytes]


@lru_cache(maxsize=64)
def _opened_lately(url: Url, known: Status) -> Opened:
    return Opened(url)


AnyPath = Path | Url


def path_of(given: GivenPath) -> AnyPath:
    """Return what is meant by a path: a URL if it is one, otherwise a path from the root, which workers elsewhere find too."""
    return as_url(given) or Path(given).absolute()


def is_inside(path: AnyPath, folder: AnyPath) -> bool:
    """Tell whether a path is that of a folder, or inside of it."""
    if isinstance(path, Url) or isinstance(folder, Url):
        return f"{os.fspath(path).rstrip('/')}/".startswith(f"{os.fspath(folder).rstrip('/')}/")
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))
