"""WARC and WET files: documents are pages and texts of records, and kept records are written as they are."""

import bz2
import gzip
import lzma
import re
import zlib
from dataclasses import replace

import pyarrow as pa
import pytest
import zstandard
from document_files import OTHER, STORY
from formats.jobs import kept_texts, put, reasons, refused
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


def response(uri, text, kind="text/html; charset=utf-8", coding=""):
    head = "\r\n".join(filter(None, ["HTTP/1.1 200 OK", f"Content-Type: {kind}", coding])) + "\r\n\r\n"
    return record("response", uri, head.encode() + (text if isinstance(text, bytes) else text.encode()))


def page(text, menu="Home"):
    return f"<html><body><nav>{menu}</nav><main><p>{text}</p></main></body></html>"


def brotli(data):
    return pa.compress(data, "brotli", asbytes=True)


def zstd(data):
    return pa.compress(data, "zstd", asbytes=True)


CHECKED = zstandard.ZstdCompressor(write_checksum=True)
PACK = {"": bytes, ".gz": gzip.compress, ".zst": zstd, ".bz2": bz2.compress, ".xz": lzma.compress}
INFO = record("warcinfo", "", b"software: made\r\n", "application/warc-fields")
RECORDS = [
    INFO,
    response("http://a/1", page(STORY)),
    record("request", "http://a/1", b"GET / HTTP/1.1\r\n\r\n", "application/http; msgtype=request"),
    response("http://a/2", page(STORY, "About us")),
    response("http://a/i.png", b"\x89PNG", "image/png"),
    response("http://a/3", gzip.compress(page(OTHER).encode()), coding="Content-Encoding: gzip"),
    response("http://a/4", STORY, "text/plain"),
    record("resource", "http://a/5", page(OTHER + " Twice.").encode(), "text/html"),
    record("conversion", "http://a/6", "Grüße, ein Text, der wie kein anderer ist.".encode(), "text/plain"),
]
FIRST, LAST = response("http://a/1", page(STORY)), response("http://a/9", page(OTHER))


def around(*middle, suffix=""):
    """A page, records, and another page, each compressed by itself."""
    return [PACK[suffix](one) for one in (FIRST, *middle, LAST)]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.warc"


def rewritten(result, path):
    """What is written of a file, decompressed."""
    result.write(path.parent / "out")
    return b"".join(read_blocks(path.parent / "out" / path.name))


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
@pytest.mark.parametrize("threads", [1, 2])
def test_documents_and_records(tmp_path, suffix, threads):
    path = put(tmp_path / f"a.warc{suffix}", list(map(PACK[suffix], RECORDS)))
    result = la.dedup(path, id="id", threads=threads)
    assert result.decisions["id"].to_pylist() == [f"http://a/{number} 2026-11-01T00:00:00Z" for number in range(1, 7)]
    assert result.decisions["reason"].to_pylist() == ["kept", "exact", "kept", "exact", "near", "kept"]
    result.write(tmp_path / "out/")
    written = (tmp_path / "out" / path.name).read_bytes()
    for place in (0, 1, 5, 8):  # a member each
        member = zlib.decompressobj(31) if suffix == ".gz" else zstandard.ZstdDecompressor().decompressobj()
        assert member.decompress(written) == RECORDS[place]
        written = member.unused_data
    assert not written
    result.write(tmp_path / "out.jsonl")
    rows = read_lines(tmp_path / "out.jsonl")
    assert [row["uri"] for row in rows] == ["http://a/1", "http://a/3", "http://a/6"] and rows[0]["text"] == STORY
    assert rows[0]["content_type"] == "text/html" and rows[2]["text"].startswith("Grüße")
    assert la.dedup(path, boilerplate=True, threshold=1.0).kept.num_rows == 6


