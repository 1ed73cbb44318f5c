"""A result says of every document what was decided and why, and goes wherever its tables go."""

import json
import pickle
from collections import Counter

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from corpora import planted

import semblance as sb
from semblance.jobs import result as result_module
from semblance.jobs import rows as rows_module
from semblance.jobs import telling as telling_module
from semblance.values.tables import DECISIONS, SOURCE_BITS

BASE = [f"word{i}" for i in range(60)]
A, A2, A3 = (" ".join([*BASE, *more]) for more in ([], ["more"], ["more", "and", "more", "still"]))
B, B2 = (" ".join([f"other{i}" for i in range(50)] + more) for more in ([], ["x"]))
TABLES = ("decisions", "kept", "removed", "groups", "pairs", "annotations")
VARIANTS = [
    {}, {"keep": "longest"}, {"keep": "last", "empty": "drop"}, {"verify": "sketch"}, {"within": "site"},
    {"method": "simhash", "radius": 6}, {"method": "simhash", "radius": 6, "verify": "sketch", "empty": "drop"},
]  # fmt: skip


def corpus(rng, n_families=25):
    """Families with copies byte for byte, empty texts, and a column of groups."""
    texts = planted(rng, n_families=n_families, lengths=(5, 200))
    texts += [texts[i] for i in rng.integers(0, len(texts), 20)] + ["", "!?"]
    return pa.table(
        {"id": [f"d{i}" for i in range(len(texts))], "text": texts, "site": [str(i % 3) for i in range(len(texts))]}
    )


def same(a, b, but=()):
    """Whether two results are the same, some columns of decisions left out."""
    assert repr(a) == repr(b) and len(a) == len(b) and a.threshold == b.threshold
    assert a.keep.tolist() == b.keep.tolist() and a.clusters.tolist() == b.clusters.tolist()
    for name in TABLES:
        x, y = (getattr(r, name).drop([c for c in but if c in getattr(r, name).column_names]) for r in (a, b))
        assert x.equals(y), name
    return True


@pytest.fixture
def files(tmp_path):
    """A reference file and two input files; an id of the reference comes again in the input."""

    def write(name, rows):
        (tmp_path / name).write_text("".join(json.dumps({"id": i, "text": t}) + "\n" for i, t in rows))
        return tmp_path / name

    old = write("old.jsonl", [("p", A), ("q", A)])
    return old, [
        write("a.jsonl", [("p", B), ("r", A2), ("s", "")]),
        write("none.jsonl", []),
        write("b.jsonl", [("t", B2), ("u", B2), ("v", B)]),
    ]


