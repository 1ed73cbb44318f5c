"""Files on web servers, and in data sets of the Hugging Face Hub, read part by part where the server sends parts."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from email.utils import parsedate_to_datetime
from errno import ENOENT
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urljoin, urlsplit

from ..errors import needed_for

if TYPE_CHECKING:
    import requests
    from huggingface_hub import HfApi

PATIENCE, ATTEMPTS = 15, 5
"""Seconds that a server may be silent, and how often it is asked."""
PAUSE = 0.5  # seconds before a server is asked again; twice as many each time
BLOCK = 1 << 20  # bytes taken from a connection at once, or what has come of them
_SECOND = 10**9
_WAYS = {
    401: "it requires you to log in", 403: "you have no permission to read it",
    404: "there is no such file", 410: "there is no such file",
}  # fmt: skip
_GIVEN_UP = f"; it was asked {ATTEMPTS} times: run the job again later (with a work folder it continues)"
_LOG_IN = ": accept its conditions on its page if it has any, and set HF_TOKEN or run 'hf auth login'"


class RemoteInfo(NamedTuple):
    """What a server says of a file or folder; the version stands for its time of change."""

    path: str
    is_folder: bool
    size: int
    version: int


def _refused(reason: str, code: int = 0) -> OSError:
    return OSError(ENOENT if code in (404, 410) else 0, f"HTTP error: {reason}")


def _pause(attempt: int) -> None:
    if attempt:
        time.sleep(PAUSE * 2 ** (attempt - 1))


def version_of(changed: str | None, tag: str | None) -> int:
    """Return a time of change in nanoseconds, whose fraction of a second is made of the tag."""
    try:
        seconds = int(parsedate_to_datetime(changed).timestamp()) if changed else 0
    except ValueError:
        seconds = 0
    fraction = int.from_bytes(blake2b(tag.encode(), digest_size=8).digest()) % _SECOND if tag else 0
    return max(0, seconds) * _SECOND + fraction


def _check_redirect(answer: requests.Response, **_: Any) -> None:
    """Read nothing of an answer that leads elsewhere; from https nothing leads to http."""
    if answer.is_redirect:
        answer.close()
        there = urlsplit(urljoin(answer.url, answer.headers["location"]))
        if answer.url.startswith("https:") and there.scheme != "https":
            raise _refused(f"it redirects from https to {there.scheme}://{there.hostname}")


def _why(error: BaseException) -> str:
    """Return what an error began with, without the layers around it; a ValueError there says nothing."""
    inner = error.__cause__ or error.__context__
    if inner is None or type(inner) is ValueError:
        return str(error) or type(error).__name__
    return _why(inner)


@lru_cache(maxsize=1)
def _session(process: int) -> requests.Session:
    """Return what sends requests of a process."""
    with needed_for("remote"):
        from requests import Session
    session = Session()
    session.auth = lambda request: request  # or a netrc file's would replace the Hub's
    session.max_redirects = 5
    session.hooks = {"response": [_check_redirect]}
    return session


class HttpFile:
    """A file at an address: its size (-1: not known), its version, and whether parts of it are sent."""

    def __init__(self, address: str, headers: Mapping[str, str] | None = None, log_in: str = "") -> None:
        self._address, self._headers, self._log_in = address, dict(headers or {}), log_in
        with self._answer("bytes=0-0") as answer:
            self.size, self.version = _size_and_version(answer)
            self.in_parts = answer.status_code in (206, 416) and self.size >= 0

    @contextmanager
    def _answer(self, part: str) -> Iterator[requests.Response]:
        """Give what the server answers, its body unread: 200, 206 or 416; if it fails, it is asked again."""
        session, reason = _session(os.getpid()), ""
        headers = {**self._headers, "Accept-Encoding": "identity", **({"Range": part} if part else {})}
        from requests import ConnectionError, RequestException, Timeout

        for attempt in range(ATTEMPTS):
            _pause(attempt)
            try:
                answer = session.get(self._address, headers=headers, stream=True, timeout=PATIENCE)
            except (ConnectionError, Timeout) as error:
                reason = _why(error)
                continue
            except RequestException as error:
                raise _refused(str(error)) from None
            try:
                code = answer.status_code
                if code < 400 or code == 416:
                    if answer.headers.get("content-encoding", "identity") != "identity":
                        raise _refused("it compresses the file differently than its name says (Content-Encoding)")
                    answer.raw.enforce_content_length = False  # the rest is asked for again
                    yield answer
                    return
                if code not in (408, 429) and code < 500:
                    more = self._log_in if code in (401, 403, 404) else ""
                    raise _refused(f"status {code}, {_WAYS.get(code, answer.reason)}{more}", code)
                reason = f"status {code} ({answer.reason})"
            finally:
                answer.close()
        raise _refused(f"{reason}{_GIVEN_UP}")

    def fetch(self, n_bytes: int, begin: int) -> bytes:
        """Return some bytes; an OSError if the file is not the one any more that it was."""
        return b"".join(self._blocks(begin, n_bytes)) if n_bytes else b""

    def blocks(self) -> Iterator[bytes]:
        """Yield the whole file in one pass, of a server that sends no parts."""
        return self._blocks(0, None)

    def _blocks(self, begin: int, n_bytes: int | None) -> Iterator[bytes]:
        """Yield some bytes; those that are missing where an answer ends too soon are asked for again."""
        from urllib3.exceptions import HTTPError

        wanted = self.size if n_bytes is None else n_bytes
        done, reason = 0, ""
        for attempt in range(ATTEMPTS):
            _pause(attempt)
            part = "" if n_bytes is None else f"bytes={begin + done}-{begin + n_bytes - 1}"
            with self._answer(part) as answer:
                size, version = _size_and_version(answer)
                other = version != self.version or (size != self.size and min(size, self.size) >= 0)
                if other or (part and answer.status_code != 206):
                    raise _refused("it changed while it was read; run again")
                at = done if part else 0
                try:
                    while block := answer.raw.read1(BLOCK, decode_content=False):
                        if at + len(block) > done:
                            yield block[max(0, done - at) :]
                            done = at + len(block)
                        at += len(block)
                        if 0 <= wanted < done:
                            raise _refused("it sends more than was asked for")
                    if wanted in (done, -1):
                        return
                    reason = f"it sent {done:,} bytes, fewer than it announced"
                except HTTPError as error:
                    reason = _why(error)
        raise _refused(f"{reason}{_GIVEN_UP}")


def _size_and_version(answer: requests.Response) -> tuple[int, int]:
    size = answer.headers.get("content-range", "").rpartition("/")[2] or answer.headers.get("content-length", "")
    version = version_of(answer.headers.get("last-modified"), answer.headers.get("etag"))
    return int(size) if size.isdecimal() else -1, version


def _hub(endpoint: str | None) -> HfApi:
    with needed_for("remote"):
        from huggingface_hub import HfApi
    return HfApi(endpoint=endpoint)


class HubRepository:
    """A data set of the Hub, of which a key such as ``OWNER/NAME@REVISION/folder/file`` names a file or a folder."""

    def __init__(self, key: str, endpoint: str | None = None) -> None:
        owner, _, rest = key.partition("/")
        name, _, self.path = rest.partition("/")
        name, _, revision = name.partition("@")
        if revision == "refs":  # refs/convert/parquet, refs/pr/7
            *more, self.path = [*self.path.split("/", 2), "", ""][:3]
            revision = "/".join((revision, *more))
        self.repository, self._hub = f"{owner}/{name}", _hub(endpoint)
        self._where: dict[str, Any] = {"repo_type": "dataset", "revision": revision.replace("%2F", "/") or None}
        self._above = key.removesuffix(self.path).rstrip("/")

    def seen(self) -> RemoteInfo | None:
        """Return what is under the key; None if nothing is."""
        if not self.path:
            self.inside(recursive=False)  # or an error says that there is no such data set
            return RemoteInfo(self._above, True, 0, 0)
        found = self._asked(lambda: self._hub.get_paths_info(self.repository, [self.path], **self._where))
        return self._one(found[0]) if found else None

    def inside(self, recursive: bool) -> list[RemoteInfo]:
        """Return what is in the folder; nothing if there is none."""
        from huggingface_hub.errors import EntryNotFoundError

        def tree() -> list[Any]:
            try:
                return list(self._hub.list_repo_tree(self.repository, self.path or None, recursive=recursive, **self._where))
            except EntryNotFoundError:
                return []

        return list(map(self._one, self._asked(tree)))

    def _one(self, found: Any) -> RemoteInfo:
        tag = getattr(found, "xet_hash", None) or getattr(found, "blob_id", None)
        return RemoteInfo(f"{self._above}/{found.path}", tag is None, getattr(found, "size", 0), version_of(None, tag))

    def _asked(self, ask: Any) -> list[Any]:
        from huggingface_hub.errors import RepositoryNotFoundError, RevisionNotFoundError

        try:
            found: list[Any] = ask()
        except RevisionNotFoundError:
            raise _refused(f"the data set {self.repository} has no revision {self._where['revision']}") from None
        except RepositoryNotFoundError:
            raise _refused(f"there is no data set {self.repository}, or you may not see it{_LOG_IN}") from None
        except Exception as error:  # of whatever this version of the Hub's package sends requests with
            raise _refused(str(error).strip().partition("\n")[0]) from None
        return found

    def web(self) -> HttpFile:
        """Return the file."""
        from huggingface_hub import get_token, hf_hub_url

        address, token = hf_hub_url(self.repository, self.path, endpoint=self._hub.endpoint, **self._where), get_token()
        return HttpFile(address, {"Authorization": f"Bearer {token}"} if token else {}, _LOG_IN)
