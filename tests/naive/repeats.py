import unicodedata

from naive.text import decoded, hidden, part, shown, word_runs, words

BLANKS = b" \t\n\v\f\r"


def lines_of(data):
    begin = 0
    for line in data.split(b"\n"):
        end = min(begin + len(line) + 1, len(data))
        if begin < end:
            yield begin, end
        begin = end


def paragraphs_of(data):
    """Runs of lines that are not blank, blank lines behind included."""
    found, inside = [], False
    for begin, end in lines_of(data):
        blank = not data[begin:end].strip(BLANKS)
        if found and (blank or inside):
            found[-1] = found[-1][0], end
        elif not blank:
            found.append((begin, end))
        inside = not blank
    return found


def merged(ranges):
    out = []
    for begin, end in sorted(ranges):
        if out and begin <= out[-1][1]:
            out[-1] = out[-1][0], max(end, out[-1][1])
        else:
            out.append((begin, end))
    return out


def repeated_lines(documents, unit="line", min_words=5, drop_over=None):
    """For each document the ranges removed, and whether no word is left; and (text, count, documents) of repeats."""
    places, removed = {}, [[] for _ in documents]
    for row, data in enumerate(documents):
        for begin, end in lines_of(data) if unit == "line" else paragraphs_of(data):
            text = data[begin:end].strip(BLANKS)
            if len(words(decoded(text))) >= min_words:
                places.setdefault(text, []).append((row, begin, end))
    for found in places.values():
        for row, begin, end in found[1:] if drop_over is None else found if len(found) > drop_over else []:
            removed[row].append((begin, end))
    kept = [b"".join(cut(data, some)) for data, some in zip(documents, removed, strict=True)]
    empty = [bool(some) and not words(decoded(left)) for some, left in zip(removed, kept, strict=True)]
    told = [(text, len(some), len({row for row, *_ in some})) for text, some in places.items() if len(some) > 1]
    return [merged(some) for some in removed], empty, told


def cut(data, ranges):
    end = 0
    for begin, after in merged(ranges):
        yield data[end:begin]
        end = after
    yield data[end:]


SECONDS = {
    unicodedata.normalize("NFD", c)[1]
    for c in map(chr, [*range(0xD800), *range(0xE000, 0x20000)])
    if len(unicodedata.normalize("NFD", c)) == 2 and unicodedata.normalize("NFC", c) == c
} | {unicodedata.normalize("NFD", c)[-1] for c in map(chr, range(0xAC00, 0xD7A4))}
"""Characters that can be composed with one before."""


def pieces(data, form):
    """(begin, end, old, normal form) of characters with those that can be composed with them."""
    out, position = [], 0
    for c in decoded(data):
        size = 1 if c == "\ufffd" and data[position : position + 3] != b"\xef\xbf\xbd" else len(c.encode())
        first = unicodedata.normalize("NFD", c)[0]
        combines = unicodedata.combining(first) != 0 or hidden(c) or first in SECONDS
        combines = combines or (part(c) == "mark" and c != unicodedata.normalize("NFC", c))
        if not out or not combines:
            out.append([position, position, ""])
        out[-1][1:] = position + size, out[-1][2] + c
        position += size
    return [(begin, end, text, normal(text, form)) for begin, end, text in out]


def normal(text, form):
    return shown(text) if form == "none" else unicodedata.normalize(form, shown(text))


def word_places(data, form):
    """(begin, end) of each word in the bytes before they are normalized; what changes of a piece is one place."""
    found = []
    for begin, end, old, new in pieces(data, form):
        same = True
        for i, c in enumerate(new):
            same = same and old[i : i + 1] == c
            size = 1 if c == "\ufffd" and data[begin : begin + 3] != b"\xef\xbf\xbd" else len(c.encode())
            found.append((c, begin, begin + size if same else end))
            begin += size if same else 0
    return [(found[run[0]][1], found[run[-1]][2]) for run in word_runs([c for c, *_ in found])]


def repeated_passages(documents, length, fold_case=True, normalization="NFC"):
    """For each document the ranges removed, and whether no word is left."""
    seen, removed, empty = set(), [], []
    for data in documents:
        text = decoded(data)
        tokens = words(normal(text, normalization), fold_case)
        places, repeated = word_places(data, normalization), set()
        assert len(places) == len(tokens), data
        for begin in range(len(tokens) - length + 1):
            window = tuple(tokens[begin : begin + length])
            if window in seen:
                repeated.update(range(begin, begin + length))
            seen.add(window)
        runs = merged((i, i + 1) for i in repeated)
        removed.append([(places[begin][0], places[end - 1][1]) for begin, end in runs])
        empty.append(bool(runs) and len(repeated) == len(tokens))
    return removed, empty
