"""WARC and WET files: documents are pages and texts of records, and kept records are written as they are."""

import bz2
import gzip
import logging
import lzma
import re
import zlib
from dataclasses import replace

import pyarrow as pa
import pytest
import zstandard
from document_files import OTHER, STORY
from json_lines import read_lines
from samples import one_in

import lookalike as la
from lookalike.files.streams import read_blocks
from lookalike.formats.sources import open_sources
from lookalike.formats.split import Columns, Limit


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
    for one in wanted:  # a member each
        if suffix == ".gz":
            member = zlib.decompressobj(31)
            found, written = member.decompress(written), member.unused_data
        elif suffix:
            frame = zstandard.ZstdDecompressor().decompressobj()
            found, written = frame.decompress(written), frame.unused_data
        else:
            found, written = written[: len(one)], written[len(one) :]
        assert found == one
    assert not written
    assert la.dedup(tmp_path / "out").kept.num_rows == 3
    result.write(tmp_path / "out.jsonl")
    rows = read_lines(tmp_path / "out.jsonl")
    assert [row["uri"] for row in rows] == ["http://a/1", "http://a/3", "http://a/6"] and rows[0]["text"] == STORY
    assert rows[0]["content_type"] == "text/html" and rows[2]["text"].startswith("Grüße")
    assert la.dedup(path, boilerplate=True, threshold=1.0).kept.num_rows == 6


def test_charsets_of_servers(tmp_path):
    text = "Größe und Straße, überall, " * 9
    records = [
        response("u:1", page(text).encode("latin-1"), "text/html; charset=iso-8859-1"),
        response("u:2", page(text).encode("utf-16"), "text/html; charset=utf-16"),
        response("u:3", page(text), "text/html; charset=of-nobody"), response("u:4", page(text), "text/html"),
        response("u:5", page(text), "text/html; charset=iso-8859-1"),
    ]  # fmt: skip
    (tmp_path / "a.warc").write_bytes(b"".join(records))
    assert la.dedup(tmp_path / "a.warc").summary.exact_duplicates == 4
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
    with pytest.raises(la.errors.InputDataError, match=r"row 1: the document has more than"):
        la.dedup(path, max_document=100_000)


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("where", [0.3, 0.5, 0.9, 0.995])
def test_files_that_were_cut_are_errors(tmp_path, suffix, where):
    whole = packed(RECORDS[:-1], suffix)
    (tmp_path / f"a.warc{suffix}").write_bytes(whole[: int(len(whole) * where)])
    with pytest.raises(
        la.errors.InputDataError,
        match=r"damaged WARC data in or after the record at byte \d+|the gzip data is damaged or cut short",
    ):
        la.dedup(tmp_path / f"a.warc{suffix}")


@pytest.mark.parametrize("content", [b"", b"no WARC at all", b"WARC/1.0\r\n" * 1000, b"WARC/1.0\r\nContent-Length: -5\r\n\r\n" + b"x" * 99,
                                     b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 99999999999\r\n\r\nx"])  # fmt: skip
def test_what_is_no_archive(tmp_path, content):
    (tmp_path / "a.warc").write_bytes(content)
    try:
        assert la.dedup(tmp_path / "a.warc").decisions.num_rows == 0
    except la.errors.InputDataError as error:
        assert "a.warc" in str(error)


def test_columns(tmp_path):
    (tmp_path / "a.wet").write_bytes(RECORDS[-1])
    with pytest.raises(la.errors.InputDataError, match=r"'url' is missing; .* uri, date"):
        la.dedup(tmp_path / "a.wet", within="url")
    assert la.dedup(tmp_path / "a.wet", within="date").kept.num_rows == 1
    with pytest.raises(la.errors.OutputError, match="cannot be written"):
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
        (gzip.compress(page(STORY).encode()), "Content-Encoding: deflate"),
        (gzip.compress(page(STORY).encode()), "Vary: *"),
        (gzip.compress(gzip.compress(page(STORY).encode())), "Content-Encoding: gzip\r\nContent-Encoding: gzip"),
        (b"\r\n" + chunked(page(STORY).encode()).replace(b"\r\n0", b"\r\n 0 ; end"), "Transfer-Encoding: chunked"),
        (page(STORY.replace("river", "Fluß")).encode("latin-1"), "Content-Encoding: br"),
        (b"fade\r\n" + page(STORY).encode(), "Transfer-Encoding: chunked"),
    ],
    ids=lambda value: value if isinstance(value, str) else len(value),
)
def test_what_servers_say_and_send(tmp_path, content, coding):
    """The page is read, and the one after it."""
    told = response("http://a/1", content, coding=f"{coding}\r\n", kind="text/html")
    (tmp_path / "a.warc").write_bytes(b"".join([INFO, told, response("http://a/2", page(OTHER))]))
    result = la.dedup(tmp_path / "a.warc")
    texts = result.clean()["text"].to_pylist()
    assert len(texts) == 2 and texts[0].replace("Fluß", "river").endswith(STORY) and texts[1] == OTHER
    assert result.summary.documents_skipped == 0


