"""Shingling: which normalization, which tokens, how many of them in a row."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from ..errors import EncodingError, IncompatibleSketchError, InputDataError, ParameterError
from ..kernels._scratch import scratch
from ..kernels.hashing import digest_rows
from ..kernels.shingling import UNITS, roll_rows, shingle_rows
from ..values import Int64Array, Shingles, UInt64Array, drop_repeats
from ..values.arrow import strings
from .characters import UNICODE_VERSION, character_tables, fold, normalize, normalized
from .keyed import KeyedHashes, check_key, fingerprint
from .texts import Texts, as_texts, from_arrow_array

RULES = 2  # raised whenever the same text gets other hashes
DEFAULT_WIDTHS = {"word": 5, "char": 5, "byte": 8, "line": 1}
NORMALIZATIONS = ("none", "NFC", "NFKC")
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
        as one blank; "byte" is the text's UTF-8 bytes as they are; "line" is non-blank lines, white space likewise.
    width : int >= 1, optional
        Units in a shingle; default 5 words, 5 characters, 8 bytes or 1 line. A shorter text is one shingle, itself.
    normalization : {"NFC", "NFKC", "none"}, default "NFC"
        Unicode normal form; without effect on bytes.
    fold_case : bool, default True
        Ignore or respect letter case; without effect on bytes.
    tokenizer : callable, optional
        From a text (str) to a list of tokens (str), in place of the unit; it sees the normalized text, unfolded or folded.
    rules : {1, 2}, default 2
        Version of the rules that turn a text into hashes. Only sketches made by the same rules can be compared. This
        version shingles texts by rules 2 only.
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

    unit: str = "word"
    width: int | None = None
    normalization: str = "NFC"
    fold_case: bool = True
    tokenizer: Tokenizer | None = None
    rules: int = RULES
    key_fingerprint: str = ""

    def __repr__(self) -> str:
        """Name what made the hashes; a key only where there was one."""
        given = [f for f in fields(self) if f.name != "key_fingerprint" or self.key_fingerprint]
        return f"Shingling({', '.join(f'{f.name}={getattr(self, f.name)!r}' for f in given)})"

    def __post_init__(self) -> None:
        """Check the parameters and fill in the width."""
        if self.unit not in UNITS:
            raise ParameterError(f"unit must be one of {', '.join(UNITS)}; got {self.unit!r}")
        if self.normalization not in NORMALIZATIONS:
            raise ParameterError(f"normalization must be one of {', '.join(NORMALIZATIONS)}; got {self.normalization!r}")
        if self.width is None:
            object.__setattr__(self, "width", DEFAULT_WIDTHS[self.unit])
        if not isinstance(self.width, (int, np.integer)):
            raise ParameterError(f"width must be an integer; got {self.width!r}")
        if not 1 <= self.width <= 1 << 20:
            raise ParameterError(f"width must be in 1..{1 << 20}; got {self.width}")
        object.__setattr__(self, "width", int(self.width))
        if self.fold_case not in (True, False):
            raise ParameterError(f"fold_case must be True or False; got {self.fold_case!r}")
        object.__setattr__(self, "fold_case", bool(self.fold_case))
        if self.tokenizer is not None and not callable(self.tokenizer):
            raise ParameterError(f"tokenizer must be a function from a str to a list of str; got {self.tokenizer!r}")
        if self.rules not in range(1, RULES + 1):
            raise ParameterError(f"rules must be in 1..{RULES}; got {self.rules!r}")
        if not isinstance(self.key_fingerprint, str) or len(self.key_fingerprint) not in (0, 16):
            raise ParameterError(f"key_fingerprint must be a str of 16 digits; got {self.key_fingerprint!r:.60}")

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
        } | ({"key_fingerprint": self.key_fingerprint} if self.key_fingerprint else {})

    def normalized(self, texts: Texts, strict: bool = False) -> Texts:
        """Return the texts in the wanted normal form; the very same buffers where all of them are already.

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
        if self.normalization == "none" or self.unit == "byte":
            if strict:
                texts.check()
            return texts
        found, invalid = normalized(texts, self.normalization)
        if strict and invalid:
            texts.check()
        return found

    def hashes(
        self, texts: Texts, name_row: Callable[[int], str] = "row {}".format, strict: bool = False
    ) -> tuple[UInt64Array, Int64Array]:
        """Return the shingle hashes of texts with repeats: (values uint64, offsets int64). No values: an empty text.

        Parameters
        ----------
        texts : Texts
        name_row : callable, optional
            How errors name a row of ``texts``; by default by its number.
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
        self._check_rules()
        assert self.width is not None
        if self.tokenizer is not None:
            if strict:
                texts.check()
            return self._tokenized(texts, name_row)
        texts = self.normalized(texts, strict)
        longest, room = int((texts.offsets[1:] - texts.offsets[:-1]).max(initial=0)), texts.n_bytes
        folded = scratch("folded", 3 * longest + 96, np.uint8)
        if self.unit == "char" and self.fold_case:  # two bytes can fold to three characters: U+0390
            longest, room = longest + longest // 2, room + room // 2
        tokens = scratch("tokens", longest + 1, np.uint64)
        out = scratch("values", room + len(texts), np.uint64)
        offsets = np.empty(len(texts) + 1, np.int64)
        unit = UNITS.index(self.unit)
        shingle_rows(texts.data, texts.offsets, 0, len(texts), unit, self.width, self.fold_case, character_tables(),
                     folded, tokens, offsets, out)  # fmt: skip
        return out[: offsets[-1]], offsets

    def _tokenized(self, texts: Texts, name_row: Callable[[int], str]) -> tuple[UInt64Array, Int64Array]:
        """Shingle with the user's own tokenizer, one Python call a text."""
        flat, bounds = self.tokens(texts, name_row)
        digests = np.empty((len(flat), 2), np.uint64)
        digest_rows(flat.data, flat.offsets, 0, len(flat), digests)
        out, offsets = np.empty(len(flat) + len(texts), np.uint64), np.empty(len(texts) + 1, np.int64)
        roll_rows(np.ascontiguousarray(digests[:, 0]), bounds, self.width, offsets, out)
        return out[: offsets[-1]], offsets

    def tokens(self, texts: Texts, name_row: Callable[[int], str]) -> tuple[Texts, Int64Array]:
        """Return what the user's own tokenizer makes of texts: all tokens, and where in them those of each text begin.

        Parameters
        ----------
        texts : Texts
        name_row : callable
            How errors name a row of ``texts``.

        Raises
        ------
        InputDataError
            If the tokenizer fails or yields anything but str.
        """
        tokens: list[str] = []
        bounds = np.zeros(len(texts) + 1, np.int64)
        for row in range(len(texts)):
            text = texts.row(row).decode("utf-8", "replace")
            text = text if self.normalization == "none" else normalize(text, self.normalization)
            tokens += self._tokens_of(fold(text) if self.fold_case else text, partial(name_row, row))
            bounds[row + 1] = len(tokens)
        try:
            return from_arrow_array(strings(tokens, pa.large_string())), bounds
        except UnicodeEncodeError as error:
            place = next(i for i, token in enumerate(tokens) if any("\ud800" <= c < "\ue000" for c in token))
            where = name_row(int(np.searchsorted(bounds, place, "right")) - 1)
            raise InputDataError(f"{where}: the tokenizer yielded {tokens[place]!r:.60}: {error.reason}") from None

    def _tokens_of(self, text: str, row: Callable[[], str]) -> list[str]:
        """Call the tokenizer; its own error is kept as the cause."""
        assert self.tokenizer is not None
        try:
            found = self.tokenizer(text)
            tokens = list(found)
        except Exception as error:  # whatever the user's function raises
            raise InputDataError(f"{row()}: the tokenizer failed: {type(error).__name__}: {error}") from error
        if isinstance(found, (str, bytes)):
            raise InputDataError(f"{row()}: the tokenizer must yield a list of str; it yielded {found!r:.60}")
        if not set(map(type, tokens)) <= {str}:
            for token in tokens:
                if not isinstance(token, str):
                    raise InputDataError(f"{row()}: the tokenizer must yield str; it yielded {token!r:.60}")
        return tokens


