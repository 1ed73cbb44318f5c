"""Numbers that several kernels share, of the types that kernels need: a plain integer beside a uint64 would make a float."""

import numpy as np

ZERO = np.uint64(0)
ONE = np.uint64(1)
EIGHT = np.uint64(8)
S32 = np.uint64(32)
LOW31 = np.uint64(0x7FFFFFFF)
LOW32 = np.uint64(0xFFFFFFFF)
FULL = np.uint64(0xFFFFFFFFFFFFFFFF)
EMPTY = np.uint32(0xFFFFFFFF)  # a slot that no shingle fell into
WIDE_EMPTY = FULL  # the same in slots of 64 bits
GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio: its multiples are spread evenly
ODD = np.uint64(0xD6E8FEB86659FD93)
