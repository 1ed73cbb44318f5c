"""WARC and WET files: documents are pages and texts of records, and kept records are written as they are."""

import gzip
import json
import logging
import re
import zlib
from dataclasses import replace

import pyarrow as pa
import pytest

import lookalike as la
from lookalike.formats.sources import open_sources
from lookalike.formats.split import Columns, Limit
from lookalike.formats.warc import _usually_named

STORY = " ".join(f"The river number {n} rises in the hills and falls into the sea after {7 * n} miles." for n in range(20))
OTHER = " ".join(f"The road number {n} leaves the town and ends at the coast after {9 * n} turns." for n in range(20))


def record(kind, uri, body, content_type="application/http; msgtype=response", **more):
    head = {"WARC-Type": kind, "WARC-Target-URI": uri, "WARC-Date": "2026-11-01T00:00:00Z", "WARC-Record-ID": f"<urn:{uri}>",
            "Content-Type": content_type, **more, "Content-Length": len(body)}  # fmt: skip
    return b"WARC/1.0\r\n" + "".join(f"{k}: {v}\r\n" for k, v in head.items()).encode() + b"\r\n" + body + b"\r\n\r\n"


def response(uri, text, kind="text/html; charset=utf-8", coding="", **more):
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n{coding}\r\n".encode()
    return record("response", uri, head + (text if isinstance(text, bytes) else text.encode()), **more)


def page(text, menu="Home"):
    return f"<html><body><nav>{menu}</nav><main><p>{text}</p></main></body></html>"


INFO = record("warcinfo", "", b"software: made\r\n", "application/warc-fields")
RECORDS = [
    INFO,
    response("http://a/1", page(STORY)),
    record("request", "http://a/1", b"GET / HTTP/1.1\r\n\r\n", "application/http; msgtype=request"),
    response("http://a/2", page(STORY, "About us")),
    response("http://a/i.png", b"\x89PNG", "image/png"),
    response("http://a/3", page(OTHER), coding="Content-Encoding: gzip\r\n").replace(
        page(OTHER).encode(), page(OTHER).encode()),
    response("http://a/4", STORY, "text/plain"),
    record("resource", "http://a/5", page(OTHER + " Twice.").encode(), "text/html"),
    record("conversion", "http://a/6", "Grüße, ein Text, der wie kein anderer ist.".encode(), "text/plain"),
]  # fmt: skip
ZIPPED = gzip.compress(page(OTHER).encode())
RECORDS[5] = response("http://a/3", ZIPPED, coding="Content-Encoding: gzip\r\n")


