"""Mailboxes: each message is a document, and kept messages are written as they are."""

import gzip
import random

import pytest
from document_files import OTHER, STORY
from formats.jobs import put, refused

import lookalike as la
from lookalike.files import streams

PAGE = f"<html><body><p>{OTHER}</p></body></html>"


def message(number, text, kind="text/plain", subject="News"):
    return (
        f"From writer@example.org Mon Nov  2 10:00:00 2026\nMessage-ID: <{number}@example.org>\nFrom: Anna\n"
        f"Date: Mon, 2 Nov 2026 10:00:00 +0000\nSubject: {subject}\nContent-Type: {kind}; charset=utf-8\n"
        f"Content-Transfer-Encoding: 8bit\n\n{text}\n\n"
    ).encode()


MESSAGES = [
    message(1, STORY), message(2, OTHER), message(3, STORY + " More."), message(4, PAGE, "text/html"),
    message(5, ">From the start of a line\nFrom here on\n\n From there", subject="=?utf-8?q?Gr=C3=BC=C3=9Fe?=\n of a friend"),
]  # fmt: skip


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.mbox"


def rewritten(result, path):
    """What is written of a mailbox."""
    result.write(path.parent / "out", force=True)
    return (path.parent / "out" / path.name).read_bytes()


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_messages_are_documents(tmp_path, suffix, end):
    pack, unpack = (gzip.compress, gzip.decompress) if suffix else (bytes, bytes)
    raw = [one.replace(b"\n", end) for one in MESSAGES]
    path = put(tmp_path / f"a.mbox{suffix}", pack(b"".join(raw)))
    result = la.dedup(path, id="id")
    assert result.decisions["id"].to_pylist() == [f"<{number}@example.org>" for number in range(1, 6)]
    assert result.decisions["reason"].to_pylist() == ["kept", "kept", "near", "near", "kept"]
    assert unpack(rewritten(result, path)) == raw[0] + raw[1] + raw[4]
    rows = result.clean().to_pylist()
    assert rows[0]["text"].startswith("News\n\nThe river number 0 rises") and rows[0]["from"] == "Anna"
    assert rows[2]["subject"] == "Grüße of a friend" and rows[2]["date"] == "Mon, 2 Nov 2026 10:00:00 +0000"


BODY = [
    "From now on it is so.",
    "From here: we go on.",
    "",
    "",
    "Note: this",
    "word",
    ">From a: b",
    " From c",
    "From x at 10:30 in 1998",
]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("line", "between"),
    [
        *(("From anna@example.org Mon Nov  2 10:00:00 2026", feeds) for feeds in ("", "\n", "\n\n\n")),
        ("From anna@example.org", "\n\n"),
    ],
)
def test_kept_messages_are_whole_whatever_is_in_them_and_whatever_the_blocks_are(path, monkeypatch, end, line, between):
    """Only a line with a date, or after an empty one if the first has none, and before a header, begins a message."""
    rng, body = random.Random(5), [word for word in BODY if "2026" in line or ":" not in word]
    for size in (13, 500, 1 << 22):
        monkeypatch.setattr(streams, "BLOCK", size)
        texts = ["\n".join(rng.choices(body, k=rng.choice([5, 500]))) + "\nend\n" + between for _ in range(5)]
        raw = [f"{line}\nSubject: number {n}\n\n{text}".replace("\n", end).encode() for n, text in enumerate(texts)]
        result = la.dedup(put(path, [*raw, raw[0]]), threshold=1.0)
        assert result.keep.tolist() == [True] * 5 + [False]
        assert rewritten(result, path) == b"".join(raw)


