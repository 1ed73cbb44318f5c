"""``tests/recipes/test_repeats.py`` holds what is repeated against plain Python."""

from itertools import pairwise

import numpy as np
from naive.repeats import lines_of

from lookalike import core
from lookalike.hashing import digest_secret
from lookalike.text.characters import native_characters
from lookalike.text.texts import from_bytes


def lines(texts, table=()):
    """[low key, high key, begin, end, number, ...] of each line."""
    where, secret = from_bytes(texts), digest_secret(b"k" * 32, "lines")
    units, bounds, _ = core.find_lines(
        where.data, where.offsets, 1, False, native_characters(), secret, np.array(table, np.uint64)
    )
    return [units.tolist()[begin:end] for begin, end in pairwise(bounds.tolist())]


def test_a_table_tells_what_came_once(rng):
    """Two bits of 32 a word: hardly one of 500 keys in 1,024 words is taken for one that came twice, and none that did is lost."""
    table, texts = np.zeros(1024, np.uint64), [b"%d" % number for number in rng.integers(0, 1 << 60, 500)]
    every = lines(texts)
    keys = [unit[0] for units in every for unit in units]
    core.count_keys(np.array([*keys, *keys[:50]], np.uint64), table)
    left = lines(texts, table)
    assert left[:50] == every[:50] and 50 <= sum(map(len, left)) < 60


def test_line_feeds_at_the_ends_of_blocks():
    for size in (63, 64, 65, 127, 128, 129):
        texts = [b"a" * place + b"\n" + b"b" * (size - place - 1) for place in range(size)]
        for text, units in zip(texts, lines(texts), strict=True):
            assert [unit[2:4] for unit in units] == [list(span) for span in lines_of(text) if text[slice(*span)].strip()]
