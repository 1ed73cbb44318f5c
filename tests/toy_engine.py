"""An engine in plain Python: rows are dictionaries in lists, shuffled wherever the protocol promises no order."""

from dataclasses import replace
from functools import partial
from random import Random

import numpy as np
import pyarrow as pa

from lookalike.engines.engine import Engine
from lookalike.inputs.read import read_documents
from lookalike.inputs.texts import read_again


class Rows:
    """Batches are cut elsewhere each time; those that are ready have columns of their own."""

    def __init__(self, schema, rows, random, ready=()):
        self.schema, self.rows, self.random, self.ready = schema, rows, random, ready

    def batches(self):
        yield from self.ready
        begin = 0
        while begin < len(self.rows):
            end = begin + self.random.choice((0, 1, 2, 10, 100, 5000))
            yield pa.RecordBatch.from_pylist(self.rows[begin:end], schema=self.schema)
            begin = end

    def select(self, names):
        rows = [{name: row[name] for name in names} for row in self.rows]
        return Rows(pa.schema([self.schema.field(name) for name in names]), rows, self.random)

    def slice(self, begin, end):
        return Rows(self.schema, sorted(self.rows, key=lambda row: row["position"])[begin:end], self.random)


class ToyEngine(Engine):
    joins_keep_order = False
    components = None

    def __init__(self, seed=0):
        self.random = Random(seed)
        self.documents, self.order_of, self.stored, self.closed = None, {}, {}, False

    def _table(self, schema, rows, anyhow=False):
        if anyhow:
            self.random.shuffle(rows)
        return Rows(schema, rows, self.random)

    def source(self, splits, reading):
        batches = [batch for *_, batch in read_documents(splits, reading)]
        rows = [row for batch in batches if "text" in batch.schema.names for row in batch.to_pylist()]
        self.documents = self._table(reading.schema, rows, anyhow=True)
        self.documents.ready = [batch for batch in batches if "text" not in batch.schema.names]
        self.texts_of = partial(read_again, splits, replace(reading, within=None))
        return self.documents

    def rows(self, table):
        return self._table(table.schema, table.to_pylist())

    def map(self, rows, step, schema):
        return self._table(schema, pa.Table.from_batches(step(rows.batches()), schema).to_pylist())

    def group_by(self, rows, by, sort, once=False):
        names = [sort] if isinstance(sort, str) else sort
        schema, listed = rows.schema, rows.rows
        if by is not None and pa.types.is_nested(schema.field(by).type):
            listed = [{"key": key, "order": row["order"]} for row in listed for key in row[by] or ()]
            schema, by = pa.schema([("key", pa.int64()), ("order", pa.int64())]), "key"
        groups = {}
        for row in sorted(listed, key=lambda row: [row[name] for name in names]):
            part = row[names[0]] // 2 if once else 0
            groups.setdefault((by and row[by], part), []).append(row)
        keys = list(groups)
        self.random.shuffle(keys)
        return self._table(schema, [row for key in keys for row in groups[key]])

    def join(self, left, right, on, how):
        if right is self.documents:
            positions = [position for batch in right.ready for position in batch["position"].to_pylist()]
            saved, _ = self.texts_of(np.array(positions, np.int64))
            texts = {row["position"]: row["text"] for row in right.rows} | saved
            texts = [{"order": self.order_of[position], "text": text} for position, text in texts.items()]
            right = Rows(pa.schema([("order", pa.int64()), right.schema.field("text")]), texts, self.random)
        known = {row["order"]: row for row in right.rows}
        if how in ("semi", "anti"):
            rows = [row for row in left.rows if (row[on] in known) == (how == "semi")]
            return self._table(left.schema, rows, anyhow=True)
        prefix = "" if on == "order" else f"{on}_"
        fields = {field.name: f"{prefix}{field.name}" for field in right.schema if field.name != "order"}
        schema = pa.schema([*left.schema, *(right.schema.field(name).with_name(new) for name, new in fields.items())])
        rows = [row | {new: known.get(row[on], {}).get(name) for name, new in fields.items()}
                for row in left.rows if how == "left" or row[on] in known]  # fmt: skip
        return self._table(schema, rows, anyhow=True)

    def union(self, first, second):
        return self._table(first.schema, first.rows + second.rows, anyhow=True)

    def aggregate(self, rows, fold):
        totals = [fold.start() for _ in range(3)]
        for batch in rows.batches():
            fold.add(self.random.choice(totals), batch)
        return fold.combine(fold.combine(totals[0], totals[1]), totals[2])

    def rank(self, rows, by, boundary):
        ranked = sorted(rows.rows, key=lambda row: row["position"])
        for name in reversed(by):
            column = name.removeprefix("-")
            last = [row for row in ranked if row[column] in (None, b"")]
            some = [row for row in ranked if row[column] not in (None, b"")]
            ranked = sorted(some, key=lambda row: row[column], reverse=column != name) + last
        ranked.sort(key=lambda row: row["position"] if row["position"] < boundary else boundary)
        self.order_of = {row["position"]: order for order, row in enumerate(ranked)}
        added = [row | {"order": order} for order, row in enumerate(ranked)]
        return self._table(rows.schema.append(pa.field("order", pa.int64())), added, anyhow=True)

    def materialize(self, rows, name):
        assert name not in self.stored or sorted(map(str, self.stored[name].rows)) == sorted(map(str, rows.rows)), name
        return self.stored.setdefault(name, rows)

    def has_room(self, n_bytes):
        return self.random.random() < 0.5

    def close(self):
        self.closed = True
