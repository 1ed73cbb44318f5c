"""What a job will take: said in numbers and words, refused where it cannot be, and true for a real job."""

import json

import numpy as np
import pytest

import lookalike as la
from lookalike.engines.memory import BYTES_PER_DOCUMENT, FLOOR, LEAST_ROOM
from lookalike.recipes import foresight
from lookalike.recipes.calibration import Speeds, texts_of, write_texts

SIZE = {"documents": 10**6, "bytes": 10**9, "memory": "2GB", "threads": 1}


def test_a_foresight_is_plain_values():
    found = la.foresee(**SIZE)
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain == found.to_dict()
    assert (plain["documents"], plain["bytes"], plain["memory"], plain["duplicates"]) == (10**6, 10**9, 2 * 10**9, 0.3)
    assert plain["cpu_seconds"] == pytest.approx(sum(found.seconds.values())) and not found.calibrated
    assert plain["least_memory"] == FLOOR + LEAST_ROOM + BYTES_PER_DOCUMENT * 10**6


def test_a_foresight_says_where_everything_lies():
    some = str(la.foresee(**SIZE))
    assert (
        "1,000,000 documents, 1.00 GB of text, of which 30% have a near-duplicate, with 2.00 GB of memory and 1 thread" in some
    )
    assert "GB in the work folder" in some and "on a reference core" in some
    assert "disk: none: all is held in memory" in str(la.foresee(**SIZE | {"memory": "20GB"}))


def test_numbers_may_be_whole_floats():
    assert la.foresee(**SIZE | {"documents": 1e6, "bytes": np.float64(1e9)}) == la.foresee(**SIZE)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"documents": -1}, "documents must be in 0"),
        ({"documents": 1.5}, "documents must be a whole number; got 1.5"),
        ({"bytes": float("inf")}, "bytes must be a whole number; got inf"),
        ({"bytes": "1GB"}, "bytes must be a number >= 0; got '1GB'"),
        ({"duplicates": 1.1}, "duplicates must be at least 0 and at most 1; got 1.1"),
        ({"family": 1}, "family must be at least 2; got 1"),
        ({"format": "csv"}, "format must be parquet or jsonl to be foreseen; got 'csv'"),
        ({"verify": "none"}, "verify must be exact or sketch to be foreseen; got 'none'"),
        ({"threads": 0}, "threads must be at least 1"),
        ({"keep": "best"}, "keep must be one of"),
        ({"threshold": 0}, "threshold must be in"),
    ],
)
def test_what_cannot_be_foreseen_is_refused(wrong, message):
    with pytest.raises(la.ParameterError, match=message.replace("(", r"\(")):
        la.foresee(**SIZE | wrong)


def test_a_cap_that_a_job_refuses_is_refused_with_the_least_that_would_do():
    least = la.foresee(**SIZE).least_memory
    assert la.foresee(**SIZE | {"memory": least}).memory == least
    with pytest.raises(la.ParameterError, match=rf"1,000,000 documents need {least / 1e6:,.0f} MB .* raise --memory"):
        la.foresee(**SIZE | {"memory": least - 1})
    with pytest.raises(la.ParameterError, match="memory must be at least"):
        la.foresee(**SIZE | {"memory": FLOOR})


def test_longer_signatures_take_longer_to_make():
    usual, more = (la.foresee(**SIZE, permutations=n).seconds["sketching"] for n in (None, 384))
    assert more > 2 * usual


def test_a_machine_is_measured_when_asked(monkeypatch):
    asked = []

    def measure(format, **settings):
        asked.append((format, settings["threshold"]))
        return Speeds(start=7e9, read_byte=1, read_document=0)

    monkeypatch.setattr(foresight, "measure", measure)
    found = la.foresee(**SIZE, threshold=0.7, format="jsonl", calibrate=True)
    assert asked == [("jsonl", 0.7)] and found.calibrated and "on this machine" in str(found)
    assert (found.seconds["starting"], found.seconds["reading"]) == (7, 1)


def test_the_disk_space_of_a_real_job_was_foreseen(tmp_path):
    """Two fifths of the documents are in families of four, each other one is alone."""
    texts = texts_of(1200, 200, 4) + [text.upper() + " x" for text in texts_of(5000, 100)[3200:]]
    path = write_texts(texts, tmp_path / "texts.parquet")
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
