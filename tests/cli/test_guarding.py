"""``lookalike dedup --fail-if-removed`` and ``--overrides``: what stops a job, and what takes documents back."""

import gc
import json
import os
from hashlib import sha256
from pathlib import Path

import pytest
from json_lines import read_lines, write_lines

import lookalike as la

PAGE = " ".join(f"word{i}" for i in range(40))
ALL = "a.jsonl b.jsonl c.jsonl"


@pytest.fixture(autouse=True)
def _corpus():
    """Three files, of which the second vanishes."""
    write_lines("a.jsonl", [PAGE, "unlike it", "and another one"])
    write_lines("b.jsonl", [PAGE, f"{PAGE} more"])
    write_lines("c.jsonl", ["only this", PAGE])


def digest(name):
    return sha256(Path(name).read_bytes()).hexdigest()


def test_a_share_of_all_documents(run):
    job = "dedup a.jsonl c.jsonl --fail-if-removed 0.19"
    figures = "1 of 5 documents (20.0%) would be removed, more than --fail-if-removed 0.19 (c.jsonl: 1 of 2 documents (50.0%))"
    again = "run again without --fail-if-removed"
    for given, said in (
        ("-o out/ --report page.html",
         f"out/ was not written: {figures}; page.html was written; {again} and with --force, to write all"),
        ("-o out/", f"nothing was written: {figures}; {again}, with -o to write all, or without -o to see what would be removed"),
        ("--save job", f"stopped: {figures}; job was written; {again} and with --force, to write all"),
    ):  # fmt: skip
        assert run(f"{job} {given}") == (1, "", f"error: {said}\n")
    assert sorted(os.listdir()) == ["a.jsonl", "b.jsonl", "c.jsonl", "job", "page.html"]
    assert run("dedup a.jsonl c.jsonl --fail-if-removed 0.2 -o out/ --quiet") == (0, "", "")
    assert sorted(os.listdir("out")) == ["_lookalike.json", "a.jsonl", "c.jsonl"]


def test_a_source_that_is_gone(run):
    code, out, err = run(f"dedup {ALL} --fail-if-removed 1 --json")
    assert (code, out) == (1, "") and err.startswith(
        "error: nothing was written: nothing would be left of 1 input (b.jsonl: 2 of 2 documents (100.0%), "
        "c.jsonl: 1 of 2 documents (50.0%));"
    )
    write_lines("empty.jsonl", [])
    for given, code, why in (
        ("b.jsonl --against a.jsonl --fail-if-removed 1", 1, "references are not counted"),
        ("c.jsonl --against a.jsonl --fail-if-removed 0.5", 0, "as much as may be"),
        ("a.jsonl empty.jsonl --fail-if-removed 0", 0, "nothing is lost of what has nothing"),
    ):
        assert run(f"dedup {given}")[0] == code, why


def test_what_was_found_can_be_written_later(run):
    """The work folder stays, and its job goes on without the guard, in another process as it were."""
    job, more = f"dedup {ALL} -o out/ --work work --quiet", "--report page.html --save saved"
    code, _, err = run(f"{job} --fail-if-removed 0.1")
    assert code == 1 and err.endswith("run again without --fail-if-removed, to write what the job has found\n")
    assert [*Path("work").glob("*.part")] and not os.path.exists("out")
    gc.collect()  # the traceback held the folder
    assert run(f"{job} --fail-if-removed 0.1 {more}")[0] == 1
    gc.collect()
    assert {"page.html", "saved"} <= {*os.listdir()} and not os.path.exists("out")
    assert run(f"{job} {more}")[0] == 0, "they are those of this job"
    assert read_lines("out/b.jsonl") == [] and not os.listdir("work")


