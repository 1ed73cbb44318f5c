import random
from contextlib import closing
from functools import cache
from itertools import combinations
from types import SimpleNamespace

import pyarrow as pa
import pytest
from engine_kinds import LOCAL, WITH_SPARK, prepare, without_pyspark
from engine_rows import each_kind
from listing import find_pairs
from raising import assert_raises
from samples import one_in
from toy_engine import ToyEngine

import lookalike as la
from lookalike.engines.spark import sorting as spark_sorting
from lookalike.errors import InputDataError, ParameterError

CROWDS = {"max_bucket": 4, "bands": 6, "rows": 2, "threshold": 0.6}
NEAR = {"method": "simhash", "radius": 12, "threshold": 0.6}
CONTAINED = {"measure": "containment", "threshold": 0.6, "width": 1}


CASES = {
    "first": {},
    "longest": {"keep": "longest", "empty": "drop"},
    "largest": {"keep": "largest:v", "id": "id"},
    "smallest": {"keep": "smallest:v", "within": "g"},
    "keys and lists": {"key": ["g", "v"], "keep": "g:b,a; largest:v; longest", "evidence": "all", "empty": "drop"},
    "keys": {
        "key": "k",
        "keep": "v:7,-1; last",
        "id": "name",
        "overrides": [{"id": f"n{i}", "action": "keep"} for i in range(40, 90)],
    },
    "crowds": CROWDS,
    "crowds and all": CROWDS | {"evidence": "all", "id": "name", "keep": "last"},
    "estimates": {"verify": "sketch", "threshold": 0.6, "evidence": "all", "keep": "shortest"},
    "simhash estimates": NEAR | {"within": "g", "verify": "sketch"},
    "simhash crowds": NEAR | {"radius": 9, "max_bucket": 2, "evidence": "all", "empty": "drop"},
    "containment crowds": CONTAINED
    | {"threshold": 0.7, "max_bucket": 4, "evidence": "all", "within": "g"}
    | {"overrides": [{"id": i, "action": "remove"} for i in range(0, 120, 7)]},
    "containment, ignore and across": CONTAINED
    | {"threshold": 0.5, "max_bucket": 4, "ignore": ["t1 t2 t3 t4 t5", "t9"], "across": "g", "id": "name", "empty": "drop"},
    "containment, ignore and across with nulls": CONTAINED
    | {"floor": 0.2, "ignore": ["w1"], "across": "v", "within": "g", "evidence": "all", "keep": "first"},
    "ignore": CROWDS | {"threshold": 0.4, "ignore": ["t1 t2 t3 t4 t5", "t9"], "empty": "drop"},
    "counts": {"counts": True, "source": "v", "at_most": 2, "keep": "longest", "id": "name", "threshold": 0.5},
    "across with nulls": NEAR | {"max_bucket": 2, "across": "v", "within": "g"},
    "overrides and references": {"threshold": 0.5, "id": "name", "empty": "drop"}
    | {"overrides": [{"id": f"n{i}", "action": "keep" if i % 3 else "remove"} for i in range(30, 150, 2)]},
    "recall 1": {"recall": 1, "threshold": 0.6},
    "recall 1 and all": {
        "recall": 1,
        "threshold": 0.4,
        "evidence": "all",
        "within": "g",
        "id": "name",
        "keep": "last",
        "key": "k",
    },
    "recall 1, across": {
        "recall": 1,
        "threshold": 0.5,
        "across": "v",
        "ignore": ["t1 t2 t3"],
        "empty": "drop",
        "keep": "longest",
    }
    | {"overrides": [{"id": i, "action": "remove" if i % 3 else "keep"} for i in range(0, 90, 2)]},
}


