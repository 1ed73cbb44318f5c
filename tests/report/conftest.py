import json
import random
import re

import pytest
from json_lines import read_lines, write_lines
from serve.desk_jobs import changed

import lookalike as la

WORDS = [f"word{i}" for i in range(400)]


@pytest.fixture(scope="session")
def corpus(tmp_path_factory):
    """ref.jsonl, a.jsonl (originals), b.jsonl (each near one of a: it vanishes), c.jsonl (copies and others)."""
    folder, rng = tmp_path_factory.mktemp("corpus"), random.Random(4)
    originals = [" ".join(rng.choices(WORDS, k=100)) for _ in range(20)]
    near = [changed(rng, text, 1) for text in originals]
    others = [*originals[:6], *(" ".join(rng.choices(WORDS, k=30)) for _ in range(5)), "", "!?", "tiny text"]
    for name, texts in {"ref": originals[:4], "a": originals, "b": near, "c": others}.items():
        write_lines(folder / f"{name}.jsonl", ({"id": f"{name}{i}", "text": t, "w": i % 2} for i, t in enumerate(texts)))
    return folder


@pytest.fixture(scope="session")
def texts(corpus):
    return {row["id"]: row["text"] for file in corpus.glob("*.jsonl") for row in read_lines(file)}


@pytest.fixture
def run(corpus):
    def made(references=True, **settings):
        against = corpus / "ref.jsonl" if references else None
        given = {"id": "id"} | settings
        return la.dedup([corpus / f"{name}.jsonl" for name in "abc"], against=against, **given)

    return made


@pytest.fixture
def page_of(tmp_path):
    def made(result, **how):
        path = tmp_path / "page.html"
        result.report(path, force=True, **how)
        assert path.stat().st_size <= 2_000_000
        text = path.read_text()
        data = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)[1]
        return text, json.loads(data)

    return made
