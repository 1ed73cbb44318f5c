"""Figures of speed, time and memory on pages: each comes from a file of results.

A page has a figure between two marks, which readers do not see: ``<!-- NAME -->249 MB/s<!-- /NAME -->``; text of several lines, such
as a table, is on lines of its own between them. ``results/figures.jsonl`` has a line for each name: the figure as text, its metric,
and the commit, the processor, the kernels and the date of the measurement. What ``page.py`` makes of raw figures counts as well.
``results/accepted.txt`` has what is no measurement, such as limits, settings and sizes of examples: ``PAGE: words on the page``.

Usage: python benchmarks/figures.py [PAGE ...]          fills the marks of pages (README.md and docs), and lists what is left
       python benchmarks/figures.py --check [PAGE ...]  writes nothing, and fails where a mark is not filled or anything is left
       python benchmarks/figures.py --adopt [PAGE ...]  adds what is between marks of unknown names to figures.jsonl, with the
                                                        commit that wrote it first
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import page

ROOT = page.ROOT
RESULTS, ACCEPTED = (ROOT / "benchmarks/results" / name for name in ("figures.jsonl", "accepted.txt"))
FIELDS = {"name", "figure", "metric", "commit", "processor", "kernels", "date"}
UNIT = (
    r"(?:[kMGT]i?B(?:/s)?|(?:(?:CPU|core)[ -])?(?:[mnuµ]?s|(?:micro|milli|nano)?seconds?|min(?:utes?)?|hours?|days?)"
    r"(?: an? [kMGT]B|/[kMGT]B)?|[a-z]*(?:/s| ?(?:a|per) second)|x|times)"
)
WORDS = "half an|an|two|three|four|five|six|seven|eight|nine|ten|twenty|thirty|forty|some|several"
FIGURE = re.compile(
    rf"(?<![\w.])\d(?:[\d,.]*\d)?(?:\s(?:thousand|million|billion))?[\s-]?{UNIT}(?![\w/])"
    rf"|\b(?:{WORDS})\s(?:micro|milli)?(?:seconds?|minutes?|hours?)\b(?!-)"
)
HEADING = re.compile(rf"(?:^|[ ,(]){UNIT.replace('seconds?', 'seconds')}(?=$|[ ,)])")
CODE = re.compile(r"^ *```.*?^ *```|`[^`]*`|\]\([^)]*\)|<!--.*?-->", re.DOTALL | re.MULTILINE)
MARKED = re.compile(r"(<!-- ([\w.-]+) -->\n?)(.*?)(<!-- /\2 -->)", re.DOTALL)
RULE = re.compile(r"\| *:?-+")


def known() -> dict[str, str]:
    """Return each figure by its name."""
    found = page.readme(page.of_file(page.RESULTS)) | page.labeled(page.of_file(page.LABELED))
    for number, line in enumerate(RESULTS.read_text().splitlines(), 1):
        record = json.loads(line)
        if lacking := FIELDS - {name for name, value in record.items() if value}:
            raise SystemExit(f"{RESULTS.name}:{number} has no {', '.join(sorted(lacking))}")
        if record["name"] in found:
            raise SystemExit(f"{RESULTS.name}:{number}: a second figure {record['name']}")
        found[record["name"]] = record["figure"]
    return found


def blank(found: re.Match[str]) -> str:
    """Return as many blanks, and the same lines."""
    return re.sub(r"[^\n]", " ", found[0])


def unfilled(text: str, accepted: list[str]) -> Iterator[tuple[int, str]]:
    """Yield (line, figure) of all that neither marks nor the list of what is accepted have, and accepted words that are not there."""
    prose = MARKED.sub(blank, text)
    for words in accepted:
        prose, n = re.subn(r"\s+".join(map(re.escape, words.split())), blank, prose)
        if not n:
            yield 0, f"accepted, and not there: {words}"
    prose = CODE.sub(blank, prose)
    lines = prose.split("\n")
    for number, (head, rule) in enumerate(pairwise(lines), 1):
        if RULE.match(rule) and (units := [cell.strip() for cell in head.split("|") if HEADING.search(cell.strip())]):
            yield number, f"column {', '.join(units)}"
    for found in FIGURE.finditer(prose):
        yield prose[: found.start()].count("\n") + 1, " ".join(found[0].split())


def adopt(path: Path, figures: dict[str, str]) -> None:
    """Add what is between marks of unknown names to the file of results."""
    for _, name, text, _ in MARKED.findall(path.read_text()):
        if name not in figures:
            log = ["git", "log", "--reverse", "--format=%h %as", f"-S{text.strip()}", "--", "README.md", "docs"]
            commit, _, date = subprocess.check_output(log, cwd=ROOT, text=True).partition("\n")[0].partition(" ")
            record = {"name": name, "figure": text, "metric": name, "commit": commit or "?", "processor": "not recorded",
                      "kernels": "not recorded", "date": date or "?"}  # fmt: skip
            with RESULTS.open("a") as stream:
                stream.write(json.dumps(record, ensure_ascii=False) + "\n")
            figures[name] = text


def check(path: Path, figures: dict[str, str], accepted: list[str], write: bool) -> list[str]:
    """Fill the marks of a page, if it may be written; return what is wrong with it."""
    text, name = path.read_text(), path.relative_to(ROOT)
    marks = [(mark, old) for _, mark, old, _ in MARKED.findall(text)]
    wrong = [f"{name}: no file of results has {mark}" for mark, _ in marks if mark not in figures]
    made = MARKED.sub(lambda found: found[1] + figures.get(found[2], found[3]) + found[4], text)
    if write and made != text:
        path.write_text(made)
    elif made != text:
        wrong += [f"{name}: {mark} is not what was measured" for mark, old in marks if old != figures.get(mark, old)]
    return wrong + [f"{name}:{line}: {figure}" for line, figure in unfilled(made, accepted)]


def main(arguments: list[str]) -> int:
    """Look at pages; return how many faults there are, or 0 where they are only listed."""
    given = [Path(one).resolve() for one in arguments if not one.startswith("--")]
    generated = [ROOT / "docs/benchmarks.md"]  # as a whole, from raw figures; a test compares them
    pages = given or [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    figures, accepted = known(), dict[str, list[str]]()
    for line in ACCEPTED.read_text().splitlines():
        where, _, words = line.partition(": ")
        accepted.setdefault(where, []).append(words)
    faults = []
    for path in pages:
        if path not in generated:
            if "--adopt" in arguments:
                adopt(path, figures)
            faults += check(path, figures, accepted.get(str(path.relative_to(ROOT)), []), "--check" not in arguments)
    print(
        "\n".join([*faults, f"{len(faults):,} figures, or marks, without a result"] if faults else ["each figure has a result"])
    )
    return len(faults) if "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(min(1, main(sys.argv[1:])))
