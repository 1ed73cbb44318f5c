"""Components that are too large for the memory are sifted block by block."""

import random

import pytest
from engine_kinds import Slices
from samples import one_in

import lookalike as la
from lookalike.engines.local import slices as local_slices
from lookalike.engines.local.engine import LocalEngine


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """All are candidates, and few are near-duplicates."""
    rng = random.Random(4)
    common = [f"c{i}" for i in range(60)]
    out = []
    for i in range(150):
        own = [f"o{i}w{j}" for j in range(25)]
        if i % 10 == 9:
            own = out[-3].split()[:25]
            own[rng.randrange(25)] = f"x{i}"
        out.append(" ".join([*own, *common]))
    rng.shuffle(out)
    path = tmp_path_factory.mktemp("texts") / "pages.csv"
    path.write_text("\n".join(["text", *out]))
    return path


SETTINGS = {"threshold": 0.75, "bands": 12, "rows": 2, "max_bucket": 400}


@pytest.mark.parametrize(
    ("keep", "threads", "block"), one_in(4, [("longest", 2, 4000), ("first", 1, None), ("last", 2, None), ("first", 1, 4000)])
)
def test_sifting_changes_no_decision(texts, monkeypatch, tmp_path, keep, threads, block):
    whole = la.dedup(texts, keep=keep, **SETTINGS)
    assert 5 < whole.summary.near_duplicates < 40
    listed = la.pairs(texts, **SETTINGS)
    stored, store = [], LocalEngine.materialize
    monkeypatch.setattr("lookalike.recipes.preparation.LocalEngine", Slices)
    monkeypatch.setattr("lookalike.engines.memory.Memory.slice", lambda self, threads: 6000)
    monkeypatch.setattr(LocalEngine, "materialize", lambda self, rows, name: stored.append(name) or store(self, rows, name))
    if block is not None:
        monkeypatch.setattr("lookalike.engines.memory.Memory.table_budget", property(lambda self: 3 * block))
        monkeypatch.setattr("lookalike.engines.memory.Memory.sort_budget", property(lambda self: block))
        monkeypatch.setattr(local_slices, "PIECE", 2000)
        monkeypatch.setattr(local_slices, "TOGETHER", 7)
    found = la.dedup(texts, keep=keep, threads=threads, work=tmp_path / "work", **SETTINGS)
    assert any(name.startswith("sifted") for name in stored)
    assert found.decisions.equals(whole.decisions) and found.pairs.equals(whole.pairs)
    assert not list((tmp_path / "work").glob(f"{local_slices.BLOCKS}*")), "they are gone once all is sifted"
    assert found.rethreshold(0.85).decisions.equals(whole.rethreshold(0.85).decisions)
    found.close()
    assert la.pairs(texts, threads=threads, **SETTINGS).equals(listed) and "sifted" in stored, "all pairs, too"
