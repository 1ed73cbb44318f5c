"""Machine instructions that Python has no operator for, as plain Python: what the compiled ones of ``_jit.py`` are held to."""

import ctypes
import struct

import numpy as np

_EIGHT = struct.Struct("<Q")  # refuses less


def multiply_high(a, b):
    """Upper 64 bits of the 128-bit product."""
    return np.uint64(int(a) * int(b) >> 64)


def load64(data, index):
    """Eight bytes of a uint8 array from ``index`` on, little endian; the caller guarantees that they exist."""
    return np.uint64(_EIGHT.unpack_from(data, index)[0])


def store64(data, index, value):
    """Write eight bytes into a uint8 array, little endian."""
    data[index : index + 8] = np.frombuffer(int(value).to_bytes(8, "little"), np.uint8)


def different_bytes(data, index, byte):
    """Bit i tells whether ``data[index + i]`` is another byte than ``byte``, for 64 bytes, which must exist."""
    bits = np.packbits(data[index : index + 64] != byte, bitorder="little")
    return np.uint64(int.from_bytes(bits.tobytes(), "little"))


def unequal_bytes(data, index, other, place):
    """Bit i tells whether ``data[index + i] != other[place + i]``, for 64 bytes, which must exist."""
    bits = np.packbits(data[index : index + 64] != other[place : place + 64], bitorder="little")
    return np.uint64(int.from_bytes(bits.tobytes(), "little"))


def fold_ascii(data, index, out, place, fold_case):
    """Copy 64 bytes to ``out[place:]``, blanks for what is no letter or digit of ASCII, letters lower if wanted. Bit i of the
    result tells whether byte i is beyond ASCII; it is a blank in ``out``."""
    block = data[index : index + 64].copy()
    lower = block | np.uint8(32)
    letter, digit = (lower >= 97) & (lower <= 122), (block >= 48) & (block <= 57)
    out[place : place + 64] = np.where(letter & fold_case, lower, np.where(letter | digit, block, np.uint8(32)))
    bits = np.packbits(block >= 128, bitorder="little")
    return np.uint64(int.from_bytes(bits.tobytes(), "little"))


def lower_block(data, index, out, place, fold_case):
    """Copy 64 bytes to ``out[place:]``, ASCII letters lower if wanted. Bit i of the result tells whether byte i is a control
    character or beyond ASCII."""
    block = data[index : index + 64].copy()
    upper = (block >= 65) & (block <= 90)
    out[place : place + 64] = np.where(upper & fold_case, block | np.uint8(32), block)
    bits = np.packbits((block < 32) | (block >= 128), bitorder="little")
    return np.uint64(int.from_bytes(bits.tobytes(), "little"))


def popcount(value):
    """Number of set bits."""
    return int(value).bit_count()


def trailing_zeros(value):
    """Number of zero bits below the lowest set bit; 64 for zero."""
    value = int(value)
    return (value & -value).bit_length() - 1 if value else 64


def leading_zeros(value):
    """Number of zero bits above the highest set bit; 64 for zero."""
    return 64 - int(value).bit_length()


def array_at(address, size, dtype):
    """What lies in memory at an address as an array, only to be read; the caller guarantees that it is there meanwhile."""
    found = np.ctypeslib.as_array((ctypes.c_uint8 * int(size * np.dtype(dtype).itemsize)).from_address(int(address)))
    found.flags.writeable = False
    return found.view(dtype)


def prefetch(array, index):
    """Ask for the cache line of an element, counted in the order of memory; it need not exist."""
