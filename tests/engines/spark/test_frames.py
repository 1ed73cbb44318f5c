import random
from contextlib import closing

import pyarrow as pa
import pytest
from raising import assert_raises

from lookalike.errors import InputDataError, ParameterError

pytest.importorskip("pyspark")
from toy_frames import ToySession, decisions_of

import lookalike as la

TOLD = ["id", "kept", "reason", "duplicate_of", "duplicate_is_reference", "resemblance", "cluster", "n_exact", "n_duplicates"]
PAIR = ["left_id", "right_id", "resemblance"]


def documents(n=45, seed=1):
    rng = random.Random(seed)
    words = [f"w{i}" for i in range(30)]
    texts = ["", None, "!?", ""]
    while len(texts) < n:
        base = rng.choices(words, k=rng.randrange(4, 14))
        for _ in range(rng.randrange(1, 5)):
            texts.append(" ".join(base))
            base[rng.randrange(len(base))] = rng.choice(words)
    rng.shuffle(texts)
    ids = rng.sample([*range(-500, 500), -(1 << 63), (1 << 63) - 1], len(texts))
    return pa.table({
        "text": texts, "id": pa.array(ids, "int64"), "name": [f"n{i}" if i % 7 else f"é{i}" * 500 for i in ids],
        "when": pa.array([rng.choice([None, 1, 2, 3]) for _ in texts], "int64"),
        "score": [rng.choice([None, float("nan"), 2.5, -1.0, 7.0]) for _ in texts], "site": [rng.choice("abb") for _ in texts],
    })  # fmt: skip


def placed(table, order_by, named):
    return table.sort_by([(name, "ascending") for name in (order_by, named) if name])


def decided(folder, data, against=None, parts=3, **given):
    """(decisions in the order of positions, pairs, summary)."""
    how = {name: given.pop(name) for name in ("batch_rows", "n_tasks", "fails_first", "is_old") if name in given}
    session = ToySession(**how)
    given = {"id": "id", "threshold": 0.6, "width": 1, "work": folder / "work"} | given
    frame, references = (None if table is None else session.frame(table, parts) for table in (data, against))
    with closing(la.dedup(frame, against=references, engine=session, **given)) as result:
        pairs = result._job.pairs
        assert len(result) == result.summary.documents == data.num_rows
        return (
            decisions_of(result).select(TOLD),
            pa.Table.from_batches(pairs.batches(), pairs.schema).select(PAIR),
            result.summary,
        )


def pairs_of(table):
    return sorted(zip(*(table[name].to_pylist() for name in PAIR), strict=True))


def equal(found, wanted):
    assert found[0].equals(wanted.decisions.select(TOLD))
    assert pairs_of(found[1]) == pairs_of(wanted.pairs)
    for name in ("documents", "kept", "exact_duplicates", "near_duplicates", "empty", "candidate_pairs", "recall_vouched"):
        assert getattr(found[2], name) == getattr(wanted.summary, name), name


CASES = {
    "first": {},
    "first of a column": {"order_by": "when"},
    "last": {"keep": "last", "order_by": "when", "evidence": "all"},
    "longest": {"keep": "longest", "order_by": "when", "empty": "drop"},
    "shortest": {"keep": "shortest", "id": "name"},
    "smallest": {"keep": "smallest:score", "id": "name", "order_by": "when", "evidence": "all", "within": "site"},
    "keys": {"key": ["site", "score", "when"], "keep": "site:b; largest:score; longest", "order_by": "when"},
    "overrides": {
        "overrides": [{"id": i, "action": "remove" if i % 3 else "keep"} for i in documents()["id"].to_pylist()[::2]]
    },
}


@pytest.mark.parametrize("case", CASES)
def test_decisions_are_those_of_one_machine(case, tmp_path):
    """Some references have the ids of documents."""
    given = {"id": "id"} | CASES[case]
    data, against = documents(), documents(25, seed=2) if list(CASES).index(case) % 2 else None
    found = decided(tmp_path, data, against, **given)
    order_by = given.pop("order_by", None)
    tables = [None if table is None else placed(table, order_by, given["id"]) for table in (data, against)]
    with closing(la.dedup(tables[0], against=tables[1], threshold=0.6, width=1, threads=1, **given)) as wanted:
        assert wanted.summary.near_duplicates > 3
        equal(found, wanted)


def test_hardly_any_documents(tmp_path):
    for n, texts in enumerate([[], ["a b"], ["", "a b", "a b"]]):
        table = pa.table({"text": pa.array(texts, "string"), "id": pa.array(range(len(texts)), "int64")})
        found = decided(tmp_path / str(n), table, keep="longest", evidence="all")
        with closing(la.dedup(table, id="id", keep="longest", evidence="all", threshold=0.6, width=1)) as wanted:
            equal(found, wanted)


def test_how_rows_lie_in_a_frame_and_tasks_that_fail_change_nothing(tmp_path, monkeypatch):
    """Nor do buckets that share a task: before Spark 4.1 nobody can say which task gets one."""
    table = documents()
    shuffled = table.take(pa.array(random.Random(3).sample(range(len(table)), len(table)), "int64"))
    given = {"order_by": "when", "keep": "largest:score", "evidence": "all"}
    wanted = decided(tmp_path, table, parts=1, batch_rows=1000, n_tasks=1, **given)
    for is_old in (False, True):
        if is_old:
            monkeypatch.setattr("lookalike.engines.spark.engine.ROWS_OF_A_TASK", 5)
            monkeypatch.setattr("lookalike.engines.spark.engine.TEXTS_OF_A_TASK", 5)
        found = decided(tmp_path, shuffled, parts=5, batch_rows=3, n_tasks=6, fails_first=True, is_old=is_old, **given)
        assert found[0].equals(wanted[0]) and pairs_of(found[1]) == pairs_of(wanted[1])


