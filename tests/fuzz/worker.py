"""Runs cases one after the other and writes how each ended: ``worker.py KIND START STOP OUT``. A crash shows in what is missing."""

import json
import shutil
import sys
import tempfile
import time
import traceback
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]


def place(error):
    """The innermost lines of ours in a traceback."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "lookalike" in f.filename or "fuzz" in f.filename]
    return " < ".join(f"{Path(f.filename).name}:{f.lineno}" for f in reversed(frames[-4:]))


def main(kind, start, stop, out):
    """Run the cases of a kind; a line of JSON each, begun before the case and ended after it."""
    import core
    import numpy as np
    from commands import Commands
    from crafted import Crafted
    from judging import WrongAnswerError, judge
    from stores import Stores

    np.seterr(over="ignore")
    folder = Path(tempfile.mkdtemp(prefix="lookalike-fuzz-"))
    run = {
        "inputs": lambda: judge,
        "stores": lambda: Stores(folder / "seed").judge,
        "commands": lambda: Commands(folder / "seed").judge,
        "core": lambda: core.judge,
        "crafted": lambda: Crafted(folder / "seed").judge,
    }[kind]()
    with open(out, "a", buffering=1) as stream:
        for seed in range(start, stop):
            stream.write(json.dumps({"seed": seed, "ended": "crashed"}) + "\n")
            begun, what = time.perf_counter(), "?"
            try:
                what, ended = run(seed, folder / "case")
            except WrongAnswerError as error:
                ended = f"WRONG: {error} @ {place(error)}"
            except Exception as error:
                ended = f"TRACEBACK: {type(error).__name__}: {error!s:.300} @ {place(error)}"
            said = {"seed": seed, "what": what, "ended": ended, "seconds": round(time.perf_counter() - begun, 3)}
            stream.write(json.dumps(said) + "\n")
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
