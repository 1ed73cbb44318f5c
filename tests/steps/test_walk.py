"""The steps that compare, against sets of words and the naive walk."""

from collections import Counter
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import pytest
from cut_tables import batches, cut_rows, cuts, run
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import walk as naive

from lookalike.methods.method import COSINE, fingerprints_of_words, rows_of_pieces, rows_of_signatures
from lookalike.steps import batches as pieces
from lookalike.steps.verify import verify, walk
from lookalike.text.shingle import Shingling
from lookalike.theory import simhash
from lookalike.values.tables import BUNDLES

ESTIMATED = pa.schema([*BUNDLES.remove(2).remove(2), ("estimate", pa.binary()), ("partners", BUNDLES.field("partners").type)])
KEYS = (bytes(16), bytes(range(16)), b"\xff" * 16)


class Sets:
    """Resemblance of shingle sets, or of slots."""

    n_estimates = 2

    def comparable(self, pieces):
        return rows_of_pieces(pieces)

    def estimable(self, estimates):
        return rows_of_signatures(estimates)

    def score(self, a, b):
        return naive.resemblance(set(a), set(b)) if a else -1.0

    def estimate(self, a, b):
        return float(np.mean(a == b))


class Vectors:
    """Cosine of counts, or by fingerprints."""

    n_estimates = 2

    def comparable(self, pieces):
        return rows_of_pieces(pieces, COSINE)

    def estimable(self, estimates):
        return fingerprints_of_words(estimates.view(np.uint64), 64)

    def score(self, a, b):
        a, b = Counter(a), Counter(b)
        squares = [sum(c * c for c in side.values()) for side in (a, b)]
        return sum(a[x] * b[x] for x in a) / (squares[0] * squares[1]) ** 0.5 if a and b else -1.0

    def estimate(self, a, b):
        return float(simhash.cosine(int(np.bitwise_count(a ^ b).sum()), 64))


each_method = pytest.mark.parametrize("method", [Sets(), Vectors()])
weights = st.sampled_from([1, 300, 1 << 21])


@st.composite
def bundled(draw):
    """Documents (bundle, order, words, partners); orders of bundles are interleaved, some bundles are single documents."""
    documents = []
    bundle_of = draw(st.lists(st.sampled_from([0, 1, 5]), min_size=1, max_size=14))
    for order, bundle in enumerate(bundle_of):
        before = [2 * o for o in range(order) if bundle_of[o] == bundle]
        partners = draw(st.lists(st.sampled_from(before), unique=True)) if before else []
        documents.append((bundle, 2 * order, draw(st.lists(st.sampled_from("abcdef"), max_size=8)), partners))
    return sorted(documents, key=lambda d: d[:2])


def twin(documents, score, threshold, boundary, every=False):
    """Walk by the definition: the matches, in the order in which they are found."""
    by_order, removed, found = {d[1]: d[2] for d in documents}, set(), []
    for _, order, words, partners in documents:
        for other in partners:
            if order >= boundary and (every or other not in removed) and score(by_order[other], words) >= threshold:
                found.append((other, order, score(by_order[other], words)))
                if other not in removed:
                    removed.add(order)
    return found


def rows_of(documents, schema, cut):
    columns = {
        "bundle": [d[0] for d in documents], "order": [d[1] for d in documents],
        "text": [" ".join(d[2]).encode() for d in documents], "partners": [d[3] for d in documents],
    }  # fmt: skip
    return batches(columns, schema, cut)


@contextmanager
def piece_weight(weight):
    """Few rows are compared at one go."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pieces, "PIECE_WEIGHT", weight)
        yield


def compared(step, rows, method, key=KEYS[1], **how):
    """What a step says of single words."""
    return run(step, rows, method=method, shingling=Shingling(width=1), key=key, **how)


@each_method
@settings(max_examples=150)
@given(
    weights, bundled(), st.sampled_from([0.3, 0.5, 0.8, 1.0]), st.integers(0, 12), cuts, st.sampled_from(KEYS), st.booleans()
)
def test_walk_equals_twin(method, weight, documents, threshold, boundary, cut, key, every):
    how = {"threshold": threshold, "boundary": boundary, "all_pairs": every}
    with piece_weight(weight):
        found = compared(walk, rows_of(documents, BUNDLES, cut), method, key, **how)
    assert found == twin(documents, method.score, threshold, boundary, every)


@each_method
@settings(max_examples=150)
@given(weights, bundled(), st.sampled_from([0.3, 0.8]), st.integers(0, 12), cuts, st.sampled_from(KEYS))
def test_verify_compares_each_pivot_with_its_partners(method, weight, documents, threshold, boundary, cut, key):
    words = {d[1]: d[2] for d in documents}
    rows, expected = [], []
    for _, pivot, _, _ in documents:
        partners = [d[1] for d in documents if d[1] > pivot and pivot in d[3]]
        rows += [(pivot, order, words[order], []) for order in ([pivot, *partners] if partners else [])]
        for order in partners:
            score = method.score(words[pivot], words[order])
            expected += [(pivot, order, score)] * (score >= threshold and order >= boundary)
    given_rows = rows_of(rows, BUNDLES.remove(BUNDLES.get_field_index("partners")), cut)
    with piece_weight(weight):
        assert compared(verify, given_rows, method, key, threshold=threshold, boundary=boundary) == expected


@each_method
@pytest.mark.parametrize("cut", [[], [1, 1, 4]])
def test_estimates_are_compared_where_there_is_no_text(rng, method, cut):
    slots = rng.integers(0, 2, (8, 2), dtype=np.uint32)
    documents = [(0, order, slots[order], list(range(order))) for order in range(8)]
    rows = [(bundle, order, words.tobytes(), partners) for bundle, order, words, partners in documents]
    found = compared(walk, cut_rows(rows, ESTIMATED, cut), method, threshold=0.99, boundary=1)
    assert found == twin(documents, method.estimate, 0.99, 1) and found
