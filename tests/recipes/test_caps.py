"""Shapes under which a small limit on memory was once exceeded."""

import gzip
import json
import re
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from cli.commands import run
from samples import one_in

from lookalike.engines.memory import FLOOR

ROOM = 170_000_000
pytestmark = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="the system does not say what memory is a process's own"
)


def watched(*args):
    """How much memory of its own a command had at most beyond the floor."""
    code = "import sys; from lookalike.cli.main import main; main()"
    command = [sys.executable, "-c", code, *map(str, args), "--memory", str(FLOOR + ROOM)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        peak, status = 0, Path(f"/proc/{process.pid}/status")
        while process.poll() is None:
            sizes = re.findall(r"Rss(?:Anon|Shmem):\s+(\d+)", status.read_text())
            peak = max(peak, 1024 * sum(map(int, sizes)))
            time.sleep(0.005)
    assert process.returncode == 0
    return peak - FLOOR


def words(rng, n):
    return np.array([f"{word:x}" for word in rng.integers(0, 1 << 24, n).tolist()])


def write(path, texts):
    with path.open("w") as stream:
        for i, text in enumerate(texts):
            stream.write(json.dumps({"id": i, "text": text, "source": f"source {i} {'x' * 100}"}) + "\n")


def excerpts(rng, between=" ", each=1):
    """All words are repeated."""
    whole = words(rng, 300_000).tolist()
    for start, n in ((0, len(whole)), *((at, 130) for at in rng.integers(0, len(whole) - 300, 60_000).tolist())):
        yield between.join(" ".join(whole[i : i + each]) for i in range(start, start + n, each))


def versions(rng):
    """Pages of a few templates in two versions, most of whose words are boilerplate."""
    known = words(rng, 20_000)
    templates = [rng.choice(known, 400) for _ in range(4)]
    for i in range(4500):
        own = rng.choice(known, 200)
        for _ in range(2):
            yield " ".join([*templates[i % 4], *own])
            own = np.where(rng.random(200) < 0.05, rng.choice(known, 200), own)


def itself(rng):
    paragraphs = [" ".join(words(rng, 80)) for _ in range(200)]
    yield "\n".join(paragraphs[i] for i in rng.integers(0, 200, 25_000))


def copies(rng):
    return ["words that all the documents have, every one of them"] * 100_000


def emoji_of(rng, n):
    return rng.integers(0x1F300, 0x1F5FF, n).astype("<u4").tobytes().decode("utf-32-le")


def emoji(folder, rng):
    """Characters take four bytes each."""
    for i in range(2):
        (folder / f"{i}.txt").write_text(emoji_of(rng, 3_500_000))


def table(folder, rng):
    """Nearly as large as a document may be."""
    (folder / "in.csv").write_text("".join(f"{text}\n" for text in ["text", *(emoji_of(rng, 7_000_000) for _ in range(3))]))


def record(i, body):
    page = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html><body><p>page {i}</p>{body}</body></html>"
    return (f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://example.org/{i}\r\nWARC-Record-ID: <urn:{i}>"
            f"\r\nWARC-Date: 2024-01-01T00:00:00Z\r\nContent-Type: application/http\r\nContent-Length: {len(page)}"
            f"\r\n\r\n{page}\r\n\r\n")  # fmt: skip


def pages(folder, rng):
    """With hardly any white space between tags."""
    body = "".join(f"<p>{' '.join(some)}</p>" for some in words(rng, 800_000).reshape(-1, 100))
    (folder / "in.warc").write_text("".join(record(i, body) for i in range(3)))


def crawl(folder, rng):
    with gzip.open(folder / "in.warc.gz", "wt", 1) as stream:
        for i in range(300):
            paragraphs = words(rng, 1_400_000 if i == 200 else 5_000).reshape(-1, 100)
            stream.write(record(i, "".join(f"<p>{' '.join(some)}</p>" for some in paragraphs)))


def letters(folder, rng, n=1_050_000):
    """Nearly as many words as a text may have."""
    one, other = (" ".join(rng.choice([*"abcdefghijklmnopqrstuvwxyz"], n)) for _ in range(2))
    write(folder / "in.jsonl", [one, f"x y z {one}", other, f"{other} q"])


def lines(folder, rng, of):
    write(folder / "in.jsonl", of(rng))


@pytest.mark.parametrize(
    ("shape", "job", "threads"),
    [
        *one_in(
            4,
            [
                (partial(lines, of=excerpts), ["repeats", "--unit", "passage"]),
                (partial(lines, of=partial(excerpts, between="\n", each=5)), ["repeats", "--min-words", 2]),
                (partial(lines, of=itself), ["repeats", "--unit", "passage"]),
                (partial(lines, of=versions), ["dedup", "--threshold", 0.5]),
                (partial(lines, of=versions), ["pairs", "--threshold", 0.7, "--recall", 1]),
                (partial(lines, of=copies), ["dedup", "--set", "counts=true", "--set", "source=source"]),
            ],
            [1, 2],
        ),
        *one_in(
            3,
            [
                (crawl, ["dedup"], 2),
                (emoji, ["dedup"], 2),
                (table, ["dedup"], 2),
                (partial(letters, n=1_500_000), ["dedup"], 2),
                (pages, ["dedup"], 2),
                (letters, ["dedup", "--recall", 1], 2),
                (letters, ["pairs", "--recall", 1, "--threshold", 0.5], 2),
                (letters, ["repeats", "--unit", "passage"], 2),
            ],
        ),
    ],
)
def test_a_small_limit_is_kept(tmp_path, rng, shape, job, threads):
    (tmp_path / "in").mkdir()
    shape(tmp_path / "in", rng)
    assert watched(*job, tmp_path / "in", "--threads", threads, "-o", tmp_path / "out.jsonl") < ROOM


@pytest.mark.parametrize(
    ("text", "n", "job", "unit"),
    [
        ("a b ", 1_600_000, ["dedup"], "words"),
        ("大", 1_200_000, ["dedup", "--recall", 1], "words"),
        ("a\nb\n", 600_000, ["repeats"], "lines"),
    ],
)
def test_a_text_of_too_many_words_is_refused_or_left_out(tmp_path, capsys, text, n, job, unit):
    write(tmp_path / "in.jsonl", [text * (n // len(text.split() or text)), "a text that is short"])
    command = [*job, tmp_path / "in.jsonl", "-o", tmp_path / "out.jsonl", "--memory", FLOOR + ROOM]
    code, _, err = run(capsys, *command)
    assert code == 1 and re.search(rf"row 1: the document has about ({n:,d}|{n + 1:,d}) {unit}, more", err)
    assert run(capsys, *command, "--set", "max_document=1MB", "--on-error", "skip")[0] == 0
    assert "a text that is short" in (tmp_path / "out.jsonl").read_text()
