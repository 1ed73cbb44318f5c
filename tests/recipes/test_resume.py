"""A job that is killed goes on where it was and ends with the same bytes."""

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import lookalike as la

FIXED = {"id": "id", "threads": 1, "annotate": True, "keep": "largest:score"}


@pytest.fixture(scope="module")
def runner():
    command = [sys.executable, "-W", "ignore", str(Path(__file__).with_name("interrupted.py"))]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(inputs, output, kill=None, **settings):
        job = {"inputs": inputs, "output": str(output), "kill": kill, "settings": settings}
        process.stdin.write(json.dumps(job) + "\n")
        process.stdin.flush()
        return int(process.stdout.readline())

    yield run
    process.stdin.close()
    process.wait()
    process.stdout.close()


@pytest.fixture(scope="module")
def expected(inputs, tmp_path_factory):
    path = tmp_path_factory.mktemp("expected") / "out.jsonl"
    result = la.dedup(inputs, **FIXED)
    assert result.summary.near_duplicates > 100 and result.summary.exact_duplicates >= 30
    result.write(path, annotate=True)
    return path.read_bytes()


def kill_and_resume(runner, inputs, expected, folder, kill, again=None):
    output, work, codes = folder / "out/out.jsonl", folder / "work", []
    output.parent.mkdir(parents=True)
    while not codes or codes[-1]:
        codes.append(runner(inputs, output, again if codes else kill, work=str(work), **FIXED))
        assert codes[-1] in (-9, 0)
        assert codes[-1] == 0 or not output.exists() or output.read_bytes() == expected
    assert output.read_bytes() == expected
    assert sorted(p.name for p in output.parent.iterdir()) == ["out.jsonl", "out.jsonl_lookalike.json"]
    assert not work.exists() or not list(work.iterdir())
    return codes


@pytest.mark.parametrize("every", [pytest.param(1, marks=pytest.mark.slow), 8])
def test_killed_at_parts(runner, inputs, expected, tmp_path, every):
    """Before and after each part is written, or one of some, until there is no part more."""
    number, codes = 1, [-9, 0]
    while codes == [-9, 0]:
        codes = kill_and_resume(runner, inputs, expected, tmp_path / f"a{number}", ["put", number, "before"])
        kill_and_resume(runner, inputs, expected, tmp_path / f"b{number}", ["put", number + every // 2, "after"])
        number += every
    assert number > 25, "all stages leave parts"


@pytest.mark.parametrize("n", [8, pytest.param(300, marks=pytest.mark.slow)])
def test_killed_at_random_moments(runner, inputs, expected, tmp_path, n):
    rng, began = np.random.default_rng(5), time.monotonic()
    assert kill_and_resume(runner, inputs, expected, tmp_path / "whole", None) == [0]
    took = time.monotonic() - began  # on this machine, as busy as it is
    kills = [["seconds", float(moment)] for moment in rng.uniform(0, took, n)]
    codes = [kill_and_resume(runner, inputs, expected, tmp_path / str(i), kill) for i, kill in enumerate(kills)]
    assert [-9, 0] in codes


def test_killed_again_and_again(runner, inputs, expected, tmp_path):
    """Each run gets a few parts further."""
    kill = ["put", 9, "after"]
    assert 4 < len(kill_and_resume(runner, inputs, expected, tmp_path, kill, kill)) < 100
