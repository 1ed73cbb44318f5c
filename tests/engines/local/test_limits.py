"""What is made by a limit of memory is made anew when that has shrunk, and at no other time."""

import numpy as np
import pytest
from engines.local.stored_rows import local_engine
from raising import assert_raises

import lookalike as la
from lookalike.engines.local.engine import DECIDED, LIMITS
from lookalike.engines.memory import FLOOR
from lookalike.files.workspace import Workspace

MADE = [*(f"{name}-at-0.9-000000" for name in DECIDED), *(f"{name}-done" for name in DECIDED), "matches-slice-3-9-000000",
        "matches-of-all-000001", "paired-000000", "texts-000000", "texts-done"]  # fmt: skip
LASTING = ["sketches-000000", "sketches-done", "leaders-000000", "links-000000", "pairs-000000", "pairs-done", "standing-000000",
           "extracted-000000"]  # fmt: skip


def opened(folder, partition, made=()):
    """With the memory of which one thread has such a partition."""
    engine = local_engine(folder / "work", FLOOR + 12 * (partition << 20))
    for name in made:
        engine.workspace.put(name, {"x": np.arange(3)})
    return engine


def parts(folder):
    return {path.stem for path in (folder / "work").glob("*.part")}


@pytest.mark.parametrize("openings", [
    [(30, 30, True), (15, 30, True)], [(30, 30, True), (16, 30, True)], [(30, 30, True), (32, 30, True)],
    [(30, 30, True), (14, 14, False), (30, 14, True)],
], ids=str)  # fmt: skip
def test_a_smaller_limit_takes_with_it_what_it_made(tmp_path, openings):
    """Not up to half of it, nor where it grows, nor at the first opening; of each the partition, the limit, and whether that stays."""
    for partition, limit, stays in openings:
        engine = opened(tmp_path, partition, MADE + LASTING)
        assert [engine._limits()[0] for _ in range(2)] == [limit << 20] * 2
        assert parts(tmp_path) == {*LASTING, LIMITS, *(MADE if stays else ())}
        del engine


def test_a_crash_while_parts_are_discarded_leaves_the_old_limit(tmp_path, monkeypatch):
    """So that the next opening discards the rest."""
    opened(tmp_path, 30, MADE + LASTING)._limits()
    engine = opened(tmp_path, 8)
    discard, stems = engine.workspace.discard, []

    def failing(stem):
        stems.append(stem)
        if len(stems) == 4:
            raise KeyboardInterrupt
        discard(stem)

    monkeypatch.setattr(engine.workspace, "discard", failing)
    assert_raises(KeyboardInterrupt, "", engine._limits)
    assert LIMITS in parts(tmp_path) and LIMITS not in stems
    engine.workspace._unlock()
    assert opened(tmp_path, 8)._limits()[0] == 8 << 20 and parts(tmp_path) == {*LASTING, LIMITS}


@pytest.fixture
def files(tmp_path):
    """The largest family does not fit every limit."""
    rng, lines = np.random.default_rng(4), []
    for family, members in enumerate([40, 12, 5, 3, 3, 2]):
        for member in range(members):
            words = [f"f{family}w{i}" for i in range(80)]
            words[79 if member % 2 else rng.integers(79)] = f"n{rng.integers(10**6)}"  # of the last shingle, or of up to five
            lines.append(" ".join(words))
    (tmp_path / "in.csv").write_text("\n".join(["text", *rng.permutation(lines), ""]))
    return tmp_path / "in.csv"


@pytest.mark.parametrize(
    ("evidence", "second", "anew"),
    [("keepers", 9_000, False), ("keepers", 40_000, False), ("keepers", 2_000, True), ("all", 2_000, True)],
)
def test_a_resumed_job_makes_anew_what_rests_on_a_limit_that_is_gone(files, tmp_path, monkeypatch, second, anew, evidence):
    """Whichever components fit the first time and the second."""
    whole = la.dedup(files, evidence=evidence)
    limit, written = [0], []
    put = Workspace.put
    monkeypatch.setattr("lookalike.engines.memory.Memory.partition", lambda self, threads: limit[0])
    monkeypatch.setattr(Workspace, "put", lambda self, name, arrays: written.append(name) or put(self, name, arrays))
    settings = {"work": tmp_path / "work", "evidence": evidence}
    made = "matches-of-all-000000" if evidence == "all" else "matches-000000"
    for limit[0], again in ((16_000, True), (second, anew)):
        written.clear()
        found = la.dedup(files, **settings)
        assert found.decisions.equals(whole.decisions) and found.pairs.equals(whole.pairs)
        assert found.summary.verified_pairs == whole.summary.verified_pairs
        assert ({made, "limits"} <= set(written)) is again
        once = {"pairs-000000", "sketches-000000", "links-000000", "leaders-000000"}
        assert once & set(written) == (once if limit[0] == 16_000 else set())
        del found


@pytest.mark.parametrize("held", ["before", "after"])
def test_a_rethreshold_after_a_spill_loses_no_matches(files, monkeypatch, held):
    """Neither those of the first result, which are not read before, nor those of an earlier one at the same threshold."""
    memory = [1 << 40]
    monkeypatch.setattr("lookalike.engines.memory.Memory.table_budget", property(lambda self: memory[0]))
    monkeypatch.setattr("lookalike.engines.memory.Memory.partition", lambda self, threads: 2_000)
    expected = la.dedup(files, threshold=0.7)
    wanted = [(r.decisions, r.pairs, r.summary.verified_pairs) for r in (expected, expected.rethreshold(0.95))]
    assert len(wanted[0][1]) > len(wanted[1][1]) > 0
    result = la.dedup(files, threshold=0.7)
    results = [result, result.rethreshold(0.95)] if held == "after" else [result]
    assert not result._job.engine.workspace.on_disk
    memory[0] = 100
    results += [result.rethreshold(0.8), result.rethreshold(0.95)]
    assert result._job.engine.workspace.on_disk
    for found in results:
        if found.threshold != 0.8:
            decisions, pairs, verified = wanted[found.threshold == 0.95]
            assert found.decisions.equals(decisions) and found.pairs.equals(pairs), found
            assert found.summary.verified_pairs == verified
    result.close()