def test_decisions_say_everything(files):
    old, new = files
    result = sb.dedup(new, against=old, id="id", empty="drop", keep="longest", threshold=0.7)
    found = result.decisions
    assert found.column_names == [*DECISIONS.names[:6], "id", *DECISIONS.names[6:]]
    for field in DECISIONS:
        assert found.schema.field(field.name).type in (field.type, pa.large_string()), field.name
    rows = [
        {name: row[name] for name in ("id", "reason", "kept", "duplicate_of", "cluster", "n_exact", "n_duplicates")}
        for row in found.to_pylist()
    ]
    assert [tuple(row.values()) for row in rows] == [
        ("p", "reference", True, None, "p", 0, 1), ("q", "reference", True, None, "q", 0, 0),
        ("p", "near", False, "t", "t", 0, 0), ("r", "near", False, "p", "p", 0, 0), ("s", "empty", False, None, None, 0, 0),
        ("t", "kept", True, None, "t", 1, 3), ("u", "exact", False, "t", "t", 0, 0), ("v", "near", False, "t", "t", 0, 0),
    ]  # fmt: skip
    assert found["position"].to_pylist() == [
        s << SOURCE_BITS | r for s, r in ((0, 0), (0, 1), (1, 0), (1, 1), (1, 2), (3, 0), (3, 1), (3, 2))
    ]
    assert found["source"].to_pylist() == [str(old)] * 2 + [str(new[0])] * 3 + [str(new[2])] * 3
    assert found["row"].to_pylist() == [0, 1, 0, 1, 2, 0, 1, 2] and found["number"].to_pylist() == [1, 2, 1, 2, 3, 1, 2, 3]
    assert found["bytes"].to_pylist() == [len(t) for t in (A, A, B, A2, "", B2, B2, B)]
    assert found["order"].to_pylist() == [0, 1, 5, 2, 7, 3, 4, 6], "references, then by length, ties by position"
    assert found["keeper"].to_pylist() == [0, 1, 3, 0, None, 3, 3, 3]
    assert found["duplicate_source"].to_pylist() == [None, None, str(new[2]), str(old), None, None, str(new[2]), str(new[2])]
    assert found["duplicate_is_reference"].to_pylist() == [None, None, False, True, None, None, False, False]
    assert [r if r is None else r < 1 for r in found["resemblance"].to_pylist()] == [
        None,
        None,
        True,
        True,
        None,
        None,
        False,
        True,
    ]
    assert result.groups.to_pylist() == [
        {"id": "p", "is_reference": True, "n_exact": 0, "n_duplicates": 1, "duplicates": ["r"]},
        {"id": "t", "is_reference": False, "n_exact": 1, "n_duplicates": 3, "duplicates": ["p", "u", "v"]},
    ]
    assert result.kept.to_pylist() == [{"id": "t", "n_exact": 1, "n_duplicates": 3}]
    assert result.clusters.tolist() == [3, -1, 2, 3, 3, 3] and result.keep.tolist() == [False] * 3 + [True, False, False]


def test_the_tables_are_those_of_the_decisions(rng):
    """Plain Python over the rows of decisions makes every other table."""
    table = corpus(rng)
    result = sb.dedup(table, id="id", threshold=0.6)
    rows = result.decisions.to_pylist()
    texts = table["text"].to_pylist()
    assert [row["id"] for row in rows] == table["id"].to_pylist()
    gone = [row for row in rows if not row["kept"]]
    assert result.removed.to_pylist() == [{name: row[name] for name in ("id", "duplicate_of", "resemblance")} for row in gone]
    assert result.annotations["cluster"].to_pylist() == [row["duplicate_of"] or row["id"] for row in rows]
    place = {row["id"]: i for i, row in enumerate(rows)}
    for row in gone:
        same_text = texts[place[row["id"]]] == texts[place[row["duplicate_of"]]]
        assert row["reason"] == ("exact" if same_text else "near") and (row["resemblance"] == 1.0 or not same_text)
    all_of, exact_of = (
        Counter(r["duplicate_of"] for r in gone),
        Counter(r["duplicate_of"] for r in gone if r["reason"] == "exact"),
    )
    assert [(r["n_duplicates"], r["n_exact"]) for r in rows] == [(all_of[r["id"]], exact_of[r["id"]]) for r in rows]
    groups = {row["id"]: row["duplicates"] for row in result.groups.to_pylist()}
    assert groups == {k: [r["id"] for r in gone if r["duplicate_of"] == k] for k in all_of}
    assert list(groups) == [row["id"] for row in rows if row["id"] in all_of]
    summary = result.summary
    assert Counter(r["reason"] for r in rows) == {
        "kept": summary.kept, "exact": summary.exact_duplicates, "near": summary.near_duplicates}  # fmt: skip


def test_an_empty_job_has_all_tables():
    result = sb.dedup([])
    assert [len(getattr(result, name)) for name in TABLES] == [0] * len(TABLES) and result.keep.tolist() == []
    assert len(pickle.loads(pickle.dumps(result))) == 0


