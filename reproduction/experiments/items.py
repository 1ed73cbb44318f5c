"""The table of everything that the five documents say: where it is here, on what data, whether it holds, and on what that rests.

One TOML file per document in reproduction/experiments/items/, in the order of the document. An item:

    [[item]]
    where = ["Table 1"]             # its section, and the numbers of the document that it stands for
    claim = "B(64) / B(1) of RIGHTS-RESERVED"
    ours = "theory.bbit.storage_ratio"
    data = "the printed sizes"      # what the checks ran on; for stand-ins: what they stand for
    verdict = "misprint"            # one of VERDICTS
    why = "E10: ..."                # needed unless it holds
    slip = "..."                    # a slip of the pen in the words beside what holds
    checks = ["a-words.b64", "tests/theory/test_bbit.py::test_table_1"]  # checks of sections as SECTION.NAME, and tests
    printed = "32.2"                # a number, ">= 3.5", "<= 0.01" or "10 .. 30", or what the words come to ("unbiased" to "0.000");
                                    # half a unit of its last digit is granted
    measured = "a-words.rights"     # the check or observation whose value decides about it
    right = "33.2"                  # what stands there rightly
    first = "number"                # one of FIRST, if it belongs on the first screen
    headline = "RIGHTS-RESERVED"    # what it is called there, in few words

A verdict stands if all its checks hold and their senses are its own: nothing that holds rests on a check that excludes or limits
claims, what holds within limits rests on one that limits, and what does not hold on one that excludes, or on a measured value that,
within some standard errors, does not fit the printed one. The sense of a check is given in its section, that of a test by a mark.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import NormalDist

ROOT = Path(__file__).parents[2]
FOLDER = Path(__file__).parent / "items"
VERDICTS = {
    "holds": "as it stands",
    "holds within limits": "as it stands, where the row says so, and not beyond",
    "misprint": "a sign, factor or index lost in print, or a number that its own formula does not give",
    "wrong formula": "a formula or rule that gives other values than it should",
    "claim refuted": "a statement that measured values or theory exclude",
    "not tested here": "no verdict: the data are lost, or the times are those of other hardware and sizes",
}
HOLDS, LIMITED, UNTESTED = "holds", "holds within limits", "not tested here"
FIRST = {
    "holds": "What holds",
    "formula": "Three formulas to correct in one's own code",
    "number": "Three numbers to correct",
    "recommendation": "Two recommendations that fail",
}
NOT_TESTED = (
    "of data that are not to be had (the news articles, the crawls, the project texts), of times that are those of other machines and "
    "larger sizes, and of the articles of NYTimes, which are public and were not run. Stand-ins and times of today are reported "
    "beside them, and decide nothing."
)
ERRORS = NormalDist().inv_cdf(1 - 1e-4 / 2)  # standard errors that a right value stays within, but for one in ten thousand


@dataclass(frozen=True, slots=True, kw_only=True)
class Paper:
    """A document, or two of the same content: its name, its page, and how far its numbering goes."""

    title: str
    page: str
    files: tuple[str, ...]


PAPERS = {
    "a": Paper(title="b-Bit Minwise Hashing", page="bbit", files=("a-www", "a-arxiv")),
    "b": Paper(title="Minwise, b-bit and one permutation hashing, a report", page="one-permutation", files=("b-report",)),
    "c": Paper(title="f-Fractional bit minwise hashing", page="fractional", files=("c-fractional",)),
    "t": Paper(title="Probabilistic SimHash matching, a thesis", page="fingerprints", files=("t-thesis",)),
}
NAMES = {
    "a-www": "b-Bit Minwise Hashing (WWW 2010)",
    "a-arxiv": "b-Bit Minwise Hashing (arXiv:0910.3349): what differs",
    "b-report": "Minwise, b-bit and one permutation hashing (a report)",
    "c-fractional": "f-Fractional bit minwise hashing",
    "t-thesis": "Probabilistic SimHash matching (a thesis)",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """What a document says at one place, and what became of it here."""

    document: str
    where: tuple[str, ...]
    claim: str
    ours: str
    data: str
    verdict: str
    checks: tuple[str, ...] = ()
    why: str = ""
    slip: str = ""
    printed: str = ""
    measured: str = ""
    right: str = ""
    first: str = ""
    headline: str = ""

    @property
    def named(self) -> list[str]:
        """Checks and observations of sections that it cites."""
        return [name for name in (*self.checks, *([self.measured] if self.measured else [])) if "/" not in name]

    @property
    def tests(self) -> list[str]:
        """Tests that it cites."""
        return [name for name in self.checks if "/" in name]


def read_items(folder: Path = FOLDER) -> list[Item]:
    """Read all items, in the order of the documents."""
    return [
        Item(document=document, **{k: tuple(v) if isinstance(v, list) else v for k, v in item.items()})
        for document in NAMES
        for item in tomllib.loads((folder / f"{document}.toml").read_text(encoding="utf-8")).get("item", [])
    ]


@cache
def read_tests(file: str) -> dict[str, str]:
    """Return {test of a file: its sense}: ``pytest.mark.excludes`` or ``limits``, or it supports."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return {
        node.name: next(
            (sense for sense in ("excludes", "limits") if f"pytest.mark.{sense}" in map(ast.unparse, node.decorator_list)),
            "supports",
        )
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
    }


