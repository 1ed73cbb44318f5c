"""The result of ``dedup`` from its definition (docs/definition.md), a sentence at a time."""

from collections import Counter
from functools import cache
from hashlib import blake2b
from itertools import combinations
from math import ceil, comb, cos, pi, sqrt
from operator import eq
from typing import NamedTuple

from naive.crowds import Rule, by_buckets, by_fingerprints, by_samples
from naive.hamming import simhash
from naive.hashing import K0, derive, fmix64, fold_multiply
from naive.sketches import band_keys, fast_similarity
from naive.text import decoded, hashes
from naive.values import untyped, value_key

SIMHASH_BITS, ESTIMATION_SLOTS = 64, 256


class UnorderedError(Exception):
    pass


class Decision(NamedTuple):
    """``keeper``: the document that stands for it; ``score``: of the two."""

    reason: str
    keeper: int | None = None
    score: float | None = None


def least_codes(threshold, bands, rows, recall=None):
    """How many 4-bit codes a candidate must agree in; ``recall`` is None if bands and rows were given."""
    slots, p = bands * rows, threshold + (1 - threshold) / 16
    loss = 1e-4
    if recall is not None:
        loss = min((1 - recall) / 10, 1 - (1 - threshold**rows) ** bands - recall)
    least, below = 0, (1 - p) ** slots
    while below <= loss:
        least += 1
        below += comb(slots, least) * p**least * (1 - p) ** (slots - least)
    return least


def group_of(value):
    kind, value = value_key(value) or ("null", "")
    assert kind == "text" or not value or value == int(value) > 0, "the twin knows whole numbers only"
    whole = str(int(value)) if kind == "number" else ""
    key = b"n\x03" + (len(whole) + (1 << 62)).to_bytes(8) + whole.rstrip("0").encode() if whole else value.encode()
    return int.from_bytes(blake2b(b"s" * (kind == "text") + key, digest_size=16).digest()[:8], "little")


def code_of(slot, i, group):
    return fold_multiply(slot ^ group, K0 + i) >> 48


@cache
def shingles(text, unit, width, normalization="NFC"):
    return tuple(hashes(decoded(text), unit, width, normalization))


def prepared(texts, ignore, columns, *how):
    """The shingles of each text, those that count, and keys of columns."""
    ignored = {shingle for text in ignore for shingle in shingles(text, *how)}
    whole = [shingles(text, *how) for text in texts]
    counted = [tuple(shingle for shingle in some if shingle not in ignored) for some in whole]
    return whole, counted, *([*map(value_key, values or [None] * len(texts))] for values in columns)


@cache
def slots_of(values, k, seed):
    return fast_similarity(sorted(set(values)), k, seed)


@cache
def print_of(values, seed):
    counts = Counter(values)
    return simhash(counts, counts.values(), SIMHASH_BITS, seed)[0]


members_of = cache(frozenset)


def common(a, b):
    return len(members_of(a) & members_of(b))


def resemblance(a, b):
    return common(a, b) / len(members_of(a) | members_of(b))


def containment(a, b):
    return common(a, b) / len(members_of(b))


def mixed(values, seed):
    (salt,) = derive(seed, "containment", 1)
    return {fmix64(x ^ salt) >> 1 for x in values}


def least_sampled(threshold, sample, recall):
    """The most of a sample that a pair at the threshold shares with a probability of ``recall``; its mean at most."""
    tail = [sum(comb(sample, i) * threshold**i * (1 - threshold) ** (sample - i) for i in range(j, sample + 1))
            for j in range(sample + 1)]  # fmt: skip
    return max(1, *(j for j in range(sample + 1) if tail[j] >= recall and j <= sample * threshold + 1e-9))


def cosine(a, b):
    a, b = Counter(a), Counter(b)
    dot = sum(n * b[x] for x, n in a.items())
    p, q = (sum(n * n for n in c.values()) for c in (a, b))
    return min(1.0, dot / sqrt(p * q))


