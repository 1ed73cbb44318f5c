"""Limits are so small that a job takes all ways of a large one."""

import random

import numpy as np
from arena import LostError, RefusedError
from cases import Case, remains
from corpora import planted
from json_lines import write_lines

import lookalike as la
from lookalike.engines import memory as memory_module
from lookalike.engines.local import engine as local
from lookalike.engines.local import tables as local_tables

SETTINGS = (
    {"keep": "first"},
    {"keep": "largest:score", "annotate": True},
    {"keep": "longest", "within": "group"},
    {"keep": "last", "against": True},
    {"keep": "shortest", "verify": "sketch"},
    {"keep": "smallest:score", "evidence": "all", "threshold": 0.6},
    {"keep": "first", "method": "simhash"},
    {"keep": "last", "empty": "drop", "unit": "char", "annotate": True, "against": True},
)


def write_inputs(folder):
    draw = np.random.default_rng(7)
    texts = planted(draw, n_families=70, members=3, lengths=(5, 200))
    texts += ["the same words in every page " * 4 + f"and page number {i % 40}" for i in range(60)] + ["", texts[0]]
    draw.shuffle(texts)
    names = []
    for name, some in (("a", texts[::2]), ("b", texts[1::2]), ("old", texts[::9])):
        rows = ({"id": f"{name}{i}", "text": t, "score": i % 7, "group": i % 3} for i, t in enumerate(some))
        names.append(str(write_lines(folder / f"{name}.jsonl", rows)))
    return names


class Job(Case):
    rounds = 4

    def __init__(self, inputs, settings, folder):
        *self.inputs, old = inputs
        self.settings = {"id": "id", **settings} | ({"against": old} if "against" in settings else {})
        self.annotate = self.settings.get("annotate", False)
        result = la.dedup(self.inputs, threads=1, **self.settings)
        assert result.summary.near_duplicates > 10
        result.write(folder / "wanted.jsonl", annotate=self.annotate, force=True)
        result.close()
        self.wanted = (folder / "wanted.jsonl").read_bytes()

    def prepare(self, root):
        (root / "out").mkdir()
        self.draw = random.Random(len(self.wanted))
        self.draw_limits(self.draw)

    def draw_limits(self, draw):
        self.draw = draw
        self.running = {"threads": draw.choice([1, 2]), "memory": draw.choice([None, None, "500MB", "2GB"])}
        part, size = draw.choice([(2_000, 1_000), (8_000, 4_000), (40_000, 20_000)]), draw.choice([4_000, 20_000, 1 << 25])
        self.limits = *part, 3 * size, size

    def act(self, root, progress, say):
        local_tables.PART_BYTES, local.SPILL_BYTES, slice, partition = self.limits
        memory_module.Memory.slice = lambda memory, threads: slice
        memory_module.Memory.partition = lambda memory, threads: partition
        result = la.dedup(self.inputs, work=root / "work", **self.settings, **self.running)
        result.write(root / "out" / "o.jsonl", annotate=self.annotate, force=True)
        say(b".")
        result.close()

    def judge(self, root, progress, ended):
        path = root / "out" / "o.jsonl"
        found = path.read_bytes() if path.exists() else None
        if found != self.wanted and (found is not None or ended.heard):
            raise LostError(f"the output is {'gone' if found is None else 'another one'}")
        if ended.code == 3:
            self._refused(ended.last)
        return int(found is not None)

    @staticmethod
    def _refused(message):
        if "start again" not in message and "name another" not in message and "another work folder" not in message:
            raise LostError(f"an error that does not say what to do: {message}")
        raise RefusedError(message)

    def finish(self, root, progress):
        try:
            self.act(root, progress, len)
        except la.LookalikeError as error:
            self._refused(f"{type(error).__name__}: {error}")
        if (root / "out" / "o.jsonl").read_bytes() != self.wanted:
            raise LostError("the resumed job gives other bytes")
        work = root / "work"
        left = [p.name for p in work.iterdir()] if work.exists() else []
        if left or remains(root):
            raise LostError(f"files stay: {(left + remains(root))[:5]}")
