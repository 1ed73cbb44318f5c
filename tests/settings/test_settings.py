import json
import os
import time
from functools import partial
from itertools import product

import numpy as np
from listing import find_pairs
from raising import assert_raises

import lookalike as la

TEXTS = ["one two three four five six", "One two, three four five six", "quite another text"]


refused = partial(assert_raises, la.errors.ParameterError)


WRONG = [  # settings that are refused, by the words that say why
    ("threshold must be a number; got '0.8', of type str", {"threshold": "0.8"}),
    ("threshold must be a number", {"threshold": True}),
    ("threshold must be a number in", {"threshold": float("nan")}),
    ("recall must be a number", {"recall": None}),
    ("verify must be one of exact, sketch, none; got None", {"verify": None}),
    ("id must be a str or None", {"id": 5}),
    ("seed must be in", {"seed": -1}),
    ("seed must be in", {"seed": 1 << 64}),
    ("seed must be an integer", {"seed": 1.0}),
    ("threads must be at least 1", {"threads": 0}),
    ("threads must be an integer", {"threads": True}),
    ("radius must be an integer", {"radius": 1.5}),
    ("radius must be in", {"radius": 17}),
    ("permutations must be an integer", {"permutations": 64.5}),
    ("bands must be an integer", {"bands": True, "rows": 3}),
    ("max_bucket must be an integer", {"max_bucket": "3"}),
    ("memory must be at least", {"memory": 0}),
    *(("memory must be a number of bytes", {"memory": wrong}) for wrong in ("1e400", float("inf"), True, [4])),
    ("tokenizer must be callable", {"tokenizer": "words"}),
    ("threshold must be in", {"method": "simhash", "threshold": 1.5}),
    ("it is the probability of finding a pair", {"recall": 1.01}),
    ("recall must be", {"recall": 0.0}),
    ("verify must be exact; got 'sketch'", {"recall": 1, "verify": "sketch"}),
    ("got minhash and containment", {"recall": 1, "measure": "containment"}),
    ("got simhash and resemblance: take less", {"recall": 1, "method": "simhash"}),
    ("bands and rows are for a recall below 1", {"recall": 1, "bands": 4, "rows": 2}),
    ("verify must be one of", {"verify": "hope"}),
    ("unit must be one of", {"unit": "sentence"}),
    ("width must be", {"width": 0}),
    ("max_bucket must be at least 2", {"max_bucket": 1}),
    ("encoding_errors must be one of", {"encoding_errors": "ignore"}),
    ("normalization must be one of", {"normalization": "NFD"}),
    ("measure must be one of", {"measure": "overlap"}),
    ("floor, which is for measure containment", {"floor": 0.4}),
    (r"must be in \[0, 1\]; got 1.1", {"measure": "containment", "floor": 1.1}),
    ("verify must be exact; got 'sketch': leave it out", {"measure": "containment", "verify": "sketch"}),
    ("measured by the method minhash; got 'simhash'", {"measure": "containment", "method": "simhash"}),
    ("bands and rows are for resemblance", {"measure": "containment", "bands": 2, "rows": 3}),
    ("459 are needed; raise the threshold", {"measure": "containment", "threshold": 0.01}),
    ("html must be True or False; got 1", {"html": 1}),
    ("fold_case must be True or False; got None", {"fold_case": None}),
]


def test_a_value_of_a_wrong_type_or_range_is_refused():
    """None is a default for ``keep`` alone."""
    for said, wrong in WRONG:
        for function in (la.dedup, la.pairs):
            refused(said, function, TEXTS, **wrong)
    for name, wrong in product(("keep", "empty", "evidence"), (None, "", True, b"first", ["best"], "best", "largest:")):
        if name != "keep" or wrong is not None:
            refused(f"{name} must be (a str( or None)?; got|one of)", la.dedup, TEXTS, **{name: wrong})
    assert la.Settings(keep=None).keep == "first" and la.Settings(measure="containment").keep == "longest"
    for name, wrong in {"ignore": 5, "against": 5, "work": "", "output": np.zeros(2)}.items():
        assert_raises(la.LookalikeError, f"^{name} must be a path", la.dedup, ["a"], **{name: wrong})


def test_numbers_of_numpy_are_numbers_of_the_job(tmp_path):
    result = la.dedup(TEXTS, threshold=np.float32(0.5), seed=np.uint64(3), threads=np.int32(1), fold_case=np.True_)
    assert result.keep.tolist() == [True, False, True]
    result.write(tmp_path / "out.jsonl")
    assert json.loads((tmp_path / "out.jsonl_lookalike.json").read_text())["parameters"]["seed"] == 3


def test_simhash_needs_no_plan():
    """No number of bands reaches this recall at this threshold, and none is needed."""
    refused("cannot reach recall", la.dedup, TEXTS, threshold=0.001)
    for verify in ("exact", "sketch"):
        how = {"threshold": 0.001, "method": "simhash", "verify": verify}
        result = la.dedup(TEXTS, **how)
        assert result.keep.tolist() == [True, False, True] and result.summary.plan == {}
        assert find_pairs(TEXTS, **how).summary["plan"] == {}


def test_a_closed_result_says_so(tmp_path):
    result, unread = la.dedup(TEXTS, threshold=0.5), la.dedup(TEXTS)
    removed, again = result.removed, result.rethreshold(0.6)
    result.close()
    unread.close()
    for one, *names in ((again, "pairs", "removed"), (result, "pairs", "clusters", "annotations"), (unread, "removed")):
        for name in names:
            refused("this result is closed", getattr, one, name)
    refused("this result is closed", result.rethreshold, 0.9)
    refused("this result is closed", result.write, tmp_path / "out.jsonl")
    assert result.removed is removed and result.keep.sum() == 2 and result.summary.kept == 2
    assert not (tmp_path / "out.jsonl").exists()


def test_a_result_says_what_it_measured_itself(tmp_path, monkeypatch):
    """The peak of memory is taken after writing; the seconds of another threshold are its own."""
    result, began = la.dedup(TEXTS, threshold=0.5), time.perf_counter()
    again = result.rethreshold(0.9)
    assert sum(again.summary.seconds.values()) <= time.perf_counter() - began
    assert "reading and sketching" not in again.summary.seconds and "reading and sketching" in result.summary.seconds
    pairs = find_pairs(TEXTS)
    for module in ("results.result", "recipes.pairs"):
        monkeypatch.setattr(f"lookalike.{module}.peak_memory", lambda: 12345)
    for number, job in enumerate((result, pairs)):
        job.write(tmp_path / f"{number}.jsonl")
    assert result.summary.peak_memory == pairs.summary["peak_memory"] == 12345


def test_threads_where_the_system_does_not_tell_processors(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    for known, threads in ((6, 6), (None, 1)):
        monkeypatch.setattr(os, "cpu_count", lambda known=known: known)
        assert la.Settings().n_threads == threads


def test_what_repeats_a_job_has_its_policy():
    for measure, keep in product(("resemblance", "containment"), ("first", "last", "longest")):
        assert la.Settings(**la.Settings(measure=measure, keep=keep).config()).keep == keep
