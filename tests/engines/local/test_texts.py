"""Texts by row, held in memory or spilled by partition: those that are asked for, in the order given."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from lookalike.engines.local import documents as local_documents
from lookalike.engines.local.documents import MemoryTexts, PartitionedTexts, Spilling, TextLog
from lookalike.files.workspace import Workspace
from lookalike.text.texts import Texts

texts = st.lists(st.binary(max_size=5), min_size=1, max_size=20)
cuts = st.lists(st.integers(0, 20), max_size=4)


def made(rows):
    """Texts whose bytes begin somewhere in their buffer."""
    offsets = 2 + np.cumsum([0, *map(len, rows)])
    return Texts(np.frombuffer(b"??" + b"".join(rows) + b"!", np.uint8), offsets)


def chunks(rows, cuts):
    """Yield (first row, texts) of some rows at a time; none, too."""
    bounds = [0, *sorted(min(cut, len(rows)) for cut in cuts), len(rows)]
    for begin, end in itertools.pairwise(bounds):
        yield begin, made(rows[begin:end])


def listed(found):
    return [found.row(i) for i in range(len(found))]


@given(texts, cuts, st.data())
def test_held_texts(rows, cuts, data):
    held = MemoryTexts()
    for _, some in chunks(rows, cuts):
        held.append(some)
    assert held.n_bytes == sum(map(len, rows))
    chosen = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=12))
    assert listed(held.take(np.array(chosen, np.int64))) == [rows[i] for i in chosen]
    held.append(made([b"more"]))
    assert listed(held.take(np.array([len(rows)]))) == [b"more"], "also after some were taken"


@given(texts, cuts, st.data())
def test_kept_texts_come_in_their_order_from_any_row_on(rows, cuts, data):
    """Also where a run was stopped after it wrote some that come again."""
    kept = TextLog(Workspace())
    for first, some in chunks(rows, cuts):
        if len(some):
            kept.append(first, some)
            if data.draw(st.booleans()):
                kept.append(first, some)
    begin = data.draw(st.integers(0, len(rows)))
    found = list(kept.read(begin, len(rows)))
    assert [text for _, some in found for text in listed(some)] == rows[begin:]
    place = begin
    for row, some in found:
        assert row == place
        place += len(some)
    with pytest.raises(la.errors.IndexFormatError, match="parts of the job are missing"):
        list(kept.read(begin, len(rows) + 1))


def test_two_partitions_are_held_at_a_time(monkeypatch):
    made_again = []

    class Watched(local_documents._Partition):
        def __init__(self, workspace, chunks, partition, hold):
            made_again.append(partition)
            super().__init__(workspace, chunks, partition, hold)

    monkeypatch.setattr(local_documents, "_Partition", Watched)
    space, partition, rows = Workspace(), np.arange(3, dtype=np.int32), [b"none", b"of", b"three"]
    spilling = Spilling(space, partition, 0)
    spilling.take(0, made(rows))
    spilling.flush()
    spilled = PartitionedTexts(space, partition, 3)
    for row in (0, 1, 0, 2, 0, 1):
        assert listed(spilled.take(np.array([row]))) == [rows[row]]
    assert made_again == [0, 1, 2, 1], "the one that was used last stays"


@given(texts, cuts, st.integers(0, 12), st.integers(0, 3), st.data())
def test_spilled_texts(rows, cuts, limit, n_held, data):
    """Of rows in a partition, any rows in any order; a job that was stopped goes on after its last chunk."""
    n = len(rows)
    partition = np.array(data.draw(st.lists(st.integers(-1, 3), min_size=n, max_size=n)), np.int32)
    space = Workspace()
    stopped = data.draw(st.integers(0, len(cuts) + 1))
    spilling = Spilling(space, partition, limit)
    for first, some in list(chunks(rows, cuts))[:stopped]:
        spilling.take(first, some)  # what waits is lost
    spilling = Spilling(space, partition, limit)
    begin = spilling.until
    assert begin == 0 or space.numbered_names(Spilling.STEM)
    for first, some in chunks(rows[begin:], cuts):
        spilling.take(begin + first, some)
    spilling.flush()
    assert spilling.until == n
    wanted = np.flatnonzero(partition >= 0).tolist()
    for name in space.numbered_names(Spilling.STEM):
        part = space.get(name)
        for number in range(4):
            if f"rows-{number}" in part:
                at = part[f"rows-{number}"].tolist()
                assert at == sorted(at) and {int(partition[row]) for row in at} == {number}
                assert bytes(part[f"data-{number}"]) == b"".join(rows[row] for row in at)
    spilled = PartitionedTexts(space, partition, n_held)
    for _ in range(3):
        chosen = data.draw(st.lists(st.sampled_from(wanted), max_size=8)) if wanted else []
        if chosen:
            found = spilled.take(np.array(chosen, np.int64))
            assert listed(found) == [rows[i] for i in chosen]


def test_a_part_that_was_removed_is_missed():
    rows, partition = [b"a", b"b", b"c"], np.zeros(3, np.int32)
    space = Workspace()
    spilling = Spilling(space, partition, 0)
    for first, some in chunks(rows, [1, 2]):
        spilling.take(first, some)
    assert len(space.numbered_names(Spilling.STEM)) == 3
    space.discard("texts-000002")
    with pytest.raises(la.errors.IndexFormatError, match="parts of the job are missing; empty the folder and start again"):
        PartitionedTexts(space, partition, 1).take(np.array([2]))
    assert listed(PartitionedTexts(space, partition, 1).take(np.array([1]))) == [b"b"]


def test_small_partitions_are_read_once_and_others_as_they_come(monkeypatch):
    space, partition = Workspace(), np.array([0, 1, 0, 1], np.int32)
    spilling = Spilling(space, partition, 100)
    spilling.take(0, made([b"a", b"b", b"c", b"d"]))
    spilling.flush()
    read, get = [], space.get

    class Watched(dict):
        def __getitem__(self, name):
            read.append(name)
            return super().__getitem__(name)

    monkeypatch.setattr(space, "get", lambda name: Watched(get(name)))
    spilled = PartitionedTexts(space, partition, 1)
    for _ in range(3):
        assert listed(spilled.take(np.array([2, 0]))) == [b"c", b"a"]
    assert read.count("data-0") == 1
    assert listed(spilled.take(np.array([3, 0, 1]))) == [b"d", b"a", b"b"]
    assert read.count("data-0") == 1 and read.count("data-1") == 1
