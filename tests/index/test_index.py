import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from corpora import planted
from index.look_ups import answers
from raising import assert_raises
from samples import one_in

import lookalike as la
from lookalike.errors import IncompatibleSketchError, IndexFormatError, OutputError, ParameterError
from lookalike.files.arrays import ArrayFile
from lookalike.index.manifest import read_manifest

KINDS = {
    "minhash": {},
    "packed": {"bits": 2, "slots": 100},
    "simhash": {"kind": "simhash", "radius": 4, "threshold": 0.9},
    "probed": {"kind": "simhash", "radius": 4, "threshold": 0.9, "probes": 20_000},  # all there are, so that none is missed
}


@pytest.mark.parametrize("kind, batches", one_in(2, list(KINDS), [[1] * 40 + [3, 1000], [100, 7, 50, 1000]]))
def test_any_way_of_adding_gives_the_same_answers(kind, batches, monkeypatch):
    """As all documents added at once, whose answers are those of a twin (test_answers.py), and whatever is merged at a time."""
    monkeypatch.setattr("lookalike.index.state.TOGETHER", 7)
    texts = planted(np.random.default_rng(4), n_families=60)
    with la.Index.create("whole", **KINDS[kind]) as index:
        index.add(range(len(texts)), texts)
        expected = answers(index, texts[:80])
    assert len(expected) > 80
    with la.Index.create("x", **KINDS[kind]) as index:
        begin = 0
        for size in batches:
            some = texts[begin : begin + size]
            index.add(range(begin, begin + len(some)), some)
            begin += size
        assert len(index) == len(texts) and 1 < index.info["segments"] <= 10
        for asked, how in ((texts[:80], {}), (texts[:80], {"threads": 3}), (index.sketch(texts[:80]), {})):
            assert answers(index, asked, **how) == expected
        index.compact()
        (segment,) = Path("x").glob("segment-*")
        size, info = segment.stat().st_size, index.info
        assert (info["segments"], info["bytes"], info["bytes_per_document"]) == (1, size, size / len(texts))
        assert answers(index, texts[:80]) == expected
    with la.Index.open("x", "read") as again:
        assert answers(again, texts[:80]) == expected and again.check() == []


REFUSED = {  # others are in tests/jobs/index-command.job
    "kind must be one of": {"kind": "magic"},
    "threshold must be of type float; got None": {"threshold": None},
    "seed must be of type int": {"seed": True},
    "bits must be of type int; got 2.0": {"bits": 2.0},
    "permutations must be": {"slots": 65_536},
    "keep_text must be of type bool; got 1": {"keep_text": 1},
    "probes must be of type int": {"kind": "simhash", "probes": "many"},
}


def test_parameters():
    for message, parameters in REFUSED.items():
        assert_raises(ParameterError, message, la.Index.create, "x", **parameters)
    assert not Path("x").exists()
    with la.Index.create("a") as one, la.Index.create("b", seed=np.int64(2), keep_text=True) as other:
        for error, message, use, *given in (
            (IncompatibleSketchError, "seed=1", one.query, other.sketch(["text"])),
            (OutputError, "is not an empty folder", la.Index.create, "a"),
            (ParameterError, "mode must be one of append, read", la.Index.open, "a", "write"),
            (ParameterError, "sketches alone cannot be added", other.add, ["z"], other.sketch(["z"])),
            (ParameterError, "1 ids and 2 texts", one.add, ["d"], ["x", "y"]),
        ):
            assert_raises(error, message, use, *given)
        assert_raises(ParameterError, "threads must be at least 1", one.query, ["a"], threads=0)
        assert_raises(ParameterError, "top must be an integer; got '3'", one.answers, ["a"], top="3")


def test_parameters_are_written_out(monkeypatch):
    """What was left to defaults and planner does not change when these do."""
    with la.Index.create("x") as index:
        index.add([1], ["one two three four five six"])
    stored = read_manifest(Path("x")).parameters
    assert None not in stored.values()
    assert (stored["bands"], stored["rows"], stored["width"], stored["shingling"]["unicode"]) == (18, 6, 5, "14.0.0")
    monkeypatch.setattr("lookalike.index.kinds.plan", lambda **given: la.plan(**{"threshold": 0.5} | given))
    with la.Index.open("x") as index:
        assert index.query(["One two three four five six."])["id"].to_pylist() == [1]
    monkeypatch.setattr("lookalike.text.shingle.UNICODE_VERSION", "15.0.0")
    assert_raises(IndexFormatError, "its shingles are", la.Index.open, "x")


