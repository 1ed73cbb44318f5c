"""Values stand in tables where a factor puts them that nobody knows."""

import subprocess
import sys

import numpy as np

from lookalike.core import find_values, index_values, table_places
from lookalike.values import drop_repeats

COUNT = 4096
SIZE = 4 * COUNT
ZERO = 0xA0761D6478BD642F  # stands for a 0 in a table
NUMBERS = np.arange(1, COUNT + 1, dtype=np.uint64)
CRAFTED = {
    "equal low bits": NUMBERS << np.uint64(40),
    "equal high bits": NUMBERS,
    "equal outer bits": NUMBERS << np.uint64(24),
    # whose products with a factor, were it this one, are all small
    "one place by a factor": NUMBERS * np.uint64(pow(0x51ED270B9F4E5D35, -1, 1 << 64)),
}


def longest_run(places):
    """The most places in a row that are taken: what a look-up can cost."""
    taken = set()
    for place in places.tolist():
        while place in taken:
            place = (place + 1) % SIZE
        taken.add(place)
    free = np.setdiff1d(np.arange(SIZE), list(taken))
    return int(np.diff(free, prepend=free[-1] - SIZE).max()) - 1


def test_values_made_to_meet_stand_apart():
    """Without a factor all values of a kind would be one run."""
    for kind in CRAFTED:
        assert longest_run(table_places(CRAFTED[kind], SIZE)) <= COUNT // 16


def test_values_that_meet_are_numbered_by_first_appearance_and_found(rng):
    """The factor being known, values can be made that begin at one place. Among them 0, and the number that stands for it."""
    for n in [0, 1, 7, 8, 9, 3000]:
        factor = index_values(np.empty(0, np.uint64))[0][2]
        crafted = np.arange(n, dtype=np.uint64) * np.uint64(pow(factor, -1, 1 << 64))
        values = np.append(rng.permutation(np.repeat(crafted, 2)), np.array([0, ZERO, 5][: 3 * n], np.uint64))
        index, numbers, count = index_values(values)
        known = {}
        assert numbers.tolist() == [known.setdefault(v or ZERO, len(known)) for v in values.tolist()] and count == len(known)
        places, found = find_values(np.append(values, rng.integers(1, 1 << 63, n, dtype=np.uint64)), index)
        assert places.tolist() == list(range(len(values))) and found.tolist() == numbers.tolist()


def test_zero_is_a_value_like_any_other():
    """A free place of a table holds a zero."""
    found, offsets = drop_repeats(np.array([0, ZERO, 0, 5, ZERO, 0, 0], np.uint64), np.array([0, 6, 7]))
    assert (found.tolist(), offsets.tolist()) == ([0, ZERO, 5, 0], [0, 3, 4])


def test_each_process_draws_a_factor():
    """On which no result depends: all twins are held in each process that runs tests."""
    code = f"import numpy as np; from lookalike.core import table_places; print(table_places(np.arange(9, dtype=np.uint64), {SIZE}))"
    drawn = [subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout for _ in range(2)]
    assert drawn[0] != drawn[1]
