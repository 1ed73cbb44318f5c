import json
import pickle
from hashlib import sha256

import numpy as np
from raising import assert_raises

import lookalike as la
from lookalike.errors import InputDataError, ParameterError
from lookalike.inputs.overrides import read_overrides

DIGEST, OTHER = "0" * 64, "AB" * 32


def written(tmp_path, *lines):
    path = tmp_path / "overrides.jsonl"
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    return path


def test_a_file_says_what_a_list_says(tmp_path):
    lines = [
        {"id": "a", "action": "keep", "input": "x.jsonl", "sha256": DIGEST},
        {"id": 7, "action": "remove", "input": None, "sha256": None},
        {"id": "a", "action": "keep", "sha256": OTHER},
        {"id": "7", "action": "remove"},
    ]
    path = written(tmp_path, lines[0], "  ", *lines[1:])
    found, held = read_overrides(path), read_overrides(lines)
    for some, second in ((found, 3), (held, 2)):
        told = [(e.id, e.action, e.digests, e.line) for e in some.entries]
        assert told == [("a", "keep", (DIGEST, OTHER.lower()), 1), ("7", "remove", (), second)]
    assert found.to_dict() == {"keep": 1, "remove": 1, "sha256": sha256(path.read_bytes()).hexdigest()}
    assert (found.name, str(found), held.name, str(held)) == (str(path), str(path), None, "overrides")
    assert pickle.loads(pickle.dumps(found)) == found and read_overrides(found) is found and read_overrides(None) is None
    none = {"keep": 0, "remove": 0, "sha256": sha256(b"").hexdigest()}
    assert read_overrides(written(tmp_path)).to_dict() == read_overrides([]).to_dict() == none
    keep, remove = ([{"id": np.int64(5), "action": action}] for action in ("keep", "remove"))
    assert read_overrides(keep).entries[0].id == "5"
    assert read_overrides(keep).sha256 == read_overrides([dict(keep[0])]).sha256 != read_overrides(remove).sha256


def test_what_is_no_list_and_no_file_and_lines_that_contradict_each_other(tmp_path):
    assert_raises(InputDataError, "overrides, row 1: id is missing", read_overrides, [{"action": "keep"}])
    assert_raises(InputDataError, "line 1: not JSON: .*recursion", read_overrides, written(tmp_path, "[" * 100_000))
    path = written(tmp_path, {"id": 1, "action": "keep"}, {"id": 2, "action": "keep"}, {"id": "1", "action": "remove"})
    for given in ({"id": 1, "action": "keep"}, 7, iter([])):
        assert_raises(ParameterError, "overrides must be a path, a list of dicts or None; got", la.Settings, overrides=given)
    for said, given in {
        r"line 1: keep '1' contradicts line 3, remove; leave one": path,
        "nowhere: cannot be read: No such file": tmp_path / "nowhere",
        "cannot be read: Is a directory": str(tmp_path),
        "cannot be read: embedded null": "a\0b",
    }.items():
        assert_raises(InputDataError, said, la.Settings, overrides=given)
