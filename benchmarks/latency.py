"""How fast inputs on a store that answers late are read, beside the same files on a disk.

A server of this file speaks as much of S3 as readers ask for, and waits before each answer; it is a process of its own. Jobs on files and on
the store alternate, each in a process of its own. Figures are medians: seconds by the clock, the share of the rate of local files, the
peak of memory, requests, how many of them were in flight at a time, and MB that the store sent.

Usage: python benchmarks/latency.py [--mb 200] [--files 8] [--delay 0.03] [--runs 5] [--output] [--log]
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from generated import vocabulary

JOB = """
import json, sys, time
import lookalike as la
from lookalike.engines.memory import peak_memory
la.dedup(["compiles the inner loops"])
start = time.perf_counter()
result = la.dedup(sys.argv[1], memory=sys.argv[2], work=sys.argv[4] or None)
kept = int(result.keep.sum())
if sys.argv[3]:
    result.write(sys.argv[3])
print(json.dumps([time.perf_counter() - start, peak_memory() / 1e6, kept]))
"""
KEYS = {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x", "AWS_REGION": "us-east-1"}


class Store(BaseHTTPRequestHandler):
    """Answers requests for files below a folder, each after a while; its account is asked for at ``/account``."""

    protocol_version, disable_nagle_algorithm = "HTTP/1.1", True
    folder: Path
    delay = 0.0
    account: list[tuple[str, str, float, float, int]] = []  # noqa: RUF012  # one for all
    began = time.perf_counter()

    def log_message(self, *given: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        """Send an object, a part of one, a list, or the account."""
        start, (path, query) = time.perf_counter(), urlsplit(self.path)[2:4]
        if path == "/account":
            said = json.dumps(self.account).encode()
            self.account.clear()
            self.answer(200, {"Content-Length": str(len(said))}, said)
            return
        time.sleep(self.delay)
        file, asked = self.folder / unquote(path).strip("/"), self.headers.get("Range", "")
        if file.is_file():
            size, (begin, end) = file.stat().st_size, (0, file.stat().st_size)
            if asked:
                first, _, last = asked.removeprefix("bytes=").partition("-")
                begin, end = (
                    (int(first), min(size, int(last) + 1 if last else size)) if first else (max(0, size - int(last)), size)
                )
            headers = {
                "Content-Length": str(end - begin),
                "ETag": f'"{size}"',
                "Last-Modified": "Wed, 21 Oct 2015 07:28:00 GMT",
            }
            headers |= {"Content-Range": f"bytes {begin}-{end - 1}/{size}"} if asked else {}
            self.answer(206 if asked else 200, headers)
            sent = end - begin if self.command == "GET" else 0
            with open(file, "rb") as held:
                left, at = sent, begin
                while left:
                    n = os.sendfile(self.connection.fileno(), held.fileno(), at, left)
                    left, at = left - n, at + n
        else:
            given, sent = parse_qs(query), 0
            said = self.listed(file, given["prefix"][0] if "prefix" in given else "").encode() if "list-type" in given else b""
            self.answer(200 if said else 404, {"Content-Length": str(len(said)), "Content-Type": "application/xml"}, said)
        what = "LIST" if "list-type" in query else self.command
        self.account.append((what, f"{path} {asked or query}", start - self.began, time.perf_counter() - self.began, sent))

    do_HEAD = do_GET  # noqa: N815

    def listed(self, bucket: Path, prefix: str) -> str:
        """Return a list of objects as S3 gives it."""
        inside = sorted(
            file for file in bucket.rglob("*") if file.is_file() and str(file.relative_to(bucket)).startswith(prefix)
        )
        rows = "".join(
            f"<Contents><Key>{file.relative_to(bucket)}</Key><LastModified>2015-10-21T07:28:00.000Z</LastModified>"
            f"<ETag>&quot;{file.stat().st_size}&quot;</ETag><Size>{file.stat().st_size}</Size></Contents>"
            for file in inside
        )
        return f"<ListBucketResult><KeyCount>{len(inside)}</KeyCount><IsTruncated>false</IsTruncated>{rows}</ListBucketResult>"

    def answer(self, status: int, headers: dict[str, str], body: bytes = b"") -> None:
        self.send_response_only(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


@contextmanager
def store(folder: Path, delay: float) -> Iterator[str]:
    """Give the address of a store of what is in a folder."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([sys.executable, __file__, "--serve", str(folder), "--port", str(port), "--delay", str(delay)])
    try:
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 0.1).close()
                break
            except OSError:
                time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def write(folder: Path, mb: int, files: int) -> None:
    """Write the same documents as Parquet and as JSON lines, about so many MB of each in so many files."""
    rng = np.random.default_rng(1)
    known = vocabulary(rng)
    chances = np.cumsum((weights := np.arange(1, len(known) + 1) ** -1.05) / weights.sum())
    for kind in ("parquet", "jsonl"):
        target = folder / "lake" / kind
        target.mkdir(parents=True)
        for number in range(files):
            ids, texts, size, file = [], [], 0, target / f"part-{number}.{kind}"
            while size < mb * 1_000_000 / files * (1.75 if kind == "parquet" else 0.93):  # Snappy; fields beside the text
                words = known[np.searchsorted(chances, rng.random(int(np.clip(rng.lognormal(5.9, 0.7), 30, 5000))))]
                texts.append(" ".join(words.tolist()))
                if texts and rng.random() < 0.2:
                    texts.append(texts[int(rng.integers(0, len(texts)))] + " and some words more")
                size += sum(map(len, texts[len(ids) :]))
                ids += [f"https://example.org/{number}/{i}" for i in range(len(ids), len(texts))]
            columns = {"id": ids, "text": texts, "year": [2000 + len(text) % 20 for text in texts]}
            if kind == "parquet":
                pq.write_table(pa.table(columns), file, row_group_size=5000)
            else:
                rows = zip(*columns.values(), strict=True)
                file.write_text("".join(json.dumps(dict(zip(columns, row, strict=True))) + "\n" for row in rows))


