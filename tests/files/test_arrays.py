import os
from threading import Barrier, Thread

import numpy as np
import pytest
from files.container_twin import GROWING, add, content, grown, wanted
from files.folder_files import stopped
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from raising import assert_raises

from lookalike.errors import InputDataError, OutputError, ParameterError
from lookalike.files.arrays import ArrayFile, GrowingFile, write_arrays
from lookalike.files.layout import ChunkedArray

DTYPES = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"]
NAMES = st.text("abcé-0 \n", max_size=4)
SHAPES = array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5)
MADE = st.dictionaries(NAMES, st.sampled_from(DTYPES).flatmap(lambda dtype: arrays(dtype, SHAPES)), max_size=4)
META = st.dictionaries(NAMES, st.none() | st.integers() | NAMES, max_size=3)


@given(made=MADE, meta=META)
def test_what_is_written_is_read(tmp_path_factory, made, meta):
    path = tmp_path_factory.mktemp("x") / "file"
    write_arrays(path, made, meta)
    file = ArrayFile(path)
    file.check()
    file.hold()
    assert file.meta == meta and list(file) == list(made) and len(file) == len(made) and "another" not in file
    for name, array in made.items():
        found, mapped = file[name], file.map(name)
        assert file.described(name) == (found.dtype.str, array.shape) == (mapped.dtype.str, mapped.shape)
        assert found.dtype == array.dtype and found.tobytes() == mapped.tobytes() == array.tobytes()
        assert mapped.nbytes == 0 or mapped.ctypes.data % 64 == 0
        assert found.flags.writeable and not mapped.flags.writeable


def test_other_bytes_than_announced_are_no_file(tmp_path):
    for pieces in ([3, 3], [3, 5], []):
        assert_raises(
            ValueError,
            r"a: 56 bytes were announced, \d+ came",
            write_arrays,
            tmp_path / "x",
            {"a": ChunkedArray(np.int64, (7,), (np.arange(n) for n in pieces))},
        )
    assert not any(tmp_path.iterdir())


def test_a_file_grows(path):
    assert content(path) == wanted(3, 9, 1)
    one = grown(path)
    other = grown(path)
    assert len(add(one, 4)) == 5 and len(add(other, 5)) == 6 and len(one.sections) == 5
    assert len(add(one, 6)) == 7 and content(path) == wanted(3, 9, 1, 4, 5, 6)
    assert one.sections == grown(path).sections


def crashed(path, left, rng, act):
    """Stop what is done at a change of a file, after so many; of what was not synced, some sectors are on the disk."""
    synced, fsync = [path.read_bytes()], os.fsync
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda file: (fsync(file), synced.append(path.read_bytes())))
        with stopped(left, *((os, name) for name in ("pwrite", "ftruncate", "fsync", "unlink"))):
            act()
            return False
    old, new = synced[-1], path.read_bytes()
    size = int(rng.choice([len(old), len(new)]))
    new, old = new.ljust(size, b"\0")[:size], old.ljust(size, b"\0")[:size]
    sectors = [(new if rng.random() < 0.5 else old)[i : i + 512] for i in range(0, size, 512)]
    path.write_bytes(b"".join(sectors))
    return True


def test_a_crash_leaves_what_was_there_or_all(path, rng):
    """At every call, with any sectors on the disk: the file opens, and the next addition is whole."""
    whole, states, moment, failed = path.read_bytes(), set(), 0, True
    while failed:
        for _ in range(12):
            path.write_bytes(whole)
            before = wanted(3, 9, 1)
            for n in (150, 90):  # and again, over what the first left
                failed = crashed(path, moment, rng, lambda n=n: add(grown(path), n))
                after = content(path)
                assert after in (before, before + wanted(n))
                states.add(len(after) - len(before))
                before = after
            add(grown(path), 2)
            assert content(path) == before + wanted(2)
        moment += 1
    assert states == {0, 1} and moment > 6


def test_a_lost_head_is_not_taken_for_the_end(path):
    """Nor is a section elsewhere than it says one of the file."""
    whole = path.read_bytes()
    _, one, two, _ = grown(path).sections
    for said, data in (
        *(
            (f"section at byte {begin} is lost, others follow", whole[:begin] + bytes(24) + whole[begin + 24 :])
            for begin in (one.begin, two.begin)
        ),
        ("damaged: ", whole + whole),
        ("damaged: ", whole[: one.begin] + whole[two.begin :]),
        ("damaged: ", whole + whole[one.begin : one.end]),
        ("damaged: ", whole[one.begin :]),
    ):
        path.write_bytes(data)
        assert_raises(InputDataError, said, grown, path)


def test_readers_see_whole_batches_while_another_adds(path):
    """Each batch is read while the next is added."""
    seen = []
    sizes = [1, 301] * 20
    turn = Barrier(2, timeout=600)
    writer = Thread(target=lambda: [(turn.wait(), add(grown(path), n)) for n in sizes])
    writer.start()
    for _ in sizes:
        turn.wait()
        seen.append(content(path))
    writer.join()
    whole = wanted(3, 9, 1, *sizes)
    assert all(found == whole[: len(found)] for found in seen) and content(path) == whole
    assert len({*map(len, seen)}) > 19


def test_failures_leave_the_file_as_it_was(path, tmp_path, monkeypatch):
    """Also if the file cannot be read again before the addition: others may have added what this object does not know."""
    file, new = grown(path), grown(tmp_path / "new")
    add(grown(path), 4)
    whole = path.read_bytes()

    def broken(*arguments):
        raise OSError(5, "Input/output error")

    def until_the_disk_fails(*arguments):
        monkeypatch.setattr(os, "ftruncate", broken)
        raise OSError(28, "No space left on device")

    for name in ("pread", "pwrite", "fsync", "ftruncate"):
        monkeypatch.setattr(os, name, broken)
        assert_raises(OutputError, "Input/output error; the batch was not added", add, file, 5)
        if name != "pread":
            assert_raises(OutputError, "Input/output error; the batch was not added", add, new, 5)
        monkeypatch.undo()
        assert path.read_bytes() == whole and not new.path.exists() and not new.sections
    monkeypatch.setattr(os, "fsync", until_the_disk_fails)
    assert_raises(OutputError, "No space left on device; it cannot be truncated either", add, file, 5)
    monkeypatch.undo()
    path.write_bytes(whole)

    def unfit(meta):
        raise ParameterError(f"another {meta['of']}")

    assert_raises(ParameterError, "another tests", add, file, 5, unfit)
    assert path.read_bytes() == whole and len(add(file, 5)) == 6 and len(add(new, 5)) == 2


def test_another_file_in_its_place_is_read_anew(path, tmp_path):
    """In place, so that it is the same inode: nothing is cut off where the old one ended."""
    file = grown(path)
    other = grown(tmp_path / "other")
    for _ in range(5):
        add(other, 9)
    path.write_bytes((tmp_path / "other").read_bytes())
    add(file, 2)
    assert content(path) == wanted(9, 9, 9, 9, 9, 2)


def test_other_versions_and_what_is_not_accepted(path):
    whole = path.read_bytes()
    for said, accepts, *version in (
        ("damaged: no tests are described at byte 64", lambda first, section: section is first),
        ("checksum mismatch", lambda *_: True, b"\0"),
        ("version 3 is newer than 1, the newest known here; upgrade", lambda *_: True, b"\3"),
    ):
        path.write_bytes(whole[:8] + b"".join(version) + whole[8 + len(version) :])
        assert_raises(InputDataError, said, GrowingFile, path, GROWING, accepts)
