"""Kernels compiled by Numba on their first call, and the machine instructions that Python has no operator for. The library
built ahead comes from the same code; this is what runs where there is no library, and what builds it."""

import atexit
import fcntl
import os
import re
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from time import perf_counter
from typing import get_type_hints

from llvmlite import ir
from numba import types
from numba.core import cgutils, event
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.extending import intrinsic, typeof_impl
from numba.np.arrayobj import populate_array

from ..wording import counted, printable

_OPTIONS = {"nopython": True, "nogil": True, "error_model": "numpy", "boundscheck": None}
_CONST = re.compile(r"const (\w+\[.*?\])")
_TUPLES: dict[type, types.Type] = {}


def _parse(text, names):
    """Evaluate a type or a signature in Numba's notation; ``const`` before an array says that it is not written to."""
    readable = _CONST.sub(r"\1.copy(readonly=True)", text)
    return eval(readable, {**vars(types), **names})


def typed(cls):
    """Let signatures name a NamedTuple, each field of which is ``Annotated[..., its type in a signature]``."""
    fields = get_type_hints(cls, include_extras=True).values()
    wanted = types.BaseTuple.from_types([_parse(field.__metadata__[0], {}) for field in fields], cls)

    def resolve(value, context):
        given = types.BaseTuple.from_types([typeof_impl(item, context) for item in value], cls)
        fits = all(_fits(mine, declared) for mine, declared in zip(given.types, wanted.types, strict=True))
        return wanted if fits else given  # Numba itself converts arrays to arrays, but not tuples of them to tuples of them

    typeof_impl.register(cls)(resolve)
    _TUPLES[cls] = wanted
    return cls


def _fits(given, wanted):
    """Tell whether Numba passes a value of one type where another is declared."""
    return given is not None and Kernel.targetdescr.typing_context.can_convert(given, wanted) is not None


class _Teller(event.Listener):
    """Says on standard error that kernels are being compiled, and at the end of the process how long that took."""

    def __init__(self):
        self.depth, self.count, self.began, self.seconds = 0, 0, 0.0, 0.0
        self.folder = None

    def on_start(self, happened):
        """A kernel is compiled, maybe for the sake of another."""
        if not isinstance(happened.data["dispatcher"], Kernel):
            return
        if not self.count:
            self.folder = happened.data["dispatcher"].stats.cache_path
            often = "once for this machine" if self.folder else "in each process, since no folder for them can be written to"
            print(f"lookalike: compiling kernels as they are needed, {often}: 10 to 20 seconds", file=sys.stderr)
            atexit.register(self.sum_up)
        if not self.depth:
            self.began = perf_counter()
        self.depth, self.count = self.depth + 1, self.count + 1

    def on_end(self, happened):
        """It is done."""
        if isinstance(happened.data["dispatcher"], Kernel):
            self.depth -= 1
            if not self.depth:
                self.seconds += perf_counter() - self.began

    def sum_up(self):
        """Say how long it took."""
        where = f", kept in {printable(str(self.folder))}" if self.folder else ""
        print(f"lookalike: compiled {counted(self.count, 'kernel')} in {self.seconds:.1f} s{where}", file=sys.stderr)


event.register("numba:compile", _Teller())


_held: list = []  # the lock of the folder, while this process compiles; who changes it holds Numba's own lock


@contextmanager
def _alone(folder):
    """Let one process at a time compile into a folder: those that start together find there what the first one made."""
    lock = None
    if folder is not None and not _held:
        with suppress(OSError):  # no such folder yet, or one that cannot be locked: then each compiles for itself
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            lock = os.open(Path(folder) / "compiling.lock", flags, 0o666)
            fcntl.flock(lock, fcntl.LOCK_EX)
    if lock is None:
        yield
        return
    _held.append(lock)
    try:
        yield
    finally:
        fcntl.flock(_held.pop(), fcntl.LOCK_UN)  # closing is not enough where a process was forked meanwhile
        os.close(lock)


