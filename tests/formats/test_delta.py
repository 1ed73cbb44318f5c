"""Delta tables as other programs write them, and as nobody should."""

import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from formats.jobs import refused
from formats.lakes import column, delta_log, kept_ids, read, vector
from json_lines import read_lines, write_lines

import lookalike as la
from lookalike.formats.sources import open_sources
from lookalike.formats.split import Columns

pytest.importorskip("deltalake", reason="needs the package deltalake")
pytest.importorskip("pyroaring", reason="needs pyroaring, to make deletion vectors")


def mapped_table(folder, deleted, rows=10, claims=None):
    """A Delta table with a deletion vector and renamed columns, one of them a struct."""
    table = pa.table(
        {"c2": [f"text {i}" for i in range(rows)], "c1": pa.array(range(rows), pa.int32()),
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
    (split,) = open_sources([table])
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
        [("id", pa.int64()), ("text", pa.string()), ("doc", pa.struct([("body", pa.string()), ("new", pa.string())])),
         ("lang", pa.string())]
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


def test_hostile_delta_tables(tmp_path):
    rows, fields = pa.table({"text": ["a", "b"]}), [column("text", "string")]
    secret = tmp_path / "secret.parquet"
    pq.write_table(rows, secret)

    def hostile(name, more=None, fields=fields, features=()):
        return delta_log(tmp_path / name, [("p.parquet", rows, more or {})], fields, features)

    for i, path in enumerate(["../secret.parquet", str(secret), f"file://{secret}", "x/..%2F..%2Fsecret.parquet"]):
        refused("names a file outside of its folder", la.dedup, hostile(f"outside{i}", {"path": path}))
    refused("needs variantType.*is not supported|cannot be read", la.dedup, hostile("unknown", features=["variantType"]))
    damaged = "deletion vectors of the Delta table are damaged, or take too much memory"
    for i, (deleted, claims) in enumerate([([1 << 38], None), ([1 << 38], (1 << 38) + 1), ([5], None)]):
        refused(damaged, la.dedup, mapped_table(tmp_path / f"bomb{i}", deleted, 2, claims))
    (split,) = open_sources([hostile("typed", fields=[column("text", "long")])])
    refused("column 'text': values do not fit into int64", list, split.records())
    (tmp_path / "empty/_delta_log").mkdir(parents=True)
    secret.rename(tmp_path / "empty/p.parquet")
    refused("the Delta table cannot be read", la.dedup, tmp_path / "empty")


@pytest.fixture
def strange(tmp_path):
    """A table whose log can be changed, and a pipe and a file outside of it, neither of which may be opened."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "private.txt").write_text("Private words")
    rows = pa.table({"text": ["public words one", "public words two"]})
    return delta_log(tmp_path / "t", [("p.parquet", rows, {})], [column("text", "string")], ["deletionVectors", "v2Checkpoint"])


def commit(folder, *actions, name=f"{1:020}.json"):
    """Add a file to the log of a table."""
    write_lines(folder / "_delta_log" / name, actions)


def deleting(kind, place):
    """What adds a deletion vector to the file of a table."""
    there = {"storageType": kind, "pathOrInlineDv": place, "offset": 1, "sizeInBytes": 40, "cardinality": 1}
    added = {"path": "p.parquet", "size": 1, "modificationTime": 1, "dataChange": True, "partitionValues": {}}
    return {"add": added | {"deletionVector": there}}


CODED = "ab^-aqEH.-t@S}K{vb[*k^"


@pytest.mark.parametrize(
    ("kind", "place"),
    [
        ("p", "file://{top}/pipe"), ("p", "file://{top}/t/../pipe"), ("p", "file://{top}/t/%2e%2e/pipe"), ("p", "{top}/pipe"),
        ("p", "s3://bucket/vector.bin"), ("u", f"../{CODED[-20:]}"), ("u", f"/tmp/{CODED[-20:]}"), ("x", "{top}/pipe"),
    ],
)  # fmt: skip
def test_deletion_vectors_are_in_the_folder(strange, tmp_path, kind, place):
    commit(strange, deleting(kind, place.replace("{top}", str(tmp_path))))
    refused("names a file outside of its folder", la.dedup, strange)


def test_a_deletion_vector_that_is_a_pipe(strange, tmp_path):
    os.mkfifo(strange / "vector.bin")
    commit(strange, deleting("p", (strange / "vector.bin").as_uri()))
    refused("lists this as a file, but it is not one", la.dedup, strange)
    (strange / "vector.bin").unlink()
    (strange / "vector.bin").symlink_to(tmp_path / "private.txt")
    refused("names a file outside of its folder", la.dedup, strange)


@pytest.mark.parametrize("place", ["file://{top}/pipe", "../../../pipe", "{top}/pipe", "..%2F..%2F..%2Fpipe"])
@pytest.mark.parametrize("form", ["json", "parquet"])
def test_parts_of_checkpoints_are_in_the_folder(strange, tmp_path, place, form):
    part = {"sidecar": {"path": place.format(top=tmp_path), "sizeInBytes": 4, "modificationTime": 1}}
    name = f"{0:020}.checkpoint.016ae953-37a9-438e-8683-9a9a4a79a395.{form}"
    if form == "json":
        commit(strange, part, name=name)
    else:
        pq.write_table(pa.Table.from_pylist([part]), strange / "_delta_log" / name)
    refused("names a file outside of its folder", la.dedup, strange)


@pytest.mark.parametrize("name", ["p.parquet", f"_delta_log/{0:020}.json", "_delta_log/_last_checkpoint"])
def test_links_and_pipes_in_a_table(strange, tmp_path, name):
    (strange / name).unlink(missing_ok=True)
    (strange / name).symlink_to(tmp_path / "private.txt")
    refused("names a file outside of its folder", la.dedup, strange)
    (strange / name).unlink()
    os.mkfifo(strange / name)
    refused("lists this as a file, but it is not one", la.dedup, strange)


def test_a_checkpoint_with_parts(strange, tmp_path):
    """What is in the folder is read, as is a table that a link leads to."""
    log = read_lines(strange / f"_delta_log/{0:020}.json")
    (strange / "_delta_log/_sidecars").mkdir()
    added = {name: value for name, value in log[2]["add"].items() if name != "stats"}
    pq.write_table(
        pa.table({"add": pa.array([added | {"partitionValues": []}], pa.struct(
            [("path", pa.string()), ("partitionValues", pa.map_(pa.string(), pa.string())), ("size", pa.int64()),
             ("modificationTime", pa.int64()), ("dataChange", pa.bool_())]
        ))}), strange / "_delta_log/_sidecars/part.parquet",
    )  # fmt: skip
    size = (strange / "_delta_log/_sidecars/part.parquet").stat().st_size
    part = {"sidecar": {"path": "part.parquet", "sizeInBytes": size, "modificationTime": 1}}
    commit(
        strange,
        {"checkpointMetadata": {"version": 0}},
        *log[:2],
        part,
        name=f"{0:020}.checkpoint.016ae953-37a9-438e-8683-9a9a4a79a395.json",
    )
    (tmp_path / "linked").symlink_to(strange)
    for folder in (strange, tmp_path / "linked"):
        assert len(la.dedup(folder)) == 2
