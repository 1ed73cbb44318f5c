"""The table of what the papers say is complete, and everything it points to exists."""

import re
from dataclasses import replace
from itertools import chain
from pathlib import Path
from pkgutil import resolve_name

import pytest
from items import (
    FIRST,
    HOLDS,
    LIMITED,
    NAMES,
    PAPERS,
    UNTESTED,
    VERDICTS,
    Found,
    Item,
    bounds,
    fits,
    problem,
    read_found,
    read_items,
    read_tests,
    table_page,
)
from report import Section
from sections import SECTIONS

import lookalike as la
from lookalike import hashing, values

ROOT = Path(__file__).parents[2]
ITEMS = read_items()
TEXTS = {
    known.page: (ROOT / f"reproduction/pages/{known.page}.md").read_text(encoding="utf-8") for known in PAPERS.values()
}  # fmt: skip
FOUND, LEFT_OUT = read_found(TEXTS)


def upto(form, last):
    return {form.format(n) for n in range(1, last + 1)}


def numbered(equations, figures, tables, theorems=0, lemmas=0, definitions=0, algorithms=0, experiments=0):
    """All numbers of a document whose equations are numbered through."""
    return set().union(
        upto("({})", equations), upto("Fig. {}", figures), upto("Table {}", tables), upto("Theorem {}", theorems), upto("Lemma {}", lemmas),
        upto("Definition {}", definitions), upto("Algorithm {}", algorithms), upto("Experiment {}", experiments),
    )  # fmt: skip


# How far the numbering of each document goes.
NUMBERS = {
    "a-www": numbered(27, 9, 2, theorems=3, algorithms=1, experiments=3),
    "a-arxiv": numbered(23, 7, 2, theorems=2, experiments=3),
    "b-report": numbered(33, 2, 1, theorems=1, lemmas=2, definitions=2, algorithms=3),
    "c-fractional": numbered(43, 5, 0),
    "t-thesis": set().union(
        *(upto(f"({chapter}.{{}})", last) for chapter, last in ((1, 1), (2, 4), (3, 2), (4, 9), (6, 21), (7, 6))),
        upto("Fig. {}", 10), {"Table I", "Table II", "Theorem 1", "Definition 1", "Algorithm 1", "Algorithm 2"},
    ),
}  # fmt: skip
PLACES = {
    "a-www": "§1 §1.1 §1.2 §1.3.1 §1.3.2 §2 §2.1 §2.2 §2.3 §3.1 §3.2 §3.3 §4 §5.1.1 §5.1.2 §5.2 §5.3 §6 app.A",
    "a-arxiv": "§1 §1.1 §1.2 §2 §2.1 §2.2 §3.1 §3.2 §3.3 §4 §5 app.A",
    "b-report": "§1.1 §1.2 §2 §2.1 §2.2 §2.3 §3 §3.1 §3.2 §3.3 §4 §4.1 §4.2 §5",
    "c-fractional": "§II.A §II.B §III.A §III.B §IV.A §IV.B §IV.C §V §VI app.A",
    "t-thesis": "ch.I §I.A ch.II §II.A ch.III §III.A §IV.A §IV.B §V.A §V.B §VI.A §VI.A.1 §VI.A.2 §VI.B.1 §VI.B.2 §VI.B.3 "
    "§VII.A §VII.B §VII.C §VII.E §VII.F §VII.G ch.VIII",
}


def of(document):
    return [item for item in ITEMS if item.document == document]


@pytest.mark.parametrize("document", NAMES)
def test_every_number_of_the_document_is_in_the_table_and_no_other(document):
    found = set(chain.from_iterable(item.where for item in of(document)))
    places = {place.replace(" ", "") for place in found if place[0] == "§" or place[:2] in ("ch", "ap")}
    assert places <= set(PLACES[document].split())
    numbers = {where for where in found if where.replace(" ", "") not in places}
    assert numbers == NUMBERS[document]


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: f"{item.document} {item.where[0]}")
def test_an_item_says_all_that_it_must_and_its_tests_exist(item):
    assert all((item.where, item.claim, item.ours, item.data))
    assert item.verdict in VERDICTS
    assert item.why or item.verdict == HOLDS
    assert item.first in ("", *FIRST)
    assert item.checks or item.verdict == UNTESTED
    for name in item.tests:
        file, _, function = name.partition("::")
        assert function in read_tests(file), name


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: f"{item.document} {item.where[0]}")
def test_verdicts_stand_on_the_checks_of_the_pages(item):
    assert problem(item, FOUND, LEFT_OUT) == ""


