"""Damages files of our own formats: whatever reads them notices, or answers as if nothing had happened."""

import os
import shutil
from random import Random

import numpy as np
from judging import expect, refused

import lookalike as la

TEXTS = [f"one two three four five six seven eight nine ten w{i % 7} x{i % 5} y{i % 3}" for i in range(200)]
NEW, GONE = {"texts": ("new", "a7"), "plain": ("new", "a7"), "prints": (10**6, 7)}, "b5"


class Folders:
    """Sound ones of every kind, made once; a case changes a copy of one."""

    kinds: tuple[str, ...]

    def __init__(self, folder):
        folder.mkdir(parents=True)
        self.folder = folder

    def judge(self, seed, folder):
        r = Random(seed)
        kind = r.choice(self.kinds)
        source = self.folder / (r.choice(list(NEW)) if kind in ("index", "index written") else kind)
        if source.is_dir():
            target = shutil.copytree(source, folder / source.name, ignore=shutil.ignore_patterns("lock"))
        else:
            target = shutil.copy(source, folder / source.name)
        changed = self.change(r, kind, target)
        _, error = refused(lambda: getattr(self, "_" + kind.split()[0])(r, target, changed, kind))
        expect(changed or error is None, "a sound file is refused", str(error))
        return kind, "result" if error is None else f"refused: {type(error).__name__}"


def damaged(r, data):
    at = r.randrange(len(data)) if r.random() < 0.6 else r.randrange(min(len(data), 400))
    match r.randrange(7):
        case 0:
            return data[:at]
        case 1 | 2 | 3:
            return data[:at] + bytes([data[at] ^ (1 << r.randrange(8))]) + data[at + 1 :]
        case 4:
            return data + r.randbytes(r.choice([1, 8, 64, 4096]))
        case 5:
            return data[:at] + b"\xff" * min(64, len(data) - at) + data[at + 64 :]
    return data[:at] + bytes(min(4096, len(data) - at)) + data[at + 4096 :]


def left_by_a_dead(act):
    child = os.fork()
    if child == 0:
        act()
        os._exit(0)
    expect(os.waitpid(child, 0)[1] == 0, "the job that is to be resumed failed")


def ids_of(path):
    with la.Index.open(path, "read") as index:
        return {found for table in index.export() for found in table["id"].to_pylist()}


class Stores(Folders):
    kinds = ("sketch", "packed", "fingerprints", "frequencies", *["index", "index written", "work"] * 2)

    def __init__(self, folder):
        super().__init__(folder)
        self.shingles = la.shingle(TEXTS)
        self.prints = la.sketches.SimHash(bits=64).sign(self.shingles)
        signatures = la.sketches.FastSimilarity(permutations=64, seed=7).sign(self.shingles)
        self.sketches = {"sketch": signatures, "packed": la.sketches.BBit(bits=2).pack(signatures)}
        for name, some in self.sketches.items():
            la.sketches.save(some, folder / name)
        for _ in range(2):
            la.search.FingerprintFile(folder / "fingerprints").append(self.prints)
        la.sketches.DocumentFrequencies.collect(self.shingles).save(folder / "frequencies")
        for name in ("texts", "plain"):  # two segments, with removed documents
            with la.Index.create(folder / name, threshold=0.7, keep_text=name == "texts") as index:
                for some, begin in (("a", 0), ("b", 100)):
                    index.add([f"{some}{i}" for i in range(100)], TEXTS[begin : begin + 100])
                index.remove(["a3", GONE])
        with la.Index.create(folder / "prints", kind="simhash", radius=6) as index:
            index.add(list(range(200)), TEXTS)
        self.known, self.answers = {name: ids_of(folder / name) for name in NEW}, {}
        for name in NEW:
            with la.Index.open(folder / name, "read") as index:
                self.answers[name] = index.query(TEXTS, top=None).to_pylist()
        (folder / "source").mkdir()
        (folder / "source/a.csv").write_text("id,text\n" + "".join(f"d{i},{text}\n" for i, text in enumerate(TEXTS)))
        left_by_a_dead(lambda: self._job(folder / "work"))  # after all was decided
        result, self.decided = self._job(folder / "whole")
        result.close()

    def _job(self, work):
        result = la.dedup(self.folder / "source", threads=1, work=work, id="id")
        return result, (result.keep.tolist(), result.removed.to_pylist())

    def change(self, r, kind, target):
        """Damage or remove one file, or leave all sound; tell whether that changed a byte."""
        path = r.choice(sorted(p for p in [target, *target.rglob("*")] if p.is_file()))
        if (chance := r.random()) < 0.05:
            path.unlink()
        if chance < 0.15:
            return chance < 0.05
        before = path.read_bytes()
        path.write_bytes(damaged(r, before) if before else b"x")
        return path.read_bytes() != before

    def _sketch(self, r, path, changed, kind):
        found, wanted = la.sketches.load(path), self.sketches[kind]
        held = "words" if kind == "packed" else "values"
        expect(np.array_equal(getattr(found, held), getattr(wanted, held)), "other signatures")
        found.estimated_resemblance(0, 1, other=wanted)

    _packed = _sketch

    def _fingerprints(self, r, path, changed, kind):
        if not path.exists():
            return
        file = la.search.FingerprintFile(path)
        rows = len(file)
        expect(rows in (0, 200, 400), "a part of a batch", rows)
        end = la.search.FingerprintFile(self.folder / kind)._chunks._file.sections[rows // 200].end
        if rows < 400 and not any(path.read_bytes()[end : end + 24]):  # ends with a batch, as if the next one never ended
            return
        found = np.asarray(file.first(self.prints, la.search.HammingIndex(radius=0)))
        expect((found >= 0).all(), "rows are not found")
        expect(rows == 400, "a batch is lost in silence")
        file.append(self.prints)
        expect(len(la.search.FingerprintFile(path)) == rows + 200, "what was appended is not there")

    def _frequencies(self, r, path, changed, kind):
        found = la.sketches.DocumentFrequencies.load(path, self.shingles.parameters)
        wanted = la.sketches.DocumentFrequencies.collect(self.shingles)
        same = np.array_equal(found.values, wanted.values) and np.array_equal(found.counts, wanted.counts)
        expect(same and found.n_documents == wanted.n_documents, "other counts")

    def _index(self, r, path, changed, kind):
        new, gone = NEW[path.name]
        if kind == "index written":
            with la.Index.open(path) as index:
                index.query(TEXTS[:20])
                index.add([new], ["some words that are new here"])
                index.remove([gone])
                index.compact()
        with la.Index.open(path, "read") as index:
            troubles = index.check()
        if kind == "index written":
            expect(not troubles, "an index that was compacted is damaged")
            expect(ids_of(path) == (self.known[path.name] | {new}) - {gone}, "damage was compacted into other documents")
            return
        expect(troubles or not changed or ids_of(path) == self.known[path.name], "documents changed, and check is content")
        with la.Index.open(path, "read", salvage=True) as index:
            index.query(TEXTS, top=None)
            list(index.export())
        with la.Index.open(path, "read") as index:
            found = index.query(TEXTS, top=None).to_pylist()
        expect(troubles or found == self.answers[path.name], "other answers, and check is content")

    def _work(self, r, path, changed, kind):
        result, decided = self._job(path)
        expect(decided == self.decided, "a resumed job decides otherwise")
        result.close()
