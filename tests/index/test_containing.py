import random
from itertools import product

import pytest
from corpora import word_sets
from raising import assert_raises

import lookalike as la
from lookalike.errors import ParameterError
from lookalike.index import containing


def corpus():
    rng = random.Random(3)
    texts = [[f"w{rng.randrange(400)}" for _ in range(rng.randrange(5, 90))] for _ in range(60)]
    asked = [[], ["..."], ["elsewhere"]]
    for text in texts[:40]:
        begin = rng.randrange(len(text) - 3)
        part = text[begin : begin + rng.randrange(3, 60)]
        asked.append([word if rng.random() < 0.97 else "changed" for word in part])
    return [" ".join(words) for words in texts], [" ".join(words) for words in asked]


def expected(texts, asked, threshold, top=None, width=2):
    """[(query, document, containment)], the best first."""
    sets, queries = (word_sets([text.replace(".", "") for text in some], width) for some in (texts, asked))
    found = []
    for query, own in enumerate(queries):
        shares = sorted((-len(own & some) / len(own), d) for d, some in enumerate(sets) if own)
        found += [(query, d, -share) for share, d in shares[:top] if -share >= threshold]
    return found


def rows_of(found):
    return [(row["query"], row["id"], row["containment"]) for row in found.to_pylist()]


@pytest.mark.parametrize("how", [{}, {"kind": "simhash"}])
def test_none_is_missed(how, monkeypatch):
    monkeypatch.setattr(containing, "AT_A_TIME", 7)
    texts, asked = corpus()
    with la.Index.create("index", width=2, keep_text=True, **how) as index:
        for begin in (0, 25, 50):
            index.add(range(begin, min(60, begin + 25)), texts[begin : begin + 25])
        index.add([60, 61], texts[:2])
        index.remove([60, 61, 7])
        texts[7] = ""
        for top, threads in product((None, 1), (1, 2)):
            rows = rows_of(index.containing(asked, threshold=0.8, top=top, threads=threads))
            assert rows == expected(texts, asked, 0.8, top) and 20 < len(rows) < 45 and min(row[2] for row in rows) < 1
        assert index.containing([], threshold=0.8).num_rows == 0
        for said, some, given in (
            (r"threshold must be in \(0, 1\]; got 0", asked, {"threshold": 0}),
            ("top must be at least 1", asked, {"top": 0}),
            ("give texts, not sketches", index.sketch(asked), {}),
        ):
            assert_raises(ParameterError, said, index.containing, some, **given)
    with la.Index.create("other") as index:
        assert_raises(ParameterError, "this index keeps none: .* with keep_text=True$", index.containing, asked)


def test_no_more_matches_are_held_than_are_asked_for(monkeypatch):
    """And some others: the best are chosen as the index is gone through."""
    held, best = [], containing.best
    monkeypatch.setattr(containing, "AT_A_TIME", 2)
    monkeypatch.setattr(containing, "MANY", 8)
    monkeypatch.setattr(containing, "best", lambda parts, top: held.append(sum(len(p[0]) for p in parts)) or best(parts, top))
    words = [f"w{i}" for i in range(40)]
    texts = [" ".join(word for i, word in enumerate(words) if i != number % 7) for number in range(90)]
    asked = [" ".join(words[begin:20]) for begin in range(5)]
    with la.Index.create("index", width=1, keep_text=True) as index:
        index.add(range(90), texts)
        assert rows_of(index.containing(asked, threshold=0.5, top=2)) == expected(texts, asked, 0.5, 2, 1)
    assert len(held) > 9 and max(held) <= 2 * 5 * 2 + 8 + 5 * 2  # the best, more, and those of the last documents
