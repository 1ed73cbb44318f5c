"""The compiled core: loops over texts, sketches and pairs, in C++ (``native/``), built for several levels of processors, of
which the best is taken; ``LOOKALIKE_LEVEL`` (``v1``, ``v3``, ``v4``) forces one. Results are equal. The functions do not
hold the interpreter's lock; arrays must have just the declared types (``help(lookalike.core.mix_keys)``)."""

import os
import platform
from importlib import import_module
from typing import Any

from ..errors import MissingExtraError, ParameterError

LEVELS = ("v1", "v3", "v4")


def _load() -> tuple[str, Any]:
    """Return the name of a level and its module."""
    level = os.environ.get("LOOKALIKE_LEVEL", "")
    if level and level not in LEVELS:
        raise ParameterError(f"the environment's LOOKALIKE_LEVEL is {level!r}; it is one of {', '.join(LEVELS)}, or not set")
    try:
        best = f"v{import_module('.core_v1', __name__).best_level()}"
        if level > best:
            raise ParameterError(f"the environment's LOOKALIKE_LEVEL is {level!r}; this processor has {best} at most")
        return level or best, import_module(f".core_{level or best}", __name__)
    except ImportError as error:
        raise MissingExtraError(
            f"the compiled core for {platform.machine()} cannot be loaded ({error}): install lookalike again"
        ) from None


LEVEL, _module = _load()
globals().update({name: value for name, value in vars(_module).items() if not name.startswith("_")})


def __getattr__(name: str) -> Any:
    raise AttributeError(f"lookalike.core has no function {name}: it is of another version; install lookalike again")