@pytest.mark.parametrize("kind", KINDS)
def test_edges(kind):
    same, names = ["the very same text in all of these"], [f"same {i}" for i in range(1000)]
    with la.Index.create("x", **KINDS[kind]) as index:
        index.compact()
        index.add(["e1", "e2"], ["", "!?"])
        index.compact()
        assert index.query(["", "text"]).num_rows == index.query([]).num_rows == 0 and len(index) == 2
        index.add(names, same * 1000)
        assert index.query(same, top=None, threads=2).num_rows == index.remove(names) == 1000 and len(index) == 2


@pytest.mark.parametrize(
    "how", [{}, {"bits": 1, "slots": 512}, {"bits": 4, "slots": 100}, {"sketch_bytes": 32}, {"recall": 0.5}]
)
def test_a_document_at_the_threshold_is_found_with_the_promised_probability(rng, how):
    n = 1500
    for threshold, size, changed in ((0.5, 180, 60), (0.8, 180, 20), (0.9, 190, 10)):
        words = rng.integers(0, 1 << 60, (n, size)).astype(str)
        assert size - changed == threshold * (size + changed)
        with la.Index.create(f"{threshold}", threshold=threshold, width=1, **{"recall": 0.95} | how) as index:
            index.add(range(n), [" ".join(row) for row in words])
            words[:, :changed] = rng.integers(0, 1 << 60, (n, changed)).astype(str)
            found = index.query([" ".join(row) for row in words])
            stated = index.info["recall_at_threshold"]
        share = sum(q == i for q, i in zip(found["query"].to_pylist(), found["id"].to_pylist(), strict=True)) / n
        assert stated >= how.get("recall", 0.95) and share > stated - 4 * (stated * (1 - stated) / n) ** 0.5


def test_golden_index():
    """The format is a contract: an index answers as it did when it was written."""
    golden = Path(__file__).parents[1] / "golden" / "index"
    shutil.copytree(golden, "x")
    asked = ["The quick brown fox jumps over the lazy dog!", "pack my box with five dozen liquor jugs"]
    with la.Index.open("x") as index:
        exported = pa.concat_tables(index.export()).to_pydict()
        assert index.check() == [] and exported["id"] == ["fox", "box", "fox again", "none"]
        assert ArrayFile(golden / "segment-00000000")["codes"][0, :4].tolist() == [20783, 29169, 55534, 33613]
        for change in (len, la.Index.compact):
            change(index)
            rows = [(*tuple(row.values())[:3], row["resemblance"]) for row in index.query(asked).to_pylist()]
            assert rows == [(0, "fox", 1.0, 1.0), (0, "fox again", 0.7812466620889601, 0.8), (1, "box", 1.0, 1.0)]
            assert pa.concat_tables(index.export()).to_pydict() == exported
        assert index.remove(["box"]) == 1 and len(index) == 3 and index.check() == []


@pytest.mark.parametrize("keep_text", [True, False])
def test_an_index_of_older_rules_takes_and_looks_up_no_texts(monkeypatch, keep_text):
    """Its texts became other shingles: the error names the commands that make it anew."""
    with la.Index.create("x", keep_text=keep_text) as index:
        index.add(["a", "b"], ["one two three", "four five six"])
        sketches = index.sketch(["one two three"])
    stated = la.Shingling.to_dict
    newer = stated(la.Shingling()).get("rules", 1) + 1
    monkeypatch.setattr(la.Shingling, "to_dict", lambda self: stated(self) | {"rules": newer})
    said = "lookalike index export x -o texts.parquet.*" * keep_text + "lookalike index create NEW.*lookalike index add NEW"
    with la.Index.open("x") as index:
        texts = [(use, ["x"]) for use in (index.query, index.first, index.sketch)]
        for use, *given in ((index.add, ["c"], ["seven"]), *texts, *([] if keep_text else [(index.query, sketches)])):
            assert_raises(IncompatibleSketchError, said, use, *given)
        assert index.info["parameters"]["shingling"].get("rules", 1) == newer - 1
        assert index.remove(["a"]) == 1 and index.check() == []
        index.compact()
        assert [i for t in index.export() for i in t["id"].to_pylist()] == ["b"]


def test_measured_resemblance_is_not_fooled_by_hashes_that_were_foreseen():
    """Both texts have one hash by ``la.shingle`` without a key; the estimate is by these."""
    with la.Index.create("index", keep_text=True) as index:
        index.add(["one"], ["Vote for the mayor"])
        (found,) = index.query(["ca2036 he8et6 bi6jxy jo12n8 friend"]).to_pylist()
        assert (found["estimated_resemblance"], found["resemblance"]) == (1.0, 0.0)
        assert index.query(["vote FOR the mayor"])["resemblance"].to_pylist() == [1.0]
