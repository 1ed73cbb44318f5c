import json
import tracemalloc

import pytest
from formats.jobs import one_split, put
from hypothesis import given
from hypothesis import strategies as st

from lookalike.files import streams
from lookalike.formats.split import Columns

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
        split = one_split(path)
        found = [one.decode() for _, _, one in split.form.lines(split)]
    assert list(map(json.loads, found)) == objects
    assert all(one.strip() in data for one in found)


def test_memory_is_that_of_an_object(tmp_path, monkeypatch):
    """6 MB of objects on one line."""
    path = put(tmp_path / "a.json", json.dumps([{"text": f"{i} words " * 50} for i in range(12_000)]))
    monkeypatch.setattr(streams, "BLOCK", 100_000)
    split = one_split(path)
    tracemalloc.start()
    assert sum(len(batch.texts) for batch in split.batches(Columns())) == 12_000
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert held < 3_000_000


@pytest.mark.parametrize("indent", [None, 4])
def test_how_many_rows_there_are_is_judged_by_objects(tmp_path, indent):
    rows = [{"text": f"{i:06} " * 9, "a": [1, 2, 3], "b": {"c": i}} for i in range(30_000)]
    for text, n in ((json.dumps(rows, indent=indent), 30_000), ("[" + " " * 100, 1)):
        split = one_split(put(tmp_path / "a.json", text))
        assert abs(split.expected("text")[0] - n) <= max(1, n // 15)
