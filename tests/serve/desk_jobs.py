"""Saved results for the pages of the service: a plain one, and one of documents that would do something."""

import random
from contextlib import contextmanager

from json_lines import write_lines
from serve.served import Server

import lookalike as la

HOSTILE = [
    "<script>window.hit = 1</script><img src=x onerror='window.hit = 2'> words of all kinds </script>" * 4,
    "\u2028\u2029 \u202e abc \x00\x1b[2J \u2066 some more words here " * 10,
    "W" * 10_000_000 + " tail a b c d e f g h",
    "שלום עולם נהדר ויפה מאוד " * 20,
    "{{7*7}} {% raw %} &lt;b&gt; javascript:window.hit=3 http://example.org/x " * 10,
]


def write(path, rows):
    write_lines(path, rows)


def changed(rng, text, n):
    words = text.split()
    for place in rng.sample(range(len(words)), n):
        words[place] = f"new{rng.randrange(10**6)}"
    return " ".join(words)


def plain(folder, n=60, **settings):
    """Save the result of n originals in a.jsonl, one near-duplicate of each in b.jsonl, and copies; return its folder."""
    rng = random.Random(4)
    words = [f"word{i}" for i in range(400)]
    originals = [" ".join(rng.choices(words, k=100)) for _ in range(n)]
    near = [changed(rng, text, 1 + i % 5) for i, text in enumerate(originals)]
    write(folder / "a.jsonl", [{"id": f"a{i}", "text": text} for i, text in enumerate(originals)])
    write(folder / "b.jsonl", [{"id": f"b{i}", "text": text} for i, text in enumerate([*near, *originals[:7]])])
    given = {"id": "id", "threshold": 0.5} | settings
    la.dedup([folder / "a.jsonl", folder / "b.jsonl"], **given).save(folder / "job")
    return folder / "job"


def hostile(folder):
    """Save the result of hostile documents under hostile ids; return its folder."""
    texts = [text + end for text in HOSTILE for end in ("", " x")]
    ids = [f"</script><script>window.hit = 4</script>\u202e\n<b>{i}" for i in range(len(texts))]
    write(folder / "<img src=x>.jsonl", [{"id": i, "text": text} for i, text in zip(ids, texts, strict=True)])
    la.dedup(folder / "<img src=x>.jsonl", id="id", threshold=0.5).save(folder / "job")
    return folder / "job"


@contextmanager
def served(folder, *options):
    """Serve a folder by the command; yields the address, and ends the server as a user would."""
    server = Server(folder, ("--quiet", *options)).start()
    try:
        yield server.url + "/"
    finally:
        assert server.stop()[0] == 0
    assert '"failure"' not in server.log.read_text()
