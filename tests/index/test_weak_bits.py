"""An index that is searched by weak bits: what it finds, of what an exact search does, is what it states."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from raising import assert_raises

import lookalike as la
from lookalike.files.arrays import ArrayFile
from lookalike.theory.simhash import within_radius
from lookalike.theory.weak_bits import cheapest_sets, probed_share

WORDS = np.array([f"v{i}" for i in range(100_000)])


def pairs_of_texts(n, size, changed, rng):
    """Texts of ``size`` different words, and others of which so many are changed: their cosine is 1 - changed / size."""
    left = []
    right = []
    for _ in range(n):
        words = WORDS[rng.choice(len(WORDS), size + changed, replace=False)]
        left.append(" ".join(words[:size]))
        right.append(" ".join(words[changed:]))
    return left, right


def found(index, asked, **options):
    table = index.query(asked, top=None, **options)
    return set(zip(table["query"].to_pylist(), table["id"].to_pylist(), strict=True))


@pytest.mark.parametrize("probes", [1, 2, 5, 23])
def test_what_the_cheapest_flips_lead_to_is_found_and_nothing_else(rng, probes):
    """Against all pairs: one is found if the bits of a prefix that differ are among the sets with the least sums there."""
    left, right = pairs_of_texts(300, 60, 2, rng)
    with la.Index.create("x", kind="simhash", threshold=0.5, radius=5, width=1, probes=probes) as index:
        segments = [range(200), range(200, 299), range(299, 300)]
        for rows in segments:
            index.add(rows, [left[row] for row in rows])
        asked = index.sketch(right)
        margins = asked.margins + rng.uniform(-0.4, 0.4, asked.margins.shape).astype(np.float32)  # no two sums alike
        asked = replace(asked, margins=margins)
        stored = index.sketch(left).keys[:, 0]
        words = asked.keys[:, 0]
        expected = set()
        for rows, q in product(segments, range(len(right))):
            first = 64 - max(1, len(rows).bit_length() - 3)
            weak = np.abs(margins[q].astype(float))
            order = first + np.argsort(weak[first:], kind="stable")
            flipped = {sum(1 << int(order[i]) for i in chosen) >> first for chosen in cheapest_sets(weak[order], probes, 5)}
            for r in rows:
                differ = int(words[q] ^ stored[r])
                if differ.bit_count() <= 5 and differ >> first in flipped:
                    expected.add((q, r))
        assert len(expected) > 100
        assert found(index, asked) == found(index, asked, threads=3) == expected
        assert set(index.first(asked)["query"].to_pylist()) == {q for q, _ in expected}


@pytest.mark.parametrize(
    "size, changed, radius, probes",
    [(400, 6, 3, 3), (400, 16, 5, 5), (300, 3, 3, 1)],
)
def test_the_share_found_is_the_one_stated(rng, size, changed, radius, probes):
    """Of real fingerprints with their margins, against the exact search of the same documents; and the recall of all pairs."""
    n = 4000
    cosine = 1 - changed / size
    left, right = pairs_of_texts(n, size, changed, rng)
    given = {"kind": "simhash", "threshold": cosine, "radius": radius, "width": 1}
    with (
        la.Index.create("exact", **given) as exact,
        la.Index.create("probed", **given, probes=probes) as probed,
    ):
        for index in (exact, probed):
            index.add(range(n), left)
        pairs = {(i, i) for i in range(n)}
        wanted = found(exact, right) & pairs
        got = found(probed, right) & pairs
        assert got <= wanted and len(wanted) > 500
        said = probed.info
    share = said["share_found_by_probes"]
    close = 0.01  # of the model's own drawing
    assert 0.5 < share < 0.99
    assert abs(len(got) / len(wanted) - share) < 4 * (share * (1 - share) / len(wanted) + close**2 / 9) ** 0.5
    farthest = max(d for d in range(radius + 1) if np.cos(np.pi * d / 64) >= cosine - 1e-12)
    assert said["recall_at_threshold"] == pytest.approx(float(within_radius(cosine, farthest, 64)) * share)
    recall = said["recall_at_threshold"]
    assert abs(len(got) / n - recall) < 4 * (recall * (1 - recall) / n + (close / 3) ** 2) ** 0.5


def test_what_is_stated_follows_the_sizes_of_segments():
    """Empty: the least there can be. Each segment has a prefix of its own, the longer the more documents it has."""
    with la.Index.create("x", kind="simhash", threshold=0.95, probes=3) as index:
        assert index.info["share_found_by_probes"] == probed_share(0.95, 26, 3, 3)
        index.add(range(100), [f"one two three four five w{i}" for i in range(100)])
        index.add(range(100, 1100), [f"one two three four six w{i}" for i in range(1000)])
        index.remove(range(50))
        share = (50 * probed_share(0.95, 4, 3, 3) + 1000 * probed_share(0.95, 7, 3, 3)) / 1050
        assert index.info["share_found_by_probes"] == pytest.approx(share)
        assert f"3 probes (share found at the threshold: {share:.3f})" in repr(index)
    assert "closed" in repr(index) and "3 probes" in repr(index)


def test_one_table_takes_the_place_of_four(tmp_path):
    """What is kept is the exact index's, less three tables of 12 bytes a document; no margins are. Their sketches do not mix."""
    texts = [f"one two three four five six seven w{i}" for i in range(5000)]
    indexes = []
    for name, given in (("exact", {}), ("probed", {"probes": 23})):
        indexes.append(la.Index.create(tmp_path / name, kind="simhash", **given))
        indexes[-1].add(range(5000), texts)
    exact, probed = (ArrayFile(index.path / "segment-00000000") for index in indexes)
    assert set(exact) - {f"band_{part}-{table:02}" for part in ("keys", "rows", "starts") for table in range(1, 4)} == set(
        probed
    )
    assert 36 < indexes[0].info["bytes_per_document"] - indexes[1].info["bytes_per_document"] < 40
    assert_raises(la.errors.IncompatibleSketchError, "probes=23", indexes[1].query, indexes[0].sketch(["text"]))