def packed(records, suffix):
    each = {"": bytes, ".gz": gzip.compress, ".zst": lambda one: pa.compress(one, "zstd", asbytes=True)}[suffix]
    return b"".join(map(each, records))


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
@pytest.mark.parametrize("threads", [1, 2])
def test_documents_and_records(tmp_path, suffix, threads):
    path = tmp_path / f"a.warc{suffix}"
    path.write_bytes(packed(RECORDS, suffix))
    result = la.dedup(path, id="id", threads=threads)
    assert dict(zip(result.decisions["id"].to_pylist(), result.decisions["reason"].to_pylist(), strict=True)) == {
        "http://a/1 2026-11-01T00:00:00Z": "kept", "http://a/2 2026-11-01T00:00:00Z": "exact", "http://a/3 2026-11-01T00:00:00Z": "kept",
        "http://a/4 2026-11-01T00:00:00Z": "exact", "http://a/5 2026-11-01T00:00:00Z": "near", "http://a/6 2026-11-01T00:00:00Z": "kept",
    }  # fmt: skip
    result.write(tmp_path / "out/")
    written = (tmp_path / f"out/a.warc{suffix}").read_bytes()
    wanted = [RECORDS[place] for place in (0, 1, 5, 8)]
    if suffix == ".gz":
        assert written == b"".join(gzip.compress(one, mtime=0) for one in wanted), "a member each"
    elif not suffix:
        assert written == b"".join(wanted)
    assert la.dedup(tmp_path / "out").kept.num_rows == 3
    result.write(tmp_path / "out.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [row["uri"] for row in rows] == ["http://a/1", "http://a/3", "http://a/6"] and rows[0]["text"] == STORY
    assert rows[0]["content_type"] == "text/html" and rows[2]["text"].startswith("Grüße")
    assert la.dedup(path, boilerplate=True, threshold=1.0).kept.num_rows == 6


def test_charsets_of_servers(tmp_path):
    text = "Größe und Straße, überall, " * 9
    records = [
        response("u:1", page(text).encode("latin-1"), "text/html; charset=iso-8859-1"),
        response("u:2", page(text).encode("utf-16"), "text/html; charset=utf-16"),
        response("u:3", page(text), "text/html; charset=of-nobody"), response("u:4", page(text), "text/html"),
    ]  # fmt: skip
    (tmp_path / "a.warc").write_bytes(b"".join(records))
    assert la.dedup(tmp_path / "a.warc").summary.exact_duplicates == 3
    quoted = response("u:5", page("“Don’t”, she said").encode("cp1252"), "text/html; charset=ISO-8859-1")
    names = record("response", "dns:a", b"20261101000000\na. 300 IN A 1.2.3.4\n", "text/dns")
    (tmp_path / "b.warc").write_bytes(quoted + names)
    assert la.dedup(tmp_path / "b.warc").clean()["text"].to_pylist() == ["“Don’t”, she said"]


def test_what_is_too_large_is_left_out_or_an_error(tmp_path, caplog):
    bomb = gzip.compress(b"<p>" + b"a " * 2_000_000)
    path = tmp_path / "a.warc"
    path.write_bytes(response("u:1", bomb, coding="Content-Encoding: gzip\r\n") + response("u:2", page(STORY)))
    with caplog.at_level(logging.WARNING, "lookalike"):
        result = la.dedup(path, max_document=100_000, on_error="skip")
    assert result.decisions["reason"].to_pylist() == ["skipped", "kept"]
    with pytest.raises(la.InputDataError, match=r"row 1: the document has more than"):
        la.dedup(path, max_document=100_000)


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("where", [0.3, 0.5, 0.9, 0.995])
def test_files_that_were_cut_are_errors(tmp_path, suffix, where):
    whole = packed(RECORDS[:-1], suffix)
    (tmp_path / f"a.warc{suffix}").write_bytes(whole[: int(len(whole) * where)])
    with pytest.raises(
        la.InputDataError, match=r"damaged WARC data in or after the record at byte \d+|the gzip data is damaged or cut short"
    ):
        la.dedup(tmp_path / f"a.warc{suffix}")


@pytest.mark.parametrize("content", [b"", b"no WARC at all", b"WARC/1.0\r\n" * 1000, b"WARC/1.0\r\nContent-Length: -5\r\n\r\n" + b"x" * 99,
                                     b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 99999999999\r\n\r\nx"])  # fmt: skip
def test_what_is_no_archive(tmp_path, content):
    (tmp_path / "a.warc").write_bytes(content)
    try:
        assert la.dedup(tmp_path / "a.warc").decisions.num_rows == 0
    except la.InputDataError as error:
        assert "a.warc" in str(error)


def test_columns(tmp_path):
    (tmp_path / "a.wet").write_bytes(RECORDS[-1])
    with pytest.raises(la.InputDataError, match=r"'url' is missing; .* uri, date"):
        la.dedup(tmp_path / "a.wet", within="url")
    assert la.dedup(tmp_path / "a.wet", within="date").kept.num_rows == 1
    with pytest.raises(la.OutputError, match="cannot be written"):
        la.dedup(tmp_path / "a.wet").write(tmp_path / "out.warc")


def chunked(content):
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (content[:7], content[7:], b""))


@pytest.mark.parametrize(
    ("content", "coding"),
    [
        (page(STORY).encode(), "Content-Encoding: gzip"),  # unpacked by the crawler
        (page(STORY).encode(), "Transfer-Encoding: chunked"),
        (chunked(page(STORY).encode()), "Transfer-Encoding: chunked"),
        (chunked(gzip.compress(page(STORY).encode())), "Transfer-Encoding: chunked\r\nContent-Encoding: x-gzip"),
        (zlib.compress(page(STORY).encode()), "Content-Encoding: deflate"),
        (zlib.compress(page(STORY).encode(), wbits=-15), "Content-Encoding: deflate"),
        (pa.compress(page(STORY).encode(), "brotli", asbytes=True), "Content-Encoding: br"),
        (pa.compress(page(STORY).encode(), "zstd", asbytes=True), "Content-Encoding: zstd"),
        (page(STORY).encode(), "Content-Encoding: none"),
        (page(STORY).encode(), "Content-Encoding: UTF-8"),
        (gzip.compress(page(STORY).encode())[:-9], "Content-Encoding: gzip"),
    ],
    ids=lambda value: value if isinstance(value, str) else len(value),
)
def test_what_servers_say_and_send(tmp_path, content, coding):
    """The page is read, or what there is of it, and those after it."""
    broken = response("http://a/0", b"\x1f\x8b\0\0", coding="Content-Encoding: br\r\n")
    told = response("http://a/1", content, coding=f"{coding}\r\n")
    (tmp_path / "a.warc").write_bytes(b"".join([INFO, broken, told, response("http://a/2", page(OTHER))]))
    texts = la.dedup(tmp_path / "a.warc").clean()["text"].to_pylist()
    assert len(texts) == 3 and texts[0] == "" and texts[2] == OTHER
    assert texts[1] == STORY or (content[:2] == b"\x1f\x8b" and texts[1].startswith(STORY[:1000]))


def test_a_limit_that_no_machine_has(tmp_path):
    (tmp_path / "a.warc").write_bytes(b"".join(RECORDS))
    (split,) = open_sources([tmp_path / "a.warc"])
    assert sum(len(batch.texts) for batch in replace(split, limit=Limit()).batches(Columns())) == 6


def in_lower_case(one):
    """Return a record whose header names are in lower case."""
    head, _, rest = one.partition(b"\r\n\r\n")
    return re.sub(rb"(?<=\n)[^:\n]+(?=:)", lambda name: name[0].lower(), head) + b"\r\n\r\n" + rest


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_names_of_headers_in_any_case(tmp_path, suffix):
    """What pages and servers say beside them stays as it is."""
    text = f"<pre>\ncontent-length: 7\r\nwarc-type: request\r\n\r\n</pre>{OTHER}"
    records = [*RECORDS, response("http://a/7", page(text), coding="content-length: 5\r\n")]
    (tmp_path / f"usual.warc{suffix}").write_bytes(packed(records, suffix))
    (tmp_path / f"lower.warc{suffix}").write_bytes(packed(map(in_lower_case, records), suffix))
    usual, lower = (la.dedup(tmp_path / f"{name}.warc{suffix}") for name in ("usual", "lower"))
    assert lower.clean().equals(usual.clean()) and lower.summary.documents == 7
    lower.write(tmp_path / "out/")
    assert la.dedup(tmp_path / "out").clean().equals(usual.clean())


@pytest.mark.parametrize("n_bytes", [1, 7, 64, 5000])
def test_blocks_of_any_size_have_the_same_names(n_bytes):
    whole = b"".join([*map(in_lower_case, RECORDS), b"no record\r\n\r\nwarc-type: x\r\n\r\n"])
    blocks = list(_usually_named(whole[i : i + n_bytes] for i in range(0, len(whole), n_bytes)))
    found = b"".join(blocks)
    assert all(blocks) and found.lower() == whole.lower()
    assert found.count(b"WARC-Type: ") == len(RECORDS) and found.endswith(b"\nwarc-type: x\r\n\r\n")


def test_headers_of_one_page_are_its_own_affair(tmp_path, caplog):
    large = [response("http://a/1", page(STORY), coding=f"Set-Cookie: {'a' * n}\r\n") for n in (20_000, 60_000)]
    path = tmp_path / "a.warc"
    path.write_bytes(b"".join([*large, response("http://a/2", page(OTHER))]))
    result = la.dedup(path)
    assert result.decisions["reason"].to_pylist() == ["kept", "skipped", "kept"]
    assert [r.getMessage() for r in caplog.records] == [f"left out: {path}:2 has headers of HTTP that are damaged or too long"]
    with pytest.raises(la.InputDataError, match=r"a\.warc, row 2 \(http://a/1 .*\): has headers of HTTP"):
        la.dedup(path, on_error="stop")
    result.write(tmp_path / "out/")
    assert (tmp_path / "out/a.warc").read_bytes() == large[0] + response("http://a/2", page(OTHER))
