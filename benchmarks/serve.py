"""How many queries a second `lookalike serve` answers: a load test over the loopback, beside the call in Python.

Each query is a new text: half of them are like a document of the index, half like none. The client is a process of its own, with requests
that were made before. The figures "per core" divide by the processor time of the server, so they do not depend on what else runs.

    nice -n -5 python benchmarks/serve.py --documents 1000000 --folder /tmp/serve.idx --seconds 8
"""

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import uvloop

import lookalike as la

WORDS, LENGTH = np.array([f"w{i:05x}" for i in range(50_000)]), 24
BARE = """
import asyncio, json, sys, uvicorn
BODY = json.dumps({"results": [[]]}).encode()
async def app(scope, receive, send):
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(BODY))]})
    await send({"type": "http.response.body", "body": BODY})
uvicorn.run(app, port=int(sys.argv[1]), log_level="error", access_log=False, lifespan="off", loop="uvloop", http="httptools")
"""


def documents(begin, end):
    """Return the texts of some documents, the same ones each time."""
    drawn = [
        np.random.default_rng([1, block]).integers(0, len(WORDS), (100_000, LENGTH))
        for block in range(begin // 100_000, -(-end // 100_000))
    ]
    return [" ".join(row) for row in WORDS[np.concatenate(drawn)[begin % 100_000 :][: end - begin]].tolist()]


def fill(folder, n):
    """Make the index, unless it is there."""
    if not (folder / "manifest").exists():
        with la.Index.create(folder) as index:
            for begin in range(0, n, 100_000):
                end = min(n, begin + 100_000)
                index.add([f"doc-{i}" for i in range(begin, end)], documents(begin, end), threads=os.cpu_count())
            index.compact()


def queries(n, n_documents, seed):
    """Return new texts, every other one with another last word than a document has."""
    rng = np.random.default_rng([2, seed])
    known = documents(0, min(n_documents, 100_000))
    fresh = WORDS[rng.integers(0, len(WORDS), (n, LENGTH))].tolist()
    out = [" ".join(row) for row in fresh]
    for i, row in zip(range(0, n, 2), rng.integers(0, len(known), n // 2 + 1).tolist(), strict=False):
        out[i] = f"{known[row].rpartition(' ')[0]} x{seed}y{i}"
    return out


def requests_of(texts, batch, port):
    """Return requests, whole."""
    out = []
    for begin in range(0, len(texts) - batch + 1, batch):
        body = json.dumps({"texts": texts[begin : begin + batch]}).encode()
        head = f"POST /v1/query HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        out.append(head.encode() + body)
    return out


class Client(asyncio.Protocol):
    """A connection that sends a request and waits for the answer."""

    def __init__(self, done):
        self.done, self.buffer, self.sent = done, b"", 0.0

    def connection_made(self, transport):
        """Keep the connection."""
        self.transport = transport

    def send(self, request, due=None):
        """Send a request; its time counts from when it was due."""
        self.sent = due or time.perf_counter()
        self.transport.write(request)

    def data_received(self, data):
        """Wait for the end of an answer, then go on."""
        self.buffer = self.buffer + data if self.buffer else data
        end = self.buffer.find(b"\r\n\r\n")
        if end >= 0:
            begin = self.buffer.find(b"content-length: ") + 16
            size = int(self.buffer[begin : self.buffer.find(b"\r", begin)])
            if len(self.buffer) >= end + 4 + size:
                status, self.buffer = self.buffer[9:12], b""
                self.done(self, time.perf_counter() - self.sent, status)


async def load(port, requests, connections, seconds, rate):
    """Send requests for some seconds, as fast as they are answered, or at a rate; return the times, and how many failed."""
    loop, times, failed, left = asyncio.get_running_loop(), [], 0, iter(requests)
    until, free = time.perf_counter() + seconds, []

    def done(client, took, status):
        nonlocal failed
        times.append(took)
        failed += status != b"200"
        if rate:
            free.append(client)
        elif time.perf_counter() < until and (request := next(left, None)) is not None:
            client.send(request)

    clients = [(await loop.create_connection(lambda: Client(done), "127.0.0.1", port))[1] for _ in range(connections)]
    begun = time.perf_counter()
    if rate:
        free += clients
        for i, request in enumerate(left):
            due = begun + i / rate
            if due > until:
                break
            while time.perf_counter() < due or not free:
                await asyncio.sleep(min(0.001, max(0.0, due - time.perf_counter())))
            free.pop().send(request, due)
        begun += max(0.0, time.perf_counter() - begun - seconds)  # the rate is of the time in which requests were sent
        await asyncio.sleep(0.5)
        begun += 0.5
    else:
        for client in clients:
            client.send(next(left))
        while time.perf_counter() < until:
            await asyncio.sleep(0.05)
    took = time.perf_counter() - begun
    for client in clients:
        client.transport.close()
    return sorted(times), failed, took


def client(pipe, port, requests, connections, seconds, rate):
    """Run the load in a process of its own."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        pipe.send(runner.run(load(port, requests, connections, seconds, rate)))


def cpu(pid):
    """Return the processor time that a process has taken."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(name, server, port, texts, batch, connections, seconds, rate=None):
    """Put load on a server, and print what came of it."""
    requests = requests_of(texts, batch, port)
    mine, theirs = get_context("fork").Pipe()
    process = get_context("fork").Process(target=client, args=(theirs, port, requests, connections, seconds, rate))
    before = cpu(server.pid)
    process.start()
    times, failed, took = mine.recv()
    process.join()
    spent = cpu(server.pid) - before
    n = len(times)
    said = {
        "run": name, "connections": connections, "batch": batch, "texts/s": round(n * batch / took), "texts per core-second": round(n * batch / spent),
        "p50 ms": round(1000 * times[n // 2], 2), "p99 ms": round(1000 * times[int(n * 0.99)], 2), "server cores": round(spent / took, 2), "failed": failed,
    }  # fmt: skip
    print(json.dumps(said), flush=True)
    return said


def start(command):
    """Start a server; return it and its port."""
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    port = int(server.stdout.readline().rpartition(":")[2].strip("/\n")) if "serve" in command else int(command[-1])
    return server, port


def main():
    """Measure the framework alone, the service, and the call."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=lambda given: int(float(given)), default=100_000)
    parser.add_argument("--folder", default=None, help="of the index, which is made if it is not there, and kept")
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--connections", type=int, nargs="*", default=[1, 64])
    given = parser.parse_args()
    folder = Path(given.folder or tempfile.mkdtemp(prefix="lookalike-serve-")) / "index"
    folder.parent.mkdir(exist_ok=True)
    fill(folder, given.documents)
    n = int(20_000 * given.seconds)
    texts = queries(n, given.documents, os.getpid())
    rest = queries(10 * n, given.documents, os.getpid() + 1)
    with la.Index.open(folder, "read") as index:
        for batch in (1, 64, 100):
            index.query(texts[:batch])
            begun, calls = time.process_time(), 300
            for i in range(calls):
                index.query(rest[i * batch : (i + 1) * batch])
            print(
                json.dumps(
                    {
                        "run": "Index.query",
                        "batch": batch,
                        "texts per core-second": round(calls * batch / (time.process_time() - begun)),
                    }
                )
            )
    bare, port = start([sys.executable, "-c", BARE, "8397"])
    time.sleep(1.5)
    for connections in given.connections:
        measure("framework alone", bare, port, texts, 1, connections, given.seconds)
    measure("framework alone", bare, port, rest, 100, 8, given.seconds)
    measure("framework alone, 1,000 a second", bare, port, texts, 1, 64, given.seconds, 1000)
    bare.kill()
    server, port = start([sys.executable, "-m", "lookalike", "serve", str(folder), "--port", "0"])
    try:
        measure("warm", server, port, texts[-4000:], 1, 16, 1)
        for connections in given.connections:
            measure("service", server, port, texts, 1, connections, given.seconds)
        measure("service", server, port, rest, 100, 8, given.seconds)
        measure("service, 1,000 a second", server, port, texts, 1, 64, given.seconds, 1000)
    finally:
        server.send_signal(signal.SIGTERM)
        print("status", server.wait(20))


if __name__ == "__main__":
    main()
