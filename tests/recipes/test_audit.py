"""The audit, against all pairs compared in plain Python; and near misses, against the same."""

import json
from contextlib import contextmanager
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from corpora import planted
from engine_kinds import prepare

import lookalike as la
from lookalike.recipes import audit as auditing
from lookalike.theory import containment as sampling


def true_matches(texts, threshold, apart=None):
    """{(i, j): resemblance} of all pairs that reach a threshold; of those with equal values of ``apart`` only."""
    shingles = la.shingle(texts)
    sets = [set(row) for row in np.split(shingles.values.tolist(), shingles.offsets[1:-1])]
    found = {}
    for i, j in combinations(range(len(texts)), 2):
        both = len(sets[i] & sets[j])
        if both and (apart is None or apart[i] == apart[j]) and both / len(sets[i] | sets[j]) >= threshold:
            found[i, j] = both / len(sets[i] | sets[j])
    return found


def expected(result, matches, audited):
    """(found, missed) of audited rows."""
    rows = result.decisions.to_pylist()
    found = missed = 0
    for i, j in matches:
        for one, other in ((i, j), (j, i)):
            if one in audited and rows[other]["reason"] != "exact":
                missed += rows[other]["kept"]
                found += not rows[other]["kept"]
    return found, missed


def test_all_kept_documents_audited_is_the_truth(rng):
    for settings in [{}, {"bands": 2, "rows": 8}, {"verify": "sketch"}, {"memory": "600MB", "threads": 2}]:
        texts = [*planted(rng, n_families=50), "", "tiny", "tiny"]
        result = la.dedup(texts, threshold=0.6, **settings)
        found = result.audit(10**6)
        kept = set(np.flatnonzero(result.keep).tolist())
        assert found["audited"] == found["of"] == len(kept)
        assert (found["found"], found["missed"]) == expected(result, true_matches(texts, 0.6), kept)
        if "bands" in settings:
            assert found["missed"] > 0 and found["examples"]
        if found["missed"]:
            assert found["recall"] == found["found"] / (found["found"] + found["missed"])


def inside(result, texts, threshold, floor=0.0, apart=None):
    """The rows that should have been removed: of kept texts, or copies of such, that one kept before them contains."""
    shingles = la.shingle(texts, width=2)
    sets = [set(row) for row in np.split(shingles.values.tolist(), shingles.offsets[1:-1])]
    rows = result.decisions.to_pylist()
    kept = {row["order"]: d for d, row in enumerate(rows) if row["keeper"] == row["order"]}
    return {
        d: {
            a: len(sets[a] & sets[d]) / len(sets[d]) for order, a in kept.items()
            if order < row["keeper"] and len(sets[a] & sets[d]) >= threshold * len(sets[d])
            and len(sets[a] & sets[d]) >= floor * len(sets[a] | sets[d]) and (apart is None or apart[a] != apart[d])
        }
        for d, row in enumerate(rows) if row["reason"] in ("kept", "exact") and sets[d]
    }  # fmt: skip


