"""What is different between two results: held against dictionaries of their decisions."""

import random
from contextlib import closing

import pytest

import lookalike as la


def wanted(before, now):
    """The same, by a plain program."""
    found = []
    sides = [{row["id"]: row for row in one.decisions.to_pylist() if row["reason"] != "reference"} for one in (before, now)]
    old, new = sides
    for id in [*new, *(id for id in old if id not in new)]:
        was, stays = old.get(id), new.get(id)
        if was is None or stays is None:
            change = "came" if was is None else "went"
        elif was["kept"] != stays["kept"]:
            change = "removed" if was["kept"] else "restored"
        elif was["duplicate_of"] != stays["duplicate_of"]:
            change = "moved"
        else:
            continue
        values = [None if side is None else side[name] for name in ("kept", "duplicate_of") for side in (was, stays)]
        found.append((id, change, *values))
    return found


def result(draw, names, **given):
    texts = [" ".join(draw.choices("abc", k=5)) for _ in range(30)]
    ids = draw.sample(names, 30)
    return closing(la.dedup(dict(zip(ids, texts, strict=True)), width=2, threads=1, **given))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["str", "int", "both"])
def test_changes(seed, kind, tmp_path):
    draw = random.Random(seed)
    names = {"str": [f"d{i}" for i in range(40)], "int": range(40)}.get(kind)
    both = [names or range(40), names or [str(i) for i in range(40)]]
    more = {"against": ["a b c a b"], "empty": "drop"} if seed % 2 else {}
    with result(draw, both[0], threshold=0.5) as before, result(draw, both[1], threshold=0.7, **more) as now:
        found = [tuple(row.values()) for row in la.changes(before, now).to_pylist()]
        before.save(tmp_path / "before")
        saved = la.Result.open(tmp_path / "before")
        assert la.changes(saved, now).equals(la.changes(before, now))
        assert not len(la.changes(saved, before))
        if kind != "both":
            assert found == wanted(before, now)
            assert len({row[1] for row in found}) == 5
        else:
            assert {row[0] for row in found} <= set(both[1])
