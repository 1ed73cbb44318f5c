"""Managed clusters give data frames of Spark Connect."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from corpora import planted
from java_home import java_home
from json_lines import write_lines

import lookalike as la

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def test_a_frame_of_connect_is_deduplicated_as_a_file(tmp_path, rng):
    for name in ("pyspark", "grpc", "grpc_status"):
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed")
    texts = planted(rng, n_families=20)
    path = write_lines(tmp_path / "in.jsonl", ({"name": f"d{i:05}", "text": text} for i, text in enumerate(texts)))
    here = la.dedup(path, id="name")
    environment = os.environ | {"JAVA_HOME": str(java_home()), "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name("connected.py"), path], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-5000:]
    found = json.loads(done.stdout.splitlines()[-1])
    removed = sorted(zip(here.removed["id"].to_pylist(), here.removed["duplicate_of"].to_pylist(), strict=True))
    assert found == {"clean": here.kept["id"].to_pylist(), "removed": [list(pair) for pair in removed]} and removed
