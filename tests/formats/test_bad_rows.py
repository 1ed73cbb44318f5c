import gzip

from formats.jobs import put

import lookalike as la

TEXTS = [" ".join(f"w{number}x{word}" for word in range(400)) for number in range(20)]


CUT = {
    "a.csv.gz": ("text\n", "{}\n"),
    "a.mbox.gz": ("", "From a@b Mon Jan  1 00:00:00 2001\nFrom: a\nSubject: b\n\n{}\n\n"),
    "a.warc.gz": (
        "",
        "WARC/1.0\r\nWARC-Type: conversion\r\nContent-Type: text/plain\r\nContent-Length: {size}\r\n\r\n{}\r\n\r\n",
    ),
}


def made(name, texts):
    head, row = CUT[name]
    return (head + "".join(row.format(text, size=len(text)) for text in texts)).encode()


def test_what_comes_before_a_cut_is_read_and_written(tmp_path):
    """Messages at the end that cannot be read stay in their mailbox."""
    for name in CUT:
        path = put(tmp_path / name, gzip.compress(made(name, TEXTS))[:-200])
        result = la.dedup(path, on_error="skip")
        assert result.keep.sum() >= 10
        result.write(tmp_path / "out", force=True)
        written = gzip.decompress((tmp_path / "out" / name).read_bytes()).decode()
        assert sum(text in written for text in TEXTS) == result.keep.sum()
    la.dedup(put(tmp_path / "a.warc", made("a.warc.gz", TEXTS)[:-100]), on_error="skip").write(tmp_path / "cut")
    assert (tmp_path / "cut/a.warc").read_bytes() == made("a.warc.gz", TEXTS[:-1])
    line = b"From a@b Mon Jan  1 00:00:00 2001\nFrom: a\nContent-Type: application/pdf\n\nMIIB\n\n"
    for n_read in (0, 1, 3):
        path = put(tmp_path / f"{n_read}.mbox", made("a.mbox.gz", TEXTS[:n_read]) + 2 * line)
        la.dedup(path, on_error="skip" if n_read else None).write(tmp_path / "whole", force=True)
        assert (tmp_path / "whole" / path.name).read_bytes() == path.read_bytes()
