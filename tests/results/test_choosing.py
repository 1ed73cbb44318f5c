"""Rows that are chosen: the lowest, and drawn ones, however the rows are cut into batches."""

import numpy as np
import pyarrow as pa
import pytest
from corpora import planted

import lookalike as la
from lookalike.results.rows import Draw, HeldRows, Lowest, rows_at


@pytest.mark.parametrize("step", [1, 3, 100])
def test_the_lowest_of_all_batches(rng, step):
    values = rng.integers(0, 20, 100).astype(np.float64)
    lowest = Lowest(17)
    for begin in range(0, 100, step):
        lowest.add(values[begin : begin + step], np.arange(begin, min(begin + step, 100)))
    wanted = sorted(range(100), key=lambda i: (values[i], i))[:17]
    assert lowest.rows.tolist() == wanted and lowest.values.tolist() == values[wanted].tolist()


def test_draws_depend_on_seed_and_purpose_but_not_on_batches():
    def drawn(seed, purpose, step):
        draw = Draw(10, seed, purpose)
        for begin in range(0, 1000, step):
            draw.add(np.arange(begin, begin + step))
        assert draw.total == 1000
        return draw.rows.tolist()

    first = drawn(1, "a", 1000)
    assert first == drawn(1, "a", 50) == sorted(set(first)) and len(first) == 10
    assert first != drawn(2, "a", 1000) and first != drawn(1, "b", 1000)


def test_each_row_is_drawn_equally_often():
    counts = np.zeros(100)
    for seed in range(2000):
        draw = Draw(10, seed, "x")
        draw.add(np.arange(100))
        counts[draw.rows] += 1
    chi = ((counts - 200) ** 2 / 200).sum() / 0.9
    assert chi < 99 + 5 * np.sqrt(2 * 99)


def test_rows_come_in_the_order_of_their_places(rng):
    rows = HeldRows(pa.table({"x": np.arange(5000)}))
    for places in ([], [3], [4999, 0, 0, 17], rng.integers(0, 5000, 200).tolist()):
        assert rows_at(rows, np.array(places, np.int64))["x"].to_pylist() == places


def test_samples_and_the_least_alike_are_removals(rng):
    result = la.dedup(planted(rng, n_families=60), threshold=0.6)
    removed = result.removed.to_pylist()
    least = result.least_alike(15).to_pylist()
    near = [row["resemblance"] for row, reason in zip(removed, removal_reasons(result), strict=True) if reason == "near"]
    assert [row["resemblance"] for row in least] == sorted(near)[:15] and all(row in removed for row in least)
    sample = result.sample(20).to_pylist()
    assert all(row in removed for row in sample) and len(sample) == 20 and sample != result.sample(20, seed=2).to_pylist()
    assert sample == sorted(sample, key=lambda row: row["id"])
    assert len(result.sample(10**9)) == len(removed), "none is dropped as empty here"
    assert result.sample(1).schema == result.removed.schema == result.least_alike(1).schema


def removal_reasons(result):
    """The reasons of all removed rows, in their order."""
    return [row["reason"] for row in result.decisions.to_pylist() if not row["kept"]]


def test_wrong_numbers_are_refused():
    result = la.dedup(["a", "b"])
    for call in (lambda: result.sample(0), lambda: result.least_alike(1.5), lambda: result.sample(1, seed=-1)):
        with pytest.raises(la.ParameterError):
            call()
    assert len(result.sample(3)) == 0 == len(result.least_alike(3))


def test_a_notebook_shows_the_counts_and_nothing_of_the_texts_as_markup():
    table = pa.table({"text": ["a b c d e f g", "a b c d e f g h"], "id": ["<b>\u202e", "<i>y"]})
    shown = la.dedup(table, id="id", threshold=0.5)._repr_html_()
    assert "&lt;b&gt;\\u202e" in shown and "<b>\u202e" not in shown and "<i>" not in shown and "<b>1</b>" in shown
