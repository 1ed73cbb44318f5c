import pickle
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from job_inputs import A2, A, B
from json_lines import write_lines
from raising import assert_raises
from same_results import TABLES, VARIANTS, corpus, same
from samples import one_in

import lookalike as la
from lookalike.recipes import decide as telling_module
from lookalike.results import result as result_module


@pytest.mark.parametrize("first", [0, 2])
def test_the_tables_are_those_of_the_decisions(first):
    texts = {"r": A, "s": B, "a": A2, "b": A2, "c": B, "d": "else"}
    ids = [*texts]
    old, new = ({id: texts[id] for id in some} for some in (ids[:first], ids[first:]))
    result = la.dedup(new, against=old or None, threshold=0.6)
    gone = [row for row in result.decisions.to_pylist() if not row["kept"]]
    assert result.removed.to_pylist() == [{name: row[name] for name in result.removed.column_names} for row in gone]
    assert result.annotations["cluster"].to_pylist() == ["r", "s", "r", "r", "s", "d"][first:]
    assert result.clusters.tolist() == ([-1, -1, -2, 3] if first else [0, 1, 0, 0, 1, 5])
    groups = [(row["id"], row["n_exact"], row["n_duplicates"], row["duplicates"]) for row in result.groups.to_pylist()]
    assert groups == [("r", 0, 2, ["a", "b"]), ("s", 1, 1, ["c"])]
    assert [row.get("is_reference", False) for row in result.groups.to_pylist()] == [first > 0] * 2
    summary = result.summary
    assert (summary.exact_duplicates, summary.near_duplicates, summary.kept, summary.reference) == (1, 2, 3 - first, first)


def test_an_empty_job_has_all_tables():
    result = la.dedup([], evidence="all")
    for one in (result, pickle.loads(pickle.dumps(result)), pickle.loads(pickle.dumps(result)).rethreshold(0.9)):
        assert [len(getattr(one, name)) for name in (*TABLES, "keep", "clusters")] == [0] * (len(TABLES) + 2)


@pytest.mark.parametrize("keep", ["first", "last", "longest"])
def test_evidence_is_the_pairs_with_kept_documents_or_all(rng, keep):
    table = corpus(rng)
    keepers, everything = (la.dedup(table, id="id", threshold=0.5, keep=keep, evidence=e) for e in ("keepers", "all"))
    assert keepers.decisions.equals(everything.decisions.drop("leader"))
    kept = {row["id"]: (row["kept"], row["order"]) for row in keepers.decisions.to_pylist()}
    ends = [sorted((row["left_id"], row["right_id"]), key=lambda i: kept[i][1]) for row in everything.pairs.to_pylist()]
    mask = [kept[first][0] and not kept[second][0] for first, second in ends]
    assert keepers.pairs.equals(everything.pairs.filter(pa.array(mask))) and 0 < sum(mask) < len(mask)
    listed = la.pairs(pa.table({"text": list(dict.fromkeys(table["text"].to_pylist()))}), threshold=0.5)
    assert len(everything.pairs) == len(listed)


def test_batches_change_nothing_and_nothing_is_held_whole(rng, tmp_path, monkeypatch):
    """Deciding, writing and saving make some rows at a time, and only the columns that they need."""
    pq.write_table(corpus(rng), tmp_path / "in.parquet")
    expected = la.dedup(tmp_path / "in.parquet", id="id", threshold=0.6)
    expected.write(tmp_path / "expected.parquet", annotate=True)
    made, make = [], telling_module.Decisions.batches

    def watched(self):
        for batch in make(self):
            made.append((batch.num_rows, batch.schema.names))
            yield batch

    monkeypatch.setattr("lookalike.engines.local.tables.ROWS", 7)
    monkeypatch.setattr(telling_module.Decisions, "batches", watched)
    monkeypatch.setattr("lookalike.formats.format._ADDED", 10)
    result = la.dedup(tmp_path / "in.parquet", id="id", threshold=0.6)
    assert made and {len(names) for n, names in made if n > 1} == {2}, "the summary needs two columns of all rows"
    made.clear()
    result.write(tmp_path / "kept.parquet")
    assert {tuple(names) for _, names in made} == {("position",), ("kept",)}
    with monkeypatch.context() as patch:
        patch.setattr(result_module, "collect", lambda rows: pytest.fail("all rows at once"))
        result.save(tmp_path / "saved")
    assert max(n for n, _ in made) == 7
    result.write(tmp_path / "all.parquet", annotate=True)
    assert pq.read_table(tmp_path / "all.parquet").equals(pq.read_table(tmp_path / "expected.parquet"))
    assert same(result, expected) and same(la.Result.load(tmp_path / "saved"), expected)


