"""The recall that is printed is that of pairs exactly at the threshold, whatever decides about them."""

import pytest
from listing import find_pairs
from samples import one_in

import lookalike as la
from lookalike.theory import banding, shares, simhash


def planted(rng, n, union, common):
    """2 n texts of distinct words; 2i and 2i + 1 have ``common`` words of ``union`` in common."""
    half, texts = (union - common) // 2, []
    for _ in range(n):
        words = [f"w{x}" for x in rng.choice(1 << 50, union, replace=False)]
        texts += [" ".join(words[: common + half]), " ".join(words[:common] + words[common + half :])]
    return texts


def found_share(table):
    return sum(row["left_id"] // 2 == row["right_id"] // 2 for row in table.to_pylist())


@pytest.mark.parametrize(
    ("size", "verify"),
    one_in(2, [((10, 8, 0.8),), ((100, 80, 0.8),), ((400, 360, 0.9),), ((40, 20, 0.5),)], ["exact", "sketch", "none"]),
)
def test_pairs_at_the_threshold_are_found_with_the_recall_stated(rng, verify, size):
    """0.1 stated .9923 for estimates, which find about half. Few shingles make slots vary less: .03 in the bands."""
    union, common, threshold = size
    n = 1000 if union <= 100 else 300
    found = find_pairs(planted(rng, n, union, common), threshold=threshold, verify=verify, width=1)
    stated = found.summary["recall_planned"]
    assert stated > 0.99 if verify != "sketch" else 0.45 < stated < 0.55
    slack = 0.0 if verify != "sketch" else 0.01
    assert abs(found_share(found.table) / n - stated) < slack + 5 * (stated * (1 - stated) / n) ** 0.5 + 1 / n


@pytest.mark.parametrize(("verify", "radius", "most"), [("exact", 5, 5), ("sketch", 5, 5), ("sketch", 10, 6), ("none", 10, 10)])
def test_recall_of_fingerprints_is_that_of_all_they_have_to_pass(rng, verify, radius, most):
    """Cosine .95 less a rounding: estimates reach it up to a distance of 6 of 64 bits."""
    n, threshold = 800, 0.95 - 1e-9
    texts = planted(rng, n, 105, 95)
    found = find_pairs(texts, method="simhash", threshold=threshold, radius=radius, verify=verify, width=1)
    stated = found.summary["recall_planned"]
    assert stated == pytest.approx(simhash.within_radius(threshold, most, 64))
    assert abs(found_share(found.table) / n - stated) < 5 * (stated * (1 - stated) / n) ** 0.5
    if verify == "sketch":
        beyond = la.dedup(["a b c"], method="simhash", threshold=1.0, radius=radius, verify="sketch").summary
        assert beyond.recall_planned == 1.0, "equal vectors have equal fingerprints"


@pytest.mark.parametrize("verify", ["exact", "sketch"])
def test_a_higher_threshold_states_the_bands_that_were_searched(rng, verify):
    """0.1 wrote bands into the provenance that nobody had searched, and the recall of the lower threshold into the plan."""
    base = la.dedup(planted(rng, 30, 40, 36), threshold=0.7, verify=verify, width=1)
    higher = base.rethreshold(0.9)
    plan, searched, said = higher.summary.plan, base.summary.plan, higher.provenance["parameters"]
    assert [(plan[name], said[name]) for name in ("bands", "rows")] == [(searched[name],) * 2 for name in ("bands", "rows")]
    assert said["threshold"] == plan["threshold"] == 0.9 and la.plan(threshold=0.9).bands != plan["bands"]
    expected = banding.candidate_probability(0.9, plan["bands"], plan["rows"])
    expected *= shares.reach_probability(0.9, 0.9, 256) if verify == "sketch" else 1
    for stated in (higher.summary.recall_planned, higher.summary.recall_vouched, plan["recall_at_threshold"]):
        assert stated == pytest.approx(expected)