def _name_row(first_row: int, row: int) -> str:
    return f"row {first_row + row}"


def shingle(
    texts: Any,
    *,
    unit: str = "word",
    width: int | None = None,
    normalization: str = "NFC",
    fold_case: bool = True,
    tokenizer: Tokenizer | None = None,
    encoding_errors: str = "strict",
    key: bytes | None = None,
) -> Shingles:
    """Turn texts into sets of shingle hashes.

    Parameters
    ----------
    texts : list of str, or an Arrow, pandas or polars column of strings
        None and null count as empty texts.
    unit, width, normalization, fold_case
        See ``Shingling``.
    tokenizer : callable, optional
        From a str to its tokens, instead of ``unit``: one Python call per text, ten to a hundred times slower.
    encoding_errors : {"strict", "replace"}, default "strict"
        Whether invalid UTF-8 is an error or separates words (and counts as U+FFFD among characters).
    key : bytes, 16 to 64 of them, optional
        A secret, for example ``secrets.token_bytes(32)``, for hashes that nobody else can foresee. They take up to twice
        the time. Only shingles made with the same key, and sketches of them, can be compared.

    Returns
    -------
    Shingles
        One set of 64-bit hashes per text; an empty set if the text has no token.

    Raises
    ------
    InputDataError
        If an item is not a text, or the tokenizer fails or yields anything but str; names the row.
    EncodingError
        If an item is not valid UTF-8; names the row.
    ParameterError
        If a parameter is out of its range.

    Notes
    -----
    Without a key the hash of a shingle is the same everywhere and always. Two different shingles that nobody made for it share
    theirs with probability 2^-64; but who knows this program can write shingles that do, and so texts that are alike by these
    sets only. With a key, two different shingles of m tokens at most, whoever wrote them, share theirs with a probability of at
    most (3 m + 1) / 2^61 over the choice of the key, 2^-57 for five words: the hash is the value of a polynomial of degree 3 m,
    three coefficients for a token, at a secret point modulo the prime 2^61 - 1, and two of these have one value at no more than
    3 m points. Tokens of more than 15 bytes take part by a keyed digest; two of them have one with a probability of at most
    (2^-64 + (3 n / 256 + 6) / 2^61)^2, for n bytes together. All that as long as who writes the texts does not see hashes, or
    what follows from them. Jobs (``dedup``, ``pairs``, ``overlap``) need no key: they compare shingles themselves, or draw one.

    References
    ----------
    Broder, "On the resemblance and containment of documents", 1997.
    Carter & Wegman, "Universal classes of hash functions", 1979.

    Examples
    --------
    >>> import lookalike as la
    >>> la.shingle(["One two three", "one, two: THREE four"], width=2).sizes.tolist()
    [2, 3]
    """
    shingling = Shingling(unit=unit, width=width, normalization=normalization, fold_case=fold_case, tokenizer=tokenizer)
    if encoding_errors not in ("strict", "replace"):
        raise ParameterError(f'encoding_errors must be "strict" or "replace"; got {encoding_errors!r}')
    made_by, hashes_of = shingling, shingling.hashes
    if key is not None:
        made_by = replace(shingling, key_fingerprint=fingerprint(check_key(key)))
        hashes_of = KeyedHashes(shingling, key).hashes
    chunks = as_texts(texts, encoding_errors)
    values, sizes, first_row = [], [np.zeros(1, np.int64)], 0
    for chunk in chunks:
        try:
            hashes = hashes_of(chunk, partial(_name_row, first_row), encoding_errors == "strict")
        except EncodingError as error:
            raise EncodingError(first_row + error.row, error.place) from None
        found, offsets = drop_repeats(*hashes)
        values.append(found)
        sizes.append(np.diff(offsets))
        first_row += len(chunk)
    # What is left of a single chunk stays where it is, unless most of that is not needed any more.
    compact = len(values) == 1 and 2 * len(values[0]) > len(hashes[0])
    whole = values[0] if compact else np.concatenate([np.zeros(0, np.uint64), *values])
    return Shingles(whole, np.cumsum(np.concatenate(sizes)), made_by)
