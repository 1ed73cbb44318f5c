import re
from hashlib import sha256

import pyarrow as pa
import pytest
from engine_kinds import KINDS, prepare
from json_lines import write_lines
from listing import find_pairs
from raising import assert_raises

import lookalike as la
from lookalike.errors import InputDataError, OutputError, ParameterError
from lookalike.report import page as page_module
from lookalike.report.samples import near_misses

ONE = "one two three four five six"


def test_the_verdict_and_its_recall(run, corpus, page_of):
    """Warnings come first."""
    result = run()
    s, digest = result.summary, sha256((corpus / "b.jsonl").read_bytes()).hexdigest()
    page, _ = page_of(result)
    for said in (
        f"{s.documents - s.kept:,} of {s.documents:,} documents",
        digest,
        f"{s.recall_vouched:.4f}",
        "Every document of",
    ):
        assert said in page and "Recall measured" not in page
    found = result.audit(10)
    page, _ = page_of(result)
    for said in (
        f"recall measured ({found['low']:.4f} to {found['high']:.4f})",
        f"whose resemblance is exactly {result.threshold:g}, the hardest",
        "all near-duplicates of 10 kept documents, drawn at random. Most of these are more similar",
    ):
        assert said in page and "vouched" not in page
    top = page_of(run(verify="sketch"))[0].split("<main>")[0]
    warnings = top.split('<section class="alarm" id="warnings"')[1].split("</section>")[0]
    assert top.index("</h1>") < top.index('id="warnings"') < top.index("<nav")
    assert "Every document of" in warnings and "Removals rest on estimates" in warnings


BY_HAND = {"id": "id", "max_document": 200, "on_error": "skip", "overrides": [{"id": 0, "action": "remove"}]}
SAID = (
    ({}, "each because it matches a kept document. Resemblances are exact"),
    ({"empty": "drop"}, "matches a kept document, except those that have no token. Resemblances"),
    (
        {"empty": "drop"} | BY_HAND,
        "except those that have no token or that overrides remove. 1 document was left out, neither compared",
    ),
    ({"tokenizer": str.split, "threshold": 0.5}, "lookalike.dedup(data, threshold=0.5, tokenizer=split"),
    ({}, "lookalike.dedup(data, threshold=0.8"),
    ({}, "All are exact duplicates of the kept document."),
)


def test_what_a_page_says(page_of):
    table = pa.table({"text": [ONE, ONE, "", "far too large " * 40], "id": range(4)})
    for settings, said in SAID:
        page, _ = page_of(la.dedup(table, **settings))
        assert said in page and "0 of 0" not in page.split('id="groups"')[1].split("</section>")[0]
    page, _ = page_of(la.dedup([ONE, "four five six seven eight nine"]))
    assert "There is none." in page and "There are no warnings." in page


@pytest.mark.parametrize("texts", ["none", "hash"])
def test_texts_stay_out(run, corpus, page_of, texts):
    files, against = [corpus / f"{name}.jsonl" for name in "abc"], corpus / "ref.jsonl"
    for result in (run(), find_pairs(files, against), la.decontaminate(files, against=against, threshold=0.6)):
        page, data = page_of(result, texts=texts)
        assert not re.search(r"\b(word|new)\d+\b", page) and len(data["pairs"]) >= 20
        assert ("This report has no texts." in page.split('<script type="application/json"')[0]) == (texts == "none")
        assert all((pair["compared"] is None) == (texts == "none") for pair in data["pairs"])
        assert texts == "hash" or '"begins"' not in page.split("</style>")[1]


def test_every_kind_of_result_has_a_page(run, page_of):
    for settings in (
        {"method": "simhash", "radius": 8}, {"threshold": 1.0, "within": "w"}, {"threshold": 0.02}, {"unit": "char", "width": 7},
        {"unit": "line", "empty": "drop"}, {"tokenizer": str.split, "evidence": "all"},
        {"max_document": 300, "on_error": "skip", "references": False, "id": None},
    ):  # fmt: skip
        result = run(**settings)
        page, _ = page_of(result)
        assert page.count("<h2>") == 9 and f"{result.summary.near_duplicates:,}" in page
    for evidence in ("keepers", "all"):
        assert "threshold 0.9" in page_of(run(evidence=evidence, threshold=0.6).rethreshold(0.9))[0]


