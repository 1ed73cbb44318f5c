import numpy as np
from listing import find_pairs
from samples import words

import lookalike as la
from lookalike.search import Pairs
from lookalike.sketches import BBit, MinHash, SimHash, WeightedSets
from lookalike.wording import Brief, html_table

TEXTS = [words("word", 60), words("word", 61), "something else that is not alike"]
SHINGLES = la.shingle(TEXTS)
SIGNATURES = MinHash(permutations=128).sign(SHINGLES)
ONE = Pairs(left=[0], right=[1], n_rows=3)
PLAN = la.plan(threshold=0.8, recall=0.99, verify="sketch")

SHOWN = {
    "<Shingles: 3 documents, 115 shingles, Shingling(unit='word', width=5, ": SHINGLES,
    "<Shingles: 3,000 documents, 3,000 shingles, ": la.shingle(["a b c"] * 3000),
    "<Signatures: 3 documents, 128 slots, MinHash(permutations=128, seed=1)>": SIGNATURES,
    "<PackedSignatures: 3 documents, 16 bytes each, BBit(bits=1), MinHash(permutations=128, ": BBit(bits=1).pack(SIGNATURES),
    "<Fingerprints: 3 documents, 64 bits, SimHash(bits=64, seed=1)>": SimHash(bits=64).sign(SHINGLES),
    "<Fingerprints: 3 documents, 64 bits, with margins, SimHash(": SimHash(bits=64, margins=True).sign(SHINGLES),
    "<WeightedSets: 2 sets, 3 elements>": WeightedSets(np.array([1, 2, 3]), np.ones(3), np.array([0, 2, 3])),
    "<Pairs: 1 pair, of 3 documents>": ONE,
    "<Pairs: 0 pairs, of 3 documents>": Pairs(left=[], right=[], n_rows=3, resemblance=[]),
    "<Pairs: 1 pair, of 3 documents, resemblance 0.9825 to 0.9825>": la.verify(ONE, SHINGLES, threshold=0.5),
    "<PairsResult: 1 pair, of 3 documents>": find_pairs(TEXTS),
    "<DecontaminationResult: 2 of 3 documents, overlap with 1 reference, 2 matches>": la.decontaminate(TEXTS, against=TEXTS[:1]),
    "Plan(threshold=0.8, recall=0.99, permutations=96, bands=16, rows=6)": la.plan(threshold=0.8, recall=0.99),
    "Plan(threshold=0.8, recall=0.99, permutations=": PLAN,
    "<Result: 3 documents, 2 kept, threshold 0.8>": la.dedup(TEXTS),
}  # fmt: skip


def test_a_line_and_a_small_table():
    for begins, value in SHOWN.items():
        line, html = repr(value), value._repr_html_()
        assert line.startswith(begins) and "\n" not in line and len(line) < 400
        assert html.startswith("<table><caption>") and html.endswith("</table>") and len(html) < 2000
        assert "3" in html or isinstance(value, la.Plan)


def test_a_plan_names_what_differs_from_the_default():
    made = repr(PLAN)
    assert "verify='sketch'" in made and "estimation_slots=256" in made and "documents" not in made
    assert eval(made, {"Plan": la.Plan}) == PLAN
    assert f"<td>{PLAN.recall_at_threshold:.4f}</td>" in PLAN._repr_html_()


def test_an_index(tmp_path):
    with la.Index.create(tmp_path / "a<b>.idx") as index:
        index.add(["a", "b", "c"], TEXTS)
        assert "<td>3 documents</td>" in index._repr_html_() and "a&lt;b&gt;.idx" in index._repr_html_()
    assert "<td>closed</td>" in index._repr_html_()


def test_nothing_in_facts_is_taken_for_html_or_steers():
    class Hostile(Brief):
        def _facts(self):
            return {"<b>": "<script>alert(1)</script>\x1b]0;x\x07\u202e", "long": "x" * 10_000}

    html = Hostile()._repr_html_()
    assert html_table("&", {}) == "<table><caption>&amp;</caption></table>"
    assert "<script" not in html and "<b>" not in html and "&lt;script&gt;" in html and len(html) < 1000
    assert not {"\x1b", "\u202e"} & {*html, *repr(Hostile())}
