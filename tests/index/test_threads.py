import threading
from contextlib import contextmanager
from multiprocessing import get_context

from raising import assert_raises
from waiting import at_once

import lookalike as la
from lookalike.errors import OutputError, ParameterError


def text_of(name):
    return " ".join(f"{name}{i}" for i in range(20))


def ids_in(path):
    with la.Index.open(path, "read") as index:
        assert index.check() == []
        return sorted(i for table in index.export() for i in table["id"].to_pylist())


def test_threads_that_add_to_one_index_lose_nothing():
    """Of equal ids added at once, one is in."""

    def add(number):
        for i in range(15):
            name = f"{'abc'[number]}{i}"
            index.add([name], [text_of(f"{name}x")])
            if i % 5 == 4:
                assert index.remove([name]) == 1
        try:
            return index.add(["same"], ["one two three four five six"])
        except ParameterError:
            return "refused"

    with la.Index.create("x", width=2) as index:
        assert at_once(3, add).count("refused") == 2
    assert ids_in("x") == sorted(["same", *(f"{name}{i}" for name in "abc" for i in range(15) if i % 5 != 4)])


def test_queries_see_whole_states_while_the_index_changes():
    """A query finds the ten documents that stay, and of each pair both or none; another reader finds no damage."""
    names = [f"s{i}" for i in range(10)]
    done = threading.Event()
    stay = [text_of(f"{name}x") for name in names]

    def change():
        for i in range(25):
            index.add([f"p{i}", f"q{i}"], [text_of("pair")] * 2)
            if i % 3 == 0:
                index.remove([f"p{i}", f"q{i}"])
        index.compact()
        done.set()

    def ask():
        while not done.is_set():
            ids = index.query([*stay, text_of("pair")], top=None)["id"].to_pylist()
            assert [i for i in ids if i[0] == "s"] == names
            assert sorted(i[1:] for i in ids if i[0] == "p") == sorted(i[1:] for i in ids if i[0] == "q")
            assert sum(map(len, index.export())) >= 10 and len(index) >= 10

    def look():
        while not done.is_set():
            with la.Index.open("x", "read", salvage=True) as reader:
                assert reader.damaged == [] == reader.check()

    with la.Index.create("x", width=2) as index:
        index.add(names, stay)
        at_once(4, lambda number: (change, ask, ask, look)[number]())


def test_a_closed_index_says_so_once_its_change_has_ended():
    index = la.Index.create("x")
    closing = threading.Thread(target=index.close)
    with index._turn:  # as a change holds it
        closing.start()
        closing.join(0.2)
        assert closing.is_alive() and len(index) == 0
    closing.join()
    index.close()
    assert "closed" in repr(index)
    uses = [(name,) for name in ("compact", "export", "check", "refresh", "__len__")]
    uses += [(name, ["a"]) for name in ("query", "first", "sketch", "get", "remove")] + [("add", ["x"], ["y"])]
    for name, *given in uses:
        assert_raises(ParameterError, "has been closed", getattr(index, name), *given)
    for name in ("info", "id_type"):
        assert_raises(ParameterError, "has been closed", getattr, index, name)


@contextmanager
def forked(work):
    """Give what a forked child says of some work; it lives for as long as this lasts."""
    fork = get_context("fork")
    said, over = fork.SimpleQueue(), fork.Event()

    def do():
        try:
            said.put(str(work()))
        except BaseException as error:
            said.put(f"{type(error).__name__}: {error}")
        over.wait()

    child = fork.Process(target=do)
    child.start()
    try:
        yield said.get()
    finally:
        over.set()
        child.join()
    assert child.exitcode == 0


def test_a_forked_process_neither_changes_nor_releases_the_index():
    """Nor does it hold it; one opened for reading it may ask."""
    index = la.Index.create("x")
    index.add(["a"], ["one two three"])
    for use in (lambda: index.add(["b"], ["four"]), lambda: index.query(["one two three"]), lambda: len(index)):
        with forked(use) as said:
            assert said.startswith("ParameterError") and "another process opened this index" in said
    with forked(index.close):
        assert_raises(OutputError, "already open for changes", la.Index.open, "x")
    index.add(["b"], ["four five six"])
    assert ids_in("x") == ["a", "b"]
    with forked(str):
        index.close()
        la.Index.open("x").close()
    with la.Index.open("x", "read") as reader:

        def ask():
            reader.refresh()
            return reader.query(["one two three"])["id"].to_pylist()

        with forked(ask) as said:
            assert said == "['a']" == str(ask())


def test_a_reader_does_not_take_what_was_merged_for_damage():
    """Files that a writer has replaced are gone: no damage of the state that the folder is in now."""
    with la.Index.create("x") as writer:
        for i in range(3):
            writer.add([f"{i}"], [text_of(i)])
        with la.Index.open("x", "read") as reader:
            writer.compact()
            assert reader.check() == [] and len(reader) == 3
            assert reader.query([text_of(1)])["id"].to_pylist() == ["1"]