def test_what_is_in_memory_has_a_page(page_of):
    table = pa.table({"text": [f"{ONE} seven"] * 2 + [f"{ONE} eight", ""], "id": [2**60, 2, 3, 4]})
    for rows in (table[:0], table[:1], table):
        page, data = page_of(la.dedup(rows, threshold=0.4, id="id"))
        assert page.count("<h2>") == 9 and "not known" in page, "there is no digest of what is in memory"
    assert {document["id"] for document in data["documents"]} == {str(2**60), 3}


def test_a_loaded_result_has_the_texts_of_files_that_are_as_they_were(tmp_path, page_of):
    file, texts = tmp_path / "a.jsonl", [f"one two three four five word{i}" for i in range(4)]
    for name, data in (("saved", write_lines(file, texts)), ("memory", texts)):
        la.dedup(data, threshold=0.3).save(tmp_path / name)
    result, of_memory = (la.Result.load(tmp_path / name) for name in ("saved", "memory"))
    page, _ = page_of(result)
    assert "word3" in page and "missing" not in page and "only a job that is open" in page
    assert page.count(sha256(file.read_bytes()).hexdigest()) > 1, "for the reader, and for overrides"
    for change, one, said in (
        (lambda: file.write_text("other"), result, "a.jsonl: the file has changed"),
        (file.unlink, result, "a.jsonl: the input no longer exists"),
        (str, of_memory, "values in memory, a pipe or part of an archive"),
    ):
        change()
        page, _ = page_of(one)
        assert "missing: " in page and said in page and not re.search(r"\bword\d+\b", page)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "local"])
def test_every_engine_gives_the_same_page(run, page_of, kind, monkeypatch):
    settings, told = {"threshold": 0.93, "recall": 0.9999}, []
    for how in ({}, prepare(kind, monkeypatch)):
        page, _ = page_of(run(**settings, **how))
        told.append(re.sub(r'<section id="cost".*?</section>', "", page, flags=re.DOTALL))
    assert told[0] == told[1] and "pairs of kept documents that were compared" in page


def test_near_misses_are_shown_and_counted(page_of):
    words = [f"w{i}" for i in range(100)]
    edited = [words, [*words[:45], "x", *words[46:]], [*words[:90], *(f"y{i}" for i in range(10))]]
    result = la.dedup([" ".join(some) for some in edited], threshold=0.93)
    near = near_misses(result.near_misses, 0.93, 0.88, 5, result.settings.finder.recall)
    assert near.total == 1 and near.score.tolist() == [91 / 101] and near.expected == pytest.approx(1, abs=0.05)
    page, data = page_of(result)
    assert "1 pair of kept documents that were compared" in page
    assert [(pair["kept"], pair["section"]) for pair in data["pairs"]] == [(True, "Near misses, both kept")]


def test_a_page_is_made_smaller_until_it_fits(run, page_of, monkeypatch):
    whole, _ = page_of(run())
    monkeypatch.setattr(page_module, "MOST_BYTES", len(whole.encode()) - 6_000)
    smaller, _ = page_of(run())
    assert len(smaller.encode()) <= page_module.MOST_BYTES


def test_the_worst_page_fits(page_of, monkeypatch):
    """Long ids and texts of characters that take most room, and many pairs of every kind."""
    words = [[f"<&'{i}x{j}>" * 3 for j in range(500)] for i in range(150)]
    near = [[word if j % 10 else f"<<'&{j}" for j, word in enumerate(some)] for some in words]
    ids = [f"{i}" + "<&'" * 3000 for i in range(300)]
    table = pa.table({"text": [" ".join(some) for some in words + near], "id": ids})
    monkeypatch.setattr(page_module, "PAIR_BYTES", page_module.PAIR_BYTES[:1])  # none smaller is needed
    result = la.dedup(table, id="id", threshold=0.4)
    page, data = page_of(result)
    assert len(page.encode()) > 1_000_000 and result.summary.near_duplicates == 150
    assert {document["id"] for document in data["documents"]} == {None}, "too long to be named"


def test_what_is_refused_leaves_nothing(tmp_path):
    path, page = write_lines(tmp_path / "in.jsonl", [ONE, f"{ONE}!"]), tmp_path / "page.html"
    result = la.dedup(path)
    assert_raises(OutputError, "would replace the input", result.report, path, force=True)
    write_lines(path, ["one"])
    assert_raises(InputDataError, "changed during the run", result.report, page)
    result.close()
    assert_raises(ParameterError, "this result is closed", result.report, page)
    assert list(tmp_path.iterdir()) == [path]
