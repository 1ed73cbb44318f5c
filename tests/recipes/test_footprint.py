"""What steps take: equal to figures worked out by hand, and larger for larger corpora."""

import pyarrow as pa
import pytest

from lookalike.engines.memory import BYTES_PER_DOCUMENT, FLOOR, Memory
from lookalike.recipes import footprint
from lookalike.recipes.calibration import Speeds
from lookalike.recipes.footprint import Corpus, Footprint, stored_width
from lookalike.settings.settings import Settings
from lookalike.values.tables import PAIRS

ROW = 8 + 8 + 8 + 16 + 1 + (16 * 8 + 1) + 96 * 2
"""Position, number, bytes, digest, empty; 16 keys, and whether they are missing; 96 codes."""


def foreseen(n=10**6, text=10**9, duplicates=0.3, family=3.0, room=900, format="parquet", **settings):
    """What is foreseen where there are so many megabytes beyond the floor."""
    chosen = Settings(**{"threads": 1} | settings)
    return Footprint(Corpus.of(n, text, duplicates, family, chosen), Memory(FLOOR + room * 10**6), chosen, format)


def test_widths_are_those_of_stored_columns():
    assert stored_width(PAIRS) == 16
    kinds = {"a": pa.bool_(), "b": pa.binary(5), "c": pa.list_(pa.int64(), 3), "d": pa.float64()}
    assert stored_width(pa.schema(list(kinds.items()))) == 1 + 5 + 25 + 8


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


def test_held_memory_worked_out_by_hand():
    stages = foreseen(1000, 10**8, 0, 3.0, 4000)
    own = footprint.LOADED + footprint.PIECES + (32 << 20)  # pages of Parquet as large as one may be
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
    assert foreseen(room=room, keep="longest").peak() >= least.peak()


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