@pytest.mark.parametrize(("more", "expected"), [(0, 3), (-1, 3), (1, 3), (7, 5), (-40, 5), (20_000, 5), (10**9, 5)])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_length_that_is_right_tells_where_a_message_ends(path, monkeypatch, end, more, expected):
    """Whatever begins like a message before; a wrong one is not believed."""
    body = f"I got this:\n\n{message(2, STORY).decode()}What do you say?\n".replace("\n", end)
    line = "From anna@example.org Mon Nov  2 10:00:00 2026"
    first = f"{line}{end}Content-Length: {len(body) + more}{end}Subject: s{end}{end}{body}{end}".encode()
    for size in (13, 1 << 22):
        monkeypatch.setattr(streams, "BLOCK", size)
        result = la.dedup(put(path, first + message(3, OTHER) + first), threshold=1.0, max_document=30_000)
        assert len(result) == expected and rewritten(result, path) == first + message(3, OTHER)


@pytest.mark.parametrize(
    "first", [b"From nobody\n\nFrom the start no header\n\n", b"\n\r\n", b"\xef\xbb\xbf", b"From a\n no header\n"]
)
def test_what_a_mailbox_begins_with_is_never_dropped(path, caplog, first):
    whole = first + b"".join(MESSAGES[:2])
    result = la.dedup(put(path, whole))
    assert result.summary.kept == 2 and rewritten(result, path) == whole
    assert [r.getMessage() for r in caplog.records] == [f"left out: {path}:1 has no e-mail header"] * (b"From" in first)


@pytest.mark.parametrize("size", [1000, 1 << 22])
def test_what_is_too_large_is_left_out_or_an_error(path, monkeypatch, size):
    put(path, message(1, STORY) + message(2, "large " * 50_000) + message(3, OTHER))
    monkeypatch.setattr(streams, "BLOCK", size)
    result = la.dedup(path, max_document=100_000, on_error="skip")
    assert result.decisions["reason"].to_pylist() == ["kept", "skipped", "kept"]
    assert rewritten(result, path) == message(1, STORY) + message(3, OTHER)
    refused("row 2: the document has more than", la.dedup, path, max_document=100_000)


def test_what_is_no_mailbox(path):
    for content in (b"no mailbox", b"\n>From a\n\nb", b"{}\n" * 100, b"\0" * 5000):
        refused("a.mbox: not a mailbox: it must begin with 'From '", la.dedup, put(path, content))


def test_hostile_headers(path):
    long = b"x" * 100_000
    head = (
        b"From a\nSubject: =?of-nobody?b?////?=\nFrom: \xff\xfe =?utf-8?q?=FF?=\nDate:\nMessage-ID: %s\n\ntext of it\n" % long
    )
    (row,) = la.dedup(put(path, head + b"\nFrom b\n\nno header\n")).clean().to_pylist()
    assert row["subject"] == "=?of-nobody?b?////?=" and row["date"] == "" and "text of it" in row["text"]
    for subject in ("=?utf-8?b?a?=", "=?utf-é?q?x?=", "=?utf-7?q?+2AA-?="):
        (row,) = la.dedup(put(path, f"From a\nSubject: {subject}\n\nsome text\n")).clean().to_pylist()
        row["subject"].encode()


def test_columns(path):
    result = la.dedup(put(path, MESSAGES[0] + MESSAGES[2]), within="from")
    assert result.kept.num_rows == 1
    refused(r"'to' is missing; .* date, from, subject", la.dedup, path, within="to")
    refused("cannot be written", result.write, path.parent / "out.mbox", error=la.errors.OutputError)
    refused("cannot be annotated", result.write, path.parent / "notes/", annotate=True)


@pytest.mark.parametrize("times", [1, 3])
def test_more_lines_of_arrival_are_no_headers(path, times):
    more = b"\n" + b">From relay Mon Nov  2 10:00:01 2026\n" * times
    whole = b"".join(one.replace(b"\n", more, 1) for one in MESSAGES[:3])
    result = la.dedup(put(path, whole), threshold=1.0)
    assert result.clean()["from"].to_pylist() == ["Anna"] * 3 and rewritten(result, path) == whole