def cut(data):
    return data[: len(data) // 2]


def spoiled(data):
    return data[: len(data) // 2] + bytes(range(100, 140)) + data[len(data) // 2 + 40 :]


@pytest.mark.parametrize(
    ("coding", "make"),
    [("gzip", gzip.compress), ("deflate", zlib.compress), ("br", lambda data: pa.compress(data, "brotli", asbytes=True)),
     ("zstd", zstandard.ZstdCompressor(write_checksum=True).compress), ("gzip, br", lambda data: b"\x03no" + gzip.compress(data))],
)  # fmt: skip
def test_what_servers_compressed_and_is_damaged(tmp_path, caplog, coding, make):
    """It is named, and neither equal to nothing nor to what begins alike; the record after it is read."""
    packed, coding = make(page(STORY).encode()), f"Content-Encoding: {coding}\r\n"
    damages = [(cut(packed), "text/html"), (spoiled(packed), ""), (b"\0\1\2" + packed[3:], "text/plain"), (cut(packed), "")]
    bad = [response(f"http://a/{number}", data, kind, coding) for number, (data, kind) in enumerate(damages)]
    (tmp_path / "a.warc").write_bytes(b"".join([INFO, *bad, response("http://a/9", page(OTHER))]))
    result = la.dedup(tmp_path / "a.warc")
    assert result.clean()["text"].to_pylist() == [OTHER] and result.summary.documents_skipped == len(bad)
    assert all(f"a.warc:{number} is damaged: what its server compressed" in caplog.text for number in (1, 2, 3, 4))
    result.write(tmp_path / "out")
    assert (tmp_path / "out/a.warc").read_bytes() == INFO + response("http://a/9", page(OTHER))
    with pytest.raises(la.errors.InputDataError, match="is damaged: what its server compressed"):
        la.dedup(tmp_path / "a.warc", on_error="stop")


def test_chunks_that_are_not_whole(tmp_path, caplog):
    lost = chunked(page(STORY).encode()).replace(b"\r\n<", b"\r\n-", 1)[:400]
    bad = response("http://a/0", lost, coding="Transfer-Encoding: chunked\r\n")
    odd = response("http://a/1", b"7\r\n<p>word\r\nnone\r\n", coding="Transfer-Encoding: chunked\r\n")
    (tmp_path / "a.warc").write_bytes(b"".join([INFO, bad, odd, response("http://a/2", page(OTHER))]))
    assert la.dedup(tmp_path / "a.warc").clean()["text"].to_pylist() == [OTHER]
    assert caplog.text.count("the chunks that its server sent are not whole") == 2


@pytest.mark.parametrize("begin", ["Dear reader,", "Add", "2026", "0", "a;b"])
def test_text_that_begins_as_a_chunk_does_is_whole(tmp_path, begin):
    """Crawlers put chunks together, and leave the header."""
    text = f"{begin}\n{STORY}"
    told = response("http://a/1", text, "text/plain", coding="Transfer-Encoding: chunked\r\n")
    (tmp_path / "a.warc").write_bytes(told)
    assert la.dedup(tmp_path / "a.warc").clean()["text"].to_pylist() == [text]


@pytest.mark.parametrize(
    ("content", "coding", "why"),
    [
        (b"\x1f\x8b\x08\0" * 9, "gzip", "is damaged: what its server compressed (gzip)"),
        (b"\x28\xb5\x2f\xfd\0\1" * 9, "zstd", "is damaged: what its server compressed (zstd)"),
        (b"\x1f\x9d\x90" + bytes(99), "compress", "is compressed data of a kind that is not read, by its first bytes"),
        (bytes(range(256)), "own", "is not text"),
        (b"\x89PNG\r\n\x1a\n\0", "none", "is a PNG image, by its first bytes"),
        (b"%PDF-1.7\n\0", "identity", "is a PDF document, by its first bytes"),
    ],
)
def test_content_that_is_no_text_is_left_out_and_named(tmp_path, caplog, content, coding, why):
    path, told = tmp_path / "a.warc", response("http://a/3", content, coding=f"Content-Encoding: {coding}\r\n")
    path.write_bytes(around([told, response("http://a/4", content, "", coding=f"Content-Encoding: {coding}\r\n")]))
    assert la.dedup(path).clean()["text"].to_pylist() == [STORY, OTHER]
    assert caplog.records[0].getMessage().startswith(f"left out: {path}:2 {why}")


@pytest.mark.parametrize("kind", ["application/xml", "text/xml; charset=utf-8", "application/vnd.wap.xhtml+xml"])
def test_pages_that_are_sent_as_xml(tmp_path, kind):
    feed = response("http://a/2", "<rss><p>A feed.</p></rss>", kind)
    (tmp_path / "a.warc").write_bytes(response("http://a/1", '<?xml version="1.0"?>' + page(STORY), kind) + feed)
    assert la.dedup(tmp_path / "a.warc").clean()["text"].to_pylist()[0] == STORY


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


def test_headers_of_one_page_are_its_own_affair(tmp_path, caplog):
    large = [response("http://a/1", page(STORY), coding=f"Set-Cookie: {'a' * n}\r\n") for n in (60_000, 200_000)]
    path = tmp_path / "a.warc"
    path.write_bytes(b"".join([*large, response("http://a/2", page(OTHER))]))
    result = la.dedup(path)
    assert result.decisions["reason"].to_pylist() == ["kept", "skipped", "kept"]
    assert [r.getMessage() for r in caplog.records] == [f"left out: {path}:2 has headers of HTTP that are damaged or too long"]
    with pytest.raises(la.errors.InputDataError, match=r"a\.warc, row 2 \(http://a/1 .*\): has headers of HTTP"):
        la.dedup(path, on_error="stop")
    result.write(tmp_path / "out/")
    assert (tmp_path / "out/a.warc").read_bytes() == large[0] + response("http://a/2", page(OTHER))


def around(middle, suffix=""):
    """Return an archive of a page, what is between them, and another page, each compressed by itself."""
    first, last = response("http://a/1", page(STORY)), response("http://a/9", page(OTHER))
    pack = {
        "": bytes,
        ".gz": gzip.compress,
        ".zst": lambda one: pa.compress(one, "zstd", asbytes=True),
        ".bz2": bz2.compress,
        ".xz": lzma.compress,
    }
    return b"".join(one if isinstance(one, Packed) else pack[suffix](one) for one in (first, *middle, last))


class Packed(bytes):
    """What is compressed already."""


THIRD = "A third page about the mountains, which are neither rivers nor roads, and none of which is near. " * 9
ONE = response("http://a/3", page(THIRD))
HEAD, BODY = ONE[: ONE.index(b"\r\n\r\n") + 4], ONE[ONE.index(b"\r\n\r\n") + 4 : -4]


def says(length, head=HEAD, body=BODY, end=b"\r\n\r\n"):
    return head.replace(b"Content-Length: %d" % len(BODY), b"Content-Length: %s" % str(length).encode()) + body + end


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst", ".bz2", ".xz"])
@pytest.mark.parametrize(
    "one",
    [
        ONE.replace(b"\r\n", b"\n").replace(b": %d\n" % len(BODY), b": %d\n" % len(BODY.replace(b"\r\n", b"\n"))),
        HEAD.replace(b"\r\n", b"\n") + BODY + b"\r\n\r\n", HEAD + BODY, HEAD + BODY + b"\r\n" * 9, HEAD + BODY + b"\n\n",
        HEAD.lower().replace(b"http://a/3", b"<http://a/3>") + BODY + b"\r\n\r\n", HEAD.upper().replace(b"HTTP://A/3", b"http://a/3") + BODY + b"\r\n\r\n",
        HEAD.replace(b"application/http;", b"Application/HTTPS ;") + BODY + b"\r\n\r\n",
        re.sub(rb"Content-Type: [^\r]*\r\n", b"", HEAD) + BODY + b"\r\n\r\n",
        *(says(len(BODY) + more) for more in (-4, -1, 1, 3, 4)),
    ],
)  # fmt: skip
def test_records_as_crawlers_write_them(tmp_path, suffix, one):
    """What is kept is written as it was."""
    path = tmp_path / f"a.warc{suffix}"
    path.write_bytes(around([one], suffix))
    result = la.dedup(path)
    assert result.clean()["text"].to_pylist() == [STORY, THIRD.strip(), OTHER]
    assert result.clean()["uri"].to_pylist() == ["http://a/1", "http://a/3", "http://a/9"]
    result.write(tmp_path / "out/")
    assert b"".join(read_blocks(tmp_path / f"out/a.warc{suffix}")) == around([one])
    assert la.dedup(tmp_path / "out").clean().equals(result.clean())


WITHOUT = [
    ("is damaged: it has another length", says(len(BODY) + 500)), ("is damaged: it has another length", says(9)),
    ("is damaged: it has another length", says(10**15)), ("is damaged: it has another length", says(len(BODY), body=BODY[:-50], end=b"")),
    ("is damaged: it says no length", says("many")), ("is damaged: it says no length", says("")), ("is not a record", b"some words\n" * 9),
    ("has no WARC-Type", ONE.replace(b"WARC-Type", b"WARC-Kind")),
    ("is a part of a page", ONE.replace(b"WARC-Date", b"WARC-Segment-Number: 1\r\nWARC-Date")),
]  # fmt: skip


def test_a_record_without_a_date_is_called_by_its_address(tmp_path):
    (tmp_path / "a.warc").write_bytes(ONE.replace(b"WARC-Date", b"WARC-Day"))
    assert la.dedup(tmp_path / "a.warc", id="id").kept["id"].to_pylist() == [ONE.split(b"Target-URI: ")[1].split()[0].decode()]


@pytest.mark.parametrize(("suffix", "why", "one"), one_in(3, ["", ".gz", ".zst"], WITHOUT))
def test_a_damaged_record_is_left_out_and_named_and_those_after_it_are_read(tmp_path, caplog, suffix, why, one):
    path = tmp_path / f"a.warc{suffix}"
    path.write_bytes(around([one], suffix))
    result = la.dedup(path)
    assert result.decisions["reason"].to_pylist() == ["kept", "skipped", "kept"]
    assert [r.getMessage().startswith(f"left out: {path}:2 {why}") for r in caplog.records] == [True]
    result.write(tmp_path / "out/")
    assert b"".join(read_blocks(tmp_path / f"out/a.warc{suffix}")) == around([])
    with pytest.raises(la.errors.InputDataError, match=rf"a\.warc.*, row 2 .*{why}"):
        la.dedup(path, on_error="stop")


@pytest.mark.parametrize("suffix", [".gz", ".zst", ".bz2"])
@pytest.mark.parametrize("damage", ["cut", "begin", "inside", "end", "other"])
def test_compressed_data_that_is_damaged_costs_one_record(tmp_path, caplog, suffix, damage):
    packed_one = {".gz": gzip.compress, ".zst": zstandard.ZstdCompressor(write_checksum=True).compress, ".bz2": bz2.compress}[
        suffix
    ](ONE)
    changed = bytearray(packed_one)
    changed[{"begin": 2, "inside": 150, "end": -3}.get(damage, 0)] ^= 0x55
    member = {"cut": packed_one[:-40], "other": b"not compressed at all"}.get(damage, bytes(changed))
    path = tmp_path / f"a.warc{suffix}"
    path.write_bytes(around([Packed(member)], suffix))
    result = la.dedup(path)
    assert result.decisions["reason"].to_pylist() == ["kept", "skipped", "kept"]
    assert [r.getMessage() for r in caplog.records] == [f"left out: {path}:2 is damaged: its compressed data cannot be read"]
    result.write(tmp_path / "out/")
    assert b"".join(read_blocks(tmp_path / f"out/a.warc{suffix}")) == around([])


@pytest.mark.parametrize("packed_itself", [False, True])
def test_a_dictionary_of_zstd(tmp_path, packed_itself):
    records = [response(f"http://a/{n}", page(f"{STORY} {n}")) for n in range(20)]
    dictionary = zstandard.train_dictionary(1024, records * 20)
    compressor = zstandard.ZstdCompressor(dict_data=dictionary)
    frame = zstandard.ZstdCompressor().compress(dictionary.as_bytes()) if packed_itself else dictionary.as_bytes()
    begin = bytes.fromhex("5d2a4d18") + len(frame).to_bytes(4, "little") + frame
    path = tmp_path / "a.warc.zst"
    path.write_bytes(begin + b"".join(map(compressor.compress, [*records, records[3]])))
    result = la.dedup(path, threshold=1.0)
    assert result.keep.tolist() == [True] * 20 + [False] and result.clean()["text"].to_pylist()[7] == f"{STORY} 7"
    result.write(tmp_path / "out/")
    assert la.dedup(tmp_path / "out", threshold=1.0).clean().equals(result.clean())
    for damaged in (
        path.read_bytes()[:-9],
        begin[:100],
        begin[:4] + b"\xff" * 4,
        begin[:8] + b"\0" * len(frame) + path.read_bytes()[len(begin) :],
    ):
        path.write_bytes(damaged)
        with pytest.raises(la.errors.InputDataError, match=r"a\.warc\.zst: the zstd data is damaged or cut short"):
            la.dedup(path)


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\nContent-Type: text/html\n\n", b"HTTP/1.1 200\r\nContent-Type: TEXT/HTML;a=b\n\n", b"HTTP/2 200\r\ncontent-type : text/html\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n", b"Content-Type: text/html\r\n\r\n", b"", b"\r\n", b"ICY 200 OK\r\nContent-Type: text/html, text/html\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n", b"HTTP/1.1 200 OK\r\nno header\r\nContent-Type: text/html\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Type:\r\n text/html charset=utf-8\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Type: unknown/unknown\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Type: html\r\n\r\n",
    ],
)  # fmt: skip
def test_headers_of_http_as_servers_send_them(tmp_path, head):
    (tmp_path / "a.warc").write_bytes(record("response", "http://a/1", head + page(STORY).encode()))
    (row,) = la.dedup(tmp_path / "a.warc").clean().to_pylist()
    assert (row["text"], row["content_type"]) == (STORY, "text/html")


