import pytest
from raising import assert_raises

from lookalike.errors import OutputError
from lookalike.files.folder import create, folder_of, put
from lookalike.formats.writers import describe


@pytest.fixture(params=["disk", "store"])
def root(request, tmp_path):
    return tmp_path / "root" if request.param == "disk" else request.getfixturevalue("bucket") / "root"


def names(root, ending=""):
    return sorted(path.name for path in folder_of(root).files(ending))


def test_files_are_written_and_removed(root, tmp_path):
    """A cleared folder is empty on a disk alone: on a store another driver may be writing there."""
    folder = folder_of(root)
    assert names(root) == [] and not folder.exists()
    folder.clear()
    put(root / "a.done", b"12")
    put(root / "a.done", b"345")
    with create(root / "sub/b.gz") as stream:
        stream.write(b"plain")
    assert (root / "a.done").read_bytes() == b"345" and (root / "sub/b.gz").read_bytes() == b"plain"
    assert names(root, ".done") == ["a.done"] and folder.exists()
    assert list(folder.sizes(["sub/b.gz", "a.done"])) == [5, 3]
    assert_raises(OSError, "none", list, folder.sizes(["none"]))
    folder.clear()
    assert names(root) == ([] if root.parent == tmp_path else ["a.done", "sub"])
    for _ in range(2):
        folder.remove()
    assert names(root) == [] and not (root / "sub/b.gz").exists() and not folder.exists()


def published(root, attempts):
    folder = folder_of(root).check(True)
    with folder.publish([f"{i}.csv" for i in range(len(attempts))], replace=True) as new:
        with new.tasks() as place:
            for i, data in enumerate(attempts):
                for name in (f"a{i}", f"b{i}"):  # the second is run again, and counts
                    with folder_of(place).attempt(name) as attempt, attempt.file(f"{i}.csv") as stream:
                        stream.write(data)
                assert new.take(f"{attempt.inside}/{i}.csv".lstrip("/"), f"{i}.csv", len(data)) == f"{i}.csv"
        describe(new, {})
    return new.files


def test_what_tasks_wrote_is_published(root):
    """In place of what was published before, and nothing is left of tasks."""
    for attempts in ([b"1", b"22"], [b"333"]):
        wanted = [f"{i}.csv" for i in range(len(attempts))]
        assert published(root, attempts) == [*wanted, "_lookalike.json"]
        assert names(root) == [*wanted, "_lookalike.json"] and [(root / name).read_bytes() for name in wanted] == attempts
        assert names(root.parent) in ([], ["root"])
    assert_raises(OutputError, "root exists; pass force=True", folder_of(root).check, False)


def test_what_tasks_wrote_apart(root):
    """Rows of sketches, which no reader of folders takes for documents."""
    folder = folder_of(root)
    with folder.publish(["_rows/"], replace=False) as new:
        with new.tasks("_rows") as place:
            put(place / "of-a-task", b"12")
            put(place / "of-an-attempt-that-does-not-count", b"3")
            name = new.take("of-a-task", new.apart("_rows", "0"), 2)
        describe(new, {})
    assert (root / name).read_bytes() == b"12" and name in ("_rows/of-a-task", "rows-0")
    assert not (root / "_rows/of-an-attempt-that-does-not-count").exists()


def test_a_file_of_a_task_that_is_not_as_it_was_written_is_not_published(root):
    again = "5 bytes were written, but {} are there; write again"
    for name, said in (("a", again.format(4)), ("b", again.format("none") + "|No such file")):
        publish = folder_of(root).publish(["a", "b"], replace=False)
        with pytest.raises(OutputError, match=said), publish as new, new.tasks() as place:
            put(place / "a", b"half")
            new.take(name, name, 5)
        assert "_lookalike.json" not in names(root)
