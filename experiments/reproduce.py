"""Redraw the papers' tables and figures from our code; writes docs/reproduction.md and docs/figures.

Usage: python experiments/reproduce.py    (QUICK=1 in the environment: fewer repetitions)
Exits 1 if a stated agreement does not hold.
"""

from __future__ import annotations

import os
import sys
import time

import fingerprints
import fractional_bits
import matching
import minwise
import retrieval
from report import ROOT

import semblance as sb


def main() -> None:
    """Run all experiments and write the page."""
    quick = os.environ.get("QUICK", "") not in ("", "0")
    start, sections = time.perf_counter(), []
    for module in (minwise, fractional_bits, retrieval, fingerprints, matching):
        sections += module.run(quick)
        print(f"{module.__name__}: done after {time.perf_counter() - start:.0f} s", flush=True)
    failures = [failure for section in sections for failure in section.failures]
    page = [
        "# The papers' experiments, repeated",
        "",
        f"Written by `make reproduce` with semblance {sb.__version__}"
        + (" and QUICK=1" if quick else "")
        + "; all seeds fixed. "
        "Each ✓ is a statement that the run checks, and fails on.",
        "",
    ]
    for section in sections:
        page += [f"## {section.title}", "", *section.lines, ""]
    (ROOT / "docs/reproduction.md").write_text("\n".join(page).rstrip() + "\n")
    print(f"{sum(line.startswith('- ✓') for s in sections for line in s.lines)} agreements hold, {len(failures)} do not")
    for failure in failures:
        print(f"  {failure}")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