@dataclass(frozen=True, slots=True)
class Found:
    """What came of the checks of one name: whether all hold, their sense, and the value, if there is one only."""

    true: bool
    value: float | None = None
    error: float = 0.0
    checked: bool = True
    sense: str = "supports"
    turns: str = ""


def read_found(pages: dict[str, str]) -> tuple[dict[str, Found], set[str]]:
    """Return {SECTION.NAME: what came of it} and the sections whose corpus was not there, from {name of a page: its text}."""
    lines: dict[str, list[Found]] = {}
    mark = re.compile(
        r'^- (✓|✗|measured:).*?data-check="([^"]+)"(?: data-sense="([^"]+)")?'
        r'(?: data-found="([^"]+)" data-(?:error="([^"]+)"|turns="([^"]+)"))?'
    )
    left_out, section = set(), ""
    for line in "\n".join(pages.values()).splitlines():
        if heading := re.match(r"## .*\{#([a-z0-9-]+)\}$", line):
            section = heading[1]
        elif line.startswith("Left out: the corpus"):
            left_out.add(section)
        elif at := mark.match(line):
            value = None if at[4] is None else float(at[4])
            one = Found(at[1] != "✗", value, float(at[5] or 0.0), at[1] != "measured:", at[3] or "supports", at[6] or "")
            lines.setdefault(at[2], []).append(one)
    return {
        name: found[0]
        if len(found) == 1
        else Found(all(f.true for f in found), checked=all(f.checked for f in found), sense=found[0].sense)
        for name, found in lines.items()
    }, left_out


def bounds(printed: str) -> tuple[float, float]:
    """Return the least and the largest value that a printed number, bound or range stands for."""
    at = re.fullmatch(r"(>=|<=)? ?(-?[\d,]*\.?\d+)(?: \.\. (-?[\d,]*\.?\d+))?", printed)
    if at is None:
        raise ValueError(f'printed must be a number, a bound such as ">= 3.5" or a range such as "10 .. 30"; got {printed!r}')
    low, high = (float(text.replace(",", "")) for text in (at[2], at[3] or at[2]))
    half = 0.5 * 10.0 ** -len(at[2].partition(".")[2])
    return (float("-inf") if at[1] == "<=" else low - half), (float("inf") if at[1] == ">=" else high + half)


def fits(printed: str, found: Found) -> bool:
    """Return whether a measured value is the printed one, within standard errors."""
    low, high = bounds(printed)
    apart = ERRORS * found.error + 1e-12
    return found.value is not None and low - apart <= found.value <= high + apart