def ranks(texts, policy, columns):
    """What a policy sorts documents by: nulls and NaN last."""
    name, _, column = policy.partition(":")
    if name in ("first", "last"):
        return [0 if name == "first" else -d for d in range(len(texts))]
    if name in ("longest", "shortest"):
        return [len(text) * (1 if name == "shortest" else -1) for text in texts]
    by_size = {"smallest": 1, "largest": -1}.get(name)
    keys = list(map(value_key, columns[column if by_size else name]))
    present = sorted({*keys} - {None})
    if by_size:
        kinds = {kind for kind, _ in present}
        if len(kinds) > 1 or "other" in kinds:
            raise UnorderedError(policy)
        places = {key: by_size * place for place, key in enumerate(present)}
    else:
        listed = [{("text", text.strip()), value_key(untyped(text.strip()))} for text in column.split(",")]
        places = {key: next((i for i, some in enumerate(listed) if key in some), len(listed)) for key in present}
    return [(1, 0) if key is None else (0, places[key]) for key in keys]


def keep_order(texts, references, keep, columns):
    by = [ranks(texts, policy.strip(), columns) for policy in keep.split(";")]
    return sorted(range(len(texts)), key=lambda d: (d >= references, [each[d] for each in by] if d >= references else [], d))


def key_of(values):
    parts = tuple(map(value_key, values))
    return None if None in parts else parts


def differ(a, b):
    return a is None or b is None or a != b


def same_texts(documents):
    """Pairs of a first of its text, or the first of that text with another value, with all after it.

    ``documents`` are (place, text, value of ``across``) in keep order.
    """
    firsts, found = {}, set()
    for b, text, value in documents:
        heads = firsts.setdefault(text, [])
        found |= {(a, b) for a, _ in heads}
        if not heads or (len(heads) == 1 and differ(heads[0][1], value)):
            heads.append((b, value))
    return found


