import json
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from corpora import planted
from engine_kinds import prepare
from json_lines import write_lines

import lookalike as la
from lookalike.errors import LookalikeError
from lookalike.recipes import audit as auditing
from lookalike.theory import containment as sampling

FEW = {"bands": 2, "rows": 8}


def sets_of(texts, **how):
    shingles = la.shingle(texts, **how)
    return [set(row) for row in np.split(shingles.values.tolist(), shingles.offsets[1:-1])]


def true_matches(texts, threshold, meet=lambda i, j: True, ignore=()):
    sets = [some.difference(*sets_of(ignore)) for some in sets_of(texts)]
    some = [(i, j) for i, j in combinations(range(len(texts)), 2) if sets[i] & sets[j] and meet(i, j)]
    scores = {(i, j): len(sets[i] & sets[j]) / len(sets[i] | sets[j]) for i, j in some}
    return {pair: score for pair, score in scores.items() if score >= threshold}


@pytest.mark.parametrize(
    "settings",
    [{}, {"verify": "sketch"}, FEW | {"memory": "600MB", "threads": 2, "at_most": 2}, FEW | {"within": "g"}, FEW | {"across": "g"},
     FEW | {"ignore": [" ".join(f"w{i}" for i in range(9))]},
     FEW | {"overrides": [{"id": i, "action": "remove" if i % 2 else "keep"} for i in range(0, 200, 5)]}],
    ids=str,
)  # fmt: skip
def test_all_kept_documents_audited_is_the_truth(rng, settings):
    """A copy that is spared counts as any near-duplicate, what was decided by hand as nothing."""
    template = settings.get("ignore", [""])[0]
    texts = [*(f"{template} {text}" for text in planted(rng, n_families=50)), "", "tiny", "tiny"]
    groups = rng.integers(2, size=len(texts)).tolist()
    result = la.dedup(pa.table({"text": texts, "g": groups}), threshold=0.6, **settings)
    found, reasons = result.audit(10**6), result.decisions["reason"].to_pylist()
    matches = true_matches(
        texts, 0.6, lambda i, j: ("within" if groups[i] != groups[j] else "across") not in settings, [template]
    )
    by_hand = {row["id"] for row in settings.get("overrides", ())}
    matches = {pair: score for pair, score in matches.items() if not by_hand & {*pair}}
    others = [reasons[b] for pair in matches for a, b in (pair, pair[::-1]) if reasons[a] == "kept"]
    missed = others.count("kept")
    assert found["audited"] == found["of"] == reasons.count("kept")
    assert (found["found"], found["missed"]) == (others.count("near") + others.count("spared"), missed)
    assert missed > 0 or "bands" not in settings
    assert not missed or found["recall"] == found["found"] / (found["found"] + missed)
    assert len(found["examples"]) == min(missed, auditing.EXAMPLES)
    for i, j, score in found["examples"]:
        assert reasons[i] == reasons[j] == "kept" and matches[min(i, j), max(i, j)] == score


def inside(result, texts, threshold, floor=0.0, apart=None):
    """The rows that should have been removed: of kept texts, or copies of such, that one kept before them contains."""
    sets = sets_of(texts, width=2)
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


@pytest.fixture
def few_sampled(monkeypatch):
    """Samples of 5 shingles, of which a pair at a threshold of 0.8 shares 4 with a probability of 0.74."""
    monkeypatch.setattr(sampling, "SAMPLE", 5)


def test_all_documents_that_could_be_inside_others_are_the_truth(rng, few_sampled):
    """Copies of a missed text are missed, too."""
    for settings, n in [({}, 0), ({"floor": 0.3}, 0), ({}, 20), ({"across": "g", "memory": "600MB", "threads": 2}, 0)]:
        pages = [[f"w{word}" for word in rng.integers(300, size=40)] for _ in range(60)]
        parts = [
            [f"x{word}" if i in (5, 15) else word for i, word in enumerate(page[b : b + n])]
            for page in pages for b, n in ((0, 12), (9, 25), (20, 5))
        ]  # fmt: skip
        inner = [part[3:18] for part in parts[1::3]]  # inside what is removed, and not inside the page
        texts = [" ".join(words) for words in [*pages, *parts, *parts[40:70], *pages[:9], *inner]] + ["", "..."]
        apart = [int(g) for g in rng.integers(3, size=len(texts))] if "across" in settings else None
        table = pa.table({"text": texts, "g": apart or texts})
        against = table.slice(0, n) if n else None
        how = {"measure": "containment", "threshold": 0.8, "width": 2, "recall": 0.6}
        result = la.dedup(table.slice(n), against=against, **how, **settings)
        found = result.audit(10**6)
        rows = result.decisions.to_pylist()
        missed = {d: those for d, those in inside(result, texts, 0.8, settings.get("floor", 0.0), apart).items() if those}
        assert found["audited"] == found["of"] == sum(row["reason"] in ("kept", "exact") and row["keeper"] >= n for row in rows)
        assert found["found"] == sum(row["reason"] == "near" for row in rows) > 20
        assert found["missed"] == found["with_near_duplicates"] == len(missed) > 5
        assert found["recall"] == found["low"] == found["high"] == found["found"] / (found["found"] + len(missed))
        assert found["examples"] and all(missed[d][a] == score for d, a, score in found["examples"])
        assert "inside another, and missed" in str(result.summary)


