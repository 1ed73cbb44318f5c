"""The command line on a cluster writes the files that it writes on one machine."""

import gzip
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from corpora import planted
from json_lines import write_lines

import lookalike as la
from lookalike.cli.main import main

pytestmark = pytest.mark.spark
OUTPUTS = ("output", "report", "saved", "audit")


def run(*arguments):
    """Run the program, which must succeed."""
    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    assert not stop.value.code


def files(folder):
    """{name: bytes} of all files below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def corpus(folder, rng):
    """Files of three formats, one of them without rows, and references."""
    texts = [*planted(rng, n_families=12, lengths=(5, 100)), ""]
    (folder / "in/sub").mkdir(parents=True)
    pq.write_table(pa.table({"text": texts[::3]}), folder / "in/a.parquet")
    with gzip.open(folder / "in/sub/b.jsonl.gz", "wt") as stream:
        stream.writelines(json.dumps({"text": text}) + "\n" for text in texts[1::3])
    (folder / "in/c.csv").write_text("n,text\n" + "".join(f'{i},"{text}"\n' for i, text in enumerate(texts[2::3])))
    (folder / "in/d.jsonl").write_text("")
    write_lines(folder / "ref.jsonl", texts[::7])


@pytest.mark.parametrize(
    "annotated", [pytest.param([], id="kept", marks=pytest.mark.slow), pytest.param(["--annotate"], id="annotated")]
)
def test_the_command_writes_the_same_files(annotated, cluster, tmp_path, rng, monkeypatch, capfd):
    """Inputs are named as they are from the current folder, which workers do not share; an output is replaced."""
    corpus(tmp_path, rng)
    monkeypatch.chdir(tmp_path)
    given = ["dedup", "in", "--against", "ref.jsonl", "--json", *annotated]
    run(*given, "-o", "one")
    one = json.loads(capfd.readouterr().out)
    run("dedup", "ref.jsonl", "-o", "two/", "--quiet")
    kept = ["--save", "history/saved", "--report", "history/page.html", "--set", "audit=9"]
    run(*given, "--engine", "spark", "--work", tmp_path / "job", "-o", "two", "--force", *kept)
    two = json.loads(capfd.readouterr().out)
    assert list(one) == list(two) and one["near_duplicates"] > 5
    same = [name for name in one if name not in ("seconds", "peak_memory", "verified_pairs", *OUTPUTS)]
    assert {name: one[name] for name in same} == {name: two[name] for name in same}
    assert files(tmp_path / "one") == files(tmp_path / "two")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["history", "in", "one", "ref.jsonl", "two"]
    assert two["audit"]["audited"] == 9 and "recall measured" in (tmp_path / "history/page.html").read_text()
    run("dedup", "in", "--against", "ref.jsonl", "--save", "history/one")
    ours, theirs = (la.Result.load(tmp_path / "history" / name) for name in ("saved", "one"))
    assert ours.decisions.equals(theirs.decisions) and ours.groups.equals(theirs.groups) and ours.pairs.equals(theirs.pairs)
    assert ours.texts([0, 30]) == theirs.texts([0, 30])
