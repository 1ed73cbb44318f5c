"""What a kernel is when the program runs: a function of the *library*, built into the wheel for several levels of processors;
else compiled by Numba on its first call (*jit*); else plain Python. ``LOOKALIKE_KERNELS`` names one (``library``, ``jit``,
``python``); results are the same. Arrays must have just the declared types; the library cuts integers to 64 bits and refuses
floats for them, Numba converts as C does."""

import os
import warnings
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from ..errors import MissingExtraError, ParameterError

MODES = ("library", "jit", "python")


def _on(name):
    return os.environ.get(name, "0") not in ("", "0")


def _mode():
    """Tell what kernels are; ``""``: there is neither library nor compiler."""
    wanted = os.environ.get("LOOKALIKE_KERNELS", "")
    if wanted and wanted not in MODES:
        raise ParameterError(f"the environment's LOOKALIKE_KERNELS is {wanted!r}; it is one of {', '.join(MODES)}, or not set")
    if wanted == "jit" and _on("NUMBA_DISABLE_JIT"):
        raise ParameterError("LOOKALIKE_KERNELS=jit and NUMBA_DISABLE_JIT contradict each other: unset one")
    if wanted:
        return wanted
    if find_spec("lookalike.kernels._native") is not None:
        return "library"
    if _on("NUMBA_DISABLE_JIT"):
        return "python"
    return "jit" if find_spec("numba") is not None else ""


MODE = _mode()
if MODE == "library":
    try:
        from ._native import best, kernels, levels
    except ImportError as error:
        raise MissingExtraError(
            f"the library of compiled kernels cannot be loaded ({error}): install a wheel for this platform, or set "
            "LOOKALIKE_KERNELS=jit where Numba is installed"
        ) from None
    if best < min(1, len(levels) - 1):
        warnings.warn("this processor lacks AVX2: kernels run, but much slower", RuntimeWarning, stacklevel=2)

try:
    _made: Any = import_module("._jit" if MODE == "jit" else "._plain", __package__)
except ImportError as error:
    raise MissingExtraError(f"there is no compiler for kernels ({error}): pip install 'lookalike[jit]'") from None
multiply_high, load64, store64, array_at = _made.multiply_high, _made.load64, _made.store64, _made.array_at
different_bytes, unequal_bytes = _made.different_bytes, _made.unequal_bytes
fold_ascii, lower_block, prefetch = _made.fold_ascii, _made.lower_block, _made.prefetch
popcount, leading_zeros, trailing_zeros = _made.popcount, _made.leading_zeros, _made.trailing_zeros


def typed(cls):
    """Let signatures name a NamedTuple, each field of which is ``Annotated[..., its type in a signature]``."""
    return _made.typed(cls) if MODE == "jit" else cls


def compiled(signature, *tuples):
    """Make a function a kernel: serial, without the interpreter lock, for one signature.

    ``signature`` is in Numba's notation: ``"int64(const uint64[:, ::1], Tables, float64[::1])"``. ``const`` arrays are only
    read, and may be read-only; ``Tables`` is one of the ``tuples``, classes of NamedTuples under ``typed``.
    """

    def decorate(function):
        if MODE == "jit":
            return _made.compiled(signature, *tuples)(function)
        if MODE == "library":
            return _of_library(f"{function.__module__.rpartition('.')[2]}.{function.__name__} {signature}")
        return function if MODE == "python" else _missing

    return decorate


def _of_library(key):
    if key not in kernels:
        raise MissingExtraError(f"the library of kernels is of another version: it lacks {key}; install lookalike again")
    return kernels[key]


def _missing(*args):
    """Stand for a kernel where there is neither library nor compiler."""
    raise MissingExtraError(
        "there are neither compiled kernels nor a compiler for them: install a wheel for this platform, or "
        "pip install 'lookalike[jit]'"
    )


inlined = compiled
"""Makes a small function a kernel that kernels of any file may call; LLVM inlines it. A call with arrays still counts
references, with atomic instructions: not for the innermost loops."""


def described(compile: bool = False) -> str:
    """Return in one line what kernels are; ``compile``: after all have been compiled that are not."""
    if MODE == "library":
        return f"compiled when this package was built; in use: those for {levels[best]}"
    if MODE == "python":
        return "not compiled: plain Python, as the environment asks"
    if not MODE:
        return _missing() if compile else "missing: install a wheel for this platform, or pip install 'lookalike[jit]'"
    if not compile:
        return "compiled by Numba on their first use; to compile all now: lookalike info --compile"
    names = sorted(module.name for module in iter_modules([str(Path(__file__).parent)]) if not module.name.startswith("_"))
    held = [value for name in names for value in vars(import_module(f"{__package__}.{name}")).values()]
    found = {id(value): value for value in held if isinstance(value, _made.Kernel)}
    for kernel in found.values():
        kernel.compile(None)
    folder = next(iter(found.values())).stats.cache_path
    kept = (
        f"kept in {folder}" if folder else "lost when this process ends: no folder for them can be written to (NUMBA_CACHE_DIR)"
    )
    return f"{len(found)} compiled by Numba, and {kept}"