@pytest.mark.parametrize("measure", ["resemblance", "containment"])
def test_a_sample_is_near_the_truth_and_inside_its_interval(rng, few_sampled, measure):
    """A draw that sees no miss has an interval, too."""
    texts, how, n = planted(rng, n_families=120), {"threshold": 0.6, "bands": 3, "rows": 6}, 60
    if measure == "containment":
        pages = [[f"w{word}" for word in rng.integers(3000, size=40)] for _ in range(150)]
        parts = [[*page[b : b + 12], "x", *page[b + 13 : b + 20]] for page in pages for b in (0, 9, 20)]
        texts, how, n = [" ".join(words) for words in [*pages, *parts]], {"threshold": 0.8, "width": 2, "recall": 0.6}, 40
    result = la.dedup(texts, measure=measure, **how)
    truth, inside_it = result.audit(10**6)["recall"], 0
    for seed in range(40):
        found = result.audit(n, seed=seed)
        assert found["audited"] == n and 0 <= found["low"] <= found["recall"] <= found["high"] <= 1 and found["low"] < 1
        inside_it += found["low"] <= truth <= found["high"]
    assert 0 < truth < 1 and inside_it >= 34, "95 % of 40, less three standard deviations"


def test_the_summary_says_it_and_what_cannot_be_audited_is_refused(rng, tmp_path, monkeypatch):
    """Few documents at a time give the same."""
    path = write_lines(tmp_path / "in.jsonl", planted(rng, n_families=30))
    result = la.dedup(path, threshold=0.6, bands=3, rows=6)
    found = result.audit(20)
    plain = json.loads(json.dumps(result.summary.to_dict()))["audit"]
    assert result.summary.audit == found == plain | {"examples": found["examples"]}
    assert f"audit: 20 kept documents of {found['of']:,} (seed 1) compared with all others" in str(result.summary)
    monkeypatch.setattr(auditing, "SHINGLE_BYTES", 1 << 40)
    assert result.audit(20) | {"examples": None} == found | {"examples": None}
    result.save(tmp_path / "saved")
    loaded = la.Result.load(tmp_path / "saved")
    assert loaded.summary.audit["recall"] == found["recall"]
    write_lines(path, ["one more text"] * 2)
    for refusing, said in (
        (loaded, "reads the inputs again"),
        (result, "changed during the run"),
    ):
        with pytest.raises(LookalikeError, match=said):
            refusing.audit(1)


@pytest.mark.parametrize(
    ("kind", "settings"),
    [("local", {"evidence": "all"}), ("spilled", {}), ("slices", {"keep": "longest"}), ("rounds", {"evidence": "all"})],
)
def test_near_misses_are_kept_pairs_below_the_threshold(rng, kind, settings, monkeypatch):
    texts = planted(rng, n_families=40 if kind == "spilled" else 80)  # which writes a file for every few rows
    result = la.dedup(texts, threshold=0.7, recall=0.9999, **settings, **prepare(kind, monkeypatch))
    place = {row["order"]: place for place, row in enumerate(result.decisions.to_pylist())}
    columns = (zip(*map(np.ndarray.tolist, some), strict=True) for some in result.near_misses(0.6))
    found = {tuple(sorted((place[a], place[b]))): score for rows in columns for a, b, score in rows}
    kept = set(np.flatnonzero(result.keep).tolist())
    truth = {pair: r for pair, r in true_matches(texts, 0.6).items() if r < 0.7 and set(pair) <= kept}
    assert found.items() <= truth.items() and len(found) >= 0.9 * len(truth) > 5
