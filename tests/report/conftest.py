"""A corpus of three files and references, of which all that a page says is known."""

import json
import random

import pytest
from serve.desk_jobs import changed

import lookalike as la

WORDS = [f"word{i}" for i in range(400)]


@pytest.fixture(scope="session")
def corpus(tmp_path_factory):
    """Folder with ref.jsonl, a.jsonl (originals), b.jsonl (each near one of a: it vanishes), c.jsonl (copies and others)."""
    folder, rng = tmp_path_factory.mktemp("corpus"), random.Random(4)
    originals = [" ".join(rng.choices(WORDS, k=100)) for _ in range(20)]
    near = [changed(rng, text, 1) for text in originals]
    others = [*originals[:6], *(" ".join(rng.choices(WORDS, k=30)) for _ in range(5)), "", "!?", "tiny text"]
    files = {"ref": originals[:4], "a": originals, "b": near, "c": others}
    for name, texts in files.items():
        rows = (json.dumps({"id": f"{name}{i}", "text": text, "w": i % 2}) + "\n" for i, text in enumerate(texts))
        (folder / f"{name}.jsonl").write_text("".join(rows))
    return folder


@pytest.fixture
def run(corpus):
    """Deduplicates the corpus."""

    def made(references=True, **settings):
        against = corpus / "ref.jsonl" if references else None
        given = {"id": "id"} | settings
        return la.dedup([corpus / f"{name}.jsonl" for name in "abc"], against=against, **given)

    return made
