"""Repeat the papers' experiments with our code: writes docs/reproduction.md, docs/experiments/ and docs/figures/.

Usage: python experiments/reproduce.py [--only KEY ...] [--out FOLDER]
With QUICK=1 in the environment there are fewer repetitions, and the pages go to build/reproduction instead of docs. With --only
some sections are run and their checks printed. Exits 1 if a check does not hold.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from importlib import import_module
from pathlib import Path

from items import PAPERS, read_items, table_page
from report import ROOT, Section
from sections import SECTIONS

import lookalike as la


def make(key: str, quick: bool, figures: Path) -> Section:
    """Run one section."""
    module, function = SECTIONS[key].split(":")
    Section.figure_folder = figures
    section: Section = getattr(import_module(module), function)(quick)
    if section.key != key:
        raise ValueError(f"{SECTIONS[key]} made the section {section.key!r}, not {key!r}")
    return section


def page(paper: str, sections: list[Section], words: str) -> str:
    """Return the page of a paper's sections."""
    lines = [f"# {PAPERS[paper].title}: its experiments, repeated", "", words, ""]
    for section in sections:
        lines += [f"## {section.title} {{#{section.key}}}", "", f"*Refuted if:* {section.refuted_by}", *section.lines, ""]
    text = "\n".join(lines).replace("(FIGURES/", "(../figures/")
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    return text.rstrip() + "\n"


def main() -> None:
    """Run the sections that were asked for, write the pages if it was all of them, and tell what does not hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=list(SECTIONS), metavar="KEY", help=", ".join(SECTIONS))
    parser.add_argument("--out", type=Path, help="folder for the pages")
    given = parser.parse_args()
    quick = os.environ.get("QUICK", "") not in ("", "0")
    out = given.out or (ROOT / "build/reproduction" if quick or given.only else ROOT / "docs")
    start, sections = time.perf_counter(), []
    keys = given.only or list(SECTIONS)
    for number, key in enumerate(keys, 1):
        print(f"{number}/{len(keys)} {key} …", end="", flush=True)
        begin = time.perf_counter()
        sections.append(make(key, quick, out / "figures"))
        told = f"{len(sections[-1].failures)} of {sections[-1].checks} checks do not hold" if sections[-1].failures else "holds"
        print(f" {told}, {time.perf_counter() - begin:.0f} s (after {(time.perf_counter() - start) / 60:.1f} min)", flush=True)
        if given.only:
            print("\n".join(sections[-1].lines))
    failures = [failure for section in sections for failure in section.failures]
    words = (
        f"Written by `make reproduce` with lookalike {la.__version__}{' and QUICK=1' if quick else ''}; all seeds are fixed."
    )
    if not given.only:
        (out / "experiments").mkdir(parents=True, exist_ok=True)
        for paper, known in PAPERS.items():
            mine = [section for section in sections if section.key.startswith(f"{paper}-")]
            (out / "experiments" / f"{known.page}.md").write_text(page(paper, mine, words))
        (out / "reproduction.md").write_text(table_page(read_items(), sections, words))
        print(f"pages are in {out}")
    print(f"{sum(s.checks for s in sections) - len(failures)} checks hold, {len(failures)} do not")
    for failure in failures:
        print(f"  {failure}")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
