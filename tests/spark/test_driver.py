"""The checks of whole jobs see what they look for."""

import base64

import pytest
from spark_session import MOST_OF_TASK, events, forms, sent

pytestmark = pytest.mark.spark


def test_rows_that_are_gathered_are_seen(cluster):
    start = len(events(cluster))
    rows = cluster.range(50_000).collect()
    assert len(rows) == 50_000 and max(sent(events(cluster, start))) > MOST_OF_TASK


def test_a_secret_is_seen_in_other_forms():
    secret = bytes(range(130, 146))
    for longer in (b"x" * before + secret + b"yz" for before in range(4)):
        coded = base64.b64encode(longer), longer.hex().encode(), repr(longer).encode(), repr(list(longer)).encode()
        assert all(any(form in held for form in forms(secret)) for held in (longer, *coded))
        assert not any(form in base64.b64encode(longer[:-6]) for form in forms(secret))
