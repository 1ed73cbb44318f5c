"""The numbers of a page, against the tables of the result, counted in plain Python."""

from collections import Counter

import numpy as np
import pytest

from lookalike.report.facts import BINS, OUTCOMES, gather, score_bins, share_between
from lookalike.results.members import Numbers

BY_HAND = {
    "overrides": [{"id": f"b{i}", "action": "keep"} for i in range(0, 20, 3)]
    + [{"id": name, "action": "remove"} for name in ("a5", "c2", "c9", "c11", "c13")]
    + [{"id": f"a{i}", "action": "keep"} for i in range(6, 20, 2)]
}


def facts_of(result, **wanted):
    """The facts of a result."""
    how = {"n_least": 5, "n_audit": 7, "n_groups": 4, "seed": 1} | wanted
    n_sources = len(result.provenance["inputs"])
    return gather(result.rows(), Numbers(result.rows()), result.threshold, n_sources=n_sources, **how)


@pytest.mark.parametrize("references", [True, False])
@pytest.mark.parametrize("settings", [{}, {"empty": "drop", "keep": "last"}, {"keep": "longest", "evidence": "all"}, BY_HAND])
def test_counts_by_source_and_outcome(run, references, settings):
    result = run(references, **settings)
    facts = facts_of(result)
    rows = [row for row in result.decisions.to_pylist() if row["reason"] != "reference"]
    table = Counter((row["reason"], row["position"] >> 40) for row in rows)
    assert {(name, i): int(n) for k, name in enumerate(OUTCOMES) for i, n in enumerate(facts.sources[k]) if n} == table
    removed = Counter()
    for row in rows:
        removed[row["position"] >> 40] += row["bytes"] * (not row["kept"])
    assert facts.sources[-1].tolist() == [removed[i] for i in range(facts.sources.shape[1])]
    assert facts.n_bytes.sum() == sum(row["bytes"] for row in rows)
    assert facts.lengths.sum() == len(rows)
    lengths = Counter(row["bytes"].bit_length() for row in rows if row["reason"] == "kept")
    assert {i: n for i, n in enumerate(facts.lengths[0].tolist()) if n} == lengths


def test_a_source_that_vanishes_is_named(run):
    assert facts_of(run(True)).vanished == [2], "b.jsonl; the references do not count"
    assert facts_of(run(False)).vanished == [1]


def test_the_matrix_says_who_duplicates_whom(run):
    result = run(True)
    facts = facts_of(result)
    rows = result.decisions.to_pylist()
    position = {row["order"]: row["position"] for row in rows}
    wanted = Counter(
        (row["position"] >> 40, position[row["keeper"]] >> 40) for row in rows if row["reason"] in ("exact", "near")
    )
    places = [*facts.shown, None]
    found = {(places[i], places[j]): int(n) for (i, j), n in np.ndenumerate(facts.matrix) if n}
    assert found == wanted and len(wanted) > 3


def test_bins_have_a_place_for_every_score():
    for threshold in (0.01, 0.5, 0.8, 0.995, 1.0):
        bins = score_bins(threshold)
        assert len(bins) == BINS + 1 and bins[0] <= threshold and bins[-1] == 1.0 and (np.diff(bins) > 0).all()
    counts = np.zeros(BINS, np.int64)
    assert share_between(counts, bins) is None
    counts[[3, 5]] = [1, 9]
    low, middle, high = share_between(counts, score_bins(0.8))
    assert (round(low, 3), round(middle, 4), round(high, 3)) == (0.815, 0.8275, 0.83)


def test_the_rows_that_are_chosen(run):
    result = run(True)
    facts = facts_of(result)
    rows = result.decisions.to_pylist()
    near = sorted((row["resemblance"], place) for place, row in enumerate(rows) if row["reason"] == "near")
    assert facts.least.tolist() == [place for _, place in near[:5]]
    assert set(facts.audit.tolist()) <= {place for _, place in near} and len(set(facts.audit.tolist())) == 7


def test_groups_are_the_largest(run):
    result = run(True)
    rows = result.decisions.to_pylist()
    sizes = sorted((row["n_duplicates"] + 1 for row in rows if row["n_duplicates"]), reverse=True)
    groups = facts_of(result).groups
    assert [group.members.size for group in groups] == sizes[:4]
    for group in groups:
        order = rows[group.members.row]["order"]
        own = [row for row in rows if row["keeper"] == order and row["order"] != order]
        assert group.scores.sum() == sum(row["reason"] == "near" for row in own)
        least, *drawn = group.shown.tolist()
        assert least == group.members.near[0] and set(drawn) < set(group.members.near.tolist()) and drawn == sorted(drawn)
