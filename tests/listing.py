from lookalike.recipes import pairs
from lookalike.settings.settings import PairSettings


def find_pairs(data, against=None, **settings):
    """What ``pairs`` does, without leaving its summary out."""
    return pairs.find_pairs(data, PairSettings(against=against, **settings))
