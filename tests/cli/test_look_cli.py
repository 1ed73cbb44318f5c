"""``lookalike show``: groups of a saved result, documents, and what changed, as lines and as JSON."""

import json
import os
from itertools import product
from pathlib import Path

import pytest
from json_lines import parse_lines, read_lines, write_lines

import lookalike as la
from lookalike.cli.messages import fitted

BASE = " ".join(f"word{i}" for i in range(40))
NASTY = "\x1b]0;x\x07\u202e"
TEXTS = {
    "first": BASE, "near": BASE.replace("word20", "changed"), "nearer": f"{BASE} more", "copy": BASE, "alone": "else",
    f"odd{NASTY}": " ".join(f"other{i}" for i in range(30)), f"odder{NASTY}": " ".join(f"other{i}" for i in range(31)),
    "empty": "...",
}  # fmt: skip


@pytest.fixture(autouse=True)
def _job():
    write_lines("in.jsonl", ({"id": id, "text": text} for id, text in TEXTS.items()))
    save("job", empty="drop")


def save(name, **settings):
    result = la.dedup("in.jsonl", id="id", threshold=0.6, **settings)
    result.save(name)
    return result


@pytest.fixture
def show(run):

    def shown(line, *words):
        code, out, err = run(f"show {line}", *words)
        assert (code, err) == (0, "")
        return out

    return shown


@pytest.fixture
def told(show):
    return lambda line: parse_lines(show(f"{line} --json"))


def test_groups_as_a_table(show):
    assert [" ".join(line.split()) for line in show("job").splitlines()] == [
        "2 groups; 5 of 8 documents removed",
        "documents exact least median kept least similar removals",
        "4 1 0.7561 0.8645 first near, nearer, copy",
        r"2 0 0.9630 0.9630 odd\x1b]0;x\x07\u202e odder\x1b]0;x\x07\u202e",
    ]
    out = show("job --min-size 3 --top 5")
    assert out.startswith("1 group of at least 3 documents;") and "odd" not in out
    assert show("job --min-size 9").count("\n") == 1


def test_groups_as_json(told):
    first, second = told("job")
    assert first == {
        "kept": "first", "is_reference": False, "documents": 4, "exact": 1,
        "resemblance": {"least": 31 / 41, "median": (31 / 41 + 36 / 37) / 2, "greatest": 36 / 37},
        "least_alike": [{"id": i, "resemblance": r} for i, r in (("near", 31 / 41), ("nearer", 36 / 37), ("copy", 1.0))],
    }  # fmt: skip
    assert second["kept"] == f"odd{NASTY}"


@pytest.mark.parametrize(("how", "key"), [({}, "cosine"), ({"verify": "sketch"}, "estimated_cosine")])
def test_scores_are_called_as_in_the_table_of_removals(told, how, key):
    assert key in save("cosines", method="simhash", radius=16, width=1, **how).removed.column_names
    first = told("cosines")[0]
    assert {"least", "median", "greatest"} == set(first[key]) and {"id", key} == set(first["least_alike"][0])
    assert told(f"cosines {first['kept']} --no-texts")[0]["least_alike"] == first["least_alike"]


def test_containment_has_its_own_name(show, told):
    save("inside", measure="containment")
    first, _ = told("inside")
    assert "resemblance" not in first and first["kept"] == "nearer"
    assert first["containment"] == {"least": 31 / 36, "median": 1.0, "greatest": 1.0}
    alike = [{"id": id, "containment": c} for id, c in (("near", 31 / 36), ("first", 1.0), ("copy", 1.0))]
    assert first["least_alike"] == alike == told("inside nearer")[0]["least_alike"]
    assert "removals contained least" in show("inside")
    (near,) = told("inside near --no-texts")
    assert near["containment"] == 31 / 36 and "resemblance" not in near
    la.Result.load("inside", trust=".").report("page.html")
    page = Path("page.html").read_text()
    assert "without crowded shingles" in page and "crowded buckets" not in page


def test_a_removed_document(show):
    out = show("job near")
    assert out.splitlines()[:6] == [
        "document   near",
        f"           in.jsonl, row 2; {len(TEXTS['near'])} bytes of text",
        "decision   removed: a near-duplicate of",
        "kept       first",
        f"           in.jsonl, row 1; {len(BASE)} bytes of text",
        "           resemblance 0.7561 (threshold 0.6)",
    ]
    assert "word19 [-changed-] {+word20+} word21" in out
    assert show("job near --no-texts") == out.split("\n\n")[0] + "\n"
    out = show("job", f"odder{NASTY}")
    assert r"odder\x1b]0;x" in out and not {"\x1b", "\u202e"} & set(out)


def test_a_kept_document_a_copy_and_one_without_tokens(show):
    out = show("job first --top 2")
    assert "decision   kept; 3 removed because of it, 1 of them exact duplicates" in out
    assert "resemblance of the others: 0.7561 to 0.9730, median 0.8645" in out
    listed = "removed because of it, the least similar first\n  0.7561   near\n  0.9730   nearer\n  and 1 more (--top)\n"
    assert out.endswith(listed)
    out = show("job copy")
    assert "removed: an exact duplicate of\nkept       first" in out and "resemblance" not in out and out.count("\n") == 5
    for id, said in (("alone", "kept; none removed because of it"), ("empty", "removed: it has no token (empty=drop)")):
        assert said in show(f"job {id}")


