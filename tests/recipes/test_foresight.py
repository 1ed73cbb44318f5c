"""What a job will take: equal to figures worked out by hand, refused where it cannot be, and true for a real job."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from corpora import vocabulary

import lookalike as la
from lookalike.engines.memory import BYTES_PER_DOCUMENT, FLOOR, LEAST_ROOM, Memory
from lookalike.errors import ParameterError
from lookalike.recipes import foresight
from lookalike.recipes.foresight import Corpus, Footprint, Speeds
from lookalike.settings.settings import Settings

SIZE = {"documents": 10**6, "bytes": 10**9, "memory": "2GB", "threads": 1}


def test_a_foresight_is_plain_values():
    found = la.foresee(**SIZE)
    assert la.foresee(**SIZE | {"documents": 1e6, "bytes": np.float64(1e9)}) == found, "numbers may be whole floats"
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain == found.to_dict()
    assert (plain["documents"], plain["bytes"], plain["memory"], plain["duplicates"]) == (10**6, 10**9, 2 * 10**9, 0.3)
    assert plain["cpu_seconds"] == pytest.approx(sum(found.seconds.values()))
    assert plain["least_memory"] == FLOOR + LEAST_ROOM + BYTES_PER_DOCUMENT * 10**6


def test_a_foresight_says_where_everything_lies():
    some = str(la.foresee(**SIZE))
    assert (
        "1,000,000 documents, 1.00 GB of text, of which 30% have a near-duplicate, with 2.00 GB of memory and 1 thread" in some
    )
    assert "GB in the work folder" in some and "on a reference core" in some
    assert str(la.foresee(documents=1000, bytes=1_600_000)).startswith("1,000 documents, 1.6 MB of text, of which")
    assert "disk: none: all is held in memory" in str(la.foresee(**SIZE | {"memory": "20GB"}))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"documents": -1}, "documents must be in 0"),
        ({"documents": 1.5}, "documents must be a whole number; got 1.5"),
        ({"bytes": float("inf")}, "bytes must be a whole number; got inf"),
        ({"bytes": "1GB"}, "bytes must be a number >= 0; got '1GB'"),
        ({"duplicates": 1.1}, "duplicates must be at least 0 and at most 1; got 1.1"),
        ({"family": 1}, "family must be at least 2; got 1"),
        ({"format": "csv"}, "format must be one of parquet, jsonl; got 'csv'"),
        ({"verify": "none"}, "verify must be one of exact, sketch; got 'none'"),
        ({"keep": "best"}, "keep must be one of"),
    ],
)
def test_what_cannot_be_foreseen_is_refused(wrong, message):
    with pytest.raises(ParameterError, match=message.replace("(", r"\(")):
        la.foresee(**SIZE | wrong)


def test_a_cap_that_a_job_refuses_is_refused_with_the_least_that_would_do():
    least = la.foresee(**SIZE).least_memory
    assert la.foresee(**SIZE | {"memory": least}).memory == least
    with pytest.raises(ParameterError, match=rf"1,000,000 documents need {least / 1e6:,.0f} MB .* raise memory="):
        la.foresee(**SIZE | {"memory": least - 1})
    with pytest.raises(ParameterError, match="memory must be at least"):
        la.foresee(**SIZE | {"memory": FLOOR})


def test_the_disk_space_of_a_real_job_was_foreseen(tmp_path):
    """Two fifths of the documents are in families of four, each other one is alone."""
    rng = np.random.default_rng(0)
    words = vocabulary(1 << 14)
    chosen = rng.choice(words, (300, 200)).repeat(4, axis=0)
    chosen[np.arange(1200), rng.integers(0, 200, 1200)] = rng.choice(words, 1200)
    texts = [" ".join(row) for row in [*chosen, *rng.choice(words, (1800, 100))]]
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


def foreseen(n=10**6, text=10**9, duplicates=0.3, family=3.0, room=900, format="parquet", **settings):
    """What is foreseen where there are so many megabytes beyond the floor."""
    chosen = Settings(**{"threads": 1} | settings)
    return Footprint(Corpus.of(n, text, duplicates, family, chosen), Memory(FLOOR + room * 10**6), chosen, format)


def test_sizes_worked_out_by_hand():
    corpus = Corpus.of(1000, 500_000, 0.5, 5.0, Settings())
    assert corpus.tables == 1000 * ROW and corpus.nibbles == 1000 * 48
    assert (corpus.compared, corpus.content, corpus.matched) == (750, 375_000, 500)
    assert corpus.pairs == 750 * 2 and corpus.links == pytest.approx(1.5 * 1500, abs=1)
    assert corpus.largest == pytest.approx(2500 * 5.01, rel=1e-3), "150 families, of which the largest has e^5.01 as rank"
    assert Corpus.of(1000, 500_000, 0, 5.0, Settings()).pairs == 0
    assert Corpus.of(0, 0, 0.3, 3.0, Settings()).tables == 0
    estimated = Corpus.of(1000, 500_000, 0.5, 5.0, Settings(verify="sketch"))
    assert estimated.tables == 1000 * (ROW + 1024) and estimated.content == 750 * 1024


def test_disk_space_worked_out_by_hand():
    n, text = 10_000, 10**9
    stages = foreseen(n, text, 0.5, 3.0, 900)
    pairs = 7500
    links = stages.corpus.links
    assert links == int(1.5 * pairs + 0.5832), "and 0.58 unrelated pairs share a band"
    sketches, texts, paired, matches = n * ROW, 0.75 * text + 16 * 7500, 2 * 16 * pairs, 24 * 5000
    assert stages.disk() == sketches + 16 * links + texts + paired + matches
    assert foreseen(n, text, 0.5, 3.0, 900, verify="sketch").disk() < 0.1 * text, "no texts are written"
    assert foreseen(n, text, 0.5, 3.0, 8000).disk() == 0
    assert foreseen(n, text, 0.5, 3.0, 8000, work="work").disk() == stages.disk()


def test_the_codes_of_many_documents_take_the_disk_before_the_texts_do():
    stages = foreseen(10**6, 10**8, 0, 3.0, 170)
    assert stages.disk() == 10**6 * (ROW + 48) + 16 * stages.corpus.links


def test_containment_worked_out_by_hand():
    """32 keys and no codes; texts that are read again, and rows of the shingles that are held and shared."""
    n, text = 10_000, 10**9
    stages = foreseen(n, text, 0.5, 3.0, 900, measure="containment")
    corpus, pairs = stages.corpus, 7500
    by_chance = (1 + 1.25 * text / 6.5 / 2**23) ** 0.5 - 1  # the map of 320,000 keys has 2^23 bits
    assert corpus.tables == n * (8 + 8 + 8 + 16 + 1 + 32 * 8 + 1 + 1) and corpus.nibbles == 0
    assert corpus.holders == int(32 * (n * (1 + by_chance) + 7500)) and corpus.shared == 15 * pairs and corpus.links == pairs
    texts, paired, matches = 0.75 * text + 16 * 7500, 2 * 16 * pairs, 24 * 5000
    assert stages.disk() == corpus.tables + 32 * pairs + texts + paired + matches, "rows of samples wait in memory"
    many = foreseen(10**6, text, 0, 3.0, 500, measure="containment")
    assert many.disk() == many.corpus.tables + 16 * many.corpus.holders
    speeds = Speeds(
        start=0, read_byte=1, read_document=0, sketch_byte=2, sketch_document=0, pair=0, compare_byte=0, holder=300, shared=0,
        write_byte=0, write_document=0, write_pair=0, new_byte=0,
    )  # fmt: skip
    assert stages.seconds(speeds)["finding"] == pytest.approx(1 + 2 + 300 * corpus.holders / 1e9)
    held = foreseen(n, text, 0.5, 3.0, 20_000, measure="containment")
    assert held.disk() == 0 and held.seconds(speeds)["finding"] == pytest.approx(2 + 300 * corpus.holders / 1e9)


def test_held_memory_worked_out_by_hand():
    stages = foreseen(1000, 10**8, 0, 3.0, 4000)
    own = foresight.LOADED + foresight.PIECES + (32 << 20)  # pages of Parquet as large as one may be
    assert not stages.on_disk
    assert stages.peak() == own + 10**8 + 1000 * ROW + (BYTES_PER_DOCUMENT + 48) * 1000, "and codes while links are cut"


@pytest.mark.parametrize("room", [170, 900, 20_000])
def test_more_takes_more(room):
    least = foreseen(room=room)
    for larger in ({"n": 2 * 10**6, "text": 2 * 10**9}, {"text": 2 * 10**9}, {"duplicates": 0.6}, {"family": 60.0}):
        more = foreseen(room=room, **larger)
        assert more.peak() >= least.peak() and more.disk() >= least.disk()
        assert sum(more.seconds(Speeds()).values()) > sum(least.seconds(Speeds()).values())
    assert foreseen(room=room, threads=2).peak() > least.peak()


def test_longer_signatures_take_longer_to_make():
    usual, more = (la.foresee(**SIZE, permutations=n).seconds["sketching"] for n in (None, 384))
    assert more > 2 * usual


def test_a_smaller_cap_takes_the_disk():
    peaks = [foreseen(room=room).peak() for room in (170, 370, 900, 20_000)]
    assert peaks == sorted(peaks) and len(set(peaks)) == 4
    assert foreseen(room=20_000).disk() == 0 < foreseen(room=900).disk()
    assert "disk" in foreseen(room=900).seconds(Speeds()) and "disk" not in foreseen(room=20_000).seconds(Speeds())


def test_pairs_that_do_not_fit_go_to_the_disk_later():
    stages = foreseen(10**5, 10**8, 1.0, 200.0, 900)
    assert stages.spills_later and not stages.spills_reading and stages.disk() > 10**8
    assert foreseen(10**5, 10**8, 1.0, 3.0, 900).disk() == 0


def test_processor_time_worked_out_by_hand():
    speeds = Speeds(
        start=1e9, read_byte=1, read_document=100, sketch_byte=2, sketch_document=1000, pair=500, compare_byte=4, write_byte=8,
        write_document=2000, write_pair=600, new_byte=0,
    )  # fmt: skip
    found = foreseen(10**6, 10**9, 0.5, 3.0, 900).seconds(speeds)
    assert found == pytest.approx(
        {"starting": 1, "reading": 1.1, "sketching": 3, "memory": 0, "comparing": 0.375 + 3, "disk": 2 + 0.45 + 1.1 + 6}
    )
