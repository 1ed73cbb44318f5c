"""``lookalike info``: what this installation has."""

import importlib.metadata

import pytest
from cli.commands import run
from conftest import MODE

import lookalike as la

KERNELS = {
    "library": "kernels: compiled when this package",
    "python": "kernels: not compiled",
    "jit": "kernels: compiled by Numba",
}


@pytest.mark.parametrize("words", [[], *([["--compile"]] if MODE != "jit" else [])])
def test_version_kernels_formats_and_extras(capsys, words):
    code, out, err = run(capsys, "info", *words)
    assert (code, err) == (0, "") and out.startswith(f"lookalike {la.__version__}\n{KERNELS[MODE]}")
    assert (
        "\n  csv      .csv (also .gz, " in out
        and "\n  archives .zip " in out
        and "\n  delta    folders with _delta_log/" in out
    )
    extras = {line.split()[0] for line in out.partition("\nextras\n")[2].splitlines()}
    assert {"report", "serve", "jit"} <= extras and not {"all", "test", "docs", "bench"} & extras


def test_an_extra_that_is_missing_has_the_command_that_installs_it(capsys, monkeypatch):
    real = importlib.metadata.distributions
    monkeypatch.setattr(importlib.metadata, "distributions", lambda name: [] if name == "jinja2" else real(name=name))
    assert "\n  report   missing: pip install 'lookalike[report]'\n" in run(capsys, "info")[1]