@cache
def corpus():
    rng = random.Random(2)
    words = [f"w{i}" for i in range(25)]
    texts = ["", "...", ""]
    for _ in range(16):
        base = rng.choices(words, k=rng.randrange(3, 16))
        for _ in range(4):
            for _ in range(rng.randrange(3)):  # each is changed from the one before
                base[rng.randrange(len(base))] = rng.choice(words)
            texts.append(" ".join(base))
    texts += [" ".join([*(f"t{i}" for i in range(12)), *(f"f{i}v{rng.randrange(3)}" for i in range(4))]) for _ in range(60)]
    texts += rng.choices(texts, k=25)
    rng.shuffle(texts)
    n = len(texts)
    return pa.table({
        "text": texts, "id": pa.array(rng.sample(range(1000), n)), "name": [f"n{i}" for i in range(n)],
        "v": [rng.choice([None, float("nan"), 2.5, -1.0, 7.0]) for _ in range(n)], "g": [rng.choice("abb") for _ in range(n)],
        "k": [i % 50 if i % 2 else None for i in range(n)],
    })  # fmt: skip


COUNTED = ("documents", "kept", "exact_duplicates", "near_duplicates", "empty", "candidate_pairs", "verified_pairs", "recall_vouched",
           "text_bytes", "least_alike", "removed_by_override", "kept_by_override", "by_key")  # fmt: skip


def split(references, **more):
    return {"data": corpus().slice(references), "against": corpus().slice(0, references) if references else None} | more


def told(case, references=0, **more):
    with closing(la.dedup(**split(references, threshold=0.7, width=1) | CASES[case] | more)) as result:
        unknown = ("candidate_pairs", "verified_pairs") if "recall" in CASES[case] else ()  # they depend on the secret
        summary = {name: getattr(result.summary, name) for name in COUNTED if name not in unknown}
        return summary, result.decisions, result.pairs


@cache
def expected(case, references):
    return told(case, references, threads=1)


def same(found, wanted):
    assert found[0] == wanted[0]
    assert all(one.equals(other) for one, other in zip(found[1:], wanted[1:], strict=True))


@pytest.mark.parametrize(("case", "kind"), one_in(4, CASES, WITH_SPARK[1:]))
def test_every_engine_says_the_same(case, kind, monkeypatch):
    references = 30 if list(CASES).index(case) % 2 else 0
    wanted = expected(case, references)
    assert wanted[0]["near_duplicates"] > 5 and wanted[2].num_rows > 5
    assert (wanted[0]["by_key"] > 20) == ("key" in CASES[case])
    same(told(case, references, **prepare(kind, monkeypatch)), wanted)


MEASURES = {
    "resemblance": {"recall": 1, "threshold": 0.5},
    "containment": {"measure": "containment"},
    "containment, some ignored, across": {"measure": "containment", "across": "g", "ignore": ["t1 t2 t3 t4 w5"]},
}


@pytest.mark.parametrize(("measure", "kind"), one_in(2, MEASURES, LOCAL))
def test_all_pairs_are_listed(kind, measure, monkeypatch):
    settings, name = MEASURES[measure], measure.partition(",")[0]
    ids, values, texts = (corpus()[column].to_pylist() for column in ("id", "g", "text"))
    sets = [set(text.replace(".", "").split()) - {*" ".join(settings.get("ignore", [])).split()} for text in texts]
    shares = {
        (ids[a], ids[b]): len(sets[a] & sets[b])
        / (len(sets[a] | sets[b]) if name == "resemblance" else min(len(sets[a]), len(sets[b])))
        for a, b in combinations(range(len(sets)), 2)
        if b >= 30 and sets[a] and sets[b] and not ("across" in settings and values[a] == values[b])
    }
    wanted = {ends: share for ends, share in shares.items() if share >= settings.get("threshold", 0.8)}
    found = find_pairs(**split(30, width=1, id="id", max_bucket=2) | settings | prepare(kind, monkeypatch))
    assert found.table.column_names == ["left_id", "right_id", "left_is_reference", name] and len(wanted) > 100
    assert {(row["left_id"], row["right_id"]): row[name] for row in found.table.to_pylist()} == wanted
    assert found.summary["recall_planned"] == 1 or "recall" not in settings


@pytest.mark.parametrize(("more", "kind"), one_in(3, [{}, {"within": "g"}, {"ignore": ["t1 t2 t3"]}], LOCAL))
def test_pairs_of_crowds_are_all_listed(more, kind, monkeypatch):
    given = split(30, threshold=0.6, width=1, bands=6, rows=2, **more)
    wanted = find_pairs(**given, max_bucket=10**6)
    found = find_pairs(**given, max_bucket=2, **prepare(kind, monkeypatch))
    assert found.table.equals(wanted.table) and found.table.num_rows > 100
    assert found.summary["candidate_pairs"] < wanted.summary["candidate_pairs"]


