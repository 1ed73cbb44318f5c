"""Threads, memory and the sizes of batches change nothing."""

import random

import pyarrow as pa
import pytest
from engine_kinds import spill
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike.engines.local import bundles as local_bundles
from lookalike.engines.local import documents as local_documents
from lookalike.engines.local import sort as local_sort
from lookalike.engines.local import tables as local_tables
from lookalike.steps import batches as pieces
from lookalike.steps import pairs

WORDS = [f"w{i}" for i in range(12)]


def texts_of(seed):
    """Families of near-duplicates, copies and empties."""
    rng = random.Random(seed)
    texts = ["", "", "..."]
    for _ in range(rng.randrange(1, 9)):
        base = rng.choices(WORDS, k=rng.randrange(1, 14))
        for _ in range(rng.randrange(1, 9)):
            base[rng.randrange(len(base))] = rng.choice(WORDS)
            texts += [" ".join(base)] * rng.choice([1, 1, 2])
    rng.shuffle(texts)
    return texts


def said(table, references, chosen, **more):
    """Decisions, pairs and counts."""
    against = table.slice(0, references) if references else None
    result = la.dedup(table.slice(references), against=against, width=1, **chosen, **more)
    told = result.decisions, result.pairs, result.summary.candidate_pairs, result.summary.recall_vouched
    result.close()
    return told


sizes = st.fixed_dictionaries({
    (local_documents, "PIECE_BYTES"): st.integers(40, 500), (local_tables, "ROWS"): st.integers(5, 50),
    (local_sort, "MEMBERS"): st.integers(3, 50), (local_bundles, "GROUP_BYTES"): st.integers(1, 400),
    (local_tables, "PART_BYTES"): st.integers(500, 9000), (pieces, "PIECE_WEIGHT"): st.integers(1, 900),
    (pairs, "AT_A_TIME"): st.integers(1, 40),
})  # fmt: skip
jobs = st.fixed_dictionaries({
    "threshold": st.sampled_from([0.4, 0.7, 0.9]), "keep": st.sampled_from(["first", "longest", "smallest:v"]),
    "evidence": st.sampled_from(["keepers", "all"]), "verify": st.sampled_from(["exact", "sketch"]),
    "within": st.sampled_from([None, "g"]), "max_bucket": st.integers(2, 9), "empty": st.sampled_from(["keep", "drop"]),
}) | st.fixed_dictionaries({"method": st.just("simhash"), "radius": st.integers(0, 16), "max_bucket": st.integers(2, 9)})  # fmt: skip


@settings(max_examples=15, phases=[Phase.explicit, Phase.generate])
@given(st.integers(0, 99), st.integers(0, 9), jobs, sizes, st.integers(1, 3), st.booleans(), st.booleans())
def test_nothing_changes(seed, references, chosen, cut, threads, little, by_hand):
    texts = texts_of(seed)
    rng = random.Random(seed)
    table = pa.table({"text": texts, "v": rng.choices([None, 1, 5], k=len(texts)), "g": rng.choices("ab", k=len(texts))})
    if by_hand:
        rows = range(len(texts) - min(references, len(texts) - 1))
        chosen |= {"overrides": [{"id": i, "action": rng.choice(["keep", "remove"])} for i in rows if rng.random() < 0.3]}
    expected = said(table, min(references, len(texts) - 1), chosen, threads=1)
    with pytest.MonkeyPatch.context() as patch:
        for (module, name), size in cut.items():
            assert hasattr(module, name), name
            patch.setattr(module, name, size)
        if little:
            spill(patch)
        found = said(table, min(references, len(texts) - 1), chosen, threads=threads)
    assert found[2:] == expected[2:]
    assert found[0].equals(expected[0]) and found[1].equals(expected[1])
