from dataclasses import replace

import numpy as np
import pytest
from naive.hamming import within_probed

import lookalike as la
from lookalike.theory.simhash import within_radius
from lookalike.theory.weak_bits import probed_share

WORDS = np.array([f"v{i}" for i in range(100_000)])


def found(index, asked, **options):
    table = index.query(asked, top=None, **options)
    return set(zip(table["query"].to_pylist(), table["id"].to_pylist(), strict=True))


def test_what_the_cheapest_flips_lead_to_is_found_and_nothing_else(rng, monkeypatch):
    """Against all pairs: one is found if the bits of a prefix that differ are among the sets with the least sums there."""
    monkeypatch.setattr("lookalike.index.answers.MOST_PREFIXES", 1_000)
    chosen = [WORDS[rng.choice(len(WORDS), 62, replace=False)] for _ in range(300)]
    left, right = ([" ".join(words[begin : begin + 60]) for words in chosen] for begin in (0, 2))
    segments = [range(200), range(200, 299), range(299, 300)]
    for probes in (1, 2, 5, 23):
        with la.Index.create(f"{probes}", kind="simhash", threshold=0.5, radius=5, width=1, probes=probes) as index:
            for rows in segments:
                index.add(rows, [left[row] for row in rows])
            asked = index.sketch(right)
            margins = asked.margins + rng.uniform(-0.4, 0.4, asked.margins.shape).astype(np.float32)  # no two sums alike
            asked = replace(asked, margins=margins)
            stored = index.sketch(left).keys[:, 0].tolist()
            expected = set()
            for rows in segments:
                given = asked.keys[:, 0].tolist(), margins.tolist(), [stored[row] for row in rows]
                near = within_probed(*given, bits=64, prefix=max(1, len(rows).bit_length() - 3), radius=5, probes=probes)
                expected |= {(q, rows[r]) for q, r in near}
            assert len(expected) > 100
            assert found(index, asked) == found(index, asked, threads=3) == expected
            assert set(index.first(asked)["query"].to_pylist()) == {q for q, _ in expected}


def test_what_is_stated_follows_the_sizes_of_segments():
    """Empty: the least there can be. Each segment has a prefix of its own, the longer the more documents it has."""
    with la.Index.create("x", kind="simhash", threshold=0.95, probes=3) as index:
        assert index.info["share_found_by_probes"] == probed_share(0.95, 26, 3, 3)
        index.add(range(100), [f"one two three four five w{i}" for i in range(100)])
        index.add(range(100, 1100), [f"one two three four six w{i}" for i in range(1000)])
        index.remove(range(50))
        share = (50 * probed_share(0.95, 4, 3, 3) + 1000 * probed_share(0.95, 7, 3, 3)) / 1050
        assert index.info["share_found_by_probes"] == pytest.approx(share)
        assert index.info["recall_at_threshold"] == pytest.approx(float(within_radius(0.95, 3, 64)) * share)
        assert f"3 probes (share found at the threshold: {share:.3f})" in repr(index)
    assert "closed" in repr(index) and "3 probes" in repr(index)


def test_one_table_takes_the_place_of_four():
    """Of 12 bytes a document each."""
    sizes = []
    for name, how in (("exact", {}), ("probed", {"probes": 23})):
        with la.Index.create(name, kind="simhash", **how) as index:
            index.add(range(5000), [f"one two three four five six seven w{i}" for i in range(5000)])
            sizes.append(index.info["bytes_per_document"])
    assert 36 < sizes[0] - sizes[1] < 40
