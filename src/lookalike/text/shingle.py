"""Shingling: which normalization, which tokens, how many of them in a row."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from .. import core
from ..choices import UNITS, Normalization, Unit, check_choice
from ..core import roll_rows, shingle_rows
from ..errors import IncompatibleSketchError, InputDataError, ParameterError, from_caller
from ..values import Int64Array, UInt64Array
from ..values.arrays import whole
from ..values.arrow import strings
from .characters import (
    HIDDEN,
    HIDDEN_SPACE,
    UNICODE_VERSION,
    fold,
    native_characters,
    native_form,
    normalize,
    normalized,
    original_places,
)
from .ignored import Dropping, Ignored
from .texts import Texts, from_arrow_array

RULES = 3  # raised whenever the same text gets other hashes
DEFAULT_WIDTHS = {"word": 5, "char": 5, "byte": 8, "line": 1}
Tokenizer = Callable[[str], Iterable[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shingling:
    """How a text becomes a set of shingles.

    Parameters
    ----------
    unit : {"word", "char", "byte", "line"}, default "word"
        What a shingle is made of. Words are runs of Unicode letters, digits and marks; in scripts without spaces (Han,
        Hiragana, Katakana, Bopomofo, Yi, Tangut, Nushu, Thai, Lao, Khmer, Myanmar, Tai Le, New Tai Lue, Tai Tham, Tai Viet,
        Ahom) each letter or digit, with the marks after it, is a word. "char" is code points, runs of white space counting
        as one blank; "byte" is the text's UTF-8 bytes as they are; "line" is non-blank lines, white space likewise. Characters
        that show nothing, such as soft hyphens, do not count but in bytes.
    width : int >= 1, optional
        Units in a shingle; default 5 words, 5 characters, 8 bytes or 1 line. A shorter text is one shingle, itself.
    normalization : {"NFC", "NFKC", "none"}, default "NFC"
        Unicode normal form; without effect on bytes.
    fold_case : bool, default True
        Ignore or respect letter case; without effect on bytes.
    tokenizer : callable, optional
        From a text (str) to a list of tokens (str), in place of the unit; it sees the normalized text, unfolded or folded,
        without characters that show nothing.
    rules : {1, 2, 3}, default 3
        Version of the rules that turn a text into hashes. Only sketches made by the same rules can be compared. This
        version shingles texts by rules 3 only.
    ignored : optional
        Shingles that do not count, of texts that jobs are given as ``ignore``.
    key_fingerprint : str, default ""
        Of hashes under a key, 16 digits that tell it from others; ``shingle`` sets it. Only sketches made with the same key
        can be compared. The key itself is kept nowhere.

    Raises
    ------
    ParameterError
        If a parameter is out of its range.

    Notes
    -----
    Character properties are those of Unicode 14.0.0, whatever the version of Python: hashes never change with it.
    """

    unit: Unit = "word"
    width: int | None = None
    normalization: Normalization = "NFC"
    fold_case: bool = True
    tokenizer: Tokenizer | None = None
    rules: int = RULES
    ignored: Ignored | None = None
    key_fingerprint: str = ""

    def __repr__(self) -> str:
        """Name what made the hashes; a key only where there was one."""
        given = [f for f in fields(self) if f.name not in ("ignored", "key_fingerprint") or getattr(self, f.name)]
        return f"Shingling({', '.join(f'{f.name}={getattr(self, f.name)!r}' for f in given)})"

    @from_caller
    def __post_init__(self) -> None:
        """Check the parameters and fill in the width."""
        check_choice("unit", self.unit, Unit)
        check_choice("normalization", self.normalization, Normalization)
        if self.width is None:
            object.__setattr__(self, "width", DEFAULT_WIDTHS[self.unit])
        object.__setattr__(self, "width", whole("width", self.width, 1, 1 << 20))
        if self.fold_case not in (True, False):
            raise ParameterError("must be True or False", "fold_case", self.fold_case)
        object.__setattr__(self, "fold_case", bool(self.fold_case))
        if self.tokenizer is not None and not callable(self.tokenizer):
            raise ParameterError("must be a function from a str to a list of str", "tokenizer", self.tokenizer)
        if self.rules not in range(1, RULES + 1):
            raise ParameterError(f"must be in 1..{RULES}", "rules", self.rules)
        if not isinstance(self.key_fingerprint, str) or len(self.key_fingerprint) not in (0, 16):
            raise ParameterError("must be a str of 16 digits", "key_fingerprint", self.key_fingerprint)

    def _check_rules(self) -> None:
        if self.rules != RULES:
            raise IncompatibleSketchError(
                f"this version shingles texts by rules {RULES}; an earlier version used rules {self.rules}: "
                "sketch the texts again with this version"
            )
        if self.key_fingerprint:
            raise IncompatibleSketchError("these sketches are of hashes under a key, which is not kept with them")

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters as plain values, for files."""
        return {
            "unit": self.unit if self.tokenizer is None else f"tokenizer {getattr(self.tokenizer, '__name__', '?')}",
            "width": self.width,
            "normalization": self.normalization,
            "fold_case": self.fold_case,
            "unicode": UNICODE_VERSION,
            "rules": self.rules,
            **({} if self.ignored is None else {"ignored": self.ignored.to_dict()}),
            **({"key_fingerprint": self.key_fingerprint} if self.key_fingerprint else {}),
        }

    @property
    def _hides(self) -> int:
        """Which characters show nothing: where no words are made, spaces without width do not either."""
        return HIDDEN if self.unit == "word" or self.tokenizer is not None else HIDDEN | HIDDEN_SPACE

    @property
    def form(self) -> tuple[int, Any, Any]:
        """What functions of the core are told of the normal form, and of what shows nothing."""
        self._check_rules()
        return native_form(self.normalization, self._hides)

    def normalized(self, texts: Texts, strict: bool = False) -> Texts:
        """Return the texts without what shows nothing, in the wanted normal form; the very same buffers where all are already.

        Parameters
        ----------
        texts : Texts
        strict : bool, default False
            Refuse invalid UTF-8: what looks for the normal form sees it on the way.

        Raises
        ------
        IncompatibleSketchError
            If the rules are those of an earlier version.
        EncodingError
            If a text is not valid UTF-8.
        """
        self._check_rules()
        if self.unit == "byte":
            if strict:
                texts.check()
            return texts
        found, invalid = normalized(texts, self.normalization, self._hides)
        if strict and invalid:
            texts.check()
        return found

    def hashes(self, texts: Texts, strict: bool = False) -> tuple[UInt64Array, Int64Array]:
        """Return the hashes of the shingles of texts that count: (values uint64, offsets int64). No values: an empty text.

        They come with repeats.

        Parameters
        ----------
        texts : Texts
        strict : bool, default False
            Refuse invalid UTF-8.

        Raises
        ------
        IncompatibleSketchError
            If the rules are those of an earlier version.
        EncodingError
            If a text is not valid UTF-8.
        InputDataError
            If the tokenizer fails or yields anything but str.
        """
        values, offsets = self._hashes(texts, strict)
        return (values, offsets) if self.ignored is None else _dropping(self.ignored, len(self.ignored.hashes))(values, offsets)

    def _hashes(self, texts: Texts, strict: bool) -> tuple[UInt64Array, Int64Array]:
        """Return the hashes of all shingles."""
        self._check_rules()
        assert self.width is not None
        if self.tokenizer is not None:
            if strict:
                texts.check()
            return self._tokenized(texts)
        how = UNITS.index(self.unit), self.width, self.fold_case, *self.form
        values, offsets, invalid = shingle_rows(texts.data, texts.offsets, *how)
        if strict and (invalid or self.unit == "byte"):
            texts.check()
        return values, offsets

    def places(self, texts: Texts, rows: Int64Array, first: Int64Array, last: Int64Array) -> tuple[Int64Array, Int64Array]:
        """Return where runs of tokens begin and end in their texts, in bytes.

        Parameters
        ----------
        texts : Texts
        rows : ndarray of int64
            The text of each run, ascending.
        first, last : ndarray of int64
            The first and the last token of each, numbered from 0 in their text.
        """
        folded, bounds = self.normalized(texts), np.searchsorted(rows, np.arange(len(texts) + 1))
        tokens, how = map(np.ascontiguousarray, (first, last)), (UNITS.index(self.unit), self.fold_case, native_characters())
        begins, ends = core.find_tokens(folded.data, folded.offsets, bounds, *how, *tokens)
        for row, (begin, end) in enumerate(pairwise(bounds.tolist())):
            if begin < end and folded is not texts and texts.row(row) != folded.row(row):
                some, text = slice(begin, end), np.frombuffer(texts.row(row), np.uint8)
                begins[some], ends[some] = original_places(text, self.normalization, self._hides, begins[some], ends[some])
        return begins, ends

    def _tokenized(self, texts: Texts) -> tuple[UInt64Array, Int64Array]:
        """Shingle with the user's own tokenizer, one Python call a text."""
        flat, bounds = self.tokens(texts)
        return roll_rows(core.hash_texts(flat.data, flat.offsets), bounds, self.width)

    def tokens(self, texts: Texts) -> tuple[Texts, Int64Array]:
        """Return what the user's own tokenizer makes of texts: all tokens, and where in them those of each text begin.

        Parameters
        ----------
        texts : Texts

        Raises
        ------
        InputDataError
            If the tokenizer fails or yields anything but str.
        """
        tokens: list[str] = []
        bounds = np.zeros(len(texts) + 1, np.int64)
        for row in range(len(texts)):
            text = normalize(texts.row(row).decode("utf-8", "replace"), self.normalization, self._hides)
            tokens += self._tokens_of(fold(text) if self.fold_case else text, row)
            bounds[row + 1] = len(tokens)
        try:
            return from_arrow_array(strings(tokens, pa.large_string())), bounds
        except UnicodeEncodeError as error:
            place = next(i for i, token in enumerate(tokens) if any("\ud800" <= c < "\ue000" for c in token))
            row = int(np.searchsorted(bounds, place, "right")) - 1
            raise InputDataError(f"the tokenizer yielded {tokens[place]!r:.60}: {error.reason}", row=row) from None

    def _tokens_of(self, text: str, row: int) -> list[str]:
        """Call the tokenizer; its own error is kept as the cause."""
        assert self.tokenizer is not None
        try:
            found = self.tokenizer(text)
            tokens = list(found)
        except Exception as error:  # whatever the user's function raises
            raise InputDataError(f"the tokenizer failed: {type(error).__name__}: {error}", row=row) from error
        if isinstance(found, (str, bytes)):
            raise InputDataError(f"the tokenizer must yield a list of str; it yielded {found!r:.60}", row=row)
        if not set(map(type, tokens)) <= {str}:
            for token in tokens:
                if not isinstance(token, str):
                    raise InputDataError(f"the tokenizer must yield str; it yielded {token!r:.60}", row=row)
        return tokens


@lru_cache(1)
def _dropping(ignored: Ignored, n_hashes: int) -> Dropping:
    """Return what drops the shingles that do not count, made once for all pieces; of loaded ones no hash is known."""
    return Dropping(ignored.hashes)


def ignored_places(shingling: Shingling) -> NDArray[np.bool_]:
    """Tell of each shingle of the texts of ``ignored``, with repeats, whether it does not count."""
    assert shingling.ignored is not None
    return _ignored_places(replace(shingling, ignored=None), shingling.ignored, shingling.ignored.texts)


@lru_cache(4)  # asked for again with every few texts that are compared; equal shingles can come of different texts
def _ignored_places(shingling: Shingling, ignored: Ignored, texts: Texts) -> NDArray[np.bool_]:
    return np.isin(shingling.hashes(texts)[0], ignored.hashes)
