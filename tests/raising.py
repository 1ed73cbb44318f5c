"""Errors that calls must raise."""

import pytest


def assert_raises(error, said, call, /, *given, **how):
    """Check that a call raises an error whose message matches a pattern, if there is one."""
    __tracebackhide__ = True
    with pytest.raises(error, match=said or None):
        call(*given, **how)
