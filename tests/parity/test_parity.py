import json

import pytest
from parity.made import MADE, REAL, corpus
from parity.parity import RECORD, differences, entries

NAMES = list(entries())


def test_the_record_is_whole():
    assert list(json.loads(RECORD.read_text())) == NAMES


def all_differences(made, threads):
    return [line for name in NAMES if entries()[name][0] == made for line in differences(name, threads)]


@pytest.mark.parametrize("made", MADE)
def test_made_corpora_are_decided_as_recorded(made):
    assert all_differences(made, 1) == []


@pytest.mark.slow
@pytest.mark.parametrize("real", REAL)
def test_real_corpora_are_decided_as_recorded(real):
    if corpus(real) is None:
        pytest.skip("the real corpora lie beside the repository, and are absent here")
    assert all_differences(real, 2) == []