TABLE = pa.table({"text": [A, "b", A], "n": [1, 2, 3]}, metadata={"made": "here"})


@pytest.mark.parametrize("annotate", [False, True])
def test_the_table_is_what_would_be_written(annotate, tmp_path):
    write_lines(tmp_path / "in.jsonl", TABLE.to_pylist())
    for data in (TABLE, tmp_path / "in.jsonl", TABLE.to_pylist(), [TABLE["text"][0].as_py(), "b"]):
        result = la.dedup(data)
        result.write(tmp_path / "out.parquet", annotate=annotate, force=True)
        found = result.clean(annotate=annotate)
        assert found.to_pylist() == pq.read_table(tmp_path / "out.parquet").to_pylist()
        assert len(found) == (len(result) if annotate else result.summary.kept)
    assert la.dedup(TABLE).clean().schema.equals(TABLE.schema, check_metadata=True)


@pytest.mark.parametrize(("settings", "against"), one_in(2, VARIANTS, [False, True]))
def test_a_walk_over_all_pairs_is_a_decision_of_the_open_job(rng, tmp_path, settings, against):
    table = corpus(rng)
    data, reference = (table.slice(30), table.slice(0, 30)) if against else (table, None)
    settings = {"threshold": 0.55, "id": "id", "max_bucket": 10**6, "against": reference} | settings
    opened, everything = (la.dedup(data, evidence=evidence, **settings) for evidence in ("keepers", "all"))
    everything.save(tmp_path / "saved")
    loaded = la.Result.load(tmp_path / "saved")
    seen = set()
    for threshold in (0.55, 0.7, 0.9, 1.0):
        wanted = opened.rethreshold(threshold)
        for result in (everything, loaded, pickle.loads(pickle.dumps(loaded))):
            found = result.rethreshold(threshold)
            assert found.decisions.drop("leader").equals(wanted.decisions)
            assert found.removed.equals(wanted.removed) and found.annotations.equals(wanted.annotations)
            counted = (replace(one.summary, verified_pairs=0, seconds={}, peak_memory=0) for one in (found, wanted))
            assert next(counted) == next(counted)
            assert (found.summary.verified_pairs, wanted.summary.verified_pairs) == (len(found.pairs), len(wanted.pairs))
            assert found.settings.to_dict() | {"evidence": ""} == wanted.settings.to_dict() | {"evidence": ""}
        seen.add(wanted.summary.kept)
        assert found.rethreshold(1.0).decisions.equals(everything.rethreshold(1.0).decisions)
    assert len(seen) > 1
    assert_raises(la.errors.ParameterError, "from 0.55 to 1", loaded.rethreshold, 0.5)


def test_rethreshold_says_what_it_needs(tmp_path):
    result = la.dedup([A, A2, B], threshold=0.5)
    result.save(tmp_path / "saved")
    for other in (la.Result.load(tmp_path / "saved"), pickle.loads(pickle.dumps(result))):
        assert_raises(la.errors.ParameterError, "run dedup with evidence='all'", other.rethreshold, 0.9)
    assert result.rethreshold(0.9).rethreshold(0.6).threshold == 0.6, "an open job goes back to its own threshold"
