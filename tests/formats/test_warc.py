"""WARC and WET files: documents are pages and texts of records, and kept records are written as they are."""

import bz2
import gzip
import lzma
import re
import zlib
from dataclasses import replace
from itertools import product

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
    result.write(path.parent / "out", force=True)
    return b"".join(read_blocks(path.parent / "out" / path.name))


@pytest.fixture
def left_out(tmp_path, caplog):
    """Return a function that checks that records of a file are left out, each named with one of some reasons, and all others kept."""

    def left_out(path, kept, *why, **how):
        caplog.clear()
        result = la.dedup(path, **how)
        assert result.decisions["reason"].to_pylist() == ["kept", *["skipped"] * len(why), "kept"]
        said = [one.getMessage().removeprefix(f"left out: {path}:") for one in caplog.records]
        assert [one.startswith(f"{place} {some}") for place, (one, some) in enumerate(zip(said, why, strict=True), 2)] == [
            True
        ] * len(why)
        assert rewritten(result, path) == b"".join(kept)
        refused(rf"a\.warc.*, row 2 .*{re.escape(why[0])}", la.dedup, path, on_error="stop", **how)

    return left_out


@pytest.mark.parametrize(("suffix", "threads"), [(".gz", 1), (".zst", 2)])
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


def test_what_is_no_archive_or_was_cut_is_an_error(tmp_path):
    damaged = r"damaged WARC data in or after the record at byte \d+|the gzip data is damaged or cut short"
    for suffix, where in product(("", ".gz"), (0.3, 0.995)):
        whole = b"".join(map(PACK[suffix], RECORDS[:-1]))
        refused(damaged, la.dedup, put(tmp_path / f"a.warc{suffix}", whole[: int(len(whole) * where)]))
    begin = b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: "
    for content in (
        b"no WARC at all",
        b"WARC/1.0\r\n" * 1000,
        begin + b"-5\r\n\r\n" + b"x" * 99,
        begin + b"99999999999\r\n\r\nx",
    ):
        refused(r"a\.warc", la.dedup, put(tmp_path / "a.warc", content))
    assert len(la.dedup(put(tmp_path / "a.warc", b""))) == 0
    older = b"filedesc://a.arc 0.0.0.0 20010101000000 text/plain 9\n1 0 a\n\n\n"
    for name in ("a.arc", "a.arc.gz", "a.warc", "a.warc.gz"):
        pack = PACK[name[-3:] * name.endswith("gz")]
        refused(rf"{name}: .*warcio recompress", la.dedup, put(tmp_path / name, pack(older)))


def test_columns(tmp_path):
    path = put(tmp_path / "a.wet", RECORDS[-1])
    refused(r"'url' is missing; .* uri, date", la.dedup, path, within="url")
    result = la.dedup(path, within="date")
    assert result.kept.num_rows == 1
    refused("cannot be written", result.write, tmp_path / "out.warc", error=la.errors.OutputError)


def chunked(content):
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (content[:7], content[7:], b""))


PAGE = page(STORY).encode()
OK, HTML = b"HTTP/1.1 200 OK\r\n", b"Content-Type: text/html\r\n"
GZIP, CHUNKED = b"Content-Encoding: gzip\r\n", b"Transfer-Encoding: chunked\r\n"
CODED = [
    (GZIP, PAGE),  # unpacked by the crawler
    (CHUNKED, PAGE), (CHUNKED, chunked(PAGE)), (CHUNKED, b"fade\r\n" + PAGE),
    (CHUNKED + b"Content-Encoding: x-gzip\r\n", chunked(gzip.compress(PAGE))),
    (CHUNKED, b"\r\n" + chunked(PAGE).replace(b"\r\n0", b"\r\n 0 ; end")),
    (b"Content-Encoding: deflate\r\n", zlib.compress(PAGE)), (b"Content-Encoding: deflate\r\n", zlib.compress(PAGE, wbits=-15)),
    (b"Content-Encoding: br\r\n", brotli(PAGE)), (b"Content-Encoding: zstd\r\n", zstd(PAGE)),
    (b"Content-Encoding: none\r\n", PAGE), (b"Content-Encoding: UTF-8\r\n", PAGE), (b"Vary: *\r\n", gzip.compress(PAGE)),
    (b"Content-Encoding: deflate\r\n", gzip.compress(PAGE)), (GZIP + GZIP, gzip.compress(gzip.compress(PAGE))),
    (b"Content-Encoding: br\r\n", PAGE.decode().replace("river", "Fluß").encode("latin-1")),
]  # fmt: skip
"""What servers say of how pages are coded, and what they send."""
HEADS = [
    b"HTTP/1.1 200 OK\nContent-Type: text/html\n\n", b"HTTP/1.1 200\r\nContent-Type: TEXT/HTML;a=b\n\n", b"HTTP/2 200\r\ncontent-type : text/html\r\n\r\n",
    OK + HTML, HTML + b"\r\n", b"", b"\r\n", b"ICY 200 OK\r\nContent-Type: text/html, text/html\r\n\r\n", OK + b"no header\r\n" + HTML + b"\r\n",
    b"HTTP/1.1 100 Continue\r\n\r\n" + OK + HTML + b"\r\n", OK + b"Content-Type:\r\n text/html charset=utf-8\r\n\r\n", OK + b"\r\n",
    OK + b"Content-Type: unknown/unknown\r\n\r\n", OK + b"Content-Type: html\r\n\r\n",
]  # fmt: skip
UNTOLD = [
    (STORY.encode(), None, [STORY]), (b"\x89PNG\r\n\x1a\n\0\0", None, []), (b"\0\1\2\3", None, []), (b"", None, []), (b"%PDF-1.7\n1 0 obj", None, []),
    (gzip.compress(PAGE), None, [STORY]), (b"<p>" + STORY.encode(), "text/html", [STORY]), (b"{}", "application/json", []),
    (b"<?xml version='1.0'?>\n<!-- a -->\n" + PAGE, None, [STORY]),
]  # fmt: skip


