"""Kernels come from the library, from a compiler or are plain Python; what is missing is said, and what takes long too."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from conftest import MODE

CALL = "from lookalike.kernels import hashing\nprint(int(hashing.fmix64(5)))"


def run(code, **environment):
    """Run a program with another environment."""
    cleared = {name: value for name, value in os.environ.items() if name not in ("NUMBA_DISABLE_JIT", "NUMBA_BOUNDSCHECK")}
    return subprocess.run(
        [sys.executable, "-c", code], env=cleared | environment, capture_output=True, text=True, timeout=600, check=False
    )


def test_a_mode_that_there_is_not_is_refused():
    done = run(CALL, LOOKALIKE_KERNELS="fast")
    assert "LOOKALIKE_KERNELS is 'fast'; it is one of library, jit, python, or not set" in done.stderr


def test_plain_python_gives_the_same_without_a_compiler():
    expected = run(CALL).stdout
    code = f"import sys\nsys.modules['numba'] = sys.modules['llvmlite'] = None\n{CALL}"
    assert run(code, LOOKALIKE_KERNELS="python").stdout == run(code, NUMBA_DISABLE_JIT="1").stdout == expected != ""


def test_without_library_and_compiler_the_first_call_says_what_to_install():
    code = (
        "import importlib.util, sys\nfound = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, *of: None if name in ('numba', 'lookalike.kernels._native') else found(name, *of)\n"
        "import lookalike as la\nprint('imported')\n"
        "try:\n    la.dedup(['a b c'])\nexcept la.errors.MissingExtraError as error:\n    print(error)"
    )
    done = run(code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("imported\n") and "pip install 'lookalike[jit]'" in done.stdout


@pytest.mark.skipif(MODE == "library", reason="the library is there")
def test_a_library_that_is_not_there_is_said_to_be_missing():
    done = run(CALL, LOOKALIKE_KERNELS="library")
    assert "MissingExtraError" in done.stderr and "install a wheel for this platform" in done.stderr


def test_what_cannot_be_had_is_refused_with_the_way_out():
    contradiction = run(CALL, LOOKALIKE_KERNELS="jit", NUMBA_DISABLE_JIT="1")
    assert "ParameterError: LOOKALIKE_KERNELS=jit and NUMBA_DISABLE_JIT contradict each other" in contradiction.stderr
    no_compiler = run(f"import sys\nsys.modules['numba'] = None\n{CALL}", LOOKALIKE_KERNELS="jit")
    assert "MissingExtraError: there is no compiler for kernels" in no_compiler.stderr
    assert "pip install 'lookalike[jit]'" in no_compiler.stderr


def test_a_fork_while_a_kernel_is_compiled_does_not_hold_up_the_next(tmp_path):
    code = (
        "import os, threading, time\nfrom lookalike.kernels import _jit, hashing, sorting\n"
        "import numpy as np\nthread = threading.Thread(target=lambda: hashing.fmix64(5))\nthread.start()\n"
        "while not _jit._held and thread.is_alive():\n    time.sleep(0)\n"
        "child = os.fork()\nif not child:\n    time.sleep(3600)\n    os._exit(0)\n"
        "thread.join()\nsorting.sort_range(np.arange(3)[::1].copy(), 0, 3)\nos.kill(child, 9)\nprint('done')"
    )
    done = run(code, LOOKALIKE_KERNELS="jit", NUMBA_CACHE_DIR=str(tmp_path))
    assert done.stdout == "done\n", done.stderr


def test_compilation_is_said_on_standard_error_and_only_once(tmp_path):
    jit = {"LOOKALIKE_KERNELS": "jit", "NUMBA_CACHE_DIR": str(tmp_path)}
    first, second = run(CALL, **jit), run(CALL, **jit)
    lines = first.stderr.splitlines()
    assert lines[0] == "lookalike: compiling kernels as they are needed, once for this machine: 10 to 20 seconds"
    assert lines[1].startswith("lookalike: compiled 1 kernel in ") and f"kept in {tmp_path}" in lines[1]
    assert len(lines) == 2 and second.stderr == "" and first.stdout == second.stdout


def test_processes_that_start_together_compile_once(tmp_path):
    jit = {"LOOKALIKE_KERNELS": "jit", "NUMBA_CACHE_DIR": str(tmp_path)}
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda _: run(CALL, **jit), range(4)))
    assert len({each.stdout for each in done}) == 1
    assert sum("lookalike: compiled" in each.stderr for each in done) == 1, [each.stderr for each in done]


def test_no_folder_for_compiled_code_is_no_failure(tmp_path):
    """As in a container whose packages cannot be written to, for a user without a home; Numba looks for three folders."""
    code = f"from numba.core import caching\ncaching.CacheImpl._locator_classes = []\n{CALL}"
    done = run(code, LOOKALIKE_KERNELS="jit", HOME=os.devnull)
    assert done.stdout == run(CALL).stdout
    assert "in each process, since no folder for them can be written to" in done.stderr


def test_a_processor_without_the_usual_instructions_is_warned_of_and_works():
    code = (
        "import sys, types\nclass Any(dict):\n    __contains__ = lambda self, key: True\n    __missing__ = lambda self, key: lambda *given: 7\n"
        "sys.modules['lookalike.kernels._native'] = library = types.ModuleType('_native')\n"
        "import lookalike.kernels\nlookalike.kernels._native = library\n"
        "library.kernels, library.best, library.levels = Any(), {best}, ('x86-64', 'x86-64-v3')\n" + CALL
    )
    slow, usual = (run(code.replace("{best}", str(best)), LOOKALIKE_KERNELS="library") for best in (0, 1))
    assert slow.stdout == usual.stdout == "7\n", slow.stderr
    assert "RuntimeWarning: this processor lacks AVX2: kernels run, but much slower" in slow.stderr and usual.stderr == ""
