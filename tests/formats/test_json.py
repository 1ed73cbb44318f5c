"""JSON: objects are cut out of arrays whatever the blocks, and written back byte for byte."""

import json
import tracemalloc

import pytest
from formats.jobs import put, refused
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from lookalike.files import streams
from lookalike.formats.sources import open_sources
from lookalike.formats.split import Columns

A, B = "one two three four five six seven", "quite another text of several words"
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.sampled_from('ab"\\{}[]:,é\n ')),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(st.sampled_from('ab"]}')), inside, max_size=3),
    max_leaves=8,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("json")


@given(
    st.lists(st.tuples(st.text(st.sampled_from('ab"\\{}[],é\n')), values), max_size=6),
    st.sampled_from([None, 0, 2]),
    st.sampled_from(["array", "objects", "lines"]),
    st.integers(1, 40),
)
def test_objects_for_any_blocks(folder, rows, indent, shape, block):
    objects = [{"text": text, "x": value} for text, value in rows]
    if shape == "array":
        data = json.dumps(objects, indent=indent)
    else:
        data = "\n".join(json.dumps(one, indent=None if shape == "lines" else 1) for one in objects)
    path = folder / "in.json"
    path.write_text(data)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(streams, "BLOCK", block)
        (split,) = open_sources([path])
        found = [one.decode() for _, _, one in split.form.lines(split)]
    assert list(map(json.loads, found)) == objects
    assert all(one.strip() in data for one in found)


def test_kept_objects_are_the_bytes_of_the_input(tmp_path):
    """In an array; and if no input has one, as the inputs have them."""

    def written(result, name, **how):
        result.write(tmp_path / name, **how)
        return (tmp_path / name).read_text()

    first, same = f'{{"text":"{A}",  "n": 1.50e1}}', f'{{"text": "{A}"}}'
    deep = f'{{\n "text": "{B}",\n "deep": [\n1,\n{{"}}": "\\u00e9"}}]}}'
    array = put(tmp_path / "array.json", f" [{first},\n\n{deep} ,{same}]")
    lines = put(tmp_path / "lines.json", f'{first}\n\n{{"text": "more"}}\n{same}')
    result = la.dedup(array)
    assert result.removed["id"].to_pylist() == [f"{array}:3"]
    assert written(result, "out.json") == f"[\n{first},\n{deep}\n]\n"
    result.write(tmp_path / "out.jsonl.xz")
    assert [row["deep"] for _, row in rows_of(tmp_path / "out.jsonl.xz") if "deep" in row] == ['[1,{"}":"\\u00e9"}]']
    assert [row["keep"] for row in json.loads(written(result, "all.json", annotate=True))] == [True, True, False]
    assert written(la.dedup(lines), "lines-out.json") == f'{first}\n{{"text": "more"}}\n'
    pretty = put(tmp_path / "pretty.json", f"{{\n{first[1:]}\n{deep}")
    la.dedup(pretty).write(tmp_path / "folder")
    assert (tmp_path / "folder/pretty.json").read_text() == pretty.read_text()
    other = put(tmp_path / "b.jsonl", '\ufeff{"text": "b" }\r\n')
    every = f'[\n{first},\n{{"text": "more"}},\n{{"text": "b" }},\n{deep}\n]\n'
    assert written(la.dedup([lines, other, array]), "all-out.json") == every


def rows_of(path):
    """(number, row) of a file, nested values as they are written."""
    (split,) = open_sources([path])
    return [
        (n, {k: bytes(v).decode() if type(v).__name__ == "Raw" else v for k, v in row.items()}) for n, row in split.records()
    ]


def test_an_array_of_which_nothing_is_kept(tmp_path):
    one = put(tmp_path / "a.json", json.dumps([{"text": A}]))
    two = put(tmp_path / "b.json", json.dumps([{"text": A}, {"text": A}], indent=2))
    la.dedup([one, two]).write(tmp_path / "out")
    assert (tmp_path / "out/b.json").read_text() == "[]\n" and len(la.dedup(tmp_path / "out")) == 1
    assert (tmp_path / "out/a.json").read_text() == f'[\n{{"text": "{A}"}}\n]\n'


def test_memory_is_that_of_an_object(tmp_path, monkeypatch):
    """Not of the array: 6 MB of objects on one line."""
    path = put(tmp_path / "a.json", json.dumps([{"text": f"{i} words " * 50} for i in range(12_000)]))
    monkeypatch.setattr(streams, "BLOCK", 100_000)
    (split,) = open_sources([path])
    tracemalloc.start()
    assert sum(len(batch.texts) for batch in split.batches(Columns())) == 12_000
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert held < 3_000_000


@pytest.mark.parametrize("indent", [None, 4])
def test_how_many_rows_there_are_is_judged_by_objects(tmp_path, indent):
    rows = [{"text": f"{i:06} " * 9, "a": [1, 2, 3], "b": {"c": i}} for i in range(30_000)]
    for text, least, most in ((json.dumps(rows, indent=indent), 28_000, 32_000), ("[" + " " * 100, 0, 2)):
        (split,) = open_sources([put(tmp_path / "a.json", text)])
        assert least <= split.expected("text")[0] <= most


def test_settings_in_a_folder_are_an_error_with_a_way_out(tmp_path):
    put(tmp_path / "a.jsonl", json.dumps({"text": A}) + "\n")
    put(tmp_path / "config.json", json.dumps({"version": 1}, indent=2))
    said = r"config.json, row 1: field 'text' is missing; .* leave the file out: exclude="
    refused(said, la.dedup, tmp_path)
    assert len(la.dedup(tmp_path, glob="*.jsonl")) == 1
