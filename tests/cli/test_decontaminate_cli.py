"""The command decontaminate: what it prints, what it writes, what it refuses."""

import csv
import json
import os
import subprocess
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from cli.commands import contents, process
from json_lines import read_lines, write_lines

QUESTION = "what is the capital of the old country of France"
ROWS = [
    {"text": f"the teacher asked {QUESTION} and nobody knew", "url": "u1"},
    {"text": "something else, of course", "url": "u2"},
]
JOB = "decontaminate train.jsonl --against test.jsonl --against-text question"
LARGE = "--set max_document=2kB"


@pytest.fixture(autouse=True)
def _corpora():
    write_lines("train.jsonl", ROWS)
    questions = {"q1": QUESTION, "q2": "", "q3": "Yes or no?"}
    write_lines("test.jsonl", ({"question": text, "qid": id} for id, text in questions.items()))


def test_a_question_inside_a_page_is_removed_and_what_cannot_be_found_is_named(run):
    code, out, err = run(f"{JOB} --against-id qid --id url -o clean.jsonl --matches m.csv")
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
    assert run(f"{JOB} --quiet -o clean.jsonl --force") == (0, "", "")
    left = json.dumps(ROWS[1]) + "\n"
    assert Path("clean.jsonl").read_text() == left
    code, out, err = run(f"{JOB} -o -")
    assert (code, out) == (0, left) and err.startswith("2 documents, against 3 reference documents\n")
    (match,) = csv.DictReader(Path("m.csv").read_text().splitlines())
    assert (match["id"], match["reference"], match["containment"]) == ("u1", "q1", "1.0")
    written = json.loads(Path("m.csv_lookalike.json").read_text())
    assert written["parameters"]["against_text"] == "question" and written["summary"]["short_references"] == 1


def test_json(run):
    code, out, _ = run(f"{JOB} --json")
    assert code == 0 and json.loads(out) == {
        "documents": 2, "references": 3, "empty_references": 1, "short_references": 1, "common_references": 0,
        "contaminated_references": 1, "overlapping": 1, "matches": 1, "skipped": 0, "by_benchmark": [
            {"benchmark": "test.jsonl", "items": 3, "empty": 1, "short": 1, "common": 0, "contaminated": 1, "documents": 1,
             "share": 1 / 3},
        ],
        "not_searchable": ["test.jsonl:2", "test.jsonl:3"], "output": None, "report": None,
    }  # fmt: skip


def test_benchmarks_fields_and_masks(run):
    items = ((QUESTION, "Paris", "geo"), ("two and two", "four", "\x1bmath"), ("how much is two and two", None, "\x1bmath"))
    write_lines("qa.jsonl", (dict(zip(("q", "answer", "of"), item, strict=True)) for item in items))
    job = "decontaminate train.jsonl --against qa.jsonl --against-text q --against-text answer --benchmark of"
    code, out, _ = run(f"{job} -o masked.jsonl --mask [removed] --matches m.jsonl")
    assert code == 0 and out.splitlines()[-4:-2] == [
        "  geo: 1 of 1 contaminated (100.0%), 0 with answer; in 1 document",
        "  \\x1bmath: 0 of 2 contaminated (0.0%), 0 with answer; in 0 documents",
    ]  # fmt: skip
    left = [row["text"] for row in read_lines("masked.jsonl")]
    assert left == ["the teacher asked [removed] and nobody knew", ROWS[1]["text"]]
    (match,) = read_lines("m.jsonl")
    assert ROWS[0]["text"][match["begin"] : match["end"]] == QUESTION and match["answer_found"] == 0.0


def test_matches_have_types_where_nothing_matches(run):
    for name, more in (("one", ""), ("none", "--measure resemblance")):
        assert run(f"{JOB} --matches {name}.parquet {more}")[0] == 0
    one, none = (pq.read_table(f"{name}.parquet") for name in ("one", "none"))
    assert (len(one), len(none)) == (1, 0)
    assert one.schema.equals(none.schema) and "null" not in map(str, none.schema.types)


