import numpy as np


def edited(words, kind, amount, rng, vocab):
    m = max(1, round(amount * len(words)))
    new = list(rng.choice(vocab, m))
    if kind == "replace":
        out = list(words)
        for place, word in zip(rng.choice(len(words), min(m, len(words)), replace=False), new, strict=False):
            out[place] = word
        return out
    if kind == "front":
        return new + list(words)
    if kind == "middle":
        return [*words[: len(words) // 2], *new, *words[len(words) // 2 :]]
    if kind == "append":
        return list(words) + new
    cuts = sorted(rng.choice(np.arange(1, max(2, len(words))), min(3, max(1, len(words) - 1)), replace=False))
    parts = np.split(np.array(words), cuts)
    return [w for i in rng.permutation(len(parts)) for w in parts[i]]


KINDS = ("replace", "front", "middle", "append", "reorder")


def planted(rng, n_families=120, members=4, lengths=(5, 5000)):
    """Families of edited copies of texts of log-uniform lengths, shuffled."""
    vocab, texts = np.array([f"w{i}" for i in range(20000)]), []
    for _ in range(n_families):
        length = int(np.exp(rng.uniform(*np.log(lengths))))
        base = list(rng.choice(vocab, length))
        texts.append(" ".join(base))
        for _ in range(members - 1):
            kind = KINDS[rng.integers(len(KINDS))]
            texts.append(" ".join(edited(base, kind, float(rng.choice([0.002, 0.01, 0.03, 0.06, 0.1])), rng, vocab)))
    return [texts[i] for i in rng.permutation(len(texts))]


def word_sets(texts, width=5):
    out = []
    for text in texts:
        words = text.lower().split()
        w = min(width, len(words))
        out.append({tuple(words[i : i + w]) for i in range(len(words) - w + 1)} if words else set())
    return out
