"""Outputs that appear together: what a process that is killed leaves, and what a journal of a stranger may not do."""

import json
import os

import pytest

import lookalike as la
from lookalike.files.descriptions import checksum_of
from lookalike.files.disk import SIDECAR, atomic_directory
from lookalike.files.publication import JOURNAL, Publication, recover


def write(path, text):
    """Write a file, or a folder with one and the list of it."""
    if str(path).endswith((".txt", SIDECAR)):
        with open(path, "w") as file:
            file.write(text)
        return
    with atomic_directory(type(HERE)(str(path).rstrip("/")), replace=False) as new:
        with new.file("rows.txt") as stream:
            stream.write(text.encode())
        with new.file(SIDECAR) as stream:
            stream.write(json.dumps({"files": ["rows.txt"]}).encode())


@pytest.fixture
def place(tmp_path):
    global HERE
    HERE = tmp_path
    (tmp_path / "history").mkdir()
    return tmp_path


def names(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def published(place, text, replace=False):
    with Publication(place / "history") as together:
        for name in ("a.txt", "b", "x" * 240 + ".txt"):
            write(hidden := together.place(place / name, replace), text)
            if name == "a.txt":
                write(hidden + SIDECAR, "")
        together.publish()


def test_all_appear_with_what_is_beside_them(place):
    published(place, "one")
    wanted = sorted(["a.txt", f"a.txt{SIDECAR}", "b/rows.txt", f"b/{SIDECAR}", "x" * 240 + ".txt"])
    assert names(place) == wanted
    with pytest.raises(la.errors.OutputError, match=r"a\.txt was written by another process meanwhile, and was left unchanged"):
        published(place, "two")
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
    """After any renaming or removal: the next process leaves all of the new, or all of the old."""
    published(place, "one")
    left, calls = [stop], {name: getattr(os, name) for name in ("rename", "replace")}

    def counted(name):
        def call(*given, **more):
            left[0] -= 1
            if left[0] < 0:
                raise KeyboardInterrupt
            return calls[name](*given, **more)

        return call

    with monkeypatch.context() as broken:
        for name in calls:
            broken.setattr(os, name, counted(name))
        broken.setattr("lookalike.files.publication._undo", lambda *given: None)
        try:
            published(place, "two", replace=True)
        except KeyboardInterrupt:
            finished = recover_(place, broken, calls)
        else:
            finished = True
    text = "two" if finished else "one"
    assert {(place / name).read_text() for name in ("a.txt", "b/rows.txt", "x" * 240 + ".txt")} == {text}
    assert not [path for path in place.rglob(".*") if path.name != SIDECAR]


def recover_(place, broken, calls):
    broken.undo()
    return recover(place / "history", ())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"outputs": [{"place": "/etc/passwd", "hidden": "/tmp/mine", "replace": True}]}, "names files that no job writes"),
        ({"outputs": [{"place": "a", "hidden": ".00000000-a", "replace": True}]}, "names files that no job writes"),
        ({"outputs": [{"place": "{}/a", "hidden": "{}/.0000000g-a", "replace": True}]}, "names files that no job writes"),
        (
            {"outputs": [{"place": "{}/a", "hidden": "{}/other/.00000000-a", "replace": True}]},
            "names files that no job writes",
        ),
        ({"removed": ["../other"]}, "damaged"),
        ({"removed": [""]}, "damaged"),
        ({"whole": "yes"}, "damaged"),
        (
            {"outputs": [{"place": "{}/a", "hidden": "{}/.00000000-a", "replace": True}]},
            "another user, or you on another machine",
        ),
    ],
    ids=range(8),
)
def test_journals_of_strangers(change, said, place):
    (place / ".00000000-a").write_text("theirs")
    held = {"lookalike": "0", "format": 1, "whole": True, "outputs": [], "removed": []} | json.loads(
        json.dumps(change).replace("{}", str(place))
    )
    (place / "history" / JOURNAL).write_text(json.dumps({"checksum": checksum_of(held), **held}))
    with pytest.raises(la.LookalikeError, match=said):
        recover(place / "history", ())
    assert names(place) == [".00000000-a", f"history/{JOURNAL}"]


def test_a_sidecar_of_an_output_that_is_gone_is_replaced(place):
    (place / f"a.txt{SIDECAR}").write_text("of an output that is gone")
    with Publication(place / "history") as together:
        hidden = together.place(place / "a.txt")
        for name in (hidden, hidden + SIDECAR):
            with open(name, "w") as file:
                file.write("new")
        together.publish()
    assert (place / f"a.txt{SIDECAR}").read_text() == (place / "a.txt").read_text() == "new"