def test_what_is_left_of_each_frame(tmp_path):
    """As a guard is told it: references are not counted, though they are kept."""
    session = ToySession()
    frames = [session.frame(documents(seed=seed)) for seed in (1, 2)]
    given = {"id": "id", "threshold": 0.6, "width": 1, "engine": session, "work": tmp_path / "work"}
    with closing(la.dedup(frames[0], against=frames[1], **given)) as result:
        counts, names = result.by_input()
        assert counts.tolist() == [[0, len(result)], [0, result.summary.kept]] and len(names) == 2
        assert 0 < result.summary.kept < len(result)


def made(texts, ids, kind=None):
    """The name of a column has to be told to Spark in quotes."""
    return pa.table({"text": texts, "id": pa.array(ids, kind), "a`b.c": list(range(len(ids)))})


def test_columns_of_any_name(tmp_path):
    (decisions, *_) = decided(tmp_path, made(["a b"] * 3, ["x", "y", "z"]), order_by="a`b.c", keep="last")
    assert decisions["kept"].to_pylist() == [False, False, True]


@pytest.mark.parametrize(
    ("own", "theirs", "kind", "told"),
    [([1], ["r"], "string", ["r", "1"]), ([1], [1 << 40], "bigint", [1 << 40, 1]), (["1"], ["r"], "string", ["r", "1"])],
)
def test_references_may_have_ids_of_another_type(own, theirs, kind, told, tmp_path):
    narrow = pa.int32() if own == [1] else None
    session = ToySession()
    frames = [session.frame(table) for table in (made(["a b"], own, narrow), made(["a b"], theirs))]
    with closing(la.dedup(frames[0], against=frames[1], id="id", engine=session, work=tmp_path / "work")) as result:
        assert result._job.id_type == kind
        assert decisions_of(result)["id"].to_pylist() == told


def test_documents_that_are_too_large_are_left_out_or_named(tmp_path):
    table = made(["a b", "c " * 100, "a b"], ["p", "q", "r"])
    decisions, _, summary = decided(tmp_path, table, max_document=50, on_error="skip")
    assert decisions["reason"].to_pylist() == ["kept", "skipped", "exact"] and summary.documents == 3
    said = "^the data frame, id 'q': the document has 200 bytes, more than the 50"
    assert_raises(InputDataError, said, decided, tmp_path / "again", table, max_document=50)


def fail(text):
    if "c" in text:
        raise ValueError("no c")
    return text.split()


REFUSED = {
    "repeated": (made(["a", "b", "c"], [1, 2, 1]), {}, "the id '1' appears twice"),
    "repeated text": (made(["a", "b", "c"], ["é", "x", "é"]), {}, "the id 'é' appears twice"),
    "null": (made(["a", "b", "c"], [1, None, 2]), {}, "^the data frame, id None: the id is null"),
    "empty": (made(["a", "b", "c"], ["x", "", "y"]), {}, "^the data frame, id '': an id must be"),
    "no ids": (made(["a"], [1.5]), {}, "^the data frame: ids must be strings or integers; column 'id' holds double: cast it"),
    "UTF-8": (made([b"a", b"b\xff", b"c"], [3, 1, 2]), {}, "^the data frame, id '?1'?: invalid UTF-8 at byte 1"),
    "tokenizer": (made(["a", "b", "c"], [3, 1, 2]), {"tokenizer": fail}, "^the data frame, id '?2'?: .*no c"),
    "no text": (made([1, 2], [1, 2]), {}, "^the data frame: column 'text' holds bigint, not strings"),
    "column": (made(["a"], [1]), {"within": "site"}, r"column 'site' is missing \(within=\); columns found: text, id"),
    "order": (made(["a"], [1]), {"order_by": "when"}, r"column 'when' is missing \(order_by=\)"),
    "keep": (made(["a"], [1]), {"keep": "largest:x"}, r"column 'x' is missing \(keep=\)"),
    "no times": (made(["a"], [1]).append_column("x", [[[1, 2]]]), {"order_by": "x"}, "order_by: column 'x' holds .*no order"),
    "no order": (made(["a"], [1]).append_column("x", [[[1, 2]]]), {"keep": "largest:x"}, "column 'x' holds a list .*no order"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_rows_and_columns_are_refused_by_name(case, tmp_path):
    table, given, said = REFUSED[case]
    assert_raises(InputDataError, said, decided, tmp_path, table, **given)


def test_what_frames_need_is_said(tmp_path):
    frame = ToySession().frame(made(["a"], [1]))
    for id, against, work, said in (
        (None, None, tmp_path, "^a data frame needs id, a column of unique strings or integers"),
        ("id", ["a.jsonl"], tmp_path, "^against must be a data frame or saved sketches where the data is a"),
        ("id", None, None, "^work= must name a folder"),
    ):
        assert_raises(ParameterError, said, la.dedup, frame, id=id, against=against, work=work)
