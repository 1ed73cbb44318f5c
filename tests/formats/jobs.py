"""What tests of formats ask of jobs."""

from functools import partial

import pytest

import lookalike as la


def refused(words, call, *given, error=la.errors.InputDataError, **more):
    """Check that a call ends in an error that says so; return the error."""
    with pytest.raises(error, match=words) as caught:
        call(*given, **more)
    return caught.value


refused_option = partial(refused, error=la.errors.ParameterError)
refused_output = partial(refused, error=la.errors.OutputError)


def reasons(data, **given):
    """What is decided about each document."""
    return la.dedup(data, **given).decisions["reason"].to_pylist()


def kept_texts(data, **given):
    """The texts of the documents that are kept."""
    return la.dedup(data, **given).clean()["text"].to_pylist()


def put(path, content):
    """Write bytes or text, joined if they are several; return the path."""
    if isinstance(content, list):
        content = b"".join(content)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path
