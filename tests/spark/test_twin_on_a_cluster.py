from functools import partial

import pytest
from engine_kinds import spark_engine
from naive.crowds import Rule
from recipes.test_twin import TEXTS, compare

import lookalike as la

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.mark.parametrize(("keep", "texts"), [("first", [*TEXTS, *TEXTS[:50]]), ("last", TEXTS[3:])], ids=["first", "last"])
def test_decisions_of_every_kind(keep, texts, cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(la, "dedup", partial(la.dedup, engine=spark_engine(tmp_path)))
    found = compare(texts, 30, Rule(6), threshold=0.5, keep=keep, seed=1, banding=(8, 1))
    assert {"reference", "kept", "near"} <= {decision.reason for decision in found}
