"""``--engine``, and plans for inputs, as far as they need no cluster: what is refused, said, and estimated."""

import json
import sys

import pytest
from cli.commands import run
from json_lines import write_lines

from lookalike.cli.spark import check_options
from lookalike.errors import ParameterError

TEXTS = [" ".join(f"word{i}" for i in range(40)), "unlike it"] * 3


@pytest.fixture
def corpus(tmp_path):
    return write_lines(tmp_path / "in.jsonl", TEXTS)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--engine", "spark", "--threads", "2"], "--threads is for one machine"),
        (["--engine", "spark", "--set", "conf=spark.executor.memory"], "conf takes a setting of Spark, such as"),
        (["--engine", "spark", "--set", "conf=memory=4g"], "got 'memory=4g'"),
        (["--engine", "spark", "-o", "out.parquet"], "the tasks of a cluster write one for each input: name a folder, such as out/"),
        (["--engine", "spark", "-o", "wasb://lake/out"], "wasb://lake/out: no store is known for wasb://; known are s3://"),
        (["--engine", "spark", "-o", "gs://lake/out.jsonl"], "name a folder, such as gs://lake/out/"),
        (["--engine", "spark", "--set", "save_sketches=wasb://lake/history"], "wasb://lake/history: no store is known for wasb://"),
        (["-o", "gs://lake/out.jsonl"], "gs://lake/out.jsonl is on an object store, where only folders of documents"),
        (["--set", "master=local[2]"], "master and conf are for --engine spark"),
        (["--engine", "local", "--set", "conf=spark.executor.memory=4g"], "master and conf are for --engine spark"),
        (["--engine", "flink"], "engine must be one of local, spark"),
    ],
)  # fmt: skip
def test_what_is_refused(capfd, corpus, arguments, message):
    code, out, err = run(capfd, "dedup", corpus, *arguments)
    assert code == 2 and out == "" and message in err and err.count("\n") == 1


def test_an_output_that_exists_is_refused_before_spark_is_started(capfd, corpus, tmp_path):
    (tmp_path / "out").mkdir()
    code, _, err = run(capfd, "dedup", corpus, "--engine", "spark", "-o", tmp_path / "out")
    assert code == 1 and "exists; pass --force" in err


def test_settings_of_spark_are_passed_on():
    settings = check_options(None, ["spark.executor.memory=4g", "spark.executorEnv.A_B=x=y"])
    assert settings["spark.executor.memory"] == "4g" and settings["spark.executorEnv.A_B"] == "x=y"
    assert settings["spark.ui.showConsoleProgress"] == "false"
    with pytest.raises(ParameterError):
        check_options(None, ["spark=1"])


@pytest.mark.parametrize("module", ["pyspark.sql", "pandas"])
def test_without_pyspark_or_pandas_one_line_says_what_to_install(capfd, corpus, monkeypatch, module):
    monkeypatch.setitem(sys.modules, module, None)
    code, _, err = run(capfd, "dedup", corpus, "--engine", "spark")
    assert code == 1 and "pip install 'lookalike[spark]'" in err and err.count("\n") == 1


@pytest.mark.parametrize(("version", "said"), [("11.0.2", "is Java 11; Spark needs Java 17"), (None, "no Java was found at")])
def test_without_java_one_line_says_what_to_install(capfd, corpus, monkeypatch, tmp_path, version, said):
    pytest.importorskip("pyspark")
    if version is not None:
        (tmp_path / "bin").mkdir()
        (tmp_path / "bin/java").write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
        (tmp_path / "bin/java").chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setattr("pyspark.sql.SparkSession.getActiveSession", lambda: None)
    code, _, err = run(capfd, "dedup", corpus, "--engine", "spark", "--set", "master=local[1]")
    assert code == 2 and said in err and err.count("\n") == 1


def test_a_plan_says_what_one_machine_takes(capfd, corpus):
    words = ["plan", corpus, "--duplicates", "0.5", "--work", "job", "--threads", "1"]
    code, out, err = run(capfd, *words)
    assert code == 0 and err == "" and "16 bands of 6 rows" in out
    assert "\ndedup of about 6 documents, " in out and "50% have a near-duplicate" in out and "  memory: about" in out
    assert "--duplicates 0.5, --family 3" in out
    plan = json.loads(run(capfd, *words, "--json")[1])
    found = plan["foresight"]
    assert plan["bands"] == 16 and found["documents"] == 6 and found["threads"] == 1 and found["disk"] > 0


def test_a_plan_of_containment_says_how_documents_are_found(capfd, corpus):
    words = ["plan", corpus, "--measure", "containment", "-t", "0.9"]
    code, out, _ = run(capfd, *words)
    assert code == 0 and "24 of 32 sampled shingles" in out and "bands" not in out
    found = json.loads(run(capfd, *words, "--json")[1])
    assert found["least"] == 24 and found["foresight"]["seconds"]["finding"] > 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("IN --documents 9", "--documents does not go with INPUT"),
        ("--text body", "--text needs INPUT"),
        ("--set exclude=x", "--set exclude=... needs INPUT"),
        ("--documents 9 --memory 1GB", "--memory needs INPUT, or --documents and --bytes"),
    ],
)
def test_options_that_a_plan_has_no_use_for_are_refused(capfd, corpus, words, message):
    code, out, err = run(capfd, "plan", *[corpus if word == "IN" else word for word in words.split()])
    assert (code, out) == (2, "") and message in err
