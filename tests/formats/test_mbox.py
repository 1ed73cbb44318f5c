import random
from itertools import product

import pytest
from document_files import OTHER, STORY
from formats.jobs import put, refused, rewritten

import lookalike as la
from lookalike.files import streams


def message(number, text):
    head = f"From writer@example.org Mon Nov  2 10:00:00 2026\nMessage-ID: <{number}@example.org>\nFrom: Anna\nSubject: News"
    return f"{head}\nContent-Type: text/plain; charset=utf-8\n\n{text}\n\n".encode()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.mbox"


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
DATED = "From anna@example.org Mon Nov  2 10:00:00 2026"


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("line", "between"), [(DATED, ""), (DATED, "\n"), (DATED, "\n\n\n"), ("From anna@example.org", "\n\n")]
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


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_length_that_is_right_tells_where_a_message_ends(path, monkeypatch, end):
    body = f"I got this:\n\n{message(2, STORY).decode()}What do you say?\n".replace("\n", end)
    lengths = (0, 3), (-1, 3), (1, 3), (7, 5), (-40, 5), (20_000, 5), (10**9, 5)
    for (more, expected), size in product(lengths, (13, 1 << 22)):
        first = f"{DATED}{end}Content-Length: {len(body) + more}{end}Subject: s{end}{end}{body}{end}".encode()
        monkeypatch.setattr(streams, "BLOCK", size)
        result = la.dedup(put(path, first + message(3, OTHER) + first), threshold=1.0, max_document=30_000)
        assert len(result) == expected and rewritten(result, path) == first + message(3, OTHER)


@pytest.mark.parametrize("size", [1000, 1 << 22])
def test_what_is_too_large_is_left_out_or_an_error(path, monkeypatch, size):
    put(path, message(1, STORY) + message(2, "large " * 50_000) + message(3, OTHER))
    monkeypatch.setattr(streams, "BLOCK", size)
    result = la.dedup(path, max_document=100_000, on_error="skip")
    assert result.decisions["reason"].to_pylist() == ["kept", "skipped", "kept"]
    assert rewritten(result, path) == message(1, STORY) + message(3, OTHER)
    refused("row 2: the document has more than", la.dedup, path, max_document=100_000)
