"""Commands against Python, and what takes a patch or another user; the rest is in tests/jobs."""

import inspect
import json
import os
import tomllib
from itertools import product
from pathlib import Path

import click
import pytest
from json_lines import write_lines
from object_store import put_folder
from raising import assert_raises
from samples import words

import lookalike as la
from lookalike.cli.config import PRESETS
from lookalike.cli.messages import fitted
from lookalike.cli.plan import plan
from lookalike.cli.spark import check_options
from lookalike.errors import ParameterError, TooManyRemovedError

PAGE = words("word", 40)


def test_presets_decide_what_is_not_given(run):
    for command, preset in product(["dedup", "pairs"], PRESETS):
        found = tomllib.loads(run(f"{command} --preset {preset} --print-config")[1])
        assert found | PRESETS[preset] == found
        assert preset in Path(__file__).parents[2].joinpath("docs/how-to/choosing-parameters.md").read_text()


def test_plan_has_the_parameters_of_the_function():
    options = {p.name: p.get_default(click.Context(plan)) for p in plan.params}
    known = inspect.signature(la.foresee).parameters | inspect.signature(la.plan).parameters
    wanted = {name: p.default if p.default is not p.empty else None for name, p in known.items()}
    assert {name: options[name] for name in wanted} == wanted | {"work": None, "format": None}


def test_plan_foresees_what_python_does(run):
    line = "plan --documents 1e6 --bytes 1e+9 --memory 1GB --threads 2 --duplicates 0.1 --family 4 --json"
    wanted = la.foresee(documents=1e6, bytes=1e9, memory="1GB", threads=2, duplicates=0.1, family=4)
    assert json.loads(run(line)[1])["foresight"] == wanted.to_dict()


def test_version(run):
    assert run("--version")[1].strip() == f"lookalike, version {la.__version__}"


def test_no_permission_is_told_before_any_work(ends, monkeypatch):
    write_lines("in.jsonl", [PAGE])
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    ends(1, "dedup in.jsonl -o out.jsonl", "no permission")


def test_names_fit():
    from rich.cells import cell_len

    names = ["a" * 50, "文" * 30, "e\u0301" * 40, "short", "", "\x1b" * 9]
    for text, most, at_end in product(names, [12, 13, 40], [False, True]):
        shown, size = fitted(text, most, at_end)
        assert cell_len(shown) == size <= most and shown.isprintable()
        whole, width = fitted(text, None)
        assert width == cell_len(whole) and (shown == whole) == (width <= most)
    assert fitted("data/part-00017.jsonl:123456", 15) == ("data/pa…:123456", 15)
    assert fitted("data/part-00017.jsonl:123456", 15, at_end=True) == ("data/part-0001…", 15)


def test_a_message_names_the_sources_that_lose_most():
    for number, copies in enumerate([9, 0, 10, *range(8, -1, -1), 10]):
        write_lines(f"f{number:02}.jsonl", [f"own text {number} {row}" if row < copies else PAGE for row in range(10)])
    write_lines("a.jsonl", [PAGE])
    with pytest.raises(TooManyRemovedError) as caught:
        la.dedup(".", fail_if_removed=0.99)
    la.dedup([f"text {max(i, 29)}" for i in range(50)], fail_if_removed=0.58)  # of 29: not more
    said, all_of = str(caught.value), "10 of 10 documents (100.0%)"
    assert f"nothing would be left of 2 inputs (f01.jsonl: {all_of}, f11.jsonl: {all_of}, f10.jsonl: 9 of" in said
    assert said.count("of 10 documents") == 10 and ", and 1 more)" in said and "more than" not in said
    assert "run again without fail_if_removed, with output= to write all, or without output=" in said


def test_what_somebody_else_saved_is_read_where_the_user_says(crawl, run, ends, monkeypatch):
    how = "w0 -t 0.6 --width 1 --id id"
    assert run(f"dedup {how} --save job --quiet") == (0, "", "")
    assert run(f"dedup {how} --history history -o out --set history_texts=false --set counts=true --quiet") == (0, "", "")
    id = next(row["id"] for row in la.Result.load("job").decisions.to_pylist() if row["reason"] == "near")
    monkeypatch.setenv("XDG_STATE_HOME", str(crawl / "other user"))
    assert run("show job")[0] == run(f"show job {id} --no-texts")[0] == run("history counts history")[0] == 0
    ends(1, f"show job {id}", "you did not save it on this machine", f"({crawl}/w0/", "--trust PATH")
    code, out, _ = run("history check history")
    assert code == 1 and out.count("a folder around it: --trust PATH") == 1
    for line, trust, code in (
        (f"show job {id}", "w0", 0),
        (f"show job {id}", "job", 1),
        ("history check history", ".", 0),
    ):
        assert run(f"{line} --trust {trust}")[0] == code


def test_weeks_on_a_store(crawl, run, ends, bucket):
    lake = str(put_folder(crawl, bucket / "lake"))
    how = "-t 0.6 --width 1 --json --quiet --set save_sketches"
    code, out, _ = run(f"dedup {lake}/w0 {how}={lake}/history/w0")
    found = json.loads(out)
    assert code == 0 and found["sketches"] == f"{lake}/history/w0"
    again = f"dedup {lake}/w1 --against {lake}/history {how}={lake}"
    for where, message in {
        "history/w0": "history/w0 exists; pass --force",
        f"history/w0 --force --against {lake}/history/w0": "w0 is, or holds, the sketches that this job is run against",
        "w1/history": "is inside the input folder",
        "history/w0/more": "overlap; choose another name",
        f"out/history --engine spark -o {lake}/out": "overlap; choose another name",
        f"job/history --engine spark --work {lake}/job": "overlap; choose another name",
    }.items():
        ends(1, f"{again}/{where}", message)
    code, out, _ = run(f"{again}/history/w1")
    assert code == 0 and json.loads(out)["reference"] == found["kept"]


def test_settings_of_spark_are_passed_on():
    settings = check_options(None, ["spark.executor.memory=4g", "spark.executorEnv.A_B=x=y"])
    assert settings["spark.executor.memory"] == "4g" and settings["spark.executorEnv.A_B"] == "x=y"
    assert settings["spark.ui.showConsoleProgress"] == "false"
    assert_raises(ParameterError, "", check_options, None, ["spark=1"])


@pytest.mark.parametrize(("version", "said"), [("11.0.2", "is Java 11; Spark needs Java 17"), (None, "no Java was found at")])
def test_without_java_one_line_says_what_to_install(ends, monkeypatch, tmp_path, version, said):
    pytest.importorskip("pyspark")
    if version is not None:
        os.mkdir("bin")
        Path("bin/java").write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
        os.chmod("bin/java", 0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setattr("pyspark.sql.SparkSession.getActiveSession", lambda: None)
    write_lines("in.jsonl", [PAGE])
    assert ends(2, "dedup in.jsonl --engine spark --set master=local[1]", said).count("\n") == 1
