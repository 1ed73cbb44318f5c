import os
from itertools import product

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from formats.jobs import one_split, refused, table_at
from formats.lakes import column, delta_log, kept_ids, read, vector
from json_lines import read_lines, write_lines

import lookalike as la
from lookalike.formats.sources import open_sources
from lookalike.formats.split import Columns

pytest.importorskip("deltalake", reason="needs the package deltalake")
pytest.importorskip("pyroaring", reason="needs pyroaring, to make deletion vectors")


def mapped_table(folder, deleted, rows=10, claims=None):
    table = pa.table(
        {"c2": [f"text {i}" for i in range(rows)], "c1": pa.array(range(rows), "int32"),
         "c3": [{"c31": f"body {i}", "c32": i} for i in range(rows)], "dropped": [0] * rows}
    )  # fmt: skip
    inside = {"type": "struct", "fields": [column("body", "string", "c31", 5), column("new", "string", "c33", 6)]}
    fields = [
        column("id", "long", "c1"),
        column("text", "string", "c2", 2),
        column("doc", inside, "c3", 3),
        column("lang", "string", "c4", 4),
    ]
    more = {"partitionValues": {"c4": "de"}} | ({"deletionVector": vector(deleted)} if deleted else {})
    return delta_log(
        folder, [("x y/p.parquet", table, more)], fields, ["deletionVectors", "columnMapping"], ["lang"],
        {"delta.columnMapping.mode": "name"}, claims,
    )  # fmt: skip


@pytest.mark.parametrize("deleted", [[], [0], [2, 3, 4, 9], list(range(10))], ids=str)
def test_deletion_vectors_and_mapped_columns(tmp_path, deleted):
    table = mapped_table(tmp_path / "t", deleted)
    kept = [i for i in range(10) if i not in deleted]
    wanted = [{"id": i, "text": f"text {i}", "doc": {"body": f"body {i}", "new": None}, "lang": "de"} for i in kept]
    split = one_split(table)
    assert [row for _, row in split.records()] == wanted
    refused("is a file of the Delta table", open_sources, [table / "x y/p.parquet"])
    assert read([split], "doc.body", others=("lang", "doc.new", "text")) == [
        (i, f"body {i}", "de", None, f"text {i}") for i in kept
    ]
    assert read([split], "lang") == [(i, "de") for i in kept] and read([split], "doc.new") == [(i, "") for i in kept]
    assert split.expected("text")[0] == len(kept)
    numbers = [n for batch in split.batches(Columns()) for n in batch.numbers.tolist()]
    assert numbers == [i + 1 for i in kept] == [number for number, _ in split.records()]
    pieces = split.form.pieces(split, 1)
    assert len(pieces) == 4
    ends = [first + sum(len(batch.texts) for batch in piece.batches(Columns())) for first, piece in pieces]
    assert ends == [*(first for first, _ in pieces[1:]), len(kept)], "pieces go on where those before end"
    assert kept_ids(table, text="doc.body", width=1) == kept
    assert split.form.schema(split) == pa.schema(
        [("id", "int64"), ("text", "string"), ("doc", pa.struct([("body", "string"), ("new", "string")])),
         ("lang", "string")]
    )  # fmt: skip


def test_counts_of_rows_are_of_those_that_are_deleted_too(tmp_path):
    kept = la.dedup(mapped_table(tmp_path / "t", [2, 3, 4, 9], claims=10), id="id").kept
    assert kept["id"].to_pylist() == [0, 1, 5, 6, 7, 8]
    for claims, said in ((6, "says 6"), (11, "says 11")):
        refused(
            f"has 10 rows, and the Delta table {said}",
            la.dedup,
            mapped_table(tmp_path / str(claims), [2, 3, 4], claims=claims),
            id="id",
        )