def _corpus_of(name: str, left_out: set[str]) -> str:
    """Return the section for want of whose corpus a check was left out, or nothing; those of real pairs need the corpus of t-real."""
    section, _, check = name.partition(".")
    return next((s for s in (section, "t-real" if check.startswith("real-") else section) if s in left_out), "")


def problem(item: Item, found: dict[str, Found], left_out: set[str]) -> str:
    """Return why the verdict of an item does not stand, or nothing."""
    here = [name for name in item.named if not _corpus_of(name, left_out)]
    if missing := [name for name in here if name not in found]:
        return f"{', '.join(missing)} is missing"
    if broken := [name for name in here if not found[name].true]:
        return f"{', '.join(broken)} does not hold"
    if idle := [name for name in here if name in item.checks and not found[name].checked]:
        return f"{', '.join(idle)} is an observation, not a check"
    apart = ""
    if item.measured in here:
        at = found[item.measured]
        if at.value is None:
            return f"{item.measured} is no single value"
        if item.printed and not fits(item.printed, at):
            apart = f"printed is {item.printed}, {item.measured} is {at.value:.4g} ± {at.error:.2g}"
        elif item.printed and item.verdict not in (HOLDS, LIMITED, UNTESTED):
            return f"{item.measured} is {at.value:.4g} ± {at.error:.2g}, as printed: not {item.verdict}"
    return _sense_problem(item, found, here, apart)


def _sense_problem(item: Item, found: dict[str, Found], here: list[str], apart: str) -> str:
    """Return why the senses of the checks, or what is measured ``apart`` from the printed, are not those of the verdict."""
    senses = {name: found[name].sense for name in here if name in item.checks}
    senses |= {test: read_tests(test.partition("::")[0])[test.rpartition("::")[2]] for test in item.tests}
    by_sense = {sense: next((name for name, its in senses.items() if its == sense), "") for sense in ("limits", "excludes")}
    if item.verdict in (HOLDS, LIMITED):
        if against := (by_sense["excludes"] and f"{by_sense['excludes']} excludes it") or (item.verdict == HOLDS and apart):
            return f"{against}: not {item.verdict}"
        if (item.verdict == LIMITED) != bool(by_sense["limits"]):
            return f"{by_sense['limits'] or 'nothing'} limits it: not {item.verdict}"
    elif item.verdict != UNTESTED and not (by_sense["excludes"] or apart) and len(here) == len(item.named):
        return f"nothing excludes it: not {item.verdict}"
    return ""


def _table_row(cells: Iterable[str]) -> str:
    """Return a row of a table."""
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _breakable(names: str) -> str:
    """Return names that a narrow column may break after dots and underscores within them."""
    return re.sub(r"(?<=\w)([._])(?=\w)", r"\1<wbr>", names)


def _anchors(items: list[Item]) -> dict[Item, str]:
    """Return an anchor for each item: its document and the first place that it stands for."""
    out: dict[Item, str] = {}
    for item in items:
        name = f"{item.document}-{re.sub('[^a-z0-9.]+', '-', item.where[0].lower()).strip('-')}"
        count = sum(anchor == name or anchor.startswith(f"{name}--") for anchor in out.values())
        out[item] = name if not count else f"{name}--{count + 1}"
    return out


def _value(found: Found) -> str:
    """Return a value with its standard error or the range of its turns; computed ones have neither."""
    if found.value is None:
        return ""
    if found.turns:
        return f"{found.value:,.6g} (turns: {found.turns})"
    return f"{found.value:,.4g} (computed)" if not found.error else f"{found.value:,.4g} ± {found.error:,.2g}"


def _told(item: Item, found: dict[str, Found], left_out: set[str]) -> str:
    """Return the verdict, or why it does not stand."""
    if wrong := problem(item, found, left_out):
        return f"**does not stand: {wrong}**"
    idle = sorted({_corpus_of(name, left_out) for name in item.named} - {""})
    if idle and not item.tests and all(_corpus_of(name, left_out) for name in item.named):
        return f"{UNTESTED} (left out: {', '.join(idle)})"
    told = item.verdict if item.verdict in (HOLDS, LIMITED, UNTESTED) else f"**{item.verdict}**"
    return told + (f" (left out: {', '.join(idle)})" if idle else "")


