"""Lets the n-th read, write, sync, rename, removal, new file or folder fail, for every n, and asks what is there afterwards.

``faults.py MOST [NAME ...]``: compiles ``faults.c``, runs itself again with that preloaded, and lets at most so many calls of each
scenario fail. Prints a line per scenario, and the defects.
"""

import ctypes
import errno
import gc
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path

import numpy as np
from worker import place

import lookalike as la

TEXTS = [f"one two three four five six seven eight nine ten w{i % 7} x{i % 5} y{i % 3}" for i in range(60)]
ERRORS = (errno.ENOSPC, errno.EIO)


class Scenario:
    """What is done while calls fail: ``prepare`` makes the state before, ``act`` changes it, ``state`` reads it, ``again`` mends it.

    After a failure the state is the one before or the one after, whole; after success it is the one after. ``again`` (``act`` once
    more, without failures) must then lead to the state after. ``prepare`` is told the folder, and ``act`` what that returns.
    """

    def __init__(self, act, state, prepare=lambda folder: folder, again=None):
        self.act, self.state, self.prepare, self.again = act, state, prepare, again or act


def files(folder):
    """All files below a folder but locks, and leftovers of what was replaced, which stay if nothing can be removed."""
    hidden = re.compile(r"(^|/)\.[^/]*\.(tmp|old)(/|$)")
    found = {str(p.relative_to(folder)): p for p in sorted(folder.rglob("*")) if p.is_file() and p.name != "lock"}
    return {name: path.read_bytes() for name, path in found.items() if not hidden.search(name)}


def content(name):
    """Reads the bytes of a file of a folder; None where there is none."""
    return lambda folder: (folder / name).read_bytes() if (folder / name).exists() else None


def dedup(source, **how):
    """A job on one thread."""
    return la.dedup(source, threads=1, id="id", **how)


def written(source, path, force=True, **how):
    """Run a job and write what it finds."""
    result = dedup(source, **how)
    result.write(path, force=force)
    result.close()


def exported(index):
    """The ids of an index."""
    return sorted(found for table in index.export() for found in table["id"].to_pylist())


def index_scenario(segments, change):
    """A change of an index that is open."""

    def prepare(folder):
        with la.Index.create(folder / "i", threshold=0.7) as made:
            for j in range(segments):
                made.add([f"b{j}_{i}" for i in range(5)], [f"{text} z{j}" for text in TEXTS[:5]])
        return la.Index.open(folder / "i")

    def act(index):
        with index:
            change(index)

    def state(folder):
        with la.Index.open(folder / "i", "read") as index:
            assert not index.check(), index.check()
            return exported(index)

    def again(folder):
        with la.Index.open(folder / "i") as index:
            try:
                change(index)
            except la.errors.ParameterError as error:  # the first attempt had come through
                assert "already" in str(error) or "there" in str(error), error

    return Scenario(act, state, prepare, again)


def output_scenario(source, name, *, annotate=False, force=False):
    """An output written anew, or over an older one of ours."""
    result, older = dedup(source), dedup(source, threshold=0.5, keep="last")

    def prepare(folder):
        if force:
            older.write(folder / name)
        return folder

    def write(folder, force=force):
        result.write(folder / name, annotate=annotate, force=force)

    def state(folder):
        return {path: data for path, data in files(folder).items() if path != f"{name}_lookalike.json"}

    return Scenario(write, state, prepare, lambda folder: write(folder, True))


def work_scenario(source):
    """A job with a work folder, interrupted and resumed."""

    def job(folder, again=False):
        written(source, folder / "out.jsonl", again, work=folder / "work")

    return Scenario(job, content("out.jsonl"), again=lambda folder: job(folder, True))


