"""Every row of the parity record is decided as it was recorded."""

import json

import pytest
from parity.made import MADE, corpus
from parity.parity import RECORD, differences, entries

NAMES = list(entries())


def test_the_record_is_whole():
    """Each entry has its digests."""
    assert list(json.loads(RECORD.read_text())) == NAMES


@pytest.mark.parametrize("name", [name for name in NAMES if entries()[name][0] in MADE])
def test_made_corpora_are_decided_as_recorded(name):
    assert differences(name) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in NAMES if entries()[name][0] not in MADE])
def test_real_corpora_are_decided_as_recorded(name):
    if corpus(entries()[name][0]) is None:
        pytest.skip("the real corpora lie beside the repository, and are absent here")
    assert differences(name, threads=2) == []
