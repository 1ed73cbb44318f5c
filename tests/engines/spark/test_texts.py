import os
import tempfile
from pathlib import Path
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cut_tables import cut_rows, cuts, whole
from hypothesis import given
from hypothesis import strategies as st
from raising import assert_raises

from lookalike.engines.spark.texts import WHERE, InputTexts, Spool, TextFiles, located, read_wanted, spool, units_of
from lookalike.errors import InputDataError
from lookalike.formats.sources import open_sources
from lookalike.inputs.read import ReadOptions
from lookalike.values.tables import SOURCE_BITS

GIVEN = pa.schema([("order", "int64"), *WHERE])
WANTED = pa.schema([("text", "large_binary"), ("order", "int64")])
TEXTS = pa.schema([("order", "int64"), ("text", "large_binary")])


def asked(rows, cut=()):
    """``rows`` are pairs of unit and place."""
    return cut_rows([(order, *row) for order, row in enumerate(rows)], GIVEN, cut)


def wanted(rows, texts, cut=()):
    found = list(read_wanted(asked(rows, cut), texts, "text", WANTED))
    assert all(batch.schema == WANTED for batch in found)
    return [(row["order"], row["text"]) for batch in found for row in batch.to_pylist()]


def written(folder, texts, each=3):
    file, found = Spool(folder), []
    for begin in range(0, len(texts), each):
        unit, place = file.add(pa.array(texts[begin : begin + each], "large_binary"))
        found += zip(unit.to_pylist(), place.to_pylist(), strict=True)
    file.close()
    return found


some_texts = st.lists(st.binary(max_size=6), max_size=30)


@given(some_texts, some_texts, st.data(), cuts)
def test_texts_are_found_again(one, other, data, cut):
    with (
        patch("lookalike.engines.spark.texts.GROUP_BYTES", data.draw(st.integers(1, 20))),
        patch("lookalike.engines.spark.texts.BATCH_BYTES", data.draw(st.integers(1, 20))),
        tempfile.TemporaryDirectory() as made,
    ):
        folder = Path(made)
        places = {place: text for some in (one, other) for place, text in zip(written(folder, some), some, strict=True)}
        rows = sorted(data.draw(st.lists(st.sampled_from(sorted(places)), max_size=40))) if places else []
        told = wanted(rows, TextFiles(folder), cut)
    assert told == [(order, places[row]) for order, row in enumerate(rows)]


def test_a_text_that_is_wanted_often_is_not_held_as_often(tmp_path, monkeypatch):
    """As that of a document with many partners is."""
    monkeypatch.setattr("lookalike.engines.spark.texts.BATCH_BYTES", 1000)
    (row,) = written(tmp_path, [b"x" * 1000])
    before = pa.total_allocated_bytes()
    for batch in read_wanted(asked([row] * 500), TextFiles(tmp_path), "text", WANTED):
        assert len(batch) == 1 and pa.total_allocated_bytes() - before < 100_000


def test_texts_are_written_by_a_task_that_gives_their_places(tmp_path):
    rows = cut_rows([(5, b"a"), (6, b""), (7, b"c")], TEXTS, [1])
    made = pa.Table.from_batches(spool(rows, tmp_path, GIVEN), GIVEN)
    assert made["order"].to_pylist() == [5, 6, 7] and made["place"].to_pylist() == [0, 1, 2]
    assert [path.name for path in tmp_path.iterdir()] == [TextFiles(tmp_path).path(made["unit"][0].as_py()).name]
    unit, again = (written(tmp_path, [b"a", b"b"])[0][0] for _ in range(2))
    assert unit != again and len(list(tmp_path.iterdir())) == 3, "attempts of a task write files of their own"
    assert list(spool(iter([]), str(tmp_path / "none"), GIVEN)) == [] and not (tmp_path / "none").exists()


@pytest.fixture
def inputs(tmp_path, monkeypatch):
    pq.write_table(pa.table({"text": [f"text {i}" for i in range(10)]}), tmp_path / "a.parquet", row_group_size=3)
    (tmp_path / "b.jsonl").write_text('{"text": "one"}\n{"text": ""}\n{"text": "three"}\n')
    splits = open_sources([tmp_path / "a.parquet", tmp_path / "b.jsonl"])
    monkeypatch.setattr("lookalike.engines.spark.texts.UNIT_BYTES", 1)
    texts = InputTexts(units_of(splits), ReadOptions())
    known = {i: f"text {i}" for i in range(10)} | {(1 << SOURCE_BITS) + i: t for i, t in enumerate(["one", "", "three"])}
    return texts, known


def places_in(texts, positions, cut=()):
    schema = whole("position")
    made = located(cut_rows([(place,) for place in positions], schema, cut), texts.starts, pa.schema([*schema, *WHERE]))
    return [(row["unit"], row["place"]) for batch in made for row in batch.to_pylist()]


def test_texts_are_read_from_the_pieces_of_inputs_and_those_that_changed_are_refused(inputs, tmp_path):
    """What is compared must be what was sketched."""
    texts, known = inputs
    assert len(texts.units) > 3
    for some in (sorted(known), sorted(known)[1::4], [7, 7, 1 << SOURCE_BITS]):
        assert [text.decode() for _, text in wanted(places_in(texts, some, [2]), texts)] == [known[place] for place in some]
    gone = [(len(texts.units) - 1, texts.units[-1].start + 3)]
    assert_raises(InputDataError, r"b\.jsonl, row \d+: the row is no longer there; run again", wanted, gone, texts)
    os.utime(tmp_path / "b.jsonl", (1, 1))
    places = places_in(texts, sorted(known))
    assert_raises(InputDataError, r"b\.jsonl: the file changed during the run; run again", wanted, places, texts)
