"""Documents of one band key are linked: all pairs of a small bucket; of a crowd, each member with the first ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ..kernels import crowds as kernel
from ..kernels.banding import find_buckets
from ..values import Int64Array
from ..values.arrow import to_numpy
from ._links import at_most, head_places, written

NO_CROWDS = (1 << 63) - 1
_NO_SHIFT = np.uint64(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    """How the members of a bucket are linked.

    Parameters
    ----------
    max_bucket : int >= 1 or None
        A bucket with more members is a crowd; None: none is.
    boundary : int >= 0
        Orders below it are references, which are not linked with each other.
    limit : int >= 0, optional
        Stop after this many links of two documents.
    heads : int >= 0
        References, and other documents, of a crowd that are linked with all after them.
    """

    max_bucket: int | None
    boundary: int
    limit: int | None = None
    heads: int = 8

    @property
    def rule(self) -> kernel.BucketRule:
        """The rule as kernels take it."""
        return kernel.BucketRule(NO_CROWDS if self.max_bucket is None else self.max_bucket, self.heads, self.boundary)


class _Open:
    """The last bucket of a batch, to which the next batch may add; a crowd keeps its heads only."""

    def __init__(self, key: int, orders: Int64Array, settings: Bucket) -> None:
        self.key, self.settings, self.rule = key, settings, settings.rule
        self.orders, self.done = orders.copy(), 0

    def extended(self, orders: Int64Array) -> Iterator[pa.RecordBatch]:
        """Add members; yield the links that no later member can change."""
        self.orders = np.concatenate([self.orders, orders])
        if len(self.orders) <= self.rule.most < NO_CROWDS:
            return
        yield from self.links()
        if self.rule.most < NO_CROWDS:
            self.rule = self.rule._replace(most=0)
            places = head_places(self.orders, self.rule.heads, self.rule.boundary)
            self.orders = self.orders[places]
        self.done = len(self.orders)

    def links(self) -> Iterator[pa.RecordBatch]:
        """Yield the links of the members that have not had theirs."""
        return bucket_links(self.orders, np.array([[0, len(self.orders)]]), self.rule, self.done)


def bucket_links(orders: Int64Array, bounds: Int64Array, rule: kernel.BucketRule, done: int = 0) -> Iterator[pa.RecordBatch]:
    """Yield the links of buckets, without those of the first ``done`` members of the first one."""
    total = kernel.count_bucket_links(orders, bounds, rule, done)
    return written(total, lambda at, left, right: kernel.bucket_links(orders, bounds, rule, at, left, right), done)


def bucket(rows: Iterator[pa.RecordBatch], settings: Bucket) -> Iterator[pa.RecordBatch]:
    """Link the members of each bucket.

    Notes
    -----
    A bucket of n small members yields n (n - 1) / 2 links; a crowd at most 2 ``heads`` + 1 a member. A batch has at most 2^18
    links. Held: the last bucket of a batch, of a crowd its heads.
    """
    return at_most(_all_links(rows, settings), settings.limit)


def _all_links(rows: Iterator[pa.RecordBatch], settings: Bucket) -> Iterator[pa.RecordBatch]:
    """Yield the links of all buckets."""
    last: _Open | None = None
    for batch in rows:
        if not batch.num_rows:
            continue
        keys, orders = (to_numpy(batch[name]) for name in ("key", "order"))
        if last is not None:
            more = kernel.equal_to(keys, last.key)
            if more:
                yield from last.extended(orders[:more])
                keys, orders = keys[more:], orders[more:]
            if not len(keys):
                continue
            yield from last.links()
        end = kernel.last_run(keys)
        bounds = np.empty((end // 2 + 1, 2), np.int64)
        bounds = bounds[: find_buckets(keys[:end].view(np.uint64), _NO_SHIFT, bounds)]
        yield from bucket_links(orders, bounds, settings.rule)
        last = _Open(int(keys[end]), orders[end:], settings)
    if last is not None:
        yield from last.links()
