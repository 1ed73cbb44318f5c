"""Odd values have an answer or a clear error: types in Python, names that are too long, pipes; tests/jobs has those of options."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from json_lines import write_lines

import lookalike as la


def test_plan_in_python_takes_numbers_of_numpy_and_refuses_other_types():
    found = la.plan(threshold=np.float32(0.75), permutations=np.int64(256), documents=np.int64(10)).to_dict()
    assert json.loads(json.dumps(found)) == found == la.plan(threshold=0.75, permutations=256, documents=10).to_dict()
    for name, value in (("recall", None), ("documents", "many"), ("standard_error", "small"), ("sketch_bytes", True)):
        with pytest.raises(la.errors.ParameterError) as caught:
            la.plan(**{name: value})
        assert (caught.value.name, caught.value.value) == (name, value) and caught.value.reason.startswith("must be a")


@pytest.mark.parametrize("line", ["dedup in.jsonl --history", "serve", "serve --mcp"])
def test_a_name_that_is_too_long_is_an_error(run, line):
    write_lines("in.jsonl", ["one"])
    code, _, err = run(line, "x" * 300)
    assert code == 1 and err.startswith(f"error: {'x' * 100}")


def test_compare_reads_pipes_once(run):
    ends = os.pipe()
    for text in (b"one two three four five six", None):
        os.write(ends[1], text) if text else os.close(ends[1])
    Path("a.txt").write_text("one two three four five six")
    found = json.loads(run(f"compare /dev/fd/{ends[0]} a.txt --json")[1])
    os.close(ends[0])
    assert found["resemblance"] == 1.0 and found["shingles_left"] == 2
