"""What loops of the experiments that Numba compiles have of the core: a machine instruction, and its mixers of hashes."""

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

K0 = np.uint64(0xA0761D6478BD642F)
M1, M2 = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)


@intrinsic
def popcount(typingctx, value):
    """Number of set bits."""

    def codegen(context, builder, signature, args):
        return builder.ctpop(args[0])

    return types.int64(types.uint64), codegen


@intrinsic
def fold_multiply(typingctx, a, b):
    """Both halves of the 128-bit product, XORed."""

    def codegen(context, builder, signature, args):
        wide, narrow = ir.IntType(128), ir.IntType(64)
        product = builder.mul(builder.zext(args[0], wide), builder.zext(args[1], wide))
        return builder.xor(builder.trunc(product, narrow), builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), narrow))

    return types.uint64(types.uint64, types.uint64), codegen


@njit
def fmix64(x):
    """Mix the bits of a number, as MurmurHash3 ends."""
    x = (x ^ (x >> np.uint64(33))) * M1
    x = (x ^ (x >> np.uint64(33))) * M2
    return x ^ (x >> np.uint64(33))
