import contextlib
import os
import random
import shutil
from itertools import product

from arena import LostError
from cases import Case, remains, whole
from jobs import write_inputs

import lookalike as la
from lookalike.files import workspace
from lookalike.files.publication import JOURNAL

OUTPUTS = ("out/0", "out/1.jsonl", "out/2.parquet", "out/3.csv.gz", "other/4", "out/5.jsonl")
HOW = la.Settings(id="id", threads=1, counts=True)


class Weeks(Case):
    """After each kill the folder is opened, as any command does: by then the weeks that are done have their outputs and their
    generations, the others have neither, and nothing else is there. The progress counts the weeks, and their merging.
    """

    rounds = 8

    def __init__(self, folder, n_weeks=6):
        workspace.new_secret = lambda: b"known to a test."  # so that two runs save the same bytes
        self.outputs, source, root = OUTPUTS[:n_weeks], folder / "weeks", folder / "undisturbed"
        for made in (source, root):
            made.mkdir()
        texts = [line for name in write_inputs(source) for line in open(name)]
        random.Random(3).shuffle(texts)
        self.inputs = [str(source / str(week)) for week in range(len(self.outputs))]
        for week, part in product(range(len(self.outputs)), range(2)):
            path = source / str(week) / f"{part}.jsonl"
            path.parent.mkdir(exist_ok=True)
            path.write_text("".join(texts[2 * week + part :: 2 * len(self.outputs)]))
        self.wanted = []
        with contextlib.chdir(folder):
            for done in range(len(self.outputs) + 2):
                self.wanted.append(self._state(root))
                self._step(root, done)
        shutil.rmtree(root)

    def _step(self, root, done):
        os.chdir(root)
        with la.History("history") as history:
            if done < len(self.outputs):
                result = history.add(self.inputs[done], self.outputs[done], HOW)
                if result is not None:
                    result.close()
            elif done == len(self.outputs):
                history.compact()

    @staticmethod
    def _state(root):
        return {name: data for name, data in whole(root).items() if not name.endswith("_lock")}

    def act(self, root, progress, say):
        """What is done stays as it is."""
        for done in range(progress and progress - 1, len(self.outputs) + 1):
            self._step(root, done)
            if done >= progress:
                say(b".")

    def judge(self, root, progress, ended):
        least = progress + len(ended.heard)
        if ended.code == 3:
            raise LostError(f"refused: {ended.last}")
        os.chdir(root)
        if (root / "history").exists():
            la.History("history").close()
        found = self._state(root)
        done = [step for step in range(least, len(self.wanted)) if found == self.wanted[step]]
        if not done or done[0] > least + 1 or remains(root) or (root / "history" / JOURNAL).exists():
            near = self.wanted[least]
            differing = sorted(name for name in {*found, *near} if found.get(name) != near.get(name))
            raise LostError(f"after {least} steps others are there: {differing[:5]}, left: {remains(root)[:5]}")
        return done[0]

    def finish(self, root, progress):
        self.act(root, progress, len)
        self.act(root, 0, len) if progress % 2 else None
        if self._state(root) != self.wanted[-1] or remains(root):
            raise LostError(f"the weeks that go on end otherwise, or leave {remains(root)}")
