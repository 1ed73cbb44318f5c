"""Margins of fingerprints."""

from dataclasses import replace

import numpy as np

import lookalike as la


def test_margins_of_one_byte_keep_signs_and_shares_of_the_largest():
    made = la.SimHash(margins=True).sign(la.shingle(["a b c", "d e f g"], width=1))
    margins = np.zeros((2, 64), np.float32)
    margins[0, :5] = [8.0, -4.0, 2.0, 0.01, -8.0]
    found = replace(made, margins=margins).quantise_margins().margins
    assert found.dtype == np.int8 and not found[1].any()
    assert found[0, :6].tolist() == [127, -64, 32, 0, -127, 0]
