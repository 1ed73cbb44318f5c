"""How fast a machine is: the texts it is measured with, and what is made of the measurements."""

import dataclasses
import json

import pyarrow.parquet as pq
import pytest

import semblance as sb
from semblance.jobs import calibration
from semblance.jobs.calibration import REFERENCE, Speeds, measure, texts_of, write_texts


def test_texts_of_a_family_resemble_each_other_and_no_others():
    alone, alike = texts_of(40, 200), texts_of(40, 200, 4)
    assert [len(set(texts)) for texts in (alone, alike)] == [40, 40]
    assert all(len(text.split()) == 200 for text in alone + alike)
    assert texts_of(40, 200, 4) == alike, "the same each time"
    assert sb.dedup(alone).summary.kept == 40
    assert sb.dedup(alike).summary.kept == 10


@pytest.mark.parametrize("form", ["parquet", "jsonl"])
def test_texts_are_written_in_both_formats(tmp_path, form):
    texts = texts_of(5, 10)
    path = write_texts(texts, tmp_path / f"t.{form}")
    if form == "parquet":
        assert pq.read_table(path)["text"].to_pylist() == texts
    else:
        assert [json.loads(line)["text"] for line in path.read_text().splitlines()] == texts


def test_bytes_and_documents_are_told_apart():
    assert calibration._per((3 * 100 + 7 * 10, 100, 10), (3 * 1000 + 7 * 2, 1000, 2)) == pytest.approx((3, 7))
    assert calibration._per((10, 100, 10), (500, 1000, 2))[1] == 0, "nothing costs less than nothing"


def test_a_machine_is_measured_by_real_jobs(monkeypatch, tmp_path):
    monkeypatch.setattr(calibration, "_REPEATS", 1)
    found = measure("jsonl", scale=0.05, verify="sketch")
    assert all(speed >= 0 for speed in dataclasses.astuple(found))
    assert found.start > 0 and found.read_byte + found.read_document > 0 and found.sketch_byte + found.sketch_document > 0


def test_a_format_that_is_not_measured_is_refused():
    with pytest.raises(sb.ParameterError, match="format must be parquet or jsonl to be foreseen; got 'txt'"):
        measure("txt")


def test_lines_take_longer_to_read_than_parquet():
    assert set(REFERENCE) == set(calibration.FORMATS) and REFERENCE["parquet"] == Speeds()
    assert REFERENCE["jsonl"].read_byte > REFERENCE["parquet"].read_byte