@pytest.mark.parametrize(
    "item", [i for i in ITEMS if i.verdict != UNTESTED], ids=lambda item: f"{item.document} {item.where[0]}"
)
def test_no_verdict_can_be_turned_round(item):
    """What holds cannot be said not to, nor to hold within limits; what does not cannot be said to hold."""
    refuted = [verdict for verdict in VERDICTS if verdict not in (HOLDS, LIMITED, UNTESTED)]
    turned = [HOLDS, LIMITED] if item.verdict in refuted else [*refuted, HOLDS if item.verdict == LIMITED else LIMITED]
    for verdict in turned:
        assert problem(replace(item, verdict=verdict), FOUND, LEFT_OUT), verdict


def test_the_page_is_that_of_the_items_and_of_the_sections():
    written = (ROOT / "reproduction/pages/claims.md").read_text(encoding="utf-8")
    assert written == table_page(ITEMS, TEXTS, "Written by `make reproduce`.")


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: f"{item.document} {item.where[0]}")
def test_what_it_is_here_exists(item):
    """Dotted names are modules and functions of the library, names with capitals public ones."""
    for name in re.findall(r"\b(?:theory|hashing|kernels|core)\.[\w.]*\w", item.ours):
        assert resolve_name(f"lookalike.{name}"), name
    for name in re.findall(r"\b[A-Z][a-z]\w*[A-Z]\w*", item.ours):
        assert any(hasattr(part, name) for part in (la, la.search, la.sketches, hashing, values)), name


def test_no_claim_is_there_twice():
    claims = [(item.document, item.claim) for item in ITEMS]
    assert len(set(claims)) == len(claims)


def test_every_section_of_the_reproduction_carries_something():
    assert {name.partition(".")[0] for item in ITEMS for name in item.named} == set(SECTIONS)


def test_sections_lie_on_the_page_of_their_paper():
    assert {key[0] for key in SECTIONS} == set(PAPERS)
    assert sorted(chain.from_iterable(paper.files for paper in PAPERS.values())) == sorted(NAMES)


def test_errata_that_items_name_are_in_the_documents():
    told = "".join(
        (ROOT / f"reproduction/pages/corrections-{page}.md").read_text(encoding="utf-8") for page in ("sets", "fingerprints")
    )
    known = set(re.findall(r"\bE\d+\b", told))
    assert set(re.findall(r"\bE\d+\b", " ".join(item.why for item in ITEMS))) <= known


def an_item(**other):
    given = {"document": "a-www", "where": ("(1)",), "claim": "a | b", "ours": "x", "data": "sets", "verdict": "holds"}
    return Item(**given | {"checks": ("a-law.exact", "tests/theory/test_bbit.py::test_table_1")} | other)


def a_page(*lines):
    return {"bbit": "\n".join(["## Law {#a-law}", "", *lines])}


def line(mark="✓", name="a-law.exact", value="", sense="supports"):
    value = ("" if sense == "supports" else f' data-sense="{sense}"') + value
    return f'- {mark} <a id="{name}" data-check="{name}"{value}></a>so it is'


def of_value(value, error):
    return line("measured:", "a-law.value", f' data-found="{value}" data-error="{error}"')


def row_of(item, texts):
    return next(row for row in table_page([item], texts, "").splitlines() if row.startswith('| <a id="'))


def test_the_page_links_the_checks_and_escapes_bars():
    row = row_of(an_item(), a_page(line()))
    assert "[a-law.exact](bbit.md#a-law.exact)" in row
    assert 'title="tests/theory/test_bbit.py">test_<wbr>table_<wbr>1</code>' in row
    assert row.startswith('| <a id="a-www-1"></a>holds | (1) | a \\| b |')


