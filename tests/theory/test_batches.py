"""What batches are reckoned to cost, against plain searches of small ones that count their steps."""

from collections import Counter
from dataclasses import replace
from itertools import combinations
from math import log2

import pytest
from theory.test_hamming_costs import NOTHING

from lookalike.theory import hamming_costs

FILE, QUERIES, BITS = 3000, 128, 16
EACH = {"probe": (3.0,) * 3, "lookup": (5.0,) * 3, "gather": (7.0,) * 3, "compare": 11.0, "key": 13.0, "sort": 17.0}
ALL = replace(NOTHING, **EACH)


def prices(steps):
    """Nanoseconds of counted steps, and four standard errors of the comparisons, whose buckets are of random sizes."""
    price = {name: value[0] if isinstance(value, tuple) else value for name, value in EACH.items()}
    spread = sum(16 * steps[name] * price[name] ** 2 * (1 + QUERIES / 8 + FILE / 64) for name in ("gather", "compare"))
    return sum(price[name] * count for name, count in steps.items()), spread**0.5


def search(tables, file, queries, flips, costs_of_entry):
    """Look for each of the file's fingerprints in tables of the queries, by the bits of a mask, with bits of it flipped."""
    steps = Counter()
    bucket_cost, entry_cost = costs_of_entry
    for mask in tables:
        steps["sort"] += len(queries) * log2(len(queries))
        sizes = Counter((queries & mask).tolist())
        places = [bit for bit in range(BITS) if mask >> bit & 1]
        for number in range(flips + 1):
            for flipped in combinations(places, number):
                steps[bucket_cost] += len(file)
                other = sum(1 << bit for bit in flipped)
                steps[entry_cost] += sum(sizes[key] for key in ((file & mask) ^ other).tolist())
    return steps


@pytest.mark.parametrize("lead", [1, 2])
def test_manku_s_tables(rng, lead):
    """Tables of the queries' leading blocks: keys of all, a sort, and for each fingerprint of the file a bucket's entries."""
    file, queries = (rng.integers(0, 1 << BITS, size) for size in (FILE, QUERIES))
    masks = [sum(0xF << 4 * block for block in choice) for choice in combinations(range(4), lead)]
    steps = search(masks, file, queries, 0, ("lookup", "gather"))
    steps["key"] = len(masks) * (FILE + QUERIES)
    expected, spread = prices(steps)
    found = hamming_costs.manku_batch(FILE, QUERIES, BITS, 4, lead, ALL)
    assert abs(found - expected) < spread
    steps["gather"] = 0
    alone = replace(ALL, gather=(0.0,) * 3)
    assert hamming_costs.manku_batch(FILE, QUERIES, BITS, 4, lead, alone) == pytest.approx(prices(steps)[0], rel=1e-12)


@pytest.mark.parametrize(("count", "prefix", "flips"), [(1, 6, 1), (2, 6, 0), (3, 5, 2)])
def test_tables_with_flips(rng, count, prefix, flips):
    """Tables of the queries' prefixes, into which each fingerprint of the file is looked up with all its flips."""
    file, queries = (rng.integers(0, 1 << BITS, size) for size in (FILE, QUERIES))
    masks = [(1 << prefix) - 1 << 5 * table for table in range(count)]
    steps = search(masks, file, queries, flips, ("probe", "compare"))
    expected, spread = prices(steps)
    shape = [(prefix, flips)] * count
    assert abs(hamming_costs.layout_batch(FILE, QUERIES, 1, shape, ALL) - expected) < spread
    steps["compare"] = 0
    alone = replace(ALL, compare=0.0)
    assert hamming_costs.layout_batch(FILE, QUERIES, 1, shape, alone) == pytest.approx(prices(steps)[0], rel=1e-12)


QUERY = {
    "manku": lambda costs: hamming_costs.manku_query(FILE, BITS, 4, 2, costs),
    "bisection": lambda costs: hamming_costs.manku_query(FILE, BITS, 4, 2, costs, binary=True),
    "weak bits": lambda costs: hamming_costs.weak_bits_query(FILE, 10, 5, 3, costs),
    "weak bits of a batch": lambda costs: hamming_costs.weak_bits_batch(FILE, QUERIES, 1, 10, 5, 3, costs),
    "tables": lambda costs: hamming_costs.layout_query(FILE, [(10, 1), (8, 2)], costs),
}
STEPS = {  # per query; of a batch all; what is compared is counted by other tests
    "manku": {"key": 6, "lookup": 6},
    "bisection": {"key": 6, "step": 6 * log2(FILE)},
    "weak bits": {"flip": 15 * 3, "probe": 5},
    "weak bits of a batch": {"flip": QUERIES * 15 * 3, "probe": QUERIES * 5, "key": FILE, "sort": QUERIES * 7},
    "tables": {"probe": 11 + 1 + 8 + 28},
}


@pytest.mark.parametrize("name", QUERY)
def test_steps_cost_together_what_they_cost_alone(name):
    """Each kind of step counts once, whatever else a query does."""
    given = {**EACH, "flip": 19.0, "step": 23.0}
    alone = {step: QUERY[name](replace(NOTHING, **{step: price})) for step, price in given.items()}
    assert QUERY[name](replace(NOTHING, **given)) == pytest.approx(sum(alone.values()), rel=1e-12)
    for step, price in given.items():
        if step not in ("gather", "compare"):
            each = price[0] if isinstance(price, tuple) else price
            assert alone[step] == pytest.approx(each * STEPS[name].get(step, 0), rel=1e-12), step


@pytest.mark.parametrize(("bits", "n_bytes"), [(1, 12), (64, 12), (65, 20), (128, 20), (129, 28), (192, 28)])
def test_a_file_holds_words_and_rows(bits, n_bytes):
    """Words of 64 bits, and rows of 32."""
    reads = replace(NOTHING, read=1.0)
    assert hamming_costs.manku_batch(1000, 10, bits, min(bits, 4), 1, reads) == 1000 * n_bytes


def test_two_are_sorted_or_found_in_one_step():
    """And a single one is taken for two."""
    sorts, steps = replace(NOTHING, sort=1.0), replace(NOTHING, step=1.0)
    for few in (1, 2):
        assert hamming_costs.manku_batch(1000, few, 64, 4, 1, sorts) == 4 * few
        assert hamming_costs.manku_query(few, 64, 4, 1, steps, binary=True) == 4
        assert hamming_costs.layout_batch(1000, few, 1, [(10, 0)], sorts) == few
        assert hamming_costs.weak_bits_batch(1000, few, 1, 10, 5, 3, sorts) == few


def test_a_piece_of_a_file_is_probed_as_a_small_table_is():
    """A probe costs more the larger the table: by a nanosecond for 2^10 times as many fingerprints here."""
    costs = replace(NOTHING, probe=(1.0, 2.0, 3.0))
    assert hamming_costs.weak_bits_batch(2.0**22, 8, 1, 10, 5, 3, costs, pieces=4) == 8 * 5 * 4 * 2
    assert hamming_costs.weak_bits_batch(2.0**20, 8, 1, 10, 5, 3, costs) == 8 * 5 * 2