@pytest.fixture
def strange(tmp_path):
    """A pipe and a file outside of the tables must not be opened."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "private.txt").write_text("Private words")
    rows = pa.table({"text": ["public words one", "public words two"]})

    def made(number=0, more=None, kind="string", features=("deletionVectors", "v2Checkpoint")):
        return delta_log(tmp_path / f"t{number}", [("p.parquet", rows, more or {})], [column("text", kind)], features)

    return made


def commit(folder, *actions, name=f"{1:020}.json"):
    path = folder / "_delta_log" / name
    pq.write_table(pa.Table.from_pylist(actions), path) if path.suffix == ".parquet" else write_lines(path, actions)


def deleting(kind, place):
    there = {"storageType": kind, "pathOrInlineDv": place, "offset": 1, "sizeInBytes": 40, "cardinality": 1}
    added = {"path": "p.parquet", "size": 1, "modificationTime": 1, "dataChange": True, "partitionValues": {}}
    return {"add": added | {"deletionVector": there}}


CODED, CHECKPOINT = "ab^-aqEH.-t@S}K{vb[*k^", f"{0:020}.checkpoint.016ae953-37a9-438e-8683-9a9a4a79a395"
VECTORS = [
    *(("p", place) for place in ("file://{top}/pipe", "file://{top}/t0/../pipe", "file://{top}/t0/%2e%2e/pipe", "{top}/pipe")),
    ("p", "s3://bucket/vector.bin"), ("u", f"../{CODED[-20:]}"), ("u", f"/tmp/{CODED[-20:]}"), ("x", "{top}/pipe"),
]  # fmt: skip
PARTS = ["file://{top}/pipe", "../../../pipe", "{top}/pipe", "..%2F..%2F..%2Fpipe"]


def test_files_outside_of_the_folder_are_not_opened(strange, tmp_path):
    """Named as data, as deletion vectors or as parts of checkpoints, or by links; nor are pipes."""
    outside, there = "names a file outside of its folder", {"top": tmp_path}
    places = "../private.txt", "{top}/private.txt", "file://{top}/private.txt", "x/..%2F..%2Fprivate.txt"
    for number, place in enumerate(places):
        refused(outside, la.dedup, strange(number, {"path": place.format(**there)}))
    for number, (kind, place) in enumerate(VECTORS, 10):
        commit(table := strange(number), deleting(kind, place.replace("{top}", str(tmp_path))))
        refused(outside, la.dedup, table)
    for number, (place, form) in enumerate(product(PARTS, ("json", "parquet")), 20):
        part = {"sidecar": {"path": place.format(**there), "sizeInBytes": 4, "modificationTime": 1}}
        commit(table := strange(number), part, name=f"{CHECKPOINT}.{form}")
        refused(outside, la.dedup, table)
    vector = "vector.bin"
    for number, name in enumerate(("p.parquet", f"_delta_log/{0:020}.json", "_delta_log/_last_checkpoint", vector), 30):
        path = (table := strange(number)) / name
        commit(table, deleting("p", path.as_uri())) if name == vector else path.unlink(missing_ok=True)
        path.symlink_to(tmp_path / "private.txt")
        refused(outside, la.dedup, table)
        path.unlink()
        os.mkfifo(path)
        refused("lists this as a file, but it is not one", la.dedup, table)


def test_hostile_delta_tables(strange, tmp_path):
    refused("needs variantType.*is not supported|cannot be read", la.dedup, strange(1, features=["variantType"]))
    damaged = "deletion vectors of the Delta table are damaged, or take too much memory"
    for i, (deleted, claims) in enumerate([([1 << 38], None), ([1 << 38], (1 << 38) + 1), ([5], None)]):
        refused(damaged, la.dedup, mapped_table(tmp_path / f"bomb{i}", deleted, 2, claims))
    split = one_split(strange(2, kind="long"))
    refused("column 'text': values do not fit into int64", list, split.records())
    (tmp_path / "empty/_delta_log").mkdir(parents=True)
    (tmp_path / "t2/p.parquet").rename(tmp_path / "empty/p.parquet")
    refused("the Delta table cannot be read", la.dedup, tmp_path / "empty")


def test_a_checkpoint_with_parts(strange, tmp_path):
    strange = strange()
    log = read_lines(strange / f"_delta_log/{0:020}.json")
    (strange / "_delta_log/_sidecars").mkdir()
    added = {name: value for name, value in log[2]["add"].items() if name != "stats"}
    table_at(strange / "_delta_log/_sidecars/part.parquet", {"add": pa.array([added | {"partitionValues": []}], pa.struct(
            [("path", "string"), ("partitionValues", pa.map_(pa.string(), pa.string())), ("size", "int64"),
             ("modificationTime", "int64"), ("dataChange", "bool")]
        ))})  # fmt: skip
    size = (strange / "_delta_log/_sidecars/part.parquet").stat().st_size
    part = {"sidecar": {"path": "part.parquet", "sizeInBytes": size, "modificationTime": 1}}
    commit(
        strange,
        {"checkpointMetadata": {"version": 0}},
        *log[:2],
        part,
        name=f"{CHECKPOINT}.json",
    )
    (tmp_path / "linked").symlink_to(strange)
    for folder in (strange, tmp_path / "linked"):
        assert len(la.dedup(folder)) == 2
