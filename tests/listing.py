"""All pairs of some documents, with summary and provenance."""

from lookalike import Settings
from lookalike.recipes import pairs


def find_pairs(data, against=None, **settings):
    """What ``pairs`` does, without leaving its summary out."""
    return pairs.find_pairs(data, Settings(**settings), against)
