"""A kernel has the one signature that it declares, is compiled on its first call, and refuses arrays of other types."""

import importlib
import os
import pkgutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, NamedTuple

import numpy as np
import pytest
from conftest import MODE

import lookalike.kernels

if MODE != "jit":
    pytest.skip("kernels are not compiled here when they are called", allow_module_level=True)

from lookalike.kernels._jit import Kernel, compiled, typed


@typed
class Columns(NamedTuple):
    """Two columns, and a number that they share."""

    keys: Annotated[np.ndarray, "const uint64[::1]"]
    rows: Annotated[np.ndarray, "const uint32[::1]"]
    first: Annotated[int, "int64"]


def make():
    """Return two kernels that nobody has called, one of which calls the other."""

    @compiled("uint64(uint64, uint64)")
    def add(a, b):
        return a + b

    @compiled("Tuple((int64, uint64))(Columns, const uint64[:, ::1], uint64, uint64[::1])", Columns)
    def gather(columns, table, more, out):
        total = np.uint64(0)
        for i in range(len(out)):
            row = np.int64(columns.rows[i])
            out[i] = add(columns.keys[i] ^ table[row, 0], more)
            total = total ^ out[i]
        return columns.first + len(out), total

    return add, gather


def arguments(dtype=np.uint64):
    """Return the arguments of ``gather``."""
    columns = Columns(np.array([5, 6, 7], np.uint64), np.array([1, 0, 1], np.uint32), 40)
    return columns, np.array([[1, 9], [2, 9]], dtype), np.uint64(10), np.zeros(3, np.uint64)


def test_a_kernel_computes_what_its_function_does():
    _, gather = make()
    given = arguments()
    assert gather(*given) == (43, (5 ^ 2) + 10 ^ (6 ^ 1) + 10 ^ (7 ^ 2) + 10)
    assert given[-1].tolist() == [(5 ^ 2) + 10, (6 ^ 1) + 10, (7 ^ 2) + 10]


def test_nothing_is_compiled_before_the_first_call_and_one_version_then():
    add, gather = make()
    assert not add.overloads and not gather.overloads
    for _ in range(2):
        gather(*arguments())
        assert len(gather.overloads) == 1
    assert gather.nopython_signatures[0] == gather.signature


def read_only(array):
    """Return a view that must not be written to."""
    view = array[:]
    view.flags.writeable = False
    return view


def test_arrays_that_are_only_read_may_be_read_only():
    _, gather = make()
    columns, table, more, out = arguments()
    expected = gather(columns, table, more, out)
    some = Columns(read_only(columns.keys), columns.rows, 40)
    every = Columns(read_only(columns.keys), read_only(columns.rows), 40)
    assert gather(some, read_only(table), more, out) == gather(every, table, more, out) == expected
    assert len(gather.overloads) == 1


def other_columns(columns):
    """Return columns of which one has another type."""
    return columns._replace(rows=columns.rows.astype(np.int64))


@pytest.mark.parametrize("called", [False, True])
@pytest.mark.parametrize(
    "place, change, said",
    [
        (0, other_columns, "columns must be Columns"),
        (0, lambda columns: columns.keys, "columns must be Columns"),
        (
            1,
            lambda table: table.astype(np.uint32),
            r"table must be readonly array\(uint64, 2d, C\), not array\(uint32, 2d, C\)",
        ),
        (1, lambda table: table[:, ::-1], r"table must be readonly array\(uint64, 2d, C\), not array\(uint64, 2d, A\)"),
        (1, lambda table: table[0], r"table must be readonly array\(uint64, 2d, C\), not array\(uint64, 1d, C\)"),
        (1, lambda table: None, "table must be .*, not none"),
        (2, lambda more: "10", "more must be uint64, not unicode_type"),
        (3, read_only, r"out must be array\(uint64, 1d, C\), not readonly array\(uint64, 1d, C\)"),
    ],
)
def test_other_types_are_refused_by_name(called, place, change, said):
    _, gather = make()
    given = list(arguments())
    if called:
        gather(*given)
    given[place] = change(given[place])
    with pytest.raises(TypeError, match=r"test_compile\.gather: " + said):
        gather(*given)
    assert len(gather.overloads) == 1


def test_what_a_kernel_gives_to_another_has_its_type_too():
    """Arrays of other types are refused when the outer one is compiled."""

    @compiled("void(uint32[::1])")
    def inner(out):
        out[0] = 1

    @compiled("void(const uint32[::1])")
    def writes(out):
        inner(out)

    with pytest.raises(Exception, match="inner"):
        writes(np.zeros(1, np.uint32))


def test_threads_may_come_first_together():
    for _ in range(3):
        _, gather = make()
        with ThreadPoolExecutor(8) as pool:
            assert len(set(pool.map(lambda _, kernel=gather: kernel(*arguments()), range(8)))) == 1


def kernels():
    """Yield the names and kernels of all modules."""
    for module in pkgutil.iter_modules(lookalike.kernels.__path__):
        for name, value in vars(importlib.import_module(f"lookalike.kernels.{module.name}")).items():
            if isinstance(value, Kernel) and value.__module__ == f"lookalike.kernels.{module.name}":
                yield f"{module.name}.{name}", value


def test_each_signature_has_a_type_for_each_argument():
    found = dict(kernels())
    assert len(found) > 50
    for name, kernel in found.items():
        assert len(kernel.signature.args) == kernel.__code__.co_argcount, name


def test_importing_compiles_nothing():
    """Kernels are compiled when they are called, those that other kernels call included."""
    modules = [f"lookalike.kernels.{module.name}" for module in pkgutil.iter_modules(lookalike.kernels.__path__)]
    code = (
        f"import importlib\nmodules = [importlib.import_module(name) for name in {modules}]\n"
        "found = [x for module in modules for x in vars(module).values() if hasattr(x, 'overloads')]\n"
        "assert not any(x.overloads for x in found), found"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=600)


def test_what_another_version_kept_is_no_obstacle(tmp_path):
    """A class that signatures name stood elsewhere when the kernel was compiled and kept."""
    shape = (
        "from typing import Annotated, NamedTuple\nfrom lookalike.kernels._jit import typed\n@typed\nclass Shape(NamedTuple):\n"
    )
    for place in ("earlier", "later"):
        (tmp_path / f"{place}.py").write_text(shape + "    first: Annotated[int, 'int64']\n")
        (tmp_path / "kernels.py").write_text(
            f"from {place} import Shape\nfrom lookalike.kernels._jit import compiled\n"
            "@compiled('int64(Shape)', Shape)\ndef first(shape):\n    return shape.first\nprint(first(Shape(7)))\n"
        )
        done = subprocess.run(
            [sys.executable, "-m", "kernels"], cwd=tmp_path, capture_output=True, text=True,
            env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "kept")},
        )  # fmt: skip
        assert done.stdout == "7\n", done.stderr
        (tmp_path / f"{place}.py").unlink()
