import logging
import shlex
import sys

import pytest

from lookalike.cli.main import main


def status(*arguments):
    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    logging.getLogger("lookalike").handlers.clear()  # as with a process that ends
    return stop.value.code or 0


def run(captured, *arguments):
    code = status(*arguments)
    out, err = captured.readouterr()
    assert code == 70 or "Traceback" not in err
    return code, out, err


def fails(captured, *arguments):
    return run(captured, *arguments)[::2]


def process(line):
    return [sys.executable, "-m", "lookalike", *shlex.split(line)]


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
