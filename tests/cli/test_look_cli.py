"""``lookalike show``: groups of a saved result, documents, and what changed, as lines and as JSON."""

import json
import subprocess
import sys
from itertools import product

import pytest
from cli.commands import run, status
from json_lines import parse_lines, read_lines, write_lines

import lookalike as la
from lookalike.cli.messages import fitted

WORDS = [f"word{i}" for i in range(40)]
BASE = " ".join(WORDS)
NASTY = "\x1b]0;x\x07\u202e"
ROWS = [
    ("first", BASE), ("near", BASE.replace("word20", "changed")), ("nearer", f"{BASE} more"), ("copy", BASE), ("alone", "else"),
    (f"odd{NASTY}", " ".join(f"other{i}" for i in range(30))), (f"odder{NASTY}", " ".join(f"other{i}" for i in range(31))),
    ("empty", "..."),
]  # fmt: skip


@pytest.fixture
def job(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_lines(tmp_path / "in.jsonl", ({"id": id, "text": text} for id, text in ROWS))
    la.dedup("in.jsonl", id="id", threshold=0.6, empty="drop").save("job")
    return tmp_path / "job"


def test_groups_as_a_table(job, capsys):
    assert status("show", "job") == 0
    assert [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()] == [
        "2 groups; 5 of 8 documents removed",
        "documents exact least median kept least similar removals",
        "4 1 0.7561 0.8645 first near, nearer, copy",
        r"2 0 0.9630 0.9630 odd\x1b]0;x\x07\u202e odder\x1b]0;x\x07\u202e",
    ]
    assert status("show", "job", "--min-size", 3, "--top", 5) == 0
    out = capsys.readouterr().out
    assert out.startswith("1 group of at least 3 documents;") and "odd" not in out
    assert status("show", "job", "--min-size", 9) == 0 and capsys.readouterr().out.count("\n") == 1


def test_groups_as_json(job, capsys):
    assert status("show", "job", "--json") == 0
    first, second = parse_lines(capsys.readouterr().out)
    assert first | {"resemblance": None, "least_alike": None} == {
        "kept": "first", "is_reference": False, "documents": 4, "exact": 1, "resemblance": None, "least_alike": None
    }  # fmt: skip
    assert first["resemblance"] == {"least": 31 / 41, "median": (31 / 41 + 36 / 37) / 2, "greatest": 36 / 37}
    assert [row["id"] for row in first["least_alike"]] == ["near", "nearer", "copy"]
    assert [row["resemblance"] for row in first["least_alike"]] == [31 / 41, 36 / 37, 1.0]
    assert second["kept"] == f"odd{NASTY}"


@pytest.mark.parametrize(("how", "key"), [({}, "cosine"), ({"verify": "sketch"}, "estimated_cosine")])
def test_scores_are_called_as_in_the_table_of_removals(job, capsys, how, key):
    result = la.dedup("in.jsonl", id="id", threshold=0.6, method="simhash", radius=16, width=1, **how)
    assert key in result.removed.column_names
    result.save("cosines")
    assert status("show", "cosines", "--json") == 0
    first = json.loads(capsys.readouterr().out.splitlines()[0])
    assert {"least", "median", "greatest"} == set(first[key]) and {"id", key} == set(first["least_alike"][0])
    assert status("show", "cosines", first["kept"], "--json", "--no-texts") == 0
    assert json.loads(capsys.readouterr().out)["least_alike"] == first["least_alike"]


def test_containment_has_its_own_name(job, capsys):
    la.dedup("in.jsonl", id="id", threshold=0.6, measure="containment").save("inside")
    assert status("show", "inside", "--json") == 0
    first, _ = parse_lines(capsys.readouterr().out)
    assert "resemblance" not in first and first["kept"] == "nearer"
    assert first["containment"] == {"least": 31 / 36, "median": 1.0, "greatest": 1.0}
    assert first["least_alike"] == [
        {"id": id, "containment": c} for id, c in (("near", 31 / 36), ("first", 1.0), ("copy", 1.0))
    ]
    assert status("show", "inside") == 0 and "removals contained least" in capsys.readouterr().out
    assert status("show", "inside", "nearer", "--json") == 0
    assert json.loads(capsys.readouterr().out)["least_alike"] == first["least_alike"]
    assert status("show", "inside", "near", "--json", "--no-texts") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["containment"] == 31 / 36 and "resemblance" not in told
    la.Result.load("inside", trust=".").report("page.html")
    page = (job.parent / "page.html").read_text()
    assert "without crowded shingles" in page and "crowded buckets" not in page


def test_a_removed_document(job, capsys):
    assert status("show", "job", "near") == 0
    out = capsys.readouterr().out
    assert out.splitlines()[:6] == [
        "document   near",
        f"           in.jsonl, row 2; {len(ROWS[1][1])} bytes of text",
        "decision   removed: a near-duplicate of",
        "kept       first",
        f"           in.jsonl, row 1; {len(BASE)} bytes of text",
        "           resemblance 0.7561 (threshold 0.6)",
    ]
    assert "word19 [-changed-] {+word20+} word21" in out
    assert status("show", "job", "near", "--no-texts") == 0
    assert capsys.readouterr().out == out.split("\n\n")[0] + "\n"
    assert status("show", "job", f"odder{NASTY}") == 0
    out = capsys.readouterr().out
    assert r"odder\x1b]0;x" in out and not {"\x1b", "\u202e"} & set(out)


def test_a_kept_document_a_copy_and_one_without_tokens(job, capsys):
    assert status("show", "job", "first", "--top", 2) == 0
    out = capsys.readouterr().out
    assert "decision   kept; 3 removed because of it, 1 of them exact duplicates" in out
    assert "resemblance of the others: 0.7561 to 0.9730, median 0.8645" in out
    assert out.endswith(
        "removed because of it, the least similar first\n  0.7561   near\n  0.9730   nearer\n  and 1 more (--top)\n"
    )
    assert status("show", "job", "copy") == 0
    out = capsys.readouterr().out
    assert "removed: an exact duplicate of\nkept       first" in out and "resemblance" not in out and out.count("\n") == 5
    for id, said in (("alone", "kept; none removed because of it"), ("empty", "removed: it has no token (empty=drop)")):
        assert status("show", "job", id) == 0 and said in capsys.readouterr().out


def test_documents_removed_by_key(job, capsys):
    """What the commands say of them, which have no score."""
    urls = ["u", "v", None, None, "u", "u", "v"]
    rows = [{"id": id, "text": text, "url": url, "n": 1} for (id, text), url in zip(ROWS, urls, strict=False)]
    write_lines(job.parent / "in.jsonl", rows)
    given = ["--id", "id", "-t", 0.6, "--key", "url", "--key", "n", "--keep", "n:2,1; first", "--force"]
    assert status("dedup", "in.jsonl", *given, "--save", "job", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["by_key"], told["kept"], told["near_duplicates"], told["exact_duplicates"]) == (3, 1, 2, 1)
    assert status("show", "job", "alone") == 0
    out = capsys.readouterr().out
    assert "decision   removed: an earlier document has its key\nkept       first\n" in out and out.count("\n") == 5
    assert status("show", "job", "first", "--top", 7) == 0
    out = capsys.readouterr().out
    assert "6 removed because of it, 1 of them exact duplicates" in out and "\n  copy     copy\n  key      alone\n" in out
    assert status("show", "job", "--json") == 0
    (group,) = parse_lines(capsys.readouterr().out)
    assert (group["documents"], group["exact"]) == (7, 1)
    assert status("dedup", "in.jsonl", "--keep", "last; longest") == 2
    assert "keep: 'longest' cannot decide anything after first or last" in capsys.readouterr().err


def test_documents_as_json(job, capsys):
    assert status("show", "job", "near", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["texts"] == {"removed": ROWS[1][1], "kept": BASE}
    assert told["keeper"]["id"] == "first" and told["keeper"]["number"] == 1 and not told["keeper"]["is_reference"]
    assert told["resemblance"] == 31 / 41 and told["reason"] == "near" and not told["kept"]
    assert status("show", "job", "first", "--json", "--no-texts") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["n_exact"] == 1 and told["n_duplicates"] == 3 and "texts" not in told and "keeper" not in told
    assert [row["id"] for row in told["least_alike"]] == ["near", "nearer", "copy"]
    assert status("show", "job", "empty", "--json") == 0
    assert json.loads(capsys.readouterr().out)["reason"] == "empty"


def test_an_id_of_an_input_and_of_a_reference(job, tmp_path, capsys):
    (tmp_path / "old.jsonl").write_text(json.dumps({"id": "near", "text": BASE}) + "\n")
    la.dedup("in.jsonl", against="old.jsonl", id="id", threshold=0.6, verify="sketch").save("two")
    assert status("show", "two", "near", "--json", "--no-texts") == 0
    new, old = parse_lines(capsys.readouterr().out)
    assert new["source"] == "in.jsonl" and new["keeper"]["is_reference"] and 0 < new["standard_error"] < 0.1
    assert old["source"] == "old.jsonl" and old["reason"] == "reference" and old["n_exact"] == 2
    assert status("show", "two", "near") == 0
    out = capsys.readouterr().out
    assert "estimated resemblance 0." in out and " ± 0.0" in out
    assert "\n\ndocument   near\n           old.jsonl, row 1" in out and "decision   a reference document" in out
    assert status("show", "two", "--json") == 0
    assert json.loads(capsys.readouterr().out.splitlines()[0])["is_reference"] is True


def test_what_is_not_there_is_an_error(job, tmp_path, capsys):
    assert status("show", "job", "nea") == 1
    assert capsys.readouterr().err == "error: job: no document has the id nea; similar ids: near, nearer\n"
    assert status("show", "job", "zzzzzz") == 1
    assert capsys.readouterr().err == "error: job: no document has the id zzzzzz\n"
    for id in ([], ["x"]):
        assert status("show", tmp_path, *id) == 1
        assert "not a saved result" in (err := capsys.readouterr().err) and "--save" in err
    (tmp_path / "work").mkdir()
    for name in ("job.json", "finished.json"):
        (tmp_path / "work" / name).write_text("{}")
        assert status("show", "work") == 1
        assert "a work folder is not a saved result" in capsys.readouterr().err
        (tmp_path / "work" / name).unlink()


def test_inputs_that_are_gone_hide_the_diff_only(job, tmp_path, capsys):
    (tmp_path / "in.jsonl").unlink()
    assert status("show", "job", "near") == 1
    out, err = capsys.readouterr()
    assert "resemblance 0.7561" in out and "in.jsonl: the input no longer exists" in err
    assert status("show", "job", "near", "--no-texts") == 0 and status("show", "job", "first") == 0


def test_a_reader_that_stops_early_is_no_failure_worth_words(job, tmp_path):
    texts = [f"{BASE} {i // 2} {i // 2} {i // 2}" for i in range(4000)]
    la.dedup(texts, threshold=0.99).save("many")
    command = [sys.executable, "-m", "lookalike", "show", "many", "--top", "100000", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert json.loads(process.stdout.readline())["documents"] >= 2
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 1


def test_names_fit():
    for text, most, at_end in product(
        ["a" * 50, "文" * 30, "e\u0301" * 40, "short", "", "\x1b" * 9], [12, 13, 40], [False, True]
    ):
        from rich.cells import cell_len

        shown, size = fitted(text, most, at_end)
        assert cell_len(shown) == size <= most and shown.isprintable()
        whole, width = fitted(text, None)
        assert width == cell_len(whole) and (shown == whole) == (width <= most)


def test_names_are_cut_in_the_middle():
    assert fitted("data/part-00017.jsonl:123456", 15) == ("data/pa…:123456", 15)
    assert fitted("data/part-00017.jsonl:123456", 15, at_end=True) == ("data/part-0001…", 15)


def test_texts_of_somebody_elses_result_need_trust(job, capsys, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(job.parent / "state"))
    assert status("show", "job", "near", "--no-texts") == 0 and status("show", "job") == 0
    capsys.readouterr()
    assert status("show", "job", "near") == 1
    err = capsys.readouterr().err
    assert "you did not save it on this machine" in err and f"({job.parent}/in.jsonl)" in err and "--trust PATH" in err
    assert status("show", "job", "near", "--trust", "in.jsonl") == 0
    assert "[-changed-]" in capsys.readouterr().out
    assert status("show", "job", "near", "--trust", "job") == 1


def test_two_saved_results(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = [{"id": f"d{i}", "text": f"one two three four five six seven {i % 3}"} for i in range(6)]
    write_lines(tmp_path / "a.jsonl", rows)
    write_lines(tmp_path / "b.jsonl", [*rows[1:], {"id": "new", "text": "something else"}])
    for name, more in (("a", []), ("b", ["-t", "0.5"])):
        assert run(capsys, "dedup", f"{name}.jsonl", "--id", "id", "--save", name, "--quiet", *more)[0] == 0
    code, out, _ = run(capsys, "show", "b", "--against", "a", "-o", "changes.jsonl")
    assert code == 0 and out.splitlines()[0].split() == ["only", "in", "b", "1"] and out.endswith("written: changes.jsonl\n")
    changed = read_lines(tmp_path / "changes.jsonl")
    by_id = {row["id"]: row["change"] for row in changed}
    assert by_id == {"d2": "removed", "d3": "moved", "d5": "moved", "new": "came", "d0": "went"} | (
        {"d4": by_id["d4"]} if "d4" in by_id else {}
    )
    code, out, _ = run(capsys, "show", "b", "--against", "a", "--json")
    counts = json.loads(out)
    assert code == 0 and sum(n for name, n in counts.items() if name != "output") == len(changed)
    assert run(capsys, "show", "a", "--against", "a", "--json")[1].count(": 0") == 5
    code, out, err = run(capsys, "show", "b", "--against", "a", "-o", "-")
    assert code == 0 and len(out.splitlines()) == len(changed) and "only in a" in err
    assert run(capsys, "show", "b", "--against", "a", "-o", "-", "--json")[0] == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("id --matrix", "--matrix is not for one document"),
        ("id --against job", "--against is not for one document"),
        ("--no-texts", "--no-texts needs the ID of a document"),
        ("--trust x", "--trust needs the ID of a document"),
        ("-o x", "--output needs --against"),
        ("--against job --min-size 3", "--min-size does not go with --against"),
        ("--against job --top 3", "--top does not go with --against"),
        ("--matrix --min-size 2", "--min-size does not go with --matrix"),
    ],
)
def test_options_that_do_not_go_together_are_refused(capsys, words, message):
    code, out, err = run(capsys, "show", "job", *words.split())
    assert (code, out) == (2, "") and message in err
