import importlib.util
import tempfile
from pathlib import Path

import pytest
from spark_session import session
from toy_engine import ToyEngine

from lookalike.engines.local import bundles as local_bundles
from lookalike.engines.local import documents as local_documents
from lookalike.engines.local import sort as local_sort
from lookalike.engines.local import tables as local_tables
from lookalike.engines.local.engine import LocalEngine
from lookalike.engines.memory import Memory
from lookalike.engines.spark import tables as spark_tables
from lookalike.engines.spark.engine import SparkEngine
from lookalike.files.workspace import Workspace
from lookalike.recipes import decide, preparation
from lookalike.values.tables import MATCHES

without_pyspark = pytest.mark.skipif(importlib.util.find_spec("pyspark") is None, reason="pyspark is not installed")
FEW = {"frames": -1, "driver": 32 << 20, "mixed": 2000}
"""Kinds of the engine of clusters, and bytes of rows that the driver works on: tasks do all, by rounds; the driver; either."""
FRAMES = pytest.param("frames", marks=without_pyspark)
KINDS = ("local", "threads", "spilled", "slices", "rounds", "toy", *(pytest.param(kind, marks=without_pyspark) for kind in FEW))
WITH_SPARK = (*KINDS, pytest.param("spark", marks=pytest.mark.spark))

LOCAL = KINDS[:5]

WORK = "work [1] of é%20"
"""A folder whose name would be another one as an address, or a pattern that does not match itself."""


class Slices(LocalEngine):
    """Knows no components, and walks everything slice by slice, or decides by rounds alone."""

    components = None


OTHERS = dict.fromkeys(("slices", "rounds"), Slices)


def cut_small(monkeypatch):
    monkeypatch.setattr(local_documents, "PIECE_BYTES", 400)
    monkeypatch.setattr(local_tables, "ROWS", 30)
    monkeypatch.setattr(local_sort, "MEMBERS", 20)
    monkeypatch.setattr(local_sort, "DISTINCT_BYTES", 1)
    monkeypatch.setattr(local_bundles, "GROUP_BYTES", 100)
    monkeypatch.setattr(local_tables, "PART_BYTES", 3000)


def spill(monkeypatch):
    monkeypatch.setattr(Memory, "table_budget", 8000)
    monkeypatch.setattr(Memory, "free", 40000)
    monkeypatch.setattr(Memory, "partition", lambda self, threads: 3000)


def spark_engine(folder, partitions=2):
    """Tasks do all."""
    cluster = session()
    cluster.conf.set("spark.sql.shuffle.partitions", partitions)
    engine = SparkEngine(cluster, Path(folder) / WORK)
    engine.few_bytes = -1
    return engine


def frames_engine(folder, kind="frames"):
    """Each task is run twice, as if it had failed."""
    from toy_frames import ToySession  # here, as it needs pyspark

    engine = SparkEngine(ToySession(fails_first=True), Path(folder) / WORK)
    engine.few_bytes = FEW[kind]
    if kind == "frames":
        engine.components = None
    return engine


def large_components(kind, monkeypatch):
    """Where the driver and tasks work, most components are too large for a task."""
    if kind == "mixed":
        monkeypatch.setattr(spark_tables, "COMPONENT_BYTES", 220)


def prepare(kind, monkeypatch):
    if kind in ("rounds", "toy"):
        monkeypatch.setattr(decide, "FEW", -1)  # the others verify few pairs at once
        monkeypatch.setattr(decide.Decider, "_slices", None)
    if kind == "spark":
        return {"engine": spark_engine(tempfile.mkdtemp(prefix="lookalike-test-")), "threads": 1}
    if kind in FEW:
        large_components(kind, monkeypatch)
        return {"engine": frames_engine(tempfile.mkdtemp(prefix="lookalike-test-"), kind), "threads": 1}
    if kind == "spilled":
        cut_small(monkeypatch)
        spill(monkeypatch)
    if kind in OTHERS:
        monkeypatch.setattr(preparation, "LocalEngine", OTHERS[kind])
        walk = decide.SliceWalk.kept_of  # never asked about no pairs where an engine knows components
        none = MATCHES.empty_table()
        found = lambda self, pairs: walk(self, pairs) if len(pairs) else self._engine.rows(none)  # noqa: E731
        monkeypatch.setattr(decide.SliceWalk, "kept_of", found)
    more = {"engine": ToyEngine(7)} if kind == "toy" else {}
    return more | {"threads": 2 if kind == "threads" else 1}


def make(kind, folder, monkeypatch):
    if kind == "toy":
        return ToyEngine(7)
    if kind == "spark":
        return spark_engine(folder)
    if kind in FEW:
        large_components(kind, monkeypatch)
        return frames_engine(folder, kind)
    if kind == "spilled":
        cut_small(monkeypatch)
        spill(monkeypatch)
    made = OTHERS.get(kind, LocalEngine)
    workspace = Workspace(folder / "work" if kind == "spilled" else None, {})
    return made(
        threads=2 if kind == "threads" else 1, memory=Memory(1 << 30), workspace=workspace, progress=lambda stage, amount: None
    )