def measure(source: str, given: argparse.Namespace, address: str = "") -> tuple[float, float, int]:
    """Run a job once: seconds, the peak of memory in MB, documents that are kept."""
    environment = {**os.environ, **KEYS, **({"AWS_ENDPOINT_URL": address} if address else {})}
    with tempfile.TemporaryDirectory() as made:
        where = [f"{made}/out/" if given.output else "", f"{made}/work" if given.work else ""]
        done = subprocess.run(
            [sys.executable, "-c", JOB, source, given.memory, *where], env=environment, check=True, stdout=subprocess.PIPE
        )
    seconds, peak, kept = json.loads(done.stdout)
    return seconds, peak, kept


def account_of(address: str) -> list[tuple[str, str, float, float, int]]:
    """Return, and forget, what the store was asked for."""
    from urllib.request import urlopen

    with urlopen(f"{address}/account") as answer:
        return [tuple(one) for one in json.load(answer)]


def at_once(account: list[tuple[str, str, float, float, int]]) -> float:
    """Return how many requests were in flight, on average over the time in which there were any."""
    moments = sorted([(start, 1) for _, _, start, _, _ in account] + [(end, -1) for _, _, _, end, _ in account])
    total, busy, now, before = 0.0, 0.0, 0, 0.0
    for moment, change in moments:
        total, busy = total + now * (moment - before), busy + (moment - before if now else 0)
        now, before = now + change, moment
    return total / max(busy, 1e-9)


def main() -> None:
    """Measure both formats in turn, and print medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, kind, value in (
        ("mb", int, 200), ("files", int, 8), ("delay", float, 0.03), ("runs", int, 5), ("port", int, 0), ("serve", str, ""),
        ("folder", str, ""), ("memory", str, "4GB"),
    ):  # fmt: skip
        parser.add_argument(f"--{name}", type=kind, default=value)
    for name in ("output", "log", "work"):
        parser.add_argument(f"--{name}", action="store_true")
    given = parser.parse_args()
    if given.serve:
        Store.folder, Store.delay = Path(given.serve), given.delay
        server = ThreadingHTTPServer(("127.0.0.1", given.port), Store)
        server.daemon_threads = True
        server.serve_forever()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(given.folder or made)
        if not (folder / "lake").exists():
            write(folder, given.mb, given.files)
        print(
            "| | MB | local, s | store, s | share of the local rate | memory: local, MB | store | requests | at a time | MB sent |"
        )
        print("|---|---|---|---|---|---|---|---|---|---|")
        with store(folder, given.delay) as address:
            for kind in ("parquet", "jsonl"):
                local, remote, accounts = [], [], []
                for _ in range(given.runs):
                    local.append(measure(str(folder / "lake" / kind), given))
                    remote.append(measure(f"s3://lake/{kind}", given, address))
                    accounts.append(account_of(address))
                assert len({kept for _, _, kept in [*local, *remote]}) == 1
                size = sum(file.stat().st_size for file in (folder / "lake" / kind).iterdir()) / 1e6
                (a, m, _), (b, n, _) = (
                    [statistics.median(column) for column in zip(*runs, strict=True)] for runs in (local, remote)
                )
                last = accounts[-1]
                sent = sum(one[4] for one in last) / 1e6
                print(
                    f"| {kind} | {size:.0f} | {a:.2f} | {b:.2f} | {a / b:.0%} | {m:.0f} | {n:.0f} | {len(last)} | {at_once(last):.1f} | {sent:.0f} |"
                )
                if given.log:
                    for what, path, start, end, n_bytes in sorted(last, key=lambda one: one[2]):
                        print(f"    {start - min(one[2] for one in last):6.3f} {end - start:6.3f} {n_bytes:9,} {what} {path}")


if __name__ == "__main__":
    main()
