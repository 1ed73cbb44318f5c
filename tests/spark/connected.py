"""`python connected.py FILE` prints what was kept of a data frame of Spark Connect, as JSON."""

import json
import sys

from pyspark.sql import SparkSession

import lookalike as la


def main():
    session = SparkSession.builder.remote("local[2]").getOrCreate()
    session.conf.set("spark.sql.shuffle.partitions", "2")
    before = dict(session.conf.getAll)
    frame = session.read.json(sys.argv[1])
    with la.dedup(frame, text="text", id="name", memory="600MB") as result:
        clean = sorted(row.name for row in result.clean(frame).collect())
        removed = sorted((row.id, row.duplicate_of) for row in result.removed.collect())
    assert dict(session.conf.getAll) == before, "settings stay"
    print(json.dumps({"clean": clean, "removed": removed}))
    session.stop()


if __name__ == "__main__":
    main()