@pytest.mark.parametrize(("verify", "kind"), one_in(2, ["exact", "none"], LOCAL))
def test_copies_of_references_of_which_nothing_counts_are_pairs(kind, verify, monkeypatch):
    texts = ["a b", "c d", "a b", "e f g", "a b", "c d", "c d", "...", "..."]
    table = pa.table({"text": texts, "id": range(9), "g": list("xxxxyxyxx")})
    how = {"threshold": 0.8, "width": 1, "id": "id", "ignore": ["a b c d"], "verify": verify}
    for within, wanted in ((None, [(0, 4), (1, 5), (1, 6), (2, 4), (5, 6)]), ("g", [(1, 5)])):
        more = how | prepare(kind, monkeypatch) | {"within": within}
        found = find_pairs(table.slice(3), table.slice(0, 3), **more).table.to_pylist()
        assert [(row["left_id"], row["right_id"]) for row in found] == wanted
        assert verify == "none" or all(row["resemblance"] == 1.0 for row in found)


@pytest.mark.parametrize("case", one_in(2, ["crowds", "crowds and all"]))
def test_documents_with_many_partners_are_compared_with_a_few_at_a_time(case, monkeypatch):
    """Where all texts of a bundle meet."""
    wanted = expected(case, 0)
    monkeypatch.setattr("lookalike.recipes.decide.PARTNERS", 2)
    same(told(case, 0, engine=ToyEngine(7), threads=1), wanted)


@without_pyspark
@pytest.mark.parametrize("case", one_in(3, ["crowds", "crowds and all", "largest"]))
def test_tasks_that_hold_a_few_rows(case, monkeypatch):
    """All larger buckets are sorted on the disk, and large groups of links come in parts."""
    for name, size in {"BUCKET_BYTES": 2000, "RUN_BATCH_BYTES": 500, "BATCH_BYTES": 700, "MOST_RUNS": 3}.items():
        monkeypatch.setattr(spark_sorting, name, size)
    monkeypatch.setattr("lookalike.engines.spark.packs.PART_BITS", 3)
    monkeypatch.setattr("lookalike.engines.spark.packs.HELD_BYTES", 2000)
    files, made = [], spark_sorting._own_file
    monkeypatch.setattr(spark_sorting, "_own_file", lambda: files.append(made()) or files[-1])
    same(told(case, 0, **prepare("frames", monkeypatch)), expected(case, 0))
    assert len(files) > 10 and all(file.closed for file in files)


@each_kind
def test_another_threshold(kind, monkeypatch):
    given = split(0, width=1, bands=8, rows=2)
    with closing(la.dedup(**given | {"threshold": 0.6} | prepare(kind, monkeypatch))) as result:
        again, afresh = result.rethreshold(0.8), la.dedup(**given, threshold=0.8)
        assert again.keep.tolist() == afresh.keep.tolist() != result.keep.tolist()
        assert again.pairs.equals(afresh.pairs)


def test_closing_a_result_closes_its_engine():
    engine = ToyEngine()
    la.dedup(["a b", "a b"], engine=engine).close()
    assert engine.closed


@each_kind
def test_refusals(kind, monkeypatch):
    twice = {"text": ["a b", "b c", "c d", "d e", "e f"], "id": [3, 1, 2, 1, 3]}
    damaged = {"text": [b"a b", b"b\xff"], "id": [1, 2]}
    for rows, said in ((twice, "the id '1' appears twice: .*row 1 and .*row 3;"), (damaged, "row 1: invalid UTF-8 at byte 1")):
        assert_raises(InputDataError, said, la.dedup, pa.table(rows), id="id", **prepare(kind, monkeypatch))


def test_engines_by_name():
    assert la.dedup(["a text"] * 2, engine="local").keep.tolist() == [True, False]
    for engine, told in (("toy", "'toy'"), (SimpleNamespace(joins_keep_order=True, source=print), "namespace")):
        assert_raises(ParameterError, f"engine must be one of local, spark; got {told}", la.dedup, ["a text"], engine=engine)
