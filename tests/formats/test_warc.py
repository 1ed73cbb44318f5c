import gzip
import re
import zlib
from itertools import product

import pyarrow as pa
import pytest
import zstandard
from document_files import OTHER, STORY, record
from formats.format_samples import packed
from formats.jobs import kept_texts, one_split, put, reasons, refused, rewritten
from samples import one_in

import lookalike as la
from lookalike.formats.split import Columns


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
SUFFIXES = ("", ".gz", ".zst", ".bz2", ".xz")
INFO = record("warcinfo", "", b"software: made\r\n", "application/warc-fields")
FIRST, LAST = response("http://a/1", page(STORY)), response("http://a/9", page(OTHER))


def around(*middle, suffix=""):
    return [packed(one, suffix) for one in (FIRST, *middle, LAST)]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.warc"


@pytest.fixture
def left_out(tmp_path, caplog):
    """Check that records are left out, each named with its reason, and all others kept."""

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


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_each_record_is_a_member_of_its_own(tmp_path, suffix):
    path = put(tmp_path / f"a.warc{suffix}", around(LAST, suffix=suffix))
    la.dedup(path, threads=2).write(tmp_path / "out/")
    split = one_split(path)
    assert sum(len(batch.texts) for batch in split.batches(Columns())) == 3, "whatever the limit"
    written = (tmp_path / "out" / path.name).read_bytes()
    for one in (FIRST, LAST):
        member = zlib.decompressobj(31) if suffix == ".gz" else zstandard.ZstdDecompressor().decompressobj()
        assert member.decompress(written) == one
        written = member.unused_data
    assert not written


def test_what_was_cut_is_an_error(tmp_path):
    damaged = r"damaged WARC data in or after the record at byte \d+|the gzip data is damaged or cut short"
    for suffix, where in product(("", ".gz"), (0.3, 0.995)):
        whole = b"".join(around(*[LAST] * 3, suffix=suffix))
        refused(damaged, la.dedup, put(tmp_path / f"a.warc{suffix}", whole[: int(len(whole) * where)]))


def chunked(content):
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (content[:7], content[7:], b""))


PAGE = page(STORY).encode()
CODED = [
    ("Content-Encoding: deflate", zlib.compress(PAGE)), ("Content-Encoding: deflate", zlib.compress(PAGE, wbits=-15)),
    ("Content-Encoding: br", brotli(PAGE)), ("Content-Encoding: zstd", zstd(PAGE)), ("Vary: *", gzip.compress(PAGE)),
    ("Content-Encoding: deflate", gzip.compress(PAGE)), ("Transfer-Encoding: chunked", chunked(PAGE)),
    ("Transfer-Encoding: chunked\r\nContent-Encoding: x-gzip", chunked(gzip.compress(PAGE))),
    ("Content-Encoding: gzip\r\nContent-Encoding: gzip", gzip.compress(gzip.compress(PAGE))),
    ("Content-Encoding: br", PAGE.replace(b"river", b"Flu\xdf")),
]  # fmt: skip
"""What servers say of how pages are coded, and what they send."""


def test_pages_are_read_however_servers_pack_them(path):
    for said, sent in CODED:
        result = la.dedup(put(path, [INFO, response("http://a/1", sent, "text/html", said), LAST]))
        first, second = result.clean()["text"].to_pylist()
        assert first.replace("Fluß", "river") == STORY and second == OTHER
        assert result.summary.documents_skipped == 0
    put(path, [response("u:1", gzip.compress(PAGE), "", "Content-Encoding: gzip"), LAST])
    assert kept_texts(path) == [STORY, OTHER], "what no header tells"


@pytest.mark.parametrize(
    ("coding", "make"),
    [("gzip", gzip.compress), ("deflate", zlib.compress), ("br", brotli), ("zstd", CHECKED.compress),
     ("gzip, br", lambda data: b"\x03no" + gzip.compress(data))],
)  # fmt: skip
def test_what_servers_compressed_and_is_damaged(path, left_out, coding, make):
    """Neither equal to nothing nor to what begins alike; the record after it is read."""
    sent, half = make(PAGE), len(make(PAGE)) // 2
    spoiled = sent[:half] + bytes(range(100, 140)) + sent[half + 40 :]
    damages = [(sent[:half], "text/html"), (spoiled, ""), (b"\0\1\2" + sent[3:], "text/plain"), (sent[:half], "")]
    bad = [response("http://a/1", data, kind, f"Content-Encoding: {coding}") for data, kind in damages]
    left_out(put(path, around(*bad)), (FIRST, LAST), *["is damaged: what its server compressed"] * 4)


def test_headers_of_one_page_are_its_own_affair(path, left_out):
    large = [response("http://a/1", page(STORY), coding=f"Set-Cookie: {'a' * n}") for n in (60_000, 200_000)]
    left_out(put(path, [*large, LAST]), (large[0], LAST), "has headers of HTTP that are damaged or too long")
    lost = chunked(PAGE).replace(b"\r\n<", b"\r\n-", 1)[:400]
    bad = response("http://a/0", lost, coding="Transfer-Encoding: chunked")
    left_out(put(path, around(bad)), (FIRST, LAST), "is damaged: the chunks that its server sent are not whole")


THIRD = "A third page about the mountains, which are neither rivers nor roads, and none of which is near. " * 9
ONE = response("http://a/3", page(THIRD))
HEAD, BODY = ONE[: ONE.index(b"\r\n\r\n") + 4], ONE[ONE.index(b"\r\n\r\n") + 4 : -4]
SIZE = len(BODY)


def says(length, body=BODY, end=b"\r\n\r\n"):
    return HEAD.replace(b"Content-Length: %d" % SIZE, b"Content-Length: %s" % str(length).encode()) + body + end


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_records_as_crawlers_write_them(tmp_path, suffix):
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
    put(path, packed(ONE.replace(b"WARC-Date", b"WARC-Day"), suffix))
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
    whole = CHECKED.compress(ONE) if suffix == ".zst" else packed(ONE, suffix)
    changed = [whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :] for at in (2, 150, len(whole) - 3)]
    first, last = around(suffix=suffix)
    for member in (whole[:-40], b"not compressed at all", *changed):
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
