import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from engine_kinds import cut_small, spill
from hypothesis import given, settings
from hypothesis import strategies as st
from json_lines import write_lines
from naive import overlap as naive

import lookalike as la
from lookalike.engines.memory import Memory
from lookalike.errors import InputDataError, LookalikeError, ParameterError
from lookalike.files.workspace import Workspace
from lookalike.search import passages

WIDTH = 3
MEASURES = ("containment", "resemblance", "ngram:2", "ngram:4")
BETWEEN = st.sampled_from([" ", ", ", "  \n", "-", " \u00e9 ", "_"])


@st.composite
def texts(draw, most=14):
    tokens = draw(st.lists(st.sampled_from(["a", "b", "c", "B"]), max_size=most))
    return "".join(word + draw(BETWEEN) for word in tokens)


def found_by(data, against, threads=1, fields=0, **how):
    """Return what the naive twin does, from a result, whose tables must agree with each other."""
    if fields:
        names = ["f0", *(f"f{i + 1}" for i in range(fields))]
        against, how = [dict(zip(names, item, strict=True)) for item in against], how | {"against_text": names}
        data = [{"text": text} for text in data]
    result = la.decontaminate(data, against=against, threads=threads, **how)
    rows = result.matches.to_pylist()
    assert result.overlaps.tolist() == [i in {r["id"] for r in rows} for i in range(len(data))]
    first, then = ("resemblance", "containment") if how["measure"] == "resemblance" else ("containment", "resemblance")
    order = [(r["id"], -r[first], -r[then], r["reference"]) for r in rows]
    assert order == sorted(order), "input order, the best first; of equals the one that is better by the other score"
    (told,) = result.by_benchmark.to_pylist() if against else ({"items": 0, "contaminated": 0, "documents": 0},)
    assert told["items"] == len(against) and told["contaminated"] == len({r["reference"] for r in rows})
    assert told["documents"] == result.overlaps.sum() and result.summary["matches"] == len(rows)
    reasons = {r["reference"]: r["reason"] for r in result.not_searchable.to_pylist()}
    for reason in ("empty", "short", "common") if against else ():
        assert told[reason] == list(reasons.values()).count(reason)
    pieces = [one for some in result._listed.pieces(0, 0, len(data)) for one in some.to_pylist()]
    pieces = {i: [*zip(some[::2], some[1::2], strict=True)] for i, some in enumerate(pieces)}
    shares = {(r["id"], r["reference"]): [r[f"f{i + 1}_found"] for i in range(fields)] for r in rows} if fields else {}
    best = {
        (r["id"], r["reference"]): (r["passage"] or 0, r["resemblance"], r["containment"], r["begin"], r["end"]) for r in rows
    }
    return best, pieces, reasons, shares


@settings(max_examples=300, deadline=None)
@given(st.lists(texts(), max_size=8), st.lists(texts(), max_size=6), st.sampled_from(MEASURES),
       st.sampled_from([0.01, 0.25, 0.5, 0.8, 1.0]), st.sampled_from([None, 1, 2, 3, 5, 20]), st.sampled_from([1, 2, 3, 6]),
       st.sampled_from([None, 1, 2, 3]), st.sampled_from([0, 1, 2, 64]), st.sampled_from([1, 3]))  # fmt: skip
def test_matches_of_any_corpora_equal_the_naive_twin(data, against, measure, threshold, passage, least, common, long, threads):
    how = {"measure": measure, "passage": passage, "min_tokens": least, "common": common}
    how |= {} if measure.startswith("ngram") else {"threshold": threshold, "width": WIDTH}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passages, "LONG", long)
        assert found_by(data, against, threads, **how) == naive.overlap(data, against, **how)


@settings(max_examples=100, deadline=None)
@given(st.lists(texts(), min_size=1, max_size=6),
       st.lists(st.tuples(texts(), texts(4), st.lists(texts(4), max_size=3)), min_size=1, max_size=5), st.sampled_from(MEASURES),
       st.sampled_from([None, 2]))  # fmt: skip
def test_other_fields_are_looked_for_in_what_matches(data, against, measure, passage):
    how = {"measure": measure, "passage": passage, "min_tokens": 2}
    how |= {} if measure.startswith("ngram") else {"threshold": 0.5, "width": WIDTH}
    assert found_by(data, against, fields=2, **how) == naive.overlap(data, [list(item) for item in against], **how)


QUESTION = "what is the capital of the old country of France"
PAGE = f"the teacher asked the class {QUESTION} and nobody knew the answer to that, " + " ".join(f"word{i}" for i in range(500))


def test_what_is_no_corpus_and_no_column_is_refused(tmp_path):
    train = write_lines(tmp_path / "train.jsonl", [QUESTION])
    (tmp_path / "link.jsonl").symlink_to(train)
    for wrong, said in (
        ({"against": None}, "got NoneType"),
        ({"against": tmp_path / "link.jsonl"}, "is in both corpora"),
        ({"against": ["a"], "against_text": ["a", 1]}, "list of str"),
    ):
        with pytest.raises(LookalikeError, match=said):
            la.decontaminate(train, **wrong)