@pytest.mark.parametrize(
    ("body", "more", "text"),
    [
        (STORY.encode(), {}, STORY), (b"\x89PNG\r\n\x1a\n\0\0", {}, None), (b"\0\1\2\3", {}, None), (b"", {}, None), (b"%PDF-1.7\n1 0 obj", {}, None),
        (gzip.compress(page(STORY).encode()), {}, STORY), (b"<p>" + STORY.encode(), {"WARC-Identified-Payload-Type": "text/html"}, STORY),
        (b"{}", {"WARC-Identified-Payload-Type": "application/json"}, None), (b"<?xml version='1.0'?>\n<!-- a -->\n" + page(STORY).encode(), {}, STORY),
    ],
)  # fmt: skip
def test_what_no_header_tells_is_looked_at(tmp_path, body, more, text):
    coding = b"Content-Encoding: gzip\r\n" if body[:2] == b"\x1f\x8b" else b""
    head = b"HTTP/1.1 200 OK\r\n" + coding + b"\r\n"
    (tmp_path / "a.warc").write_bytes(
        record("response", "http://a/1", head + body, **more) + response("http://a/2", page(OTHER))
    )
    assert la.dedup(tmp_path / "a.warc").clean()["text"].to_pylist() == [*([] if text is None else [text]), OTHER]


