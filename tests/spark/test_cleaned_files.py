import json
import os
import shlex
from pathlib import Path

import pytest
from cli.commands import contents, run
from corpora import planted
from json_lines import write_lines
from spark.spark_jobs import write_mixed

import lookalike as la

pytestmark = pytest.mark.spark
OWN = ("output", "report", "saved", "audit", "seconds", "peak_memory", "verified_pairs")


@pytest.mark.parametrize(
    "annotated", [pytest.param("", id="kept", marks=pytest.mark.slow), pytest.param("--annotate", id="annotated")]
)
def test_the_command_writes_the_same_files(annotated, cluster, tmp_path, rng, monkeypatch, capfd):
    """Inputs are named as they are from the current folder, which workers do not share; an output is replaced."""
    monkeypatch.chdir(tmp_path)
    texts = [*planted(rng, n_families=12, lengths=(5, 100)), ""]
    write_mixed(Path("in"), texts)
    write_lines("ref.jsonl", texts[::7])

    def dedup(line):
        code, out, err = run(capfd, "dedup", *shlex.split(line))
        assert code == 0, err
        return out

    given = f"in --against ref.jsonl --json {annotated}"
    one = json.loads(dedup(f"{given} -o one"))
    dedup("ref.jsonl -o two/ --quiet")
    kept = "--save history/saved --report history/page.html --set audit=9"
    two = json.loads(dedup(f"{given} --engine spark --work {tmp_path}/job -o two --force {kept}"))
    assert list(one) == list(two) and one["near_duplicates"] > 5
    assert {name: one[name] for name in one if name not in OWN} == {name: two[name] for name in two if name not in OWN}
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    assert sorted(os.listdir()) == ["history", "in", "one", "ref.jsonl", "two"]
    assert two["audit"]["audited"] == 9 and "recall measured" in Path("history/page.html").read_text()
    dedup("in --against ref.jsonl --save history/one")
    ours, theirs = (la.Result.load(f"history/{name}") for name in ("saved", "one"))
    for name in ("decisions", "groups", "pairs"):
        assert getattr(ours, name).equals(getattr(theirs, name))
    assert ours.texts([0, 30]) == theirs.texts([0, 30])
