import pytest


def assert_raises(error, said, call, /, *given, **how):
    __tracebackhide__ = True
    with pytest.raises(error, match=said or None):
        call(*given, **how)
