"""What a kernel is when the program runs: a function of the library, compiled on its first call, or plain Python.

A wheel brings the *library*: all kernels, compiled when it was built, for several levels of processors. Where there is none,
Numba compiles each kernel on its first call (*jit*), if it is installed. ``SEMBLANCE_KERNELS`` names the one to take:
``library``, ``jit`` or ``python``; all three give the same results.
"""

import os
from importlib.util import find_spec

from ..errors import MissingExtraError, ParameterError

MODES = ("library", "jit", "python")


def _on(name):
    return os.environ.get(name, "0") not in ("", "0")


def _mode():
    """Tell what kernels are; ``""``: there is neither library nor compiler."""
    wanted = os.environ.get("SEMBLANCE_KERNELS", "")
    if wanted and wanted not in MODES:
        raise ParameterError(f"the environment's SEMBLANCE_KERNELS is {wanted!r}; it is one of {', '.join(MODES)}, or not set")
    if wanted:
        return wanted
    if _on("NUMBA_DISABLE_JIT"):
        return "python"
    if not _on("NUMBA_BOUNDSCHECK") and find_spec("semblance.kernels._native") is not None:
        return "library"
    return "jit" if find_spec("numba") is not None else ""


MODE = _mode()

if MODE == "jit":
    from ._jit import (
        compiled,
        different_bytes,
        fold_ascii,
        load64,
        lower_block,
        multiply_high,
        popcount,
        prefetch,
        store64,
        trailing_zeros,
        typed,
    )
else:
    from ._plain import (
        different_bytes,
        fold_ascii,
        load64,
        lower_block,
        multiply_high,
        popcount,
        prefetch,
        store64,
        trailing_zeros,
    )

    if MODE == "library":
        from . import _native

    def typed(cls):
        """Let signatures name a NamedTuple, each field of which is ``Annotated[..., its type in a signature]``."""
        return cls

    def compiled(signature, *tuples):
        """Make a function a kernel of that signature: see ``_jit.compiled``."""

        def decorate(function):
            if MODE == "python":
                return function
            if MODE == "library":
                return _native.kernels[f"{function.__module__.rpartition('.')[2]}.{function.__name__} {signature}"]

            def missing(*args):
                raise MissingExtraError(
                    "this installation of semblance has no compiled kernels for this platform; "
                    "pip install 'semblance[jit]' brings a compiler for them"
                )

            return missing

        return decorate


def inlined(signature, *tuples):
    """Make a small function a kernel that kernels of any file may call; LLVM inlines it.

    A call with arrays still counts references, with atomic instructions: not for the innermost loops.
    """
    return compiled(signature, *tuples)


__all__ = ["MODE", "compiled", "different_bytes", "fold_ascii", "inlined", "load64", "lower_block", "multiply_high",
           "popcount", "prefetch", "store64", "trailing_zeros", "typed"]  # fmt: skip
