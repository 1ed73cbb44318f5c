import platform
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from raising import assert_raises

from lookalike import core
from lookalike.errors import MissingExtraError, ParameterError

CPU = Path("/proc/cpuinfo")
OF_V3 = {"avx2", "bmi1", "bmi2", "fma", "abm", "popcnt", "aes", "pclmulqdq"}
OF_V4 = {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}


def test_the_best_level_or_a_lower_one_is_loaded(monkeypatch):
    """Of all levels, on a processor that has v3."""
    modules = {level: SimpleNamespace(best_level=lambda: 3) for level in core.LEVELS}
    for asked, level in (("", "v3"), ("v1", "v1"), ("v3", "v3"), ("v4", None), ("v2", None)):
        monkeypatch.setenv("LOOKALIKE_LEVEL", asked)
        for name, module in modules.items():
            monkeypatch.setitem(sys.modules, f"lookalike.core.core_{name}", module)
        if level is None:
            assert_raises(ParameterError, f"LOOKALIKE_LEVEL is '{asked}'", core._load)
            continue
        assert core._load() == (level, modules[level])
        monkeypatch.setitem(sys.modules, f"lookalike.core.core_{level}", None)
        assert_raises(MissingExtraError, f"core_{level}.*: install lookalike again", core._load)


@pytest.mark.skipif(platform.machine() != "x86_64" or not CPU.exists(), reason="Linux tells what a processor has")
def test_the_best_level_is_what_the_processor_has():
    has = set(next(line for line in CPU.read_text().splitlines() if line.startswith("flags")).split())
    assert core.best_level() == (1 if not has >= OF_V3 else 4 if has >= OF_V4 else 3)