def dedup(
    texts, *, references=0, keep="first", columns=None, key=None, within=None, across=None, ignore=(), empty="keep",
    unit="word", width=5, normalization="NFC",
    method="minhash", verify="exact", threshold=0.8, bands=16, rows=6, radius=3, seed=1, least=0, rule=None,
    overrides=None, measure="resemblance", floor=0, sample=32, recall=None,
):  # fmt: skip
    """``texts`` are bytes; the references come first.

    With ``recall`` 1 all live documents are candidates; ``least`` comes of ``least_codes`` or ``least_sampled``.
    ``columns`` are values by the names in ``keep``, ``key`` tuples of values, ``within`` and ``across`` values of such columns.
    ``overrides`` say "keep" or "remove" of some documents that are no references.
    """
    rule, overrides = rule or Rule(), overrides or {}
    whole, sets, groups, apart = prepared(texts, ignore, (within, across), unit, width, normalization)
    order = keep_order(texts, references, keep, columns)
    place = {d: i for i, d in enumerate(order)}
    by_hand = {d for d, action in overrides.items() if action == "remove"}
    empty_ones = {d for d in range(references, len(texts)) if not sets[d] and empty == "drop"}

    # Keys: who represents each document removed by its key.
    represents, of_key = {}, {}
    for d in order if key else ():
        if d not in by_hand | empty_ones and key_of(key[d]) is not None:
            first = represents.setdefault(key_of(key[d]), d)
            if first != d and d >= references:
                of_key[d] = first

    # Copies, empty documents and those removed by hand; others are live, and go by their place in keep order from here on.
    leader, first = {}, {}
    for d in order:
        alone = across is not None or not whole[d] or d in by_hand or d in of_key
        leader[d] = d if alone else first.setdefault((texts[d], groups[d]), d)
    live = [place[d] for d in order if sets[d] and leader[d] == d and d not in by_hand and d not in of_key]
    text_of, group = {i: sets[order[i]] for i in live}, {i: groups[order[i]] for i in live}

    k = bands * rows + (ESTIMATION_SLOTS if verify == "sketch" else 0)
    if measure == "containment":
        held = {i: mixed(text_of[i], seed) for i in live}
        samples = {i: sorted(held[i])[:sample] for i in live if i >= references}
        needed = {i: least if len(samples[i]) == sample else ceil(threshold * len(samples[i]) - 1e-9) for i in samples}
        candidates = set()
        for value in set(group.values()):
            same = [i for i in live if group[i] == value]
            candidates |= by_samples({i: held[i] for i in same}, samples, needed, sample - least + 1, references, rule)
    elif recall == 1:
        candidates = set(combinations(live, 2))
    elif method == "minhash":
        slots = {i: slots_of(text_of[i], k, seed) for i in live}
        salt = {i: group_of(within[order[i]]) if within else 0 for i in live}
        codes = {i: [code_of(s, j, salt[i]) for j, s in enumerate(slots[i][: bands * rows])] for i in live}
        keys = {i: band_keys(slots[i], salt[i], bands, rows) for i in live}
        candidates = by_buckets(keys, codes, references, rule)
        low = {i: [code % 16 for code in codes[i]] for i in live}
        candidates = {(a, b) for a, b in candidates if sum(map(eq, low[a], low[b])) >= least}
    else:
        prints = {i: print_of(text_of[i], seed) for i in live}
        candidates = by_fingerprints(prints, group, radius, references, rule)
    if across is not None:
        candidates |= same_texts([(i, (texts[order[i]], group[i]), apart[order[i]]) for i in live])
    other = {i: apart[order[i]] for i in live}
    candidates = {(a, b) for a, b in candidates if group[a] == group[b] and b >= references and differ(other[a], other[b])}

    def score(a, b):
        if measure == "containment":
            return containment(text_of[a], text_of[b]) if resemblance(text_of[a], text_of[b]) >= floor else -1
        if verify == "exact":
            return (resemblance if method == "minhash" else cosine)(text_of[a], text_of[b])
        if method == "minhash":
            aside = zip(slots[a][bands * rows :], slots[b][bands * rows :], strict=True)
            return sum(x == y for x, y in aside) / ESTIMATION_SLOTS
        return cos(pi * (prints[a] ^ prints[b]).bit_count() / SIMHASH_BITS)

    matches = {i: [] for i in live}
    for a, b in candidates:
        if score(a, b) >= threshold:
            matches[b].append(a)

    keeper = {}
    for b in live:
        kept = [a for a in matches[b] if keeper[a] == a]
        keeper[b] = max(kept, key=lambda a: (score(a, b), -a)) if kept and b >= references else b

    def stands_for(d):
        """The kept document that stands for one not dropped."""
        i = place[leader[d]]
        return d if d < references else order[keeper.get(i, i)]

    def decision(d):
        i = place[leader[d]]
        if d < references:
            return Decision("reference", d)
        if d in overrides:
            return Decision("override") if d in by_hand else Decision("kept", d)
        if d in of_key:
            return Decision("key", stands_for(of_key[d]))
        if d in empty_ones:
            return Decision("empty")
        if keeper.get(i, i) != i:
            return Decision("near", order[keeper[i]], score(keeper[i], i))
        return Decision("kept", d) if leader[d] == d else Decision("exact", leader[d], 1.0)

    return list(map(decision, range(len(texts))))


def all_scores(
    texts,
    *,
    references=0,
    within=None,
    across=None,
    ignore=(),
    unit="word",
    width=5,
    normalization="NFC",
    threshold=0.8,
    measure="resemblance",
    floor=0,
):
    """The scores that reach the threshold, but of pairs of references; copies have 1, whatever counts of them."""
    whole, sets, groups, apart = prepared(texts, ignore, (within, across), unit, width, normalization)

    def score(a, b):
        if across is None and whole[a] and texts[a] == texts[b]:
            return 1.0
        if not sets[a] or not sets[b] or resemblance(sets[a], sets[b]) < floor:
            return -1
        either = containment(sets[a], sets[b]), containment(sets[b], sets[a])
        return max(either) if measure == "containment" else resemblance(sets[a], sets[b])

    pairs = [(a, b) for b in range(references, len(texts)) for a in range(b) if groups[a] == groups[b]]
    found = [score(a, b) for a, b in pairs if differ(apart[a], apart[b])]
    return sorted(one for one in found if one >= threshold)
