"""Run changed formulas against tests: a process that has all tests imported forks one for each change.

`teeth.py` starts it with a file that tells what to try (`Job`), and reads the lines of JSON that it writes to another one. The
first child runs every test as the code is and notes which functions each test calls, and how long it takes. Each further child
puts the changed code into the functions that are there, and runs the tests that call them, the quickest first, until one fails.
Nothing is written to the sources: no cache of Python or Numba can hold a change.
"""

from __future__ import annotations

import ast
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
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import accumulate, zip_longest
from pathlib import Path
from time import monotonic, process_time, sleep
from typing import Any

import pytest
from teeth_changes import of_file

ADDRESS_SPACE = 12 << 30
TEST_SECONDS, TIMES = 20, 10  # a test may take so many seconds, and so many times what it takes as the code is
CALLED: set[tuple[str, str, int]] = set()  # the functions that a test has called: file, name, first line


Live = dict[tuple[str, str, int], list[types.FunctionType]]  # file, name, first line


@dataclass
class Job:
    """What to try in one environment."""

    root: str
    source: str
    tests: list[str]
    drawn: list[tuple[str, str]]  # file, change
    functions: dict[str, tuple[str, ...]]  # file: patterns of formulas
    results: str
    jobs: int = 2
    each: float = 60.0  # stop a change's tests after those that take so many seconds together as the code is
    until: float = float("inf")  # the clock that all processes share, after which none is begun
    variables: dict[str, str] = field(default_factory=dict)

    def write(self, place: Path) -> None:
        """Write it to a file."""
        place.write_text(json.dumps(asdict(self)))


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """Yield the code of each function in a file's code, those inside others too."""
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield inner
            yield from _codes(inner)


def _key(code: types.CodeType) -> tuple[str, str, int]:
    return code.co_filename, code.co_name, code.co_firstlineno


def _live_functions(files: set[str]) -> Live:
    """Return the functions of some files that are there, however they are wrapped."""
    found: Live = {}
    for thing in gc.get_objects():
        if isinstance(thing, types.FunctionType) and thing.__code__.co_filename in files:
            found.setdefault(_key(thing.__code__), []).append(thing)
    return found


def _put(changed: types.CodeType, file: str, module: types.ModuleType, live: Live) -> None:
    """Let the functions of a module be those of a changed file: their code, their defaults, and the module's numbers."""
    for code in _codes(changed):
        for function in live.get(_key(code), []):
            function.__code__ = code
    scratch: dict[str, Any] = {"__name__": module.__name__, "__package__": module.__package__, "__file__": file}
    if "kernels" in file:  # decorated, and their defaults are no formulas
        return
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


