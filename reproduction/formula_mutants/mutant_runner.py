"""Run changed formulas against tests: a process that has all tests imported forks one for each change.

`formula_mutants.py` says on standard input what to try, and reads a line of JSON for each change from standard output. The first child runs every
test as the code is and notes which functions each test calls, and how long it takes. Each further child puts the changed code into the
functions that are there, and runs the tests that call them, the quickest first, until one fails. Nothing is written to the sources: no
cache of Python or Numba can hold a change.
"""

import gc
import importlib
import json
import os
import resource
import signal
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from itertools import accumulate, zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, process_time, sleep
from typing import Any

import pytest
from mutations import SOURCE, of_file

ADDRESS_SPACE = 12 << 30
EACH = 60.0  # a change's tests end after those that take so many seconds together as the code is
TEST_SECONDS, TIMES = 20, 10  # a test may take so many seconds, and so many times what it takes as the code is
Key = tuple[str, str, int]  # of a function: file, name, first line
Known = dict[str, tuple[float, set[Key]]]  # of each test: seconds, the functions that it calls


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """Yield the code of each function in a file's code, those inside others too."""
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield inner
            yield from _codes(inner)


def _key(code: types.CodeType) -> Key:
    return code.co_filename, code.co_name, code.co_firstlineno


def _live_functions(files: set[str]) -> dict[Key, list[types.FunctionType]]:
    """Return the functions of some files that are there, however they are wrapped."""
    found: dict[Key, list[types.FunctionType]] = {}
    gc.unfreeze()  # of frozen objects, as tests/conftest.py leaves them, the next line has none
    for thing in gc.get_objects():
        if isinstance(thing, types.FunctionType) and thing.__code__.co_filename in files:
            found.setdefault(_key(thing.__code__), []).append(thing)
    return found


def _put(changed: types.CodeType, file: str, module: types.ModuleType, live: dict[Key, list[types.FunctionType]]) -> None:
    """Let the functions of a module be those of a changed file: their code, their defaults, and the module's numbers."""
    for code in _codes(changed):
        for function in live.get(_key(code), []):
            function.__code__ = code
    scratch: dict[str, Any] = {"__name__": module.__name__, "__package__": module.__package__, "__file__": file}
    exec(changed, scratch)
    for new in [one for value in scratch.values() for one in (vars(value).values() if isinstance(value, type) else [value])]:
        for function in live.get(_key(new.__code__), []) if isinstance(new, types.FunctionType) else []:
            function.__defaults__, function.__kwdefaults__ = new.__defaults__, new.__kwdefaults__
    for name, value in scratch.items():
        before = getattr(module, name, None)
        if isinstance(value, int | float | tuple) and type(value) is type(before) and value != before:
            for other in [m for m in sys.modules.values() if getattr(m, "__name__", "").startswith("lookalike")]:
                if getattr(other, name, None) == before:
                    setattr(other, name, value)


def _fork(action: Callable[[], None]) -> int:
    """Return the number of a child, which does something silently and ends."""
    sys.stdout.flush()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pid = os.fork()
    if pid:
        return pid
    try:
        os.setpgid(0, 0)
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
        action()
    except BaseException:
        os._exit(3)
    os._exit(0)