def test_a_message_names_the_sources_that_lose_most():
    """In Python, with the names of its keywords."""
    for number, copies in enumerate([9, 0, 10, *range(8, -1, -1), 10]):
        texts = [f"own text {number} {row}" if row < copies else PAGE for row in range(10)]
        write_lines(f"f{number:02}.jsonl", texts)
    for name in "bc":
        os.remove(f"{name}.jsonl")
    write_lines("a.jsonl", [PAGE])
    with pytest.raises(la.errors.TooManyRemovedError) as caught:
        la.dedup(".", fail_if_removed=0.99)
    la.dedup([f"text {max(i, 29)}" for i in range(50)], fail_if_removed=0.58)  # of 29: not more
    said = str(caught.value)
    all_of = "10 of 10 documents (100.0%)"
    assert f"nothing would be left of 2 inputs (f01.jsonl: {all_of}, f11.jsonl: {all_of}, f10.jsonl: 9 of" in said
    assert said.count("of 10 documents") == 10 and ", and 1 more)" in said and "more than" not in said
    assert "run again without fail_if_removed, with output= to write all, or without output=" in said


def test_every_value_of_a_column_is_guarded(run, monkeypatch):
    monkeypatch.setattr("lookalike.results.summary.LISTED", 3)
    rows = [{"text": f"text {i}", "site": f"s{i // 3}"} for i in range(18)]
    rows += [{"text": "text 0", "site": "zlast"}, {"text": "text 3", "site": "zlast"}, {"text": "other", "site": None}]
    write_lines("many.jsonl", rows)
    code, _, err = run("dedup many.jsonl --fail-if-removed site:0.5 -o out.jsonl")
    assert code == 1 and "2 of 2 documents (100.0%) with site zlast would be removed" in err
    assert not os.path.exists("out.jsonl")
    assert run("dedup many.jsonl --set slices=site --report page.html --quiet") == (0, "", "")
    assert "--set slices=site" in Path("page.html").read_text()  # in the command that repeats the job
    for wrong in ("nan", "site:nan", "site:", "site:2", "x", "1.5", ":0.5"):
        assert run(f"dedup many.jsonl --fail-if-removed {wrong}")[0] == 2


def test_documents_are_taken_back(run):
    before = digest("b.jsonl")
    write_lines("overrides.jsonl", [{"id": "b.jsonl:2", "action": "keep", "input": "b.jsonl", "sha256": before}])
    job = f"dedup {ALL} --overrides overrides.jsonl"
    code, out, err = run(f"{job} -o out/ --report page.html --fail-if-removed 0.6")
    assert (code, err) == (0, "") and "kept                                 5   (1 named by overrides)" in out
    assert read_lines("out/b.jsonl") == [{"text": f"{PAGE} more"}]
    page = Path("page.html").read_text()
    assert "--overrides overrides.jsonl" in page and "Overrides remove 0 documents and keep 1." in page
    told = json.loads(run(f"{job} --json")[1])
    assert told["kept_by_override"] == 1 and told["removed_by_override"] == 0
    assert told["settings"]["overrides"] == {"keep": 1, "remove": 0, "sha256": digest("overrides.jsonl")}
    write_lines("b.jsonl", [*read_lines("b.jsonl"), "one more"])
    code, out, err = run(f"{job} -o again/")
    assert (code, out) == (1, "") and f"SHA-256 digest {before}; b.jsonl has" in err and not os.path.exists("again")


def test_overrides_are_refused_before_any_work(run, monkeypatch):
    monkeypatch.setattr("lookalike.recipes.job.open_job", lambda *_: pytest.fail("work was begun"))
    write_lines("overrides.jsonl", [{"id": "a", "action": "drop"}])
    job = f"dedup {ALL} --overrides overrides.jsonl"
    assert run(job) == (1, "", "error: overrides.jsonl, line 1: action must be keep or remove; got 'drop'\n")
    write_lines("overrides.jsonl", [{"id": "a", "action": "keep"}])
    code, _, err = run(f"{job} -o overrides.jsonl --force")
    assert code == 1 and "choose another name" in err and os.path.exists("overrides.jsonl")
