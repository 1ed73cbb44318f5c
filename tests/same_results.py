import pyarrow as pa
from corpora import planted

TABLES = ("decisions", "kept", "removed", "groups", "pairs", "annotations")
COUNTED = ("candidate_pairs", "verified_pairs", "crowded", "exact_duplicates", "empty", "recall_vouched")
VARIANTS = [
    {}, {"keep": "longest"}, {"keep": "last", "empty": "drop"}, {"verify": "sketch"}, {"within": "site"},
    {"method": "simhash", "radius": 6}, {"method": "simhash", "radius": 6, "verify": "sketch", "empty": "drop"},
    {"empty": "drop", "overrides": [{"id": f"d{i}", "action": "remove" if i % 4 else "keep"} for i in range(30, 80, 2)]},
    {"key": "url", "keep": "site:2,0; shortest", "overrides": [{"id": "d50", "action": "keep"}]},
    {"keep": "last", "overrides": [{"id": f"d{i}", "action": "keep"} for i in range(30, 80)]},
]  # fmt: skip


def corpus(rng, n_families=25):
    texts = planted(rng, n_families=n_families, lengths=(5, 200))
    texts += [texts[i] for i in rng.integers(0, len(texts), 20)] + ["", "!?"]
    return pa.table({
        "id": [f"d{i}" for i in range(len(texts))], "text": texts, "site": [str(i % 3) for i in range(len(texts))],
        "url": [i * i % 97 or None for i in range(len(texts))],
    })  # fmt: skip


def same(a, b):
    assert repr(a) == repr(b) and len(a) == len(b) and a.threshold == b.threshold
    assert a.keep.tolist() == b.keep.tolist() and a.clusters.tolist() == b.clusters.tolist()
    for name in TABLES:
        assert getattr(a, name).equals(getattr(b, name)), name
    return True


def same_job(a, b):
    same(a, b)
    for name in COUNTED:
        assert getattr(a.summary, name) == getattr(b.summary, name), name
