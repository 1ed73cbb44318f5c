"""``lookalike dedup --fail-if-removed`` and ``--overrides``: what stops a job, and what takes documents back."""

import gc
import hashlib
import json

import pytest
from cli.commands import run
from json_lines import write_lines

import lookalike as la

PAGE = " ".join(f"word{i}" for i in range(40))
FILES = {"a": [PAGE, "unlike it", "and another one"], "b": [PAGE, f"{PAGE} more"], "c": ["only this", PAGE]}


@pytest.fixture
def corpus(tmp_path, monkeypatch):
    """Three files, of which the second vanishes."""
    monkeypatch.chdir(tmp_path)
    for name, texts in FILES.items():
        write_lines(tmp_path / f"{name}.jsonl", texts)
    return ["a.jsonl", "b.jsonl", "c.jsonl"]


def test_a_share_of_all_documents(corpus, tmp_path, capsys):
    code, out, err = run(
        capsys, "dedup", "a.jsonl", "c.jsonl", "--fail-if-removed", "0.19", "-o", "out/", "--report", "page.html"
    )
    assert (code, out) == (1, "") and not (tmp_path / "out").exists() and (tmp_path / "page.html").exists()
    figures = "1 of 5 documents (20.0%) would be removed, more than --fail-if-removed 0.19 (c.jsonl: 1 of 2 documents (50.0%))"
    assert err == (
        f"error: out/ was not written: {figures}; page.html was written; run again without --fail-if-removed and with --force, "
        "to write all\n"
    )
    assert run(capsys, "dedup", "a.jsonl", "c.jsonl", "--fail-if-removed", "0.19", "-o", "out/")[2] == (
        f"error: nothing was written: {figures}; run again without --fail-if-removed, with -o to write all, or without -o to see what would be removed\n"
    )
    assert run(capsys, "dedup", "a.jsonl", "c.jsonl", "--fail-if-removed", "0.19", "--save", "job")[2] == (
        f"error: stopped: {figures}; job was written; run again without --fail-if-removed and with --force, to write all\n"
    )
    assert run(capsys, "dedup", "a.jsonl", "c.jsonl", "--fail-if-removed", "0.2", "-o", "out/", "--quiet") == (0, "", "")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["_lookalike.json", "a.jsonl", "c.jsonl"]


def test_a_source_that_is_gone(corpus, tmp_path, capsys):
    code, out, err = run(capsys, "dedup", *corpus, "--fail-if-removed", "1", "--json")
    assert (code, out) == (1, "") and err.startswith(
        "error: nothing was written: nothing would be left of 1 input (b.jsonl: 2 of 2 documents (100.0%), "
        "c.jsonl: 1 of 2 documents (50.0%));"
    )
    assert run(capsys, "dedup", "b.jsonl", "--against", "a.jsonl", "--fail-if-removed", "1")[0] == 1, (
        "references are not counted"
    )
    assert run(capsys, "dedup", "c.jsonl", "--against", "a.jsonl", "--fail-if-removed", "0.5")[0] == 0
    (tmp_path / "empty.jsonl").write_text("")
    assert run(capsys, "dedup", "a.jsonl", "empty.jsonl", "--fail-if-removed", "0")[0] == 0, (
        "nothing is lost of what has nothing"
    )


def test_what_was_found_can_be_written_later(corpus, tmp_path, capsys):
    """The work folder stays, and its job goes on without the guard, in another process as it were."""
    job = ["dedup", *corpus, "-o", "out/", "--work", "work", "--quiet"]
    code, _, err = run(capsys, *job, "--fail-if-removed", "0.1")
    assert code == 1 and err.endswith("run again without --fail-if-removed, to write what the job has found\n")
    assert list((tmp_path / "work").glob("*.part")) and not (tmp_path / "out").exists()
    gc.collect()  # the traceback held the folder
    assert run(capsys, *job, "--fail-if-removed", "0.1", "--report", "page.html", "--save", "saved")[0] == 1
    gc.collect()
    assert (tmp_path / "page.html").exists() and (tmp_path / "saved").exists() and not (tmp_path / "out").exists()
    assert run(capsys, *job, "--report", "page.html", "--save", "saved")[0] == 0, "they are those of this job"
    assert (tmp_path / "out" / "b.jsonl").read_text() == "" and not any((tmp_path / "work").iterdir())


