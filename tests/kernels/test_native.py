"""The library of kernels compiled ahead takes what the kernels declare, and refuses the rest by name."""

import importlib
import pkgutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import MODE

import lookalike.kernels
from lookalike.kernels import banding, crowds, hashing, resemblance, shingling

if MODE != "library":
    pytest.skip("the library comes with an installed wheel", allow_module_level=True)

from lookalike.kernels import _native


@pytest.fixture(params=range(_native.best + 1))
def level(request):
    """Each level of processors that this one has, one after the other."""
    yield _native.use_level(request.param)
    _native.use_level(_native.best)


def modules():
    """Yield all modules of kernels."""
    for module in pkgutil.iter_modules(lookalike.kernels.__path__):
        yield importlib.import_module(f"lookalike.kernels.{module.name}")


def test_each_kernel_of_the_sources_is_in_the_library_and_no_other():
    found = {id(value) for module in modules() for value in vars(module).values()}
    assert len(_native.kernels) > 100
    assert {key for key, kernel in _native.kernels.items() if id(kernel) not in found} == set()


def test_no_kernel_comes_from_anywhere_else():
    """Functions that are called from Python only are no kernels; all that are declared so come from the library."""
    for module in modules():
        source = Path(module.__file__).read_text() if module.__file__.endswith(".py") else ""
        declared = source.count("\n@compiled(") + source.count("\n@inlined(")
        built = [value for value in vars(module).values() if type(value).__name__ == "builtin_function_or_method"]
        assert len(built) >= declared, module.__name__


def test_a_job_needs_no_compiler():
    code = (
        "import sys\nsys.modules['numba'] = sys.modules['llvmlite'] = None\nimport lookalike as la\n"
        "assert la.dedup(['a b c d e f', 'A b c d e f.', 'x y z']).keep.tolist() == [True, False, True]"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, timeout=600)


def test_levels_give_the_same(level, rng):
    text = rng.integers(32, 127, 5000).astype(np.uint8)
    folded = np.concatenate([text, np.full(80, 32, np.uint8)])
    out, expected = np.empty((2, 5000 + shingling.EDGES), np.uint64)
    count = shingling.hash_separated(folded, 5000, 32, out)
    _native.use_level(0)
    assert shingling.hash_separated(folded, 5000, 32, expected) == count > 40
    assert out[:count].tolist() == expected[:count].tolist()
    assert level in _native.levels


def test_a_level_that_is_not_there_is_refused():
    for number in (-1, len(_native.levels)):
        with pytest.raises(ValueError, match="this processor has levels 0 to"):
            _native.use_level(number)
    with pytest.raises(TypeError):
        _native.use_level("x86-64")


def test_integers_of_64_bits_come_and_go_whole():
    for value in (0, 1, 2**63 - 1, 2**63, 2**64 - 1):
        for given in (value, np.uint64(value)):
            assert 0 <= hashing.fmix64(given) < 2**64
    assert hashing.fmix64(2**64 + 5) == hashing.fmix64(5) == hashing.fmix64(np.int64(5))
    assert crowds.equal_to(np.array([-7, -7, 3]), -7) == 2


@pytest.mark.parametrize(
    "given, said",
    [
        ((np.zeros(3, np.int32), 1), "keys must be an array of int64, of 1 dimension, without gaps, not i"),
        ((np.zeros(3, np.uint64), 1), "keys must be an array of int64"),
        ((np.zeros(3, ">i8"), 1), "keys must be an array of int64"),
        ((np.zeros((3, 2), np.int64), 1), "keys must be .*, not one of another number of dimensions"),
        ((np.zeros(6, np.int64)[::2], 1), "keys must be .*, not one with gaps"),
        (([1, 2], 1), "keys must be .*, not list"),
        ((None, 1), "keys must be .*, not NoneType"),
        ((np.zeros(3, np.int64), "1"), "key must be int64, not str"),
        ((np.zeros(3, np.int64), 1.5), "key must be int64, not float"),
        ((np.zeros(3, np.int64),), "takes 2 arguments, not 1"),
        ((np.zeros(3, np.int64), 1, 1), "takes 2 arguments, not 3"),
    ],
)
def test_other_types_are_refused_by_name(given, said):
    with pytest.raises(TypeError, match=r"lookalike\.kernels\.crowds\.equal_to:? " + said):
        crowds.equal_to(*given)


def test_what_is_written_to_must_be_writable_and_what_is_read_need_not():
    left, right, parents = np.array([0, 1]), np.array([1, 2]), np.arange(3)
    left.flags.writeable = False
    banding.join_pairs(left, right, parents)
    banding.find_roots(parents)
    assert parents.tolist() == [0, 0, 0]
    parents.flags.writeable = False
    with pytest.raises(TypeError, match="parents must be a writable array of int64, .*, not one that is read-only"):
        banding.find_roots(parents)


def test_tuples_must_be_whole():
    rows = resemblance.Rows(*[np.zeros(1, np.int64)] * len(resemblance.Rows._fields))
    for given in (None, tuple(rows)[:-1], list(rows)):
        with pytest.raises(TypeError, match="rows must be tuple, not"):
            resemblance.dot_product(0, 0, given)


def test_arguments_are_given_back():
    """Neither arrays that were taken nor those that were refused are held on to."""
    array, wrong = np.zeros(3, np.int64), np.zeros(3, np.int32)
    before = sys.getrefcount(array), sys.getrefcount(wrong)
    for _ in range(100):
        crowds.equal_to(array, 0)
        with pytest.raises(TypeError):
            banding.join_pairs(array, wrong, array)
    assert (sys.getrefcount(array), sys.getrefcount(wrong)) == before
    array.resize(4)  # refused while a view is held


def test_other_threads_run_meanwhile():
    folded = np.full(60_000_080, 97, np.uint8)
    folded[::7] = 32
    out, most = np.empty(60_000_000 + shingling.EDGES, np.uint64), 0
    for _ in range(100):  # on a busy machine this thread gets few turns
        turns, thread = 0, threading.Thread(target=shingling.hash_separated, args=(folded, 60_000_000, 32, out))
        thread.start()
        while thread.is_alive():
            turns += 1
            time.sleep(0.001)
        thread.join()
        most = max(most, turns)
        if most > 5:
            break
    assert most > 5