def test_references_that_cannot_be_searched_for_at_all_are_told(run):
    write_lines("none.jsonl", [])
    code, out, err = run("decontaminate train.jsonl --against none.jsonl")
    assert code == 0 and "against 0 reference documents" in out and "no reference document can be searched for" in err


@pytest.mark.parametrize(
    ("more", "code", "message"),
    [
        ("--mask ''", 2, "--mask changes what is written"),
        ("--measure ngram:x", 2, "such as ngram:13; got 'ngram:x'"),
        ("--annotate", 2, "--annotate adds columns to the output: name it with -o"),
        ("-o x.csv --matches ./x.csv", 2, "-o and --matches name the same file"),
        ("--matches test.jsonl --force", 1, "test.jsonl would replace the input test.jsonl"),
        ("-o train.jsonl --force", 1, "train.jsonl would replace the input train.jsonl"),
        ("-o . --force", 1, ". is the current folder or contains it"),
        ("--against train.jsonl --against-text text", 1, "train.jsonl is in both corpora"),
        ("--id url", 1, "name another with --against-id"),
        ("-t nan", 2, "threshold must be a number in (0, 1]; got nan"),
        ("--passage 0", 2, "0 is not in the range"),
        ("--matches m.txt", 2, "the suffix must be one of .parquet, .jsonl, .ndjson, .json, .csv, .tsv, .arrow, "),
    ],
)
def test_refusals(run, more, code, message):
    before = contents(Path())
    found, _, err = run(f"{'decontaminate train.jsonl' if '--against ' in more else JOB} {more}")
    assert (found, message in err) == (code, True), err
    assert contents(Path()) == before


def test_standard_input_is_one_corpus_only():
    def piped(line):
        given = process(f"decontaminate - {line} --format jsonl --json")
        return subprocess.run(given, input=Path("train.jsonl").read_bytes(), capture_output=True, check=False)

    done = piped("--against test.jsonl --against-text question")
    assert (done.returncode, json.loads(done.stdout)["overlapping"]) == (0, 1)
    done = piped("--against -")
    assert done.returncode == 2 and b"cannot be both corpora" in done.stderr


def test_a_document_that_is_too_large_is_named_or_skipped(run):
    """Skipped, it is neither compared nor written; a reference document is never skipped."""
    write_lines("train.jsonl", [*ROWS, {"text": f"{QUESTION} " * 100, "url": "u3"}])
    code, _, err = run(f"{JOB} {LARGE} -o clean.jsonl --quiet")
    assert code == 1 and "train.jsonl, row 3: the document has more than the 2,000 bytes" in err
    assert not os.path.exists("clean.jsonl")
    for annotate, kept in (("", ["u2"]), ("--annotate", ["u1", "u2"])):
        code, out, _ = run(f"{JOB} {LARGE} --on-error skip --id url --against-id qid --force -o clean.jsonl {annotate}")
        assert code == 0 and "  skipped                 1   (too large or unreadable: not compared, not written)" in out
        assert [row["url"] for row in read_lines("clean.jsonl")] == kept
    write_lines("test.jsonl", [{"question": f"{QUESTION} " * 100}])
    code, _, err = run(f"{JOB} {LARGE} --on-error skip --quiet")
    assert code == 1 and "test.jsonl, row 1: the document has more than the 2,000 bytes" in err


def test_reference_documents_that_do_not_fit_are_refused_with_what_would_do(run, monkeypatch):
    monkeypatch.setattr("lookalike.recipes.decontaminate.SHINGLE_BYTES", 80_000_001)
    code, _, err = run(f"{JOB} --memory 1GB --quiet")
    assert code == 2 and "the limit is 1,000 MB: raise --memory" in err
    said, _, needed = err.partition("need ")
    assert said.endswith("the 6 shingles read of the reference documents so far ")
    enough = needed.partition(" MB")[0].replace(",", "")
    assert run(f"{JOB} --memory {enough}MB --quiet")[0] == 0, "what the message says is enough"