def test_a_message_names_the_sources_that_lose_most(tmp_path, monkeypatch):
    """In Python, with the names of its keywords."""
    monkeypatch.chdir(tmp_path)
    for number, copies in enumerate([9, 0, 10, *range(8, -1, -1), 10]):
        texts = [f"own text {number} {row}" if row < copies else PAGE for row in range(10)]
        write_lines(tmp_path / f"f{number:02}.jsonl", texts)
    (tmp_path / "a.jsonl").write_text(json.dumps({"text": PAGE}) + "\n")
    with pytest.raises(la.errors.TooManyRemovedError) as caught:
        la.dedup(".", fail_if_removed=0.99)
    la.dedup([f"text {max(i, 29)}" for i in range(50)], fail_if_removed=0.58)  # of 29: not more
    said = str(caught.value)
    assert (
        "nothing would be left of 2 inputs (f01.jsonl: 10 of 10 documents (100.0%), f11.jsonl: 10 of 10 documents (100.0%), "
        "f10.jsonl: 9 of" in said
    )
    assert said.count("of 10 documents") == 10 and ", and 1 more)" in said and "more than" not in said
    assert "run again without fail_if_removed, with output= to write all, or without output=" in said


def test_every_value_of_a_column_is_guarded(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("lookalike.results.summary.LISTED", 3)
    rows = [{"text": f"text {i}", "site": f"s{i // 3}"} for i in range(18)]
    rows += [{"text": "text 0", "site": "zlast"}, {"text": "text 3", "site": "zlast"}, {"text": "other", "site": None}]
    write_lines(tmp_path / "many.jsonl", rows)
    code, _, err = run(capsys, "dedup", "many.jsonl", "--fail-if-removed", "site:0.5", "-o", "out.jsonl")
    assert code == 1 and "2 of 2 documents (100.0%) with site zlast would be removed" in err
    assert not (tmp_path / "out.jsonl").exists()
    job = ["dedup", "many.jsonl", "--set", "slices=site", "--report", "page.html", "--quiet"]
    assert run(capsys, *job) == (0, "", "")
    page = (tmp_path / "page.html").read_text()
    assert "--set slices=site" in page  # in the command that repeats the job
    for wrong in ("nan", "site:nan", "site:", "site:2", "x", "1.5", ":0.5"):
        assert run(capsys, "dedup", "many.jsonl", "--fail-if-removed", wrong)[0] == 2


def test_documents_are_taken_back(corpus, tmp_path, capsys):
    digest = hashlib.sha256((tmp_path / "b.jsonl").read_bytes()).hexdigest()
    line = {"id": "b.jsonl:2", "action": "keep", "input": "b.jsonl", "sha256": digest}
    (tmp_path / "overrides.jsonl").write_text(json.dumps(line) + "\n")
    job = ["dedup", *corpus, "--overrides", "overrides.jsonl"]
    code, out, err = run(capsys, *job, "-o", "out/", "--report", "page.html", "--fail-if-removed", "0.6")
    assert (code, err) == (0, "") and "kept                                 5   (1 named by overrides)" in out
    assert json.loads((tmp_path / "out" / "b.jsonl").read_text()) == {"text": f"{PAGE} more"}
    page = (tmp_path / "page.html").read_text()
    assert "--overrides overrides.jsonl" in page and "Overrides remove 0 documents and keep 1." in page
    told = json.loads(run(capsys, *job, "--json")[1])
    assert told["kept_by_override"] == 1 and told["removed_by_override"] == 0
    assert told["settings"]["overrides"] == {
        "keep": 1, "remove": 0, "sha256": hashlib.sha256((tmp_path / "overrides.jsonl").read_bytes()).hexdigest()
    }  # fmt: skip
    with (tmp_path / "b.jsonl").open("a") as stream:
        stream.write('{"text": "one more"}\n')
    code, out, err = run(capsys, *job, "-o", "again/")
    assert (code, out) == (1, "") and f"SHA-256 digest {digest}; b.jsonl has" in err and not (tmp_path / "again").exists()


def test_overrides_are_refused_before_any_work(corpus, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("lookalike.recipes.job.open_job", lambda *_: pytest.fail("work was begun"))
    (tmp_path / "overrides.jsonl").write_text('{"id": "a", "action": "drop"}\n')
    code, _, err = run(capsys, "dedup", *corpus, "--overrides", "overrides.jsonl")
    assert (code, err) == (1, "error: overrides.jsonl, line 1: action must be keep or remove; got 'drop'\n")
    (tmp_path / "overrides.jsonl").write_text('{"id": "a", "action": "keep"}\n')
    code, _, err = run(capsys, "dedup", *corpus, "--overrides", "overrides.jsonl", "-o", "overrides.jsonl", "--force")
    assert code == 1 and "choose another name" in err and (tmp_path / "overrides.jsonl").exists()