def test_pages_are_read_however_servers_send_them(path):
    """And the one after it; what no header tells is looked at."""
    for head, body in [*((OK + HTML + said + b"\r\n", sent) for said, sent in CODED), *((head, PAGE) for head in HEADS)]:
        result = la.dedup(put(path, [INFO, record("response", "http://a/1", head + body), LAST]))
        one, two = result.clean().to_pylist()
        assert (
            one["text"].replace("Fluß", "river").endswith(STORY) and one["content_type"] == "text/html" and two["text"] == OTHER
        )
        assert result.summary.documents_skipped == 0
    for body, said, texts in UNTOLD:
        head, more = OK + GZIP * (body[:2] == b"\x1f\x8b") + b"\r\n", {"WARC-Identified-Payload-Type": said} if said else {}
        assert kept_texts(put(path, [record("response", "http://a/1", head + body, **more), LAST])) == [*texts, OTHER]
    for kind in ("application/xml", "text/xml; charset=utf-8", "application/vnd.wap.xhtml+xml"):
        sent = '<?xml version="1.0"?>' + page(STORY), "<rss><p>A feed.</p></rss>"
        assert kept_texts(put(path, [response(text[:9], text, kind) for text in sent]))[0] == STORY
    for begin in (
        "Dear reader,",
        "Add",
        "2026",
        "0",
        "a;b",
    ):  # as a chunk does: crawlers put chunks together, and leave the header
        text = f"{begin}\n{STORY}"
        assert kept_texts(put(path, response("http://a/1", text, "text/plain", CHUNKED.decode().strip()))) == [text]


@pytest.mark.parametrize(
    ("coding", "make"),
    [("gzip", gzip.compress), ("deflate", zlib.compress), ("br", brotli), ("zstd", CHECKED.compress),
     ("gzip, br", lambda data: b"\x03no" + gzip.compress(data))],
)  # fmt: skip
def test_what_servers_compressed_and_is_damaged(path, left_out, coding, make):
    """It is named, and neither equal to nothing nor to what begins alike; the record after it is read."""
    sent, half = make(PAGE), len(make(PAGE)) // 2
    spoiled = sent[:half] + bytes(range(100, 140)) + sent[half + 40 :]
    damages = [(sent[:half], "text/html"), (spoiled, ""), (b"\0\1\2" + sent[3:], "text/plain"), (sent[:half], "")]
    bad = [response("http://a/1", data, kind, f"Content-Encoding: {coding}") for data, kind in damages]
    left_out(put(path, around(*bad)), (FIRST, LAST), *["is damaged: what its server compressed"] * 4)


def test_content_that_is_no_text_is_left_out_and_named(path, left_out):
    lost = chunked(PAGE).replace(b"\r\n<", b"\r\n-", 1)[:400]
    for coding, content, why in (
        ("gzip", b"\x1f\x8b\x08\0" * 9, "is damaged: what its server compressed (gzip)"),
        ("zstd", b"\x28\xb5\x2f\xfd\0\1" * 9, "is damaged: what its server compressed (zstd)"),
        ("compress", b"\x1f\x9d\x90" + bytes(99), "is compressed data of a kind that is not read, by its first bytes"),
        ("own", bytes(range(256)), "is not text"), ("none", b"\x89PNG\r\n\x1a\n\0", "is a PNG image, by its first bytes"),
        ("identity", b"%PDF-1.7\n\0", "is a PDF document, by its first bytes"),
    ):  # fmt: skip
        left_out(put(path, around(response("http://a/3", content, coding=f"Content-Encoding: {coding}"))), (FIRST, LAST), why)
        other = response("http://a/4", content, "", f"Content-Encoding: {coding}")
        assert kept_texts(put(path, around(other))) == [STORY, OTHER]
    bad = [response("http://a/0", part, coding=CHUNKED.decode().strip()) for part in (lost, b"7\r\n<p>word\r\nnone\r\n")]
    left_out(put(path, around(*bad)), (FIRST, LAST), *["is damaged: the chunks that its server sent are not whole"] * 2)
    large = [response("http://a/1", page(STORY), coding=f"Set-Cookie: {'a' * n}") for n in (60_000, 200_000)]
    left_out(put(path, [*large, LAST]), (large[0], LAST), "has headers of HTTP that are damaged or too long")