@pytest.mark.parametrize("keep", ["first", "last", "longest"])
def test_evidence_is_the_pairs_with_kept_documents_or_all(rng, keep):
    table = corpus(rng)
    keepers, everything = (sb.dedup(table, id="id", threshold=0.5, keep=keep, evidence=e) for e in ("keepers", "all"))
    assert keepers.decisions.equals(everything.decisions.drop("leader"))
    kept = {row["id"]: (row["kept"], row["order"]) for row in keepers.decisions.to_pylist()}
    ends = [sorted((row["left_id"], row["right_id"]), key=lambda i: kept[i][1]) for row in everything.pairs.to_pylist()]
    mask = [kept[first][0] and not kept[second][0] for first, second in ends]
    assert keepers.pairs.equals(everything.pairs.filter(pa.array(mask))) and 0 < sum(mask) < len(mask)
    listed = sb.pairs(pa.table({"text": list(dict.fromkeys(table["text"].to_pylist()))}), threshold=0.5)
    assert len(everything.pairs) == len(listed)
    near = {(row["duplicate_of"], row["id"]) for row in keepers.decisions.to_pylist() if row["reason"] == "near"}
    told = {tuple(end) for end, wanted in zip(ends, mask, strict=True) if wanted}
    leaders = {row["id"] for row in everything.decisions.to_pylist() if row["leader"] == row["order"]}
    assert {pair for pair in near if pair[1] in leaders} <= told


@pytest.mark.parametrize("settings", VARIANTS, ids=str)
@pytest.mark.parametrize("against", [False, True])
def test_a_walk_over_all_pairs_is_a_decision_of_the_open_job(rng, tmp_path, settings, against):
    table = corpus(rng)
    data, reference = (table.slice(30), table.slice(0, 30)) if against else (table, None)
    settings = {"threshold": 0.55, "id": "id", "max_bucket": 10**6} | settings
    opened = sb.dedup(data, against=reference, **settings)
    everything = sb.dedup(data, against=reference, evidence="all", **settings)
    everything.save(tmp_path / "saved")
    loaded = sb.Result.load(tmp_path / "saved")
    seen = set()
    for threshold in (0.55, 0.7, 0.9, 1.0):
        wanted = opened.rethreshold(threshold)
        for result in (everything, loaded, pickle.loads(pickle.dumps(loaded))):
            found = result.rethreshold(threshold)
            assert found.decisions.drop("leader").equals(wanted.decisions)
            assert found.removed.equals(wanted.removed) and found.annotations.equals(wanted.annotations)
            for name in (
                "documents", "reference", "empty", "kept", "near_duplicates", "exact_duplicates", "empty_dropped", "least_alike",
                "text_bytes", "candidate_pairs", "crowded", "recall_planned", "threshold", "score", "found_by", "plan",
            ):  # fmt: skip
                assert getattr(found.summary, name) == getattr(wanted.summary, name), name
            assert (found.summary.verified_pairs, wanted.summary.verified_pairs) == (len(found.pairs), len(wanted.pairs))
            assert found.settings.to_dict() | {"evidence": ""} == wanted.settings.to_dict() | {"evidence": ""}
        seen.add(wanted.summary.kept)
        again = found.rethreshold(1.0)
        assert again.decisions.equals(everything.rethreshold(1.0).decisions)
    assert len(seen) > 1
    with pytest.raises(sb.ParameterError, match="from 0.55 to 1"):
        loaded.rethreshold(0.5)


def test_copies_follow_their_first_at_any_threshold():
    """The first of a set of equal texts is kept at the higher threshold: its copy is no longer named after another document."""
    result = pickle.loads(pickle.dumps(sb.dedup([A, A3, A3, A2], threshold=0.5, evidence="all")))
    assert [row["reason"] for row in result.decisions.to_pylist()] == ["kept", "near", "near", "near"]
    higher = result.rethreshold(0.97)
    assert [(r["reason"], r["duplicate_of"]) for r in higher.decisions.to_pylist()] == [
        ("kept", None), ("kept", None), ("exact", 1), ("near", 0)]  # fmt: skip


