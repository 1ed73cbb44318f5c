from itertools import product
from math import prod

import numpy as np
import pytest
from numpy.testing import assert_allclose
from raising import assert_raises

import lookalike as la
from lookalike.errors import ParameterError
from lookalike.sketches import BBit
from lookalike.theory import packed_banding
from lookalike.theory.mixture import Part, curve


def test_probabilities_of_bands_are_products():
    """Sets of densities match by chance less often: each slot by Theorem 1."""
    parts = [Part(slots=3, bits=2), Part(slots=4, combined=2)]
    p = [0.25 + 0.75 * 0.6] * 3 + [(1 + 0.6**2) / 2] * 4
    expected = 1 - (1 - p[0] * p[1]) * (1 - p[2] * p[3]) * (1 - p[4] * p[5])
    found = packed_banding.candidate_probability(np.array([[0.6, 1.0]]), 3, 2, parts)
    assert found == pytest.approx(np.array([[expected, 1.0]]), rel=1e-14)
    r, densities = np.array([0.1, 0.2]), ([0.5, 0.5], [0.5, 0.1])
    p = la.theory.bbit.match_probability(r, 1, *densities)
    found = packed_banding.candidate_probability(r, 4, 3, [Part(slots=12)], *densities)
    assert_allclose(found, 1 - (1 - p**3) ** 4, rtol=1e-12)


def test_cost_counts_keys_and_candidates():
    keys, candidates = np.array([2000, 5000]), np.array([50_000, 150_000])  # 499,500 pairs, of which a share
    expected = keys * packed_banding.KEY_COST + candidates * packed_banding.CANDIDATE_COST
    assert_allclose(packed_banding.cost(1000.0, [2, 5], [0.1, 0.3]), expected)


KINDS = [([Part(slots=48)], 0.0), ([Part(slots=30, bits=2)], 0.3), ([Part(slots=9, combined=2), Part(slots=22, bits=3)], 0.0)]


def test_chosen_bands_cost_least_of_all_shapes():
    def shared(p, bands, rows):
        return 1 - prod(1 - prod(p[i * rows : (i + 1) * rows]) for i in range(bands))

    for (threshold, recall), documents, (parts, density) in product(
        [(0.6, 0.5), (0.8, 0.9), (0.9, 0.99)], [2, 1e4, 1e7], KINDS
    ):
        at, by_chance = (
            [float(curve(part, r, d, d)[0]) for part in parts for _ in range(part.slots)]
            for r, d in ((threshold, density), (0.0, 0.0))
        )
        choices = []
        for rows in range(1, len(at) + 1):
            reaching = [bands for bands in range(1, len(at) // rows + 1) if shared(at, bands, rows) >= recall]
            for bands in reaching[:1]:
                choices.append((packed_banding.cost(documents, bands, shared(by_chance, bands, rows)), bands, rows))
        assert packed_banding.choose_bands(threshold, recall, parts, documents, density) == min(choices)[1:]


def test_equal_sets_share_their_first_band():
    """A million documents are planned for unless told otherwise."""
    parts, many = [Part(slots=80, bits=1)], BBit(bits=1).parts(1024)
    assert packed_banding.choose_bands(1.0, 0.999, parts)[0] == 1
    assert packed_banding.choose_bands(1.0, 0.999, parts, 1e30) == (1, 80)
    million, more = (packed_banding.choose_bands(0.8, 0.9, many, n) for n in (1e6, 1.1e6))
    assert packed_banding.choose_bands(0.8, 0.9, many) == million != more


def test_what_is_out_of_range_is_refused():
    for call, *given, said in [
        (packed_banding.choose_bands, 0.0, 0.99, [Part(slots=2, bits=8)], "2 stored slots do not reach a recall of 0.99"),
        (packed_banding.candidate_probability, 0.5, 9, 8, [Part(slots=64)], "need 72 stored slots; the parts have 64"),
        (packed_banding.candidate_probability, 0.5, 0, 8, [Part(slots=64)], "bands must be"),
        (packed_banding.cost, -1.0, 1, 0.0, "documents must be"),
    ]:
        assert_raises(ParameterError, said, call, *given)
