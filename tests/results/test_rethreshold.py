"""Deciding anew at a higher threshold: by the open job, or from all verified pairs."""

import pickle

import pytest
from same_results import VARIANTS, corpus

import lookalike as la

BASE = [f"word{i}" for i in range(60)]
A, A2, A3 = (" ".join([*BASE, *more]) for more in ([], ["more"], ["more", "and", "more", "still"]))
B, B2 = (" ".join([f"other{i}" for i in range(50)] + more) for more in ([], ["x"]))


@pytest.mark.parametrize("settings", VARIANTS, ids=str)
@pytest.mark.parametrize("against", [False, True])
def test_a_walk_over_all_pairs_is_a_decision_of_the_open_job(rng, tmp_path, settings, against):
    table = corpus(rng)
    data, reference = (table.slice(30), table.slice(0, 30)) if against else (table, None)
    settings = {"threshold": 0.55, "id": "id", "max_bucket": 10**6} | settings
    opened = la.dedup(data, against=reference, **settings)
    everything = la.dedup(data, against=reference, evidence="all", **settings)
    everything.save(tmp_path / "saved")
    loaded = la.Result.load(tmp_path / "saved")
    seen = set()
    for threshold in (0.55, 0.7, 0.9, 1.0):
        wanted = opened.rethreshold(threshold)
        for result in (everything, loaded, pickle.loads(pickle.dumps(loaded))):
            found = result.rethreshold(threshold)
            assert found.decisions.drop("leader").equals(wanted.decisions)
            assert found.removed.equals(wanted.removed) and found.annotations.equals(wanted.annotations)
            for name in (
                "documents", "reference", "empty", "kept", "near_duplicates", "exact_duplicates", "empty_dropped", "least_alike",
                "text_bytes", "candidate_pairs", "crowded", "recall_planned", "threshold", "score", "found_by", "plan",
            ):  # fmt: skip
                assert getattr(found.summary, name) == getattr(wanted.summary, name), name
            assert (found.summary.verified_pairs, wanted.summary.verified_pairs) == (len(found.pairs), len(wanted.pairs))
            assert found.settings.to_dict() | {"evidence": ""} == wanted.settings.to_dict() | {"evidence": ""}
        seen.add(wanted.summary.kept)
        again = found.rethreshold(1.0)
        assert again.decisions.equals(everything.rethreshold(1.0).decisions)
    assert len(seen) > 1
    with pytest.raises(la.ParameterError, match="from 0.55 to 1"):
        loaded.rethreshold(0.5)


def test_copies_follow_their_first_at_any_threshold():
    """The first of a set of equal texts is kept at the higher threshold: its copy is no longer named after another document."""
    result = pickle.loads(pickle.dumps(la.dedup([A, A3, A3, A2], threshold=0.5, evidence="all")))
    assert [row["reason"] for row in result.decisions.to_pylist()] == ["kept", "near", "near", "near"]
    higher = result.rethreshold(0.97)
    assert [(r["reason"], r["duplicate_of"]) for r in higher.decisions.to_pylist()] == [
        ("kept", None), ("kept", None), ("exact", 1), ("near", 0)]  # fmt: skip


def test_rethreshold_says_what_it_needs(tmp_path):
    result = la.dedup([A, A2, B], threshold=0.5)
    result.save(tmp_path / "saved")
    for other in (la.Result.load(tmp_path / "saved"), pickle.loads(pickle.dumps(result))):
        with pytest.raises(la.ParameterError, match='run dedup with evidence="all"'):
            other.rethreshold(0.9)
    assert result.rethreshold(0.9).rethreshold(0.6).threshold == 0.6, "an open job goes back to its own threshold"
    with pytest.raises(la.ParameterError, match="evidence must be one of keepers, all"):
        la.dedup([A], evidence="some")