@pytest.mark.parametrize(
    "lines, why",
    [
        ((line("✗ **does not hold:**"),), "a-law.exact does not hold"),
        ((line(), line("✗ **does not hold:**")), "a-law.exact does not hold"),
        ((line(name="a-law.other"),), "a-law.exact is missing"),
        ((line("measured:"),), "a-law.exact is an observation, not a check"),
    ],
)
def test_a_verdict_whose_checks_fail_or_are_missing_does_not_stand(lines, why):
    texts = a_page(*lines)
    assert problem(an_item(), *read_found(texts)) == why
    assert f"</a>**does not stand: {why}** |" in row_of(an_item(), texts)


@pytest.mark.parametrize(
    "verdict, printed, value, error, stands",
    [
        (HOLDS, "7", 7.4, 0.0, True),
        ("holds", "7", 7.6, 0.0, False),
        ("holds", "7", 7.6, 0.1, True),
        ("claim refuted", "7", 7.6, 0.1, False),
        (LIMITED, "7", 8.0, 0.0, False),
        ("claim refuted", "7", 8.0, 0.1, True),
        ("misprint", "32.2", 33.2, 0.0, True),
        ("misprint", "33.2", 33.16, 0.0, False),
        (UNTESTED, "7", 2.8, 0.0, True),
    ],
)
def test_the_measured_value_decides(verdict, printed, value, error, stands):
    item = an_item(verdict=verdict, printed=printed, measured="a-law.value")
    assert (problem(item, *read_found(a_page(line(), of_value(value, error)))) == "") == stands


@pytest.mark.parametrize(
    "sense, stand",
    [
        ("supports", {HOLDS, UNTESTED}),
        ("limits", {LIMITED, UNTESTED}),
        ("excludes", set(VERDICTS) - {HOLDS, LIMITED}),
    ],
)
def test_the_sense_of_a_check_decides(sense, stand):
    found = read_found(a_page(line(sense=sense)))
    assert {verdict for verdict in VERDICTS if not problem(an_item(verdict=verdict), *found)} == stand


def test_the_mark_of_a_test_decides():
    item = an_item(checks=("reproduction/tests/test_errata.py::test_counts_of_modified_queries",))
    assert {verdict for verdict in VERDICTS if not problem(replace(item, verdict=verdict), {}, set())} == set(VERDICTS) - {
        HOLDS,
        LIMITED,
    }


def test_sections_write_senses_and_the_range_of_times():
    section = Section("a-law", "Law", "so")
    section.holds("it does", True, name="exact", sense="excludes")
    section.observe("it takes", name="value", found=2.43, turns=(2.41, 2.45))
    found, _ = read_found(a_page(*section.lines))
    assert found["a-law.exact"].sense == "excludes"
    assert (found["a-law.value"].value, found["a-law.value"].turns) == (2.43, "2.41 to 2.45")
    for sense in ("supports", "refutes"):
        with pytest.raises(ValueError, match="one sense"):
            section.holds("it does", True, name="exact", sense=sense)


def test_a_name_with_several_values_has_none():
    texts = a_page(line(), of_value(1.0, 0.0), of_value(2.0, 0.0))
    assert "no single value" in problem(an_item(measured="a-law.value"), *read_found(texts))


@pytest.mark.parametrize(
    "printed, low, high",
    [("0.4", 0.35, 0.45), (">= 3.5", 3.45, float("inf")), ("<= 0.010", float("-inf"), 0.0105), ("10 .. 30", 9.5, 30.5), ("5,120", 5119.5, 5120.5)],
)  # fmt: skip
def test_half_a_unit_of_the_last_printed_digit_is_granted(printed, low, high):
    assert bounds(printed) == pytest.approx((low, high))
    inside, outside = (high, low - 1.0) if low > -1e9 else (low + 0.0, high + 1.0)
    assert fits(printed, Found(True, min(inside, 1e9))) and not fits(printed, Found(True, outside))


def test_what_is_no_number_is_refused():
    with pytest.raises(ValueError, match="must be a number, a bound"):
        bounds("about 7")


def test_a_section_without_its_corpus_tests_nothing():
    texts = a_page("Left out: the corpus of policies is not there.")
    assert "</a>not tested here (left out: a-law) |" in row_of(an_item(checks=("a-law.exact",)), texts)
    assert "</a>holds (left out: a-law) |" in row_of(an_item(), texts)


