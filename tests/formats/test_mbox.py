"""Mailboxes: each message is a document, and kept messages are written as they are."""

import gzip
import logging
import random

import pytest
from document_files import OTHER, STORY

import lookalike as la
from lookalike.files import streams

PAGE = f"<html><body><p>{OTHER}</p></body></html>"


def message(number, text, kind="text/plain", subject="News", end="\n"):
    lines = [
        "From writer@example.org Mon Nov  2 10:00:00 2026", f"Message-ID: <{number}@example.org>", "From: Anna",
        "Date: Mon, 2 Nov 2026 10:00:00 +0000", f"Subject: {subject}", f"Content-Type: {kind}; charset=utf-8",
        "Content-Transfer-Encoding: 8bit", "", text, "", "",
    ]  # fmt: skip
    return end.join(lines).encode()


MESSAGES = [
    message(1, STORY), message(2, OTHER), message(3, STORY + " More."), message(4, PAGE, "text/html"),
    message(5, ">From the start of a line\nFrom here on\n\n From there", subject="=?utf-8?q?Gr=C3=BC=C3=9Fe?=\n of a friend", end="\n"),
]  # fmt: skip


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_messages_are_documents(tmp_path, suffix, end):
    pack = gzip.compress if suffix else bytes
    raw = [one.replace(b"\n", end.encode()) for one in MESSAGES]
    path = tmp_path / f"a.mbox{suffix}"
    path.write_bytes(pack(b"".join(raw)))
    result = la.dedup(path, id="id")
    assert dict(zip(result.decisions["id"].to_pylist(), result.decisions["reason"].to_pylist(), strict=True)) == {
        f"<{number}@example.org>": reason for number, reason in enumerate(("kept", "kept", "near", "near", "kept"), 1)
    }
    result.write(tmp_path / "out/")
    written = (tmp_path / f"out/a.mbox{suffix}").read_bytes()
    assert (gzip.decompress(written) if suffix else written) == raw[0] + raw[1] + raw[4]
    rows = la.dedup(path).clean().to_pylist()
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
@pytest.mark.parametrize("between", ["", "\n", "\n\n\n"])
def test_kept_messages_are_whole_whatever_is_in_them_and_whatever_the_blocks_are(tmp_path, monkeypatch, end, between):
    """Only a line with a date, or after an empty one if the first has none, and before a header, begins a message."""
    rng, path = random.Random(5), tmp_path / "a.mbox"
    for size in (13, 500, 1 << 22):
        monkeypatch.setattr(streams, "BLOCK", size)
        for dated in (True, False):
            line = "From anna@example.org Mon Nov  2 10:00:00 2026" if dated else "From anna@example.org"
            body = [word for word in BODY if dated or ":" not in word]
            between = between if dated else "\n\n"
            texts = ["\n".join(rng.choices(body, k=rng.choice([5, 500]))) + "\nend\n" + between for _ in range(5)]
            raw = [f"{line}\nSubject: number {n}\n\n{text}".replace("\n", end).encode() for n, text in enumerate(texts)]
            path.write_bytes(b"".join([*raw, raw[0]]))
            result = la.dedup(path, threshold=1.0)
            assert result.keep.tolist() == [True] * 5 + [False]
            result.write(tmp_path / "out/", force=True)
            assert (tmp_path / "out/a.mbox").read_bytes() == b"".join(raw)


@pytest.mark.parametrize(("more", "expected"), [(0, 3), (-1, 3), (1, 3), (7, 5), (-40, 5), (20_000, 5), (10**9, 5)])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_length_that_is_right_tells_where_a_message_ends(tmp_path, monkeypatch, end, more, expected):
    """Whatever begins like a message before; a wrong one is not believed."""
    quoted = message(2, STORY).decode()
    body = f"I got this:\n\n{quoted}What do you say?\n".replace("\n", end)
    line = "From anna@example.org Mon Nov  2 10:00:00 2026"
    first = f"{line}{end}Content-Length: {len(body) + more}{end}Subject: s{end}{end}{body}{end}".encode()
    whole = first + message(3, OTHER) + first
    for size in (13, 1 << 22):
        monkeypatch.setattr(streams, "BLOCK", size)
        (tmp_path / "a.mbox").write_bytes(whole)
        result = la.dedup(tmp_path / "a.mbox", threshold=1.0, max_document=30_000)
        assert result.decisions.num_rows == expected
        result.write(tmp_path / "out/", force=True)
        assert (tmp_path / "out/a.mbox").read_bytes() == first + message(3, OTHER)


