"""What every method promises, and what the built-in ones compute."""

import pickle

import numpy as np
import pyarrow as pa
import pytest
from naive import sketches as naive
from naive.hashing import K0, fmix64, fold_multiply

import lookalike as la
from lookalike.methods.method import Method
from lookalike.methods.registry import MethodSettings, make_method
from lookalike.sketches import Shingles, SimHash
from lookalike.theory import shares, simhash

ALL = [(name, verify) for name in ("minhash", "simhash") for verify in ("exact", "sketch", "none")]
SETS = [list(range(40)), list(range(1, 41)), [], [5], list(range(100, 700)), [5, 5, 5, 6]]


def rows_of(sets):
    """Sets of small numbers as rows of mixed hashes."""
    values = np.array([fmix64(x + K0) for some in sets for x in some], np.uint64)
    return values, np.cumsum([0, *map(len, sets)])


@pytest.fixture(params=ALL, ids=lambda pair: "-".join(pair))
def method(request):
    """Each method in each way to verify."""
    name, verify = request.param
    return make_method(name, MethodSettings(verify=verify, seed=11))


def test_it_has_all_that_a_method_has(method):
    members = [member for member in vars(Method) if not member.startswith("_")]
    assert len(members) == 16 and all(hasattr(method, member) for member in members)
    assert method.meets in ("keys", "all") and method.score in ("resemblance", "cosine")
    assert pickle.loads(pickle.dumps(method)) == method


def test_a_sketch_depends_on_its_document_and_group_only(method):
    values, offsets = rows_of(SETS)
    whole = method.sketch(values, offsets, np.arange(6, dtype=np.uint64))
    for row, some in enumerate(SETS):
        alone = method.sketch(*rows_of([some]), np.array([row], np.uint64))
        for name in ("keys", "codes", "estimates"):
            assert (getattr(alone, name)[0] == getattr(whole, name)[row]).all()


@pytest.mark.parametrize(("name", "verify"), [pair for pair in ALL if pair[1] != "none"])  # which states no scores
def test_columns_are_those_that_are_added(name, verify):
    method = make_method(name, MethodSettings(verify=verify))
    score, missing = np.array([1.0, 0.5]), np.array([True, False])
    columns = method.columns(score, np.array([0, 7]), missing)
    assert tuple(columns) == method.added
    for name, column in columns.items():
        assert column[0].as_py() is None
        assert column[1].as_py() == {"distance": 7, "standard_error": float(shares.share_error(128, 256))}.get(name, 0.5)


@pytest.mark.parametrize("verify", ["exact", "sketch"])
def test_minhash_equals_its_twins(verify):
    method = make_method("minhash", MethodSettings(bands=3, rows=4, verify=verify, seed=11))
    values, offsets = rows_of(SETS)
    groups = np.array([0, 1, 1 << 63, 3, 0, (1 << 64) - 1], np.uint64)
    made = method.sketch(values, offsets, groups)
    for row, group in enumerate(groups.tolist()):
        slots = naive.fast_similarity(values[offsets[row] : offsets[row + 1]].tolist(), method.plan.permutations, 11)
        assert made.keys[row].tolist() == naive.band_keys(slots, group, 3, 4)
        assert made.codes[row].tolist() == [fold_multiply(slot ^ group, K0 + i) >> 48 for i, slot in enumerate(slots[:12])]
        assert made.estimates[row].tolist() == slots[12:]
    assert method.n_estimates == (256 if verify == "sketch" else 0)


def test_codes_change_neither_keys_nor_estimates():
    coded = make_method("minhash", MethodSettings(verify="sketch"))
    plain = type(coded)(plan=coded.plan, seed=coded.seed, exact=coded.exact, coded=False)
    values, offsets = rows_of(SETS)
    a, b = (method.sketch(values, offsets, np.arange(6, dtype=np.uint64)) for method in (coded, plain))
    assert (a.keys == b.keys).all() and (a.estimates == b.estimates).all()
    assert a.codes.shape[1] == coded.plan.bands * coded.plan.rows and b.codes.shape[1] == plain.n_codes == 0


def test_simhash_keys_are_the_fingerprints_and_estimates_their_halves():
    method = make_method("simhash", MethodSettings(verify="sketch", seed=11))
    values, offsets = rows_of(SETS)
    made = method.sketch(values, offsets, np.arange(6, dtype=np.uint64))
    words = SimHash(seed=11).sign(Shingles(values, offsets)).words
    assert (made.keys == words).all() and method.n_codes == 0
    assert [int(low) | int(high) << 32 for low, high in made.estimates] == words[:, 0].tolist()


def test_recall_is_that_of_the_plan_and_of_the_radius():
    assert make_method("minhash", MethodSettings(threshold=0.7)).recall(0.75) == la.plan(threshold=0.7).recall_at(0.75)
    simple = make_method("simhash", MethodSettings(radius=5))
    assert simple.recall(0.95) == float(simhash.within_radius(0.95, 5, 64))
    estimated = make_method("simhash", MethodSettings(radius=16, verify="sketch"))
    assert simhash.cosine(9, 64) >= 0.9 > simhash.cosine(10, 64), "what the next line takes for granted"
    assert estimated.recall(0.9) == float(simhash.within_radius(0.9, 9, 64))
    reached = float(simhash.cosine(9, 64))
    assert estimated.recall(reached) == float(simhash.within_radius(reached, 9, 64)), "equal is enough"


def test_what_summaries_say():
    minhash = make_method("minhash", MethodSettings(verify="sketch"))
    assert minhash.describe() == "16 bands of 6 rows, then an estimate" and minhash.plan_dict() == minhash.plan.to_dict()
    simple = make_method("simhash", MethodSettings())
    assert simple.describe() == "within 3 of 64 bits" and simple.plan_dict() == {}
    assert minhash.added == ("estimated_resemblance", "standard_error")
    assert make_method("simhash", MethodSettings(verify="sketch")).added == ("estimated_cosine", "distance")
    assert isinstance(simple.columns(np.ones(1), np.zeros(1, int), np.zeros(1, bool))["cosine"], pa.DoubleArray)
