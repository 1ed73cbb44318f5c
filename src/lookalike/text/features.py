"""Features of documents for SimHash: words without stop words, stemmed, weighted by how rare they are."""

from __future__ import annotations

import math
import re
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from io import BytesIO
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..choices import check_choice
from ..errors import IncompatibleSketchError, InputDataError, ParameterError, needed_for
from ..files.atomic import atomic_file
from ..values import Float64Array, Int64Array, Shingles, UInt64Array, WeightedSets
from ..values.weighted import count_repeats
from .shingle import RULES, Shingling
from .texts import as_texts, concatenate

_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class WordTokenizer:
    """Words without stop words, and stemmed: a ``tokenizer`` for shingling.

    Parameters
    ----------
    language : str, default "english"
        Of the stop words and the stems.
    stop_words : bool, default True
        Leave out words such as "the".
    stem : bool, default True
        Reduce words to their stems (Snowball; Porter 2 for English).

    Raises
    ------
    MissingExtraError
        If the extra ``features`` is not installed.
    ParameterError
        If the language is not known.

    Notes
    -----
    Python, one call per text: about a hundred times slower than the built-in words.
    """

    language: str = "english"
    stop_words: bool = True
    stem: bool = True
    _left_out: frozenset[str] = field(init=False, repr=False, compare=False)
    _stemmed: Callable[[str], str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Load the words and the stemmer."""
        with needed_for("features"):
            import snowballstemmer
            import stop_words
        left_out: frozenset[str] = frozenset()
        if self.stop_words:
            try:
                left_out = frozenset(word.casefold() for word in stop_words.get_stop_words(self.language))
            except Exception:  # the library raises a class of its own
                raise ParameterError(f"no stop words are known for the language {self.language!r}") from None
        object.__setattr__(self, "_left_out", left_out)
        stemmed: Callable[[str], str] = str
        if self.stem:
            check_choice("language", self.language, snowballstemmer.algorithms())
            stemmed = lru_cache(1 << 18)(snowballstemmer.stemmer(self.language).stemWord)
        object.__setattr__(self, "_stemmed", stemmed)

    def __reduce__(self) -> tuple[Any, ...]:
        """Make it anew in another process: what stems words cannot travel."""
        return partial(WordTokenizer, language=self.language, stop_words=self.stop_words, stem=self.stem), ()

    @property
    def __name__(self) -> str:
        """What outputs state."""
        return f"words, {self.language}, stop words {'out' if self.stop_words else 'in'}, stems {'on' if self.stem else 'off'}"

    def __call__(self, text: str) -> list[str]:
        """Return the tokens of a text."""
        left_out, stemmed = self._left_out, self._stemmed
        return [stemmed(word) for word in _WORD.findall(text.casefold()) if word not in left_out]


def _check_equal(mine: object, other: object, message: str) -> None:
    """Raise unless two features were made alike; ``message`` says what cannot be done."""
    if isinstance(mine, Shingling) and isinstance(other, Shingling) and mine.rules != other.rules:
        raise IncompatibleSketchError(
            f"{message}: they were shingled by rules {mine.rules} and {other.rules}; count the features again with this version"
        )
    if mine != other:
        raise ParameterError(message)


@dataclass(frozen=True, slots=True, eq=False)
class DocumentFrequencies:
    """In how many documents each feature occurs.

    Parameters
    ----------
    values : ndarray of uint64, shape (n_features,)
        Feature hashes, ascending.
    counts : ndarray of int64, shape (n_features,)
    n_documents : int
    parameters : object
        What made the features; others cannot be merged or looked up.
    """

    values: UInt64Array
    counts: Int64Array
    n_documents: int
    parameters: object = "arrays"

    @classmethod
    def collect(cls, shingles: Shingles) -> DocumentFrequencies:
        """Count the documents of each feature, in one pass.

        Parameters
        ----------
        shingles : Shingles

        Returns
        -------
        DocumentFrequencies
        """
        values, counts = np.unique(shingles.values, return_counts=True)
        return cls(values, counts.astype(np.int64), len(shingles), shingles.parameters)

    def merge(self, other: DocumentFrequencies) -> DocumentFrequencies:
        """Add the counts of other documents.

        Parameters
        ----------
        other : DocumentFrequencies

        Returns
        -------
        DocumentFrequencies

        Raises
        ------
        ParameterError, IncompatibleSketchError
            If the features were made with other parameters, or by the shingling rules of another version.
        """
        message = f"frequencies of {self.parameters} cannot be merged with those of {other.parameters}"
        _check_equal(self.parameters, other.parameters, message)
        values, place = np.unique(np.concatenate([self.values, other.values]), return_inverse=True)
        counts = np.bincount(place, np.concatenate([self.counts, other.counts]), len(values)).astype(np.int64)
        return DocumentFrequencies(values, counts, self.n_documents + other.n_documents, self.parameters)

    def inverse(self, values: UInt64Array) -> Float64Array:
        """Inverse document frequency ln((1 + n) / (1 + df)) + 1 of features; those never met have df 0.

        Parameters
        ----------
        values : ndarray of uint64

        Returns
        -------
        ndarray of float64
        """
        if not len(self.values):
            return np.full(len(values), np.log(1.0 + self.n_documents) + 1.0)
        place = np.minimum(np.searchsorted(self.values, values), len(self.values) - 1)
        met = self.values[place] == values
        return np.log((1.0 + self.n_documents) / (1.0 + np.where(met, self.counts[place], 0))) + 1.0

    def save(self, path: str | Path) -> None:
        """Write the counts as a NumPy archive, without pickle; an existing file is replaced when all is on the disk.

        Parameters
        ----------
        path : str or path

        Raises
        ------
        OutputError
            If it cannot be written.
        """
        with atomic_file(Path(path), compress=False) as file:
            np.savez_compressed(file, values=self.values, counts=self.counts, n_documents=self.n_documents,
                                parameters=str(self.parameters))  # fmt: skip

    @classmethod
    def load(cls, path: str | Path, parameters: object = "arrays") -> DocumentFrequencies:
        """Read what ``save`` wrote; ``parameters`` must be those of the features counted.

        Parameters
        ----------
        path : str or path
        parameters : object with to_dict
            Those of the features counted.

        Returns
        -------
        DocumentFrequencies

        Raises
        ------
        ParameterError, IncompatibleSketchError, InputDataError
            If the counts are of other features; if they are of the shingling rules of another version; if the file cannot be
            read or is damaged.
        """
        try:
            values, counts, n, stated = _read(path)
        except (OSError, ValueError, KeyError, TypeError, EOFError, RuntimeError, SyntaxError, TokenError, zlib.error,
                zipfile.BadZipFile) as error:  # fmt: skip
            raise InputDataError(f"not a file of document frequencies, or damaged ({error})", path) from None
        message = f"{path} counts features of {stated}; {parameters} was asked for"
        if isinstance(parameters, Shingling):
            known = {str(p): p for p in (replace(parameters, rules=rules) for rules in range(1, RULES + 1))}
            _check_equal(parameters, known.get(stated), message)
        elif stated != str(parameters):
            raise ParameterError(message)
        return cls(values, counts, n, parameters)


def _read(path: str | Path) -> tuple[UInt64Array, Int64Array, int, str]:
    """Return (values, counts, number of documents, parameters) in a file, once they have been held against each other."""
    with zipfile.ZipFile(path) as archive:
        values, counts = _member(archive, "values", "<u8"), _member(archive, "counts", "<i8")
        n, stated = int(_member(archive, "n_documents", "<i8")), str(_member(archive, "parameters", "<U"))
    if values.ndim != 1 or values.shape != counts.shape or (values[1:] <= values[:-1]).any():
        raise ValueError("its features do not ascend, or have no counts")
    if n < 0 or (len(counts) and not 1 <= counts.min() <= counts.max() <= n):
        raise ValueError(f"its counts are not in 1..{n}")
    return values, counts, n, stated


def _member(archive: zipfile.ZipFile, name: str, dtype: str) -> NDArray[Any]:
    """Read one array of a NumPy archive, once its checksum and the size that its header says are right."""
    info = archive.getinfo(f"{name}.npy")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"its {name} are compressed by another method")
    if info.compress_size > archive.start_dir or info.file_size > 1100 * info.compress_size:  # more than DEFLATE can spare
        raise ValueError(f"its {name} cannot have {info.file_size:,} bytes")
    data = archive.read(info)
    stream = BytesIO(data)
    if np.lib.format.read_magic(stream) != (1, 0):
        raise ValueError(f"its {name} are not of version 1.0")
    shape, _, kind = np.lib.format.read_array_header_1_0(stream)
    if not kind.str.startswith(dtype) or math.prod(shape) * kind.itemsize != len(data) - stream.tell():
        raise ValueError(f"its {name} are of type {kind} and shape {shape}")
    return np.frombuffer(data, kind, offset=stream.tell()).reshape(shape)


def weigh(
    texts: Any, *, shingling: Shingling | None = None, frequencies: DocumentFrequencies | None = None, cap: float | None = None
) -> WeightedSets:
    """Turn texts into weighted features: (1 + ln tf) times the inverse document frequency.

    Parameters
    ----------
    texts : list of str, or an Arrow, pandas or polars column of strings
    shingling : Shingling, optional
        Which features; default single words.
    frequencies : DocumentFrequencies, optional
        Default: those of these texts.
    cap : float > 0, optional
        Highest inverse document frequency: one rare feature with most of the weight would fix all bits of a fingerprint.

    Returns
    -------
    WeightedSets

    Raises
    ------
    ParameterError, IncompatibleSketchError
        If the frequencies are of other features, or the cap is not positive; if the frequencies are of the shingling rules of
        another version.

    Examples
    --------
    >>> import lookalike as la
    >>> prints = la.sketches.SimHash().sign(la.sketches.weigh(["the cat sat", "the cat sat", "a dog ate"]))
    >>> float(prints.estimated_cosine(0, 1))
    1.0
    """
    shingling = shingling or Shingling(width=1)
    if cap is not None and not cap > 0.0:
        raise ParameterError("must be positive", "cap", cap)
    values, offsets = shingling.hashes(concatenate(as_texts(texts)))
    distinct, often, bounds = count_repeats(values, offsets)
    if frequencies is None:
        frequencies = DocumentFrequencies.collect(Shingles(distinct, bounds, shingling))
    else:
        message = f"the frequencies count features of {frequencies.parameters}; these are of {shingling}"
        _check_equal(frequencies.parameters, shingling, message)
    rarity = frequencies.inverse(distinct)
    weights = (1.0 + np.log(often)) * (rarity if cap is None else np.minimum(rarity, cap))
    return WeightedSets(distinct, weights, bounds)
