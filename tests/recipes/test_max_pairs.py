"""A list of pairs that is cut: to what length, and that it says so whenever candidates or links were cut."""

import numpy as np
import pytest
from listing import find_pairs

from lookalike.recipes import pairs as pairs_module

BASE = [f"word{i}" for i in range(100)]
A = " ".join(BASE)
NEAR = [" ".join([*BASE, f"own{i}"]) for i in range(6)]
B = " ".join(f"other{i}" for i in range(50))


@pytest.fixture
def searched(monkeypatch):
    """Collects what jobs searched."""
    found = []
    search = pairs_module.search
    monkeypatch.setattr(pairs_module, "search", lambda *a, **k: found.append(search(*a, **k)) or found[-1])
    return found


@pytest.mark.parametrize(
    "settings", [{}, {"verify": "sketch"}, {"verify": "none"}, {"method": "simhash", "radius": 8}], ids=str
)
@pytest.mark.parametrize("texts", [NEAR, [A] * 6, [A, A, *NEAR, B, ""]], ids=["near", "equal", "both"])
def test_a_list_is_cut_where_it_is_longer(texts, settings):
    """Of the corpora each pair of documents, one after the other left out, is a near-duplicate."""
    whole = find_pairs(texts, **settings)
    n = len(whole.table)
    alike = len([text for text in texts if text not in (B, "")])
    assert n == alike * (alike - 1) // 2 and not whole.summary["cut_by_max_pairs"]
    rows = whole.table.to_pylist()
    for most in (1, n - 1, n, n + 1, 10**6):
        cut = find_pairs(texts, max_pairs=most, **settings)
        assert len(cut.table) == cut.summary["pairs"] == min(most, n)
        assert cut.summary["cut_by_max_pairs"] is (most < n), most
        assert all(row in rows for row in cut.table.to_pylist())
        if cut.summary["candidate_pairs"] == whole.summary["candidate_pairs"]:
            assert cut.table.equals(whole.table.slice(0, most)), "the first, in the order of the input"
        assert cut.summary["candidate_pairs"] <= most
        assert cut.provenance["parameters"]["max_pairs"] == most


def test_what_is_cut_before_it_is_compared_is_told_too(searched):
    """Candidates beyond the limit are not compared, and links of a band beyond it are not made: what is listed may be short."""
    rng = np.random.default_rng(3)
    texts = []
    for family in range(30):
        base = [f"f{family}w{i}" for i in range(60)]
        for _ in range(4):
            places = rng.choice(60, 12, replace=False)
            texts.append(" ".join(f"n{rng.integers(10**9)}" if i in places else word for i, word in enumerate(base)))
    settings = {"threshold": 0.5, "recall": 0.9999, "width": 1}
    whole = find_pairs(texts, max_pairs=10**6, **settings)
    n, candidates, links = len(whole.table), whole.summary["candidate_pairs"], searched.pop().n_links
    assert n < candidates < links and not whole.summary["cut_by_max_pairs"]
    for most in (1, n - 1, n, n + 1, candidates - 1, candidates, candidates + 1, links - 1, links, links + 1):
        cut = find_pairs(texts, max_pairs=most, **settings)
        found = searched.pop()
        assert cut.summary["candidate_pairs"] <= most and len(cut.table) <= most
        if not cut.summary["cut_by_max_pairs"]:
            assert most >= links == found.n_links and cut.table.equals(whole.table)
        if most >= links:
            assert not cut.summary["cut_by_max_pairs"]
