"""Run text-dedup's script for Spark in this process, and say what all processes used.

    python run_script.py SCRIPT TASKS ARGUMENT ...

TASKS above 0: shuffles have no more tasks than that; the script asks for 4,096 and 8,192, which are for large clusters.
"""

from __future__ import annotations

import runpy
import sys
from typing import Any

from graphframes import say
from pyspark import SparkConf, SparkContext
from pyspark.sql.classic.dataframe import DataFrame
from spark import Peaks


def main() -> None:
    """Run the script as its users do."""
    script, tasks = sys.argv[1], int(sys.argv[2])
    set_one, cut, set_folder = SparkConf.set, DataFrame.repartition, SparkContext.setCheckpointDir

    def chosen(self: SparkConf, name: str, value: str) -> SparkConf:
        return set_one(
            self, name, str(tasks) if name in ("spark.sql.shuffle.partitions", "spark.default.parallelism") else value
        )

    def at_most(self: Any, n: int, *columns: Any) -> Any:
        return cut(self, min(n, tasks), *columns)

    def begun(self: SparkContext, folder: str) -> None:
        say("session begun")
        set_folder(self, folder)

    if tasks:
        SparkConf.set, DataFrame.repartition = chosen, at_most  # type: ignore[method-assign]
    SparkContext.setCheckpointDir = begun  # type: ignore[method-assign]
    sys.argv = [script, *sys.argv[3:]]
    with Peaks():  # so that the time of workers that end is known
        runpy.run_path(script, run_name="__main__")
    say("end")


main()
