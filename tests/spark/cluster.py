import ctypes
import importlib.util
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from spark_session import QUICK
from waiting import until

TESTS = Path(__file__).parents[1]
_MASTER = re.compile(r"Starting Spark master at (spark://\S+)")
_LIBRARY = ctypes.CDLL(None)
_MARK = "LOOKALIKE_TEST_CLUSTER"


def die_with_parent():
    """Have this process killed when its parent ends, however that ends."""
    _LIBRARY.prctl(1, signal.SIGKILL)


def kill_all(processes):
    """First all are halted, so that none takes note of another's end."""
    for sent in (signal.SIGSTOP, signal.SIGKILL):
        for process in processes:
            with suppress(ProcessLookupError):
                os.kill(process, sent)


def _read(process, name):
    with suppress(OSError):
        return Path(f"/proc/{process}/{name}").read_bytes()
    return b""


def _all():
    return [int(folder.name) for folder in Path("/proc").glob("[0-9]*")]


def _parent(process):
    """0 if it does not run."""
    state = _read(process, "stat").rpartition(b")")[2].split()
    return int(state[1]) if state and state[0] not in (b"Z", b"X") else 0


def is_alive(process):
    return _parent(process) > 0


def descendants(root):
    parents = {number: _parent(number) for number in _all()}
    found, size = {root}, 0
    while len(found) != size:
        size = len(found)
        found |= {process for process, parent in parents.items() if parent in found}
    return found


class Cluster:
    """A master and workers of one core each, on loopback, which are surely gone in the end."""

    def __init__(self, workers=2):
        self.folder = Path(tempfile.mkdtemp(prefix="lookalike-cluster-"))
        self._token, self._n, self._wanted = secrets.token_hex(16), 0, workers
        self.workers, self._children = {}, []
        self.java_options = f"{QUICK} -Djava.io.tmpdir={self.folder}"

    def __enter__(self):
        try:
            self._start("master", ["org.apache.spark.deploy.master.Master", "--port", "0"])
            log = self.folder / "master.log"
            self.master = until(lambda: _MASTER.search(log.read_text()))[1]
            for name in [self.start_worker(waits=False) for _ in range(self._wanted)]:
                self._wait_for_worker(name)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error):
        while found := self.processes():
            kill_all(found)
            for process in self._children:
                process.wait()
        shutil.rmtree(self.folder)

    def environment(self):
        """The code under test, and a mark by which processes are found."""
        return os.environ | {
            "PYTHONPATH": os.pathsep.join(map(str, [TESTS.parent / "src", TESTS])), _MARK: self._token,
            "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_DIRS": str(self.folder),
            "SPARK_DAEMON_MEMORY": "192m", "SPARK_DAEMON_JAVA_OPTS": self.java_options,
        }  # fmt: skip

    def _start(self, name, command, host="127.0.0.1", **environment):
        home = Path(importlib.util.find_spec("pyspark").origin).parent
        with open(self.folder / f"{name}.log", "wb") as log:
            made = subprocess.Popen(
                [str(home / "bin/spark-class"), *command, "--host", host, "--webui-port", "0"],
                env=self.environment() | environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                preexec_fn=die_with_parent,
            )  # fmt: skip
        self._children.append(made)
        return made

    def start_worker(self, local=None, waits=True):
        """What its executors shuffle lies in ``local``, or in a folder of its own."""
        name, self._n = f"worker-{self._n}", self._n + 1
        folder = self.folder / name
        folder.mkdir()
        command = ["org.apache.spark.deploy.worker.Worker", "--cores", "1", "--memory", "1500M", "--work-dir", str(folder)]
        host = f"127.0.0.{10 + self._n}"  # of its own: a second attempt of a task that takes long goes to another host
        given = {"SPARK_LOCAL_DIRS": str(local or folder), "SPARK_LOCAL_IP": host}
        self.workers[name] = self._start(name, [*command, self.master], host, **given).pid
        if waits:
            self._wait_for_worker(name)
        return name

    def _wait_for_worker(self, name):
        log = self.folder / f"{name}.log"
        until(lambda: "Successfully registered with master" in log.read_text())

    def _executors(self, worker):
        java = [process for process in descendants(worker) if b"CoarseGrained" in _read(process, "cmdline")]
        return [process for process in java if b"Successfully registered with driver" in _read(process, "cwd/stderr")]

    def wait_for_executors(self):
        until(lambda: all(map(self._executors, self.workers.values())))

    def kill(self, worker):
        """With its executor and their Pythons."""
        kill_all(descendants(self.workers.pop(worker)))

    def processes(self):
        mark = f"{_MARK}={self._token}".encode()
        return [one for one in _all() if one != os.getpid() and mark in _read(one, "environ").split(b"\0")]
