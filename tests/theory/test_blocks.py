"""Choices of blocks that must agree: none of them misses a pair."""

from itertools import combinations

import pytest

from lookalike.theory import blocks as theory


@pytest.mark.parametrize("bits", [1, 4, 7, 8, 9, 64])
@pytest.mark.parametrize("radius", range(6))
def test_whatever_blocks_differ_one_choice_is_untouched(bits, radius):
    """All ways to spread as many differing bits as there may be over the blocks."""
    if radius >= bits:
        return
    designs = theory.join_designs(bits, radius)
    for blocks, choices in designs:
        assert len(theory.block_sizes(bits, blocks)) == blocks
        for touched in combinations(range(blocks), min(radius, blocks)) if choices != ((),) else ():
            assert any(not set(choice) & set(touched) for choice in choices), (blocks, len(choices), touched)
    assert ((8, 14) in [(blocks, len(choices)) for blocks, choices in designs]) == (radius <= 3 and bits >= 8)
    assert theory.join_candidates(100.0, bits, *designs[0]) == 100 * 100 / 2, "all with all"
