"""Standard errors of shares of pairs against simulation."""

import numpy as np
import pytest
from jackknife import share


def drawn(rng, pages=40, versions=4):
    """Pairs of versions of the same page; some pages are chosen with all their pairs, so pairs are far from independent."""
    left = np.repeat(np.arange(pages), versions)
    part = np.repeat(rng.random(pages) < 0.3, versions)
    return part, np.ones(len(left), bool), left, left, pages


def test_its_error_is_that_of_repetitions():
    rng = np.random.default_rng(0)
    found = [share(*drawn(rng)) for _ in range(600)]
    spread = np.std([one.value for one in found], ddof=1)
    assert np.mean([one.error**2 for one in found]) == pytest.approx(spread**2, rel=5 * (2 / 600) ** 0.5)


def test_pairs_between_pages_go_with_either_page():
    part, whole = np.array([True, False, True]), np.ones(3, bool)
    one = share(part, whole, np.array([0, 0, 1]), np.array([0, 1, 2]), 3)
    assert one.value == pytest.approx(2 / 3)
    assert np.allclose(one.without, [1, 1, 1 / 2])


def test_a_share_minus_itself_is_zero_without_error():
    one = share(*drawn(np.random.default_rng(1)))
    assert one.above(one) == (0.0, 0.0)
