"""Signatures of datasketch 2.0: its three families of permutations, bit for bit."""

from __future__ import annotations

import struct
from collections.abc import Callable, Generator, Iterable
from hashlib import sha1
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import IncompatibleSketchError, ParameterError
from ..kernels import signatures as kernel
from .families import EMPTY, TYPES, array_of, checked_scheme, permutations_of, sha1_hash32, sha1_hash64

_CODES, _LETTERS = {"affine32": 1, "affine64": 2}, {"affine32": "I", "affine64": "Q", "legacy": "I"}
_RUN = {"affine32": kernel.affine_minima_32, "affine64": kernel.affine_minima_64, "legacy": kernel.mersenne_minima}


class MinHash:
    """A MinHash signature of a set, as ``datasketch.MinHash``.

    Parameters
    ----------
    num_perm : int, default 128
        Number of permutations; with ``hashvalues`` their number counts.
    seed : int, default 1
        Of the permutations.
    gpu_mode : {"disable", "detect"}, default "disable"
        For those who pass it: all is computed on the processor.
    hashfunc : callable or None, default None
        Function from a value of ``update`` to an integer of 32 bits (64 with "affine64"); None: ``sha1_hash32`` of bytes
        (``sha1_hash64``).
    hashobj : object or None, default None
        For those who pass it: it does nothing.
    hashvalues : array_like of int or None, default None
        Signature to begin with.
    permutations : array_like of int, shape (2, num_perm), or None, default None
        Multipliers and increments, in place of those of the seed.
    scheme : {"affine32", "affine64", "legacy"} or None, default None
        Of datasketch 2.0 (a * h + b modulo 2^32 or 2^64 of a mixed h), or of all versions before (modulo 2^61 - 1, the lower 32
        bits). None: "affine32"; it must be said where hash values or permutations are given.

    Raises
    ------
    ParameterError
        If a parameter is out of its range, or the scheme is not said.

    Examples
    --------
    >>> from lookalike.datasketch import MinHash
    >>> one, other = MinHash(), MinHash()
    >>> one.update_batch([b"a", b"b", b"c"])
    >>> other.update_batch([b"a", b"b", b"d"])
    >>> one.jaccard(other)
    0.5390625
    """

    __slots__ = ("hashfunc", "hashvalues", "permutations", "scheme", "seed")
    hashvalues: NDArray[Any]
    permutations: NDArray[Any]

    def __init__(
        self, num_perm: int = 128, seed: int = 1, gpu_mode: str = "disable", hashfunc: Callable[[Any], int] | None = None,
        hashobj: object = None, hashvalues: ArrayLike | None = None, permutations: ArrayLike | None = None,
        scheme: str | None = None,
    ) -> None:  # fmt: skip
        self.scheme = checked_scheme(scheme, hashvalues is not None or permutations is not None)
        if gpu_mode not in ("disable", "detect"):
            raise ParameterError(f"gpu_mode must be 'disable' or 'detect'; got {gpu_mode!r}: there is no use for a GPU here")
        if hashfunc is not None and not callable(hashfunc):
            raise ParameterError(f"hashfunc must be a function; got {hashfunc!r}")
        if hashvalues is not None:
            self.hashvalues = array_of(hashvalues, self.scheme, "hashvalues")
            num_perm = len(self.hashvalues)
        if not 1 <= num_perm <= 1 << 32:
            raise ParameterError(f"num_perm must be from 1 to 2^32; got {num_perm}")
        if hashvalues is None:
            self.hashvalues = np.full(num_perm, EMPTY[self.scheme], TYPES[self.scheme])
        self.seed = seed
        self.hashfunc = hashfunc or (sha1_hash64 if self.scheme == "affine64" else sha1_hash32)
        if permutations is None:
            self.permutations = permutations_of(num_perm, seed, self.scheme)
        else:
            limit = "affine64" if self.scheme == "legacy" else self.scheme
            self.permutations = array_of(permutations, limit, "permutations")
            if self.permutations.shape != (2, num_perm):
                raise ParameterError(
                    f"permutations must have the shape (2, {num_perm}), as many as hash values; got {self.permutations.shape}"
                )
            if self.scheme != "legacy" and not (self.permutations[0] & 1).all():
                raise ParameterError("permutations: multipliers must be odd")

    def update(self, b: Any) -> None:
        """Add a value to the set, as ``update_batch`` adds several."""
        self.update_batch((b,))

    def update_batch(self, b: Iterable[Any]) -> None:
        """Add values to the set.

        Raises ParameterError if the hash of one has more bits than the scheme.
        """
        if self.hashfunc in (sha1_hash32, sha1_hash64):
            digests = np.frombuffer(b"".join([sha1(value).digest() for value in b]), np.uint32).reshape(-1, 5)
            wide = self.hashfunc is sha1_hash64
            hashes = np.ascontiguousarray(digests[:, : 2 if wide else 1]).view(np.uint64 if wide else np.uint32).ravel()
            hashes = hashes.astype(TYPES[self.scheme]) if not wide or self.scheme != "affine32" else self._fitting(hashes)
        else:
            found = [self.hashfunc(value) for value in b]
            hashes = self._fitting(found) if found else np.empty(0, TYPES[self.scheme])
        multipliers, increments = self.permutations
        values = self.hashvalues.copy()  # which others may hold
        _RUN[self.scheme](hashes, multipliers, increments, values)
        self.hashvalues = values

    def _fitting(self, hashes: Any) -> NDArray[Any]:
        """Return what a hash function gave, of which every value has no more bits than the scheme."""
        return array_of(hashes, "affine64" if self.scheme == "legacy" else self.scheme, "values of hashfunc")

    def _check(self, other: MinHash) -> None:
        own, its = (self.scheme, self.seed, len(self)), (getattr(other, "scheme", "legacy"), other.seed, len(other))
        for name, mine, theirs in zip(("scheme", "seed", "num_perm"), own, its, strict=True) if own != its else ():
            if mine != theirs:
                raise IncompatibleSketchError(f"the two signatures differ in {name}: {mine!r} and {theirs!r}")

    def jaccard(self, other: MinHash) -> float:
        """Return the estimated resemblance: the share of equal hash values.

        Raises IncompatibleSketchError if schemes, seeds or numbers of permutations differ.
        """
        self._check(other)
        return int(np.count_nonzero(self.hashvalues == other.hashvalues)) / len(self)

    def count(self) -> float:
        """Return the estimated number of different values: k / (sum of hash values / largest) - 1."""
        return float(len(self) / np.sum(self.hashvalues / float(EMPTY[self.scheme])) - 1.0)

    def merge(self, other: MinHash) -> None:
        """Make this the signature of the union; of the same errors as ``jaccard``."""
        self._check(other)
        self.hashvalues = np.minimum(other.hashvalues, self.hashvalues)

    @classmethod
    def union(cls, *mhs: MinHash) -> MinHash:
        """Return the signature of the union of sets.

        Raises ParameterError if there are fewer than two.
        IncompatibleSketchError if schemes, seeds or numbers of permutations differ.
        """
        if len(mhs) < 2:
            raise ParameterError(f"a union takes at least 2 signatures; got {len(mhs)}")
        made = mhs[0].copy()
        for other in mhs[1:]:
            made.merge(other)
        return made

    def digest(self) -> NDArray[Any]:
        """Return a copy of the hash values."""
        return self.hashvalues.copy()

    def is_empty(self) -> bool:
        """Return whether no value was added."""
        return bool((self.hashvalues == EMPTY[self.scheme]).all())

    def clear(self) -> None:
        """Forget all values."""
        self.hashvalues = np.full(len(self), EMPTY[self.scheme], TYPES[self.scheme])

    def copy(self) -> Self:
        """Return a copy."""
        made = object.__new__(type(self))
        for name in MinHash.__slots__:
            setattr(made, name, getattr(self, name))
        made.hashvalues = self.hashvalues.copy()
        return made

    @classmethod
    def bulk(cls, b: Iterable[Iterable[Any]], **minhash_kwargs: Any) -> list[MinHash]:
        """Return the signatures of sets; ``minhash_kwargs`` are those of ``MinHash``."""
        return list(cls.generator(b, **minhash_kwargs))

    @classmethod
    def generator(cls, b: Iterable[Iterable[Any]], **minhash_kwargs: Any) -> Generator[MinHash, None, None]:
        """Yield the signatures of sets."""
        empty = cls(**minhash_kwargs)
        for values in b:
            made = empty.copy()
            made.update_batch(values)
            yield made

    def __len__(self) -> int:
        """Return the number of hash values."""
        return len(self.hashvalues)

    num_perm = property(__len__)

    def __eq__(self, other: object) -> bool:
        """Tell whether kind, scheme, seed and hash values are equal."""
        if type(self) is not type(other):
            return False
        assert isinstance(other, MinHash)
        same = self.scheme == other.scheme and self.seed == other.seed
        return same and np.array_equal(self.hashvalues, other.hashvalues)

    __hash__ = None  # type: ignore[assignment]  # it changes

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without the permutations, which follow from the seed."""
        own = self.permutations is not permutations_of(len(self), self.seed, self.scheme)
        return _restored, (self.hashvalues, self.seed, self.scheme, self.hashfunc, self.permutations if own else None)


def _restored(values: NDArray[Any], seed: int, scheme: str, hashfunc: Any, permutations: Any) -> MinHash:
    return MinHash(seed=seed, hashfunc=hashfunc, hashvalues=values, permutations=permutations, scheme=scheme)


class LeanMinHash(MinHash):
    """A signature to which nothing is added, and which becomes bytes, as ``datasketch.LeanMinHash``.

    Parameters
    ----------
    minhash : MinHash or None, default None
        Of this package or of datasketch; otherwise seed, hashvalues and scheme, as ``MinHash`` has them, must be given.
    seed, hashvalues, scheme

    Raises
    ------
    ParameterError
        If neither a signature nor its parts are given, or the scheme is another than the signature's.
    """

    __slots__ = ()

    def __init__(
        self, minhash: Any = None, seed: int | None = None, hashvalues: ArrayLike | None = None, scheme: str | None = None
    ) -> None:  # fmt: skip
        if minhash is not None:
            of = getattr(minhash, "scheme", "legacy")
            if scheme not in (None, of):
                raise ParameterError(f"scheme {scheme!r} is not that of the signature, {of!r}")
            seed, hashvalues, scheme = minhash.seed, minhash.hashvalues, of
        if seed is None or hashvalues is None:
            raise ParameterError("minhash, or seed, hashvalues and scheme must be given")
        self.scheme, self.seed = checked_scheme(scheme, given=True), seed
        self.hashvalues = array_of(hashvalues, self.scheme, "hashvalues")
        if not len(self.hashvalues):
            raise ParameterError("hashvalues must not be empty")

    def update(self, b: Any) -> None:
        """Raise TypeError: nothing is added to it."""
        raise TypeError("nothing can be added to a LeanMinHash; make a MinHash of its hashvalues, seed and scheme")

    update_batch = update

    def __hash__(self) -> int:  # type: ignore[override]
        """Return a hash of the parts."""
        return hash((self.scheme, self.seed, self.hashvalues.tobytes()))

    def copy(self) -> Self:
        """Return a copy."""
        return type(self)(self)

    def _layout(self, byteorder: str) -> str:
        return f"{byteorder}qi{'B' * (self.scheme in _CODES)}{len(self)}{_LETTERS[self.scheme]}"

    def bytesize(self, byteorder: str = "@") -> int:
        """Return the number of bytes that ``serialize`` writes."""
        return struct.calcsize(self._layout(byteorder))

    def serialize(self, buf: Any, byteorder: str = "@") -> None:
        """Write the seed, the number of values (if not "legacy": negative, then a code), and the values.

        Raises ParameterError if the buffer is too small.
        """
        if len(buf) < self.bytesize(byteorder):
            raise ParameterError(f"the buffer must have {self.bytesize(byteorder)} bytes; it has {len(buf)}")
        head = (len(self),) if self.scheme not in _CODES else (-len(self), _CODES[self.scheme])
        struct.pack_into(self._layout(byteorder), buf, 0, self.seed, *head, *self.hashvalues.tolist())

    @classmethod
    def deserialize(cls, buf: Any, byteorder: str = "@") -> LeanMinHash:
        """Return the signature that ``serialize``, here or in any version of datasketch, wrote.

        Raises ParameterError if the bytes are too few, or of an unknown scheme.
        """
        try:
            seed, number = struct.unpack_from(f"{byteorder}qi", buf)
            scheme, code = "legacy", ""
            if number < 0:
                (found,) = struct.unpack_from(f"{byteorder}B", buf, struct.calcsize(f"{byteorder}qi"))
                scheme = next((name for name, known in _CODES.items() if known == found), str(found))
                checked_scheme(scheme, given=True)
                code = "B"
            if struct.calcsize(f"{byteorder}qi{code}") + 4 * abs(number) > len(buf):
                raise struct.error("too short")
            at = struct.calcsize(f"{byteorder}qi{code}0{_LETTERS[scheme]}")
            values = struct.unpack_from(f"{byteorder}{abs(number)}{_LETTERS[scheme]}", buf, at)
        except struct.error:
            raise ParameterError(
                f"{len(buf)} bytes are no signature: the buffer is cut short, or of another byte order"
            ) from None
        return cls(seed=seed, hashvalues=values, scheme=scheme)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the parts."""
        return LeanMinHash, (None, self.seed, self.hashvalues, self.scheme)