def _row(item: Item, anchor: str, pages: dict[str, str], found: dict[str, Found], left_out: set[str]) -> str:
    """Return the row of an item, its verdict first."""
    links = [f"[{name}]({pages[name[0]]}.md#{name})" if name in found else name for name in dict.fromkeys(item.named)]
    tests = [f'<code title="{file}">{_breakable(test)}</code>' for file, _, test in (t.partition("::") for t in item.tests)]
    numbers = [f"printed {item.printed}"] if item.printed else []
    numbers += [f"right {item.right}"] if item.right else []
    value = _value(found.get(item.measured, Found(True)))
    numbers += [f"measured {value}".replace("measured", "here" if "computed" in value else "measured")] if value else []
    cells = (
        f'<a id="{anchor}"></a>{_told(item, found, left_out)}',
        ", ".join(item.where),
        item.claim,
        ". ".join(
            x for x in (": ".join(x for x in ("; ".join(numbers), item.why) if x), item.slip and f"Slip: {item.slip}") if x
        ),
        f"{_breakable(item.ours)}; *{item.data}*",
        "<br>".join([*links, *tests]),
    )
    return _table_row(cells)


def _picture(item: Item, found: Found) -> str:
    """Return a small figure: what is printed (orange, or all that it allows) and what was measured (blue, two standard errors)."""
    low, high = bounds(item.printed) if item.printed else (found.value, found.value)
    assert found.value is not None
    told = [x for x in (low, high) if abs(x) != float("inf")]
    ends = [*told, found.value - 2 * found.error, found.value + 2 * found.error]
    spread = max(ends) - min(ends) or 1.0
    left = min(ends) - 0.15 * spread

    def x(value: float) -> float:
        return round(min(max(4 + 132 * (value - left) / (1.3 * spread), 1.0), 139.0), 1)

    marks = '<line x1="0" x2="140" y1="14" y2="14" stroke="currentColor" stroke-opacity=".35"/>'
    if item.printed:
        begin, end = (x(v) if abs(v) != float("inf") else (0.0 if v < 0 else 140.0) for v in (low, high))
        marks += (
            f'<rect x="{begin}" y="8" width="{max(round(end - begin, 1), 3.0)}" height="12" fill="#D55E00" fill-opacity=".55"/>'
        )
    bar = (x(found.value - 2 * found.error), x(found.value + 2 * found.error))
    marks += f'<line x1="{bar[0]}" x2="{bar[1]}" y1="14" y2="14" stroke="#0072B2" stroke-width="3"/>'
    marks += f'<circle cx="{x(found.value)}" cy="14" r="4" fill="#0072B2"/>'
    name = ", ".join([*([f"printed {item.printed}"] if item.printed else []), f"measured {_value(found)}"])
    return f'<svg width="140" height="28" style="min-width:140px" viewBox="0 0 140 28" role="img" aria-label="{name}">{marks}</svg>'.replace(
        "<=", "≤"
    )


def _link(item: Item, anchors: dict[Item, str]) -> str:
    """Return a link to the row of an item, by its document and place."""
    return f"[{NAMES[item.document].partition(' (')[0]}, {item.where[0]}](#{anchors[item]})"


def _first_screen(items: list[Item], anchors: dict[Item, str], found: dict[str, Found], left_out: set[str]) -> list[str]:
    """Return what matters most: what holds, and what to correct, with what is printed and what was measured."""
    lines = []
    for group, heading in FIRST.items():
        some = [item for item in items if item.first == group]
        lines += ["", f"**{heading}**", ""]
        if group != HOLDS:
            lines += ["| verdict | claim | printed | right | measured ± s.e. | |", "|---|---|---|---|---|---|"]
        for item in some:
            at, claim = found.get(item.measured, Found(True)), f"{_link(item, anchors)}: {item.headline or item.claim}"
            if group == HOLDS:
                stands = "" if not problem(item, found, left_out) else f" {_told(item, found, left_out)}."
                value = f": {_value(at)}" if at.value is not None else ""
                lines.append(f"- {claim}{value}.{stands}")
                continue
            cells = (
                _told(item, found, left_out),
                claim,
                item.printed,
                item.right,
                _value(at),
                "" if at.value is None else _picture(item, at),
            )
            lines.append(_table_row(cells))
    count = sum(item.verdict == UNTESTED for item in items)
    lines += ["", "**What was not tested here**", "", f"{count} claims: {NOT_TESTED} [The list](#verdicts)."]
    return lines


