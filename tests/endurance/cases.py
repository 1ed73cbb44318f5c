import json
import random
import shutil
from contextlib import suppress

import numpy as np
from arena import LostError, RefusedError

import lookalike as la

WORDS = [f"word{i}" for i in range(400)]


def text_of(number):
    draw = random.Random(number)
    return " ".join([f"n{number}", *draw.choices(WORDS, k=25)])


def whole(folder):
    """All files but locks and what a killed run leaves until the next."""
    hidden = [p for p in folder.rglob(".*") if p.name.endswith((".tmp", ".old"))]
    found = sorted(p for p in folder.rglob("*") if p.is_file() and p.name != "lock")
    return {str(p.relative_to(folder)): p.read_bytes() for p in found if not any(p.is_relative_to(h) for h in hidden)}


def remains(folder):
    """What a killed run may leave, and the next one removes."""
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.name.endswith((".tmp", ".old")))


class Case:
    """``progress`` is how far a case is: a number that ``judge`` finds out after each kill.

    ``prepare(root)`` makes the state before; ``act(root, progress, say)`` goes on from there, in a child that is killed;
    ``judge(root, progress, ended)`` raises LostError, or returns the progress by now; ``finish(root, progress)`` goes on to the
    end, undisturbed, and raises LostError if that is not as if nothing had happened. All but ``prepare`` run in children.
    """

    rounds = 1
    """How often the same state is killed, at most."""
    strict = True
    """Whether it has to go on after a kill; after a loss of power it may be refused, too."""

    def prepare(self, root):
        pass

    def draw_limits(self, draw):
        pass


def written(result, path, force, **how):
    result.write(path, force=force, **how)


class Output(Case):
    """A result written to a name, perhaps over an older one; ``read`` is to read all that is there."""

    def __init__(self, result, older, name, write=written, read=None):
        self.result, self.older, self.name, self.write, self.read = result, older, name, write, read

    def _write(self, result, root, force):
        self.write(result, root / self.name, force=force)

    def _state(self, root):
        """What is beside the output comes after it. Times and sizes that the description tells are no part of it."""
        found = {name: data for name, data in whole(root).items() if name.startswith(self.name)}
        return {name: data for name, data in found.items() if not name.endswith(("_lookalike.json", "result.json"))}

    def given(self, root):
        pass

    def prepare(self, root):
        self.given(root)
        self._write(self.result, root, False)
        self.wanted = self._state(root)
        shutil.rmtree(root)
        root.mkdir()
        self.given(root)
        if self.older is not None:
            self._write(self.older, root, False)
        self.before = self._state(root)
        assert self.wanted and self.wanted != self.before

    def act(self, root, progress, say):
        self._write(self.result, root, self.older is not None)
        say(b".")

    def judge(self, root, progress, ended):
        """The older one is there, or the new one: the new one for sure once it was acknowledged."""
        found = self._state(root)
        for path in root.rglob("*_lookalike.json"):
            if not any(part.startswith(".") for part in path.relative_to(root).parts):
                json.loads(path.read_bytes())
        if found and self.read:
            self.read(root / self.name)
        if found == self.wanted:
            return 1
        # Between two renamings neither is there; the next run puts the older one back, which `finish` holds against this.
        old = found == self.before or (self.older is not None and not found and [*root.rglob(".*.old")])
        if not old or ended.heard:
            raise LostError(f"{self.name}: {'not the new' if old else 'neither the old nor the new'} output: {sorted(found)}")
        return 0

    def finish(self, root, progress):
        """Where neither has the name, a run that is refused puts the old one back; another one writes the new one."""
        if not self._state(root) and self.older is not None:
            with suppress(la.errors.OutputError):
                self._write(self.result, root, False)
            if self._state(root) != self.before:
                raise LostError(f"{self.name}: the older output is not put back")
        self._write(self.result, root, True)
        if self._state(root) != self.wanted or remains(root):
            raise LostError(f"{self.name}: the next run does not mend it, or leaves {remains(root)}")


def sketches():
    texts = la.shingle([text_of(i) for i in range(300)])
    new, old = (la.sketches.FastSimilarity(permutations=64, seed=seed).sign(texts) for seed in (1, 2))
    return Output(new, old, "x.sig", la.sketches.save, la.sketches.load)


