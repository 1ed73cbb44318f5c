"""Documents that contain others: equal to set arithmetic; short items, fields, common phrases, benchmarks, hostile ones."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from engine_kinds import cut_small, spill
from hypothesis import given, settings
from hypothesis import strategies as st
from json_lines import read_lines, write_lines
from naive import overlap as naive

import lookalike as la
from lookalike.engines.memory import Memory
from lookalike.errors import InputDataError, ParameterError
from lookalike.files.workspace import Workspace
from lookalike.search import passages

WIDTH = 3
MEASURES = ("containment", "resemblance", "ngram:2", "ngram:4")
BETWEEN = st.sampled_from([" ", ", ", "  \n", "-", " \u00e9 ", "_"])


@st.composite
def texts(draw, most=14):
    """A text of few different words, in any case, with anything between them."""
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


def test_what_all_references_share_is_not_gone_through():
    prompt = [f"p{i}" for i in range(16)]  # 14 shingles
    against = [" ".join([*prompt, *(f"q{i}w{j}" for j in range(20))]) for i in range(100)]
    hashes = la.shingle(against, width=WIDTH)
    known = passages.Passages.of(hashes.values, hashes.offsets, None, 0.8).lists
    assert known.hidden.tolist() == [14] * 100 and (known.offsets[1:] - known.scanned).sum() == 1400
    assert not passages.Passages.of(hashes.values, hashes.offsets, None, 14 / 34).lists.hidden.any()
    texts = " ".join([*prompt, "own", "words"]), *against[:3], " ".join([*prompt, *against[7].split()[16:34]])
    for how in ({"measure": measure, "width": WIDTH} for measure in MEASURES[:2]):
        found = found_by(texts, against, **how)
        assert found == naive.overlap(texts, against, **how) and len(found[0]) == 4


QUESTION = "what is the capital of the old country of France"
ASKED = f"the teacher asked the class {QUESTION} and nobody knew the answer to that"
PAGE = f"{ASKED}, " + " ".join(f"word{i}" for i in range(500))


def test_removal_and_annotation(tmp_path):
    texts = [ASKED, "nothing of the kind is to be found here", QUESTION]
    table = pa.table({"text": texts, "n": [1, 2, 3], "key": ["a", "b", "c"]})
    pq.write_table(table, tmp_path / "train.parquet")
    against = write_lines(tmp_path / "eval.jsonl", [{"text": QUESTION, "key": "q"}])
    result = la.decontaminate(tmp_path / "train.parquet", against=against, id="key")
    assert result.overlaps.tolist() == [True, False, True]
    assert result.matches["reference"].to_pylist() == ["q", "q"]
    result.write(tmp_path / "clean.parquet")
    assert pq.read_table(tmp_path / "clean.parquet").to_pylist() == table.slice(1, 1).to_pylist()
    result.write(tmp_path / "all.jsonl", annotate=True)
    rows = read_lines(tmp_path / "all.jsonl")
    assert [row["overlap_with"] for row in rows] == ["q", None, "q"]
    assert rows[0]["containment"] == 1.0 and 0.1 < rows[0]["resemblance"] < 0.8 and rows[2]["resemblance"] == 1.0
    assert {name: rows[1][name] for name in ADDED} == dict.fromkeys(ADDED)
    result.write(tmp_path / "out", annotate=True)
    assert tuple(pq.read_table(tmp_path / "out/train.parquet").column_names[-4:]) == ADDED


ADDED = "overlap_with", "overlap_passage", "resemblance", "containment"


def test_each_corpus_has_its_own_columns(tmp_path):
    train = write_lines(tmp_path / "train.jsonl", [{"text": PAGE, "title": QUESTION, "url": "u1"}])
    test = write_lines(tmp_path / "test.jsonl", [{"question": QUESTION, "qid": 5}])
    for against, more, named in (
        (test, {"against_text": "question", "against_id": "qid"}, 5),
        (test, {"against_text": "question", "against_id": ""}, f"{test}:1"),
        ([QUESTION], {}, 0),  # a list has no columns
        (train, {"against_text": "title", "against_id": "url"}, "u1"),  # another column is another corpus
    ):
        found = la.decontaminate(train, against=against, text="text", id="url", **more).matches
        assert [(m["id"], m["reference"]) for m in found.to_pylist()] == [("u1", named)]
    (tmp_path / "link.jsonl").symlink_to(train)
    twice = write_lines(tmp_path / "twice.jsonl", [{"text": PAGE, "id": 1}, {"text": QUESTION, "id": 1}])
    once = write_lines(tmp_path / "once.jsonl", [{"text": PAGE, "id": 1}])
    repeated = r"twice.jsonl, row 1 and .*twice.jsonl, row 2"
    for data, against, more, said in (
        (train, test, {}, r"test.jsonl, row 1: field 'text' is missing.*against_text="),
        (train, test, {"against_text": "question", "id": "url"}, r"field 'url' is missing.*against_id="),
        (train, None, {}, "got NoneType"),
        *((train, other, {}, "is in both corpora") for other in (train, tmp_path / "link.jsonl", str(tmp_path / "tr*.jsonl"))),
        (once, twice, {"id": "id"}, repeated),
        (twice, once, {"id": "id"}, repeated),
    ):
        with pytest.raises(InputDataError, match=said):
            la.decontaminate(data, against=against, **more)


@pytest.mark.parametrize(("settings", "message"), [
    ({"measure": "x"}, "measure must be"), ({"measure": "ngram:"}, "such as ngram:13"), ({"measure": "ngram:0"}, "got 0"),
    ({"measure": "ngram:13", "width": 5}, "leave out the width"), ({"measure": "ngram:13", "threshold": 0.5}, "leave out the"),
    ({"against_text": ["a", 1]}, "list of str"), ({"against_text": ["a", "a"]}, "twice"), ({"min_tokens": 0}, "min_tokens must be"),
    ({"common": 0}, "common must be"), ({"threshold": 0}, "threshold must be"), ({"threshold": float("nan")}, "got nan"),
    ({"passage": 0}, "passage must be at least 1"), ({"passage": 2.5}, "got 2.5"), ({"threads": 0}, "threads must be"),
])  # fmt: skip
def test_parameters(settings, message):
    with pytest.raises(ParameterError, match=message):
        la.decontaminate(["a"], against=["a"], **settings)


@pytest.mark.parametrize(("width", "entries"), [(None, 10), (4, 16)])
def test_as_many_shingles_as_can_be_counted(monkeypatch, width, entries):
    values, offsets = np.arange(10, dtype=np.uint64), np.array([0, 0, 10])
    monkeypatch.setattr(passages, "MAX_ENTRIES", entries)
    assert passages.Passages.of(values, offsets, width).sizes.sum() == entries
    monkeypatch.setattr(passages, "MAX_ENTRIES", entries - 1)
    with pytest.raises(ParameterError, match=rf"have {entries} shingles .* at most {entries - 1} fit"):
        passages.Passages.of(values, offsets, width)


def test_a_shingle_whose_hash_is_0_is_looked_up_like_any_other():
    known = passages.Passages.of(np.array([0, 5, 7], np.uint64), np.array([0, 3]), None)
    rows, found, score = known.resembling(np.array([0, 7, 7, 9], np.uint64), np.array([0, 4]), 0.5)
    assert (rows.tolist(), found.tolist(), score.tolist()) == ([0], [0], [0.5])


FORGED = "ca2036 he8et6 bi6jxy jo12n8 friend", "Vote for the mayor"  # one hash by ``shingle`` without a key


def test_no_text_seems_to_contain_another_by_a_hash_that_was_foreseen():
    assert la.shingle(FORGED).resemblance(0, 1) == 1.0
    assert la.decontaminate([FORGED[0]], against=[FORGED[1]]).matches.num_rows == 0
    assert la.decontaminate([FORGED[1]], against=[FORGED[1]]).matches.num_rows == 1


def both(tmp_path):
    """Two files of documents, and one of items that some of them have."""
    rng = np.random.default_rng(5)
    words = [[f"w{i}" for i in rng.integers(0, 6, rng.integers(0, 12))] for _ in range(80)]
    rows = [{"text": " ".join(some), "id": f"d{i}"} for i, some in enumerate(words)]
    items = [{"text": " ".join(some), "id": i, "more": [*some[:2]], "set": f"s{i % 3}"} for i, some in enumerate(words[::3])]
    files = ("d", rows), ("e", [rows[3] | {"id": "e"}]), ("a", items)
    return [write_lines(tmp_path / f"{name}.jsonl", some) for name, some in files]


def outcome(folder, data, against, **how):
    folder.mkdir()
    how |= {"id": "id", "against_id": "id", "against_text": ["text", "more"], "benchmark": "set", "min_tokens": 1, "common": 60}
    result = la.decontaminate(data, against=against, width=2, threshold=0.5, passage=3, threads=1, **how)
    result.write(folder / "clean.jsonl")
    result.write(folder / "annotated.parquet", annotate=True)
    result.write_matches(folder / "matches.csv")
    result.write(folder / "masked.jsonl", mask="-")
    result.report(folder / "page.html")
    names = ("clean.jsonl", "annotated.parquet", "matches.csv", "masked.jsonl")
    told = result.matches, result.overlaps.tolist(), result.not_searchable, result.summary, result.by_benchmark
    return [(folder / name).read_bytes() for name in names], *told


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


def test_a_summary_counts_what_cannot_be_searched_for():
    against = ["of France", QUESTION, "", None, "...", "Country of FRANCE, and", "the capital of all France"]
    result = la.decontaminate([PAGE, "country of France"], against=against)
    assert result.provenance["summary"] == result.summary == {
        "documents": 2, "references": 7, "empty_references": 3, "short_references": 1, "common_references": 0,
        "contaminated_references": 2, "overlapping": 1, "matches": 2, "skipped": 0,
    }  # fmt: skip


@pytest.mark.parametrize(("unit", "text", "tokens"), [("char", "abc ", 3), ("byte", "é", 2), ("line", "a\n\nb", 2)])
def test_short_reference_documents_of_all_units(unit, text, tokens):
    how = {"unit": unit, "width": 5 if unit != "line" else 3}
    against = [text, "long enough\nto be\nsearched\nfor"]
    result = la.decontaminate(["x"], against=against, **how)
    assert result.not_searchable.to_pylist() == [{"reference": 0, "tokens": tokens, "reason": "short"}]
    data = "é\nqAbC\na\nb\nc" if unit == "line" else "xé qAbCx"
    found = la.decontaminate([data], against=against, min_tokens=1, **how).matches.to_pylist()
    assert [(m["reference"], m["begin"], m["end"]) for m in found] == [
        (0, *{"char": (5, 8), "byte": (1, 3), "line": (8, 11)}[unit])
    ]


def test_what_many_documents_have_is_no_evidence():
    """A shingle counts once for each document that has it, but not if that has nine words of an item that it matches."""
    phrase, item = "at the beginning of the", "at the beginning of the third act the butler"
    stock = "at the beginning of the page"  # of two shingles
    pages, copies = [f"{phrase} page {i}" for i in range(11)], [f"he read: {item}, {i} times" for i in range(30)]
    result = la.decontaminate([*pages, *copies], against=[phrase, item])
    assert result.not_searchable.to_pylist() == [{"reference": 0, "tokens": 5, "reason": "common"}]
    assert result.overlaps.tolist() == [False] * 11 + [True] * 30, "copies of an item do not make it common"
    parts = [*(f"{phrase} {i}" for i in range(11)), "the beginning of the page", stock]
    for data, against, how, found in (
        (pages[:10], [phrase], {}, [True] * 10),  # ten are not many
        (pages, [phrase], {"common": 1000}, [True] * 11),
        (parts, [stock], {"threshold": 0.5}, [False] * 11 + [True] * 2),
        ([*copies, item], [item], {"measure": ("ngram", 8)}, [False] * 31),  # of n-grams all documents count
    ):
        assert la.decontaminate(data, against=against, **how).overlaps.tolist() == found


def test_pieces_are_masked_and_the_rest_stays(tmp_path):
    edited = QUESTION.replace("old", "OLD and rich")
    texts = [f"né: {edited}? No. {QUESTION}", "nothing of the kind", QUESTION.upper(), f"e\u0301 {QUESTION} e\u0301"]
    result = la.decontaminate(texts, against=[QUESTION], threshold=0.5)
    for mask in ("", "[…]"):
        result.write(tmp_path / "out.jsonl", mask=mask, force=True)
        left = [row["text"] for row in read_lines(tmp_path / "out.jsonl")]
        assert left == [
            f"né: {mask} and rich country of France? No. {mask}", texts[1], mask, f"e\u0301 {mask} e\u0301"
        ]  # fmt: skip


def test_question_and_answer_may_be_apart_and_choices_in_any_order(tmp_path):
    """A benchmark is named by a column or, where that is null or not asked for, an input."""
    choices = ["Lyon", "the city of Paris on the Seine", "+"]  # of one without words nothing is asked
    one = [{"q": QUESTION, "choices": choices, "answer": "Paris", "set": None}]
    two = [
        {"q": "how many legs has a spider of the woods", "choices": [], "answer": "eight", "set": "b"},
        {"q": "Yes?", "choices": None, "answer": "Yes", "set": 7},
    ]
    against = [write_lines(tmp_path / "one.jsonl", one), write_lines(tmp_path / "two.jsonl", two)]
    pages = [{"text": f"the city of Paris on the Seine, or LYON? {'x ' * 300} {QUESTION}"}, {"text": "Paris, Lyon, eight"}]
    how = {"against_text": ["q", "choices", "answer"]}
    result = la.decontaminate(pages, against=against, **how)
    (match,) = result.matches.to_pylist()
    assert (match["choices_found"], match["answer_found"]) == (1.0, 1.0)
    counts = ("items", "empty", "short", "common", "contaminated", "documents", "share", "with_choices", "with_answer")
    assert [tuple(row[name] for name in ("benchmark", *counts)) for row in result.by_benchmark.to_pylist()] == [
        (str(against[0]), 1, 0, 0, 0, 1, 1, 1.0, 1, 1),
        (str(against[1]), 2, 0, 1, 0, 0, 0, 0.0, 0, 0),
    ]
    named = la.decontaminate(pages, against=against, benchmark="set", **how).by_benchmark
    assert named["benchmark"].to_pylist() == [str(against[0]), "b", "7"]
    with pytest.raises(InputDataError, match=r"row 0: field 'answer' must be a string.* found 2; name another"):
        la.decontaminate(pages, against=[one[0] | {"answer": 2}], **how)


@pytest.mark.parametrize(
    ("against", "matches"),
    [([QUESTION] * 100_000, 100_000), (["?!... " * 100, "", "\x00", "\u0301"], 0), (["w " * 1_000_000 + QUESTION], 0)],
    ids=["copies", "no words", "long"],
)
def test_hostile_references(against, matches):
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
