"""Files on an object store are read as those on a disk."""

import csv
import gzip
import json
from contextlib import closing
from itertools import pairwise

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli.commands import status
from object_store import copied

import lookalike as la
from lookalike.errors import InputDataError
from lookalike.files.urls import Url
from lookalike.formats import parquet_pages, row_groups
from lookalike.formats.sources import open_sources
from lookalike.formats.split import Columns

TEXTS = [f"text number {i} of some words, {'and more of them ' * (i % 7)}é" for i in range(20)] + [""]
COLUMNS = Columns(texts="text", id="id", others=("n",))


def write_all(folder):
    """A file of each format and compression, of the same rows, and a folder of text files."""
    folder.mkdir()
    rows = [{"text": text, "id": f"id{i}", "n": i} for i, text in enumerate(TEXTS)]
    table = pa.Table.from_pylist(rows)
    lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
    pq.write_table(table, folder / "groups.parquet", row_group_size=6)
    pq.write_table(table, folder / "plain.parquet", use_dictionary=False, compression="gzip", data_page_size=100)
    (folder / "a.jsonl").write_bytes(lines)
    (folder / "a.jsonl.gz").write_bytes(gzip.compress(lines))
    (folder / "a.jsonl.zst").write_bytes(pa.compress(lines, "zstd", asbytes=True))
    with (folder / "a.csv").open("w", newline="") as stream:
        writer = csv.DictWriter(stream, ["text", "id", "n"])
        writer.writeheader()
        writer.writerows(rows)
    (folder / "texts").mkdir()
    for i, text in enumerate(TEXTS):
        (folder / f"texts/{i:02}.txt").write_text(text)
    return folder


def all_of(split):
    """What a split reads, row by row."""
    found = []
    for batch in split.batches(COLUMNS if split.format != "txt" else Columns()):
        data, offsets = bytes(batch.texts.data), batch.texts.offsets.tolist()
        texts = [data[begin:end] for begin, end in pairwise(offsets)]
        found += zip(texts, batch.numbers.tolist(), batch.ids or texts, strict=True)
    return found, list(split.records())


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """The files on a disk and in a bucket, where no test changes them."""
    local = write_all(tmp_path_factory.mktemp("both") / "in")
    with copied(local) as remote:
        yield local, remote


def test_the_rows_are_those_of_the_disk(both, monkeypatch):
    for name in ["groups.parquet", "plain.parquet", "a.jsonl", "a.jsonl.gz", "a.jsonl.zst", "a.csv", "texts"]:
        monkeypatch.setattr(row_groups, "BATCH_BYTES", 500)
        (local,), (remote,) = (open_sources([f"{root}/{name}"]) for root in both)
        wanted, found = all_of(local), all_of(remote)
        assert len(found[0]) == len(TEXTS)
        if name == "texts":  # of which rows name their files
            assert [row[0] for row in found[0]] == [row[0] for row in wanted[0]]
        else:
            assert found == wanted
        assert [remote.label(row[1]).replace(str(both[1]), "") for row in found[0]] == [
            local.label(row[1]).replace(str(both[0]), "") for row in wanted[0]
        ]


def test_pieces_and_large_pages(both, monkeypatch):
    """Row groups in pieces; pages that are read value by value."""
    (local,), (remote,) = (open_sources([str(root / "groups.parquet")]) for root in both)
    pieces = [split.pieces(100) for split in (local, remote)]
    assert len(pieces[0]) > 1 and [first for first, _ in pieces[0]] == [first for first, _ in pieces[1]]
    assert [all_of(piece)[0] for _, piece in pieces[0]] == [all_of(piece)[0] for _, piece in pieces[1]]
    assert local.expected("text") == remote.expected("text")
    monkeypatch.setattr(parquet_pages, "LARGE", 50)
    monkeypatch.setattr(row_groups, "LARGE", 50)
    (local,), (remote,) = (open_sources([str(root / "plain.parquet")]) for root in both)
    assert all_of(local) == all_of(remote)


@pytest.mark.parametrize("name", ["groups.parquet", "a.jsonl.gz", "a.jsonl.zst"])
def test_a_file_that_is_cut_short_is_named(both, bucket, name):
    (bucket / name).write_bytes((both[0] / name).read_bytes()[:-30])
    (split,) = open_sources([str(bucket / name)])
    with pytest.raises(InputDataError, match=f"{name}: .*(damaged|not a readable)"):
        all_of(split)


def test_a_store_that_stops_answering_is_not_taken_for_damage(both, monkeypatch):
    for name in ["groups.parquet", "plain.parquet", "a.jsonl", "a.jsonl.gz", "a.jsonl.zst", "a.csv", "texts"]:
        (split,) = open_sources([f"{both[1]}/{name}"])

        def refuse(url):
            raise OSError("When reading: AWS Error NETWORK_CONNECTION during GetObject operation: Timeout was reached")

        monkeypatch.setattr(Url, "ahead", refuse)
        with pytest.raises(
            InputDataError, match=f"{name}.*: cannot be read: When reading: AWS Error NETWORK_CONNECTION"
        ) as told:
            all_of(split)
        assert "damaged" not in str(told.value) and "not a readable" not in str(told.value)


def test_a_job_on_one_machine(both, tmp_path):
    """All formats at once, written to a folder on the disk."""
    found = []
    for kind, root in zip(("local", "remote"), both, strict=True):
        with closing(la.dedup(str(root), threshold=0.7)) as result:
            result.write(tmp_path / kind)
            found.append(result.decisions.select(["reason", "resemblance", "keeper"]).to_pylist())
    assert found[0] == found[1]
    local, remote = ({p.relative_to(tmp_path / kind): p.read_bytes() for p in sorted((tmp_path / kind).rglob("*"))
                      if p.is_file() and p.name != "_lookalike.json" and p.suffix != ".parquet"} for kind in ("local", "remote"))  # fmt: skip
    assert local == remote and local


def test_lists_of_urls_are_paths(both):
    _, root = both
    assert la.dedup([str(root / "a.jsonl")]).summary.documents == len(TEXTS)
    assert la.dedup([str(root / "texts"), str(root / "a.csv")]).summary.documents == 2 * len(TEXTS)


def test_only_folders_are_written(both):
    with (
        closing(la.dedup(str(both[1] / "a.jsonl"))) as result,
        pytest.raises(la.errors.ParameterError, match=r"clean.jsonl is on an object store, where only folders of documents"),
    ):
        result.write(str(both[1] / "clean.jsonl"))


@pytest.mark.parametrize("option", ["--report", "--save", "--work", "--overrides"])
def test_what_is_on_disks_only_is_refused_before_work(both, option, monkeypatch, tmp_path, capfd):
    """No folder named s3: is made in its place."""
    monkeypatch.chdir(tmp_path)
    code = status("dedup", both[1] / "a.jsonl", option, "s3://lake/x.html")
    told = capfd.readouterr().err
    assert code == 2 and "error: s3://lake/x.html is on an object store" in told and told.count("\n") == 1
    assert not (tmp_path / "s3:").exists()


def test_an_index_is_on_a_disk(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        la.errors.ParameterError, match="s3://lake/idx is on an object store, and an index is a folder on this machine"
    ):
        la.Index.create("s3://lake/idx")
    assert not list(tmp_path.iterdir())