@contextmanager
def few_sampled():
    """Samples of 5 shingles, of which a pair at a threshold of 0.8 shares 4 with a probability of 0.74."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sampling, "SAMPLE", 5)
        yield


def test_all_documents_that_could_be_inside_others_are_the_truth(rng):
    """With samples so small that many are missed: copies of a missed text are missed, too."""
    for settings in [
        {},
        {"floor": 0.3},
        {"against": True},
        {"across": "g", "memory": "600MB", "threads": 2},
        {"ignore": ["w5 w6 w7 w8"]},
    ]:
        pages = [[f"w{word}" for word in rng.integers(300, size=40)] for _ in range(60)]
        parts = [
            [f"x{word}" if i in (5, 15) else word for i, word in enumerate(page[b : b + n])]
            for page in pages for b, n in ((0, 12), (9, 25), (20, 5))
        ]  # fmt: skip
        inner = [part[3:18] for part in parts[1::3]]  # inside what is removed, and not inside the page
        texts = [" ".join(words) for words in [*pages, *parts, *parts[40:70], *pages[:9], *inner]] + ["", "..."]
        apart = [int(g) for g in rng.integers(3, size=len(texts))] if "across" in settings else None
        table = pa.table({"text": texts, "g": apart or texts})
        more = dict(settings, against=table.slice(0, 20)) if "against" in settings else settings
        n = 20 if "against" in settings else 0
        with few_sampled():
            result = la.dedup(table.slice(n), measure="containment", threshold=0.8, width=2, recall=0.6, **more)
        found = result.audit(10**6)
        rows = result.decisions.to_pylist()
        if "ignore" in settings:
            texts = [text.replace("w5 w6 w7 w8", " ") for text in texts]  # no text has it
        missed = {d: those for d, those in inside(result, texts, 0.8, settings.get("floor", 0.0), apart).items() if those}
        assert found["audited"] == found["of"] == sum(row["reason"] in ("kept", "exact") and row["keeper"] >= n for row in rows)
        assert found["found"] == sum(row["reason"] == "near" for row in rows) > 20
        assert found["missed"] == found["with_near_duplicates"] == len(missed) > 5
        assert found["recall"] == found["low"] == found["high"] == found["found"] / (found["found"] + len(missed))
        assert found["examples"] and all(missed[d][a] == score for d, a, score in found["examples"])
        assert "inside another, and missed" in str(result.summary)


def test_a_sample_of_what_could_be_inside_others(rng):
    """The interval covers the truth about as often as it says, and a draw that sees no miss has one, too."""
    pages = [[f"w{word}" for word in rng.integers(3000, size=40)] for _ in range(150)]
    parts = [[*page[b : b + 12], "x", *page[b + 13 : b + 20]] for page in pages for b in (0, 9, 20)]
    with few_sampled():
        result = la.dedup(
            [" ".join(words) for words in [*pages, *parts]], measure="containment", threshold=0.8, width=2, recall=0.6
        )
    truth, inside_it = result.audit(10**6)["recall"], 0
    for seed in range(40):
        found = result.audit(40, seed=seed)
        assert found["audited"] == 40 and 0 <= found["low"] <= found["recall"] <= found["high"] <= 1 and found["low"] < 1
        inside_it += found["low"] <= truth <= found["high"]
    assert 0 < truth < 1 and inside_it >= 34
    alone = la.dedup(["a b c d", "e f g h"], measure="containment").audit(5)
    assert (alone["recall"], alone["low"], alone["high"]) == (None, 0.0, 1.0)


def test_what_is_spared_is_not_what_the_search_missed(rng):
    texts = planted(rng, n_families=50)
    how = {"threshold": 0.6, "bands": 2, "rows": 8}
    wanted = la.dedup(texts, **how).audit(10**6)
    assert wanted["found"] > 0 < wanted["missed"]
    spared = la.dedup(texts, **how, at_most=2).audit(10**6)  # a copy that is spared counts as any near-duplicate
    assert spared["missed"] == wanted["missed"] and 0 < spared["found"] - wanted["found"] < 5


def test_examples_are_misses(rng):
    texts = planted(rng, n_families=50)
    result = la.dedup(texts, threshold=0.6, bands=2, rows=8)
    matches = true_matches(texts, 0.6)
    examples = result.audit(10**6)["examples"]
    assert 0 < len(examples) <= auditing.EXAMPLES
    for i, j, score in examples:
        assert result.keep[i] and result.keep[j] and matches[min(i, j), max(i, j)] == score


def test_few_documents_at_a_time_give_the_same(rng, monkeypatch):
    texts = planted(rng, n_families=30)
    result = la.dedup(texts, threshold=0.6, bands=3, rows=6)
    whole = result.audit(25, seed=3)
    monkeypatch.setattr(auditing, "SHINGLE_BYTES", 1 << 40)
    assert result.audit(25, seed=3) | {"examples": None} == whole | {"examples": None}


def test_a_sample_is_near_the_truth_and_inside_its_interval(rng):
    texts = planted(rng, n_families=120)
    result = la.dedup(texts, threshold=0.6, bands=3, rows=6)
    truth = result.audit(10**6)["recall"]
    inside = 0
    for seed in range(40):
        found = result.audit(60, seed=seed)
        assert found["audited"] == 60 and 0 <= found["low"] <= found["recall"] <= found["high"] <= 1
        inside += found["low"] <= truth <= found["high"]
    assert 0 < truth < 1 and inside >= 34, "95 % of 40, less three standard deviations"


WORDS = [f"w{i}" for i in range(60)]
ONE, LIKE = " ".join(WORDS), " ".join([*WORDS[:58], "x", "y"])


def test_groups_references_and_ids(tmp_path):
    rows = [{"text": t, "g": g} for t, g in ((ONE, 1), (LIKE, 1), (LIKE, 2), (ONE, None), (LIKE, None))]
    result = la.dedup(pa.Table.from_pylist(rows), within="g", threshold=0.7)
    found = result.audit(9)
    assert (result.keep.tolist(), found["found"], found["missed"]) == ([True, False, True, True, False], 2, 0)
    (tmp_path / "old.jsonl").write_text(json.dumps({"text": ONE}) + "\n")
    (tmp_path / "new.jsonl").write_text(json.dumps({"text": "else where"}) + "\n" + json.dumps({"text": LIKE}) + "\n")
    result = la.dedup(tmp_path / "new.jsonl", against=tmp_path / "old.jsonl", threshold=0.99)
    assert result.keep.all()
    result = la.dedup(tmp_path / "new.jsonl", against=tmp_path / "old.jsonl", threshold=0.7)
    assert result.keep.tolist() == [True, False] and result.audit(9)["recall"] is None


def test_what_references_resemble_is_missed_too(tmp_path):
    """A kept document that resembles a reference should have been removed."""
    result = la.dedup([LIKE], against=[ONE], threshold=0.7, bands=1, rows=500)
    assert result.keep.all() and result.audit(1)["missed"] == 1


def test_the_summary_says_it(rng, tmp_path):
    result = la.dedup(planted(rng, n_families=30), threshold=0.6)
    assert "audit" not in str(result.summary)
    found = result.audit(20)
    assert (
        result.summary.audit
        == found
        == json.loads(json.dumps(result.summary.to_dict()))["audit"] | {"examples": found["examples"]}
    )
    assert f"audit: 20 kept documents of {found['of']:,} (seed 1) compared with all others" in str(result.summary)
    result.save(tmp_path / "saved")
    loaded = la.Result.load(tmp_path / "saved")
    assert loaded.summary.audit["recall"] == found["recall"]
    with pytest.raises(la.errors.ParameterError, match="reads the inputs again"):
        loaded.audit(3)


def test_simhash_is_refused():
    with pytest.raises(la.errors.ParameterError, match="recall of resemblance or containment by minhash"):
        la.dedup(["a b", "a b c"], method="simhash").audit(1)


def test_an_input_that_grew_is_an_error(tmp_path):
    (tmp_path / "in.jsonl").write_text('{"text": "one two three"}\n')
    result = la.dedup(tmp_path / "in.jsonl")
    (tmp_path / "in.jsonl").write_text('{"text": "one two three"}\n' * 2)
    with pytest.raises(la.errors.InputDataError, match="changed during the run"):
        result.audit(1)


@pytest.mark.parametrize("kind", ["local", "spilled", "slices", "rounds"])
@pytest.mark.parametrize("settings", [{}, {"evidence": "all"}, {"keep": "longest"}])
def test_near_misses_are_kept_pairs_below_the_threshold(rng, kind, settings, monkeypatch):
    texts = planted(rng, n_families=40 if kind == "spilled" else 80)  # which writes a file for every few rows
    result = la.dedup(texts, threshold=0.7, recall=0.9999, **settings, **prepare(kind, monkeypatch))
    order = {row["order"]: place for place, row in enumerate(result.decisions.to_pylist())}
    found = {}
    for left, right, score in result.near_misses(0.6):
        for a, b, value in zip(left.tolist(), right.tolist(), score.tolist(), strict=True):
            found[tuple(sorted((order[a], order[b])))] = value
    kept = set(np.flatnonzero(result.keep).tolist())
    truth = {pair: r for pair, r in true_matches(texts, 0.6).items() if r < 0.7 and set(pair) <= kept}
    assert found.items() <= truth.items() and len(found) >= 0.9 * len(truth) > 5
    if settings.get("evidence") != "all":
        again = result.rethreshold(0.8)
        assert again.keep.tolist() == la.dedup(texts, threshold=0.8, recall=0.9999, **settings).keep.tolist()
