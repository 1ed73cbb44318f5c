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


def hostile_rows(ends=("", " x")):
    texts = [text + end for text in HOSTILE for end in ends]
    return [{"id": f"</script><script>window.hit = 4</script>\u202e\n<b>{i}", "text": text} for i, text in enumerate(texts)]


def assert_harmless(tab, where, elements):
    """No elements of documents, and symbols for what would turn the direction of text."""
    assert "⟨U+202E⟩" in tab.locator(where).inner_text()
    assert tab.evaluate(f"document.querySelectorAll('{elements}').length") == 0
    assert tab.evaluate("/[\\u202a-\\u202e\\u2066-\\u2069\\u2028\\u2029]/.test(document.body.innerText)") is False


def changed(rng, text, n):
    words = text.split()
    for place in rng.sample(range(len(words)), n):
        words[place] = f"new{rng.randrange(10**6)}"
    return " ".join(words)


def saved(folder, inputs, **settings):
    files = [write_lines(folder / f"{name}.jsonl", rows) for name, rows in inputs.items()]
    la.dedup(files, **{"id": "id", "threshold": 0.5} | settings).save(folder / "job")
    return folder / "job"


def plain(folder, n=60, **settings):
    """n originals in a.jsonl, one near-duplicate of each in b.jsonl, and copies."""
    rng = random.Random(4)
    originals = [" ".join(f"word{i}" for i in rng.choices(range(400), k=100)) for _ in range(n)]
    near = [changed(rng, text, 1 + i % 5) for i, text in enumerate(originals)]
    texts = {"a": originals, "b": [*near, *originals[:7]]}
    rows = {name: [{"id": f"{name}{i}", "text": text} for i, text in enumerate(some)] for name, some in texts.items()}
    return saved(folder, rows, **settings)


def hostile(folder):
    return saved(folder, {"<img src=x>": hostile_rows()})


@contextmanager
def served(folder, *options):
    with Server(folder, ("--quiet", *options)).running() as server:
        yield server.url + "/"
    assert '"failure"' not in server.log.read_text()
