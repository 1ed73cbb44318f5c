import numpy as np
from cut_tables import cut_at, cuts
from hypothesis import given
from hypothesis import strategies as st
from raising import assert_raises

from lookalike.engines.local import documents as local_documents
from lookalike.engines.local.documents import PartitionedTexts, Spilling, TextLog
from lookalike.errors import IndexFormatError
from lookalike.files.workspace import Workspace
from lookalike.text.texts import Texts

texts = st.lists(st.binary(max_size=5), min_size=1, max_size=20)


def made(rows):
    """Texts whose bytes begin somewhere in their buffer."""
    offsets = 2 + np.cumsum([0, *map(len, rows)])
    return Texts(np.frombuffer(b"??" + b"".join(rows) + b"!", "uint8"), offsets)


def chunks(rows, cuts):
    first = 0
    for some in cut_at(rows, cuts):
        yield first, made(some)
        first += len(some)


def listed(found):
    return [found.row(i) for i in range(len(found))]


def taken(held, *rows):
    return listed(held.take(np.array(rows, "int64")))


def spilled(rows, cuts, partition, limit):
    space = Workspace()
    Spilling(space, np.array(partition, "int32"), limit).take_all(chunks(rows, cuts), lambda: None)
    return space


@given(texts, cuts, st.data())
def test_kept_texts_come_in_their_order_from_any_row_on(rows, cut, data):
    """Also where a run was stopped after it wrote some that come again."""
    kept = TextLog(Workspace())
    for first, some in chunks(rows, cut):
        for _ in range(data.draw(st.integers(1, 2)) if len(some) else 0):
            kept.append(first, some)
    begin = data.draw(st.integers(0, len(rows)))
    found = [(row + i, text) for row, some in kept.read(begin, len(rows)) for i, text in enumerate(listed(some))]
    assert found == list(enumerate(rows))[begin:]
    assert_raises(IndexFormatError, "parts of the job are missing", list, kept.read(begin, len(rows) + 1))


@given(texts, cuts, st.integers(0, 12), st.integers(0, 3), st.data())
def test_spilled_texts(rows, cut, limit, n_held, data):
    n = len(rows)
    partition = np.array(data.draw(st.lists(st.integers(-1, 3), min_size=n, max_size=n)), "int32")
    space = Workspace()
    stopped = data.draw(st.integers(0, len(cut) + 1))
    spilling = Spilling(space, partition, limit)
    for first, some in list(chunks(rows, cut))[:stopped]:
        spilling.take(first, some)  # what waits is lost
    spilling = Spilling(space, partition, limit)
    begin = spilling.until
    assert begin == 0 or space.numbered_names(Spilling.STEM)
    spilling.take_all(((begin + first, some) for first, some in chunks(rows[begin:], cut)), lambda: None)
    assert spilling.until == n
    texts, wanted = PartitionedTexts(space, partition, n_held), np.flatnonzero(partition >= 0).tolist()
    for _ in range(3 if wanted else 0):
        chosen = data.draw(st.lists(st.sampled_from(wanted), min_size=1, max_size=8))
        assert taken(texts, *chosen) == [rows[i] for i in chosen]


def test_two_partitions_are_held_at_a_time(monkeypatch):
    made_again, rows, partition = [], [b"none", b"of", b"three"], np.arange(3, dtype="int32")

    class Watched(local_documents._Partition):
        def __init__(self, workspace, chunks, partition, hold):
            made_again.append(partition)
            super().__init__(workspace, chunks, partition, hold)

    monkeypatch.setattr(local_documents, "_Partition", Watched)
    texts = PartitionedTexts(spilled(rows, [], partition, 0), partition, 3)
    for row in (0, 1, 0, 2, 0, 1):
        assert taken(texts, row) == [rows[row]]
    assert made_again == [0, 1, 2, 1], "the one that was used last stays"
