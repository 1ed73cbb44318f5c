from unittest.mock import patch

from cut_tables import batches, cuts, run
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import walk as naive

from lookalike.methods.method import rows_of_pieces
from lookalike.steps.verify import verify, walk
from lookalike.text.shingle import Shingling
from lookalike.values.tables import BUNDLES

KEYS = (bytes(16), bytes(range(16)), b"\xff" * 16)


class Sets:
    n_estimates = 2

    def comparable(self, pieces):
        return rows_of_pieces(pieces)


@st.composite
def bundled(draw):
    """Documents (bundle, order, words, partners); orders of bundles are interleaved."""
    documents = []
    bundle_of = draw(st.lists(st.sampled_from([0, 1, 5]), min_size=1, max_size=14))
    for order, bundle in enumerate(bundle_of):
        before = [2 * o for o in range(order) if bundle_of[o] == bundle]
        partners = draw(st.lists(st.sampled_from(before), unique=True)) if before else []
        documents.append((bundle, 2 * order, draw(st.lists(st.sampled_from("abcdef"), max_size=8)), partners))
    return sorted(documents, key=lambda d: d[:2])


def twin(documents, score, threshold, boundary, every):
    removed, found = set(), []
    for _, order, _, partners in documents:
        for other in partners:
            if order >= boundary and (every or other not in removed) and score(other, order) >= threshold:
                found.append((other, order, score(other, order)))
                if other not in removed:
                    removed.add(order)
    return found


def of_pivots(documents):
    """The rows of bundles of a pivot and its later partners, and the pairs."""
    rows, pairs = [], []
    for bundle, pivot, words, _ in documents:
        partners = [d for d in documents if d[0] == bundle and pivot in d[3]]
        rows += [(pivot, *d[1:]) for d in ([(bundle, pivot, words, []), *partners] if partners else [])]
        pairs += [(pivot, d[1]) for d in partners]
    return rows, pairs


@settings(max_examples=200)
@given(
    st.sampled_from([1, 300, 1 << 21]), bundled(), st.sampled_from([0.3, 0.5, 0.8, 1.0]), st.integers(0, 12), cuts,
    st.sampled_from(KEYS), st.booleans(),
)  # fmt: skip
def test_what_is_found_is_that_of_the_twin(weight, documents, threshold, boundary, cut, key, every):
    words = {d[1]: set(d[2]) for d in documents}

    def score(a, b):
        return naive.resemblance(words[a], words[b]) if words[a] else -1.0

    def found(step, rows, schema, **how):
        texts = [(bundle, order, " ".join(words).encode(), partners) for bundle, order, words, partners in rows]
        made = batches(dict(zip(BUNDLES.names, zip(*texts, strict=True), strict=True)), schema, cut)
        how |= {"method": Sets(), "shingling": Shingling(width=1), "key": key, "threshold": threshold, "boundary": boundary}
        return run(step, made, **how)

    with patch("lookalike.steps.batches.PIECE_WEIGHT", weight):
        assert found(walk, documents, BUNDLES, all_pairs=every) == twin(documents, score, threshold, boundary, every)
        rows, pairs = of_pivots(documents)
        if rows:
            wanted = [(a, b, score(a, b)) for a, b in pairs if score(a, b) >= threshold and b >= boundary]
            assert found(verify, rows, BUNDLES.remove(BUNDLES.get_field_index("partners"))) == wanted
