"""Compiling all kernels before they are needed."""

from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from ..errors import MissingExtraError
from . import compiler


def warm_up() -> str:
    """Compile all kernels that are not compiled yet, and return in one line what they are now; MissingExtraError where nothing
    can."""
    if compiler.MODE == "library":
        from . import _native

        return f"kernels were compiled when this package was built; here they are those for {_native.levels[_native.best]}"
    if compiler.MODE == "python":
        return "kernels are plain Python, as the environment asks: there is nothing to compile"
    if compiler.MODE != "jit":
        raise MissingExtraError("there is no compiler for kernels: pip install 'lookalike[jit]'")
    from ._jit import Kernel

    names = sorted(module.name for module in iter_modules([str(Path(__file__).parent)]) if not module.name.startswith("_"))
    held = [value for name in names for value in vars(import_module(f"{__package__}.{name}")).values()]
    kernels = {id(value): value for value in held if isinstance(value, Kernel)}
    for kernel in kernels.values():
        kernel.compile(None)
    folder = next(iter(kernels.values())).stats.cache_path
    kept = (
        f"kept in {folder}" if folder else "lost when this process ends: no folder for them can be written to (NUMBA_CACHE_DIR)"
    )
    return f"{len(kernels)} kernels are compiled, and {kept}"