def test_rethreshold_says_what_it_needs(tmp_path):
    result = sb.dedup([A, A2, B], threshold=0.5)
    result.save(tmp_path / "saved")
    for other in (sb.Result.load(tmp_path / "saved"), pickle.loads(pickle.dumps(result))):
        with pytest.raises(sb.ParameterError, match='run dedup with evidence="all"'):
            other.rethreshold(0.9)
    assert result.rethreshold(0.9).rethreshold(0.6).threshold == 0.6, "an open job goes back to its own threshold"
    with pytest.raises(sb.ParameterError, match="evidence must be one of keepers, all"):
        sb.dedup([A], evidence="some")


@pytest.mark.parametrize("settings", VARIANTS, ids=str)
def test_saving_and_pickling_keep_everything(rng, tmp_path, settings):
    result = sb.dedup(corpus(rng), id="id", threshold=0.6, **settings)
    result.save(tmp_path / "x=1" / "saved")  # no partition of a data set
    loaded = sb.Result.load(str(tmp_path / "x=1" / "saved"))
    copied = pickle.loads(pickle.dumps(result))
    loaded.save(tmp_path / "again")
    result.close()
    for other in (copied, loaded, sb.Result.load(tmp_path / "again"), pickle.loads(pickle.dumps(loaded))):
        assert other.summary == copied.summary and other.settings == copied.settings
        assert other.provenance == json.loads(json.dumps(copied.provenance)) and other.evidence == "keepers"
        assert same(other, copied)
    assert loaded.keep.tolist() == result.keep.tolist()


def test_only_an_open_job_writes_documents(tmp_path):
    result = sb.dedup([A, A2, B])
    result.save(tmp_path / "saved")
    for other in (sb.Result.load(tmp_path / "saved"), pickle.loads(pickle.dumps(result))):
        with pytest.raises(sb.ParameterError, match="loaded or unpickled"):
            other.write(tmp_path / "out.jsonl")
        other.close()
        assert other.removed.num_rows == 1
    everything = sb.dedup([A, A2, B], evidence="all", threshold=0.5)
    everything.rethreshold(0.99).write(tmp_path / "out.jsonl")
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 3
    result.close()
    for ask in (lambda: result.save(tmp_path / "late"), lambda: pickle.dumps(result), lambda: result.decisions, lambda: result.groups,
                lambda: result.kept):  # fmt: skip
        with pytest.raises(sb.ParameterError, match="this result is closed"):
            ask()
    assert not (tmp_path / "late").exists()


def test_a_tokenizer_is_named_and_not_kept(tmp_path):
    sb.dedup([A, B], tokenizer=str.split, work=None).save(tmp_path / "saved")
    loaded = sb.Result.load(tmp_path / "saved")
    assert loaded.settings.tokenizer is None and loaded.provenance["parameters"]["shingling"]["unit"] == "tokenizer split"


@pytest.fixture
def saved(files, tmp_path):
    old, new = files
    result = sb.dedup(new, against=old, id="id", empty="drop", threshold=0.7)
    result.save(tmp_path / "saved")
    return result, tmp_path / "saved"


def counts(result):
    """How many documents there are for each reason."""
    return dict(Counter(row["reason"] for row in result.decisions.to_pylist()))


def test_duckdb_reads_the_tables(saved):
    duckdb = pytest.importorskip("duckdb")
    result, folder = saved
    with duckdb.connect() as connection:
        assert dict(
            connection.sql(f"select reason, count(*) from '{folder}/decisions.parquet' group by reason").fetchall()
        ) == counts(result)
        joined = connection.sql(
            f"select d.id, p.left_id from '{folder}/pairs.parquet' p join '{folder}/decisions.parquet' d on d.\"order\" = p.\"right\" order by all"
        ).fetchall()
    assert joined == sorted((row["right_id"], row["left_id"]) for row in result.pairs.to_pylist())


