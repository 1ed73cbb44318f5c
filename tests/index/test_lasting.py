"""Kills are in endurance."""

import os
import subprocess
import sys
from itertools import chain, repeat
from unittest.mock import Mock

import numpy as np
import pytest
from corpora import planted
from index.look_ups import answers
from raising import assert_raises

import lookalike as la
from lookalike.errors import IndexFormatError, OutputError

TEXTS = planted(np.random.default_rng(4), n_families=60)


@pytest.fixture
def three_segments(tmp_path):
    path = tmp_path / "x"
    with la.Index.create(path, keep_text=True) as index:
        for i in range(3):
            index.add(range(100 * i, 100 * i + 20), TEXTS[20 * i : 20 * i + 20])
        index.remove([0, 100])
    return path


def test_flipped_bits_and_cuts_are_found(three_segments, rng):
    for path in sorted(p for p in three_segments.iterdir() if p.name != "lock"):
        whole = path.read_bytes()
        damages = [whole + b"x"]
        for place in {0, 9, len(whole) - 1, *rng.integers(0, len(whole), 25).tolist()}:
            flipped = bytearray(whole)
            flipped[place] ^= 1 << int(rng.integers(0, 8))
            damages += [whole[:place], bytes(flipped)]
        for damaged in damages:
            path.write_bytes(damaged)
            try:
                with la.Index.open(three_segments, "read") as index:
                    messages = index.check()
            except IndexFormatError as error:
                messages = [str(error)]
            assert len(messages) == 1 and path.name in messages[0], (path.name, messages)
        path.write_bytes(whole)
    with la.Index.open(three_segments) as index:
        assert index.check() == []


def test_one_writer_many_readers(three_segments):
    with la.Index.open(three_segments) as writer, la.Index.open(three_segments, "read") as reader:
        assert_raises(OutputError, "already open for changes", la.Index.open, three_segments)
        assert_raises(OutputError, "opened for reading", reader.add, [1000], ["text"])
        before = answers(reader, TEXTS)
        writer.compact()
        writer.remove(range(20))
        assert answers(reader, TEXTS) == before, "a reader sees the state that it opened"
        reader.refresh()
        assert answers(reader, TEXTS) == answers(writer, TEXTS) != before


ADDING = """
import sys, lookalike as la
for i in range(6):
    with la.Index.open(sys.argv[1], wait=True) as index:
        index.add([f'{sys.argv[2]}-{i}'], [f'text number {i} of {sys.argv[2]} and more'])
"""


def test_two_processes_add_at_once(tmp_path):
    path = tmp_path / "x"
    la.Index.create(path).close()
    processes = [subprocess.Popen([sys.executable, "-c", ADDING, path, name]) for name in "ab"]
    seen = []
    while any(p.poll() is None for p in processes):
        with la.Index.open(path, "read") as reader:
            seen.append(len(reader))
    assert [p.returncode for p in processes] == [0, 0] and seen == sorted(seen)
    with la.Index.open(path) as index:
        assert len(index) == 12 and index.check() == []


@pytest.mark.parametrize("what, given, how", [
    ("add", [[7000], ["x"]], {}), ("remove", [[1, 101]], {}), ("compact", [], {}), ("add", [[1], ["other"]], {"replace": True}),
])  # fmt: skip
def test_a_full_disk_changes_nothing(three_segments, monkeypatch, what, given, how):
    """Each of the writes of a change may be the one that fails."""
    full = OSError(28, "No space left on device")
    for synced in range(4):
        with la.Index.open(three_segments) as index:
            before = answers(index, TEXTS)
            with monkeypatch.context() as patch:
                patch.setattr(os, "fsync", Mock(side_effect=chain([None] * synced, repeat(full))))
                try:
                    getattr(index, what)(*given, **how)
                    break
                except OSError:
                    pass
            assert answers(index, TEXTS) == before and index.check() == []
            index.add([9000 + synced], [f"one more document entirely {synced}"])
            state = answers(index, TEXTS)
        with la.Index.open(three_segments, "read") as again:
            assert answers(again, TEXTS) == state and [a for a in state if a[1] != 9000 + synced] == before
    assert synced > 1


def test_an_addition_holds_where_merging_finds_no_room(tmp_path, monkeypatch):
    full = Mock(side_effect=OutputError("No space left on device"))
    with la.Index.create(tmp_path / "x") as index:
        monkeypatch.setattr("lookalike.index.state.merge_segments", full)
        for i in range(13):
            index.add([i], [TEXTS[i]])
        assert index.info["segments"] == 13
        monkeypatch.undo()
        index.add([13], [TEXTS[13]])
        assert index.info["segments"] <= 10 and len(index) == 14 and 5 in index.query([TEXTS[5]])["id"].to_pylist()
