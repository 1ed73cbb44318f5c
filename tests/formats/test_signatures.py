"""Files whose names say something else than their first bytes: they are read where that is safe, or it is said what they are."""

import bz2
import gzip
import json
import lzma
import tarfile

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from document_files import archive
from formats.jobs import kept_texts, put, reasons, refused
from samples import one_in

import lookalike as la

A, B = "one two three four five six seven eight", "quite another text of several words, and no more"
ROWS = "".join(json.dumps({"text": text}) + "\n" for text in (A, B, A)).encode()
PACKINGS = {
    "gz": gzip.compress, "zst": lambda data: pa.compress(data, "zstd", asbytes=True), "bz2": bz2.compress, "xz": lzma.compress,
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "packing"), one_in(2, ["a.jsonl", *(f"a.jsonl.{suffix}" for suffix in PACKINGS)], ["", *PACKINGS])
)
def test_the_first_bytes_tell_how_a_file_is_compressed(tmp_path, name, packing):
    """What is written is compressed as its name says."""
    result = la.dedup(put(tmp_path / name, PACKINGS.get(packing, bytes)(ROWS)))
    assert result.keep.tolist() == [True, True, False]
    result.write(tmp_path / "out/")
    first = {"jsonl": b"{", "gz": b"\x1f\x8b", "zst": b"\x28\xb5", "bz2": b"BZh", "xz": b"\xfd7z"}[name.rpartition(".")[2]]
    assert (tmp_path / "out" / name).read_bytes().startswith(first)
    assert kept_texts(tmp_path / "out") == [A, B]


@pytest.mark.parametrize("name", ["a.txt", "a.html", "a.csv", "a.eml", "a.tar.gz", "a.zip"])
def test_texts_and_archives_are_read_whatever_their_names_say(tmp_path, name):
    content = {"csv": f"text\n{A}\n", "eml": f"Subject: x\n\n{A}"}.get(name[2:], A).encode()
    if name in ("a.tar.gz", "a.zip"):
        with tarfile.open(tmp_path / name, mode="w") as tar:
            tar.add(put(tmp_path / "b.txt", content), "b.txt")
        (tmp_path / "b.txt").unlink()
    else:
        put(tmp_path / name, gzip.compress(content))
    for given in (tmp_path / name, tmp_path):
        assert A in kept_texts(given)[0]


def test_a_database_is_known_by_its_first_bytes(tmp_path):
    for name in ("a.db", "a.sqlite", "a.duckdb"):
        with duckdb.connect(tmp_path / name) as opened:
            opened.execute("create table pages as select unnest(?) as text", [[A, B, A]])
        assert la.dedup(tmp_path / name).keep.tolist() == [True, True, False]
        query = "select text from pages where text like 'one%'"
        assert la.dedup(tmp_path / name, query=query, format="sqlite").keep.tolist() == [True, False]


@pytest.mark.parametrize(
    ("encoding", "name"),
    one_in(2, ["utf-16", "utf-16-le", "utf-16-be", "utf-32"], ["a.txt", "a.jsonl", "a.csv", "a.tsv.gz", "a.html"]),
)
def test_text_with_a_mark_of_the_order_of_bytes(tmp_path, name, encoding):
    text = f"Größe und Straße, {A} \U0001f600"
    whole = {"jsonl": json.dumps({"text": text}), "csv": f'text\n"{text}"\n', "tsv.gz": f"text\n{text}\n"}.get(name[2:], text)
    encoded = (whole if encoding[-2:] in ("16", "32") else "\ufeff" + whole).encode(encoding)
    put(tmp_path / name, gzip.compress(encoded) if name.endswith(".gz") else encoded)
    la.dedup(tmp_path / name).write(tmp_path / "out/")
    for given in (tmp_path / name, tmp_path / "out"):
        assert kept_texts(given) == [text]


