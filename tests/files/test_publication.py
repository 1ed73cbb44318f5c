import json
import os
from pathlib import Path

import pytest
from files.folder_files import names, stopped
from raising import assert_raises

import lookalike as la
from lookalike.errors import OutputError
from lookalike.files.descriptions import checksum_of
from lookalike.files.disk import SIDECAR, atomic_directory
from lookalike.files.publication import JOURNAL, Publication, recover


def write(path, text):
    if str(path).endswith((".txt", SIDECAR)):
        Path(path).write_text(text)
        return
    with atomic_directory(Path(path), replace=False) as new:
        for name, content in (("rows.txt", text), (SIDECAR, '{"files": ["rows.txt"]}')):
            with new.file(name) as stream:
                stream.write(content.encode())


@pytest.fixture
def place(tmp_path):
    (tmp_path / "history").mkdir()
    return tmp_path


def published(place, text, replace=False):
    with Publication(place / "history") as together:
        for name in ("a.txt", "b", "x" * 240 + ".txt"):
            write(hidden := together.place(place / name, replace), text)
            if name == "a.txt":
                write(hidden + SIDECAR, "")
        together.publish()


def test_all_appear_with_what_is_beside_them(place):
    wanted = sorted(["a.txt", f"a.txt{SIDECAR}", "b/rows.txt", f"b/{SIDECAR}", "x" * 240 + ".txt"])
    published(place, "one")
    said = r"a\.txt was written by another process meanwhile, and was left unchanged"
    assert_raises(OutputError, said, published, place, "two")
    assert names(place) == wanted and (place / "a.txt").read_text() == "one"
    published(place, "two", replace=True)
    assert names(place) == wanted and (place / "b" / "rows.txt").read_text() == "two"
    assert recover(place / "history", ()) is None


def test_what_is_not_published_is_removed(place):
    with pytest.raises(ZeroDivisionError), Publication(place / "history") as together:
        write(together.place(place / "a.txt"), "one")
        write(together.place(place / "b"), "one")
        raise ZeroDivisionError
    with Publication(place / "history") as together:
        write(together.place(place / "a.txt"), "one")
    assert names(place) == []


@pytest.mark.parametrize("stop", range(1, 12))
def test_a_process_that_stops_anywhere(stop, place, monkeypatch):
    """The next process leaves all of the new, or all of the old."""
    published(place, "one")
    finished = None
    with monkeypatch.context() as broken:
        broken.setattr("lookalike.files.publication._undo", lambda *given: None)
        with stopped(stop, (os, "rename"), (os, "replace")):
            published(place, "two", replace=True)
            finished = True
    finished = finished or recover(place / "history", ())
    text = "two" if finished else "one"
    assert {(place / name).read_text() for name in ("a.txt", "b/rows.txt", "x" * 240 + ".txt")} == {text}
    assert not [path for path in place.rglob(".*") if path.name != SIDECAR]


def output(place="{}/a", hidden="{}/.00000000-a"):
    return {"outputs": [{"place": place, "hidden": hidden, "replace": True}]}


def test_journals_of_strangers(place):
    (place / ".00000000-a").write_text("theirs")
    others = "names files that no job writes"
    for said, change in (
        (others, output("/etc/passwd", "/tmp/mine")),
        (others, output("a", ".00000000-a")),
        (others, output(hidden="{}/.0000000g-a")),
        (others, output(hidden="{}/other/.00000000-a")),
        ("another user, or you on another machine", output()),
        ("damaged", {"removed": ["../other"]}),
        ("damaged", {"removed": [""]}),
        ("damaged", {"whole": "yes"}),
    ):
        held = {"lookalike": "0", "format": 1, "whole": True, "outputs": [], "removed": []} | change
        held = json.loads(json.dumps(held).replace("{}", str(place)))
        (place / "history" / JOURNAL).write_text(json.dumps({"checksum": checksum_of(held), **held}))
        assert_raises(la.LookalikeError, said, recover, place / "history", ())
        assert names(place) == [".00000000-a", f"history/{JOURNAL}"]


def test_a_sidecar_of_an_output_that_is_gone_is_replaced(place):
    (place / f"a.txt{SIDECAR}").write_text("of an output that is gone")
    with Publication(place / "history") as together:
        hidden = together.place(place / "a.txt")
        for name in (hidden, hidden + SIDECAR):
            write(name, "new")
        together.publish()
    assert (place / f"a.txt{SIDECAR}").read_text() == (place / "a.txt").read_text() == "new"