def test_as_many_shingles_as_can_be_counted(monkeypatch):
    values, offsets = np.arange(10, dtype=np.uint64), np.array([0, 0, 10])
    for width, entries in ((None, 10), (4, 16)):
        monkeypatch.setattr(passages, "MAX_ENTRIES", entries)
        assert passages.Passages.of(values, offsets, width).sizes.sum() == entries
        monkeypatch.setattr(passages, "MAX_ENTRIES", entries - 1)
        with pytest.raises(ParameterError, match=rf"have {entries} shingles .* at most {entries - 1} fit"):
            passages.Passages.of(values, offsets, width)


def test_the_end_of_a_document_ends_a_passage():
    words, how = [f"w{i}" for i in range(11)], {"width": 1, "min_tokens": 1, "threshold": 1}
    for n in range(1, 12):
        found = la.decontaminate([" ".join(words[-n:])], against=[" ".join(words)], passage=n, **how)
        assert found.matches["passage"].to_pylist() == [11 - n]


FORGED = "ca2036 he8et6 bi6jxy jo12n8 friend", "Vote for the mayor"  # one hash by ``shingle`` without a key


def test_no_text_seems_to_contain_another_by_a_hash_that_was_foreseen():
    assert la.shingle(FORGED).resemblance(0, 1) == 1.0
    assert la.decontaminate([FORGED[0]], against=[FORGED[1]]).matches.num_rows == 0
    assert la.decontaminate([FORGED[1]], against=[FORGED[1]]).matches.num_rows == 1


def both(tmp_path):
    rng = np.random.default_rng(5)
    words = [[f"w{i}" for i in rng.integers(0, 6, rng.integers(0, 12))] for _ in range(80)]
    rows = [{"text": " ".join(some), "id": f"d{i}"} for i, some in enumerate(words)]
    items = [{"text": " ".join(some), "id": i, "more": [*some[:2]], "set": f"s{i % 3}"} for i, some in enumerate(words[::3])]
    files = ("d", rows), ("e", [rows[3] | {"id": "e"}]), ("a", items)
    return [write_lines(tmp_path / f"{name}.jsonl", some) for name, some in files]


def outcome(folder, data, against):
    folder.mkdir()
    how = {"id": "id", "against_id": "id", "against_text": ["text", "more"], "benchmark": "set", "min_tokens": 1, "common": 60}
    result = la.decontaminate(data, against=against, width=2, threshold=0.5, passage=3, threads=1, **how)
    result.write(folder / "annotated.parquet", annotate=True)
    result.write_matches(folder / "matches.csv")
    result.write(folder / "masked.jsonl", mask="-")
    result.report(folder / "page.html")
    files = [(folder / name).read_bytes() for name in ("annotated.parquet", "matches.csv", "masked.jsonl")]
    return files, result.matches, result.overlaps.tolist(), result.not_searchable, result.summary, result.by_benchmark


def test_what_does_not_fit_the_memory_goes_to_the_disk(tmp_path, monkeypatch):
    *data, against = both(tmp_path)
    whole = outcome(tmp_path / "whole", data, against)
    assert len(whole[1]) > 200
    written, write = [], Workspace._write
    monkeypatch.setattr(Workspace, "_write", lambda self, name, arrays: written.append(name) or write(self, name, arrays))
    cut_small(monkeypatch)
    spill(monkeypatch)
    monkeypatch.setattr(Memory, "free", 80000)
    assert outcome(tmp_path / "parted", data, against) == whole
    assert sum(name.startswith("matched") for name in written) > 4 and any("references" in name for name in written)


def test_hostile_references():
    for against, matches in (
        ([QUESTION] * 100_000, 100_000),
        (["?!... " * 100, "", "\x00", "\u0301"], 0),
        (["w " * 1_000_000 + QUESTION], 0),
    ):
        found = la.decontaminate([PAGE, "?!... " * 100, "w " * 3000], against=against, min_tokens=1)
        assert found.summary["matches"] == len(found.matches) == matches


def test_invalid_utf8_separates_words_or_is_an_error(tmp_path):
    table = pa.table({"text": pa.array([b"the \xff" + QUESTION.encode() + b"\xff\xff, yyy"]).cast(pa.binary())})
    pq.write_table(table, tmp_path / "t.parquet")
    (tmp_path / "a.txt").write_bytes(b"\xfe " + QUESTION.encode() + b"\xff")
    with pytest.raises(InputDataError, match=r"t.parquet, row 1: invalid UTF-8"):
        la.decontaminate(tmp_path / "t.parquet", against=[QUESTION])
    with pytest.raises(InputDataError, match=r"a.txt: invalid UTF-8"):
        la.decontaminate([QUESTION], against=tmp_path / "a.txt")
    result = la.decontaminate(
        tmp_path / "t.parquet", against=tmp_path / "a.txt", encoding_errors="replace", against_text="text"
    )
    (match,) = result.matches.to_pylist()
    assert (match["begin"], match["end"]) == (5, 5 + len(QUESTION))
    result.write(tmp_path / "out.parquet", mask="-")
    assert pq.read_table(tmp_path / "out.parquet")["text"].to_pylist() == [b"the \xff-\xff\xff, yyy"]
