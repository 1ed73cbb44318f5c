import csv
import datetime
import json
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import lookalike as la
from lookalike.errors import InputDataError

TEXT = "the quick brown fox jumps over the lazy dog again and again"
UTC = datetime.UTC

whole = st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3) | st.sampled_from([2**53, 2**53 + 1, 10**18])
floats = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([-0.0, 0.1, 1.0, 2.0**53, 2.5, 1e18, 1e300, 5e-324])
decimals = st.decimals(-(10**9), 10**9, places=4) | st.sampled_from([Decimal("0.1000"), Decimal("1.0000"), Decimal("2.5000")])


def exact(value):
    """A float with a fraction is the decimal number it is printed as."""
    if isinstance(value, float) and not value.is_integer():
        return Fraction(repr(value))
    return Fraction(value)


def order(value):
    return value.encode() if isinstance(value, str) and value.isalpha() else exact(value)


def as_json(value):
    return str(value) if isinstance(value, Decimal) else json.dumps(value)


def write(path, form, values, kind=None):
    path = path.with_suffix(f".{form}")
    if form == "parquet":
        pq.write_table(pa.table({"text": [TEXT] * len(values), "v": pa.array(values, kind)}), path)
    elif form == "jsonl":
        path.write_text("".join(f'{{"text": "{TEXT}", "v": {as_json(v)}}}\n' for v in values))
    else:
        with open(path, "w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["text", "v"])
            for v in values:
                rows.writerow([TEXT, "" if v is None else v if isinstance(v, str) else as_json(v)])
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("values")


def chunks(*kinds):
    """Lists of (format, values of one kind)."""
    values = st.sampled_from(kinds).flatmap(lambda kind: st.lists(st.none() | kind, min_size=1, max_size=4))
    return st.lists(st.tuples(st.sampled_from(["parquet", "jsonl", "csv"]), values), min_size=1, max_size=3)


def arrow_type(values):
    kinds = {type(v) for v in values if v is not None}
    return pa.decimal128(20, 4) if kinds == {Decimal} else None


def files(folder, some):
    return [write(folder / str(i), form, values, arrow_type(values)) for i, (form, values) in enumerate(some)]


words = st.text("abcxyzé", min_size=1, max_size=3)


@given(chunks(whole, floats, decimals) | chunks(words), st.sampled_from(["largest", "smallest"]))
@example([("parquet", [2**53 + 1]), ("parquet", [2.0**53]), ("csv", [2**53 + 1])], "largest")
@example([("parquet", [Decimal("0.1000")]), ("jsonl", [0.1]), ("csv", [0.1])], "largest")
@example([("csv", ["12345678901234567.891", "12345678901234567.892"])], "largest")
@example([("csv", ["1700000000.123456788", "1700000000.123456789", "1e400"])], "largest")
def test_values_of_all_types_and_formats_have_one_order(folder, some, policy):
    values = [v for _, chunk in some for v in chunk]
    known = [i for i, v in enumerate(values) if v is not None]
    best = (max if policy == "largest" else min)(known, key=lambda i: order(values[i]), default=0)  # the first of equal ones
    assert np.flatnonzero(la.dedup(files(folder, some), keep=f"{policy}:v").keep).tolist() == [best]


def meaning(value):
    if value is None or isinstance(value, (bool, str)):
        return type(value).__name__, value
    return "number", exact(value)


@given(chunks(whole, floats, decimals, st.booleans(), words))
@example([("jsonl", [1, True, "1", None]), ("csv", [1.0, True, None]), ("parquet", [True]), ("parquet", [1.0])])
def test_within_equal_values_of_all_types_and_formats_are_one_group(folder, some):
    meanings = [meaning(v) for _, chunk in some for v in chunk]
    first = [meanings.index(m) for m in meanings]
    result = la.dedup(files(folder, some), within="v")
    assert result.keep.tolist() == [first[i] == i for i in range(len(first))]


def test_times_compare_by_instant_at_any_unit_and_zone(tmp_path):
    def kept(*cells, **how):
        paths = [write(tmp_path / str(i), "parquet", [value], kind) for i, (value, kind) in enumerate(cells)]
        return la.dedup(paths, **how).keep.tolist()

    early, late, noon = (datetime.datetime(*some) for some in ((2020, 1, 1), (9999, 12, 31), (2024, 5, 1, 12)))
    units = [[(late, kind), (early, pa.timestamp("ns")), (early, kind), (early.date(), pa.date32())]
             for kind in map(pa.timestamp, ("s", "ms", "us"))]  # fmt: skip
    kinds = pa.timestamp("us", "UTC"), pa.timestamp("ms", "Asia/Tokyo"), pa.timestamp("s", "America/New_York")
    instants = noon.replace(tzinfo=UTC), noon.replace(tzinfo=UTC), noon.replace(second=1, tzinfo=UTC)
    zones = [*zip(instants, kinds, strict=True)]
    for cells, how, wanted in (
        *((cells, {"keep": "largest:v"}, [True, False, False, False]) for cells in units),
        *((cells, {"keep": "smallest:v"}, [False, True, False, False]) for cells in units),
        *((cells, {"within": "v"}, [True, True, False, False]) for cells in units),
        (zones, {"keep": "largest:v"}, [False, False, True]),
        (zones, {"within": "v"}, [True, False, True]),
        ([zones[0], (noon, pa.timestamp("us"))], {"within": "v"}, [True, True]),
    ):
        assert kept(*cells, **how) == wanted
    with pytest.raises(InputDataError, match=r"with a time zone \(.*0.parquet, row 1\).*without.*3.parquet, row 1\)"):
        kept(*zones, (noon, pa.timestamp("us")), keep="largest:v")


def test_every_type_of_arrow_has_an_order_or_is_refused():
    """The second value is the larger."""
    for values in (
        [datetime.time(1), datetime.time(2)], [datetime.timedelta(days=-1), datetime.timedelta(days=1)], [False, True],
        [b"\xf0", b"\xff"], pa.array(["x", "y"]).dictionary_encode(), pa.array([1, 2**64 - 1], pa.uint64()),
        [Decimal("1.5"), Decimal("1.50001")], [float("nan"), -1.0], pa.array([np.float16(1), np.float16(2)], pa.float16()),
        [[1], [2]], [{"a": 1}, {"a": 2}], pa.array([None, None], pa.int64()),
    ):  # fmt: skip
        column = pa.array(values) if isinstance(values, list) else values
        table = pa.table({"text": [TEXT] * 3, "v": pa.concat_arrays([column, column[1:]])})
        if pa.types.is_nested(column.type):
            with pytest.raises(InputDataError, match="holds (a list|an object).*no order"):
                la.dedup(table, keep="largest:v")
        else:
            assert la.dedup(table, keep="largest:v").keep.tolist() == [column.null_count == 2, column.null_count < 2, False]
        assert la.dedup(table, within="v").keep.tolist() == [True, column.null_count < 2, False]


def test_no_number_is_a_group_of_its_own():
    table = pa.table({"text": [TEXT] * 3, "v": [None, float("nan"), 0.0]})
    assert la.dedup(table, within="v").keep.tolist() == [True, False, True]
