"""Overlap of two corpora equals set arithmetic, passage by passage."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import semblance as sb

WIDTH = 3


def shingles(words):
    return [tuple(words[i : i + WIDTH]) for i in range(max(1, len(words) - WIDTH + 1))] if words else []


def twin(data, against, measure, threshold, passage):
    """The best passage of each pair: {(i, j): (start, resemblance, containment)}, by sets."""
    found = {}
    for i, a in enumerate(data):
        for j, b in enumerate(against):
            mine, whole = set(shingles(a)), shingles(b)
            last = max(0, len(whole) - passage) if passage else 0
            starts = sorted({*range(0, last, max(1, passage // 2)), last}) if passage else [0]
            for start in starts if whole else []:
                other = set(whole[start : start + passage] if passage else whole)
                both = len(mine & other)
                if not both:
                    continue
                scores = {"resemblance": both / len(mine | other), "containment": both / min(len(mine), len(other))}
                if scores[measure] < threshold:
                    continue
                rest = next(v for k, v in scores.items() if k != measure)
                better = (scores[measure], rest, -start)
                if (i, j) not in found or better > found[i, j][0]:
                    found[i, j] = better, start, scores["resemblance"], scores["containment"]
    return {pair: values[1:] for pair, values in found.items()}


@pytest.mark.parametrize("measure", ["resemblance", "containment"])
@pytest.mark.parametrize("passage", [None, 1, 4, 7, 100])
def test_matches_equal_set_arithmetic(rng, measure, passage):
    def text(size):
        return [f"w{w}" for w in rng.integers(0, 25, size)]

    against = [text(int(n)) for n in rng.integers(0, 30, 25)]
    data = [text(int(n)) for n in rng.integers(0, 40, 40)]
    for i in range(0, 40, 3):  # some hold a piece of a reference document
        source = against[i % 25]
        data[i] = data[i][:1] + source[: max(6, len(source) - i % 4)] + data[i][5:6]
    limit = 0.5 if measure == "containment" else 0.2
    expected = twin(data, against, measure, limit, passage)
    assert len(expected) > 5 or (passage == 1 and measure == "resemblance")
    for threads in (1, 3):
        result = sb.overlap(
            [" ".join(d) for d in data], against=[" ".join(d) for d in against], measure=measure, threshold=limit, passage=passage,
            width=WIDTH, threads=threads,
        )  # fmt: skip
        rows = result.matches.to_pylist()
        got = {(r["id"], r["reference"]): (r["passage"] or 0, r["resemblance"], r["containment"]) for r in rows}
        assert got == expected
        assert result.overlaps.tolist() == [any(i == pair[0] for pair in expected) for i in range(40)]
        key = [(r["id"], -r[measure]) for r in rows]
        assert key == sorted(key), "input order, the best first"


def test_removal_and_annotation(tmp_path):
    question = "what is the capital of the old country of France"
    page = f"the teacher asked the class {question} and nobody knew the answer to that"
    table = pa.table(
        {"text": [page, "nothing of the kind is to be found here", question], "n": [1, 2, 3], "key": ["a", "b", "c"]}
    )
    pq.write_table(table, tmp_path / "train.parquet")
    (tmp_path / "eval.jsonl").write_text(json.dumps({"text": question, "key": "q"}) + "\n")
    result = sb.overlap(tmp_path / "train.parquet", against=tmp_path / "eval.jsonl", measure="containment", id="key")
    assert result.overlaps.tolist() == [True, False, True]
    assert result.matches["reference"].to_pylist() == ["q", "q"]
    result.write(tmp_path / "clean.parquet")
    assert pq.read_table(tmp_path / "clean.parquet").to_pylist() == table.slice(1, 1).to_pylist()
    result.write(tmp_path / "all.jsonl", annotate=True)
    rows = [json.loads(line) for line in (tmp_path / "all.jsonl").read_text().splitlines()]
    assert [row["overlap_with"] for row in rows] == ["q", None, "q"]
    assert rows[0]["containment"] == 1.0 and 0.1 < rows[0]["resemblance"] < 0.8 and rows[2]["resemblance"] == 1.0
    result.write(tmp_path / "out", annotate=True)
    assert pq.read_table(tmp_path / "out" / "train.parquet").column_names[-4:] == [
        "overlap_with", "overlap_passage", "resemblance", "containment"
    ]  # fmt: skip


def test_nothing_overlaps_with_nothing():
    assert not sb.overlap(["a b c"], against=[""]).overlaps.any()
    assert not sb.overlap([""], against=["a b c"]).overlaps.any()
    assert len(sb.overlap([], against=[]).matches) == 0


def test_a_passage_of_a_long_document_is_found(rng):
    words = [f"w{w}" for w in rng.integers(0, 10**6, 3000)]
    piece = [*(f"x{i}" for i in range(50)), *words[1200:1300], *(f"y{i}" for i in range(50))]
    assert not sb.overlap([" ".join(piece)], against=[" ".join(words)], measure="containment").overlaps.any()
    found = sb.overlap([" ".join(piece)], against=[" ".join(words)], measure="containment", passage=40).matches.to_pylist()
    assert len(found) == 1 and found[0]["containment"] == 1.0 and 1200 <= found[0]["passage"] <= 1260


@pytest.mark.parametrize(("settings", "message"), [({"measure": "x"}, "measure must be"), ({"threshold": 0}, "threshold must lie"),
                                                   ({"passage": 0}, "passage must be at least 1")])  # fmt: skip
def test_parameters(settings, message):
    with pytest.raises(sb.ParameterError, match=message):
        sb.overlap(["a"], against=["a"], **settings)


def test_chance_hashes_zero(monkeypatch):
    """A shingle whose hash is 0 is looked up like any other."""
    from semblance.pipeline.overlap import Passages

    known = Passages.of(np.array([0, 5, 7], np.uint64), np.array([0, 3]), None)
    rows, passages, both, n = known.match(np.array([0, 7, 7, 9], np.uint64), np.array([0, 4]), True, 0.5)
    assert (rows.tolist(), passages.tolist(), both.tolist(), n.tolist()) == ([0], [0], [2], [3])
