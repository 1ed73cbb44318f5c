"""Shapes under which a small limit on memory was once exceeded: each in a process of its own, which is watched."""

import json
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import JIT_OFF

from lookalike.engines.memory import FLOOR

ROOM = 170_000_000
pytestmark = [
    pytest.mark.skipif(JIT_OFF, reason="tens of megabytes of text"),
    pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not say what memory is a process's own"),
]


def watched(*args):
    """Run a command; return how much memory of its own it had at most beyond the floor."""
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
    return np.array([f"{word:x}" for word in rng.integers(0, 1 << 24, n)])


def write(path, texts):
    with path.open("w") as stream:
        for i, text in enumerate(texts):
            stream.write(json.dumps({"id": i, "text": text, "source": f"source {i} {'x' * 100}"}) + "\n")


def excerpts(rng, between=" ", each=1):
    """A text, and excerpts of it: all their words are repeated."""
    whole = words(rng, 300_000)
    yield between.join(" ".join(whole[i : i + each]) for i in range(0, len(whole), each))
    for start in rng.integers(0, len(whole) - 300, 60_000).tolist():
        some = whole[start : start + 130]
        yield between.join(" ".join(some[i : i + each]) for i in range(0, 130, each))


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
    """A text that repeats its paragraphs in any order."""
    paragraphs = [" ".join(words(rng, 80)) for _ in range(200)]
    yield "\n".join(paragraphs[i] for i in rng.integers(0, 200, 25_000))


def copies(rng):
    return ["words that all the documents have, every one of them"] * 100_000


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("job", "shape"),
    [
        (["passages"], excerpts),
        (["lines", "--min-words", 2], lambda rng: excerpts(rng, "\n", 5)),
        (["passages"], itself),
        (["dedup", "--threshold", 0.5], versions),
        (["pairs", "--threshold", 0.7, "--recall", 1], versions),
        (["dedup", "--set", "counts=true", "--set", "source=source"], copies),
    ],
    ids=["excerpts", "lines", "itself", "versions", "recall 1", "counts"],
)
def test_a_small_limit_is_kept(tmp_path, rng, job, shape, threads):
    if job[0] == "passages" and shape is itself and threads == 2:
        pytest.skip("one text is read by one thread")
    write(tmp_path / "in.jsonl", shape(rng))
    assert watched(*job, tmp_path / "in.jsonl", "--threads", threads, "-o", tmp_path / "out.jsonl") < ROOM