def test_charsets_of_servers(path):
    text = page("Größe und Straße, überall, " * 9)
    encodings = {"iso-8859-1": "latin-1", "utf-16": "utf-16", "of-nobody": "utf-8", "": "utf-8", "ISO-8859-1": "utf-8"}
    put(path, [response(f"u:{said}", text.encode(used), f"text/html; charset={said}") for said, used in encodings.items()])
    assert la.dedup(path).summary.exact_duplicates == 4
    quoted = response("u:5", page("“Don’t”, she said").encode("cp1252"), "text/html; charset=ISO-8859-1")
    put(path, [quoted, record("response", "dns:a", b"20261101000000\na. 300 IN A 1.2.3.4\n", "text/dns")])
    assert kept_texts(path) == ["“Don’t”, she said"]


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("where", [0.3, 0.995])
def test_files_that_were_cut_are_errors(tmp_path, suffix, where):
    whole = b"".join(map(PACK[suffix], RECORDS[:-1]))
    path = put(tmp_path / f"a.warc{suffix}", whole[: int(len(whole) * where)])
    damaged = r"damaged WARC data in or after the record at byte \d+|the gzip data is damaged or cut short"
    refused(damaged, la.dedup, path)


@pytest.mark.parametrize("content", [b"no WARC at all", b"WARC/1.0\r\n" * 1000, b"WARC/1.0\r\nContent-Length: -5\r\n\r\n" + b"x" * 99,
                                     b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 99999999999\r\n\r\nx"])  # fmt: skip
def test_what_is_no_archive(path, content):
    refused(r"a\.warc", la.dedup, put(path, content))
    assert len(la.dedup(put(path, b""))) == 0


def test_columns(tmp_path):
    path = put(tmp_path / "a.wet", RECORDS[-1])
    refused(r"'url' is missing; .* uri, date", la.dedup, path, within="url")
    result = la.dedup(path, within="date")
    assert result.kept.num_rows == 1
    refused("cannot be written", result.write, tmp_path / "out.warc", error=la.errors.OutputError)


def chunked(content):
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (content[:7], content[7:], b""))


PAGE = page(STORY).encode()
GZIP, CHUNKED = "Content-Encoding: gzip", "Transfer-Encoding: chunked"


@pytest.mark.parametrize(
    ("content", "coding"),
    [
        (PAGE, GZIP),  # unpacked by the crawler
        (PAGE, CHUNKED),
        (chunked(PAGE), CHUNKED),
        (chunked(gzip.compress(PAGE)), f"{CHUNKED}\r\nContent-Encoding: x-gzip"),
        (zlib.compress(PAGE), "Content-Encoding: deflate"),
        (zlib.compress(PAGE, wbits=-15), "Content-Encoding: deflate"),
        (brotli(PAGE), "Content-Encoding: br"),
        (zstd(PAGE), "Content-Encoding: zstd"),
        (PAGE, "Content-Encoding: none"),
        (PAGE, "Content-Encoding: UTF-8"),
        (gzip.compress(PAGE), "Content-Encoding: deflate"),
        (gzip.compress(PAGE), "Vary: *"),
        (gzip.compress(gzip.compress(PAGE)), f"{GZIP}\r\n{GZIP}"),
        (b"\r\n" + chunked(PAGE).replace(b"\r\n0", b"\r\n 0 ; end"), CHUNKED),
        (PAGE.decode().replace("river", "Fluß").encode("latin-1"), "Content-Encoding: br"),
        (b"fade\r\n" + PAGE, CHUNKED),
    ],
    ids=lambda value: value if isinstance(value, str) else len(value),
)
def test_what_servers_say_and_send(path, content, coding):
    """The page is read, and the one after it."""
    result = la.dedup(put(path, [INFO, response("http://a/1", content, "text/html", coding), LAST]))
    first, second = result.clean()["text"].to_pylist()
    assert first.replace("Fluß", "river").endswith(STORY) and second == OTHER
    assert result.summary.documents_skipped == 0


@pytest.mark.parametrize(
    ("coding", "make"),
    [("gzip", gzip.compress), ("deflate", zlib.compress), ("br", brotli), ("zstd", CHECKED.compress),
     ("gzip, br", lambda data: b"\x03no" + gzip.compress(data))],
)  # fmt: skip
def test_what_servers_compressed_and_is_damaged(path, caplog, coding, make):
    """It is named, and neither equal to nothing nor to what begins alike; the record after it is read."""
    sent, half = make(PAGE), len(make(PAGE)) // 2
    spoiled = sent[:half] + bytes(range(100, 140)) + sent[half + 40 :]
    damages = [(sent[:half], "text/html"), (spoiled, ""), (b"\0\1\2" + sent[3:], "text/plain"), (sent[:half], "")]
    bad = [response("http://a/1", data, kind, f"Content-Encoding: {coding}") for data, kind in damages]
    result = la.dedup(put(path, [INFO, *bad, LAST]))
    assert result.clean()["text"].to_pylist() == [OTHER] and result.summary.documents_skipped == len(bad)
    assert all(f"a.warc:{number} is damaged: what its server compressed" in caplog.text for number in (1, 2, 3, 4))
    assert rewritten(result, path) == INFO + LAST
    refused("is damaged: what its server compressed", la.dedup, path, on_error="stop")


def test_chunks_that_are_not_whole(path, caplog):
    lost = chunked(PAGE).replace(b"\r\n<", b"\r\n-", 1)[:400]
    bad = [response("http://a/0", part, coding=CHUNKED) for part in (lost, b"7\r\n<p>word\r\nnone\r\n")]
    assert kept_texts(put(path, [INFO, *bad, LAST])) == [OTHER]
    assert caplog.text.count("the chunks that its server sent are not whole") == 2


def test_text_that_begins_as_a_chunk_does_is_whole(path):
    """Crawlers put chunks together, and leave the header."""
    for begin in ("Dear reader,", "Add", "2026", "0", "a;b"):
        text = f"{begin}\n{STORY}"
        assert kept_texts(put(path, response("http://a/1", text, "text/plain", CHUNKED))) == [text]


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
def test_content_that_is_no_text_is_left_out_and_named(path, caplog, content, coding, why):
    coding = f"Content-Encoding: {coding}"
    put(path, around(response("http://a/3", content, coding=coding), response("http://a/4", content, "", coding)))
    assert kept_texts(path) == [STORY, OTHER]
    assert caplog.records[0].getMessage().startswith(f"left out: {path}:2 {why}")


def test_pages_that_are_sent_as_xml(path):
    for kind in ("application/xml", "text/xml; charset=utf-8", "application/vnd.wap.xhtml+xml"):
        sent = '<?xml version="1.0"?>' + page(STORY), "<rss><p>A feed.</p></rss>"
        assert kept_texts(put(path, [response(text[:9], text, kind) for text in sent]))[0] == STORY


def test_a_limit_that_no_machine_has(path):
    (split,) = open_sources([put(path, RECORDS)])
    assert sum(len(batch.texts) for batch in replace(split, limit=Limit()).batches(Columns())) == 6


def test_headers_of_one_page_are_its_own_affair(path, caplog):
    large = [response("http://a/1", page(STORY), coding=f"Set-Cookie: {'a' * n}") for n in (60_000, 200_000)]
    result = la.dedup(put(path, [*large, LAST]))
    assert result.decisions["reason"].to_pylist() == ["kept", "skipped", "kept"]
    assert [r.getMessage() for r in caplog.records] == [f"left out: {path}:2 has headers of HTTP that are damaged or too long"]
    refused(r"a\.warc, row 2 \(http://a/1 .*\): has headers of HTTP", la.dedup, path, on_error="stop")
    assert rewritten(result, path) == large[0] + LAST


THIRD = "A third page about the mountains, which are neither rivers nor roads, and none of which is near. " * 9
ONE = response("http://a/3", page(THIRD))
HEAD, BODY = ONE[: ONE.index(b"\r\n\r\n") + 4], ONE[ONE.index(b"\r\n\r\n") + 4 : -4]
SIZE = len(BODY)


def says(length, body=BODY, end=b"\r\n\r\n"):
    return HEAD.replace(b"Content-Length: %d" % SIZE, b"Content-Length: %s" % str(length).encode()) + body + end


@pytest.mark.parametrize("suffix", PACK)
@pytest.mark.parametrize(
    "one",
    [
        ONE.replace(b"\r\n", b"\n").replace(b": %d\n" % SIZE, b": %d\n" % len(BODY.replace(b"\r\n", b"\n"))),
        HEAD.replace(b"\r\n", b"\n") + ONE[len(HEAD) :], HEAD + BODY, HEAD + BODY + b"\r\n" * 9, HEAD + BODY + b"\n\n",
        HEAD.lower().replace(b"http://a/3", b"<http://a/3>") + ONE[len(HEAD) :], HEAD.upper().replace(b"HTTP://A/3", b"http://a/3") + ONE[len(HEAD) :],
        ONE.replace(b"application/http;", b"Application/HTTPS ;"), re.sub(rb"Content-Type: [^\r]*\r\n", b"", HEAD) + ONE[len(HEAD) :],
        *(says(SIZE + more) for more in (-4, -1, 1, 3, 4)),
    ],
)  # fmt: skip
def test_records_as_crawlers_write_them(tmp_path, suffix, one):
    """What is kept is written as it was."""
    path = put(tmp_path / f"a.warc{suffix}", around(one, suffix=suffix))
    result = la.dedup(path)
    assert result.clean()["text"].to_pylist() == [STORY, THIRD.strip(), OTHER]
    assert result.clean()["uri"].to_pylist() == ["http://a/1", "http://a/3", "http://a/9"]
    assert rewritten(result, path) == b"".join(around(one))


LENGTH = "is damaged: it has another length"
WITHOUT = [
    (LENGTH, says(SIZE + 500)), (LENGTH, says(9)), (LENGTH, says(10**15)), (LENGTH, says(SIZE, BODY[:-50], b"")),
    ("is damaged: it says no length", says("many")), ("is damaged: it says no length", says("")), ("is not a record", b"some words\n" * 9),
    ("has no WARC-Type", ONE.replace(b"WARC-Type", b"WARC-Kind")),
    ("is a part of a page", ONE.replace(b"WARC-Date", b"WARC-Segment-Number: 1\r\nWARC-Date")),
]  # fmt: skip


def test_a_record_without_a_date_is_called_by_its_address(path):
    put(path, ONE.replace(b"WARC-Date", b"WARC-Day"))
    assert la.dedup(path, id="id").kept["id"].to_pylist() == ["http://a/3"]


@pytest.mark.parametrize(("suffix", "why", "one"), one_in(3, ["", ".gz", ".zst"], WITHOUT))
def test_a_damaged_record_is_left_out_and_named_and_those_after_it_are_read(tmp_path, caplog, suffix, why, one):
    path = put(tmp_path / f"a.warc{suffix}", around(one, suffix=suffix))
    result = la.dedup(path)
    assert result.decisions["reason"].to_pylist() == ["kept", "skipped", "kept"]
    assert [r.getMessage().startswith(f"left out: {path}:2 {why}") for r in caplog.records] == [True]
    assert rewritten(result, path) == FIRST + LAST
    refused(rf"a\.warc.*, row 2 .*{why}", la.dedup, path, on_error="stop")


@pytest.mark.parametrize("suffix", [".gz", ".zst", ".bz2"])
@pytest.mark.parametrize("damage", ["cut", "begin", "inside", "end", "other"])
def test_compressed_data_that_is_damaged_costs_one_record(tmp_path, caplog, suffix, damage):
    packed = CHECKED.compress(ONE) if suffix == ".zst" else PACK[suffix](ONE)
    changed = bytearray(packed)
    changed[{"begin": 2, "inside": 150, "end": -3}.get(damage, 0)] ^= 0x55
    member = {"cut": packed[:-40], "other": b"not compressed at all"}.get(damage, bytes(changed))
    first, last = around(suffix=suffix)
    path = put(tmp_path / f"a.warc{suffix}", [first, member, last])
    result = la.dedup(path)
    assert result.decisions["reason"].to_pylist() == ["kept", "skipped", "kept"]
    assert [r.getMessage() for r in caplog.records] == [f"left out: {path}:2 is damaged: its compressed data cannot be read"]
    assert rewritten(result, path) == FIRST + LAST


@pytest.mark.parametrize("packed_itself", [False, True])
def test_a_dictionary_of_zstd(tmp_path, packed_itself):
    records = [response(f"http://a/{n}", page(f"{STORY} {n}")) for n in range(20)]
    dictionary = zstandard.train_dictionary(1024, records * 20)
    frame = dictionary.as_bytes()
    frame = zstd(frame) if packed_itself else frame
    begin = bytes.fromhex("5d2a4d18") + len(frame).to_bytes(4, "little") + frame
    rest = b"".join(map(zstandard.ZstdCompressor(dict_data=dictionary).compress, [*records, records[3]]))
    path = put(tmp_path / "a.warc.zst", begin + rest)
    result = la.dedup(path, threshold=1.0)
    assert result.keep.tolist() == [True] * 20 + [False] and result.clean()["text"].to_pylist()[7] == f"{STORY} 7"
    assert rewritten(result, path) == b"".join(records)
    for damaged in (begin + rest[:-9], begin[:100], begin[:4] + b"\xff" * 4, begin[:8] + b"\0" * len(frame) + rest):
        refused(r"a\.warc\.zst: the zstd data is damaged or cut short", la.dedup, put(path, damaged))


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
def test_headers_of_http_as_servers_send_them(path, head):
    (row,) = la.dedup(put(path, record("response", "http://a/1", head + PAGE))).clean().to_pylist()
    assert (row["text"], row["content_type"]) == (STORY, "text/html")


@pytest.mark.parametrize(
    ("body", "said", "texts"),
    [
        (STORY.encode(), None, [STORY]), (b"\x89PNG\r\n\x1a\n\0\0", None, []), (b"\0\1\2\3", None, []), (b"", None, []), (b"%PDF-1.7\n1 0 obj", None, []),
        (gzip.compress(PAGE), None, [STORY]), (b"<p>" + STORY.encode(), "text/html", [STORY]), (b"{}", "application/json", []),
        (b"<?xml version='1.0'?>\n<!-- a -->\n" + PAGE, None, [STORY]),
    ],
)  # fmt: skip
def test_what_no_header_tells_is_looked_at(path, body, said, texts):
    head = b"HTTP/1.1 200 OK\r\n" + b"Content-Encoding: gzip\r\n" * (body[:2] == b"\x1f\x8b") + b"\r\n"
    more = {} if said is None else {"WARC-Identified-Payload-Type": said}
    assert kept_texts(put(path, [record("response", "http://a/1", head + body, **more), LAST])) == [*texts, OTHER]


@pytest.mark.parametrize(
    ("coding", "make"), {"gzip": gzip.compress, "br": brotli, "zstd": zstd, "deflate": zlib.compress}.items()
)
def test_what_unpacks_to_more_than_a_document_may_have_is_named(tmp_path, coding, make):
    bomb = response("http://a/2", make(b"<p>" + b"word " * 4_000_000), coding=f"Content-Encoding: {coding}")
    large = response("http://a/3", b"<p>" + b"word " * 2_000_000)
    for suffix, one in (("", bomb), ("", large), (".gz", large), (".zst", large)):
        path = put(tmp_path / f"a.warc{suffix}", around(one, suffix=suffix))
        refused(r"row 2: the document has more than the 100,000 bytes", la.dedup, path, max_document=100_000)
        assert reasons(path, max_document=100_000, on_error="skip") == ["kept", "skipped", "kept"]


def test_older_archives_are_refused(tmp_path):
    content = b"filedesc://a.arc 0.0.0.0 20010101000000 text/plain 9\n1 0 a\n\n\n"
    for name in ("a.arc", "a.arc.gz", "a.warc", "a.warc.gz"):
        pack = gzip.compress if name.endswith("gz") else bytes
        refused(rf"{name}: .*warcio recompress", la.dedup, put(tmp_path / name, pack(content)))
