import numpy as np
import pyarrow.parquet as pq
from corpora import planted
from listing import find_pairs

import lookalike as la
from lookalike.recipes import pairs as pairs_module
from lookalike.steps import exact


def test_with_recall_1_the_first_of_all_pairs_are_listed():
    """How many candidates match nothing depends on the secret of the job, from none to most; the list does not."""
    rng = np.random.default_rng(3)
    texts = [" ".join(rng.choice([f"w{i}" for i in range(40)], 20)) for _ in range(60)]
    texts += [f"{text} z" for text in texts[:30]]
    settings = {"threshold": 0.4, "recall": 1, "width": 1}
    whole = find_pairs(texts, **settings)
    n = len(whole.table)
    assert whole.summary["candidate_pairs"] >= n >= 30
    for most in (1, 7, n - 1, n, n + 1):
        cut = find_pairs(texts, max_pairs=most, **settings)
        assert cut.table.equals(whole.table.slice(0, most)) and cut.summary["pairs"] == min(most, n)
        assert cut.summary["cut_by_max_pairs"] is (most < n)


BASE = [f"word{i}" for i in range(100)]
A = " ".join(BASE)
NEAR = [" ".join([*BASE, f"own{i}"]) for i in range(6)]
COPIES = [A, f"{A} x", A, "else", A, f"{A} x", f"{A} y z", "", f"{A} x", *NEAR]


def test_the_same_pairs_however_many_are_made_at_a_time(rng, monkeypatch):
    """In order, each once; and cut after as many as are asked for, which is told where there are more."""
    texts = [*COPIES, *planted(rng, n_families=20), *COPIES[:4]]
    for settings in ({}, {"verify": "sketch"}, {"verify": "none"}, {"against": COPIES[3:]}, {"method": "simhash", "radius": 4}):
        whole = find_pairs(texts, **settings)
        ends = list(zip(*(whole.table[name].to_pylist() for name in ("left_id", "right_id")), strict=True))
        n, candidates = len(ends), whole.summary["candidate_pairs"]
        assert n > 30 and not whole.summary["cut_by_max_pairs"]
        if "against" not in settings:
            assert ends == sorted(set(ends)) and all(left < right for left, right in ends)
            assert {(0, 2), (0, 4), (1, 5)} <= set(ends)
        for listed in (1, 3):
            with monkeypatch.context() as patch:
                patch.setattr(pairs_module, "LISTED", listed)
                patch.setattr(exact, "MADE", listed)
                found = find_pairs(texts, **settings)
            assert found.table == whole.table and found.summary["pairs"] == n
        for most in (1, n - 1, n, n + 1, 10**6):
            cut = find_pairs(texts, max_pairs=most, **settings)
            assert len(cut.table) == cut.summary["pairs"] <= min(most, n) and cut.summary["candidate_pairs"] <= most
            assert cut.summary["cut_by_max_pairs"] or cut.table == whole.table
            assert cut.provenance["parameters"]["max_pairs"] == most
            if cut.summary["candidate_pairs"] == candidates:
                assert cut.table == whole.table.slice(0, most), "the first, in the order of the input"
                assert cut.summary["cut_by_max_pairs"] is (most < n)


def test_pairs_are_written_as_they_are_made(tmp_path, monkeypatch):
    """Of a hundred copies of one text no more than those of one document are made at a time."""
    expected = la.pairs([A] * 100).to_pylist()
    monkeypatch.setattr(pairs_module, "LISTED", 50)
    found = find_pairs([A] * 100)
    sizes = [len(batch) for batch in found.listing.batches()]
    assert sum(sizes) == found.summary["pairs"] == 4950 and max(sizes) < 150
    monkeypatch.setattr(type(found), "table", None)
    found.write(tmp_path / "out.parquet")
    assert pq.read_table(tmp_path / "out.parquet").to_pylist() == expected


def test_a_bucket_is_large_beyond_a_quarter_of_the_limit():
    """Equal sets of shingles share all buckets; where these are not looked through, none is counted."""
    texts = [A + "!" * i for i in range(9)]
    assert [find_pairs(texts, max_bucket=most).summary["crowded"] for most in (2, 32, 35, 36, 128)] == [9, 9, 9, 0, 0]
    for more in ({"max_pairs": 10**6}, {"verify": "sketch"}, {"verify": "none"}):
        assert find_pairs(texts, max_bucket=2, **more).summary["crowded"] == 0
    assert len(la.pairs(texts, max_bucket=2)) == len(la.pairs(texts)) == 36
