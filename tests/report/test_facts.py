from collections import Counter

import numpy as np
import pytest

from lookalike.report.facts import BINS, OUTCOMES, gather, score_bins, share_between
from lookalike.report.samples import near_misses
from lookalike.results.members import Numbers

KEPT = [f"b{i}" for i in range(0, 20, 3)] + [f"a{i}" for i in range(6, 20, 2)]
BY_HAND = [{"id": id, "action": "keep"} for id in KEPT]
BY_HAND += [{"id": id, "action": "remove"} for id in ("a5", "c2", "c9", "c11", "c13")]


def facts_of(result):
    how = {"n_least": 5, "n_audit": 7, "n_groups": 4, "seed": 1, "n_sources": len(result.provenance["inputs"])}
    facts = gather(result.rows(), Numbers(result.rows()), result.threshold, **how)
    return facts, result.decisions.to_pylist()


def counted(array):
    return {place if len(place) > 1 else place[0]: int(n) for place, n in np.ndenumerate(array) if n}


@pytest.mark.parametrize("references, settings", [
    (True, {}), (False, {}), (True, {"empty": "drop", "keep": "last"}), (False, {"keep": "longest", "evidence": "all"}),
    (True, {"overrides": BY_HAND}),
])  # fmt: skip
def test_counts_by_source_and_outcome(run, references, settings):
    facts, rows = facts_of(run(references, **settings))
    rows = [row | {"from": row["position"] >> 40} for row in rows if row["reason"] != "reference"]
    wanted, lengths = Counter((OUTCOMES.index(row["reason"]), row["from"]) for row in rows), Counter()
    assert counted(facts.sources[: len(OUTCOMES)]) == wanted
    removed = Counter()
    for row in rows:
        removed[row["from"]] += row["bytes"] * (not row["kept"])
        lengths[row["bytes"].bit_length()] += row["reason"] == "kept"
    assert facts.sources[-1].tolist() == [removed[i] for i in range(facts.sources.shape[1])]
    assert facts.n_bytes.sum() == sum(row["bytes"] for row in rows) and facts.lengths.sum() == len(rows)
    assert counted(facts.lengths[0]) == +lengths
    if not settings:
        assert facts.vanished == [1 + references], "b.jsonl; references do not count"


def test_the_matrix_says_who_duplicates_whom(run):
    facts, rows = facts_of(run(True))
    position = {row["order"]: row["position"] for row in rows}
    removed = (row for row in rows if row["reason"] in ("exact", "near"))
    wanted = Counter((row["position"] >> 40, position[row["keeper"]] >> 40) for row in removed)
    places = [*facts.shown, None]
    assert {(places[i], places[j]): n for (i, j), n in counted(facts.matrix).items()} == wanted and len(wanted) > 3


def test_bins_have_a_place_for_every_score():
    for threshold in (0.01, 0.5, 0.8, 0.995, 1.0):
        bins = score_bins(threshold)
        assert len(bins) == BINS + 1 and bins[0] <= threshold and bins[-1] == 1.0 and (np.diff(bins) > 0).all()
    counts = np.zeros(BINS, np.int64)
    assert share_between(counts, bins) is None
    counts[[3, 5]] = [1, 9]
    assert share_between(counts, score_bins(0.8)) == pytest.approx((0.815, 0.8275, 0.83), abs=1e-9)


def test_the_rows_that_are_chosen(run):
    facts, rows = facts_of(run(True))
    near = sorted((row["resemblance"], place) for place, row in enumerate(rows) if row["reason"] == "near")
    assert facts.least.tolist() == [place for _, place in near[:5]]
    drawn = set(facts.audit.tolist())
    assert drawn <= {place for _, place in near} and len(drawn) == 7
    sizes = sorted((row["n_duplicates"] + 1 for row in rows if row["n_duplicates"]), reverse=True)
    assert [group.members.size for group in facts.groups] == sizes[:4]
    for group in facts.groups:
        its = [score for score, place in near if rows[place]["keeper"] == rows[group.members.row]["order"]]
        least, *drawn = group.shown.tolist()
        assert group.scores.sum() == len(its) and rows[least]["resemblance"] == its[0]
        assert set(drawn) < set(group.members.near.tolist()) and drawn == sorted(drawn)


def test_the_nearest_misses_are_shown_whatever_the_order_in_which_they_come():
    parts = [([3, 1], [4, 2], [0.6, 0.75]), ([5], [6], [0.7])]
    found = near_misses(lambda lowest: [tuple(map(np.array, part)) for part in parts], 0.8, 0.5, 2, lambda score: 0.5)
    assert (found.left.tolist(), found.right.tolist(), found.score.tolist()) == ([1, 5], [2, 6], [0.75, 0.7])
    assert found.total == 3 and found.expected == pytest.approx(6)