def test_damaged_text_of_two_bytes_a_character(tmp_path):
    for content in ("words".encode("utf-16")[:-1], b"\xff\xfe\0\0\xff\xff\xff\xff"):
        refused(r"a\.txt: the text is (cut short|not utf-32)", la.dedup, put(tmp_path / "a.txt", content))


OTHERS = {
    "a PNG image": b"\x89PNG\r\n\x1a\n\0\0", "a PDF document": b"%PDF-1.4\n1 0 obj <</Type/Catalog>> endobj", "a ZIP archive": b"PK\x03\x04\x14",
    "a JPEG image": b"\xff\xd8\xff\xe0", "an RTF document": b"{\\rtf1\\ansi Some words.}", "an ARC file": b"filedesc://a.arc 0.0.0.0 1 text/plain 9",
    "a SQLite database": b"SQLite format 3\0\x10", "an old, or encrypted, Office document": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
    "an Arrow file": b"\xff\xff\xff\xff\xa8\0\0\0\x10\0\0\0", "compressed data of a kind": b"\x04\x22\x4d\x18" * 9,
    "gzip data twice over": gzip.compress(ROWS),
}  # fmt: skip


@pytest.mark.parametrize(
    ("what", "name"), one_in(4, OTHERS, ["a.txt", "a.jsonl", "a.json", "a.csv.gz", "a.mbox", "a.warc", "a.md"])
)
def test_what_is_no_text_is_named(tmp_path, name, what):
    pack = gzip.compress if name.endswith(".gz") or what.startswith("gzip") else bytes
    path = put(tmp_path / name, pack(OTHERS[what]))
    for encoding_errors in ("strict", "replace"):
        refused(rf"{name}: is {what}", la.dedup, path, encoding_errors=encoding_errors)


@pytest.mark.parametrize("name", ["a.html", "a.pdf", "a.docx", "a.eml", "a.epub"])
def test_documents_of_another_kind_are_left_out_and_named(tmp_path, caplog, name):
    paths = [put(tmp_path / name, OTHERS["a JPEG image"]), put(tmp_path / "b.txt", A)]
    assert reasons(paths) == ["skipped", "kept"]
    assert [r.getMessage() for r in caplog.records] == [
        f"left out: {paths[0]} is a JPEG image, by its first bytes: remove it, or leave it out: exclude="
    ]


@pytest.mark.parametrize("name", ["a.json", "a.csv", "a.orc", "a.arrow", "a.db", "a.txt", "a.zip", "a.tar", "a.tgz"])
def test_a_parquet_file_of_another_name(tmp_path, name):
    path = tmp_path / name
    pq.write_table(pa.table({"text": [A, B, A]}), path)
    if path.suffix in (".zip", ".tar", ".tgz"):
        refused(rf"{name}: is a Parquet file, by its first bytes: name it \.parquet$", la.dedup, path)
    else:
        refused(rf"{name}: is a Parquet file, .*: name it \.parquet, or pass format='parquet'", la.dedup, path)
        assert la.dedup(path, format="parquet").keep.tolist() == [True, True, False]


def test_what_holds_columns_is_not_compressed_as_a_whole(tmp_path):
    for name in ("a.parquet", "a.feather", "a.orc"):
        refused(rf"{name}: is gzip data .*decompress it first", la.dedup, put(tmp_path / name, gzip.compress(ROWS)))


def test_texts_that_begin_as_others_do(tmp_path):
    begins = ["PAR1 is a part", "ORC is no orchestra", "BZh9 is a plate", "PK", "GIF8", "Obj: a", "RIFFs", "MZ", "7z", "(µ"]
    for n, text in enumerate(begins):
        put(tmp_path / f"{n}.txt", text)
    assert kept_texts(tmp_path) == begins


def test_office_files_and_archives_are_told_apart_by_name(tmp_path):
    path = put(tmp_path / "a.zip", archive({"b.jsonl": gzip.compress(ROWS)}))
    assert la.dedup(path).keep.tolist() == [True, True, False]
