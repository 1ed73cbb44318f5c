"""How much memory the processes of a cluster take at most, by kind."""

import re
import threading
from contextlib import suppress
from pathlib import Path

_PEAK = re.compile(r"VmHWM:\s+(\d+) kB")
KINDS = {
    "driver JVM": "org.apache.spark.deploy.SparkSubmit", "executor JVM": "CoarseGrainedExecutorBackend",
    "Python of a task": "pyspark.daemon", "driver Python": "cluster_job.py",
}  # fmt: skip


def kind_of(command):
    """What a process is, by its command; None: something else."""
    return next((kind for kind, mark in KINDS.items() if mark in command), None)


class Peaks:
    """Looks at some processes again and again, until it is left.

    Parameters
    ----------
    processes : callable
        Returns their numbers.
    """

    def __init__(self, processes):
        self._processes, self._over = processes, threading.Event()
        self._kinds, self._peaks = {}, {}
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self):
        """Begin."""
        self._thread.start()
        return self

    def __exit__(self, *error):
        """End."""
        self._over.set()
        self._thread.join()

    def _look(self):
        while not self._over.wait(0.5):
            for process in self._processes():
                with suppress(OSError, TypeError):
                    folder = Path(f"/proc/{process}")
                    kind = kind_of((folder / "cmdline").read_text())
                    self._kinds[process] = kind
                    self._peaks[process] = int(_PEAK.search((folder / "status").read_text())[1]) << 10

    def by_kind(self):
        """The peaks of the processes of each kind, in MB, largest first."""
        found = {kind: [] for kind in KINDS}
        for process, peak in self._peaks.items():
            found.get(self._kinds[process], []).append(round(peak / 1e6))
        return {kind: sorted(peaks, reverse=True) for kind, peaks in found.items()}
