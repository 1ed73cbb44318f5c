"""Six made corpora, each a shape that decisions depend on, and three real ones."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

DATA = Path(__file__).parents[3] / "shared/data"


def table(texts, rng):
    n = len(texts)
    scores = [None if x < 5 else float(x % 17) for x in rng.integers(0, 100, n).tolist()]
    sites = [None if x == 0 else f"site {x % 5}" for x in rng.integers(0, 20, n).tolist()]
    return pa.table({"id": [f"d{i}" for i in range(n)], "text": texts, "score": scores, "site": sites})


def words(rng, n, vocabulary=20_000):
    ranks = np.minimum((vocabulary ** rng.random(n)).astype(np.int64), vocabulary - 1)
    return [f"w{rank}" for rank in ranks.tolist()]


def chains(rng):
    """Windows that slide along long texts: each resembles its neighbours, and not those further on."""
    texts = []
    for _ in range(30):
        base = words(rng, 260)
        texts += [" ".join(base[i : i + 60]) for i in range(0, 200, 3)]
    return texts


def stars(rng):
    texts = []
    for _ in range(40):
        base = words(rng, 200)
        for _ in range(40):
            copy = list(base)
            for place in rng.integers(0, 200, int(rng.integers(0, 5))).tolist():
                copy[place] = f"spoiled{rng.integers(0, 10**9)}"
            texts.append(" ".join(copy))
    return texts


def cliques(rng):
    texts = []
    for size in (2, 3, 10, 60, 127, 128, 129, 300):
        for _ in range(3):
            base = words(rng, 150)
            texts += [" ".join([*base, f"member{i}"]) for i in range(size)]
    return texts


def crowds(rng):
    """Pages that share most of their words and are no near-duplicates, with planted pairs among them."""
    frame = words(rng, 100)
    texts = []
    for _ in range(1500):
        own = words(rng, 60)
        texts.append(" ".join([*frame, *own]))
        if rng.random() < 0.1:
            texts.append(" ".join([*frame, *own[:-3], "one", "two", "three"]))
    return texts


def copies(rng):
    base = [" ".join(words(rng, int(n))) for n in rng.integers(1, 40, 150)]
    odd = ["", " ", "\n\n", "...", "—", "a", "a b", "A b", "a b c d", "a b c d e", "A B C D E!"]
    texts = [base[i] for i in rng.integers(0, 150, 1200).tolist()] + [odd[i] for i in rng.integers(0, len(odd), 300).tolist()]
    texts += [text.upper() for text in base[:60]] + [text + " ." for text in base[:60]]
    return texts


def scripts(rng):
    pieces = ["東京都の天気は晴れ", "人々〇記", "ภาษาไทยไม่มีช่องว่าง", "Straße", "ﬁnale", "Ｆｕｌｌ", "naïve", "naïve", "Ω", "İstanbul", "한국어 문서",
              "한국", "русский текст", "ελληνικά", "עברית", "العربية", "हिन्दी", "မြန်မာ", "ខ្មែរ", "ລາວ", "👍🏽", "x\u00ady", "e\u0301t"]  # fmt: skip
    texts = []
    for _ in range(300):
        some = [pieces[i] for i in rng.integers(0, len(pieces), 30).tolist()]
        texts.append(" ".join(some))
        changed = list(some)
        changed[int(rng.integers(0, 30))] = pieces[int(rng.integers(0, len(pieces)))]
        texts += [" ".join(changed), "".join(some), "  ".join(changed).upper()]
    return texts


MADE = {
    "chains": chains, "stars": stars, "cliques": cliques, "crowds": crowds, "copies": copies, "scripts": scripts,
}  # fmt: skip
REAL = ("licences", "policies", "poems_zh")


def shuffled(name, rng):
    texts = MADE[name](rng)
    return [texts[i] for i in rng.permutation(len(texts))]


def corpus(name):
    if name in MADE:
        rng = np.random.default_rng(sorted(MADE).index(name) + 1)
        return table(shuffled(name, rng), rng)
    path = DATA / f"{name}.parquet"
    if not path.exists():
        return None
    texts = pq.read_table(path, columns=["text"])["text"].to_pylist()
    return table([text or "" for text in texts], np.random.default_rng(len(texts)))
