"""Kills jobs and changes of indexes at random moments, and cuts their power, and asks what is there afterwards.

``kills.py --kills 1000``: so many, of which 40 % are losses of power; the last is played by ``power.c``, which is preloaded, and
``disk``. Prints a line per kind of case, and what was lost, each with the seed of its case; exits with 1 if anything was.
"""

import argparse
import json
import random
import sys
import tempfile
from collections import Counter
from functools import partial
from itertools import count
from pathlib import Path

import arena
import jobs
import sabotage
from arena import EXCUSED, LOST, REFUSED, Arena, LostError
from cases import Lasting, Output, Prints, sketches, written
from weeks import Weeks

import lookalike as la

SAY = 100  # kills, after which it says how many there were
POWER = 0.4  # share of kills that lose the power
SHARES = {"job": 0.35, "output": 0.25, "index": 0.3, "fingerprints": 0.07, "sketches": 0.03, "weeks": 0.2}
OUTPUTS = ("o.jsonl", "o.jsonl.gz", "o.jsonl.zst", "o.parquet", "o.csv", "folder", "deep/er/folder", "deep/er/o.jsonl")
INDEXES = (  # kind, whether texts are kept, additions that are there before
    ("minhash", False, 0),
    ("minhash", False, 9),
    ("minhash", True, 4),
    ("simhash", False, 9),
    ("simhash", True, 0),
)


def make_cases(folder, kinds):
    """What cases need is made in this process, so that its children have it warm."""
    inputs = jobs.write_inputs(folder)
    made = {
        "job": lambda: [jobs.Job(inputs, settings, folder) for settings in jobs.SETTINGS],
        "output": lambda: outputs(inputs),
        "index": lambda: [Lasting(*settings, seed) for seed, settings in enumerate(INDEXES)],
        "fingerprints": lambda: [Prints(there) for there in (0, 1, 5)],
        "sketches": lambda: [sketches()],
        "weeks": lambda: [Weeks(folder)],
    }
    return {kind: made[kind]() for kind in kinds}


def outputs(inputs):
    result = la.dedup(inputs[:2], threads=1, id="id")
    older = la.dedup(inputs[:2], threads=1, id="id", threshold=0.5, keep="last")
    ways = [partial(written, annotate=annotate) for annotate in (False, True)]
    found = [Output(result, old, name, way) for name in OUTPUTS for old in (None, older) for way in ways]
    return found + [Output(result, old, "saved", la.Result.save, la.Result.load) for old in (None, older)]


class Killing:
    def __init__(self, folder, kinds):
        self.kinds, self.made, self.place = kinds, make_cases(folder, kinds), Arena(folder / "arena")
        self.sizes = {}

    def size(self, case):
        """(calls, seconds) of a case that nobody disturbs."""
        if case not in self.sizes:
            self.place.clear()
            case.prepare(self.place.root)
            ended, _ = self.place.run(partial(case.act, self.place.root, 0))
            if ended.code:
                raise RuntimeError(f"an undisturbed run fails: {ended.last}")
            self.sizes[case] = ended.calls, ended.seconds
        return self.sizes[case]

    def _judged(self, counts, strict, act, *given):
        """Run a check in a child, as what it reads may be damaged beyond what Python survives; None if it was excused."""
        ended, _ = self.place.run(lambda say: str(act(self.place.root, *given)))
        if ended.code in (LOST, REFUSED):
            raise LostError(ended.last if ended.code == LOST else f"cannot be read afterwards: {ended.last}")
        if ended.code != EXCUSED:
            return ended.last
        if strict and not counts["power cuts"]:
            raise LostError(f"refused after a kill: {ended.last}")
        counts.update(["refused", "refused: " + ended.last.replace(str(self.place.root), "")[-110:]])
        return None

    def trial(self, case, draw, counts):
        (calls, seconds), place, progress = self.size(case), self.place, 0
        place.clear()
        case.prepare(place.root)
        for _ in range(draw.randint(1, case.rounds)):
            case.draw_limits(draw)
            power, lot = draw.random() < POWER, draw.random()
            moment = {"call": draw.randint(1, calls)} if lot < 0.6 else {"seconds": draw.uniform(0.001, seconds * 1.1)}
            if power and lot < 0.1:  # the power may be lost after all was done and acknowledged, too
                moment = {}
            ended, disk = place.run(partial(case.act, place.root, progress), power=power, **moment)
            counts["acknowledged"] += ended.heard.count(b".")
            if power and ended.code != REFUSED:
                counts.update([disk.lose_power(draw), "power cuts"])
            elif ended.code < 0:
                counts["kills"] += 1
            found = self._judged(counts, case.strict, case.judge, progress, ended)
            if found is None:
                return
            progress = int(found)
            if ended.code == 0:
                break
        self._judged(counts, case.strict, case.finish, progress)

    def one(self, seed):
        draw, counts = random.Random(seed), Counter(cases=1)
        kind = draw.choices(self.kinds, [SHARES[kind] for kind in self.kinds])[0]
        try:
            self.trial(draw.choice(self.made[kind]), draw, counts)
        except LostError as error:
            print(f"LOST: {kind}, --only {seed}: {error}", flush=True)
            counts["lost"] = 1
        return kind, counts

    def work(self, seeds, wanted, until_lost):
        by_kind, done = {}, 0
        for seed in seeds:
            kind, counts = self.one(seed)
            by_kind.setdefault(kind, Counter()).update(counts)
            before, done = done, done + counts["kills"] + counts["power cuts"]
            if done // SAY > before // SAY:
                print(f"{done:,} kills", flush=True)
            if done >= wanted or (until_lost and counts["lost"]):
                break
        return by_kind


def report(by_kind):
    shown = ("cases", "kills", "power cuts", "acknowledged", "refused", "lost")
    total = Counter()
    for kind, counts in sorted(by_kind.items()):
        print(f"{kind:13} " + ", ".join(f"{name} {counts[name]:,}" for name in shown))
        total += counts
    for name in sorted(total):
        if name.startswith(("refused:", "names")):
            print(f"  {name} {total[name]:,}")
    print(f"{total['lost']} cases lost something" if total["lost"] else "nothing was lost", flush=True)
    return total["lost"]


def main(*arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="of the first case")
    parser.add_argument("--only", type=int, default=None, help="run the case of this seed alone")
    parser.add_argument("--kind", choices=sorted(SHARES), action="append")
    parser.add_argument("--json", type=Path, default=None, help="write the counts to this file")
    parser.add_argument("--until-lost", action="store_true", help="end with the first case that loses something")
    parser.add_argument("--sabotage", choices=sorted(sabotage.WAYS), help="break the program; kills are to show it")
    given = parser.parse_args(arguments)
    if given.sabotage:
        sabotage.WAYS[given.sabotage]()
    with tempfile.TemporaryDirectory(prefix="lookalike-kills-") as name:
        killing = Killing(Path(name), given.kind or sorted(SHARES))
        seeds = count(given.seed) if given.only is None else [given.only]
        by_kind = killing.work(seeds, given.kills, given.until_lost)
    if given.json:
        given.json.write_text(json.dumps(by_kind))
    sys.exit(1 if report(by_kind) else 0)


if __name__ == "__main__":
    arena.with_preloaded(main, sys.argv[1:], Path(__file__), [Path(__file__).with_name("power.c")])