def _slips(items: list[Item], anchors: dict[Item, str]) -> list[str]:
    """Return the list of all slips of the pen: those in formulas and numbers, and those in words beside what holds."""
    lines = ["## Slips of the pen", "", "| where | slip |", "|---|---|"]
    for item in items:
        if told := item.slip or (item.why if item.verdict == "misprint" else ""):
            number = (
                f"{item.printed}, right {item.right}: "
                if item.right and not item.right.startswith(item.printed or item.right)
                else ""
            )
            lines.append(_table_row((_link(item, anchors), f"{number}{told}")))
    return [*lines, ""]


def table_page(items: list[Item], texts: dict[str, str], words: str) -> str:
    """Return the page of all items, from {name of a page: text} of the sections; verdicts that do not stand say why."""
    found, left_out = read_found(texts)
    pages = {paper: known.page for paper, known in PAPERS.items()}
    anchors = _anchors(items)
    of = {name: [item for item in items if item.document == name] for name in NAMES}
    lines = [
        *("---", "hide: [toc]", "---", ""),
        "# What the papers say, and what holds",
        "",
        f"{words} {len(items)} definitions, algorithms, equations, tables, figures, experiments and testable claims of five documents. "
        "A verdict rests on checks, which are linked: lines of the reproduction, compared with theory in standard errors, or tests. "
        "Where a number is printed and was measured, the two decide. First what matters most (orange: printed, blue: measured, "
        "with two standard errors).",
        *_first_screen(items, anchors, found, left_out),
        "",
        "## Verdicts",
        "",
        *(f"- *{verdict}*: {meaning}." for verdict, meaning in VERDICTS.items()),
        "",
        "| document | rows | " + " | ".join(VERDICTS) + " |",
        "|---|---|" + "---|" * len(VERDICTS),
    ]
    for title, some in [*((f"[{name}](#{document})", of[document]) for document, name in NAMES.items()), ("all", items)]:
        counts = [len(some), *(sum(item.verdict == verdict for item in some) for verdict in VERDICTS)]
        lines.append(f"| {title} | " + " | ".join(map(str, counts)) + " |")
    lines.append("")
    for verdict in list(VERDICTS)[1:]:
        links = [f"[{i.document[0].upper()} {i.where[0]}](#{anchors[i]})" for i in items if i.verdict == verdict]
        lines += [f"**{verdict}**: {', '.join(links) or 'none'}.", ""]
    lines += [
        "A, B, C and T are the two versions of b-bit hashing, the report, the fractional bits and the thesis. E numbers are those of "
        "the corrections for [sets](corrections-sets.md#corrections-to-the-papers) and "
        "[fingerprints](corrections-fingerprints.md#corrected). Where originals are not to be had, the data are called stand-ins. "
        "An *experiment* is code of this folder and no part of the package; the row says why. "
        "[Slips of the pen](#slips-of-the-pen) have a list of their own, at the end.",
        "",
    ]
    for document, name in NAMES.items():
        lines += [
            f"## {name} {{#{document}}}",
            "",
            "| verdict | where | what it says | printed, measured, and why | here; *on what data* | rests on |",
        ]
        lines += ["|---|---|---|---|---|---|"]
        lines += [_row(item, anchors[item], pages, found, left_out) for item in of[document]]
        lines.append("")
    return "\n".join([*lines, *_slips(items, anchors)])