def test_polars_reads_the_tables(saved):
    polars = pytest.importorskip("polars")
    result, folder = saved
    found = polars.read_parquet(folder / "decisions.parquet")
    assert dict(found.group_by("reason").len().iter_rows()) == counts(result)
    assert found["resemblance"].null_count() == result.decisions["resemblance"].null_count
    assert polars.read_parquet(folder / "pairs.parquet")["left_id"].to_list() == result.pairs["left_id"].to_pylist()


def test_pandas_reads_the_tables(saved):
    pandas = pytest.importorskip("pandas")
    result, folder = saved
    found = pandas.read_parquet(folder / "decisions.parquet")
    assert found.groupby("reason").size().to_dict() == counts(result)
    assert found.groupby("cluster")["id"].size().to_dict() == Counter(c for c in result.decisions["cluster"].to_pylist() if c)
    assert len(pandas.read_parquet(folder / "pairs.parquet")) == len(result.pairs)


def test_a_saved_result_is_plain_files(saved):
    result, folder = saved
    assert sorted(p.name for p in folder.iterdir()) == ["_semblance.json", "decisions.parquet", "pairs.parquet", "result.json"]
    said = json.loads((folder / "result.json").read_text())
    assert said["summary"]["kept"] == result.summary.kept and said["provenance"] == result.provenance
    assert said["semblance"] == sb.__version__ and said["settings"]["threshold"] == 0.7
    assert not any(pa.types.is_nested(field.type) for field in pq.read_schema(folder / "decisions.parquet"))


def test_a_folder_is_replaced_only_if_it_is_ours(saved, files, tmp_path):
    result, folder = saved
    with pytest.raises(sb.OutputError, match="exists"):
        result.save(folder)
    result.save(folder, force=True)
    assert same(sb.Result.load(folder), result)
    (folder / "mine.txt").write_text("mine")
    with pytest.raises(sb.OutputError, match=r"mine\.txt"):
        result.save(folder, force=True)
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "decisions.parquet").write_text("mine")
    with pytest.raises(sb.OutputError, match="no _semblance.json"):
        result.save(foreign, force=True)
    assert (foreign / "decisions.parquet").read_text() == "mine" and (folder / "mine.txt").exists()
    with pytest.raises(sb.OutputError, match="a directory, but a file"):
        result.save(files[1][0], force=True)
    with pytest.raises(sb.OutputError):
        result.save(tmp_path / "saved" / "result.json" / "inside")


