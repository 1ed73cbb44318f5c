"""Functions of columns: bits and keys of slow twins, threads of DuckDB, sketches of other parameters."""

import random
from concurrent.futures import ThreadPoolExecutor

import duckdb
import pyarrow as pa
import pytest
from naive.families import codes
from naive.sketches import band_keys, fast_similarity
from naive.text import hashes

import lookalike as la

WORDS = [f"w{i}" for i in range(4000)]


def corpus(n, seed=1):
    """Texts in pairs, the second with some words of the first replaced; a null and empty texts among them."""
    rng, texts = random.Random(seed), [None, "", "  "]
    for i in range(n):
        words = rng.choices(WORDS, k=60)
        texts.append(" ".join(words))
        for place in rng.sample(range(60), i % 5):
            words[place] = rng.choice(WORDS)
        texts.append(" ".join(words))
    return texts


TEXTS = corpus(30)
COLUMN = pa.array(TEXTS)


def connected(texts, functions):
    """A database with documents and the functions."""
    opened = duckdb.connect()
    opened.register("given", pa.table({"id": range(len(texts)), "text": texts}))
    opened.execute("create table documents as from given")
    functions.register(opened)
    return opened


def test_sketches_hold_the_bits_of_the_twins_slots():
    functions = la.integrations.ColumnFunctions(permutations=70, bits=3, seed=9)
    sketches = functions.sketch(COLUMN).to_pylist()
    assert [sketch and len(sketch) for sketch in sketches] == [None] + [8 + 2 * 3 * 8] * (len(TEXTS) - 1)
    for text, sketch in zip(TEXTS[3:], sketches[3:], strict=True):
        wanted = codes(fast_similarity(sorted(set(hashes(text))), 70, 9), 3, True)
        planes = [int.from_bytes(sketch[8 + 16 * plane : 24 + 16 * plane], "little") for plane in range(3)]
        assert [sum((plane >> slot & 1) << bit for bit, plane in enumerate(planes)) for slot in range(70)] == wanted
    assert sketches[1] == sketches[2] != sketches[3] and not any(sketches[1][8:])


def test_band_keys_are_those_of_the_twin():
    functions = la.integrations.ColumnFunctions(threshold=0.7, recall=0.9, seed=3)
    plan = la.plan(threshold=0.7, recall=0.9)
    found = functions.bands(COLUMN).to_pylist()
    assert found[:3] == [None, [], []]
    assert functions.bands(pa.chunked_array([COLUMN.slice(0, 9), COLUMN.slice(9)])).to_pylist() == found
    for text, keys in zip(TEXTS[3:9], found[3:9], strict=True):
        slots = fast_similarity(sorted(set(hashes(text))), plan.permutations, 3)
        assert keys == band_keys(slots, 0, plan.bands, plan.rows)


def test_many_short_texts_are_worked_on_in_pieces_that_do_not_show():
    functions, texts = la.integrations.ColumnFunctions(permutations=16), pa.array([f"a {i % 7}" for i in range(40_000)])
    for name in ("sketch", "bands"):
        once = getattr(functions, name)(texts[:7]).to_pylist()
        assert getattr(functions, name)(texts).to_pylist() == [once[i % 7] for i in range(40_000)]
    assert functions.resemblance(texts, texts).to_pylist() == [1.0] * 40_000


def test_duckdb_gives_nulls_for_nulls_and_the_same_from_all_of_its_threads():
    functions, n = (
        la.integrations.ColumnFunctions(permutations=16),
        300_000,
    )  # several groups of rows, one for each of its threads
    opened = connected(TEXTS, functions)
    opened.execute("set threads = 4")
    opened.execute(
        f"create table many as select t.id, text from range({n}) r join documents t on t.id = r.range % {len(TEXTS)}"
    )
    wanted = dict(enumerate(functions.sketch(COLUMN).to_pylist()))
    line = "select distinct id, lookalike_sketch(text), len(lookalike_bands(text)) is null from many"

    def asked(_):
        return opened.cursor().execute(line).fetchall()

    with ThreadPoolExecutor(3) as pool:
        for rows in pool.map(asked, range(3)):
            assert len(rows) == len(TEXTS)
            assert all(sketch == wanted[i] and null == (TEXTS[i] is None) for i, sketch, null in rows)
    line = "select lookalike_resemblance(null, 'a'), lookalike_estimate(null, lookalike_sketch('a')), lookalike_bands(null)"
    assert opened.execute(line).fetchall() == [(None, None, None)]


def test_functions_of_other_parameters_have_another_prefix():
    opened = connected(["a b c"], la.integrations.ColumnFunctions())
    la.integrations.ColumnFunctions(width=1).register(opened, prefix="words_")
    line = "select lookalike_resemblance(text, 'a b d'), words_resemblance(text, 'a b d') from documents"
    assert opened.execute(line).fetchall() == [(0.0, 0.5)]


OTHERS = [
    {"permutations": 128},
    {"bits": 4},
    {"seed": 2},
    {"unit": "char"},
    {"width": 3},
    {"normalization": "none"},
    {"fold_case": False},
]


def test_sketches_of_other_parameters_are_refused():
    for other in OTHERS:
        texts, functions = pa.array(["a b c", None, "d e f"]), la.integrations.ColumnFunctions()
        ours, theirs = functions.sketch(texts), la.integrations.ColumnFunctions(**other).sketch(texts)
        with pytest.raises(
            la.errors.IncompatibleSketchError, match="row 0 of the right column is not a sketch made with .*permutations=256"
        ):
            functions.estimate(ours, theirs)
        opened = connected(["a"], functions)
        la.integrations.ColumnFunctions(**other).register(opened, prefix="other_")
        with pytest.raises(duckdb.Error, match="the right column is not a sketch made with"):
            opened.execute("select lookalike_estimate(lookalike_sketch(text), other_sketch(text)) from documents").fetchall()


def test_threshold_and_recall_do_not_enter_sketches():
    sketches = [la.integrations.ColumnFunctions(threshold=t, recall=r).sketch(COLUMN) for t, r in ((0.8, 0.99), (0.5, 0.9))]
    assert sketches[0].equals(sketches[1])


def test_stored_sketches_stay_readable():
    """What says the parameters, and a whole sketch, change only with the rules of words: databases hold them."""
    assert la.integrations.ColumnFunctions().sketch(pa.array(["a"]))[0].as_py()[:8].hex() == "ac820132627a94d1"
    small = la.integrations.ColumnFunctions(permutations=64, bits=1).sketch(pa.array(["a b c d e f"]))
    assert small[0].as_py().hex() == "fe8597de1ad9326bbc9ef3d6d2c9bbfd"