@pytest.mark.parametrize(
    "first", [b"From nobody\n\nFrom the start no header\n\n", b"\n\r\n", b"\xef\xbb\xbf", b"From a\n no header\n"]
)
def test_what_a_mailbox_begins_with_is_never_dropped(tmp_path, caplog, first):
    whole = first + b"".join(MESSAGES[:2])
    (tmp_path / "a.mbox").write_bytes(whole)
    result = la.dedup(tmp_path / "a.mbox")
    assert result.summary.kept == 2 and [r.getMessage() for r in caplog.records] == (
        [f"left out: {tmp_path}/a.mbox:1 has no e-mail header"] if b"From" in first else []
    )
    result.write(tmp_path / "out/")
    assert (tmp_path / "out/a.mbox").read_bytes() == whole


def test_what_is_too_large_is_left_out_or_an_error(tmp_path, caplog, monkeypatch):
    path = tmp_path / "a.mbox"
    path.write_bytes(message(1, STORY) + message(2, "large " * 50_000) + message(3, OTHER))
    for size in (1000, 1 << 22):
        monkeypatch.setattr(streams, "BLOCK", size)
        with caplog.at_level(logging.WARNING, "lookalike"):
            result = la.dedup(path, max_document=100_000, on_error="skip")
        assert result.decisions["reason"].to_pylist() == ["kept", "skipped", "kept"]
        result.write(tmp_path / "out/", force=True)
        assert (tmp_path / "out/a.mbox").read_bytes() == message(1, STORY) + message(3, OTHER)
        with pytest.raises(la.errors.InputDataError, match=r"row 2: the document has more than"):
            la.dedup(path, max_document=100_000)


@pytest.mark.parametrize("content", [b"no mailbox", b"\n>From a\n\nb", b"{}\n" * 100, b"\0" * 5000])
def test_what_is_no_mailbox(tmp_path, content):
    (tmp_path / "a.mbox").write_bytes(content)
    with pytest.raises(la.errors.InputDataError, match=r"a.mbox: not a mailbox: it must begin with 'From '"):
        la.dedup(tmp_path / "a.mbox")


def test_hostile_headers(tmp_path):
    head = (
        b"From a\nSubject: =?of-nobody?b?////?=\nFrom: \xff\xfe =?utf-8?q?=FF?=\nDate:\nMessage-ID: "
        + b"x" * 100_000
        + b"\n\ntext of it\n"
    )
    (tmp_path / "a.mbox").write_bytes(head + b"\nFrom b\n\nno header\n")
    result = la.dedup(tmp_path / "a.mbox")
    assert result.decisions["reason"].to_pylist() == ["kept"]
    (row,) = result.clean().to_pylist()
    for subject in ("=?utf-8?b?a?=", "=?utf-é?q?x?=", "=?utf-7?q?+2AA-?="):
        (tmp_path / "b.mbox").write_bytes(f"From a\nSubject: {subject}\n\nsome text\n".encode())
        (one,) = la.dedup(tmp_path / "b.mbox").clean().to_pylist()
        one["subject"].encode()
    assert row["subject"] == "=?of-nobody?b?////?=" and row["date"] == "" and "text of it" in row["text"]


def test_columns(tmp_path):
    (tmp_path / "a.mbox").write_bytes(MESSAGES[0] + MESSAGES[2])
    assert la.dedup(tmp_path / "a.mbox", within="from").kept.num_rows == 1
    with pytest.raises(la.errors.InputDataError, match=r"'to' is missing; .* date, from, subject"):
        la.dedup(tmp_path / "a.mbox", within="to")
    with pytest.raises(la.errors.OutputError, match="cannot be written"):
        la.dedup(tmp_path / "a.mbox").write(tmp_path / "out.mbox")
    with pytest.raises(la.errors.InputDataError, match="cannot be annotated"):
        la.dedup(tmp_path / "a.mbox").write(tmp_path / "notes/", annotate=True)


@pytest.mark.parametrize("times", [1, 3])
def test_more_lines_of_arrival_are_no_headers(tmp_path, times):
    more = b"\n" + b">From relay Mon Nov  2 10:00:01 2026\n" * times
    whole = b"".join(one.replace(b"\n", more, 1) for one in MESSAGES[:3])
    (tmp_path / "a.mbox").write_bytes(whole)
    result = la.dedup(tmp_path / "a.mbox", threshold=1.0)
    assert result.clean()["from"].to_pylist() == ["Anna"] * 3
    result.write(tmp_path / "out/")
    assert (tmp_path / "out/a.mbox").read_bytes() == whole


def test_a_text_of_several_columns_is_compared_and_the_column_is_written(tmp_path):
    (tmp_path / "a.mbox").write_bytes(message(1, "one two three four five") + message(2, "six seven eight nine ten"))
    written = []
    for text in ("text", ["from", "text"]):
        la.dedup(tmp_path / "a.mbox", text=text).write(tmp_path / "kept.jsonl", force=True)
        written.append((tmp_path / "kept.jsonl").read_text())
    assert written[0] == written[1] != ""