def test_a_limit_that_no_machine_has(path):
    (split,) = open_sources([put(path, RECORDS)])
    assert sum(len(batch.texts) for batch in replace(split, limit=Limit()).batches(Columns())) == 6


THIRD = "A third page about the mountains, which are neither rivers nor roads, and none of which is near. " * 9
ONE = response("http://a/3", page(THIRD))
HEAD, BODY = ONE[: ONE.index(b"\r\n\r\n") + 4], ONE[ONE.index(b"\r\n\r\n") + 4 : -4]
SIZE = len(BODY)


def says(length, body=BODY, end=b"\r\n\r\n"):
    return HEAD.replace(b"Content-Length: %d" % SIZE, b"Content-Length: %s" % str(length).encode()) + body + end


@pytest.mark.parametrize("suffix", PACK)
def test_records_as_crawlers_write_them(tmp_path, suffix):
    """What is kept is written as it was."""
    for one in (
        ONE.replace(b"\r\n", b"\n").replace(b": %d\n" % SIZE, b": %d\n" % len(BODY.replace(b"\r\n", b"\n"))),
        HEAD.replace(b"\r\n", b"\n") + ONE[len(HEAD) :], HEAD + BODY, HEAD + BODY + b"\r\n" * 9, HEAD + BODY + b"\n\n",
        HEAD.lower().replace(b"http://a/3", b"<http://a/3>") + ONE[len(HEAD) :], HEAD.upper().replace(b"HTTP://A/3", b"http://a/3") + ONE[len(HEAD) :],
        ONE.replace(b"application/http;", b"Application/HTTPS ;"), re.sub(rb"Content-Type: [^\r]*\r\n", b"", HEAD) + ONE[len(HEAD) :],
        *(says(SIZE + more) for more in (-4, -1, 1, 3, 4)),
    ):  # fmt: skip
        path = put(tmp_path / f"a.warc{suffix}", around(one, suffix=suffix))
        result = la.dedup(path)
        found = result.clean()
        assert found["text"].to_pylist() == [STORY, THIRD.strip(), OTHER]
        assert found["uri"].to_pylist() == ["http://a/1", "http://a/3", "http://a/9"]
        assert rewritten(result, path) == b"".join(around(one))
    put(path, PACK[suffix](ONE.replace(b"WARC-Date", b"WARC-Day")))
    assert la.dedup(path, id="id").kept["id"].to_pylist() == ["http://a/3"], "without a date, by its address"


LENGTH = "is damaged: it has another length"
WITHOUT = [
    (LENGTH, says(SIZE + 500)), (LENGTH, says(9)), (LENGTH, says(10**15)), (LENGTH, says(SIZE, BODY[:-50], b"")),
    ("is damaged: it says no length", says("many")), ("is damaged: it says no length", says("")), ("is not a record", b"some words\n" * 9),
    ("has no WARC-Type", ONE.replace(b"WARC-Type", b"WARC-Kind")),
    ("is a part of a page", ONE.replace(b"WARC-Date", b"WARC-Segment-Number: 1\r\nWARC-Date")),
]  # fmt: skip


@pytest.mark.parametrize(("suffix", "why", "one"), one_in(3, ["", ".gz", ".zst"], WITHOUT))
def test_a_damaged_record_is_left_out_and_named_and_those_after_it_are_read(tmp_path, left_out, suffix, why, one):
    left_out(put(tmp_path / f"a.warc{suffix}", around(one, suffix=suffix)), (FIRST, LAST), why)


@pytest.mark.parametrize("suffix", [".gz", ".zst", ".bz2"])
def test_compressed_data_that_is_damaged_costs_one_record(tmp_path, left_out, suffix):
    packed = CHECKED.compress(ONE) if suffix == ".zst" else PACK[suffix](ONE)
    changed = [packed[:at] + bytes([packed[at] ^ 0x55]) + packed[at + 1 :] for at in (0, 2, 150, len(packed) - 3)]
    first, last = around(suffix=suffix)
    for member in (packed[:-40], b"not compressed at all", *changed[1:]):
        path = put(tmp_path / f"a.warc{suffix}", [first, member, last])
        left_out(path, (FIRST, LAST), "is damaged: its compressed data cannot be read")


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
    ("coding", "make"), {"gzip": gzip.compress, "br": brotli, "zstd": zstd, "deflate": zlib.compress}.items()
)
def test_what_unpacks_to_more_than_a_document_may_have_is_named(tmp_path, coding, make):
    bomb = response("http://a/2", make(b"<p>" + b"word " * 4_000_000), coding=f"Content-Encoding: {coding}")
    large = response("http://a/3", b"<p>" + b"word " * 2_000_000)
    for suffix, one in (("", bomb), ("", large), (".gz", large), (".zst", large)):
        path = put(tmp_path / f"a.warc{suffix}", around(one, suffix=suffix))
        refused(r"row 2: the document has more than the 100,000 bytes", la.dedup, path, max_document=100_000)
        assert reasons(path, max_document=100_000, on_error="skip") == ["kept", "skipped", "kept"]
