from dataclasses import fields, replace
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.results.summary import Summary

HALVES = SimpleNamespace(recall=lambda threshold: threshold / 2, describe=lambda: "by halves", plan_dict=lambda: {"halves": 2})


def summary(**changed):
    known = {
        "documents": 90, "reference": 4, "empty": 3, "exact_duplicates": 11, "near_duplicates": 12, "empty_dropped": 0, "kept": 67,
        "text_bytes": 5_000_000, "candidate_pairs": 130, "verified_pairs": 31, "crowded": 44, "recall_planned": 0.99,
        "recall_vouched": 0.98, "verified_by": "exact", "threshold": 0.8, "least_alike": [], "score": "resemblance",
        "found_by": "8 bands", "seconds": {"reading": 1.0, "nothing": 0.001, "keeping": 1.5}, "peak_memory": 400_000_000,
    }  # fmt: skip
    return Summary(**known | changed)


def test_a_plan_that_finds_nothing_vouches_for_what_the_other_threshold_promises():
    assert summary(recall_planned=0.0, recall_vouched=0.0).at(0.8, HALVES).recall_vouched == 0.4


@given(st.floats(0.01, 1), st.floats(0, 1), st.floats(0.05, 1))
def test_another_threshold_keeps_the_share_that_is_vouched_for(planned, share, threshold):
    before = summary(recall_planned=planned, recall_vouched=planned * share)
    after = before.at(threshold, HALVES, kept=70, seconds={"keeping": 0.5})
    assert after.recall_planned == threshold / 2
    assert after.recall_vouched == pytest.approx(share * threshold / 2, abs=1e-12)
    assert 0 <= after.recall_vouched <= after.recall_planned
    assert (after.threshold, after.found_by, after.plan) == (threshold, "by halves", {"halves": 2})
    assert (after.kept, after.seconds) == (70, {"keeping": 0.5})
    told = ("recall_planned", "recall_vouched", "threshold", "found_by", "plan", "kept", "seconds")
    assert replace(after, **{name: getattr(before, name) for name in told}) == before
    assert before == summary(recall_planned=planned, recall_vouched=planned * share), "it is not changed itself"


def test_no_more_is_vouched_for_than_was_planned():
    """Rounding can put what is vouched for above the plan."""
    after = summary(recall_planned=0.3, recall_vouched=0.3 + 1e-16 + 2**-54).at(0.7, HALVES)
    assert after.recall_vouched == after.recall_planned == 0.35


def test_crowds_are_told_however_little_recall_they_cost():
    """Other documents may hide the loss of some in the mean."""
    for vouched, crowded in ((0.99, 0), (0.98995, 1), (0.9, 44), (0.5, 44)):
        text, said = str(summary(recall_vouched=vouched, crowded=crowded)), crowded > 0
        for words in (
            f"recall at the threshold: {vouched:.4f} on average, higher above it (0.9900 planned, 8 bands)",
            f"  {crowded} document", "in crowded buckets", "raise max_bucket=, or",
        ):  # fmt: skip
            assert (words in text) == said
        assert ("recall at the threshold: 0.9900, higher above it (8 bands);" in text) != said


def test_every_count_is_said():
    lines = str(summary(least_alike=[("a", "b\nc", 0.81, False), (7, 8, 0.9, True)])).splitlines()
    assert lines[0] == "90 documents and 4 reference documents, 5.0 MB of text"
    assert [" ".join(line.split()) for line in lines[1:]] == [
        "exact duplicates removed 11",
        "near-duplicates removed 12 (resemblance >= 0.8, exact)",
        "empty documents 3 (nothing to compare: kept, never matched; empty='drop' removes them)",
        "kept 67",
        "least similar removals (removed -> kept):",
        "0.8100 a -> b\\nc",
        "0.9000 7 -> 8 (reference)",
        "recall at the threshold: 0.9800 on average, higher above it (0.9900 planned, 8 bands); 130 candidate pairs, 31 verified",
        "44 documents in crowded buckets: they share so much text with many others, usually",
        "boilerplate, that they were compared with some of these only",
        "(to compare more, raise max_bucket=, or leave boilerplate out with ignore=)",
        "2.50 s (reading 1.00, keeping 1.50), 2 MB/s; peak memory 400 MB",
    ]
    assert repr(summary()) == str(summary())
    assert "(dropped)" in str(summary(empty_dropped=3))
    assert "empty" not in str(summary(empty=0)) and "against" not in str(summary(reference=0))


def test_estimates_are_called_so():
    by_sketch = summary(verified_by="sketch", plan={"estimation_slots": 128, "standard_error": 0.0354})
    assert "ESTIMATED" in str(by_sketch) and "from 128 slots (standard error 0.035 at the threshold)" in str(by_sketch)
    by_cosine = replace(by_sketch, score="cosine", plan={})
    assert "are based on cosines estimated from fingerprints" in str(by_cosine) and "slots" not in str(by_cosine)


def test_all_of_it_goes_into_json():
    found = summary().to_dict()
    assert list(found) == [field.name for field in fields(Summary)] and found["skipped"]["files"] == 0
