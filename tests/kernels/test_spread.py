"""Values stand in tables where a factor puts them that nobody knows: those made to meet do not, and no result depends on it."""

import subprocess
import sys

import numpy as np
import pytest
from conftest import JIT_OFF

import lookalike as la
from lookalike.kernels import hashing, overlap, resemblance, scratch, shingling
from lookalike.sketches.minhash import FastSimilarity
from lookalike.values import drop_repeats

COUNT = 64 if JIT_OFF else 4096
SIZE = 4 * COUNT
SPREADS = [np.uint64(s) for s in (0x51ED270B9F4E5D35, 0xC2B2AE3D27D4EB4F, 0x2545F4914F6CDD1D)]
KNOWN = SPREADS[0]
CRAFTED = {
    "equal low bits": np.arange(1, COUNT + 1, dtype=np.uint64) << np.uint64(40),
    "equal high bits": np.arange(1, COUNT + 1, dtype=np.uint64),
    "equal outer bits": np.arange(1, COUNT + 1, dtype=np.uint64) << np.uint64(24),
    # whose products with a factor, were it known, are all small
    "one place by a factor": np.arange(1, COUNT + 1, dtype=np.uint64) * np.uint64(pow(int(KNOWN), -1, 1 << 64)),
}


def by_is_new(values, spread):
    table = np.zeros(SIZE, np.uint64)
    assert all(hashing.is_new(table, value, spread) for value in values)
    return table


def by_numbering(values, spread):
    table, numbers = np.zeros(SIZE, np.uint64), np.zeros(SIZE, np.int32)
    after, out = np.zeros(SIZE // 2, np.int32), np.empty(COUNT, np.int32)
    resemblance.number_values(values, 0, spread, table, numbers, after, 0, out)
    return table


def by_moving(values, spread):
    table, larger = np.zeros(SIZE, np.uint64), np.zeros(SIZE, np.uint64)
    table[:COUNT] = values
    resemblance.move_table(table, np.zeros(SIZE, np.int32), spread, larger, np.zeros(SIZE, np.int32))
    return larger


def by_filling(values, spread):
    table = np.zeros(SIZE, np.uint64)
    overlap.fill_table(values, spread, table, np.zeros(SIZE, np.int32), np.empty(len(values), np.int32))
    return table


def longest_run(table):
    """The most places in a row that are taken: what a look-up can cost."""
    free = np.flatnonzero(table == 0)
    return int(np.diff(free, prepend=free[-1] - len(table)).max()) - 1


FILLERS = [by_is_new, by_numbering, by_moving, by_filling]


@pytest.mark.parametrize("fill", FILLERS)
@pytest.mark.parametrize("kind", CRAFTED)
def test_values_made_to_meet_stand_apart(fill, kind):
    """Without a factor all values of a kind would be one run, or spread under each factor alike."""
    runs = [longest_run(fill(CRAFTED[kind], spread)) for spread in SPREADS[1:]]
    assert max(runs) <= COUNT // 16


@pytest.mark.parametrize("fill", FILLERS)
def test_who_knew_the_factor_could_make_them_meet(fill):
    assert longest_run(fill(CRAFTED["one place by a factor"], KNOWN)) == COUNT


def test_a_process_draws_an_odd_factor_of_its_own():
    code = "from lookalike.kernels.scratch import spread; print(int(spread()))"
    drawn = {int(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout) for _ in range(2)}
    drawn.add(int(scratch.spread()))
    assert len(drawn) == 3 and all(spread & 1 for spread in drawn)


def everything():
    """What tables give, as bytes: sets, signatures that look for distinct values, an exact job, an overlap."""
    texts = ["a b c d e f g", "a b c d e f h", "x " * 300, "u v w x y z u v w x y z", ""]
    sets = la.shingle(texts, width=2)
    ready = la.sketches.Shingles.from_arrays(np.arange(60) % 7, [0, 50, 50, 60])
    repeated = np.tile(np.arange(1, 5, dtype=np.uint64) << np.uint64(60), 40), np.array([0, 160])
    yield sets.values, sets.offsets, ready.values, ready.offsets
    yield (*drop_repeats(*repeated), FastSimilarity(permutations=16).sign_values(*repeated))
    yield (np.array([str(la.pairs(texts, width=2, threshold=0.3).to_pylist())]),)
    yield (np.array([str(la.decontaminate(texts, against=texts[1:3], width=2, threshold=0.2).matches.to_pylist())]),)


def test_no_result_depends_on_the_factor(monkeypatch):
    expected = [[array.tobytes() for array in part] for part in everything()]
    for spread in [np.uint64(1), np.uint64((1 << 64) - 1), *SPREADS]:
        monkeypatch.setattr(scratch, "_drawn", spread)
        assert [[array.tobytes() for array in part] for part in everything()] == expected


@pytest.mark.parametrize("spread", SPREADS)
def test_the_factor_reaches_the_tables_of_rows(spread):
    """The first value of a row stands where the factor puts it, whatever the table held before."""
    values = CRAFTED["equal low bits"][:9]
    for _ in values:
        values = np.roll(values, 1)
        table, out_offsets, out = np.full(32, 7, np.uint64), np.empty(2, np.int64), np.empty(9, np.uint64)
        assert shingling.distinct_rows(values, np.array([0, 9]), spread, table, out_offsets, out) == 9
        assert table[int(values[0]) * int(spread) % (1 << 64) >> 59] == values[0]


def test_arrays_of_one_name_have_the_type_that_is_asked_for():
    assert scratch.scratch("a name of tests", 4, np.uint8).dtype == np.uint8
    assert scratch.scratch("a name of tests", 4, np.int64).dtype == np.int64
