import json
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from formats.jobs import one_split, put, refused
from hypothesis import given
from hypothesis import strategies as st

from lookalike.formats import format as format_module
from lookalike.formats.format import Selection
from lookalike.formats.sources import open_sources


def loaded(value):
    return value if isinstance(value, int) else json.loads(bytes(value))


masks = st.lists(st.booleans(), max_size=12)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("in")


def split_of(folder, n):
    path = folder / f"{n}.jsonl"
    return open_sources([path if path.exists() else put(path, "".join(f'{{"i":{i}}}\n' for i in range(n)))])[0]


def additions(asked=None):
    def added(begin, end):
        if asked is not None:
            asked.append((begin, end))
        return pa.table({"double": pa.array([2 * i for i in range(begin, end)], "int64")})

    return added


def annotate(line, added):
    return json.dumps(json.loads(line) | added).encode() + b"\n"


@given(masks, st.booleans(), st.integers(1, 13), st.integers(1, 13))
def test_the_selected_rows_with_their_additions(folder, mask, annotated, at_once, records):
    split, asked = split_of(folder, len(mask)), []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(format_module, "_ADDED", at_once)
        patch.setattr(format_module, "_RECORDS", records)
        selection = Selection(split, np.array(mask, np.bool_), additions(asked) if annotated else None)
        wanted = [(i + 1, {"i": i} | ({"double": 2 * i} if annotated else {})) for i, chosen in enumerate(mask) if chosen]
        found = list(selection.records())
        assert [(number, {name: loaded(value) for name, value in record.items()}) for number, record in found] == wanted
        assert all(end - begin <= at_once for begin, end in asked)
        raw = split.places[0].path.read_bytes().splitlines(keepends=True)
        lines = list(selection.lines(raw, annotate))
    assert [json.loads(line) for line in lines] == [record for _, record in wanted]
    assert annotated or lines == [line for line, chosen in zip(raw, mask, strict=True) if chosen]
    assert selection.added_schema.names == (["double"] if annotated else [])


def test_another_number_of_rows_is_an_error(folder):
    for known, added in product([0, 2, 4, 9], [None, additions()]):
        selection = Selection(split_of(folder, 3), np.ones(known, np.bool_), added)
        for rows in (selection.records(), selection.lines([b'{"i":0}\n'] * 3, annotate)):
            refused(rf"3\.jsonl: {known} rows were read at first, (3|{known + 1}) now", list, rows)


def test_a_file_that_changes_is_an_error(folder):
    path = put(folder / "changing.jsonl", '{"i":0}\n{"i":1}\n')
    split = one_split(path)
    lines = Selection(split, np.ones(2, np.bool_)).lines([b"a\n", b"b\n"], annotate)
    assert next(lines) == b"a\n"
    put(path, '{"i":0}\n{"i":12}\n')
    refused("the file changed during the run", list, lines)