def test_a_save_that_fails_leaves_what_was_there(saved, monkeypatch):
    from semblance.jobs import saved_result

    result, folder = saved
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    monkeypatch.setattr(saved_result, "_checksum", lambda said: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        result.save(folder, force=True)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert [path.name for path in folder.parent.iterdir() if "saved" in path.name] == ["saved"]


def test_folders_that_hold_no_result_are_refused(saved, tmp_path):
    _, folder = saved
    (tmp_path / "empty").mkdir()
    for path in (tmp_path / "none", tmp_path / "empty", folder / "result.json"):
        with pytest.raises(sb.InputDataError, match="not a saved result"):
            sb.Result.load(path)
    for content in (
        b"",
        b"\xff",
        b"[]",
        b"{}",
        b"null",
        b"[" * 10**5,
        b'{"checksum": 1, "format": 1}',
        b'{"format": "x", "semblance": "9"}',
    ):
        (tmp_path / "empty/result.json").write_bytes(content)
        with pytest.raises(sb.InputDataError, match="damaged"):
            sb.Result.load(tmp_path / "empty")


def described(folder, **changes):
    """Change a description and make its checksum right again."""
    from semblance.jobs.saved_result import _checksum

    said = json.loads((folder / "result.json").read_text())
    said.pop("checksum")
    said |= changes
    (folder / "result.json").write_text(json.dumps({"checksum": _checksum(said)} | said))


def test_a_newer_or_strange_description_is_refused(saved):
    _, folder = saved
    good = (folder / "result.json").read_text()
    described(folder, format=2, semblance="7.0")
    with pytest.raises(sb.InputDataError, match=r"saved by semblance 7\.0, which this version .* cannot read: upgrade"):
        sb.Result.load(folder)
    for change in ({"files": {}}, {"files": None}, {"settings": {"threshold": 5}}, {"settings": {"no": 1}}, {"summary": {}},
                   {"summary": {"least_alike": None}}, {"settings": []}):  # fmt: skip
        (folder / "result.json").write_text(good)
        described(folder, **change)
        with pytest.raises(sb.InputDataError, match="damaged"):
            sb.Result.load(folder)


def test_every_damage_is_found(saved, rng):
    result, folder = saved
    for name in ("result.json", "decisions.parquet", "pairs.parquet"):
        good = (folder / name).read_bytes()
        for _ in range(15):
            bad = bytearray(good)
            bad[rng.integers(len(bad))] ^= 1 << int(rng.integers(8))
            (folder / name).write_bytes(bad)
            try:
                loaded = sb.Result.load(folder)
            except sb.InputDataError as error:
                assert str(folder) in str(error)
            else:
                assert name == "result.json" and same(loaded, result), "one kind of space in JSON became another"
        for bad in (b"", good[: len(good) // 2], good + b"\0"):
            (folder / name).write_bytes(bad)
            with pytest.raises(sb.InputDataError):
                sb.Result.load(folder)
        (folder / name).unlink()
        with pytest.raises(sb.InputDataError):
            sb.Result.load(folder)
        (folder / name).write_bytes(good)
    assert same(sb.Result.load(folder), result)


def test_batches_change_nothing_and_nothing_is_held_whole(rng, tmp_path, monkeypatch):
    """Deciding, writing and saving make some rows at a time, and only the columns that they need."""
    table = corpus(rng)
    pq.write_table(table, tmp_path / "in.parquet")
    expected = sb.dedup(tmp_path / "in.parquet", id="id", threshold=0.6)
    expected.write(tmp_path / "expected.parquet", annotate=True)
    made = []
    make = telling_module.Decisions.batches

    def watched(self):
        for batch in make(self):
            made.append((batch.num_rows, batch.schema.names))
            yield batch

    monkeypatch.setattr("semblance.engines.local_tables.ROWS", 7)
    monkeypatch.setattr(telling_module.Decisions, "batches", watched)
    monkeypatch.setattr("semblance.formats._selection._ADDED", 10)
    result = sb.dedup(tmp_path / "in.parquet", id="id", threshold=0.6)
    assert made and {len(names) for n, names in made if n > 1} == {2}, "the summary needs two columns of all rows"
    made.clear()
    result.write(tmp_path / "kept.parquet")
    assert {tuple(names) for _, names in made} == {("position",), ("kept",)}
    monkeypatch.setattr(result_module, "collect", lambda rows: pytest.fail("all rows at once"))
    result.save(tmp_path / "saved")
    monkeypatch.undo()
    assert max(n for n, _ in made) == 7
    monkeypatch.setattr("semblance.engines.local_tables.ROWS", 7)
    result.write(tmp_path / "all.parquet", annotate=True)
    assert pq.read_table(tmp_path / "all.parquet").equals(pq.read_table(tmp_path / "expected.parquet"))
    assert same(result, expected) and same(sb.Result.load(tmp_path / "saved"), expected)


def test_rows_select_and_slice():
    table = pa.table({"a": range(10), "b": [str(i) for i in range(10)]})
    rows = rows_module.HeldRows(table)
    assert rows_module.collect(rows).equals(table) and rows.schema == table.schema
    part = rows.slice(2, 9).select(["b"]).slice(1, 100)
    assert rows_module.collect(part)["b"].to_pylist() == [str(i) for i in range(3, 9)]
    assert part.schema.names == ["b"] and len(rows_module.collect(rows.slice(4, 4))) == 0
    assert rows_module.collect(rows.slice(8, 12))["a"].to_pylist() == [8, 9]