class Kernel(CPUDispatcher):
    """A function that is compiled on its first call, for the one signature that it declares and for no other. Arrays must have
    the declared type; scalars are converted to it, as in C."""

    declared, tuples = "", ()

    @property
    def signature(self):
        """The declared signature, as Numba's type."""
        return _parse(self.declared, {cls.__name__: _TUPLES[cls] for cls in self.tuples})

    def compile(self, sig):
        """Compile for the declared signature, whatever is asked for, unless that was done before."""
        with global_compiler_lock:
            if self._can_compile:
                with _alone(self.stats.cache_path):
                    try:
                        super().compile(self.signature)
                    except (ImportError, AttributeError):  # kept by another version, whose classes stood elsewhere
                        self._cache.flush()
                        super().compile(self.signature)
                self.disable_compile()
        (overload,) = self.overloads.values()
        return overload.entry_point

    def _compile_for_args(self, *args, **kws):
        """Compile on the first call; the dispatcher then calls what this returns: itself, which now looks at the arguments."""
        self._compilation_chain_init_hook()
        self.compile(None)
        return self

    def _explain_matching_error(self, *args, **kws):
        """Name the first argument that is not as declared."""
        (signature,) = self.nopython_signatures
        for name, value, wanted in zip(self.__code__.co_varnames, args, signature.args, strict=False):
            given = self.typeof_pyval(value)
            if not _fits(given, wanted):
                raise TypeError(f"{self.__module__}.{self.__name__}: {name} must be {wanted}, not {given}")
        super()._explain_matching_error(*args, **kws)


def compiled(signature, *tuples):
    """Compile a function on its first call, keep it on the disk where a folder allows: see ``compiler.compiled``."""

    def decorate(function):
        kernel = Kernel(py_func=function, targetoptions=dict(_OPTIONS))
        kernel.declared, kernel.tuples = signature, tuples
        with suppress(RuntimeError):  # no folder is writable
            kernel.enable_caching()
        return kernel

    return decorate


@intrinsic
def multiply_high(typingctx, a, b):
    """Upper 64 bits of the 128-bit product."""

    def codegen(context, builder, signature, args):
        wide = ir.IntType(128)
        product = builder.mul(builder.zext(args[0], wide), builder.zext(args[1], wide))
        return builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), codegen


def _address(context, builder, array_type, array, index):
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(cgutils.gep(builder, data, index), ir.IntType(64).as_pointer())


@intrinsic
def load64(typingctx, data, index):
    """Eight bytes of a uint8 array from ``index`` on, little endian; the caller guarantees that they exist."""

    def codegen(context, builder, signature, args):
        return builder.load(_address(context, builder, signature.args[0], *args), align=1)

    return types.uint64(data, types.int64), codegen


@intrinsic
def store64(typingctx, data, index, value):
    """Write eight bytes into a uint8 array, little endian."""

    def codegen(context, builder, signature, args):
        builder.store(args[2], _address(context, builder, signature.args[0], args[0], args[1]), align=1)
        return context.get_dummy_value()

    return types.void(data, types.int64, types.uint64), codegen


_BYTES = ir.VectorType(ir.IntType(8), 64)


def _vector(builder, pointer):
    return builder.bitcast(pointer, _BYTES.as_pointer())


def _splat(byte):
    return ir.Constant(_BYTES, [byte] * 64)


@intrinsic
def different_bytes(typingctx, data, index, byte):
    """Bit i tells whether ``data[index + i]`` is another byte than ``byte``, for 64 bytes, which must exist."""

    def codegen(context, builder, signature, args):
        block = builder.load(_vector(builder, _address(context, builder, signature.args[0], args[0], args[1])), align=1)
        byte = builder.trunc(args[2], ir.IntType(8))
        lane = builder.insert_element(ir.Constant(_BYTES, ir.Undefined), byte, ir.IntType(32)(0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), 64), [0] * 64)
        same = builder.shuffle_vector(lane, ir.Constant(_BYTES, ir.Undefined), zeros)
        return builder.bitcast(builder.icmp_unsigned("!=", block, same), ir.IntType(64))

    return types.uint64(data, types.int64, types.int64), codegen