def test_what_a_section_does_with_real_pairs_is_left_out_with_their_corpus():
    item = an_item(verdict=UNTESTED, why="so", checks=("t-checked.real-speed",))
    for left_out, said in ((set(), "t-checked.real-speed is missing"), ({"t-real"}, "")):
        assert problem(item, {}, left_out) == said
    assert problem(an_item(checks=("t-checked.complete",)), {}, {"t-real"}) == "t-checked.complete is missing"


def test_verdicts_are_counted_and_anchors_differ():
    items = [an_item(), an_item(verdict="misprint", why="E1"), an_item(document="t-thesis", verdict="claim refuted", why="so")]
    page = table_page(items, a_page(line()), "")
    assert "| all | 3 | 1 | 0 | 1 | 0 | 1 | 0 |" in page
    assert "(#a-www) | 2 | 1 | 0 | 1 | 0 | 0 | 0 |" in page
    assert page.count('<a id="a-www-1"></a>') == page.count('<a id="a-www-1--2"></a>') == 1
    assert "**misprint**: [A (1)](#a-www-1--2)." in page


def test_the_first_screen_shows_what_was_measured_and_what_is_printed():
    item = an_item(
        verdict="claim refuted", why="so", printed="0.4", right="1/3", measured="a-law.value", first="recommendation"
    )
    page = table_page([item], a_page(line(), of_value(0.3333, 0.001)), "")
    assert "| **claim refuted** | [b-Bit Minwise Hashing, (1)](#a-www-1): a \\| b | 0.4 | 1/3 | 0.3333 ± 0.001 | <svg " in page


def test_the_first_screen_has_what_holds_and_what_to_correct():
    """Few rows, of the kind that the headings say."""
    groups = {group: [item for item in ITEMS if item.first == group] for group in FIRST}
    assert [len(groups[group]) for group in list(FIRST)[1:]] == [3, 3, 2] and 5 <= len(groups[HOLDS]) <= 12
    assert all((item.verdict == HOLDS) == (group == HOLDS) for group, some in groups.items() for item in some)


def test_slips_have_a_list_of_their_own():
    items = [an_item(slip="a word"), an_item(where=("(2)",), verdict="misprint", why="E1", printed="3", right="4")]
    _, _, slips = table_page(items, a_page(line()), "").partition("## Slips of the pen")
    assert "| [b-Bit Minwise Hashing, (1)](#a-www-1) | a word |" in slips
    assert "| [b-Bit Minwise Hashing, (2)](#a-www-2) | 3, right 4: E1 |" in slips


@pytest.mark.parametrize("page", ["sets", "fingerprints"])
def test_sections_and_tests_that_the_theory_names_exist(page):
    text = (ROOT / f"reproduction/pages/corrections-{page}.md").read_text(encoding="utf-8")
    keys = re.findall(r"`([abct]-[a-z0-9-]+)`", text)
    assert keys and set(keys) <= set(SECTIONS)
    tests = re.findall(r"`(test_\w+\.py)::(test_\w+)`", text)
    assert len(tests) == text.count("::")
    for file, function in tests:
        assert any(
            function in read_tests(str(path))
            for path in chain((ROOT / "tests").rglob(file), (ROOT / "reproduction/tests").rglob(file))
        ), function


@pytest.mark.parametrize("page", ["sets", "fingerprints"])
def test_every_correction_says_what_refutes_the_printed_form(page):
    text = (ROOT / f"reproduction/pages/corrections-{page}.md").read_text(encoding="utf-8")
    if page == "sets":
        rows = [
            line
            for line in text[text.index("## Corrections") :].splitlines()
            if line.startswith("| ") and "refuted by" not in line
        ]
    else:
        rows = text[text.index("## Corrected") : text.index("## What holds")].split("\n- ")[1:]
    assert len(rows) >= 9
    for row in rows:
        proof = row.rstrip(" |").rpartition("|")[2] if page == "sets" else row[row.rindex("[") :]
        assert re.search(r"`(test_\w+\.py::|[abct]-)", proof), row
