"""What one bucket of a cluster costs its task: members of one key are brought together, sorted and linked.

    python benchmarks/big_bucket.py --members 10000000 50000000

The packs come as Spark hands them over, and all links are made and cut into packs again, as in a job; nothing is written but
what does not fit what a task holds. The order of the members is that of their documents within a pack, and no order at all among packs.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial

import numpy as np
import pyarrow as pa

from lookalike.engines.spark import sorting as spark_sorting
from lookalike.engines.spark.packs import Packing, pack_batches, unpacked
from lookalike.steps.pairs import bucket
from lookalike.values.tables import LINKS

KEYED = pa.schema([("key", pa.int64()), ("order", pa.int64())])
PACK_ROWS = 40_000
"""Documents of a piece of 64 MB, about half of it."""


def packs_of(members: int, settings: Packing) -> Iterator[pa.RecordBatch]:
    """Yield the packs of a bucket of one key, in any order."""
    begins = np.random.default_rng(1).permutation(np.arange(0, members, PACK_ROWS))
    for begin in begins.tolist():
        orders = np.arange(begin, min(begin + PACK_ROWS, members))
        yield from pack_batches(iter([pa.record_batch([np.full(len(orders), 5), orders], schema=KEYED)]), settings)


def peak() -> float:
    """Return the largest resident size so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def run(members: int, parts: int) -> None:
    """Run one size, in this process."""
    settings = Packing(by="key", cut=1, schema=KEYED)
    again = Packing(by="left", cut=parts, schema=LINKS, parted="right")
    for n in (1000, members):  # the first compiles
        before, cpu, began = peak(), time.process_time(), time.perf_counter()
        rows = list(packs_of(n, settings)) if n == 1000 else packs_of(n, settings)
        links = packs = 0
        steps = partial(bucket, max_bucket=128, boundary=0)(unpacked(iter(rows), settings, ("order",), False))

        def counted(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            nonlocal links
            for batch in batches:
                links += len(batch)
                yield batch

        sizes = [0] * parts
        for batch in pack_batches(counted(steps), again):
            packs += batch.nbytes
            for part, pack in zip(batch["bucket"].to_pylist(), batch["pack"], strict=True):
                sizes[part] += len(pack.as_buffer())
    print(f"{members:,} members of one key: {time.perf_counter() - began:.1f} s, {time.process_time() - cpu:.1f} CPU-s, peak "
          f"{peak():,.0f} MB ({before:,.0f} before); {links:,} links, {packs / 1e9:.2f} GB of packs, the largest of {parts} parts "
          f"{max(sizes) / 1e9:.2f} GB", flush=True)  # fmt: skip


def main() -> None:
    """Run the sizes asked for, each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--members", type=int, nargs="+", default=[10_000_000, 50_000_000])
    parser.add_argument("--parts", type=int, default=200, help="tasks that the links go to")
    parser.add_argument("--held", type=int, default=spark_sorting.BUCKET_BYTES >> 20, help="MB of rows that a task holds")
    given = parser.parse_args()
    spark_sorting.BUCKET_BYTES = given.held << 20
    if len(given.members) == 1:
        run(given.members[0], given.parts)
        return
    for members in given.members:
        subprocess.run(
            [sys.executable, __file__, "--members", str(members), "--parts", str(given.parts), "--held", str(given.held)],
            check=True,
        )


if __name__ == "__main__":
    main()
