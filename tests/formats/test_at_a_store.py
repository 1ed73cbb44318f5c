import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from formats.format_samples import packed, sample
from formats.jobs import one_split, put, refused, rows_in
from object_store import copied

import lookalike as la
from lookalike.files.urls import Url
from lookalike.formats import parquet_pages, row_groups
from lookalike.formats.sources import open_sources
from lookalike.formats.split import Columns

TEXTS = [f"text number {i} of some words, {'and more of them ' * (i % 7)}é" for i in range(20)] + [""]
COLUMNS = Columns(texts="text", id="id", others=("n",))


def write_all(folder):
    folder.mkdir()
    rows = [{"text": text, "id": f"id{i}", "n": i} for i, text in enumerate(TEXTS)]
    table = pa.Table.from_pylist(rows)
    pq.write_table(table, folder / "groups.parquet", row_group_size=6)
    pq.write_table(table, folder / "plain.parquet", use_dictionary=False, compression="gzip", data_page_size=100)
    for suffix in ("jsonl", "jsonl.gz", "jsonl.zst", "csv"):
        put(folder / f"a.{suffix}", packed(sample(suffix.partition(".")[0]).make(rows), suffix))
    (folder / "texts").mkdir()
    for i, text in enumerate(TEXTS):
        put(folder / f"texts/{i:02}.txt", text)
    return folder


NAMES = ["groups.parquet", "plain.parquet", "a.jsonl", "a.jsonl.gz", "a.jsonl.zst", "a.csv", "texts"]


def all_of(split):
    found = rows_in(split.batches(COLUMNS if split.format != "txt" else Columns()))
    return found, [row | {"id": ""} if split.format == "txt" else row for _, row in split.records()]


def opened(both, name):
    return [split for root in both for split in open_sources([f"{root}/{name}"])]


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    local = write_all(tmp_path_factory.mktemp("both") / "in")
    with copied(local) as remote:
        yield local, remote


def test_the_rows_are_those_of_the_disk(both, monkeypatch):
    monkeypatch.setattr(row_groups, "BATCH_BYTES", 500)
    for name in NAMES:
        splits = opened(both, name)
        wanted, found = map(all_of, splits)
        assert found == wanted and len(found[0]) == len(found[1]) == len(TEXTS)
        numbers = [row[0] for row in found[0]]
        labels = [[split.label(n).replace(str(root), "") for n in numbers] for root, split in zip(both, splits, strict=True)]
        assert labels[0] == labels[1]
    assert len(la.dedup([f"{both[1]}/{name}" for name in ("texts", "a.csv")])) == 2 * len(TEXTS), "a list of URLs"


def test_pieces_and_large_pages(both, monkeypatch):
    local, remote = opened(both, "groups.parquet")
    pieces = [[(first, all_of(piece)[0]) for first, piece in split.pieces(100)] for split in (local, remote)]
    assert len(pieces[0]) > 1 and pieces[0] == pieces[1]
    assert local.expected("text") == remote.expected("text")
    for module in (parquet_pages, row_groups):
        monkeypatch.setattr(module, "LARGE", 50)
    local, remote = map(all_of, opened(both, "plain.parquet"))
    assert local == remote


@pytest.mark.parametrize("name", ["groups.parquet", "a.jsonl.gz", "a.jsonl.zst"])
def test_a_file_that_is_cut_short_is_named(both, bucket, name):
    (bucket / name).write_bytes((both[0] / name).read_bytes()[:-30])
    split = one_split(str(bucket / name))
    refused(f"{name}: .*(damaged|not a readable)", all_of, split)


def test_a_store_that_stops_answering_is_not_taken_for_damage(both, monkeypatch):
    def refuse(url):
        raise OSError("When reading: AWS Error NETWORK_CONNECTION during GetObject operation: Timeout was reached")

    for name in NAMES:
        _, remote = opened(both, name)
        with monkeypatch.context() as patch:
            patch.setattr(Url, "ahead", refuse)
            told = str(refused(f"{name}.*: cannot be read: When reading: AWS Error NETWORK_CONNECTION", all_of, remote))
        assert "damaged" not in told and "not a readable" not in told
