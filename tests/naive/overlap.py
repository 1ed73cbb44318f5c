import re
from collections import Counter

from naive.hashing import runs_of
from naive.repeats import merged


def words(text):
    """(word, begin, end) of each word, in bytes."""
    at = [len(text[:i].encode()) for i in range(len(text) + 1)]
    return [(m.group().lower(), at[m.start()], at[m.end()]) for m in re.finditer(r"[^\W_]+", text)]


def cut(item, passage):
    """(start, shingles) of the passages of an item."""
    if not item or not passage:
        return [(0, item)] if item else []
    last = max(0, len(item) - passage)
    return [(start, item[start : start + passage]) for start in sorted({*range(0, last, max(1, passage // 2)), last})]


class Document:
    """Where each shingle is, and each run of as many words as short items have."""

    def __init__(self, text, width, lengths):
        tokens = words(text)
        names = [word for word, *_ in tokens]
        self.n, self.shingles = len(names), set(runs_of(names, width))
        runs = ((i, i + n) for n in {width, *lengths, min(width, max(1, self.n))} for i in range(self.n - n + 1))
        self.hits = sorted((i, tuple(names[i:j]), tokens[i][1], tokens[j - 1][2]) for i, j in runs)
        self.has = {shingle for _, shingle, *_ in self.hits}

    def share(self, shingled):
        return len(self.has & shingled) / len(shingled) if shingled else 0

    def resemblance(self, shingled, short):
        """Of an item of fewer words than a shingle only a document of as many words has any."""
        if short and self.n != len(next(iter(shingled))):
            return 0.0
        return len(self.shingles & shingled) / len(self.shingles | shingled)

    def pieces(self, chosen, common, width):
        """Those of common shingles alone do not count."""
        found, last = [], None
        for i, shingle, begin, end in self.hits:
            if shingle not in chosen:
                continue
            if last is None or i - last > 2 * width - 1:
                found.append([begin, end, False])
            found[-1][1:] = max(found[-1][1], end), found[-1][2] or shingle not in common
            last = i
        return [(begin, end) for begin, end, counts in found if counts]


def overlap(data, against, *, measure="containment", threshold=0.8, width=5, passage=None, min_tokens=1, common=None):
    """Return ({(document, item): (start, resemblance, containment, begin, end)}, pieces by document, {item: why not judged},
    {(document, item): shares found of the fields but the first}).

    ``against``: texts, or lists of fields, of which the first decides. A field is a text or a list of texts.
    """
    kind, _, n = measure.partition(":")
    width = int(n) if kind == "ngram" else width
    items = [[one] if isinstance(one, str) else one for one in against]
    split = [[word for word, *_ in words(item[0])] for item in items]
    lengths = {len(tokens) for tokens in split if min_tokens <= len(tokens) < width} if kind != "resemblance" else set()
    reasons = {j: "empty" if not t else "short" for j, t in enumerate(split) if len(t) < max(1, min_tokens)}
    passages = {j: [] if j in reasons else cut(runs_of(t, width), passage) for j, t in enumerate(split)}
    documents = [Document(text, width, lengths) for text in data]

    def reaches(share, resemblance):
        return share > 0 if kind == "ngram" else (resemblance if kind == "resemblance" else share) >= threshold

    matches, counts = [], Counter()
    for i, document in enumerate(documents):
        covered, listed_by_any = set(), set()
        for j, some in passages.items():
            for start, listed in some:
                shingled = set(listed)
                listed_by_any |= shingled
                share, resemblance = document.share(shingled), document.resemblance(shingled, len(split[j]) < width)
                if reaches(share, resemblance):
                    matches.append((i, j, start, shingled, resemblance, share))
                    if kind == "containment" and len(document.has & shingled) >= max(2, 10 - width):
                        covered |= shingled
        counts.update((document.has & listed_by_any) - covered)
    limit = common or max(10, len(data) // 1000)
    common = {shingle for shingle, n in counts.items() if n > limit} if kind != "resemblance" else set()
    reasons |= {j: "common" for j, some in passages.items() if some and all(set(listed) <= common for _, listed in some)}
    best, masked, shares = {}, {i: [] for i in range(len(data))}, {}
    for i, j, start, shingled, resemblance, containment in matches:
        share = documents[i].share(shingled - common)
        if not (share > 0 and (kind != "containment" or share >= threshold)):
            continue
        own = documents[i].pieces(shingled, common, width)
        masked[i] += own
        begin, end = max(own, key=lambda piece: (piece[1] - piece[0], -piece[0]))
        order = (resemblance, containment) if kind == "resemblance" else (containment, resemblance)
        best[i, j] = max(best.get((i, j), ((),)), ((*order, -start), (start, resemblance, containment, begin, end)))
        shares[i, j] = [field_found(data[i], field, width, threshold, kind) for field in items[j][1:]]
    return (
        {pair: value for pair, (_, value) in best.items()}, {i: merged(some) for i, some in masked.items()}, reasons,
        {pair: some for pair, some in shares.items() if some},
    )  # fmt: skip


def field_found(text, field, width, threshold, kind):
    """None if no text of the field has a word."""
    found = []
    for one in [field] if isinstance(field, str) else field:
        if tokens := [word for word, *_ in words(one)]:
            share = Document(text, width, {min(width, len(tokens))}).share(set(runs_of(tokens, width)))
            found.append(share > 0 if kind == "ngram" else share >= threshold)
    return sum(found) / len(found) if found else None
