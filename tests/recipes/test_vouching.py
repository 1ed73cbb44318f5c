"""The recall that is vouched for a job is the mean, document by document, of what the formula says of its codes."""

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from engine_rows import rows_of

import lookalike as la
from lookalike.recipes import decide
from lookalike.steps.batches import batch_of
from lookalike.steps.containment import vouch_samples
from lookalike.theory.banding import candidate_probability, crowded_recall
from lookalike.theory.containment import crowded_recall as crowded_recall_of_samples
from lookalike.values.tables import SHARED_COUNTS

PAGE = [f"word{i}" for i in range(90)]


def texts(rng, n):
    """A crowd of pages with words of their own, families among them, and some texts that resemble nothing."""
    made = [" ".join([*PAGE, *(f"own{i // 2}x{j}" for j in range(14)), f"tail{i}"]) for i in range(n)]
    made += [" ".join(f"free{i}x{j}" for j in range(40)) for i in range(9)]
    return [made[i] for i in rng.permutation(len(made))]


@pytest.fixture
def watched(monkeypatch):
    seen = []
    vouched = decide.vouched
    monkeypatch.setattr(decide, "vouched", lambda *given: seen.append((given, vouched(*given))) or seen[-1][1])
    return seen


def mean(decider, standing, settings, kept):
    method, found = settings.finder, decider.found
    bands, rows = method.n_keys, method.n_codes // method.n_keys
    codes = {row["order"]: np.frombuffer(row["code"], "<u2").tolist() for row in rows_of(found.crowded)}
    count = Counter((slot, code) for some in codes.values() for slot, code in enumerate(some))
    removed = {row["order"] for row in rows_of(standing)}
    if settings.overrides is not None:
        removed -= {row["order"] for row in rows_of(found.sketches) if row["override"] > 0}
    most = float(candidate_probability(settings.threshold, bands, rows))
    recalls = []
    for order, code in codes.items():
        if order in removed or order < found.boundary:
            continue
        shared = sorted((count[slot, c], slot) for slot, c in enumerate(code) if count[slot, c] > 1)[:16]
        budget = {slot for place, (_, slot) in enumerate(shared) if sum(n for n, _ in shared[: place + 1]) <= 384}
        own = [slot in budget or count[slot, c] == 1 for slot, c in enumerate(code)]
        crowd = [
            all(count[band * rows + i, code[band * rows + i]] > settings.max_bucket for i in range(rows))
            for band in range(bands)
        ]
        recall = crowded_recall(np.reshape(own, (1, bands, rows)), np.reshape(crowd, (1, bands)), settings.threshold)[0]
        recalls.append(min(float(recall), most) / most)
    planned = method.recall(settings.threshold)
    return planned * (sum(recalls) + kept - len(recalls)) / kept, len(recalls)


BY_HAND = [{"id": i, "action": "keep" if i % 2 else "remove"} for i in range(0, 120, 3)]


@pytest.mark.parametrize(
    "settings",
    [{}, {"threshold": 0.85, "keep": "last"}, {"verify": "sketch"}, {"recall": 0.9}, {"overrides": BY_HAND}],
    ids=["plain", "last", "estimates", "recall", "overrides"],
)
@pytest.mark.parametrize("references", [0, 40])
def test_a_mean_over_kept_documents(rng, watched, settings, references):
    made = texts(rng, 160)
    result = la.dedup(made[references:], against=made[:references] or None, max_bucket=8, **settings)
    ((given, found),) = watched
    wanted, crowded = mean(*given)
    assert found == pytest.approx(wanted, abs=1e-12) and result.summary.recall_vouched == found
    assert 0 < crowded < result.summary.kept, "kept documents, inside crowds and outside of them"
    assert found < result.summary.recall_planned


def test_without_crowds_it_is_the_plan(rng, watched):
    made = texts(rng, 30)
    for settings in ({}, {"method": "simhash", "radius": 4}):
        result = la.dedup(made, **settings)
        assert result.summary.recall_vouched == result.summary.recall_planned and result.summary.crowded == 0
    nobody = la.dedup(["", ""], empty="drop", max_bucket=2)
    assert nobody.summary.kept == 0 and nobody.summary.recall_vouched == nobody.summary.recall_planned


def test_a_document_of_one_shingle_that_tells_nothing_counts():
    rows = batch_of(SHARED_COUNTS, *(np.array(some) for some in ([3, 4], [3, 9], [1, 1], [1, 0])))
    (told,) = vouch_samples(iter([rows]), SimpleNamespace(crowded_recall=crowded_recall_of_samples(0.8, 32, 20)))
    assert [column.to_pylist() for column in told.columns] == [[3], [0.0]]