def _telling(file: Path) -> types.CodeType:
    """Return the code of a file whose functions tell that they are called."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(line.lineno for line in node.decorator_list)])
            node.body.insert(0, ast.parse(f"import teeth_run; teeth_run.CALLED.add({(str(file), node.name, first)!r})").body[1])
            node.body.insert(0, ast.parse("import teeth_run").body[0])
            for new in node.body[:2]:
                for inner in ast.walk(new):
                    ast.copy_location(inner, node)
    return compile(ast.fix_missing_locations(tree), str(file), "exec", dont_inherit=True)


class Runner:
    """A plugin of pytest that runs changes in place of the tests."""

    def __init__(self, job: Job) -> None:
        """Take what to try."""
        self.job, self.failed, self.skipped = job, "", False
        self.tests: dict[str, tuple[float, set[tuple[str, str, int]]]] = {}

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Note that a test failed, or was skipped."""
        self.failed = self.failed or (report.nodeid if report.failed else "")
        self.skipped = self.skipped or report.skipped

    def pytest_runtestloop(self, session: Any) -> bool:
        """Fork for each change; tell pytest that all is run."""
        job, files = self.job, {str(Path(self.job.root, self.job.source, name)): name for name, _ in self.job.drawn}
        if session.testsfailed:
            return True
        dotted = {name: "lookalike." + name.removesuffix(".py").replace("/", ".") for name in files.values()}
        modules = {name: importlib.import_module(module) for name, module in dotted.items()}
        live = _live_functions(set(files))
        out, scratch = Path(job.results), Path(job.results + ".tests")
        there = {file: modules[name] for file, name in files.items()}
        self.fork(lambda: self.learn(session, there, live, scratch))
        known = json.loads(scratch.read_text())
        if isinstance(known, str):
            out.write_text(json.dumps({"fails": known}) + "\n")
            return True
        items = {item.nodeid: item for item in session.items}
        order = sorted(known, key=lambda node: known[node][0])
        gc.freeze()  # what is never collected is never copied
        called = {node: {tuple(one) for one in known[node][1]} for node in order}
        running: dict[int, tuple[float, str, str, Path]] = {}
        for number, (name, told, code, touched) in enumerate(self.changed_files(files)):
            while len(running) >= job.jobs:
                self.reap(running, out)
            if monotonic() > job.until:
                break
            nodes = [node for node in order if touched & called[node]] or order  # the numbers of a module concern all tests
            sums = accumulate(known[node][0] for node in nodes)
            tests = [items[node] for node, so_far in zip(nodes, sums, strict=True) if so_far <= job.each]
            note, file = Path(f"{job.results}.{number}"), str(Path(job.root, job.source, name))
            change = partial(_put, code, file, modules[name], live)
            pid = self.begin(partial(self.attempt, tests, note, change, known))
            running[pid] = (monotonic(), name, told, note)
        while running:
            self.reap(running, out)
        self.quiet(session.config)  # it would say that no tests ran
        return True

    def changed_files(self, files: dict[str, str]) -> Iterator[tuple[str, str, types.CodeType, set[tuple[str, str, int]]]]:
        """Yield (file, change, code, functions that it touches) file by file."""
        for file, name in files.items():
            wanted = {told for mine, told in self.job.drawn if mine == name}
            plain = compile(Path(file).read_text(encoding="utf-8"), file, "exec", dont_inherit=True)
            before = {(_key(code), code) for code in _codes(plain)}  # several of one line can have one name
            for change in of_file(Path(file), self.job.functions[name]):
                if change.told not in wanted:
                    continue
                wanted.remove(change.told)
                changed = compile(change.tree, file, "exec", dont_inherit=True)
                touched = {_key(code) for code in _codes(changed) if (_key(code), code) not in before}
                yield name, change.told, changed, touched

    def begin(self, action: Callable[[], None]) -> int:
        """Fork, and return the number of the child, which does something and ends."""
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

    def fork(self, action: Callable[[], None]) -> None:
        """Do something in a child, and wait for it."""
        _, status = os.waitpid(self.begin(action), 0)
        if status:
            raise SystemExit(f"the tests as they are end with {os.waitstatus_to_exitcode(status)}")

    def run_one(self, item: Any, following: Any) -> None:
        """Run one test."""
        item.ihook.pytest_runtest_protocol(item=item, nextitem=following)

    def learn(self, session: Any, modules: dict[str, types.ModuleType], live: Live, out: Path) -> None:
        """Run all tests, and write which functions each of them calls and how long it takes, or the one that fails."""
        self.quiet(session.config)
        for file, module in modules.items():
            _put(_telling(Path(file)), file, module, live)
        found: dict[str, tuple[float, list[tuple[str, str, int]]]] = {}
        for item, following in zip_longest(session.items, session.items[1:]):
            if monotonic() > self.job.until:
                break
            CALLED.clear()
            began, self.skipped = process_time(), False
            self.run_one(item, following)
            if self.failed:
                out.write_text(json.dumps(self.failed))
                return
            if not self.skipped:
                found[item.nodeid] = (process_time() - began, sorted(CALLED))
        out.write_text(json.dumps(found))

    def quiet(self, config: Any) -> None:
        """Let nothing be printed."""
        reporter = config.pluginmanager.get_plugin("terminalreporter")
        if reporter:
            config.pluginmanager.unregister(reporter)

    def attempt(self, tests: list[Any], note: Path, change: Callable[[], None], known: dict[str, Any]) -> None:
        """Change the code, run tests until one fails, and write which one it was."""
        try:
            change()
        except Exception as error:  # what cannot be imported is noticed by all tests
            note.write_text(json.dumps(f"{type(error).__name__} at import"))
            return
        for item, following in zip_longest(tests, tests[1:]):
            self.quiet(item.config)
            note.write_text(json.dumps(f"no end of {item.nodeid}"))
            signal.setitimer(signal.ITIMER_REAL, TEST_SECONDS + TIMES * known[item.nodeid][0])
            self.run_one(item, following)
            if self.failed:
                note.write_text(json.dumps(self.failed.removeprefix("tests/")))
                return
        note.write_text(json.dumps(None))

    def reap(self, running: dict[int, tuple[float, str, str, Path]], out: Path) -> None:
        """Wait until a child ends, or time is up, and add what it found to the results."""
        while True:
            for pid, (began, name, told, note) in list(running.items()):
                done, status = os.waitpid(pid, os.WNOHANG)
                late = not done and monotonic() > self.job.until
                if late:
                    os.killpg(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)
                if not done and not late:
                    continue
                del running[pid]
                by = json.loads(note.read_text()) if note.exists() else "the process ended"
                note.unlink(missing_ok=True)
                if late:
                    continue
                if status and not (isinstance(by, str) and os.waitstatus_to_exitcode(status) == -signal.SIGALRM):
                    by = f"the process ended with {os.waitstatus_to_exitcode(status)}"
                with out.open("a") as stream:
                    stream.write(json.dumps([name, told, by, round(monotonic() - began, 2)]) + "\n")
                print(f"{monotonic() - began:.1f} s: {name} {told}: {by or 'SURVIVES'}", flush=True)
                return
            if not running:
                return
            sleep(0.01)


def main() -> None:
    """Read the job and run it."""
    job = Job(**json.loads(Path(sys.argv[1]).read_text()))
    os.chdir(job.root)
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not slow", "-s"]
    sys.exit(pytest.main([*options, *job.tests], plugins=[Runner(job)]))


if __name__ == "__main__":
    import teeth_run  # the functions that tell that they are called know this module by its name

    teeth_run.main()
