"""The table of what the papers say is complete, and everything it points to exists."""

import ast
import re
from functools import cache
from itertools import chain
from pathlib import Path
from pkgutil import resolve_name
from types import SimpleNamespace

import pytest
from items import NAMES, PAPERS, VERDICTS, Item, read_items, table_page
from sections import SECTIONS

import lookalike as la
from lookalike import hashing, values

ROOT = Path(__file__).parents[2]
ITEMS = read_items()


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


@cache
def functions(file):
    """Names of the functions that a file of tests defines."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


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
def test_an_item_says_all_that_it_must_and_its_proof_exists(item):
    assert all((item.where, item.claim, item.ours, item.data, item.proof))
    assert item.verdict in VERDICTS
    assert bool(item.why) == (item.verdict != "agrees")
    for key in item.sections:
        assert key in SECTIONS
    for name in item.tests:
        file, _, function = name.partition("::")
        assert function in functions(file), name


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: f"{item.document} {item.where[0]}")
def test_what_it_is_here_exists(item):
    """Dotted names are modules and functions of the library, names with capitals public ones."""
    for name in re.findall(r"\b(?:theory|hashing|kernels)\.[\w.]*\w", item.ours):
        assert resolve_name(f"lookalike.{name}"), name
    for name in re.findall(r"\b[A-Z][a-z]\w*[A-Z]\w*", item.ours):
        assert name in la.__all__ or hasattr(hashing, name) or hasattr(values, name), name


def test_no_claim_is_there_twice():
    claims = [(item.document, item.claim) for item in ITEMS]
    assert len(set(claims)) == len(claims)


def test_every_section_of_the_reproduction_is_the_proof_of_something():
    assert set(chain.from_iterable(item.sections for item in ITEMS)) == set(SECTIONS)


def test_sections_lie_on_the_page_of_their_paper():
    assert {key[0] for key in SECTIONS} == set(PAPERS)
    assert sorted(chain.from_iterable(paper.files for paper in PAPERS.values())) == sorted(NAMES)


def test_errata_that_items_name_are_in_the_documents():
    told = "".join((ROOT / f"docs/theory/{page}.md").read_text(encoding="utf-8") for page in ("resemblance", "fingerprints"))
    known = set(re.findall(r"\bE\d+\b", told))
    assert set(re.findall(r"\bE\d+\b", " ".join(item.why for item in ITEMS))) <= known


def an_item(**other):
    given = {
        "document": "a-www",
        "where": ("(1)",),
        "claim": "a | b",
        "ours": "x",
        "data": "sets",
        "verdict": "agrees",
        "why": "",
    }
    return Item(**given | {"proof": ("a-law", "tests/theory/test_bbit.py::test_table_1")} | other)


def test_the_page_links_the_proof_and_escapes_bars():
    page = table_page([an_item()], [], "Written today.")
    assert "[a-law](experiments/bbit.md#a-law)" in page
    assert 'title="tests/theory/test_bbit.py">test_<wbr>table_<wbr>1</code>' in page
    assert "| (1) | a \\| b | x; *sets* | agrees |" in page


def test_a_section_that_fails_overrules_the_verdict():
    ran = [SimpleNamespace(key="a-law", checks=3, failures=["a-law: no"])]
    row = next(line for line in table_page([an_item()], ran, "").splitlines() if line.startswith("| (1)"))
    assert "| **does not hold: a-law** |" in row
    assert "agrees" not in row


def test_a_section_without_its_corpus_is_named():
    ran = [SimpleNamespace(key="a-law", checks=0, failures=[]), SimpleNamespace(key="a-storage", checks=1, failures=[])]
    assert "| agrees (left out here: a-law) |" in table_page([an_item(proof=("a-law", "a-storage"))], ran, "")


def test_verdicts_are_counted():
    items = [an_item(), an_item(verdict="corrected", why="E1"), an_item(document="t-thesis", verdict="differs", why="so")]
    page = table_page(items, [], "")
    assert "| all | 3 | 1 | 1 | 1 |" in page
    assert "(#a-www) | 2 | 1 | 1 | 0 |" in page


@pytest.mark.parametrize("page", ["resemblance", "fingerprints"])
def test_sections_and_tests_that_the_theory_names_exist(page):
    text = (ROOT / f"docs/theory/{page}.md").read_text(encoding="utf-8")
    keys = re.findall(r"`([abct]-[a-z0-9-]+)`", text)
    assert keys and set(keys) <= set(SECTIONS)
    tests = re.findall(r"`(test_\w+\.py)::(test_\w+)`", text)
    assert len(tests) == text.count("::")
    for file, function in tests:
        assert any(function in functions(path) for path in (ROOT / "tests").rglob(file)), function


@pytest.mark.parametrize("page", ["resemblance", "fingerprints"])
def test_every_correction_says_what_refutes_the_printed_form(page):
    text = (ROOT / f"docs/theory/{page}.md").read_text(encoding="utf-8")
    if page == "resemblance":
        rows = [
            line
            for line in text[text.index("## Corrections") :].splitlines()
            if line.startswith("| ") and "refuted by" not in line
        ]
    else:
        rows = text[text.index("## Corrected") : text.index("## What holds")].split("\n- ")[1:]
    assert len(rows) >= 9
    for row in rows:
        proof = row.rstrip(" |").rpartition("|")[2] if page == "resemblance" else row[row.rindex("[") :]
        assert re.search(r"`(test_\w+\.py::|[abct]-)", proof), row
