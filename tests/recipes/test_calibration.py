"""How fast a machine is: the texts it is measured with, and what is made of the measurements."""

import dataclasses
import json

import pyarrow.parquet as pq
import pytest

import lookalike as la
from lookalike.recipes import calibration
from lookalike.recipes.calibration import REFERENCE, Speeds, measure, texts_of, write_texts


def test_texts_of_a_family_resemble_each_other_and_no_others():
    alone, alike = texts_of(40, 200), texts_of(40, 200, 4)
    assert [len(set(texts)) for texts in (alone, alike)] == [40, 40]
    assert all(len(text.split()) == 200 for text in alone + alike)
    assert texts_of(40, 200, 4) == alike, "the same each time"
    assert la.dedup(alone).summary.kept == 40
    assert la.dedup(alike).summary.kept == 10


@pytest.mark.parametrize("form", ["parquet", "jsonl"])
def test_texts_are_written_in_both_formats(tmp_path, form):
    texts = texts_of(5, 10)
    path = write_texts(texts, tmp_path / f"t.{form}")
    if form == "parquet":
        assert pq.read_table(path)["text"].to_pylist() == texts
    else:
        assert [json.loads(line)["text"] for line in path.read_text().splitlines()] == texts


def test_speeds_in_proportion_are_found_from_any_runs():
    usual = Speeds(read_byte=2, read_document=100, pair=50)
    runs = [{"read_byte": 1e6, "read_document": 10}, {"read_byte": 1e5, "read_document": 2000, "pair": 70}]
    took = [3 * sum(amount * getattr(usual, name) for name, amount in run.items()) for run in runs]
    found = calibration.fitted(runs, took, usual)
    assert (found.read_byte, found.read_document, found.pair) == pytest.approx((6, 300, 150))
    assert found.compare_byte == usual.compare_byte, "nothing is known of it"


def test_speeds_out_of_proportion_are_found_from_runs_that_tell_them_apart():
    usual, true = Speeds(read_byte=2, read_document=100), {"read_byte": 3.0, "read_document": 60.0}
    runs = [{"read_byte": 1e6, "read_document": 10.0}, {"read_byte": 1e5, "read_document": 1e5}] * 20
    found = calibration.fitted(runs, [sum(run[name] * true[name] for name in run) for run in runs], usual)
    assert (found.read_byte, found.read_document) == pytest.approx((3, 60), rel=0.02)


def test_one_measurement_that_is_far_off_does_not_count_for_all():
    usual = Speeds(read_byte=2, write_byte=10)
    runs = [{"read_byte": 1e6}, {"read_byte": 1e6, "write_byte": 1e6}]
    found = calibration.fitted(runs, [2e6, 62e6], usual)
    assert 20 < found.write_byte < 60 and found.read_byte > 1
    assert calibration.fitted(runs, [2e6, -5.0], usual).write_byte > 0


def test_a_machine_is_measured_by_real_jobs(monkeypatch, tmp_path):
    monkeypatch.setattr(calibration, "_REPEATS", 1)
    found = measure("jsonl", scale=0.05, verify="sketch")
    assert all(speed > 0 for speed in dataclasses.astuple(found))


def test_a_format_that_is_not_measured_is_refused():
    with pytest.raises(la.ParameterError, match="format must be parquet or jsonl to be foreseen; got 'txt'"):
        measure("txt")


def test_lines_take_longer_to_read_than_parquet():
    assert set(REFERENCE) == set(calibration.FORMATS) and REFERENCE["parquet"] == Speeds()
    assert REFERENCE["jsonl"].read_byte > REFERENCE["parquet"].read_byte
