"""Functions of columns: the same figures as the library's own, in Arrow, polars, pandas and DuckDB."""

import pickle
import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import lookalike as la


def texts(n=120, seed=1):
    """Texts of which every third resembles the one before, with empty ones and nulls."""
    rng, found = random.Random(seed), []
    for i in range(n):
        words = [f"{rng.randrange(1000)}" for _ in range(rng.randrange(1, 80))]
        found.append(" ".join(words) if i % 3 or not i else found[-1] and found[-1] + " more")
    found[7], found[30], found[31] = None, "", "..."
    return found


def test_figures_are_those_of_the_library():
    functions, given = la.integrations.ColumnFunctions(width=2, permutations=512), texts()
    left, right = pa.array(given[:-1]), pa.array(given[1:])
    sets = la.shingle([text or "" for text in given], width=2)
    exact, estimated = (
        functions.resemblance(left, right).to_pylist(),
        functions.estimate(functions.sketch(left), functions.sketch(right)),
    )
    errors = []
    for i, (a, b) in enumerate(zip(left.to_pylist(), right.to_pylist(), strict=True)):
        empty = sets.sizes[i] == 0, sets.sizes[i + 1] == 0
        if None in (a, b) or all(empty):
            assert exact[i] is None and estimated[i].as_py() is None
        else:
            assert exact[i] == (0.0 if any(empty) else sets.resemblance(i, i + 1))
            errors.append(estimated[i].as_py() - exact[i])
    assert len(errors) > 100 and 0 < np.abs(errors).max() < 5 * 0.5 / 512**0.5, "five standard errors"


def test_expressions_of_polars():
    functions = la.integrations.ColumnFunctions(width=1)
    frame = pl.DataFrame({"a": ["a b c", "x", None], "b": ["a b d", "x", "y"]})
    found = frame.with_columns(
        r=pl.struct("a", "b").map_batches(lambda s: functions.resemblance(s.struct.field("a"), s.struct.field("b")), return_dtype=pl.Float64),
        keys=pl.col("a").map_batches(functions.bands, return_dtype=pl.List(pl.UInt64)),
    )  # fmt: skip
    assert found["r"].to_list() == [0.5, 1.0, None]
    assert found["keys"].list.len().to_list() == [16, 16, None]


def test_what_does_not_fit_is_refused():
    functions, some = la.integrations.ColumnFunctions(), pa.array(["a b c d e f"])
    sketches = functions.sketch(some)
    for call, error, words in (
        (lambda: functions.sketch(["a"]), la.errors.InputDataError, "column is needed; got list"),
        (lambda: functions.sketch(pa.array([1])), la.LookalikeError, "string"),
        (lambda: functions.sketch(sketches), la.errors.InputDataError, "texts must be strings"),
        (lambda: functions.estimate(some, sketches), la.errors.InputDataError, "sketches must be bytes; the left column holds string"),
        (lambda: functions.resemblance(some, pa.array(["a", "b"])), la.errors.InputDataError, "the same number of rows; got 1 and 2"),
        (lambda: functions.estimate(sketches, pa.array([sketches[0].as_py()[:-1]])), la.errors.IncompatibleSketchError, "right column"),
    ):  # fmt: skip
        with pytest.raises(error, match=words):
            call()


def test_functions_pickle_and_run_side_by_side():
    functions, column = pickle.loads(pickle.dumps(la.integrations.ColumnFunctions(width=1))), pa.array(texts(2000))
    wanted = la.integrations.ColumnFunctions(width=1).sketch(column)
    assert functions == la.integrations.ColumnFunctions(width=1)
    with ThreadPoolExecutor(4) as pool:
        assert all(found.equals(wanted) for found in pool.map(functions.sketch, [column] * 8))
