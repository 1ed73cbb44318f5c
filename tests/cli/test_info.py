import importlib.metadata

import lookalike as la
from lookalike.cli.info import INSTRUCTIONS
from lookalike.core import LEVEL


def test_version_instructions_formats_and_extras(run):
    code, out, err = run("info")
    assert (code, err) == (0, "") and out.startswith(f"lookalike {la.__version__}\ninstructions: {INSTRUCTIONS[LEVEL]}\n")
    for line in ("csv      .csv (also .gz, ", "archives .zip ", "delta    folders with _delta_log/"):
        assert f"\n  {line}" in out
    extras = {line.split()[0] for line in out.partition("\nextras\n")[2].splitlines()}
    assert {"report", "serve"} <= extras and not {"all", "test", "docs", "bench"} & extras


def test_an_extra_that_is_missing_has_the_command_that_installs_it(run, monkeypatch):
    real = importlib.metadata.distributions
    monkeypatch.setattr(importlib.metadata, "distributions", lambda name: [] if name == "jinja2" else real(name=name))
    assert "\n  report   missing: pip install 'lookalike[report]'\n" in run("info")[1]
