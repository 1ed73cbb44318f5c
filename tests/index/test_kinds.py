"""What a kind of index makes of scores."""

import numpy as np
import pytest

from semblance.index.kinds import make_kind


def test_estimates_leave_out_what_chance_makes_equal():
    """Two slots are equal with probability R + (1 - R) / 2^16: their codes have 16 bits."""
    estimated, _ = make_kind("minhash").estimate(np.arange(257))
    assert estimated[0] == 0.0 and estimated[256] == 1.0
    np.testing.assert_allclose(estimated[1:] + (1 - estimated[1:]) / 2**16, np.arange(1, 257) / 256, rtol=1e-12)


@pytest.mark.parametrize(("threshold", "least"), [(0.8, 205), (0.75, 193), (1.0, 256)])
def test_least_score_of_a_signature(threshold, least):
    """The threshold and what chance adds, in 256ths, rounded up."""
    assert make_kind("minhash", threshold=threshold).least == least


@pytest.mark.parametrize(("threshold", "least"), [(0.8, -3), (0.99, -2), (1.0, 0)])
def test_least_score_of_a_fingerprint(threshold, least):
    """Minus the bits that may differ: three by the radius, fewer if their cosine, cos(pi d / 64), is below the threshold."""
    assert make_kind("simhash", radius=3, threshold=threshold).least == least
