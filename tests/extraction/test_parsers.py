import os
import signal
import time
import tracemalloc

import pytest
from document_files import docx, eml, odt, pdf
from formats.jobs import put, refused

import lookalike as la
from lookalike.errors import InputDataError
from lookalike.extraction import UnreadableError, parsers, worker

MOST = 1 << 20


def test_order_and_threads():
    """What takes long comes first nevertheless; what is left out stays in its place."""
    documents = [(i, docx(f"number {i} " * (5000 if i % 7 == 0 else 1))) for i in range(40)]
    documents[5:5] = [(-1, None), (-2, b"no zip")]
    for threads in (1, 3):
        found = dict(parsers.texts_of(iter(documents), "docx", MOST, threads))
        assert list(found) == [key for key, _ in documents]
        assert found.pop(-1) is None and str(found.pop(-2)).startswith("is not a ZIP file")
        assert all(text.startswith(b"number %d " % i) for i, text in found.items())


def test_what_comes_before_a_damaged_place_is_there():
    def torn():
        yield from enumerate([docx("a"), docx("b"), docx("c")])
        raise InputDataError("cut short")

    documents, found = parsers.texts_of(torn(), "docx", MOST, 2), []
    with pytest.raises(InputDataError):
        for one in documents:
            found.append(one)
    assert found == [(0, b"a"), (1, b"b"), (2, b"c")]


def alone(kind, content, **limits):
    one = parsers._Worker(**limits)
    try:
        return "{!r} {}".format(*one.text_of(kind, [content], MOST))
    except UnreadableError as error:
        return str(error)
    finally:
        one.close()


def text_of(text):
    return parsers.text_of("docx", [docx(text)], MOST)


def test_files_of_the_folder_are_not_run(tmp_path, monkeypatch):
    """A corpus can hold files of any name, and the program can run among them."""
    for name in ("struct", "email", "resource", "zipfile"):
        put(tmp_path / f"{name}.py", f"open({str(tmp_path / 'run')!r}, 'w')")
    monkeypatch.chdir(tmp_path)
    assert "Hello." in alone("eml", eml("Hello."))
    assert not (tmp_path / "run").exists()


def test_large_texts_wait_in_their_processes():
    """Whoever is slow to take them, and whoever takes no more."""
    large = [(i, docx(f"{i}" + "a" * (8 << 20))) for i in range(10)]
    tracemalloc.start()
    try:
        for key, text in parsers.texts_of(iter(large), "docx", 16 << 20, 3):
            assert text.startswith(b"%d" % key)
            del text
            time.sleep(0.1)
        assert tracemalloc.get_traced_memory()[1] < 20 << 20
    finally:
        tracemalloc.stop()
    some = parsers.texts_of(iter(large), "docx", 16 << 20, 3)
    next(some)
    some.close()


SLOW = docx(*["some words"] * 400_000)


def test_systems_without_a_limit_of_memory(tmp_path, monkeypatch):
    code = (
        "import resource\ndef refuse(what, limits, usual=resource.setrlimit):\n"
        "    if what == resource.RLIMIT_AS: raise ValueError('current limit exceeds maximum limit')\n"
        "    usual(what, limits)\nresource.setrlimit = refuse"
    )
    put(tmp_path / "sitecustomize.py", code)
    monkeypatch.syspath_prepend(tmp_path)
    assert "Hello." in alone("eml", eml("Hello."))
    assert "takes more than 0.2 seconds" in alone("docx", SLOW, seconds=0.2)


def test_what_one_document_may_take():
    nested = odt("<text:span>" * 50_000 + "x" + "</text:span>" * 50_000)
    for said, kind, content, limits in (
        ("takes more than 0.2 seconds of processor time", "docx", SLOW, {"seconds": 0.2}),
        ("too much memory", "docx", docx("a" * (120 << 20)), {"memory": 200 << 20}),
        ("is nested too deeply", "odt", nested, {}),
        ("has 2,097,152 bytes of text, more than the 1,048,576", "docx", docx("a" * (2 << 20)), {}),
    ):
        assert said in alone(kind, content, **limits)


def test_a_crash_takes_one_document():
    """A process that died is not used again."""
    assert text_of("one") == b"one"
    taken = parsers._idle[-1]
    os.kill(taken._process.pid, signal.SIGSEGV)
    taken._process.wait()
    refused(r"the parser crashed \(SIGSEGV\)", text_of, "two", error=UnreadableError)
    assert taken not in parsers._idle
    assert text_of("three") == b"three"


def test_prints_do_not_disturb(monkeypatch, tmp_path):
    code = "print('hello'); import os; os.write(1, b'x' * 100); raise ModuleNotFoundError(name='y')"
    put(tmp_path / "pypdfium2.py", code)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(parsers, "_idle", [])
    said = r"y is not installed: pip install 'lookalike\[pdf\]'"
    refused(said, parsers.text_of, "pdf", [pdf("x")], MOST, "pdf", error=la.errors.MissingExtraError)
    parsers.close_idle()


def test_processes_of_a_parent_are_left_alone(monkeypatch):
    text_of("one")
    before = parsers._idle[-1]
    monkeypatch.setattr(before, "owner", before.owner + 1)
    assert text_of("two") == b"two"
    assert before not in parsers._idle
    before.close()


def test_any_failure_of_a_parser_is_told(monkeypatch):
    monkeypatch.setitem(worker.KINDS, "docx", lambda content: {}["name"])
    assert worker.answer("docx", b"", MOST) == (b"u", b"the parser failed: KeyError: 'name'")
