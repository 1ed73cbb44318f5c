"""Repeat the papers' experiments with our code: writes pages/ and figures/ of reproduction/.

Usage: python reproduction/experiments/reproduce.py [--only KEY ...] [--out FOLDER]
With QUICK=1 in the environment there are fewer repetitions, and the pages go to build/reproduction instead. With --only
some sections are run: they take their places on the pages that are there, and the verdicts are told anew. Exits 1 if a check does
not hold, or if a verdict does not rest on checks that hold.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
from importlib import import_module
from pathlib import Path

from items import PAPERS, problem, read_found, read_items, table_page
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


def told(section: Section, words: str) -> str:
    """Return a section as text of its page; ``words`` say what it was run with."""
    lines = [f"## {section.title} {{#{section.key}}}", "", f"*Refuted if:* {section.refuted_by} *{words}*", *section.lines]
    text = "\n".join(lines).replace("(FIGURES/", "(../figures/")
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    return text.strip() + "\n"


def page(paper: str, sections: dict[str, str], old: str) -> str:
    """Return the page of a paper: the sections given, and those of the old page that are not among them."""
    kept = {at[1]: at[0].strip() + "\n" for at in re.finditer(r"^## [^\n]*\{#([a-z0-9-]+)\}\n.*?(?=^## |\Z)", old, re.M | re.S)}
    every = kept | sections
    head = f"# {PAPERS[paper].title}: its experiments, repeated\n\nWritten by `make reproduce`; all seeds are fixed.\n"
    return "\n".join([head, *(every[key] for key in SECTIONS if key[0] == paper and key in every)])


def main() -> None:
    """Run the sections that were asked for, write the pages, and tell what does not hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=list(SECTIONS), metavar="KEY", help=", ".join(SECTIONS))
    parser.add_argument("--out", type=Path, help="folder for the pages")
    given = parser.parse_args()
    quick = os.environ.get("QUICK", "") not in ("", "0")
    out = given.out or (ROOT / "build/reproduction" if quick else ROOT / "reproduction")
    start, sections = time.perf_counter(), []
    keys = given.only or list(SECTIONS)
    for number, key in enumerate(keys, 1):
        print(f"{number}/{len(keys)} {key} …", end="", flush=True)
        begin = time.perf_counter()
        sections.append(make(key, quick, out / "figures"))
        state = (
            f"{len(sections[-1].failures)} of {sections[-1].checks} checks do not hold" if sections[-1].failures else "holds"
        )
        print(f" {state}, {time.perf_counter() - begin:.0f} s (after {(time.perf_counter() - start) / 60:.1f} min)", flush=True)
        if given.only:
            print("\n".join(sections[-1].lines))
    sys.exit(written(out, sections, f"lookalike {la.__version__}{', QUICK=1' if quick else ''}."))


def written(out: Path, sections: list[Section], words: str) -> bool:
    """Write the pages, and that of all verdicts once no section is lacking; tell, and return whether anything does not hold."""
    (out / "pages").mkdir(parents=True, exist_ok=True)
    texts = {}
    for paper, known in PAPERS.items():
        path = out / "pages" / f"{known.page}.md"
        new = {section.key: told(section, words) for section in sections if section.key[0] == paper}
        texts[known.page] = page(paper, new, path.read_text(encoding="utf-8") if path.exists() else "")
        path.write_text(texts[known.page], encoding="utf-8")
    wrong = [failure for section in sections for failure in section.failures]
    print(f"{sum(s.checks for s in sections) - len(wrong)} checks hold, {len(wrong)} do not; pages are in {out}")
    if all(f"{{#{key}}}" in "".join(texts.values()) for key in SECTIONS):
        items, (found, left_out) = read_items(), read_found(texts)
        (out / "pages/claims.md").write_text(table_page(items, texts, "Written by `make reproduce`."), encoding="utf-8")
        shaky = [(item, problem(item, found, left_out)) for item in items]
        wrong += [f"{item.document} {item.where[0]}, {item.verdict}: {why}" for item, why in shaky if why]
        print(f"{len(items) - sum(bool(why) for _, why in shaky)} of {len(items)} verdicts stand")
    for failure in wrong:
        print(f"  {failure}")
    return bool(wrong)


if __name__ == "__main__":
    main()
