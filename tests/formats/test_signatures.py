"""Files that are not what their names say are read where that is safe, or it is said what they are."""

import gzip
import json
import tarfile

import pytest
from formats.format_samples import packed
from formats.jobs import kept_texts, put, refused, table_at
from samples import one_in

import lookalike as la

A, B = "one two three four five six seven eight", "quite another text of several words, and no more"
ROWS = "".join(json.dumps({"text": text}) + "\n" for text in (A, B, A)).encode()
PACKINGS = ["gz", "zst", "bz2", "xz"]


@pytest.mark.parametrize(
    ("name", "packing"), one_in(2, ["a.jsonl", *(f"a.jsonl.{suffix}" for suffix in PACKINGS)], ["", *PACKINGS])
)
def test_the_first_bytes_tell_how_a_file_is_compressed(tmp_path, name, packing):
    """What is written is compressed as its name says."""
    result = la.dedup(put(tmp_path / name, packed(ROWS, f".{packing}")))
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


def test_a_parquet_file_of_another_name_and_what_holds_columns_packed_as_a_whole(tmp_path):
    for suffix in ("json", "csv", "orc", "arrow", "db", "txt", "zip", "tar", "tgz"):
        path, whole = tmp_path / f"a.{suffix}", suffix in ("zip", "tar", "tgz")
        table_at(path, {"text": [A, B, A]})
        more = "$" if whole else ", or pass format='parquet'"
        refused(rf"a.{suffix}: is a Parquet file, by its first bytes: name it \.parquet{more}", la.dedup, path)
        assert whole or la.dedup(path, format="parquet").keep.tolist() == [True, True, False]
    for name in ("a.parquet", "a.feather", "a.orc"):
        refused(rf"{name}: is gzip data .*decompress it first", la.dedup, put(tmp_path / name, gzip.compress(ROWS)))
