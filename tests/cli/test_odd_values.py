"""Types in Python, and pipes; tests/jobs has options, and names that are too long."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

import lookalike as la
from lookalike.errors import ParameterError


def test_plan_in_python_takes_numbers_of_numpy_and_refuses_other_types():
    found = la.plan(threshold=np.float32(0.75), permutations=np.int64(256), documents=np.int64(10)).to_dict()
    assert json.loads(json.dumps(found)) == found == la.plan(threshold=0.75, permutations=256, documents=10).to_dict()
    for name, value in {"recall": None, "documents": "many", "standard_error": "small", "sketch_bytes": True}.items():
        with pytest.raises(ParameterError) as caught:
            la.plan(**{name: value})
        assert (caught.value.name, caught.value.value) == (name, value) and caught.value.reason.startswith("must be a")


def test_compare_reads_pipes_once(run):
    ends = os.pipe()
    for text in (b"one two three four five six", None):
        os.write(ends[1], text) if text else os.close(ends[1])
    Path("a.txt").write_text("one two three four five six")
    found = json.loads(run(f"compare /dev/fd/{ends[0]} a.txt --json")[1])
    os.close(ends[0])
    assert found["resemblance"] == 1.0 and found["shingles_left"] == 2
