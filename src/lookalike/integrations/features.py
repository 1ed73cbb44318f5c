"""Features for linear models: the lowest bits of signatures as columns of zeros and ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..choices import Normalization, Unit
from ..errors import needed_for
from ..sketches.minhash import FastSimilarity
from ..sketches.packed import BBit
from ..text.shingle import Shingling
from ..text.texts import Texts, as_texts
from ..values import Int64Array
from ..values.arrays import whole
from .columns import packed_texts

try:
    from sklearn.base import BaseEstimator, TransformerMixin
except ImportError:  # ``fit`` and ``transform`` do without
    _BASES: tuple[type, ...] = ()
else:
    _BASES = (TransformerMixin, BaseEstimator)

PIECE_BYTES = 1 << 20
MOST_BITS = 16


class BBitFeatures(*_BASES):  # type: ignore[misc]
    """Texts as sparse rows of zeros and ones, for linear models: b-bit minwise hashing.

    Each of ``k`` slots of a signature is 2^b columns, of which the one that ``b`` bits of it name (those of ``BBit``) is 1. The
    inner product of two rows, divided by k, is the share of slots whose bits agree, an estimate of R + (1 - R) / 2^b: a linear
    model on these rows is one with the resemblance as its kernel. With scikit-learn installed this is a transformer.

    Parameters
    ----------
    k : int in [1, 65536], default 256
        Slots of a signature: ones in a row.
    b : int in 1..16, default 8
        Bits kept of each slot; the matrix has k 2^b columns.
    seed : int in [0, 2^64), default 1
    unit, width, normalization, fold_case
        See ``Shingling``.

    Notes
    -----
    Rows of texts without shingles are zeros. Time: that of sketches. Memory: 12 to 16 bytes a one. Parameters are checked when
    they are used, as scikit-learn asks for.

    References
    ----------
    Li, Shrivastava, Moore & König, "Hashing Algorithms for Large-Scale Learning", NIPS 2011.

    Examples
    --------
    >>> import lookalike as la
    >>> texts = ["a b c d e f g", "A b c d e f g!", "something else"]
    >>> rows = la.integrations.BBitFeatures(k=128, b=4).fit(None).transform(texts)
    >>> rows.shape, float((rows[0] @ rows[1].T).sum()) / 128
    ((3, 2048), 1.0)
    """

    def __init__(
        self, *, k: int = 256, b: int = 8, seed: int = 1, unit: Unit = "word", width: int | None = None,
        normalization: Normalization = "NFC", fold_case: bool = True,
    ) -> None:  # fmt: skip
        self.k, self.b, self.seed = k, b, seed
        self.unit, self.width, self.normalization, self.fold_case = unit, width, normalization, fold_case

    def _schemes(self) -> tuple[Shingling, FastSimilarity, BBit]:
        """Check the parameters; return what shingles, signs and packs."""
        given = {name: getattr(self, name) for name in ("unit", "width", "normalization", "fold_case")}
        whole("b", self.b, 1, MOST_BITS)
        return Shingling(**given), FastSimilarity(permutations=self.k, seed=self.seed), BBit(bits=self.b)

    def fit(self, X: Any, y: Any = None) -> BBitFeatures:  # noqa: N803  as scikit-learn calls it
        """Check the parameters; nothing is learned from texts.

        Parameters
        ----------
        X, y : ignored

        Returns
        -------
        BBitFeatures
            Itself.

        Raises
        ------
        ParameterError
            If a parameter is out of its range.
        """
        self._schemes()
        return self

    def transform(self, X: Any) -> Any:  # noqa: N803
        """Turn texts into features.

        Parameters
        ----------
        X : list of str, or an Arrow, pandas or polars column of strings

        Returns
        -------
        scipy.sparse.csr_matrix of float64, shape (texts, k 2^b)

        Raises
        ------
        InputDataError
            If an item is not a text.
        EncodingError
            If an item is not valid UTF-8.
        MissingExtraError
            If the extra ``sklearn`` is not installed.
        ParameterError
            If a parameter is out of its range.
        """
        with needed_for("sklearn"):
            from scipy.sparse import csr_matrix
        self._schemes()
        found, sizes = [np.empty(0, np.int64)], [np.zeros(1, np.int64)]
        for texts in as_texts(X):
            texts.check()
            for begin, end in texts.cut(PIECE_BYTES):
                columns = self._columns(texts.slice(begin, end))
                found.append(columns[columns >= 0])
                sizes.append((columns[:, 0] >= 0) * np.int64(self.k))
        bounds, columns = np.cumsum(np.concatenate(sizes)), np.concatenate(found)
        shape = len(bounds) - 1, self.k << self.b
        return csr_matrix((np.ones(len(columns)), columns, bounds), shape=shape)

    def _columns(self, texts: Texts) -> Int64Array:
        """Return the column of each slot of some texts, -1 for a text without shingles."""
        words, empty = packed_texts(texts, *self._schemes())
        planes = words.view(np.uint8).reshape(len(words), self.b, -1)
        bits = np.unpackbits(planes, axis=2, count=self.k, bitorder="little").astype(np.int64)
        columns: Int64Array = (bits << np.arange(self.b)[:, None]).sum(1) + (np.arange(self.k) << self.b)
        columns[empty] = -1
        return columns

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the columns: ``slot0=0``, ``slot0=1`` and so on.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        ndarray of str objects, shape (k 2^b,)
        """
        return np.array([f"slot{slot}={code}" for slot in range(self.k) for code in range(1 << self.b)], object)

    def __sklearn_tags__(self) -> Any:
        """Say that it takes texts and learns nothing, as scikit-learn asks."""
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.input_tags.string, tags.requires_fit = False, True, False
        return tags
