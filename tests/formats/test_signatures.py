"""Files whose names say something else than their first bytes: they are read where that is safe, or it is said what they are."""

import bz2
import gzip
import io
import json
import lzma
import tarfile
import zipfile

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from samples import one_in

import lookalike as la

A, B = "one two three four five six seven eight", "quite another text of several words, and no more"
ROWS = "".join(json.dumps({"text": text}) + "\n" for text in (A, B, A)).encode()
PACKINGS = {
    "gz": gzip.compress, "zst": lambda data: pa.compress(data, "zstd", asbytes=True), "bz2": bz2.compress, "xz": lzma.compress,
}  # fmt: skip


def parquet(path):
    pq.write_table(pa.table({"text": [A, B, A]}), path)


def database(path):
    with duckdb.connect(path) as opened:
        opened.execute("create table pages as select unnest(?) as text", [[A, B, A]])


@pytest.mark.parametrize(
    ("name", "packing"), one_in(2, ["a.jsonl", *(f"a.jsonl.{suffix}" for suffix in PACKINGS)], ["", *PACKINGS])
)
def test_the_first_bytes_tell_how_a_file_is_compressed(tmp_path, name, packing):
    """What is written is compressed as its name says."""
    (tmp_path / name).write_bytes(PACKINGS.get(packing, bytes)(ROWS))
    result = la.dedup(tmp_path / name)
    assert result.keep.tolist() == [True, True, False]
    result.write(tmp_path / "out/")
    suffix = name.rpartition(".")[2]
    first = {"jsonl": b"{", "gz": b"\x1f\x8b", "zst": b"\x28\xb5", "bz2": b"BZh", "xz": b"\xfd7z"}[suffix]
    assert (tmp_path / "out" / name).read_bytes().startswith(first)
    assert la.dedup(tmp_path / "out").clean()["text"].to_pylist() == [A, B]


@pytest.mark.parametrize("name", ["a.txt", "a.html", "a.csv", "a.eml", "a.tar.gz", "a.zip"])
def test_texts_and_archives_are_read_whatever_their_names_say(tmp_path, name):
    content = {"csv": f"text\n{A}\n".encode(), "eml": f"Subject: x\n\n{A}".encode()}.get(name[2:], A.encode())
    if name in ("a.tar.gz", "a.zip"):
        inside = io.BytesIO()
        with tarfile.open(fileobj=inside, mode="w") as tar:
            member = tarfile.TarInfo("b.txt")
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
        content = inside.getvalue()
    else:
        content = gzip.compress(content)
    (tmp_path / name).write_bytes(content)
    for given in (tmp_path / name, tmp_path):
        assert A in la.dedup(given).clean()["text"].to_pylist()[0]


@pytest.mark.parametrize("name", ["a.db", "a.sqlite", "a.duckdb"])
def test_a_database_is_known_by_its_first_bytes(tmp_path, name):
    database(tmp_path / name)
    assert la.dedup(tmp_path / name).keep.tolist() == [True, True, False]
    result = la.dedup(tmp_path / name, query="select text from pages where text like 'one%'", format="sqlite")
    assert result.keep.tolist() == [True, False]


@pytest.mark.parametrize(
    ("encoding", "name"),
    one_in(2, ["utf-16", "utf-16-le", "utf-16-be", "utf-32"], ["a.txt", "a.jsonl", "a.csv", "a.tsv.gz", "a.html"]),
)
def test_text_with_a_mark_of_the_order_of_bytes(tmp_path, name, encoding):
    text = f"Größe und Straße, {A} \U0001f600"
    whole = {"jsonl": json.dumps({"text": text}), "csv": f'text\n"{text}"\n', "tsv.gz": f"text\n{text}\n"}.get(name[2:], text)
    packed = (whole if encoding[-2:] in ("16", "32") else "\ufeff" + whole).encode(encoding)
    (tmp_path / name).write_bytes(gzip.compress(packed) if name.endswith(".gz") else packed)
    for given in (tmp_path / name, tmp_path):
        assert la.dedup(given).clean()["text"].to_pylist() == [text]
    la.dedup(tmp_path / name).write(tmp_path / "out/")
    assert la.dedup(tmp_path / "out").clean()["text"].to_pylist() == [text]


