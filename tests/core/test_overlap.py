"""What documents contain of others, against sets and loops; values are numbered by a table."""

from itertools import product

import numpy as np
import pytest
from naive import overlap as naive

import lookalike as la
from lookalike import core
from lookalike.search import passages

WORDS = [f"w{i}" for i in range(9)]


def texts(rng, n, most):
    return [" ".join(rng.choice(WORDS, size)) for size in rng.integers(0, most, n).tolist()]


@pytest.mark.parametrize("measure", ["containment", "resemblance", "ngram:3"])
def test_documents_contain_what_sets_and_loops_say(rng, monkeypatch, measure):
    """Long lists are left out in part; references are shorter than a shingle, have phrases that many have, or are none."""
    met = 0
    for long, passage, (n, references) in product([0, 64], [None, 6], [(0, 0), (0, 5), (3, 0), (40, 30)]):
        monkeypatch.setattr(passages, "LONG", long)
        against = [f"{' '.join(WORDS[: i % 4])} {text}" for i, text in enumerate(texts(rng, references, 25))]
        data = [
            " ".join([*rng.permuted([*texts(rng, 2, 20), *against[i : i + 2]]), text])
            for i, text in enumerate(texts(rng, n, 30))
        ]
        how = {"measure": measure, "passage": passage, "min_tokens": 2, "common": 9}
        how |= {} if measure == "ngram:3" else {"threshold": 0.2, "width": 3}
        result = la.decontaminate(data, against=against, **how)
        scores = ("resemblance", "containment", "begin", "end")
        rows = result.matches.to_pylist()
        best = {(row["id"], row["reference"]): (row["passage"] or 0, *(row[name] for name in scores)) for row in rows}
        listed = [one for some in result._listed.pieces(0, 0, n) for one in some.to_pylist()]
        pieces = {i: [*zip(some[::2], some[1::2], strict=True)] for i, some in enumerate(listed)}
        assert (best, pieces) == naive.overlap(data, against, **how)[:2]
        met += len(best)
    assert met > 20


def test_values_are_numbered_by_first_appearance_and_found(rng):
    """Among them 0, the number that stands for it, and, the factor being known, values that all begin at one place."""
    for n in [0, 1, 7, 8, 9, 3000]:
        factor = core.index_values(np.empty(0, np.uint64))[0][2]
        assert factor % 2
        crafted = np.arange(n, dtype=np.uint64) * np.uint64(pow(factor, -1, 1 << 64))
        values = np.concatenate(
            [rng.permutation(np.repeat(crafted, 2)), np.array([0, 0xA0761D6478BD642F, 5] if n else [], np.uint64)]
        )
        index, out, count = core.index_values(values)
        known = {}
        zero = [v or 0xA0761D6478BD642F for v in values.tolist()]
        assert out.tolist() == [known.setdefault(value, len(known)) for value in zero] and count == len(known)
        asked = np.concatenate([values, rng.integers(1, 1 << 63, n, dtype=np.uint64)])
        places, numbers = core.find_values(asked, index)
        assert places.tolist() == list(range(len(values))) and numbers.tolist() == out.tolist()