def test_documents_removed_by_key(run, show, told):
    """What the commands say of them, which have no score."""
    urls = ["u", "v", None, None, "u", "u", "v"]
    rows = [{"id": id, "text": text, "url": url, "n": 1} for (id, text), url in zip(TEXTS.items(), urls, strict=False)]
    write_lines("in.jsonl", rows)
    code, out, _ = run("dedup in.jsonl --id id -t 0.6 --key url --key n --keep 'n:2,1; first' --force --save job --json")
    counts = json.loads(out)
    assert code == 0 and [counts[f"{name}"] for name in ("by_key", "kept", "near_duplicates", "exact_duplicates")] == [
        3,
        1,
        2,
        1,
    ]
    out = show("job alone")
    assert "decision   removed: an earlier document has its key\nkept       first\n" in out and out.count("\n") == 5
    out = show("job first --top 7")
    assert "6 removed because of it, 1 of them exact duplicates" in out and "\n  copy     copy\n  key      alone\n" in out
    (group,) = told("job")
    assert (group["documents"], group["exact"]) == (7, 1)
    code, _, err = run("dedup in.jsonl --keep 'last; longest'")
    assert code == 2 and "keep: 'longest' cannot decide anything after first or last" in err


def test_documents_as_json(told):
    (near,) = told("job near")
    assert near["texts"] == {"removed": TEXTS["near"], "kept": BASE}
    assert near["keeper"]["id"] == "first" and near["keeper"]["number"] == 1 and not near["keeper"]["is_reference"]
    assert near["resemblance"] == 31 / 41 and near["reason"] == "near" and not near["kept"]
    (first,) = told("job first --no-texts")
    assert first["n_exact"] == 1 and first["n_duplicates"] == 3 and not {"texts", "keeper"} & {*first}
    assert [row["id"] for row in first["least_alike"]] == ["near", "nearer", "copy"]
    assert told("job empty")[0]["reason"] == "empty"


def test_an_id_of_an_input_and_of_a_reference(show, told):
    write_lines("old.jsonl", [{"id": "near", "text": BASE}])
    save("two", against="old.jsonl", verify="sketch")
    new, old = told("two near --no-texts")
    assert new["source"] == "in.jsonl" and new["keeper"]["is_reference"] and 0 < new["standard_error"] < 0.1
    assert old["source"] == "old.jsonl" and old["reason"] == "reference" and old["n_exact"] == 2
    out = show("two near")
    assert "estimated resemblance 0." in out and " ± 0.0" in out
    assert "\n\ndocument   near\n           old.jsonl, row 1" in out and "decision   a reference document" in out
    assert told("two")[0]["is_reference"] is True


def test_what_is_not_there_is_an_error(run):
    for id, said in (("nea", "; similar ids: near, nearer"), ("zzzzzz", "")):
        assert run(f"show job {id}") == (1, "", f"error: job: no document has the id {id}{said}\n")
    os.mkdir("work")
    for line in ("show .", "show . x"):
        code, _, err = run(line)
        assert code == 1 and "not a saved result" in err and "--save" in err
    for name in ("work/job.json", "work/finished.json"):
        Path(name).write_text("{}")
        code, _, err = run("show work")
        assert code == 1 and "a work folder is not a saved result" in err
        os.remove(name)


def test_inputs_that_are_gone_hide_the_diff_only(run, show):
    os.remove("in.jsonl")
    code, out, err = run("show job near")
    assert code == 1 and "resemblance 0.7561" in out and "in.jsonl: the input no longer exists" in err
    assert show("job near --no-texts") and show("job first")


def test_names_fit():
    """Those that are too long are cut in the middle, or at their end."""
    from rich.cells import cell_len

    names = ["a" * 50, "文" * 30, "e\u0301" * 40, "short", "", "\x1b" * 9]
    for text, most, at_end in product(names, [12, 13, 40], [False, True]):
        shown, size = fitted(text, most, at_end)
        assert cell_len(shown) == size <= most and shown.isprintable()
        whole, width = fitted(text, None)
        assert width == cell_len(whole) and (shown == whole) == (width <= most)
    assert fitted("data/part-00017.jsonl:123456", 15) == ("data/pa…:123456", 15)
    assert fitted("data/part-00017.jsonl:123456", 15, at_end=True) == ("data/part-0001…", 15)


def test_texts_of_somebody_elses_result_need_trust(run, show, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert show("job near --no-texts") and show("job")
    code, _, err = run("show job near")
    assert (
        code == 1 and "you did not save it on this machine" in err and f"({tmp_path}/in.jsonl)" in err and "--trust PATH" in err
    )
    assert "[-changed-]" in show("job near --trust in.jsonl")
    assert run("show job near --trust job")[0] == 1


def test_two_saved_results(run, show):
    rows = [{"id": f"d{i}", "text": f"one two three four five six seven {i % 3}"} for i in range(6)]
    write_lines("a.jsonl", rows)
    write_lines("b.jsonl", [*rows[1:], {"id": "new", "text": "something else"}])
    for name, more in (("a", ""), ("b", "-t 0.5")):
        assert run(f"dedup {name}.jsonl --id id --save {name} --quiet {more}")[0] == 0
    out = show("b --against a -o changes.jsonl")
    assert out.splitlines()[0].split() == ["only", "in", "b", "1"] and out.endswith("written: changes.jsonl\n")
    changed = {row["id"]: row["change"] for row in read_lines("changes.jsonl")}
    n = len(changed)
    changed.pop("d4", None)
    assert changed == {"d2": "removed", "d3": "moved", "d5": "moved", "new": "came", "d0": "went"}
    counts = json.loads(show("b --against a --json"))
    assert sum(count for name, count in counts.items() if name != "output") == n
    assert show("a --against a --json").count(": 0") == 5
    code, out, err = run("show b --against a -o -")
    assert code == 0 and out.count("\n") == n and "only in a" in err
    assert run("show b --against a -o - --json")[0] == 2


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
def test_options_that_do_not_go_together_are_refused(run, words, message):
    code, out, err = run(f"show job {words}")
    assert (code, out) == (2, "") and message in err
