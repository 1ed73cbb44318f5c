"""Overlap of items with training pages: short ones, fields, common phrases, pieces, benchmarks, and what is hostile."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lookalike as la

QUESTION = "what is the capital of the old country of France"
PAGE = f"the teacher asked the class {QUESTION} and nobody knew the answer to that, " + " ".join(f"word{i}" for i in range(500))


def write_lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_short_reference_documents_are_found_as_a_whole_and_others_are_listed():
    against = ["of France", QUESTION, "", None, "...", "Country of FRANCE, and", "the capital of all France"]
    result = la.decontaminate([PAGE, "country of France"], against=against)
    assert result.not_searchable.to_pylist() == [
        {"reference": 0, "tokens": 2, "reason": "short"}, {"reference": 2, "tokens": 0, "reason": "empty"},
        {"reference": 3, "tokens": 0, "reason": "empty"}, {"reference": 4, "tokens": 0, "reason": "empty"},
    ]  # fmt: skip
    assert result.summary == {
        "documents": 2, "references": 7, "empty_references": 3, "short_references": 1, "common_references": 0,
        "contaminated_references": 2, "overlapping": 1, "matches": 2, "skipped": 0,
    }  # fmt: skip
    assert result.provenance["summary"] == result.summary
    found = {m["reference"]: (m["begin"], m["end"], m["resemblance"]) for m in result.matches.to_pylist()}
    assert {r: PAGE[begin:end] for r, (begin, end, _) in found.items()} == {1: QUESTION, 5: "country of France and"}
    assert found[5][2] == 0.0, "they have no shingle in common"
    two = la.decontaminate([PAGE, "Of FRANCE!", "of Frances"], against=against, min_tokens=2)
    assert [(m["id"], m["resemblance"]) for m in two.matches.to_pylist() if m["reference"] == 0] == [(0, 0.0), (1, 1.0)]
    assert two.not_searchable["reference"].to_pylist() == [2, 3, 4]
    same = la.decontaminate([PAGE, "Of FRANCE!"], against=against, measure="resemblance").matches.to_pylist()
    assert [(m["id"], m["reference"]) for m in same] == [(1, 0)], "by resemblance, only in a document that is the same"


@pytest.mark.parametrize(("unit", "text", "tokens"), [("char", "abc ", 3), ("byte", "é", 2), ("line", "a\n\nb", 2)])
def test_short_reference_documents_of_all_units(unit, text, tokens):
    how = {"unit": unit, "width": 5 if unit != "line" else 3}
    against = [text, "long enough\nto be\nsearched\nfor", text]
    result = la.decontaminate(["x"], against=against, **how)
    assert result.not_searchable.to_pylist() == [{"reference": i, "tokens": tokens, "reason": "short"} for i in (0, 2)]
    data = "é\nqAbC\na\nb\nc" if unit == "line" else "xé qAbCx"
    found = la.decontaminate([data], against=against, min_tokens=1, **how).matches.to_pylist()
    assert [m["reference"] for m in found] == [0, 2] and {(m["begin"], m["end"]) for m in found} == {
        {"char": (5, 8), "byte": (1, 3), "line": (8, 11)}[unit]
    }


def test_what_many_documents_have_is_no_evidence():
    """A shingle counts once for each document that has it, but not if that has nine words of an item that it matches."""
    phrase, item = "at the beginning of the", "at the beginning of the third act the butler"
    pages = [f"{phrase} page {i}" for i in range(11)]
    copies = [f"he read: {item}, {i} times" for i in range(30)]
    result = la.decontaminate([*pages, *copies], against=[phrase, item])
    assert result.not_searchable.to_pylist() == [{"reference": 0, "tokens": 5, "reason": "common"}]
    assert result.overlaps.tolist() == [False] * 11 + [True] * 30, "copies of an item do not make it common"
    assert not la.decontaminate(pages[:10], against=[item]).overlaps.any()
    assert la.decontaminate(pages[:10], against=[phrase]).overlaps.all(), "ten are not many"
    assert la.decontaminate([*pages, *copies], against=[phrase], common=1000).overlaps.all()
    stock = "at the beginning of the page"  # of two shingles
    data = [f"at the beginning of the {i}" for i in range(11)] + ["the beginning of the page", stock]
    assert la.decontaminate(data, against=[stock], threshold=0.5).overlaps.tolist() == [False] * 11 + [True] * 2
    assert not la.decontaminate([*copies, item], against=[item], measure="ngram:8").overlaps.any(), (
        "of n-grams all documents count"
    )


def test_pieces_are_masked_and_the_rest_stays(tmp_path):
    item = "what is the capital of the old country of France"
    edited = item.replace("old", "OLD and rich")
    rows = [
        {"text": f"né: {edited}? No. {item}", "n": 1}, {"text": "nothing of the kind", "n": 2}, {"text": item.upper(), "n": 3},
        {"text": "e\u0301 " + item + " e\u0301", "n": 4},
    ]  # fmt: skip
    train = write_lines(tmp_path / "train.jsonl", rows)
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "train.parquet")
    for path in (train, tmp_path / "train.parquet"):
        result = la.decontaminate(path, against=[item], threshold=0.5)
        for mask in ("", "[…]"):
            result.write(tmp_path / "out.jsonl", mask=mask, force=True)
            left = [json.loads(line)["text"] for line in (tmp_path / "out.jsonl").read_text().splitlines()]
            assert left == [
                f"né: {mask} and rich country of France? No. {mask}", "nothing of the kind", mask, f"e\u0301 {mask} e\u0301"
            ], path  # fmt: skip
    separate = la.decontaminate([f"{item} {' w' * 9} {item}"], against=[item])
    separate.write(tmp_path / "two.jsonl", mask="X")
    assert json.loads((tmp_path / "two.jsonl").read_text())["text"] == f"X {' w' * 9} X"


def test_question_and_answer_may_be_apart_and_choices_in_any_order():
    items = [
        {"q": QUESTION, "choices": ["Lyon", "the city of Paris on the Seine", "+"], "answer": "Paris", "set": "a"},
        {"q": "how many legs has a spider of the woods", "choices": [], "answer": "eight", "set": "b"},
        {"q": "Yes?", "choices": None, "answer": "Yes", "set": "b"},
    ]
    pages = [{"text": f"the city of Paris on the Seine, or LYON? {'x ' * 300} {QUESTION}"}, {"text": "Paris, Lyon, eight"}]
    how = {"against_text": ["q", "choices", "answer"], "benchmark": "set"}
    result = la.decontaminate(pages, against=items, **how)
    (match,) = result.matches.to_pylist()
    assert (match["choices_found"], match["answer_found"]) == (1.0, 1.0), "of a choice without words nothing is asked"
    assert result.by_benchmark.to_pylist() == [
        {"benchmark": "a", "items": 1, "empty": 0, "short": 0, "common": 0, "contaminated": 1, "documents": 1, "share": 1.0,
         "with_choices": 1, "with_answer": 1},
        {"benchmark": "b", "items": 2, "empty": 0, "short": 1, "common": 0, "contaminated": 0, "documents": 0, "share": 0.0,
         "with_choices": 0, "with_answer": 0},
    ]  # fmt: skip
    with pytest.raises(la.InputDataError, match=r"row 0: field 'answer' must be a string.* found 2; name another"):
        la.decontaminate(pages, against=[items[0] | {"answer": 2}], **how)


def test_each_input_is_a_benchmark(tmp_path):
    (tmp_path / "evals").mkdir()
    write_lines(tmp_path / "evals/one.jsonl", [{"text": QUESTION}, {"text": "of words that are found nowhere else"}])
    write_lines(tmp_path / "evals/two.jsonl", [{"text": QUESTION}] * 3)
    result = la.decontaminate([PAGE, QUESTION], against=tmp_path / "evals")
    told = [
        tuple(row[name] for name in ("items", "contaminated", "documents", "share")) for row in result.by_benchmark.to_pylist()
    ]
    assert told == [(2, 1, 2, 0.5), (3, 3, 2, 1.0)]
    assert [name.rpartition("/")[2] for name in result.by_benchmark["benchmark"].to_pylist()] == ["one.jsonl", "two.jsonl"]
    assert len(result.matches) == result.summary["matches"] == 8
    write_lines(tmp_path / "evals/two.jsonl", [{"text": QUESTION, "set": name} for name in ("a", None, 7)])
    named = la.decontaminate([PAGE], against=tmp_path / "evals/two.jsonl", benchmark="set").by_benchmark
    assert named["benchmark"].to_pylist() == ["a", str(tmp_path / "evals/two.jsonl"), "7"], "null: as without the column"


@pytest.mark.parametrize("against", [
    [QUESTION] * 100_000, ["?!... " * 100, "", "\x00", "\u0301"], ["w " * 1_000_000 + QUESTION], [QUESTION + " x" * 1_000_000],
])  # fmt: skip
def test_hostile_references(against):
    found = la.decontaminate([PAGE, "?!... " * 100, "w " * 3000], against=against, min_tokens=1)
    assert found.summary["matches"] == (len(against) if against[0] == QUESTION else 0)
    assert len(found.matches) == found.summary["matches"]


def test_invalid_utf8_separates_words_or_is_an_error(tmp_path):
    table = pa.table({"text": pa.array([b"the \xff" + QUESTION.encode() + b"\xff\xff, " + b"y" * 3]).cast(pa.binary())})
    pq.write_table(table, tmp_path / "t.parquet")
    (tmp_path / "a.txt").write_bytes(b"\xfe " + QUESTION.encode() + b"\xff")
    with pytest.raises(la.InputDataError, match=r"t.parquet, row 1: invalid UTF-8"):
        la.decontaminate(tmp_path / "t.parquet", against=[QUESTION])
    with pytest.raises(la.InputDataError, match=r"a.txt: invalid UTF-8"):
        la.decontaminate([QUESTION], against=tmp_path / "a.txt")
    result = la.decontaminate(
        tmp_path / "t.parquet", against=tmp_path / "a.txt", encoding_errors="replace", against_text="text"
    )
    (match,) = result.matches.to_pylist()
    assert (match["begin"], match["end"]) == (5, 5 + len(QUESTION))
    result.write(tmp_path / "out.parquet", mask="-")
    assert pq.read_table(tmp_path / "out.parquet")["text"].to_pylist() == [b"the \xff-\xff\xff, yyy"]


def test_other_fields_of_a_second_input(tmp_path):
    items = {"q": "how many legs has a spider of the woods", "a": "eight"}, {"q": QUESTION, "a": "Paris"}
    against = [write_lines(tmp_path / f"{i}.jsonl", [item]) for i, item in enumerate(items)]
    result = la.decontaminate([f"{QUESTION} Paris"], against=against, against_text=["q", "a"])
    assert [row["a_found"] for row in result.matches.to_pylist()] == [1.0]
