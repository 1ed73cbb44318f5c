"""The level of the core that is loaded: the best that the processor has, or the one that is asked for, if it has it."""

import platform
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from lookalike import core
from lookalike.errors import MissingExtraError, ParameterError

CPU = Path("/proc/cpuinfo")
OF_V3 = {"avx2", "bmi1", "bmi2", "fma", "abm", "popcnt", "aes", "pclmulqdq"}
OF_V4 = {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}


@pytest.fixture
def modules(monkeypatch):
    """Modules of all levels, on a processor that has v3."""
    made = {level: SimpleNamespace(best_level=lambda: 3) for level in core.LEVELS}
    for level, module in made.items():
        monkeypatch.setitem(sys.modules, f"lookalike.core.core_{level}", module)
    return made


@pytest.mark.parametrize(("asked", "level"), [("", "v3"), ("v1", "v1"), ("v3", "v3")])
def test_the_best_level_or_a_lower_one_is_loaded(monkeypatch, modules, asked, level):
    monkeypatch.setenv("LOOKALIKE_LEVEL", asked)
    assert core._load() == (level, modules[level])
    monkeypatch.setitem(sys.modules, f"lookalike.core.core_{level}", None)
    with pytest.raises(MissingExtraError, match=f"core_{level}.*: install lookalike again"):
        core._load()


@pytest.mark.parametrize(
    ("asked", "said"), [("v4", "this processor has v3 at most"), ("v2", "it is one of v1, v3, v4, or not set")]
)
def test_no_other_is(monkeypatch, modules, asked, said):
    monkeypatch.setenv("LOOKALIKE_LEVEL", asked)
    with pytest.raises(ParameterError, match=f"LOOKALIKE_LEVEL is '{asked}'; {said}"):
        core._load()


@pytest.mark.skipif(platform.machine() != "x86_64" or not CPU.exists(), reason="Linux tells what a processor has")
def test_the_best_level_is_what_the_processor_has():
    has = set(next(line for line in CPU.read_text().splitlines() if line.startswith("flags")).split())
    assert core.best_level() == (1 if not has >= OF_V3 else 4 if has >= OF_V4 else 3)
