"""``--engine``, and plans for inputs, as far as they need no cluster: what is refused, said, and estimated."""

import json
import os
from pathlib import Path

import pytest
from json_lines import write_lines

from lookalike.cli.spark import check_options
from lookalike.errors import ParameterError


@pytest.fixture(autouse=True)
def _corpus():
    write_lines("in.jsonl", [" ".join(f"word{i}" for i in range(40)), "unlike it"] * 3)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("dedup in.jsonl --engine spark --threads 2", "--threads is for one machine"),
        ("dedup in.jsonl --engine spark --set conf=spark.executor.memory", "conf takes a setting of Spark, such as"),
        ("dedup in.jsonl --engine spark --set conf=memory=4g", "got 'memory=4g'"),
        ("dedup in.jsonl --engine spark -o out.parquet", "the tasks of a cluster write one for each input: name a folder, such as out/"),
        ("dedup in.jsonl --engine spark -o wasb://lake/out", "wasb://lake/out: no store is known for wasb://; known are s3://"),
        ("dedup in.jsonl --engine spark -o gs://lake/out.jsonl", "name a folder, such as gs://lake/out/"),
        ("dedup in.jsonl --engine spark --set save_sketches=wasb://lake/history", "wasb://lake/history: no store is known for wasb://"),
        ("dedup in.jsonl -o gs://lake/out.jsonl", "gs://lake/out.jsonl is on an object store, where only folders of documents"),
        ("dedup in.jsonl --set master=local[2]", "master and conf are for --engine spark"),
        ("dedup in.jsonl --engine local --set conf=spark.executor.memory=4g", "master and conf are for --engine spark"),
        ("dedup in.jsonl --engine flink", "engine must be one of local, spark"),
        ("plan in.jsonl --documents 9", "--documents does not go with INPUT"),
        ("plan --text body", "--text needs INPUT"),
        ("plan --set exclude=x", "--set exclude=... needs INPUT"),
        ("plan --documents 9 --memory 1GB", "--memory needs INPUT, or --documents and --bytes"),
    ],
)  # fmt: skip
def test_what_is_refused(run, line, message):
    code, out, err = run(line)
    assert (code, out) == (2, "") and message in err and err.count("\n") == 1


def test_an_output_that_exists_is_refused_before_spark_is_started(run):
    os.mkdir("out")
    code, _, err = run("dedup in.jsonl --engine spark -o out")
    assert code == 1 and "exists; pass --force" in err


def test_settings_of_spark_are_passed_on():
    settings = check_options(None, ["spark.executor.memory=4g", "spark.executorEnv.A_B=x=y"])
    assert settings["spark.executor.memory"] == "4g" and settings["spark.executorEnv.A_B"] == "x=y"
    assert settings["spark.ui.showConsoleProgress"] == "false"
    with pytest.raises(ParameterError):
        check_options(None, ["spark=1"])


@pytest.mark.parametrize(("version", "said"), [("11.0.2", "is Java 11; Spark needs Java 17"), (None, "no Java was found at")])
def test_without_java_one_line_says_what_to_install(run, monkeypatch, tmp_path, version, said):
    pytest.importorskip("pyspark")
    if version is not None:
        os.mkdir("bin")
        Path("bin/java").write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
        os.chmod("bin/java", 0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setattr("pyspark.sql.SparkSession.getActiveSession", lambda: None)
    code, _, err = run("dedup in.jsonl --engine spark --set master=local[1]")
    assert code == 2 and said in err and err.count("\n") == 1


def test_a_plan_says_what_one_machine_takes(run):
    line = "plan in.jsonl --duplicates 0.5 --work job --threads 1"
    code, out, err = run(line)
    assert code == 0 and err == "" and "16 bands of 6 rows" in out
    assert "\ndedup of about 6 documents, " in out and "50% have a near-duplicate" in out and "  memory: about" in out
    assert "--duplicates 0.5, --family 3" in out
    plan = json.loads(run(f"{line} --json")[1])
    found = plan["foresight"]
    assert plan["bands"] == 16 and found["documents"] == 6 and found["threads"] == 1 and found["disk"] > 0


def test_a_plan_of_containment_says_how_documents_are_found(run):
    line = "plan in.jsonl --measure containment -t 0.9"
    code, out, _ = run(line)
    assert code == 0 and "24 of 32 sampled shingles" in out and "bands" not in out
    found = json.loads(run(f"{line} --json")[1])
    assert found["least"] == 24 and found["foresight"]["seconds"]["finding"] > 0
