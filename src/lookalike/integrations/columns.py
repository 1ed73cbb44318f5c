"""Functions of columns: what DuckDB calls for its vectors, polars for its columns, and others for their batches."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..choices import Normalization, Unit
from ..errors import IncompatibleSketchError, InputDataError
from ..methods.method import rows_of_pieces
from ..methods.minhash import MinHashMethod
from ..planner import plan
from ..sketches.minhash import FastSimilarity
from ..sketches.packed import BBit
from ..text.hashes import KeyedHashes
from ..text.shingle import Shingling
from ..text.texts import Texts, as_arrow_columns, concatenate, from_arrow_array
from ..values import PackedSignatures, Signatures, UInt64Array
from ..values.arrow import to_arrow, to_numpy, validity

Missing = NDArray[np.bool_]
ROW_BYTES = 256  # that a row counts for beside its text, so that many short ones are worked on in pieces too
_KEY = os.urandom(32)  # for exact figures, which do not depend on it
_NO_TEXT, _ONE = np.empty(0, np.uint8), np.uint64(1)
_FUNCTIONS = {
    "sketch": (["VARCHAR"], "BLOB"),
    "estimate": (["BLOB", "BLOB"], "DOUBLE"),
    "resemblance": (["VARCHAR", "VARCHAR"], "DOUBLE"),
    "bands": (["VARCHAR"], "UBIGINT[]"),
}  # of DuckDB


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnFunctions:
    """Sketches, estimates, exact resemblances and band keys of columns, for SQL and data frames.

    Each function takes Arrow, polars or pandas columns. It returns a polars ``Series`` for a polars ``Series``, otherwise an
    Arrow array. Where an argument is null, so is the result.

    Parameters
    ----------
    threshold, recall : float, default 0.8 and 0.99
        What ``bands`` is planned for: two texts whose resemblance is the threshold share a band key with this probability.
    permutations : int in [1, 65536], default 256
        Slots of a sketch.
    bits : int in 1..16, or 32, default 8
        Bits that a sketch keeps of each slot.
    seed : int in [0, 2^64), default 1
    unit, width, normalization, fold_case
        See ``Shingling``.

    Raises
    ------
    ParameterError
        If a parameter is out of its range.

    Notes
    -----
    Columns are worked on in pieces of 4 MiB of text, in the caller's thread, without the interpreter's lock in the loops.
    Estimates and band keys come from hashes that can be foreseen: see the ``key`` of ``shingle``. Resemblances do not: their
    hashes are under a key that each process draws.

    References
    ----------
    Li & König, "b-Bit Minwise Hashing", WWW 2010.

    Examples
    --------
    >>> import lookalike as la
    >>> import pyarrow as pa
    >>> functions = la.integrations.ColumnFunctions(width=1)
    >>> functions.resemblance(pa.array(["a b c", None, ""]), pa.array(["a b d", "a", "a"])).to_pylist()
    [0.5, None, 0.0]
    """

    threshold: float = 0.8
    recall: float = 0.99
    permutations: int = 256
    bits: int = 8
    seed: int = 1
    unit: Unit = "word"
    width: int | None = None
    normalization: Normalization = "NFC"
    fold_case: bool = True
    _shingling: Shingling = field(init=False, repr=False, compare=False)
    _scheme: FastSimilarity = field(init=False, repr=False, compare=False)
    _packing: BBit = field(init=False, repr=False, compare=False)
    _method: MinHashMethod = field(init=False, repr=False, compare=False)
    _made_by: np.uint64 = field(init=False, repr=False, compare=False)
    _n_words: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check the parameters."""
        given = {name: getattr(self, name) for name in ("unit", "width", "normalization", "fold_case")}
        shingling, scheme = Shingling(**given), FastSimilarity(permutations=self.permutations, seed=self.seed)
        packing = BBit(bits=self.bits)
        bands = plan(threshold=self.threshold, recall=self.recall)
        told = json.dumps([shingling.to_dict(), scheme.permutations, scheme.seed, packing.bits], sort_keys=True)
        made_by = int.from_bytes(blake2b(told.encode(), digest_size=8, person=b"lookalike column").digest(), "little")
        object.__setattr__(self, "_shingling", shingling)
        object.__setattr__(self, "_scheme", scheme)
        object.__setattr__(self, "_packing", packing)
        object.__setattr__(self, "_method", MinHashMethod(plan=bands, seed=scheme.seed, exact=True, coded=False))
        object.__setattr__(self, "_made_by", np.uint64(made_by & ~1))
        object.__setattr__(self, "_n_words", 1 + (scheme.permutations + 63) // 64 * packing.bits)

    def sketch(self, texts: Any) -> Any:
        """Sketch texts: 8 bytes that tell the parameters, then ``bits`` bits of each slot, in whole words a bit.

        Parameters
        ----------
        texts : column of strings

        Returns
        -------
        pyarrow.LargeBinaryArray or polars.Series

        Raises
        ------
        InputDataError
            If it is not a column of strings.
        """
        column, missing = _texts(texts)
        words, row = np.empty((len(column), self._n_words), np.uint64), 0
        for (piece,) in _pieces(column):
            packed, empty = packed_texts(piece, self._shingling, self._scheme, self._packing)
            packed[empty] = 0
            some = words[row : row + len(piece)]
            some[:, 0], some[:, 1:] = self._made_by | empty.astype(np.uint64), packed
            row += len(piece)
        offsets = np.arange(len(column) + 1, dtype=np.int64) * words.shape[1] * 8
        buffers = [validity(missing), pa.py_buffer(offsets), pa.py_buffer(words)]
        return _like(texts, pa.Array.from_buffers(pa.large_binary(), len(column), buffers))

    def estimate(self, left: Any, right: Any) -> Any:
        """Estimate the resemblance of texts from their sketches, without bias: slightly below 0 perhaps.

        Parameters
        ----------
        left, right : column of sketches

        Returns
        -------
        pyarrow.DoubleArray or polars.Series
            Null where both texts are empty, 0 where one is.

        Raises
        ------
        IncompatibleSketchError
            If a value is not a sketch made with these parameters.
        InputDataError
            If a column does not hold bytes, or one is longer than the other.
        """
        (a, without_a), (b, without_b) = self._words(left, "left"), self._words(right, "right")
        _check_lengths(a, b)
        layout = self._packing.layout(self.permutations)
        sides = [PackedSignatures(words[:, 1:], layout, self._packing, self._scheme, self._shingling) for words in (a, b)]
        rows = np.arange(len(a))
        empty_a, empty_b = ((words[:, 0] & _ONE).astype(np.bool_) for words in (a, b))
        found = np.where(empty_a | empty_b, 0.0, sides[0].estimated_resemblance(rows, rows, other=sides[1]))
        return _like(left, to_arrow(found, without_a | without_b | (empty_a & empty_b)))

    def _words(self, sketches: Any, side: str) -> tuple[UInt64Array, Missing]:
        """Return the words of sketches, zeros where there is none, and where that is."""
        column = _column(sketches)
        if "binary" not in str(column.type) and not pa.types.is_null(column.type):
            raise InputDataError(f"sketches must be bytes; the {side} column holds {column.type}")
        missing, data = to_numpy(column.is_null()), _join_chunks(column.cast(pa.large_binary()))
        words = np.zeros((len(column), self._n_words), np.uint64)
        wrong = (np.diff(data.offsets) != words.shape[1] * 8) & ~missing
        if not wrong.any():
            content = data.content
            words.view(np.uint8)[~missing] = content.reshape(-1, words.shape[1] * 8)
            wrong = (words[:, 0] & ~_ONE != self._made_by) & ~missing
        if wrong.any():
            raise IncompatibleSketchError(
                f"row {int(np.argmax(wrong))} of the {side} column is not a sketch made with {self!r}: "
                "make the sketches of both sides with the same parameters"
            )
        return words, missing

    def resemblance(self, left: Any, right: Any) -> Any:
        """Measure the resemblance of texts: common shingles / all shingles.

        Parameters
        ----------
        left, right : column of strings

        Returns
        -------
        pyarrow.DoubleArray or polars.Series
            Null where both texts are empty, 0 where one is.

        Raises
        ------
        InputDataError
            If a column does not hold strings, or one is longer than the other.
        """
        (a, without_a), (b, without_b) = _texts(left), _texts(right)
        _check_lengths(a, b)
        hashes, found = KeyedHashes(self._shingling, _KEY).hashes, [np.empty(0)]
        for pair in _pieces(a, b):
            rows, n = rows_of_pieces(map(hashes, pair)), len(pair[0])
            found.append(rows.compare(np.arange(n), np.arange(n, 2 * n), 0.0))
        scores = np.concatenate(found)
        return _like(left, to_arrow(scores, without_a | without_b | (scores < 0.0)))

    def bands(self, texts: Any) -> Any:
        """Return the band keys of texts; two texts with a common key are candidates.

        Parameters
        ----------
        texts : column of strings

        Returns
        -------
        pyarrow.LargeListArray or polars.Series
            As many keys, uint64, as the plan has bands; none if a text is empty.

        Raises
        ------
        InputDataError
            If it is not a column of strings.
        """
        column, missing = _texts(texts)
        found, sizes = [np.empty(0, np.uint64)], [np.zeros(1, np.int64)]
        for (piece,) in _pieces(column):
            values, offsets = self._shingling.hashes(piece)
            keys = self._method.sketch(values, offsets, np.zeros(len(piece), np.uint64)).keys
            full = np.diff(offsets) > 0
            found.append(keys[full].ravel())
            sizes.append(full * np.int64(keys.shape[1]))
        bounds = pa.py_buffer(np.cumsum(np.concatenate(sizes)))
        buffers, inside = [validity(missing), bounds], to_arrow(np.concatenate(found))
        return _like(texts, pa.Array.from_buffers(pa.large_list(pa.uint64()), len(column), buffers, children=[inside]))

    def register(self, connection: Any, prefix: str = "lookalike_") -> None:
        """Register the four functions with a connection of DuckDB: ``lookalike_sketch(text)`` and so on.

        Parameters
        ----------
        connection : duckdb.DuckDBPyConnection
        prefix : str, default "lookalike_"
            What their names begin with; functions of other parameters need another one.
        """
        for name, (arguments, result) in _FUNCTIONS.items():
            function = getattr(self, name)
            connection.create_function(prefix + name, function, arguments, result, type="arrow", null_handling="special")


def packed_texts(texts: Texts, shingling: Shingling, scheme: FastSimilarity, packing: BBit) -> tuple[UInt64Array, Missing]:
    """Return bits of the slots of some texts, and which texts are empty: their bits say nothing."""
    values, offsets = shingling.hashes(texts)
    slots, empty = scheme.sign_values(values, offsets), np.diff(offsets) == 0
    slots[empty] = 0
    return packing.pack(Signatures(slots, scheme, shingling)).words, empty


def _column(data: Any) -> pa.ChunkedArray:
    """Return a column as Arrow has it."""
    column = as_arrow_columns(data)
    if column is None:
        raise InputDataError(f"an Arrow, polars or pandas column is needed; got {type(data).__name__}")
    return column


def _join_chunks(column: pa.ChunkedArray) -> Texts:
    """Return all chunks of strings or bytes as one; null counts as empty."""
    return concatenate([from_arrow_array(chunk) for chunk in column.chunks])


def _texts(data: Any) -> tuple[Texts, Missing]:
    """Return the texts of a column, and which of them are null."""
    column = _column(data)
    if "binary" in str(column.type):
        raise InputDataError(f"texts must be strings; the column holds {column.type}")
    return _join_chunks(column), to_numpy(column.is_null())


def _pieces(*sides: Texts) -> Iterator[tuple[Texts, ...]]:
    """Yield the same rows of some columns, a few MiB at a time."""
    weights = sum(side.offsets for side in sides) + ROW_BYTES * np.arange(len(sides[0]) + 1)
    for begin, end in Texts(_NO_TEXT, weights).cut():
        yield tuple(side.slice(begin, end) for side in sides)


def _check_lengths(left: Any, right: Any) -> None:
    if len(left) != len(right):
        raise InputDataError(f"both columns must have the same number of rows; got {len(left)} and {len(right)}")


def _like(data: Any, found: pa.Array) -> Any:
    """Return a result as polars has it, for a column of polars."""
    return type(data)(found) if type(data).__module__.startswith("polars") else found
