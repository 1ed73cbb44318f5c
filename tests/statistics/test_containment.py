import pytest
from scipy import stats

import lookalike as la
from lookalike.theory import containment


def planted(rng, n, size, times, share):
    """Pairs of ``times * size`` words, and ``size`` words of which exactly ``share`` are among them."""
    common, texts = round(share * size), []
    words = [f"w{j:06}" for j in range(times * size + size - common)]
    for i in range(n):
        begin = int(rng.integers(0, times * size - common + 1))
        for some in (words[: times * size], words[begin : begin + common] + words[times * size :]):
            texts.append(f"d{i:04}" + f" d{i:04}".join(some))
    return texts


@pytest.mark.parametrize(("threshold", "recall", "size"), [(0.9, 0.99, 200), (0.8, 0.9, 100), (0.5, 0.8, 60)])
def test_a_document_inside_one_of_any_size_is_found_with_the_recall_stated(rng, threshold, recall, size):
    """At the threshold; a sample is one without repeats."""
    sample, least = containment.plan_sample(threshold, recall)
    exact = stats.hypergeom.sf(least - 1, size, round(threshold * size), sample)
    for times, n in {1: 1500, 10: 800, 100: 250, 1000: 40}.items():
        texts = planted(rng, n, size, times, threshold)
        result = la.dedup(texts, measure="containment", threshold=threshold, recall=recall, width=1)
        removed = result.removed
        assert removed["id"].to_pylist() == [i + 1 for i in removed["duplicate_of"].to_pylist()]
        assert set(removed["containment"].to_pylist()) == {threshold}
        assert recall <= result.summary.recall_planned <= exact
        assert abs(len(removed) / n - exact) <= 5 * (exact * (1 - exact) / n) ** 0.5 + 1 / n
        assert len(removed) / n >= recall - 5 * (recall * (1 - recall) / n) ** 0.5
