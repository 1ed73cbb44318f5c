"""How far back earlier documents count, and which values a window counts from."""

import json
import os
from datetime import UTC, date, datetime, timedelta, timezone

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lookalike as la
from lookalike.formats.sources import open_sources
from lookalike.inputs.window import Window

NOON = datetime(2026, 11, 25, 12, tzinfo=UTC)


def month(folder, number, day, texts):
    """Write a file of documents of one day."""
    rows = [{"id": f"{number}-{i}", "text": text, "date": day} for i, text in enumerate(texts)]
    (folder / f"{number}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return f"{number}.jsonl"


def test_a_window_counts_back_from_the_newest_value(tmp_path, monkeypatch):
    """An input counts if its newest value is in the window; those that do not may be gone. The chain of secrets goes on."""
    monkeypatch.chdir(tmp_path)
    given = la.Settings(id="id", threads=1)
    texts = ["a b c d e f", "g h i j k l", "m n o p q r"]

    def kept(number, day, some):
        with la.Seen("seen") as seen:
            result = seen.add(month(tmp_path, number, day, some), f"out{number}.jsonl", given, window="date:90d", texts=False)
            count = result.summary.kept
            result.close()
        return count

    assert kept(0, "2026-01-01", texts) == 3
    assert kept(1, "2026-03-31T23:00:00+00:00", texts) == 0  # 89 days and 23 hours
    assert kept(2, "2026-04-01", texts) == 0  # exactly 90 days
    os.remove("0.jsonl")
    assert kept(3, "2026-04-01T00:00:01Z", texts) == 3
    assert kept(4, "2026-04-02", texts[:1]) == 0  # a copy of what the third added: told by the same secret
    with la.Seen("seen") as seen:
        (problem,) = seen.check()
        assert "0.jsonl: cannot be read" in problem
        seen.compact()
    assert kept(5, "2026-06-30", texts) == 0
    assert kept(6, "2026-06-30T01:00:00", texts) == 3
    with pytest.raises(la.InputDataError, match="0.jsonl: cannot be read: No such file"):
        kept(7, None, texts)  # without a value everything counts


def test_values_that_were_not_noted_count_always(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    how = la.Settings(id="id", threads=1)
    with la.Seen("seen") as seen:
        seen.add(month(tmp_path, 0, "2000-01-01", ["a b c"]), "out0.jsonl", how).close()
        result = seen.add(month(tmp_path, 1, "2026-01-01", ["a b c"]), "out1.jsonl", how, window="date:1h")
        assert result.summary.reference == 1 and result.summary.kept == 0
        result.close()


@pytest.mark.parametrize(
    ("values", "newest"),
    [
        ([date(2026, 11, 24), None, date(2026, 11, 25)], NOON - timedelta(hours=12)),
        ([datetime(2026, 11, 25, 12), datetime(2020, 1, 1)], NOON),
        (pa.array([NOON, None], pa.timestamp("us", "Asia/Tokyo")), NOON),
        ([NOON.astimezone(timezone(timedelta(hours=5)))], NOON),
        (["2026-11-25T12:00:00Z", "2026-11-25T13:30:00+02:00"], NOON),
        (["2026-11-25", "2026-11-24T23:59:59"], NOON - timedelta(hours=12)),
        ([None, None], None),
        ([], None),
    ],
    ids=str,
)
def test_times(values, newest, tmp_path):
    column = values if isinstance(values, pa.Array) else pa.array(values, None if values and any(values) else pa.string())
    pq.write_table(pa.table({"text": ["x"] * len(column), "when": column}), tmp_path / "t.parquet")
    window = Window.of("when:36h")
    found = window.newest(open_sources([tmp_path / "t.parquet"]), "text", "strict")
    assert found == [None if newest is None else newest.timestamp()]
    assert window.oldest([None, *found]) == (None if newest is None else (newest - timedelta(hours=36)).timestamp())


@pytest.mark.parametrize(
    ("values", "given"),
    [
        (pa.array([[1], [2]]), "when:2"),
        (pa.array([{"a": 1}, None]), "when:2"),
        (pa.array([1 << 60, 5], pa.timestamp("ms")), "when:2d"),
        (pa.array([1 << 30, 5], pa.date32()), "when:2d"),
    ],
    ids=lambda value: str(getattr(value, "type", value)),
)
def test_types_without_a_window(values, given, tmp_path):
    pq.write_table(pa.table({"text": ["x", "y"], "when": values}), tmp_path / "t.parquet")
    with pytest.raises(la.InputDataError, match=r"t\.parquet, column 'when': a window counts from .*found values of type "):
        Window.of(given).newest(open_sources([tmp_path / "t.parquet"]), "text", "strict")


@pytest.mark.parametrize(
    ("given", "rows", "said"),
    [
        ("n:2", ['{"text": "", "n": 1}', '{"text": "", "n": 7.5}'], 7.5),
        ("n:2", ['{"text": "", "n": "12"}'], 12.0),
        ("n:2", ['{"text": "", "n": true}'], "counts from a number; found True"),
        ("n:2", ['{"text": "", "n": [1]}'], r"found '\[1\]'"),
        ("n:2", ['{"text": "", "n": "2026-11-25"}'], "counts from a number; found '2026-11-25'"),
        ("n:2d", ['{"text": "", "n": 5}'], "counts from a date or time such as 2026-11-25; found 5"),
        ("n:2d", ['{"text": "", "n": "last week"}'], "found 'last week'"),
    ],
)  # fmt: skip
def test_values_of_lines(given, rows, said, tmp_path):
    (tmp_path / "n.jsonl").write_text("".join(f"{row}\n" for row in rows))
    sources = open_sources([tmp_path / "n.jsonl"])
    if isinstance(said, float):
        assert Window.of(given).newest(sources, "text", "strict") == [said]
    else:
        with pytest.raises(la.InputDataError, match=rf"n\.jsonl, column 'n': a window .*{said}"):
            Window.of(given).newest(sources, "text", "strict")


@pytest.mark.parametrize("given", ["", "n", "n:", ":3", "n:-1", "n:3y", "n:x", "n:1e3"])
def test_no_windows(given):
    with pytest.raises(la.ParameterError, match=r"a window must be a column and a span, in days \(date:90d\)"):
        Window.of(given)
