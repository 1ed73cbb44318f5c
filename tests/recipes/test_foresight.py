import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lookalike as la
from lookalike.engines.memory import BYTES_PER_DOCUMENT, FLOOR, LEAST_ROOM, Memory
from lookalike.recipes import foresight
from lookalike.recipes.foresight import Estimate, Speeds
from lookalike.settings.settings import Settings

SIZE = {"documents": 10**6, "bytes": 10**9, "memory": "2GB", "threads": 1}


def test_a_foresight_is_plain_values():
    found = la.foresee(**SIZE | {"documents": 1e6, "bytes": np.float64(1e9)})  # whole, though floats
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain == found.to_dict() and found == la.foresee(**SIZE)
    assert (plain["documents"], plain["bytes"], plain["memory"], plain["duplicates"]) == (10**6, 10**9, 2 * 10**9, 0.3)
    assert plain["cpu_seconds"] == pytest.approx(sum(found.seconds.values()))
    assert plain["least_memory"] == FLOOR + LEAST_ROOM + BYTES_PER_DOCUMENT * 10**6
    for wrong in (float("inf"), "1GB"):
        with pytest.raises(la.errors.ParameterError, match="bytes must be"):
            la.foresee(**SIZE | {"bytes": wrong})


def test_a_cap_that_a_job_refuses_is_refused_with_the_least_that_would_do():
    least = la.foresee(**SIZE).least_memory
    assert la.foresee(**SIZE | {"memory": least}).memory == least
    with pytest.raises(la.errors.ParameterError, match=rf"1,000,000 documents need {least / 1e6:,.0f} MB .* raise memory="):
        la.foresee(**SIZE | {"memory": least - 1})
    with pytest.raises(la.errors.ParameterError, match="memory must be at least"):
        la.foresee(**SIZE | {"memory": FLOOR})


def test_the_disk_space_of_a_real_job_was_foreseen(tmp_path):
    """Two fifths of the documents are in families of four, each other one is alone."""
    rng = np.random.default_rng(0)
    words = np.array(["".join(rng.choice(list("etaoinshrd"), size)) for size in 3 + rng.poisson(3, 1 << 14)])
    chosen = np.repeat(rng.integers(0, len(words), (300, 200)), 4, axis=0)
    chosen[np.arange(1200), rng.integers(0, 200, 1200)] = rng.integers(0, len(words), 1200)
    texts = [" ".join(row) for row in [*words[chosen], *words[rng.integers(0, len(words), (1800, 100))]]]
    path = tmp_path / "texts.parquet"
    pq.write_table(pa.table({"text": texts}), path)
    size = sum(len(text.encode()) for text in texts)
    most = 0

    def look(stage, amount):
        nonlocal most
        most = max(most, sum(part.stat().st_size for part in (tmp_path / "work").glob("*.part")))

    result = la.dedup(str(path), work=tmp_path / "work", threads=1, progress=look)
    look("", 0)
    compared = result.summary.near_duplicates * 4 / 3 / len(texts)
    result.close()
    found = la.foresee(documents=len(texts), bytes=size, work=True, threads=1, duplicates=compared, family=4)
    assert result.summary.near_duplicates > 800
    assert found.disk == pytest.approx(most, rel=0.25)


ROW = 8 + 8 + 8 + 16 + 1 + 1 + (16 * 8 + 1) + 96 * 2
"""Position, number, bytes, digest, empty, short; 16 keys, and whether they are missing; 96 codes."""


def estimate(n=10**6, text=10**9, duplicates=0.3, family=3.0, room=900, **settings):
    return Estimate(n, text, duplicates, family, Memory(FLOOR + room * 10**6), Settings(**{"threads": 1} | settings))


def test_sizes_worked_out_by_hand():
    found = estimate(1000, 500_000, 0.5, 5.0)
    assert (found.compared, found.content, found.pairs, found.samples) == (750, 375_000, 750 * 2, 0)
    assert found.links == pytest.approx(1.5 * 1500, abs=1) and found.disk == 0
    assert estimate(1000, 500_000, 0, 5.0).pairs == 0 and estimate(0, 0).disk == 0
    assert estimate(1000, 500_000, 0.5, 5.0, verify="sketch").content == 750 * 1024


def test_disk_space_worked_out_by_hand():
    n, text, pairs = 10_000, 10**9, 7500
    found = estimate(n, text, 0.5)
    assert int(found.links) == int(1.5 * pairs + 0.5832), "and 0.58 unrelated pairs share a band"
    sketches, texts, paired, matches = n * ROW, 0.75 * text + 16 * 7500, 2 * 16 * pairs, 24 * 5000
    assert found.disk == int(sketches + 16 * found.links + texts + paired + matches)
    assert estimate(n, text, 0.5, verify="sketch").disk < 0.1 * text, "no texts are written"
    assert estimate(n, text, 0.5, room=8000).disk == 0
    assert estimate(n, text, 0.5, room=8000, work="work").disk == found.disk
    codes = estimate(10**6, 10**8, 0, room=170)
    assert codes.disk == int(10**6 * (ROW + 48) + 16 * codes.links), "the codes of many documents are in a file"


def test_containment_reads_texts_again_and_sorts_sampled_shingles():
    n, text, pairs = 10_000, 10**9, 7500
    found = estimate(n, text, 0.5, measure="containment")
    by_chance = (1 + 1.25 * text / 6.5 / 2**23) ** 0.5 - 1  # the map of 320,000 keys has 2^23 bits
    assert found.samples == int(32 * (n * (1 + by_chance) + 7500)) and found.links == pairs
    texts, paired, matches = 0.75 * text + 16 * 7500, 2 * 16 * pairs, 24 * 5000
    assert found.disk == n * (8 + 8 + 8 + 16 + 1 + 32 * 8 + 1 + 1) + 16 * pairs + texts + paired + matches
    many = estimate(10**6, text, 0, room=500, measure="containment")
    assert many.disk == 10**6 * 299 + 16 * many.samples
    rates = dict.fromkeys(("start", "read_byte", "read_document", "sketch_document", "pair", "compare_byte", "new_byte"), 0)
    assert found.seconds(Speeds(**rates, sketch_byte=2, sample=300))["finding"] == 2 + 300 * found.samples / 1e9
    assert "finding" not in estimate(n, text).seconds(Speeds())


def test_held_memory_worked_out_by_hand():
    found = estimate(1000, 10**8, 0, room=4000)
    own = foresight.LOADED + foresight.PIECES
    assert not found.on_disk
    assert found.peak == own + 10**8 + (ROW + BYTES_PER_DOCUMENT) * 1000 + int(16 * found.links)


def test_processor_time_worked_out_by_hand():
    speeds = Speeds(
        start=1e9, read_byte=1, read_document=100, sketch_byte=2, sketch_document=1000, pair=500, compare_byte=4, write_byte=8,
        write_document=2000, write_pair=600, new_byte=0,
    )  # fmt: skip
    found = estimate(10**6, 10**9, 0.5).seconds(speeds)
    assert found == pytest.approx(
        {"starting": 1, "reading": 1.1, "sketching": 3, "memory": 0, "comparing": 0.375 + 3, "disk": 2 + 0.45 + 1.1 + 6}
    )
    no_texts = estimate(10**6, 10**9, 0.5, verify="sketch").seconds(speeds)
    assert no_texts["disk"] == pytest.approx(2 + 0.45), "of estimates no text is written or read again"
