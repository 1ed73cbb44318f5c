"""Runs one job after the other, each in a child process of its own that may be killed; commands come as lines of JSON.

``{"settings": ..., "inputs": ..., "output": ..., "kill": null | ["put", n, "before" | "after"] | ["seconds", x]}``; the
answer is a line with the child's exit code.
"""

import json
import os
import signal
import sys
import time
import traceback

import lookalike as la
from lookalike.engines.local import engine as local
from lookalike.engines.local import tables as local_tables
from lookalike.files.workspace import Workspace


def run(job):
    if job["kill"] and job["kill"][0] == "put":
        _, wanted, when = job["kill"]
        put, met = Workspace.put, []

        def killing_put(self, name, arrays):
            met.append(name)
            if when == "after" or wanted != len(met):
                put(self, name, arrays)
            if wanted == len(met):
                os.kill(os.getpid(), signal.SIGKILL)

        Workspace.put = killing_put
    result = la.dedup(job["inputs"], **job["settings"])
    result.write(job["output"], annotate=True, force=True)
    result.close()


def main():
    os.fsync = os.fstat  # processes are killed, not the machine
    local_tables.PART_BYTES = 40_000
    local.SPILL_BYTES = 20_000
    la.dedup(["a b c d e f g"] * 2, threads=1)
    for line in sys.stdin:
        job = json.loads(line)
        child = os.fork()
        if child == 0:
            try:
                run(job)
                os._exit(0)
            except BaseException:
                traceback.print_exc()
                os._exit(4)
        if job["kill"] and job["kill"][0] == "seconds":
            time.sleep(job["kill"][1])
            os.kill(child, signal.SIGKILL)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    main()
