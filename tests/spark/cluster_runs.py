import json
import random
import subprocess
import sys
import threading
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import ClassVar

import pyarrow as pa
import pyarrow.parquet as pq
from spark import cluster_job
from spark.cluster import descendants, die_with_parent, kill_all
from spark_session import LOGGED
from waiting import until

import lookalike as la

PATIENCE = 400
COLUMNS = ("position", "id", "kept", "reason", "duplicate_of", "resemblance", "cluster", "n_exact", "n_duplicates")
SESSION = LOGGED | {
    "spark.driver.memory": "512m", "spark.driver.maxResultSize": "16m", "spark.executor.memory": "512m", "spark.executor.cores": "1",
}  # fmt: skip


def corpus(n=150, seed=1):
    draw = random.Random(seed)
    texts = [" ".join(f"w{draw.randrange(500)}" for _ in range(60)) for _ in range(n)]
    for i in range(n // 2):
        words = texts[i].split()
        words[draw.randrange(len(words))] = f"x{i}"
        texts.append(" ".join(words))
    texts += [*texts[:7], "", ""]
    draw.shuffle(texts)
    texts[n // 2] += f" {cluster_job.MARKED}"
    return texts


def write_corpus(folder, texts=None):
    texts = corpus() if texts is None else texts
    paths = []
    for number, some in enumerate((texts[: len(texts) // 2], texts[len(texts) // 2 :])):
        ids = [7 * i + number for i in range(len(some))]
        paths.append(str(folder / f"{number}.parquet"))
        pq.write_table(pa.table({"text": some, "key": ids}), paths[-1], row_group_size=64)
    return paths


def local(paths, frame=False, **settings):
    data = pa.concat_tables(map(pq.read_table, paths)).sort_by("key") if frame else paths
    if "tokenizer" in settings:
        settings["tokenizer"] = cluster_job.TOKENIZERS[settings["tokenizer"]]
    with closing(la.dedup(data, threads=1, id="key" if frame else None, **settings)) as result:
        return result.decisions.select(COLUMNS), result.pairs


class Run:
    """A driver in a process of its own; if it ``asks``, it waits for ``go`` before it makes a table."""

    count = 0
    running: ClassVar[list[subprocess.Popen[bytes]]] = []

    def __init__(self, cluster, folder, data, *, asks=False, frame=False, session=None, environment=None, **settings):
        type(self).count += 1
        self.work, self.events = Path(settings.get("work", folder / "work")), folder / "events"
        self.events.mkdir(exist_ok=True)
        self.decisions, self.pairs = folder / f"decisions-{self.count}", folder / f"pairs-{self.count}"
        job = {
            "data": data, "asks": asks, "frame": frame, "settings": {"work": str(self.work)} | settings,
            "session": SESSION | self._session(cluster) | (session or {}),
            "decisions": str(self.decisions), "pairs": str(self.pairs),
        }  # fmt: skip
        self.errors = folder / f"driver-{self.count}.log"
        with open(self.errors, "wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, cluster_job.__file__, json.dumps(job)], env=cluster.environment() | (environment or {}),
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, preexec_fn=die_with_parent,
            )  # fmt: skip
        self.running.append(self.process)
        self.said, self._seen = [], 0
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _session(self, cluster):
        java = {f"spark.{which}.extraJavaOptions": cluster.java_options for which in ("driver", "executor")}
        return {"spark.master": cluster.master, "spark.eventLog.dir": self.events.as_uri()} | java

    def _read(self):
        with self.process.stdout as stream:  # which a JVM that outlives its driver holds too
            for line in stream:
                self.said.append(json.loads(line))

    def tables(self):
        """Yield the names of tables that it is about to make, until it ends."""
        while True:
            until(lambda: len(self.made) > self._seen or self.process.poll() is not None)
            if len(self.made) <= self._seen:
                return
            self._seen += 1
            yield self.made[self._seen - 1]

    def go(self):
        self.process.stdin.write(b"go\n")
        self.process.stdin.flush()

    def kill(self, with_java=True):
        kill_all(descendants(self.process.pid) if with_java else [self.process.pid])
        self.process.wait()
        self.process.stdin.close()

    def wait(self, seconds=PATIENCE):
        self.process.wait(seconds)
        self._reader.join()
        self.process.stdin.close()
        return self.said[-1] if self.said else {}

    @property
    def made(self):
        return [said["making"] for said in self.said if "making" in said]

    def finished(self, seconds=PATIENCE):
        last = self.wait(seconds)
        assert last.get("done"), f"{last}\n{self.errors.read_text()[-3000:]}"
        return last

    def same_as(self, wanted):
        decisions, pairs = (pq.read_table(folder) for folder in (self.decisions, self.pairs))
        decisions = decisions.select(COLUMNS).sort_by("position").cast(wanted[0].schema)
        by = [("left_id", "ascending"), ("right_id", "ascending")]
        return decisions.equals(wanted[0]) and pairs.sort_by(by).cast(wanted[1].schema).equals(wanted[1].sort_by(by))

    @classmethod
    def end_all(cls):
        """Kill the drivers that tests have left, which would keep the cluster from others."""
        for process in cls.running:
            if process.poll() is None:
                kill_all(descendants(process.pid))
                process.wait()
                process.stdin.close()
        cls.running.clear()

    def stages(self):
        """Their beginning is written when it happens, while other events are written later."""
        return sum(log.read_bytes().count(b'"SparkListenerStageSubmitted"') for log in self.events.iterdir())

    def lost(self):
        """Tasks that did not end well, by reason, in all runs in this folder."""
        lines = (line for log in self.events.iterdir() for line in log.read_text().splitlines())
        ended = Counter(json.loads(line)["Task End Reason"]["Reason"] for line in lines if '"SparkListenerTaskEnd"' in line)
        ended.pop("Success", None)
        return ended

    def stored(self):
        return {path.stem for path in (self.work / "tables").glob("*.done")}
