"""The command decontaminate: what it prints, what it writes, what it refuses."""

import csv
import json
import subprocess
import sys

import pyarrow.parquet as pq
import pytest
from cli.commands import run
from json_lines import read_lines, write_lines

QUESTION = "what is the capital of the old country of France"
ROWS = [
    {"text": f"the teacher asked {QUESTION} and nobody knew", "url": "u1"},
    {"text": "something else, of course", "url": "u2"},
]


@pytest.fixture
def train(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_lines(tmp_path / "train.jsonl", ROWS)
    tests = [{"question": QUESTION, "qid": "q1"}, {"question": "", "qid": "q2"}, {"question": "Yes or no?", "qid": "q3"}]
    write_lines(tmp_path / "test.jsonl", tests)
    return ["decontaminate", "train.jsonl", "--against", "test.jsonl", "--against-text", "question"]


def test_a_question_inside_a_page_is_removed_and_what_cannot_be_found_is_named(capfd, train, tmp_path):
    code, out, err = run(capfd, *train, "--against-id", "qid", "--id", "url", "-o", "clean.jsonl", "--matches", "m.csv")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "2 documents, against 3 reference documents",
        "  overlapping             1   (containment >= 0.8, exact; 1 pair)",
        "  contaminated            1   (reference documents that a document contains)",
        "  not judged              2   (reference documents: 1 empty; 1 shorter than 4 words (--min-tokens); 0 of common phrases "
        "(--common))",
        "    q2, q3",
        "written: clean.jsonl",
        "written: m.csv",
    ]
    assert run(capfd, *train, "--quiet", "-o", "clean.jsonl", "--force") == (0, "", "")
    assert (tmp_path / "clean.jsonl").read_text() == json.dumps(ROWS[1]) + "\n"
    code, out, err = run(capfd, *train, "-o", "-")
    assert (code, out) == (0, json.dumps(ROWS[1]) + "\n") and err.startswith("2 documents, against 3 reference documents\n")
    (match,) = csv.DictReader((tmp_path / "m.csv").read_text().splitlines())
    assert (match["id"], match["reference"], match["containment"]) == ("u1", "q1", "1.0")
    written = json.loads((tmp_path / "m.csv_lookalike.json").read_text())
    assert written["parameters"]["against_text"] == "question" and written["summary"]["short_references"] == 1


def test_json(capfd, train):
    code, out, _ = run(capfd, *train, "--json")
    assert code == 0
    assert json.loads(out) == {
        "documents": 2, "references": 3, "empty_references": 1, "short_references": 1, "common_references": 0,
        "contaminated_references": 1, "overlapping": 1, "matches": 1, "skipped": 0, "by_benchmark": [
            {"benchmark": "test.jsonl", "items": 3, "empty": 1, "short": 1, "common": 0, "contaminated": 1, "documents": 1,
             "share": 1 / 3},
        ],
        "not_searchable": ["test.jsonl:2", "test.jsonl:3"], "output": None, "report": None,
    }  # fmt: skip


def test_benchmarks_fields_and_masks(capfd, train, tmp_path):
    items = [
        {"q": QUESTION, "answer": "Paris", "of": "geo"}, {"q": "two and two", "answer": "four", "of": "\x1bmath"},
        {"q": "how much is two and two", "answer": None, "of": "\x1bmath"},
    ]  # fmt: skip
    write_lines(tmp_path / "qa.jsonl", items)
    command = [*train[:2], "--against", "qa.jsonl", "--against-text", "q", "--against-text", "answer", "--benchmark", "of"]
    code, out, _ = run(capfd, *command, "-o", "masked.jsonl", "--mask", "[removed]", "--matches", "m.jsonl")
    assert code == 0 and out.splitlines()[-4:-2] == [
        "  geo: 1 of 1 contaminated (100.0%), 0 with answer; in 1 document",
        "  \\x1bmath: 0 of 2 contaminated (0.0%), 0 with answer; in 0 documents",
    ]  # fmt: skip
    left = [row["text"] for row in read_lines(tmp_path / "masked.jsonl")]
    assert left == ["the teacher asked [removed] and nobody knew", ROWS[1]["text"]]
    (match,) = read_lines(tmp_path / "m.jsonl")
    assert ROWS[0]["text"][match["begin"] : match["end"]] == QUESTION and match["answer_found"] == 0.0


def test_matches_have_types_where_nothing_matches(capfd, train, tmp_path):
    for name in ("one.parquet", "none.parquet"):
        more = [] if name == "one.parquet" else ["--measure", "resemblance"]
        assert run(capfd, *train, "--matches", name, *more)[0] == 0
    one, none = (pq.read_table(tmp_path / name) for name in ("one.parquet", "none.parquet"))
    assert (len(one), len(none)) == (1, 0)
    assert one.schema.equals(none.schema) and "null" not in map(str, none.schema.types)


