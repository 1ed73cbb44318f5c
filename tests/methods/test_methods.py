import pickle

import numpy as np
from naive import sketches as naive
from naive.hashing import K0, fmix64, fold_multiply

import lookalike as la
from lookalike.methods.registry import MethodSettings, make_method
from lookalike.theory import shares, simhash

ALL = [(name, verify) for name in ("minhash", "simhash") for verify in ("exact", "sketch", "none")]
SETS = [list(range(40)), list(range(1, 41)), [], [5], list(range(100, 700)), [5, 5, 5, 6]]


def rows_of(sets):
    values = np.array([fmix64(x + K0) for some in sets for x in some], np.uint64)
    return values, np.cumsum([0, *map(len, sets)])


def test_a_sketch_depends_on_its_document_and_group_only():
    settings = [(name, {"verify": verify}) for name, verify in ALL] + [("minhash", {"measure": "containment"})]
    for name, given in settings:
        method = make_method(name, MethodSettings(**given, seed=11))
        whole = pickle.loads(pickle.dumps(method)).sketch(*rows_of(SETS), np.arange(6, dtype=np.uint64))
        for row, some in enumerate(SETS):
            alone = method.sketch(*rows_of([some]), np.array([row], np.uint64))
            for part in ("keys", "codes", "estimates"):
                assert (getattr(alone, part)[0] == getattr(whole, part)[row]).all()


def test_columns_are_those_that_are_added():
    known = {"distance": 7, "standard_error": float(shares.share_error(128, 256))}
    for name, verify, *added in (
        ("minhash", "exact", "resemblance"),
        ("minhash", "sketch", "estimated_resemblance", "standard_error"),
        ("simhash", "exact", "cosine", "distance"),
        ("simhash", "sketch", "estimated_cosine", "distance"),
    ):
        method = make_method(name, MethodSettings(verify=verify))
        columns = method.columns(np.array([1.0, 0.5]), np.array([0, 7]), np.array([True, False]))
        found = {name: column.to_pylist() for name, column in columns.items()}
        assert method.added == tuple(added) and found == {name: [None, known.get(name, 0.5)] for name in added}


def test_minhash_equals_its_twins():
    values, offsets = rows_of(SETS)
    groups = np.array([0, 1, 1 << 63, 3, 0, (1 << 64) - 1], np.uint64)
    for verify, n_estimates, bands, rows in (("exact", 0, 3, 4), ("sketch", 256, 5, 1), ("exact", 0, 1, 7), ("none", 0, 3, 4)):
        method, coded = make_method("minhash", MethodSettings(bands=bands, rows=rows, verify=verify, seed=11)), verify != "none"
        made, n = method.sketch(values, offsets, groups), bands * rows
        assert (
            (method.n_estimates, method.n_codes) == (made.estimates.shape[1], made.codes.shape[1]) == (n_estimates, n * coded)
        )
        for row, group in enumerate(groups.tolist()):
            slots = naive.fast_similarity(values[offsets[row] : offsets[row + 1]].tolist(), method.plan.permutations, 11)
            codes = [fold_multiply(slot ^ group, K0 + i) >> 48 for i, slot in enumerate(slots[:n])]
            assert made.keys[row].tolist() == naive.band_keys(slots, group, bands, rows)
            assert made.codes[row].tolist() == codes * coded and made.estimates[row].tolist() == slots[n:]


def test_recall_is_that_of_the_plan_and_of_the_radius():
    assert make_method("minhash", MethodSettings(threshold=0.7)).recall(0.75) == la.plan(threshold=0.7).recall_at(0.75)
    simple = make_method("simhash", MethodSettings(radius=5))
    assert simple.recall(0.95) == float(simhash.within_radius(0.95, 5, 64))
    estimated = make_method("simhash", MethodSettings(radius=16, verify="sketch"))
    assert simhash.cosine(9, 64) >= 0.9 > simhash.cosine(10, 64), "what the next line takes for granted"
    assert estimated.recall(0.9) == float(simhash.within_radius(0.9, 9, 64))
    reached = float(simhash.cosine(9, 64))
    assert estimated.recall(reached) == float(simhash.within_radius(reached, 9, 64)), "equal is enough"
