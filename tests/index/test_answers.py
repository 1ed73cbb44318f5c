from collections import Counter

import numpy as np
import pytest
from corpora import planted
from waiting import at_once

import lookalike as la
from lookalike.text.texts import from_strings

COLUMNS = ("query", "id", "estimated_resemblance", "standard_error", "resemblance")


def twin(index, segments, removed, queries):
    """Matches of each query: (minus the score, segment, row, what is said of it)."""
    kind, exact = index.kind, index.info["keep_text"]
    asked, *sketched = (
        kind.sketch(*kind.shingling.hashes(from_strings(texts)))
        for texts in (queries, *([text for _, text in segment] for segment in segments))
    )

    def codes_of(codes):
        return [int(word) >> shift & (1 << kind.lane) - 1 for word in codes for shift in range(0, 16, kind.lane)]

    out = []
    for q, query in enumerate(queries):
        matches, mine = [], codes_of(asked.codes[q])
        for number, (segment, stored) in enumerate(zip(segments, sketched, strict=True)):
            for r, (name, text) in enumerate(segment):
                if name in removed or stored.empty[r] or asked.empty[q]:
                    continue
                apart = sum(a != b for a, b in zip(codes_of(stored.codes[r]), mine, strict=True))
                met = (stored.keys[r] == asked.keys[q]).any() if kind.name == "minhash" else apart <= kind.radius
                score = len(mine) - apart if kind.lane == 16 else -apart
                if met and score >= kind.least:
                    estimates = (float(x) for x in kind.estimate(np.array(score)))
                    matches.append((-score, number, r, (q, name, *estimates, alike(kind, query, text) if exact else None)))
        out.append(matches)
    return out


def alike(kind, *texts):
    a, b = (Counter(kind.shingling.hashes(from_strings([text]))[0].tolist()) for text in texts)
    if kind.name == "minhash":
        return pytest.approx(len(a.keys() & b.keys()) / len(a.keys() | b.keys()), rel=1e-12)
    norms = sum(c * c for c in a.values()) * sum(c * c for c in b.values())
    return pytest.approx(sum(a[x] * b[x] for x in a) / norms**0.5, rel=1e-12)


def rows_of(table):
    table.validate(full=True)
    return list(zip(*(table[name].to_pylist() for name in COLUMNS), strict=True))


KINDS = {
    "minhash": {"threshold": 0.5, "slots": 48},
    "packed": {"threshold": 0.5, "bits": 4, "slots": 36},
    "single bits": {"threshold": 0.5, "bits": 1, "slots": 130},
    "simhash": {"kind": "simhash", "threshold": 0.7, "radius": 7, "unit": "word", "width": 1},
}


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_look_ups_are_those_of_the_twin(kind, keep, monkeypatch):
    """Of several segments, of which documents were removed; one query at a time too, and in pieces, by threads that ask at once."""
    rng = np.random.default_rng(1 + keep)
    texts = planted(rng, n_families=25, lengths=(6, 60))
    with la.Index.create("x", keep_text=keep, **KINDS[kind]) as index:
        segments, removed = [], set()
        for number, size in enumerate((30, 1, 20, 12)):
            names = range(100 * number, 100 * number + size)
            names = names if keep else [f"é\U0001f600{i}" * (1 + i % 9) for i in names]
            chosen = ["", *(texts[i] for i in rng.integers(0, len(texts), size))][-size:]
            segments.append(list(zip(names, chosen, strict=True)))
            removed |= set(names[4::5])
            index.add(names, chosen)
        index.remove(sorted(removed))
        assert index.info["segments"] == len(segments)
        queries = [*texts[:14], "", "nothing like it"]
        every = twin(index, segments, removed, queries)
        for top in (None, 1, 3):
            expected = [said for matches in every for *_, said in sorted(matches)[:top]]
            assert len(expected) >= 4
            assert rows_of(index.query(queries, top=top)) == expected
            alone = [(q, *row[1:]) for q, query in enumerate(queries) for row in rows_of(index.query([query], top=top))]
            assert alone == expected
        assert index.query(index.sketch(queries))["resemblance"].null_count == index.query(queries).num_rows
        firsts = rows_of(index.first(queries))
        assert [row[0] for row in firsts] == [q for q, matches in enumerate(every) if matches]
        for row in firsts:
            assert row[:2] in [said[:2] for _, segment, _, said in every[row[0]] if segment == every[row[0]][0][1]]

        groups = [queries[i:] + queries[:i] for i in range(0, 16, 2)]
        expected = [index.query(group) for group in groups]
        for number, tables in enumerate(at_once(len(groups), lambda i: [index.query(groups[i]) for _ in range(8)])):
            assert all(table.equals(expected[number]) for table in tables)
        plain = [ask(queries * 5) for ask in (index.query, index.first)]
        for name, value in {"FEW": 8, "BLOCK_BYTES": 0}.items():
            monkeypatch.setattr(f"lookalike.index.answers.{name}", value)
        for threads in (1, 2):
            assert [ask(queries * 5, threads=threads) for ask in (index.query, index.first)] == plain


def test_of_many_copies_those_that_are_left_are_found():
    with la.Index.create("x", threshold=0.5) as index:
        index.add(range(9), ["one two three four five six"] * 9)
        index.remove(range(4))
        for top in (1, 3, 5, 9):
            assert index.query(["one two three four five six"], top=top)["id"].to_pylist() == [*range(4, 9)][:top]