def fingerprint_scenario():
    """A batch appended to a file of fingerprints; the state is the number of whole batches."""
    prints = la.sketches.SimHash(bits=64).sign(la.shingle(TEXTS))

    def prepare(folder):
        file = la.search.FingerprintFile(folder / "prints")
        file.append(prints)
        return file

    def state(folder):
        file = la.search.FingerprintFile(folder / "prints")
        assert (np.asarray(file.first(prints, la.search.HammingIndex(radius=0))) >= 0).all()
        return len(file)

    def again(folder):
        if state(folder) == len(prints):
            la.search.FingerprintFile(folder / "prints").append(prints)

    return Scenario(lambda file: file.append(prints), state, prepare, again)


def sketch_scenario():
    """Signatures saved."""
    signatures = la.sketches.FastSimilarity(permutations=64, seed=7).sign(la.shingle(TEXTS))

    def save(folder, force=False):
        la.sketches.save(signatures, folder / "sketch", force=force)

    return Scenario(save, files, again=lambda folder: save(folder, True))


def input_scenario(source, name):
    """Inputs that cannot be read, copied to where calls fail: in another format, or as they are."""

    def prepare(folder):
        if name:
            written(source, folder / name, False, threshold=1.0)
        else:
            shutil.copytree(source, folder / "in")
        return folder

    return Scenario(lambda folder: written(folder / (name or "in"), folder / "out.jsonl"), content("out.jsonl"), prepare)


def saved_scenario(source):
    """A result saved, and loaded: what is loaded is all of it."""
    result = dedup(source)

    def is_whole(folder):
        return (folder / "saved").exists() and la.Result.load(folder / "saved").keep.tolist() == result.keep.tolist()

    def act(folder):
        result.save(folder / "saved", force=True)
        assert is_whole(folder)

    return Scenario(act, is_whole)


def seen_scenario(source):
    """A week added to a folder of what was seen: its output and its generation are both there, or neither."""

    def add(folder, name="b.jsonl"):
        with la.History(folder / "history") as seen:
            result = seen.add(source / name, folder / name, la.Settings(id="id", threads=1))
            if result is not None:
                result.close()
        return folder

    def state(folder):
        with la.History(folder / "history") as seen:
            assert not seen.check(), seen.check()
            return [one.name for one in seen.generations], content("b.jsonl")(folder)

    return Scenario(add, state, lambda folder: add(folder, "a.jsonl"))


def asking_scenario():
    """An index opened, asked, checked and exported: the answers are right, or there are none."""
    wanted = [f"b{i}" for i in range(20)]

    def prepare(folder):
        with la.Index.create(folder / "i", keep_text=True) as made:
            for begin in (0, 10):
                made.add(wanted[begin : begin + 10], [f"{text} z{begin}" for text in TEXTS[begin : begin + 10]])
            made.remove(["b3"])
        return folder

    def act(folder):
        with la.Index.open(folder / "i", "read") as index:
            found = index.query([f"{TEXTS[5]} z0"])["id"].to_pylist()
            ids, problems = exported(index), index.check()
        assert "b5" in found and (problems or ids == sorted({*wanted} - {"b3"}))

    return Scenario(act, files, prepare)


