"""Check that pyright knows the types of all public names, as a program of a user has them.

`python tools/check_types.py`; pyright is that of the package basedpyright, which brings what it runs on.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import lookalike

PARTS = ("", ".errors", ".integrations", ".search", ".sketches", *(f".theory.{name}" for name in lookalike.theory.__all__))
UNTYPED = ("lookalike.integrations.features.BBitFeatures",)  # is of a class of scikit-learn, which has no types
FOLLOWS = "partially unknown"  # from a name inside, which nobody uses


def public() -> Iterator[str]:
    """Yield where the public functions and classes are, and the classes of ours that these are made of."""
    for part in PARTS:
        module = import_module(f"lookalike{part}")
        for value in (getattr(module, name) for name in getattr(module, "__all__", dir(module))):
            for one in getattr(value, "__mro__", (value,)):
                if hasattr(one, "__qualname__") and one.__module__.startswith("lookalike."):
                    yield f"{one.__module__}.{one.__qualname__}"


def unknown() -> Iterator[str]:
    """Yield a line for each public name, or attribute of one, whose type is not known."""
    pyright, names = Path(sys.executable).with_name("basedpyright"), set(public())
    how = ["--pythonpath", sys.executable, "--verifytypes", "lookalike", "--ignoreexternal", "--outputjson"]
    told = subprocess.run([pyright, *how], capture_output=True, check=False).stdout
    for symbol in json.loads(told)["typeCompleteness"]["symbols"]:
        name, said = symbol["name"], [one["message"].splitlines()[0] for one in symbol["diagnostics"]]
        if not symbol["isTypeKnown"] and {name, name.rpartition(".")[0]} & names and not name.startswith(UNTYPED):
            yield from (f"{name}: {message}" for message in said if FOLLOWS not in message)


if __name__ == "__main__":
    wrong = list(unknown())
    print("\n".join(wrong) or "types: those of all public names are known")
    sys.exit(bool(wrong))
