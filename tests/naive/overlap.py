"""Which documents contain which items, by sets and loops over lists of words, as the documents of the program define it."""

import re

from naive.repeats import merged


def words(text):
    """Return (word, begin, end) of all words, in bytes."""
    at = [len(text[:i].encode()) for i in range(len(text) + 1)]
    return [(m.group().lower(), at[m.start()], at[m.end()]) for m in re.finditer(r"[^\W_]+", text)]


def shingles(tokens, width):
    """Return the shingles of a list of words; of fewer than ``width`` all together, if there are any."""
    return [tuple(tokens[i : i + width]) for i in range(max(1, len(tokens) - width + 1))] if tokens else []


def cut(item, passage):
    """Return (start, shingles) of the passages of an item."""
    if not passage:
        return [(0, item)] if item else []
    last = max(0, len(item) - passage)
    return (
        [(start, item[start : start + passage]) for start in sorted({*range(0, last, max(1, passage // 2)), last})]
        if item
        else []
    )


class Document:
    """A document: where each shingle, and each run of as many words as short items have, is."""

    def __init__(self, text, width, lengths):
        tokens = words(text)
        names = [word for word, *_ in tokens]
        self.n, self.shingles = len(names), set(shingles(names, width))
        self.hits = []
        for length in {width, *lengths, min(width, max(1, len(names)))}:
            for i in range(len(names) - length + 1):
                self.hits.append((i, tuple(names[i : i + length]), tokens[i][1], tokens[i + length - 1][2]))
        self.hits.sort()
        self.has = {shingle for _, shingle, *_ in self.hits}


def pieces(document, chosen, common, width):
    """Return the pieces of a document that some shingles are, but those of common ones alone."""
    found, last = [], None
    for i, shingle, begin, end in document.hits:
        if shingle not in chosen:
            continue
        if last is None or i - last > 2 * width - 1:
            found.append([begin, end, False])
        found[-1][1] = max(found[-1][1], end)
        found[-1][2] = found[-1][2] or shingle not in common
        last = i
    return [(begin, end) for begin, end, counts in found if counts]


def overlap(data, against, *, measure="containment", threshold=0.8, width=5, passage=None, min_tokens=1, common=None):
    """Return ({(document, item): (start, resemblance, containment, begin, end)}, pieces by document, {item: why not judged}).

    ``against``: texts, or lists of the texts of fields, of which the first decides; then there is also (document, item) -> share
    found of each other field. A field is a text or a list of texts.
    """
    kind, _, n = measure.partition(":")
    width = int(n) if kind == "ngram" else width
    items = [[one] if isinstance(one, str) else one for one in against]
    split = [[word for word, *_ in words(item[0])] for item in items]
    lengths = {len(tokens) for tokens in split if min_tokens <= len(tokens) < width} if kind != "resemblance" else set()
    reasons = {j: "empty" if not t else "short" for j, t in enumerate(split) if len(t) < max(1, min_tokens)}
    passages = {j: [] if j in reasons else cut(shingles(t, width), passage) for j, t in enumerate(split)}
    documents = [Document(text, width, lengths) for text in data]

    def scores(document, shingled, short):
        both = len(document.has & shingled)
        own = len(document.shingles & shingled)
        resemblance = own / len(document.shingles | shingled) if not short or document.n == len(next(iter(shingled))) else 0.0
        return both / len(shingled), resemblance

    def reaches(containment, resemblance):
        return containment > 0 if kind == "ngram" else (resemblance if kind == "resemblance" else containment) >= threshold

    matches, counts = {}, {}
    for i, document in enumerate(documents):
        covered = set()
        for j, some in passages.items():
            for start, listed in some:
                shingled = set(listed)
                found = scores(document, shingled, len(split[j]) < width)
                if reaches(*found):
                    matches[i, j, start] = shingled, *found
                    if kind == "containment" and len(document.has & shingled) >= max(2, 10 - width):
                        covered |= shingled
        for shingle in document.has & {s for some in passages.values() for _, listed in some for s in listed}:
            counts[shingle] = counts.get(shingle, 0) + (shingle not in covered)
    limit = common or max(10, len(data) // 1000)
    common = {shingle for shingle, n in counts.items() if n > limit} if kind != "resemblance" else set()
    for j, some in passages.items():
        if some and all(set(listed) <= common for _, listed in some):
            reasons[j] = "common"
    best, masked, shares = {}, {i: [] for i in range(len(data))}, {}
    for (i, j, start), (shingled, containment, resemblance) in matches.items():
        rare = shingled - common
        share = len(documents[i].has & rare) / len(rare) if rare else 0
        if not (share > 0 and (kind != "containment" or share >= threshold)):
            continue
        own = pieces(documents[i], shingled, common, width)
        masked[i] += own
        begin, end = max(own, key=lambda piece: (piece[1] - piece[0], -piece[0]))
        order = (resemblance, containment) if kind == "resemblance" else (containment, resemblance)
        if (i, j) not in best or (*order, -start) > best[i, j][0]:
            best[i, j] = (*order, -start), (start, resemblance, containment, begin, end)
        for field in items[j][1:]:
            texts = [t for t in ([w for w, *_ in words(x)] for x in ([field] if isinstance(field, str) else field)) if t]
            got = [field_found(data[i], t, width, threshold, kind) for t in texts]
            shares.setdefault((i, j), {})[id(field)] = sum(got) / len(got) if got else None
    return (
        {pair: value for pair, (_, value) in best.items()}, {i: merged(some) for i, some in masked.items()}, reasons,
        {pair: [*some.values()] for pair, some in shares.items()},
    )  # fmt: skip


def field_found(text, tokens, width, threshold, kind):
    """Tell whether a document has the text of a field."""
    document, shingled = Document(text, width, {min(width, len(tokens))}), set(shingles(tokens, width))
    both = len(document.has & shingled)
    return both > 0 if kind == "ngram" else both / len(shingled) >= threshold