@pytest.mark.parametrize(
    "make",
    [
        gzip.compress,
        lambda data: pa.compress(data, "brotli", asbytes=True),
        lambda data: pa.compress(data, "zstd", asbytes=True),
        zlib.compress,
    ],
)
def test_what_unpacks_to_more_than_a_document_may_have_is_named(tmp_path, make):
    coding = {b"\x1f\x8b": "gzip", b"\x28\xb5": "zstd", b"\x78\x9c": "deflate"}.get(make(b"a")[:2], "br")
    bomb = response("http://a/2", make(b"<p>" + b"word " * 4_000_000), coding=f"Content-Encoding: {coding}\r\n")
    large = response("http://a/3", b"<p>" + b"word " * 2_000_000)
    for suffix, one in (("", bomb), ("", large), (".gz", large), (".zst", large)):
        path = tmp_path / f"a.warc{suffix}"
        path.write_bytes(around([one], suffix))
        with pytest.raises(la.errors.InputDataError, match=r"row 2: the document has more than the 100,000 bytes"):
            la.dedup(path, max_document=100_000)
        assert la.dedup(path, max_document=100_000, on_error="skip").decisions["reason"].to_pylist() == [
            "kept",
            "skipped",
            "kept",
        ]


def test_older_archives_are_refused(tmp_path):
    content = b"filedesc://a.arc 0.0.0.0 20010101000000 text/plain 9\n1 0 a\n\n\n"
    for name, data in (
        ("a.arc", content),
        ("a.arc.gz", gzip.compress(content)),
        ("a.warc", content),
        ("a.warc.gz", gzip.compress(content)),
    ):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(la.errors.InputDataError, match=rf"{name}: .*warcio recompress"):
            la.dedup(tmp_path / name)
