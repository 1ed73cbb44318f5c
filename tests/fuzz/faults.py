"""Lets the n-th read, write, sync, rename, removal, new file or folder fail, for every n, and asks what is there afterwards.

``faults.py MOST [NAME ...]``: runs itself again with ``faults.c`` preloaded, and lets at most so many calls of each case fail.
The cases are those of ``tests/endurance``: what was acknowledged is there, else the state is the one before or the one wanted,
whole; and what goes on without failures leads to that one.
"""

import errno
import gc
import shutil
import sys
import tempfile
from functools import partial
from itertools import product
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1] / "endurance")]
import arena  # noqa: E402
import cases  # noqa: E402
import jobs  # noqa: E402
from weeks import Weeks  # noqa: E402

import lookalike as la  # noqa: E402

ERRORS = (errno.ENOSPC, errno.EIO)
INDEXES = {"add": (2, 0), "add that merges": (10, 2), "remove": (9, 2), "replace": (3, 6), "compact": (9, 12)}
"""(Additions before, the seed of which the next change is one of that name)."""


class Reading(cases.Output):
    def __init__(self, source, name):
        super().__init__(None, None, "out.jsonl")
        self.source, self.input = source, name

    def _write(self, result, root, force):
        cases.written(la.dedup(root / self.input, threads=1, id="id"), root / self.name, force)

    def given(self, root):
        if self.input == "in":
            shutil.copytree(self.source, root / "in")
        else:
            cases.written(la.dedup(self.source, threads=1, id="id", threshold=1.0), root / self.input, True)


class Asking(cases.Lasting):
    def act(self, root, progress, say):
        state = self._state(self.segments)
        with la.Index.open(root / "index", "read") as index:
            asked, found, problems = self._asked(index, state), self._ids(index), index.check()
        if asked != sorted(state) or (found != asked and not problems):
            raise arena.LostError(f"found are {asked}, exported {found}, and check says {problems}")

    def finish(self, root, progress):
        self.act(root, progress, len)


def made(folder):
    inputs = jobs.write_inputs(folder)[:2]
    source = folder / "source"
    source.mkdir()
    for name in inputs:
        shutil.copy(name, source)
    result, older = (la.dedup(source, threads=1, id="id", **how) for how in ({}, {"threshold": 0.5, "keep": "last"}))
    found = {f"index {name}": cases.Lasting("minhash", False, n, seed, n + 1) for name, (n, seed) in INDEXES.items()}
    assert all(name.split()[1] == case.changes[-1][0] for name, case in found.items())
    found |= {
        "index asked": Asking("minhash", True, 3, 0, 3),
        "work": jobs.Job([*inputs, None], {}, folder),
        "fingerprints": cases.Prints(0, 1),
        "sketch": cases.sketches(),
        "saved result": cases.Output(result, None, "saved", la.Result.save, la.Result.load),
        "history": Weeks(folder, 2),
        "output annotated": cases.Output(result, None, "o.jsonl", partial(cases.written, annotate=True)),
    }
    found |= {f"input {name}": Reading(source, name) for name in ("in", "i.jsonl.zst", "i.csv.gz", "i.parquet")}
    for name in ("o.jsonl", "o.jsonl.gz", "o.jsonl.zst", "o.parquet", "o.csv", "folder"):
        found[f"output {name}"] = cases.Output(result, None, name)
    for name in ("o.jsonl", "folder"):
        found[f"output {name} over an older one"] = cases.Output(result, older, name)
    return found


def attempt(case, root, n, error, sticky, say):
    heard, refused = bytearray(), False
    arena.LIBRARY.fault_arm(str(root).encode(), n, error, sticky)
    try:
        case.act(root, 0, heard.extend)
    except la.LookalikeError:
        refused = True
    gc.collect()  # finalizers of what failed run while calls still fail
    calls = arena.LIBRARY.fault_count()
    arena.LIBRARY.fault_arm(None, 0, 0, 0)
    left = [str(path.relative_to(root)) for path in root.rglob("*.tmp")] if refused and not sticky else []
    if left:
        raise arena.LostError(f"left behind: {left}")
    progress = case.judge(root, 0, arena.Ended(-9 if refused else 0, bytes(heard)))
    case.finish(root, int(progress or 0))
    return str(calls)


def run(place, name, case, most):
    """Fail ``most`` of all calls, spread evenly; return the defects."""
    defects = {}

    def once(n, error, sticky):
        place.clear()
        case.prepare(place.root)
        try:
            ended, _ = place.run(partial(attempt, case, place.root, n, error, sticky))
            wrong = ended.last if ended.code else ""
        except arena.LostError as lost:
            ended, wrong = None, str(lost)
        if wrong:
            defects.setdefault(wrong, []).append((n, errno.errorcode.get(error), sticky))
        return ended

    total = int(once(0, 0, 0).last)
    chosen = [*product(range(1, total + 1), ERRORS, (0, 1))]
    chosen = chosen[:: -(-len(chosen) // most)]
    for one in chosen:
        once(*one)
    print(f"{name}: {total} calls, {len(chosen)} failures, {sum(map(len, defects.values()))} defects", flush=True)
    return [f"{name}: {wrong} ({len(at)} times, first at {at[0]})" for wrong, at in defects.items()]


def main(most, *names):
    with tempfile.TemporaryDirectory(prefix="lookalike-faults-") as name:
        folder = Path(name)
        found = [(name, case) for name, case in made(folder).items() if not names or name.startswith(names)]
        defects = [wrong for name, case in found for wrong in run(arena.Arena(folder / "arena"), name, case, int(most))]
    print("\n".join(defects) or "no defects")
    sys.exit(bool(defects))


if __name__ == "__main__":
    here = Path(__file__)
    arena.with_preloaded(
        main, sys.argv[1:] or ["1000"], here, [here.with_suffix(".c"), Path(arena.__file__).with_name("power.c")]
    )