def scenarios(folder):
    """All of them by name."""
    source = folder / "source"
    source.mkdir()
    for name, suffix in (("a", ""), ("b", " and more words")):
        rows = [{"id": f"{name}{i}", "text": text + suffix} for i, text in enumerate(TEXTS)]
        (source / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    new = [f"n{i}" for i in range(4)]
    found = {
        "index add": index_scenario(2, lambda index: index.add(new, TEXTS[10:14])),
        "index add that merges": index_scenario(10, lambda index: index.add(new, TEXTS[10:14])),
        "index remove": index_scenario(3, lambda index: index.remove(["b0_1", "b1_2"])),
        "index compact": index_scenario(3, lambda index: index.compact()),
        "work": work_scenario(source),
        "fingerprints": fingerprint_scenario(),
        "sketch": sketch_scenario(),
        "saved result": saved_scenario(source),
        "index asked": asking_scenario(),
        "history": seen_scenario(source),
        "output annotated": output_scenario(source, "o.jsonl", annotate=True),
    }
    for name in ("", "i.jsonl.zst", "i.csv.gz", "i.parquet"):
        found[f"input {name or 'folder'}"] = input_scenario(source, name)
    for name in ("o.jsonl", "o.jsonl.gz", "o.jsonl.zst", "o.parquet", "o.csv", "folder"):
        found[f"output {name}"] = output_scenario(source, name)
    for name in ("o.jsonl", "folder"):
        found[f"output {name} over an older one"] = output_scenario(source, name, force=True)
    return found


def fail_once(library, scenario, folder, n, error, sticky, wanted, before):
    """Let one call fail; return what is wrong afterwards, or nothing."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    context, raised, where = scenario.prepare(folder), None, ""
    library.fault_arm(str(folder).encode(), n, error, sticky)
    try:
        scenario.act(context)
    except BaseException as caught:
        raised, where = caught, place(caught)
        raised.__traceback__ = raised.__context__ = raised.__cause__ = None
    del context
    gc.collect()  # finalizers of what failed run while calls still fail
    library.fault_arm(None, 0, 0, 0)
    if raised is not None and not isinstance(raised, la.LookalikeError):
        return f"TRACEBACK {type(raised).__name__}: {raised} @ {where}"
    found = scenario.state(folder)
    if raised is None and found != wanted:
        return "success was reported, and the result is another"
    if found not in (wanted, before) and not (sticky and "puts it back" in str(raised)):
        return f"after a failure ({raised}) neither the old state nor the new one is there"
    left = [str(p.relative_to(folder)) for p in folder.rglob("*.tmp")] if not sticky else []
    if left:
        return f"left behind: {left}"
    scenario.again(folder)
    return "" if scenario.state(folder) == wanted else "the next attempt does not mend it"


def run(library, name, scenario, folder, most):
    """Fail each call in turn (``most`` of them, spread evenly, if there are more); return the defects."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    context = scenario.prepare(folder)
    before = scenario.state(folder)
    library.fault_arm(str(folder).encode(), 0, 0, 0)
    scenario.act(context)
    total = library.fault_count()
    library.fault_arm(None, 0, 0, 0)
    wanted, defects = scenario.state(folder), {}
    cases = [*product(range(1, total + 1), ERRORS, (0, 1))]
    cases = cases[:: -(-len(cases) // most)]
    for n, error, sticky in cases:
        try:
            wrong = fail_once(library, scenario, folder, n, error, sticky, wanted, before)
        except Exception as unexpected:
            wrong = f"reading afterwards: {type(unexpected).__name__}: {unexpected} @ {place(unexpected)}"
        if wrong:
            defects.setdefault(wrong, []).append((n, errno.errorcode[error], sticky))
    print(f"{name}: {total} calls, {len(cases)} failures, {sum(map(len, defects.values()))} defects", flush=True)
    return [f"{name}: {wrong} ({len(at)} times, first at {at[0]})" for wrong, at in defects.items()]


def main(names, most):
    """Run scenarios; exit 1 if one shows a defect."""
    library = ctypes.CDLL(None)
    defects = []
    with tempfile.TemporaryDirectory(prefix="lookalike-faults-") as folder:
        for name, scenario in scenarios(Path(folder)).items():
            if not names or any(name.startswith(wanted) for wanted in names):
                defects += run(library, name, scenario, Path(folder) / "case", most)
    print("\n".join(defects) or "no defects")
    sys.exit(bool(defects))


def preloaded(arguments):
    """Run this file with the shared library preloaded; return its exit status."""
    with tempfile.TemporaryDirectory(prefix="lookalike-faults-") as folder:
        library = Path(folder) / "faults.so"
        source = Path(__file__).with_suffix(".c")
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(source), "-ldl"], check=True)
        command = [sys.executable, __file__, *arguments]
        return subprocess.run(command, env=os.environ | {"LD_PRELOAD": str(library)}, check=False).returncode


if __name__ == "__main__":
    if hasattr(ctypes.CDLL(None), "fault_arm"):
        main(sys.argv[2:], int(sys.argv[1]))
    else:
        sys.exit(preloaded(sys.argv[1:] or ["1000"]))
