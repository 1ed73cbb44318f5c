import pickle

import numpy as np
import pytest
from fingerprint_words import as_ints, check_first, file_of, planted, triples
from naive import hamming as naive

from lookalike.search import WeakBitIndex
from lookalike.theory.blocks import combinations_within


def near_queries(rng, words, bits, most):
    """Queries some bits away, and margins: bits that differ are weak ones."""
    margins = rng.normal(0, 1, (len(words), bits)).astype(np.float32)
    queries = words.copy()
    for row in range(len(words)):
        weak = np.argsort(np.abs(margins[row]))[: bits // 3]
        for bit in rng.choice(weak, rng.integers(0, most + 1), replace=False):
            queries[row, bit // 64] ^= np.uint64(1 << int(bit % 64))
    return queries, margins


@pytest.mark.parametrize(
    ("bits", "prefix", "radius", "probes"),
    [(32, 6, 3, 2), (64, 7, 4, 10), (128, 8, 3, 10), (128, 8, 3, 1), (64, 1, 2, 1), (64, 1, 2, 2)],
)
def test_pairs_are_those_that_the_prefixes_probed_hold(rng, tmp_path, bits, prefix, radius, probes):
    words = planted(rng, 150, bits, radius)
    queries, margins = near_queries(rng, words[:60], bits, radius + 1)
    given = as_ints(queries), as_ints(words)
    if probes >= combinations_within(prefix, radius):
        twin = naive.within(*given, radius)
    else:
        twin = naive.within_probed(given[0], margins.tolist(), given[1], bits, prefix, radius, probes)
    expected = sorted((q, s, d) for (q, s), d in twin.items())
    make = {"radius": radius, "prefix_bits": prefix, "probes": probes, "bits": bits}
    index = WeakBitIndex(**make).add(words[:50]).add(words[50:])
    assert triples(index.query(queries, margins)) == expected
    assert triples(pickle.loads(pickle.dumps(index)).query(queries, margins)) == expected
    assert [(q, s, d) for q in range(60) for _, s, d in triples(index.query(queries[[q]], margins[[q]]))] == expected
    first = index.first(queries, margins)
    check_first(first, expected)
    file = file_of(tmp_path, words[:50], words[50:], bits=bits)
    assert triples(file.query(queries, WeakBitIndex(**make), margins)) == expected
    assert (file.first(queries, WeakBitIndex(**make), margins) >= 0).tolist() == (first >= 0).tolist()
