"""``lookalike dedup --report``, ``--audit`` and ``--report-texts``."""

import json

import pytest

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


def test_a_report_and_an_audit(corpus, tmp_path, capsys):
    page = tmp_path / "page.html"
    assert run("dedup", corpus, "--report", page, "--audit", 5) == 0
    out, err = capsys.readouterr()
    assert f"written: {page}" in out and "audit: 2 kept documents of 2" in out and "nothing was written" not in err
    assert "recall measured" in page.read_text() and "word39" in page.read_text()
    assert run("dedup", corpus, "--report", page) == 1
    assert "exists; pass --force" in capsys.readouterr().err
    assert run("dedup", corpus, "--report", page, "--force", "--report-texts", "none", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["report"] == str(page) and told["audit"] is None and "word39" not in page.read_text()


def test_a_report_beside_an_output(corpus, tmp_path, capsys):
    assert run("dedup", corpus, "-o", tmp_path / "out.jsonl", "--report", tmp_path / "page.html", "--quiet") == 0
    assert (tmp_path / "out.jsonl").exists() and (tmp_path / "page.html").exists()
    assert capsys.readouterr() == ("", "")
    for output, report in (("clean", "clean/page.html"), ("same.jsonl", "same.jsonl")):
        assert run("dedup", corpus, "-o", tmp_path / output, "--report", tmp_path / report) == 1
        assert "choose another name" in capsys.readouterr().err
    assert run("dedup", corpus, "--report", corpus, "--force") == 1, "not the input"
    assert corpus.read_text().count("\n") == 3


def test_it_is_refused_before_any_work(corpus, tmp_path, monkeypatch):
    monkeypatch.setattr("lookalike.recipes.dedup.open_job", lambda *_: pytest.fail("work was begun"))
    (tmp_path / "page.html").write_text("mine")
    assert run("dedup", corpus, "--report", tmp_path / "page.html") == 1
    assert run("dedup", corpus, "--report", tmp_path / "other.html", "--report-texts", "some") == 2
    assert run("dedup", corpus, "--audit", "0") == 2
