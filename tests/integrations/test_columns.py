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


def test_a_join_of_bands_finds_what_pairs_finds():
    functions = la.integrations.ColumnFunctions(threshold=0.7, recall=0.95, width=1)
    rng, given = random.Random(2), []
    for i in range(600):
        words = [f"{i // 2}w{j}" for j in range(100)]
        for j in rng.sample(range(100), 4 + i % 11 if i % 2 else 0):
            words[j] = f"{i}new{j}"
        given.append(" ".join(words))
    true = {(row["left_id"], row["right_id"]) for row in la.pairs(given, width=1, threshold=0.7, recall=0.99999).to_pylist()}
    sets = [set(keys) for keys in functions.bands(pa.array(given)).to_pylist()]
    met = {(i, j) for i in range(0, 600, 2) for j in (i + 1,) if sets[i] & sets[j]}
    assert len(true) > 200 and len(met & true) / len(true) > 0.95 - 3 * (0.95 * 0.05 / len(true)) ** 0.5
    assert {len(keys) for keys in sets} == {la.plan(threshold=0.7, recall=0.95).bands}
    assert functions.bands(pa.array(["", None])).to_pylist() == [[], None]


def test_kinds_of_columns():
    for kind in [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())]:
        functions, plain = la.integrations.ColumnFunctions(width=1), pa.array(texts())
        column = plain.dictionary_encode() if pa.types.is_dictionary(kind) else plain.cast(kind)
        chunked = pa.chunked_array([column.slice(0, 50), column.slice(50, 0), column.slice(50)])
        for name in ("sketch", "bands"):
            wanted = getattr(functions, name)(plain).to_pylist()
            for given in (column, chunked, pl.Series(texts())):
                found = getattr(functions, name)(given)
                assert (found.to_list() if isinstance(found, pl.Series) else found.to_pylist()) == wanted
        assert functions.sketch(column.slice(3, 9)).to_pylist() == functions.sketch(plain).to_pylist()[3:12]
        assert functions.sketch(pa.array([], kind)).to_pylist() == []


def test_expressions_of_polars():
    functions = la.integrations.ColumnFunctions(width=1)
    frame = pl.DataFrame({"a": ["a b c", "x", None], "b": ["a b d", "x", "y"]})
    found = frame.with_columns(
        r=pl.struct("a", "b").map_batches(lambda s: functions.resemblance(s.struct.field("a"), s.struct.field("b")), return_dtype=pl.Float64),
        keys=pl.col("a").map_batches(functions.bands, return_dtype=pl.List(pl.UInt64)),
    )  # fmt: skip
    assert found["r"].to_list() == [0.5, 1.0, None]
    assert found["keys"].list.len().to_list() == [16, 16, None]


def test_functions_of_duckdb():
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    functions, given = la.integrations.ColumnFunctions(threshold=0.6, width=2), texts(300)
    connection = duckdb.connect()
    functions.register(connection)
    connection.register("t", pa.table({"id": range(len(given)), "text": given}))
    joined = connection.execute("""
        with keys as (select id, unnest(lookalike_bands(text)) as key from t),
        met as (select distinct a.id as l, b.id as r from keys a join keys b on a.key = b.key and a.id < b.id)
        select l, r, lookalike_resemblance(a.text, b.text) as score,
               lookalike_estimate(lookalike_sketch(a.text), lookalike_sketch(b.text)) as estimate
        from met join t a on a.id = l join t b on b.id = r where score >= 0.6 order by l, r""").fetchall()
    wanted = [tuple(row.values())[:3] for row in la.pairs([text or "" for text in given], width=2, threshold=0.6).to_pylist()]
    assert len(wanted) > 50 and {row[:3] for row in joined} == set(wanted)
    assert all(abs(row[2] - row[3]) < 0.2 for row in joined)
    assert connection.execute("select lookalike_resemblance(null, 'a'), lookalike_resemblance('', '')").fetchall() == [
        (None, None)
    ]
    with pytest.raises(duckdb.InvalidInputException, match="not a sketch made with ColumnFunctions"):
        connection.execute("select lookalike_estimate('abc'::blob, 'abc'::blob)").fetchall()


def test_what_does_not_fit_is_refused():
    functions, some = la.integrations.ColumnFunctions(), pa.array(["a b c d e f"])
    sketches = functions.sketch(some)
    for call, error, words in (
        (lambda: functions.sketch(["a"]), la.errors.InputDataError, "column is needed; got list"),
        (lambda: functions.sketch(pa.array([1])), la.LookalikeError, "string"),
        (lambda: functions.sketch(sketches), la.errors.InputDataError, "texts must be strings"),
        (lambda: functions.estimate(some, sketches), la.errors.InputDataError, "sketches must be bytes; the left column holds string"),
        (lambda: functions.resemblance(some, pa.array(["a", "b"])), la.errors.InputDataError, "the same number of rows; got 1 and 2"),
        (lambda: la.integrations.ColumnFunctions(seed=2).estimate(sketches, sketches), la.errors.IncompatibleSketchError, "row 0 of the left column"),
        (lambda: functions.estimate(sketches, pa.array([sketches[0].as_py()[:-1]])), la.errors.IncompatibleSketchError, "right column"),
        (lambda: la.integrations.ColumnFunctions(bits=0), la.errors.ParameterError, "bits"),
        (lambda: la.integrations.ColumnFunctions(threshold=0), la.errors.ParameterError, "threshold"),
    ):  # fmt: skip
        with pytest.raises(error, match=words):
            call()


def test_functions_pickle_and_run_side_by_side():
    functions, column = pickle.loads(pickle.dumps(la.integrations.ColumnFunctions(width=1))), pa.array(texts(2000))
    wanted = la.integrations.ColumnFunctions(width=1).sketch(column)
    assert functions == la.integrations.ColumnFunctions(width=1)
    with ThreadPoolExecutor(4) as pool:
        assert all(found.equals(wanted) for found in pool.map(functions.sketch, [column] * 8))