@pytest.mark.parametrize("content", ["words".encode("utf-16")[:-1], b"\xff\xfe\0\0\xff\xff\xff\xff"])
def test_damaged_text_of_two_bytes_a_character(tmp_path, content):
    (tmp_path / "a.txt").write_bytes(content)
    with pytest.raises(la.errors.InputDataError, match=r"a\.txt: the text is (cut short|not utf-32)"):
        la.dedup(tmp_path / "a.txt")


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
    content = gzip.compress(OTHERS[what]) if name.endswith(".gz") or what.startswith("gzip") else OTHERS[what]
    (tmp_path / name).write_bytes(content)
    for encoding_errors in ("strict", "replace"):
        with pytest.raises(la.errors.InputDataError, match=rf"{name}: is {what}"):
            la.dedup(tmp_path / name, encoding_errors=encoding_errors)


@pytest.mark.parametrize("name", ["a.html", "a.pdf", "a.docx", "a.eml", "a.epub"])
def test_documents_of_another_kind_are_left_out_and_named(tmp_path, caplog, name):
    (tmp_path / name).write_bytes(OTHERS["a JPEG image"])
    (tmp_path / "b.txt").write_text(A)
    assert la.dedup([tmp_path / name, tmp_path / "b.txt"]).decisions["reason"].to_pylist() == ["skipped", "kept"]
    assert [r.getMessage() for r in caplog.records] == [
        f"left out: {tmp_path / name} is a JPEG image, by its first bytes: remove it, or leave it out: exclude="
    ]


@pytest.mark.parametrize("name", ["a.json", "a.csv", "a.orc", "a.arrow", "a.db", "a.txt"])
def test_a_parquet_file_of_another_name(tmp_path, name):
    parquet(tmp_path / name)
    with pytest.raises(
        la.errors.InputDataError, match=rf"{name}: is a Parquet file, .*: name it \.parquet, or pass format='parquet'"
    ):
        la.dedup(tmp_path / name)
    assert la.dedup(tmp_path / name, format="parquet").keep.tolist() == [True, True, False]


@pytest.mark.parametrize("name", ["a.zip", "a.tar", "a.tgz"])
def test_what_is_no_archive_is_named(tmp_path, name):
    parquet(tmp_path / name)
    with pytest.raises(la.errors.InputDataError, match=rf"{name}: is a Parquet file, by its first bytes: name it \.parquet$"):
        la.dedup(tmp_path / name)


@pytest.mark.parametrize("name", ["a.parquet", "a.feather", "a.orc"])
def test_what_holds_columns_is_not_compressed_as_a_whole(tmp_path, name):
    (tmp_path / name).write_bytes(gzip.compress(ROWS))
    with pytest.raises(la.errors.InputDataError, match=rf"{name}: is gzip data .*decompress it first"):
        la.dedup(tmp_path / name)


def test_what_is_no_text_in_a_folder_is_counted(tmp_path):
    (tmp_path / "a.txt").write_text(A)
    (tmp_path / "b.txt").write_bytes(OTHERS["a PDF document"])
    (tmp_path / "c.md").write_bytes(gzip.compress(OTHERS["a PNG image"]))
    assert la.dedup(tmp_path).summary.skipped["by_reason"] == {"binary": 2}


@pytest.mark.parametrize(
    "text", ["PAR1 is a part", "ORC is no orchestra", "BZh9 is a plate", "PK", "GIF8", "Obj: a", "RIFFs", "MZ", "7z", "(µ"]
)
def test_texts_that_begin_as_others_do(tmp_path, text):
    (tmp_path / "a.txt").write_text(text, encoding="utf-8")
    assert la.dedup(tmp_path).clean()["text"].to_pylist() == [text]


def test_office_files_and_archives_are_told_apart_by_name(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("b.jsonl", gzip.compress(ROWS))
    assert la.dedup(tmp_path / "a.zip").keep.tolist() == [True, True, False]
