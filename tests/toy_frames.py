"""As much of Spark's data frames as the engine asks for, in plain Python, without a JVM."""

import re
import traceback
from importlib.metadata import version
from types import SimpleNamespace

import pyarrow as pa
import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")

from pyspark import TaskContext, cloudpickle
from pyspark.errors import PythonException

KINDS = {"bigint": pa.int64(), "int": pa.int32(), "smallint": pa.int16(), "tinyint": pa.int8(), "boolean": pa.bool_(),
         "double": pa.float64(), "string": pa.string(), "binary": pa.binary()}  # fmt: skip
NAMES = {kind: name for name, kind in KINDS.items()}


def kind_of(name):
    found = re.fullmatch(r"array<(.*)>", name)
    return pa.list_(kind_of(found[1])) if found else KINDS[name]


def named(kind):
    return f"array<{named(kind.value_type)}>" if pa.types.is_list(kind) else NAMES[kind]


def schema_of(ddl):
    return pa.schema([(name, kind_of(kind)) for name, kind in re.findall(r"`?(\w+)`? ([\w<>]+)", ddl)])


def deal(table, n):
    return [table.take(pa.array(range(i, len(table), n), pa.int64())) for i in range(n)]


def decisions_of(result):
    made = result._job.decisions
    return pa.Table.from_batches(made.batches(), made.schema).sort_by("position")


class ToyFrame:
    def __init__(self, session, schema, make):
        self.session, self.schema, self.make = session, schema, make

    def __getattr__(self, name):
        if name == "repartitionById" and not self.session.is_old:
            return self._by_id
        raise AttributeError(name)

    @property
    def columns(self):
        return self.schema.names

    @property
    def dtypes(self):
        return [(field.name, named(field.type)) for field in self.schema]

    @property
    def sparkSession(self):  # noqa: N802
        return self.session

    def select(self, *names):
        assert not any("`" in name.strip("`").replace("``", "") for name in names), "a quote in a name comes twice"
        names = [name[1:-1].replace("``", "`") if name[0] == "`" else name for name in names]
        schema = pa.schema([self.schema.field(name) for name in names])
        return ToyFrame(self.session, schema, lambda: [part.select(names) for part in self.make()])

    def mapInArrow(self, function, ddl):  # noqa: N802
        schema, pickled = schema_of(ddl), cloudpickle.dumps(function)

        def run(number, part):
            """The first attempt fails at its end if the session says so."""
            for attempt in range(2):
                TaskContext._taskContext = SimpleNamespace(partitionId=lambda: number)
                try:
                    task = cloudpickle.loads(pickled)
                    batches = task(iter(part.to_batches(max_chunksize=self.session.batch_rows)))
                    made = pa.Table.from_batches(batches, schema)
                except Exception:
                    raise PythonException(traceback.format_exc()) from None  # all that Spark carries of an error
                finally:
                    TaskContext._taskContext = None
                if attempt or not self.session.fails_first:
                    return made

        return ToyFrame(self.session, schema, lambda: [run(number, part) for number, part in enumerate(self.make())])

    def union(self, other):
        assert self.schema.types == other.schema.types
        return ToyFrame(
            self.session, self.schema, lambda: self.make() + [part.rename_columns(self.columns) for part in other.make()]
        )

    unionByName = union  # noqa: N815

    def _whole(self):
        return pa.concat_tables([self.schema.empty_table(), *self.make()])

    def repartition(self, n, name=None):
        """Rows that are equal in a column go to one part, which may get several of them, and others none."""
        if name is not None:
            return self._by(n, lambda value: value // 2 % n, name)
        return ToyFrame(self.session, self.schema, lambda: deal(self._whole(), n))

    def _by_id(self, n, name):
        assert self.schema.field(name).type == pa.int32()

        return self._by(n, lambda number: number, name)

    def _by(self, n, part_of, name):
        def make():
            whole = self._whole()
            numbers = [part_of(value) for value in whole[name].to_pylist()]
            assert all(0 <= number < n for number in numbers)
            return [
                whole.take(pa.array([i for i, number in enumerate(numbers) if number == part], pa.int64())) for part in range(n)
            ]

        return ToyFrame(self.session, self.schema, make)

    def sortWithinPartitions(self, *names):  # noqa: N802
        keys = [(name, "ascending") for name in names]
        return ToyFrame(self.session, self.schema, lambda: [part.sort_by(keys) for part in self.make()])

    def orderBy(self, *names, ascending):  # noqa: N802
        """Bytes are sorted as Spark sorts them."""
        keys = [(name, "ascending" if up else "descending") for name, up in zip(names, ascending, strict=True)]

        def make():
            whole = self._whole().sort_by(keys)
            cut = len(whole) // 3
            return [whole.slice(0, cut), whole.slice(cut, cut), whole.slice(2 * cut)]

        return ToyFrame(self.session, self.schema, make)

    def collect(self):
        self.session.collected += (whole := self._whole()).nbytes
        return [SimpleNamespace(**row) for row in whole.to_pylist()]


class ToySession:
    def __init__(self, n_tasks=3, batch_rows=7, fails_first=False, is_old=False):
        self.version = version("pyspark")
        self.batch_rows, self.fails_first, self.is_old, self.collected = batch_rows, fails_first, is_old, 0
        settings = {"spark.sql.shuffle.partitions": str(n_tasks)}
        self.conf = SimpleNamespace(get=lambda name, *default: settings.get(name, *default), set=settings.__setitem__,
                                    unset=lambda name: settings.pop(name, None))  # fmt: skip

    def newSession(self):  # noqa: N802
        return self

    def range(self, begin, end, step, n):
        schema = pa.schema([("id", pa.int64())])
        parts = deal(pa.table({"id": list(range(begin, end))}, schema=schema), n)
        return ToyFrame(self, schema, lambda: parts)

    def frame(self, table, n=3):
        parts = [table.slice(i * len(table) // n, (i + 1) * len(table) // n - i * len(table) // n) for i in range(n)]
        return ToyFrame(self, table.schema, lambda: parts)