def test_references_that_cannot_be_searched_for_at_all_are_told(capfd, train, tmp_path):
    (tmp_path / "none.jsonl").write_text("")
    code, out, err = run(capfd, "decontaminate", "train.jsonl", "--against", "none.jsonl")
    assert code == 0 and "against 0 reference documents" in out
    assert "no reference document can be searched for" in err


@pytest.mark.parametrize(
    ("more", "code", "message"),
    [
        (["--mask", ""], 2, "--mask changes what is written"),
        (["--measure", "ngram:x"], 2, "such as ngram:13; got 'ngram:x'"),
        (["--annotate"], 2, "--annotate adds columns to the output: name it with -o"),
        (["-o", "x.csv", "--matches", "./x.csv"], 2, "-o and --matches name the same file"),
        (["--matches", "test.jsonl", "--force"], 1, "test.jsonl would replace the input test.jsonl"),
        (["-o", "train.jsonl", "--force"], 1, "train.jsonl would replace the input train.jsonl"),
        (["-o", ".", "--force"], 1, ". is the current folder or contains it"),
        (["--against", "train.jsonl", "--against-text", "text"], 1, "train.jsonl is in both corpora"),
        (["--id", "url"], 1, "name another with --against-id"),
        (["-t", "nan"], 2, "threshold must be a number in (0, 1]; got nan"),
        (["--passage", "0"], 2, "0 is not in the range"),
        (["--matches", "m.txt"], 2, "the suffix must be one of .parquet, .jsonl, .ndjson, .json, .csv, .tsv, .arrow, "),
    ],
)
def test_refusals(capfd, train, tmp_path, more, code, message):
    if more[0] == "--against":  # in place of the fixture's
        train = train[:2]
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    found, _, err = run(capfd, *train, *more)
    assert (found, message in err) == (code, True), err
    assert before == {path.name: path.read_bytes() for path in tmp_path.iterdir()}


def test_standard_input_is_one_corpus_only(train, tmp_path):
    def piped(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "lookalike", "decontaminate", *arguments, "--format", "jsonl", "--json"],
            input=(tmp_path / "train.jsonl").read_bytes(), capture_output=True, check=False,
        )  # fmt: skip

    done = piped("-", *train[2:])
    assert (done.returncode, json.loads(done.stdout)["overlapping"]) == (0, 1)
    done = piped("-", "--against", "-")
    assert done.returncode == 2 and b"cannot be both corpora" in done.stderr


def test_a_document_that_is_too_large_is_named_or_skipped(capfd, train, tmp_path):
    """Skipped, it is neither compared nor written."""
    with (tmp_path / "train.jsonl").open("a") as stream:
        stream.write(json.dumps({"text": f"{QUESTION} " * 100, "url": "u3"}) + "\n")
    code, _, err = run(capfd, *train, "--set", "max_document=2kB", "-o", "clean.jsonl", "--quiet")
    assert code == 1 and "train.jsonl, row 3: the document has more than the 2,000 bytes" in err
    assert not (tmp_path / "clean.jsonl").exists()
    for annotate, kept in (([], ["u2"]), (["--annotate"], ["u1", "u2"])):
        skipping = ("--set", "max_document=2kB", "--on-error", "skip", "--id", "url", "--against-id", "qid", "--force")
        code, out, _ = run(capfd, *train, *skipping, "-o", "clean.jsonl", *annotate)
        assert code == 0 and "  skipped                 1   (too large or unreadable: not compared, not written)" in out
        assert [row["url"] for row in read_lines(tmp_path / "clean.jsonl")] == kept


def test_a_reference_document_is_never_skipped(capfd, train, tmp_path):
    (tmp_path / "test.jsonl").write_text(json.dumps({"question": f"{QUESTION} " * 100}) + "\n")
    code, _, err = run(capfd, *train, "--set", "max_document=2kB", "--on-error", "skip", "--quiet")
    assert code == 1 and "test.jsonl, row 1: the document has more than the 2,000 bytes" in err


def test_reference_documents_that_do_not_fit_are_refused_with_what_would_do(capfd, train, monkeypatch):
    monkeypatch.setattr("lookalike.recipes.decontaminate.SHINGLE_BYTES", 80_000_001)
    code, _, err = run(capfd, *train, "--memory", "1GB", "--quiet")
    assert (
        code == 2
        and "the 6 shingles read of the reference documents so far need " in err
        and "the limit is 1,000 MB: raise --memory" in err
    )
    needed = int(err.partition("need ")[2].partition(" MB")[0].replace(",", ""))
    assert run(capfd, *train, "--memory", f"{needed}MB", "--quiet")[0] == 0, "what the message says is enough"
