"""The index of datasketch: bands of signatures in dictionaries."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any, Self

from ..errors import IncompatibleSketchError, ParameterError
from ..theory.banding import least_errors

_Keys = tuple[bytes, ...]


class MinHashLSH:
    """An index of signatures by bands, as ``datasketch.MinHashLSH`` with its storage in memory.

    Parameters
    ----------
    threshold : float in [0, 1], default 0.9
        For which bands and rows are chosen: those with the smallest weighted sum of the areas of false positives (the
        probability of sharing a band, below it) and false negatives (of sharing none, above it).
    num_perm : int, default 128
        Number of permutations of the signatures.
    weights : (float, float), default (0.5, 0.5)
        Of false positives and false negatives; they add up to 1.
    params : (int, int) or None, default None
        Number of bands and of rows in each, in place of those chosen.
    storage_config : dict or None, default None
        None, or ``{"type": "dict"}``; ``lookalike.Index`` is the index on a disk.
    prepickle : bool or None, default None
        For those who pass it: keys in memory are kept as they are.
    hashfunc : callable or None, default None
        Function from the bytes of a band to shorter ones.

    Raises
    ------
    ParameterError
        If a parameter is out of its range.

    Examples
    --------
    >>> from lookalike.datasketch import MinHash, MinHashLSH
    >>> index = MinHashLSH(threshold=0.5, num_perm=128)
    >>> for name, words in {"a": b"one two three four", "b": b"one two three five", "c": b"something else altogether"}.items():
    ...     index.insert(name, MinHash.bulk([words.split()])[0])
    >>> sorted(index.query(MinHash.bulk([b"one two three six".split()])[0]))
    ['a', 'b']
    """

    def __init__(
        self, threshold: float = 0.9, num_perm: int = 128, weights: tuple[float, float] = (0.5, 0.5),
        params: tuple[int, int] | None = None, storage_config: dict[str, Any] | None = None, prepickle: bool | None = None,
        hashfunc: Callable[[bytes], bytes] | None = None,
    ) -> None:  # fmt: skip
        if storage_config is not None and storage_config.get("type") != "dict":
            raise ParameterError(
                f"storage_config must be None or {{'type': 'dict'}}; got {storage_config!r}: lookalike.Index is one on a disk"
            )
        if num_perm < 2:
            raise ParameterError(f"num_perm must be at least 2; got {num_perm}")
        if min(weights) < 0 or sum(weights) != 1.0:
            raise ParameterError(f"weights must be two numbers from 0 that add up to 1; got {weights}")
        if params is None:
            params = least_errors(threshold, num_perm, weights[0])
        self.h, self.hashfunc = num_perm, hashfunc
        self.b, self.r = params
        if self.b < 2 or self.r < 1 or self.b * self.r > num_perm:
            raise ParameterError(f"params must be 2 or more bands of rows, {num_perm} rows in all at most; got {tuple(params)}")
        self.keys: dict[Hashable, _Keys] = {}
        # A key, which is no list, or a list of keys: most buckets have one, and lists of one keep the garbage collector busy.
        self._tables: list[dict[bytes, Any]] = [{} for _ in range(self.b)]
        self._scheme: str | None = None

    @classmethod
    def from_datasketch(cls, index: Any) -> Self:
        """Return the index that one of datasketch is, which may have been unpickled, or be stored elsewhere."""
        made = cls(num_perm=index.h, params=(index.b, index.r), hashfunc=getattr(index, "hashfunc", None))
        made._scheme = getattr(index, "_minhash_scheme", None)
        pickled = getattr(index, "prepickle", False)  # which older versions do not have, as ``hashfunc``
        for key in index.keys.keys():  # noqa: SIM118  # no dictionary
            bands = tuple(index.keys.get(key))[-index.b :]  # of a key that was inserted twice, the last
            made._put(pickle.loads(key) if pickled else key, bands)
        return made

    def _keys_of(self, minhash: Any) -> _Keys:
        """Return the bytes of each band: big-endian hash values."""
        if len(minhash) != self.h:
            raise ParameterError(f"the signature must have {self.h} hash values; it has {len(minhash)}")
        scheme = getattr(minhash, "scheme", None)
        if None not in (scheme, self._scheme) and scheme != self._scheme:
            raise IncompatibleSketchError(
                f"the index holds signatures of the scheme {self._scheme!r}; this one's is {scheme!r}"
            )
        data = minhash.hashvalues.byteswap().tobytes()
        step = self.r * (len(data) // self.h)  # a value of datasketch's WeightedMinHash is two numbers
        found = tuple([data[begin : begin + step] for begin in range(0, self.b * step, step)])
        return found if self.hashfunc is None else tuple(map(self.hashfunc, found))

    def _put(self, key: Hashable, bands: _Keys) -> None:
        self.keys[key] = bands
        for band, table in zip(bands, self._tables, strict=True):
            there = table.setdefault(band, key)
            if type(there) is list:
                there.append(key)
            elif there is not key:
                table[band] = [there, key]

    def insert(self, key: Hashable, minhash: Any, check_duplication: bool = True) -> None:
        """Add a signature.

        Raises ParameterError if the key is there, or the signature has another number of hash values.
        IncompatibleSketchError if the signatures of the index are of another scheme.
        """
        bands = self._keys_of(minhash)
        if key in self.keys:
            if check_duplication:
                raise ParameterError(f"the key {key!r} is in the index already")
            self.remove(key)
        self._scheme = self._scheme or getattr(minhash, "scheme", None)
        self._put(key, bands)

    def query(self, minhash: Any) -> list[Hashable]:
        """Return the keys of signatures that share a band, in the order of the bands.

        Raises ParameterError if the signature has another number of hash values.
        IncompatibleSketchError if the signatures of the index are of another scheme.
        """
        found: dict[Hashable, None] = {}
        for band, table in zip(self._keys_of(minhash), self._tables, strict=True):
            if band in table:
                there = table[band]
                if type(there) is list:
                    found.update(dict.fromkeys(there))
                else:
                    found[there] = None
        return list(found)

    def remove(self, key: Hashable) -> None:
        """Take a signature out.

        Raises ParameterError if the key is not there.
        """
        if key not in self.keys:
            raise ParameterError(f"the key {key!r} is not in the index")
        for band, table in zip(self.keys.pop(key), self._tables, strict=True):
            there = table[band]
            if type(there) is list:
                there.remove(key)
            if type(there) is not list or not there:
                del table[band]

    def merge(self, other: MinHashLSH, check_overlap: bool = False) -> None:
        """Add all signatures of another index.

        Raises ParameterError if keys are in both.
        IncompatibleSketchError if bands, rows, numbers of permutations or schemes differ.
        """
        for name in ("h", "b", "r", "_scheme"):
            mine, its = getattr(self, name), getattr(other, name)
            if mine != its and None not in (mine, its):
                raise IncompatibleSketchError(f"the two indexes differ in {name.lstrip('_')}: {mine!r} and {its!r}")
        twice = self.keys.keys() & other.keys.keys()
        if check_overlap and twice:
            raise ParameterError(f"{len(twice)} keys are in both indexes, such as {next(iter(twice))!r}")
        for key in twice:
            self.remove(key)
        self._scheme = self._scheme or other._scheme
        for key, bands in other.keys.items():
            self._put(key, bands)

    def is_empty(self) -> bool:
        """Return whether it holds nothing."""
        return not self.keys

    def get_counts(self) -> list[dict[bytes, int]]:
        """Return, for each band, how many keys each bucket holds."""
        return [{band: len(there) for band, there in table.items()} for table in self.hashtables]

    @property
    def hashtables(self) -> list[dict[bytes, list[Hashable]]]:
        """The keys in each bucket of each band: a copy."""
        return [{band: [*there] if type(there) is list else [there] for band, there in t.items()} for t in self._tables]

    def get_subset_counts(self, *keys: Hashable) -> list[dict[bytes, int]]:
        """Return, for each band, how many of some keys each bucket holds."""
        counts: list[dict[bytes, int]] = [{} for _ in range(self.b)]
        for key in dict.fromkeys(keys):
            for band, count in zip(self.keys[key], counts, strict=True):
                count[band] = count.get(band, 0) + 1
        return counts

    @contextmanager
    def insertion_session(self, buffer_size: int = 50_000) -> Iterator[Self]:
        """Give the index itself: in memory there is nothing to gain."""
        yield self

    deletion_session = insertion_session

    def __contains__(self, key: Hashable) -> bool:
        """Tell whether a key is there."""
        return key in self.keys
