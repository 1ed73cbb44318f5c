"""A stand-in for GraphFrames, whose JVM package is on no package index: connected components by data frames alone.

The algorithm is that of GraphFrames: large stars and small stars in turn until the sum of all edges stays. It is the part of
text-dedup's job that is ours, so it says on the standard error when it begins and ends, and what all processes used by then.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from pyspark.sql import functions as sql
from spark import used


def say(what: str) -> None:
    """Tell how much processor time all processes of this job have used."""
    print("<<" + json.dumps({"what": what, **used()}), file=sys.stderr, flush=True)


class GraphFrame:
    """A graph of which connected components are asked.

    Parameters
    ----------
    vertices : DataFrame
        Column id, integers.
    edges : DataFrame
        Columns src and dst.
    """

    def __init__(self, vertices: Any, edges: Any) -> None:
        self.vertices, self.edges = vertices, edges

    def connectedComponents(self) -> Any:  # noqa: N802
        """Return all vertices with the smallest of their component: columns id and component."""
        say("components begin")
        edges, before = self.edges.select("src", "dst").distinct(), None
        while True:
            both = edges.union(edges.select(sql.col("dst").alias("src"), sql.col("src").alias("dst")))
            large = _hung(both, sql.col("dst") > sql.col("src"))
            small = large.select(sql.greatest("src", "dst").alias("src"), sql.least("src", "dst").alias("dst"))
            own = small.select("src", sql.col("src").alias("dst")).distinct()
            edges = _hung(small.union(own), sql.lit(True)).checkpoint()
            now = edges.agg(
                sql.sum(sql.col("src").cast("decimal(38,0)")), sql.sum(sql.col("dst").cast("decimal(38,0)"))
            ).first()
            if now == before:
                break
            before = now
        roots = edges.select(sql.col("src").alias("id"), sql.col("dst").alias("component"))
        found = (
            self.vertices.join(roots, "id", "left")
            .select("id", sql.coalesce("component", "id").alias("component"))
            .checkpoint()
        )
        say("components end")
        return found


def _hung(edges: Any, which: Any) -> Any:
    """Hang the neighbours of each vertex, those that are asked for, on the smallest of them and itself."""
    least = edges.groupBy("src").agg(sql.min("dst").alias("least"))
    joined = edges.filter(which).join(least, "src").select(sql.col("dst"), sql.least("least", "src").alias("root"))
    return joined.filter("dst != root").select(sql.col("dst").alias("src"), sql.col("root").alias("dst")).distinct()
