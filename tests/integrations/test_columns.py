import pickle
import random
from concurrent.futures import ThreadPoolExecutor

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from naive.families import codes
from naive.sketches import band_keys, fast_similarity
from naive.text import hashes

import lookalike as la
from lookalike.integrations import ColumnFunctions

WORDS = [f"w{i}" for i in range(4000)]


def corpus(n, seed=1):
    rng, texts = random.Random(seed), [None, "", "..."]
    for i in range(n):
        words = rng.choices(WORDS, k=rng.randrange(1, 80))
        texts.append(" ".join(words))
        for place in rng.choices(range(len(words)), k=i % 5):
            words[place] = rng.choice(WORDS)
        texts.append(" ".join(words))
    return texts


TEXTS = corpus(60)
COLUMN = pa.array(TEXTS)


def connected(texts, functions):
    opened = duckdb.connect()
    opened.register("given", pa.table({"id": range(len(texts)), "text": texts}))
    opened.execute("create table documents as from given")
    functions.register(opened)
    return opened


def test_figures_are_those_of_the_library():
    functions, left, right = ColumnFunctions(width=2, permutations=512), COLUMN[:-1], COLUMN[1:]
    sets = la.shingle([text or "" for text in TEXTS], width=2)
    exact = functions.resemblance(left, right).to_pylist()
    estimated = functions.estimate(functions.sketch(left), functions.sketch(right)).to_pylist()
    assert exact[:3] == estimated[:3] == [None, None, 0.0], "a null, two empty texts, one of two"
    assert exact[3:] == [sets.resemblance(i, i + 1) for i in range(3, len(exact))]
    assert 0 < np.abs(np.subtract(estimated[3:], exact[3:])).max() < 5 * 0.5 / 512**0.5, "five standard errors"


def test_sketches_hold_the_bits_of_the_twins_slots():
    sketches = ColumnFunctions(permutations=70, bits=3, seed=9).sketch(COLUMN).to_pylist()
    assert [sketch and len(sketch) for sketch in sketches] == [None] + [8 + 2 * 3 * 8] * (len(TEXTS) - 1)
    for text, sketch in zip(TEXTS[3:], sketches[3:], strict=True):
        wanted = codes(fast_similarity(sorted(set(hashes(text))), 70, 9), 3, True)
        planes = [int.from_bytes(sketch[8 + 16 * plane : 24 + 16 * plane], "little") for plane in range(3)]
        assert [sum((plane >> slot & 1) << bit for bit, plane in enumerate(planes)) for slot in range(70)] == wanted
    assert sketches[1] == sketches[2] != sketches[3] and not any(sketches[1][8:])


def test_band_keys_are_those_of_the_twin():
    functions, plan = ColumnFunctions(threshold=0.7, recall=0.9, seed=3), la.plan(threshold=0.7, recall=0.9)
    found = functions.bands(COLUMN).to_pylist()
    assert found[:3] == [None, [], []]
    assert functions.bands(pa.chunked_array([COLUMN.slice(0, 9), COLUMN.slice(9)])).to_pylist() == found
    for text, keys in zip(TEXTS[3:9], found[3:9], strict=True):
        slots = fast_similarity(sorted(set(hashes(text))), plan.permutations, 3)
        assert keys == band_keys(slots, 0, plan.bands, plan.rows)


def test_many_short_texts_are_worked_on_in_pieces_that_do_not_show():
    functions, texts = ColumnFunctions(permutations=16), pa.array([f"a {i % 7}" for i in range(40_000)])
    for name in ("sketch", "bands"):
        found = getattr(functions, name)(texts)
        assert found.equals(getattr(functions, name)(texts[:7]).take(pa.array(range(40_000)).to_numpy() % 7))
    assert functions.resemblance(texts, texts).to_pylist() == [1.0] * 40_000


def test_duckdb_gives_nulls_for_nulls_and_the_same_from_all_of_its_threads():
    functions, n = ColumnFunctions(permutations=16), 300_000  # several groups of rows, one for each of its threads
    opened = connected(TEXTS, functions)
    opened.execute("set threads = 4")
    many = f"from range({n}) r join documents t on t.id = r.range % {len(TEXTS)}"
    opened.execute(f"create table many as select t.id, text {many}")
    line = "select distinct id, lookalike_sketch(text), len(lookalike_bands(text)) is null from many"
    wanted = {(i, sketch, i == 0) for i, sketch in enumerate(functions.sketch(COLUMN).to_pylist())}
    with ThreadPoolExecutor(3) as pool:
        for rows in pool.map(lambda _: opened.cursor().execute(line).fetchall(), range(3)):
            assert len(rows) == len(TEXTS) and {*rows} == wanted
    line = "select lookalike_resemblance(null, 'a'), lookalike_estimate(null, lookalike_sketch('a')), lookalike_bands(null)"
    assert opened.execute(line).fetchall() == [(None, None, None)]


def test_functions_pickle_and_run_side_by_side():
    functions, column = pickle.loads(pickle.dumps(ColumnFunctions(width=1))), pa.array(corpus(1000))
    assert functions == ColumnFunctions(width=1)
    wanted = functions.sketch(column)
    with ThreadPoolExecutor(4) as pool:
        assert all(found.equals(wanted) for found in pool.map(functions.sketch, [column] * 8))


def test_what_does_not_fit_is_refused():
    functions, some = ColumnFunctions(), pa.array(["a b c d e f"])
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


def test_sketches_of_other_parameters_are_refused():
    texts, functions, opened = pa.array(["a b c", None, "d e f"]), ColumnFunctions(), connected(["a"], ColumnFunctions())
    said = "row 0 of the right column is not a sketch made with .*permutations=256"
    for other in ({"permutations": 128}, {"bits": 4}, {"seed": 2}, {"unit": "char"}, {"width": 3}, {"normalization": "none"},
                  {"fold_case": False}):  # fmt: skip
        with pytest.raises(la.errors.IncompatibleSketchError, match=said):
            functions.estimate(functions.sketch(texts), ColumnFunctions(**other).sketch(texts))
    ColumnFunctions(bits=4).register(opened, prefix="other_")
    with pytest.raises(duckdb.Error, match="the right column is not a sketch made with"):
        opened.execute("select lookalike_estimate(lookalike_sketch(text), other_sketch(text)) from documents").fetchall()


def test_threshold_and_recall_do_not_enter_sketches():
    sketches = [ColumnFunctions(threshold=t, recall=r).sketch(COLUMN) for t, r in ((0.8, 0.99), (0.5, 0.9))]
    assert sketches[0].equals(sketches[1])


def test_stored_sketches_stay_readable():
    """What says the parameters, and a whole sketch, change only with the rules of words: databases hold them."""
    assert ColumnFunctions().sketch(pa.array(["a"]))[0].as_py()[:8].hex() == "ac820132627a94d1"
    small = ColumnFunctions(permutations=64, bits=1).sketch(pa.array(["a b c d e f"]))
    assert small[0].as_py().hex() == "fe8597de1ad9326bbc9ef3d6d2c9bbfd"