class Runner:
    """A plugin of pytest that runs changes in place of the tests."""

    def __init__(self, job: dict[str, Any], notes: Path) -> None:
        """Take what to try, and a folder in which children write what they find."""
        self.drawn, self.jobs, self.until, self.patterns = job["drawn"], job["jobs"], job["until"], job["patterns"]
        self.source, self.notes = Path(job["root"], SOURCE), notes
        self.failed, self.skipped = "", False

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Note that a test failed, or was skipped."""
        self.failed = self.failed or (report.nodeid if report.failed else "")
        self.skipped = self.skipped or report.skipped

    def pytest_runtestloop(self, session: Any) -> bool:
        """Fork for each change; tell pytest that all is run."""
        if session.testsfailed:
            return True
        files = {str(self.source / name): name for name, _ in self.drawn}
        dotted = {file: "lookalike." + name.removesuffix(".py").replace("/", ".") for file, name in files.items()}
        modules = {file: importlib.import_module(module) for file, module in dotted.items()}
        live = _live_functions(set(files))
        os.waitpid(_fork(lambda: self.learn(session, set(files))), 0)
        learned = self.notes / "known"
        known = json.loads(learned.read_text()) if learned.exists() else "a test that ends the process"
        if isinstance(known, str):
            print(known)
            session.testsfailed = 1
            return True
        items = {item.nodeid: item for item in session.items}
        order = sorted(known, key=lambda node: known[node][0])
        called = {node: set(map(tuple, known[node][1])) for node in order}
        gc.freeze()  # what is never collected is never copied
        running: dict[int, tuple[str, str, Path]] = {}
        for number, (file, told, code, touched) in enumerate(self.changed_files(files)):
            while len(running) >= self.jobs:
                self.reap(running)
            if monotonic() > self.until:
                break
            nodes = [node for node in order if touched & called[node]] or order  # the numbers of a module concern all tests
            sums = accumulate(known[node][0] for node in nodes)
            tests = [(items[node], known[node][0]) for node, so_far in zip(nodes, sums, strict=True) if so_far <= EACH]
            change, note = partial(_put, code, file, modules[file], live), self.notes / str(number)
            running[_fork(partial(self.attempt, tests, note, change))] = files[file], told, note
        while running:
            self.reap(running)
        return True

    def changed_files(self, files: dict[str, str]) -> Iterator[tuple[str, str, types.CodeType, set[Key]]]:
        """Yield (file, change, code, functions that it touches) file by file."""
        for file, name in files.items():
            wanted = {told for mine, told in self.drawn if mine == name}
            plain = compile(Path(file).read_text(encoding="utf-8"), file, "exec", dont_inherit=True)
            before = {(_key(code), code) for code in _codes(plain)}  # several of one line can have one name
            for change in of_file(Path(file), self.patterns[name]):
                if change.told in wanted:
                    wanted.remove(change.told)
                    changed = compile(change.tree, file, "exec", dont_inherit=True)
                    yield (
                        file,
                        change.told,
                        changed,
                        {_key(code) for code in _codes(changed) if (_key(code), code) not in before},
                    )

    def run_one(self, item: Any, following: Any) -> None:
        """Run one test, and print nothing."""
        reporter = item.config.pluginmanager.get_plugin("terminalreporter")
        if reporter:
            item.config.pluginmanager.unregister(reporter)
        item.ihook.pytest_runtest_protocol(item=item, nextitem=following)

    def learn(self, session: Any, files: set[str]) -> None:
        """Run all tests, and write which functions each of them calls and how long it takes, or the one that fails."""
        known: Known = {}
        calls = set[Key]()

        def called(frame: types.FrameType, event: str, value: object) -> None:
            if frame.f_code.co_filename in files:
                calls.add(_key(frame.f_code))

        for item, following in zip_longest(session.items, session.items[1:]):
            if monotonic() > self.until:
                break
            calls.clear()
            began, self.skipped = process_time(), False
            sys.settrace(called)
            self.run_one(item, following)
            sys.settrace(None)
            if not self.skipped:
                known[item.nodeid] = process_time() - began, set(calls)
            if self.failed:
                break
        (self.notes / "known").write_text(json.dumps(self.failed or known, default=list))

    def attempt(self, tests: list[tuple[Any, float]], note: Path, change: Callable[[], None]) -> None:
        """Change the code, run tests until one fails, and write which one it was."""
        try:
            change()
        except Exception as error:  # what cannot be imported is noticed by all tests
            note.write_text(json.dumps(f"{type(error).__name__} at import"))
            return
        for (item, seconds), following in zip_longest(tests, [item for item, _ in tests[1:]]):
            note.write_text(json.dumps(f"no end of {item.nodeid}"))
            signal.setitimer(signal.ITIMER_REAL, TEST_SECONDS + TIMES * seconds)
            self.run_one(item, following)
            if self.failed:
                note.write_text(json.dumps(self.failed.removeprefix("tests/")))
                return
        note.write_text(json.dumps(None))

    def reap(self, running: dict[int, tuple[str, str, Path]]) -> None:
        """Wait until a child ends, and print what it found; where time is up, end one, of which nothing is known."""
        while not (ended := [(pid, status) for pid in running for done, status in [os.waitpid(pid, os.WNOHANG)] if done]):
            if monotonic() > self.until:
                pid = next(iter(running))
                os.killpg(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                del running[pid]
                return
            sleep(0.01)
        for pid, status in ended:
            name, told, note = running.pop(pid)
            by = json.loads(note.read_text()) if note.exists() else "the process ended"
            if status and os.waitstatus_to_exitcode(status) != -signal.SIGALRM:
                by = f"the process ended with {os.waitstatus_to_exitcode(status)}"
            print(json.dumps([name, told, by]), flush=True)


if __name__ == "__main__":
    job = json.load(sys.stdin)
    os.chdir(job["root"])
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not slow", "-s"]
    with TemporaryDirectory() as notes:
        sys.exit(pytest.main([*options, *job["tests"]], plugins=[Runner(job, Path(notes))]))
