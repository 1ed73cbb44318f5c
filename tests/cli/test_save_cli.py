"""``lookalike dedup --save``."""

import json

import pytest

import lookalike as la
from lookalike.cli.main import main

TEXT = " ".join(f"word{i}" for i in range(40))


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in (TEXT, TEXT + " more", "else")))
    return path


def run(*arguments):
    """Run a command; return its exit code."""
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    return ended.value.code


def test_a_result_is_saved(corpus, tmp_path, capsys):
    job = tmp_path / "job"
    assert run("dedup", corpus, "--save", job, "--audit", 2) == 0
    out, err = capsys.readouterr()
    assert f"written: {job}" in out and "nothing was written" not in err
    loaded = la.Result.load(job)
    assert loaded.removed.num_rows == 1 and loaded.summary.audit["audited"] == 2
    assert run("dedup", corpus, "--save", job) == 1
    assert "exists; pass --force" in capsys.readouterr().err
    assert run("dedup", corpus, "-t", "0.99", "--save", job, "--force", "-o", tmp_path / "out.jsonl", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["saved"] == str(job) and la.Result.load(job).threshold == 0.99 and (tmp_path / "out.jsonl").exists()


def test_it_is_refused_before_any_work(corpus, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("lookalike.recipes.dedup.open_job", lambda *_: pytest.fail("work was begun"))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/file").write_text("mine")
    (tmp_path / "file").write_text("mine")
    for folder, force, why in (
        ("mine", (), "exists; pass --force"),
        ("mine", ("--force",), "no _lookalike.json"),
        ("file", ("--force",), "means a directory"),
        (".", ("--force",), "in.jsonl"),
    ):
        assert run("dedup", corpus, "--save", tmp_path / folder, *force) == 1
        assert why in capsys.readouterr().err
    for option, other in (("-o", "job/out.jsonl"), ("-o", "job"), ("--report", "job/page.html"), ("--work", "job/work")):
        assert run("dedup", corpus, "--save", tmp_path / "job", option, tmp_path / other) == 1
        assert "choose another name" in capsys.readouterr().err
    assert run("dedup", corpus, "--save", tmp_path / "out/job", "-o", tmp_path / "out") == 1
    assert "choose another name" in capsys.readouterr().err


def test_a_folder_that_is_read_is_not_saved_into(corpus, tmp_path, capsys):
    assert run("dedup", tmp_path, "--save", tmp_path / "job") == 1
    assert "is inside the input folder" in capsys.readouterr().err