@intrinsic
def unequal_bytes(typingctx, data, index, other, place):
    """Bit i tells whether ``data[index + i] != other[place + i]``, for 64 bytes, which must exist."""

    def codegen(context, builder, signature, args):
        pointers = (_address(context, builder, signature.args[i], args[i], args[i + 1]) for i in (0, 2))
        blocks = [builder.load(_vector(builder, pointer), align=1) for pointer in pointers]
        return builder.bitcast(builder.icmp_unsigned("!=", *blocks), ir.IntType(64))

    return types.uint64(data, types.int64, other, types.int64), codegen


@intrinsic
def fold_ascii(typingctx, data, index, out, place, fold_case):
    """Do what ``_plain.fold_ascii`` does, by instructions for 64 bytes."""

    def codegen(context, builder, signature, args):
        source = _address(context, builder, signature.args[0], args[0], args[1])
        target = _address(context, builder, signature.args[2], args[2], args[3])
        block = builder.load(_vector(builder, source), align=1)
        lower = builder.or_(block, _splat(32))
        letter = builder.icmp_unsigned("<", builder.sub(lower, _splat(97)), _splat(26))
        digit = builder.icmp_unsigned("<", builder.sub(block, _splat(48)), _splat(10))
        wanted = builder.trunc(args[4], ir.IntType(1))
        text = builder.select(letter, builder.select(wanted, lower, block), block)
        folded = builder.select(builder.or_(letter, digit), text, _splat(32))
        builder.store(folded, _vector(builder, target), align=1)
        return builder.bitcast(builder.icmp_signed("<", block, _splat(0)), ir.IntType(64))

    return types.uint64(data, types.int64, out, types.int64, types.boolean), codegen


@intrinsic
def lower_block(typingctx, data, index, out, place, fold_case):
    """Do what ``_plain.lower_block`` does, by instructions for 64 bytes."""

    def codegen(context, builder, signature, args):
        source = _address(context, builder, signature.args[0], args[0], args[1])
        target = _address(context, builder, signature.args[2], args[2], args[3])
        block = builder.load(_vector(builder, source), align=1)
        upper = builder.icmp_unsigned("<", builder.sub(block, _splat(65)), _splat(26))
        wanted = builder.trunc(args[4], ir.IntType(1))
        lower = builder.select(wanted, builder.or_(block, _splat(32)), block)
        builder.store(builder.select(upper, lower, block), _vector(builder, target), align=1)
        return builder.bitcast(builder.icmp_signed("<", block, _splat(32)), ir.IntType(64))

    return types.uint64(data, types.int64, out, types.int64, types.boolean), codegen


@intrinsic
def array_at(typingctx, address, size, dtype):
    """What lies in memory at an address as an array, only to be read; the caller guarantees that it is there meanwhile."""
    kind = types.Array(dtype.dtype, 1, "C", readonly=True)

    def codegen(context, builder, signature, args):
        array, width = context.make_array(kind)(context, builder), context.get_constant(types.intp, dtype.dtype.bitwidth // 8)
        data = builder.inttoptr(args[0], array.data.type)
        populate_array(array, data, shape=[args[1]], strides=[width], itemsize=width, meminfo=None)
        return array._getvalue()

    return kind(types.int64, types.int64, dtype), codegen


@intrinsic
def prefetch(typingctx, array, index):
    """Ask for the cache line of an element, counted in the order of memory; it need not exist."""

    def codegen(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        pointer = builder.bitcast(cgutils.gep(builder, data, args[1]), cgutils.voidptr_t)
        flag = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, flag, flag, flag])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [pointer, flag(0), flag(3), flag(1)])
        return context.get_dummy_value()

    return types.void(array, types.int64), codegen


@intrinsic
def popcount(typingctx, value):
    """Number of set bits."""

    def codegen(context, builder, signature, args):
        return builder.ctpop(args[0])

    return types.int64(types.uint64), codegen


@intrinsic
def trailing_zeros(typingctx, value):
    """Number of zero bits below the lowest set bit; 64 for zero."""

    def codegen(context, builder, signature, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), codegen


@intrinsic
def leading_zeros(typingctx, value):
    """Number of zero bits above the highest set bit; 64 for zero."""

    def codegen(context, builder, signature, args):
        return builder.ctlz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), codegen