class Prints(Case):
    """The progress is the number of batches, of which some are there before."""

    rounds = 3
    strict = False  # a file that was cut off while it was made is refused

    def __init__(self, there, batches=12):
        self.there, self.batches = there, batches

    def _batch(self, number):
        return np.random.default_rng(number).integers(0, 1 << 64, 40 + 300 * (number % 3), np.uint64)

    def _append(self, root, begin, end, say):
        file = la.search.FingerprintFile(root / "seen.fps")
        for number in range(begin, end):
            file.append(self._batch(number))
            say(b".")

    def _found(self, root):
        found = [some[:, 0] for some in la.search.FingerprintFile(root / "seen.fps")._chunks.batches()]
        if not all(np.array_equal(some, self._batch(number)) for number, some in enumerate(found)):
            raise LostError("a batch is not what it was")
        return len(found)

    def prepare(self, root):
        self._append(root, 0, self.there, len)

    def act(self, root, progress, say):
        self._append(root, max(progress, self.there), self.batches, say)

    def judge(self, root, progress, ended):
        least = max(progress, self.there) + len(ended.heard)
        try:
            found = self._found(root)
        except la.errors.InputDataError as error:
            if least == 0:  # cut off while it was made: there is nothing in it, and it is refused, not taken for another
                raise RefusedError(str(error)) from None
            raise LostError(f"{least} batches were acknowledged: {error}") from None
        if not least <= found <= least + 1:
            raise LostError(f"{least} batches were acknowledged, {found} are there")
        return found

    def finish(self, root, progress):
        self._append(root, progress, self.batches, len)
        if self._found(root) != self.batches:
            raise LostError("appending does not go on")


class Lasting(Case):
    """The progress is the number of changes.

    The first additions are there before; without any, making the index is part of the case.
    """

    rounds = 4

    def __init__(self, kind, keep_text, segments, seed, changes=60):
        self.kind, self.keep_text, self.segments = kind, keep_text, segments
        self.changes = [*self._drawn(random.Random(seed), changes)]

    def _drawn(self, draw, changes):
        """Changes: (what, ids, {id that is there then: its version})."""
        live, number = {}, 0
        for i in range(changes):
            lot, what, ids = draw.random() if i >= self.segments else 0.0, "compact", []
            if lot < 0.55 or len(live) < 5:
                what, ids = "add", list(range(number, number + draw.choice([1, 2, 25])))
                number += len(ids)
                live |= dict.fromkeys(ids, 0)
            elif lot < 0.75:
                what, ids = "remove", draw.sample(sorted(live), draw.choice([1, 3]))
                live = {i: version for i, version in live.items() if i not in ids}
            elif lot < 0.9:
                what, ids = "replace", draw.sample(sorted(live), draw.choice([1, 3]))
                live |= {i: live[i] + 1 for i in ids}
            yield what, ids, dict(live)

    def _state(self, progress):
        return self.changes[progress - 1][2] if progress else {}

    @staticmethod
    def _text(number, version):
        return text_of(number + 1_000_000 * version)

    def _go_on(self, root, begin, end, say):
        folder = root / "index"
        if begin == 0 and not (folder / "manifest").exists():
            la.Index.create(folder, kind=self.kind, keep_text=self.keep_text, threshold=0.7).close()
        say(b"c")
        with la.Index.open(folder) as index:
            for number, (what, ids, live) in enumerate(self.changes[begin:end]):
                if what == "remove":
                    index.remove(ids)
                elif what == "compact":
                    index.compact()
                else:
                    texts = [self._text(i, live[i]) for i in ids]
                    index.add(ids, texts, replace=what == "replace", threads=1 + number % 2)
                say(b".")

    def prepare(self, root):
        if self.segments:
            self._go_on(root, 0, self.segments, len)

    def act(self, root, progress, say):
        self._go_on(root, max(progress, self.segments), len(self.changes), say)

    @staticmethod
    def _ids(index):
        return sorted(i for table in index.export() for i in table["id"].to_pylist())

    def judge(self, root, progress, ended):
        """Every acknowledged change has happened, and perhaps the one after; nothing else."""
        least = max(progress, self.segments) + ended.heard.count(b".")
        try:
            opened = la.Index.open(root / "index", "read")
        except la.errors.IndexFormatError as error:
            if "no index here" in str(error) and least == 0 and not ended.heard:
                return 0
            raise LostError(f"after {least} changes: {error}") from None
        with opened as index:
            if problems := index.check():
                raise LostError(f"after {least} changes: {problems}")
            found, states = self._ids(index), [self._state(i) for i in range(least, min(least + 2, len(self.changes) + 1))]
            right = [least + i for i, state in enumerate(states) if found == sorted(state) == self._asked(index, state)]
            if not right:
                missing, more = {*states[0]} - {*found}, {*found} - {*states[0]}
                wrong = f"{len(missing)} documents are missing, {len(more)} too many, or they are not found by their texts"
                raise LostError(f"after {least} changes: {wrong}")
        return right[-1]

    def _asked(self, index, state):
        if not state:
            return []
        ids = sorted(state)
        found = index.query([self._text(i, state[i]) for i in ids])
        rows, hits, near = (found[name].to_pylist() for name in ("query", "id", "estimated_resemblance"))
        return sorted({ids[q] for q, hit, score in zip(rows, hits, near, strict=True) if ids[q] == hit and score >= 1})

    def finish(self, root, progress):
        self._go_on(root, progress, len(self.changes), len)
        with la.Index.open(root / "index") as index:
            found, files = self._ids(index), index._state.manifest.files
        there = {p.name for p in (root / "index").iterdir()} - {"lock", "manifest"}
        if found != sorted(self._state(len(self.changes))) or there != files:
            raise LostError(f"the changes do not go on, or files stay: {sorted(there - files)}")
