"""A job against saved sketches must say what it says against the kept documents."""

import json
import random
from contextlib import closing

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lookalike as la
from lookalike.files.descriptions import encoded

TOLD = ["id", "bytes", "kept", "reason", "duplicate_of", "duplicate_is_reference", "cluster", "n_exact", "n_duplicates"]
SCORES = ["resemblance", "standard_error", "distance"]
PAIR = ["left_id", "right_id"]
COUNTS = ("documents", "kept", "reference", "exact_duplicates", "near_duplicates", "empty", "candidate_pairs", "crowded")
COUNTED = (*COUNTS, "text_bytes", "recall_vouched", "recall_planned")
HOW = {"threshold": 0.6, "width": 1, "id": "id"}
VARIANTS = {
    "first": {},
    "last": {"keep": "last", "evidence": "all"},
    "longest": {"keep": "longest", "empty": "drop"},
    "largest": {"keep": "largest:score"},
    "within": {"within": "site"},
    "keys": {"key": ["url"], "keep": "site:b; largest:score; shortest", "evidence": "all"},
    "across": {"across": "score", "max_bucket": 3},
    "estimates": {"verify": "sketch"},
    "fingerprints": {"method": "simhash", "radius": 10},
    "crowds": {"max_bucket": 3, "bands": 6, "rows": 2, "evidence": "all"},
    "recall 1": {"recall": 1, "threshold": 0.8},
    "large documents left out": {"max_document": 60, "on_error": "skip"},
}


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def crawl(here):
    for number, table in enumerate(weeks(1)):
        (here / f"w{number}").mkdir()
        written(table, here / f"w{number}", "p")
    return here


def cut_small(monkeypatch):
    from lookalike.engines.spark import engine as engine_module
    from lookalike.inputs import texts as input_texts

    monkeypatch.setattr(engine_module, "ROWS_OF_A_TASK", 15)
    monkeypatch.setattr(engine_module, "TEXTS_OF_A_TASK", 9)
    monkeypatch.setattr(input_texts, "PIECE_ROWS", 11)


def weeks(seed, n=60):
    """Three weeks of documents: families that go on from week to week, chains, copies, empty texts."""
    rng, tables = random.Random(seed), []
    words = [f"w{i}" for i in range(40)]
    bases = [rng.choices(words, k=rng.randrange(4, 14)) for _ in range(n // 5)]
    number = 0
    for week in range(3):
        texts = ["", "!?", None, ""]
        while len(texts) < n:
            base = rng.choice(bases)
            if rng.random() < 0.7:  # a step of a chain
                base[rng.randrange(len(base))] = rng.choice(words)
            texts += [" ".join(base)] * rng.choice([1, 1, 1, 2])
        rng.shuffle(texts)
        ids = [f"{week}-{number + i}" for i in range(len(texts))]
        number += len(texts)
        sites, scores = [rng.choice("aab") for _ in texts], [rng.choice([None, 2.5, -1.0, 7.0]) for _ in texts]
        urls = [f"u{i}" if i % 7 else None for i in random.Random(seed + week).choices(range(90), k=len(texts))]
        tables.append(pa.table({"text": pa.array(texts, pa.string()), "id": ids, "site": sites, "score": scores, "url": urls}))
    return tables


def written(table, folder, name):
    paths = []
    for part, some in enumerate((table.slice(0, len(table) // 3), table.slice(len(table) // 3))):
        paths.append(folder / f"{name}-{part}.parquet")
        pq.write_table(some, paths[-1], row_group_size=7)
    return paths


def job(data, **given):
    return closing(la.dedup(data, **HOW | {"threads": 1} | given))


def said(result):
    """What a result says that does not tell where its references lie: (decisions, pairs, counts)."""
    decisions = result.decisions
    scores = [name for name in SCORES if name in decisions.column_names]
    pairs = sorted(tuple(row[name] for name in PAIR) for row in result.pairs.to_pylist())
    counts = {name: getattr(result.summary, name) for name in COUNTED}
    if counts["recall_planned"] == 1:  # how many pairs are compared depends on the secret
        counts["candidate_pairs"] = None
    return decisions.select([*TOLD, *scores]).to_pylist(), pairs, counts


def forge(folder, change):
    """As somebody else could: with a checksum that fits."""
    path = folder / "sketches.json"
    held = json.loads(path.read_bytes())
    del held["checksum"]
    held.pop("seal", None)
    change(held)
    path.write_bytes(encoded(held, own=False))
