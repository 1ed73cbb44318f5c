"""Write the character tables that tokenizing and normalizing use, from ``unicodedata`` of the Unicode version they are pinned to.

Run it under Python 3.11 (Unicode 14.0.0): ``python tools/make_unicode_tables.py``. A test compares the file with
``unicodedata`` wherever the interpreter has the same version.

The layout is a two-stage table: ``pages[code_point >> 7]`` names a block, ``kinds[block * 128 + (code_point & 127)]``
holds the properties of the code point, ``folds`` likewise the number of its entry in ``fold_bytes`` (0: folds to itself).
"""

import sys
import unicodedata
from pathlib import Path

import numpy as np

PINNED = "14.0.0"
# Where the letters and digits of scripts stand that are written without spaces between words: those whose letters Unicode's
# line breaking (UAX #14) calls ideographs, kana or complex context. Of East Asian scripts, Korean and Khitan have spaces.
SPACELESS = {
    "Thai": [(0x0E00, 0x0E7F)],
    "Lao": [(0x0E80, 0x0EFF)],
    "Myanmar": [(0x1000, 0x109F), (0xA9E0, 0xA9FF), (0xAA60, 0xAA7F)],
    "Khmer": [(0x1780, 0x17FF)],
    "Tai Le": [(0x1950, 0x197F)],
    "New Tai Lue": [(0x1980, 0x19DF)],
    "Tai Tham": [(0x1A20, 0x1AAF)],
    "Tai Viet": [(0xAA80, 0xAADF)],
    "Ahom": [(0x11700, 0x1174F)],
    "marks and numerals written among ideographs": [
        (0x3005, 0x3007), (0x3021, 0x3029), (0x3031, 0x3035), (0x3038, 0x303C), (0x3192, 0x3195), (0x3220, 0x3229),
        (0x3280, 0x3289), (0x16FE3, 0x16FE3),
    ],
    "Han": [(0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2FA1F), (0x30000, 0x3134F)],
    "Hiragana and Katakana": [(0x3040, 0x30FF), (0x31F0, 0x31FF), (0xFF66, 0xFF9D), (0x1AFF0, 0x1B16F)],
    "Bopomofo": [(0x3100, 0x312F), (0x31A0, 0x31BF)],
    "Yi": [(0xA000, 0xA48F)],
    "Tangut": [(0x16FE0, 0x16FE0), (0x17000, 0x18AFF), (0x18D00, 0x18D7F)],
    "Nushu": [(0x16FE1, 0x16FE1), (0x1B170, 0x1B2FF)],
}  # fmt: skip
HALFWIDTH_MARKS = "\uff9e\uff9f"  # letters by their category, but they voice the kana before them
OTHER, WORD, SINGLE, MARK, SPACE = range(5)
NOT_NFC, NOT_NFKC, HIDDEN, HIDDEN_SPACE, CLASS_SHIFT = 1 << 3, 1 << 4, 1 << 5, 1 << 6, 8
ZERO_WIDTH_SPACE = "\u200b"  # a format character that shows nothing either, and separates words
# Marks that show nothing: the grapheme joiner, inherent vowels of Khmer, variation selectors (of Default_Ignorable_Code_Point).
HIDDEN_MARKS = frozenset("\u034f\u17b4\u17b5\u180b\u180c\u180d\u180f") | {
    chr(point) for a, b in ((0xFE00, 0xFE0F), (0xE0100, 0xE01EF)) for point in range(a, b + 1)
}
N = 0x110000
SINGLES = frozenset(point for ranges in SPACELESS.values() for a, b in ranges for point in range(a, b + 1))


def hidden(character: str) -> bool:
    """Whether a character shows nothing, and is left out before words are made."""
    return character in HIDDEN_MARKS or (unicodedata.category(character) == "Cf" and character != ZERO_WIDTH_SPACE)


def kind(character: str) -> int:
    """The part a character plays in tokenizing; what is hidden belongs to what precedes it, as marks do."""
    category = unicodedata.category(character)
    if category[0] == "M" or character in HALFWIDTH_MARKS or hidden(character):
        return MARK
    if category[0] in "LN":
        return SINGLE if ord(character) in SINGLES else WORD
    return SPACE if category in ("Zs", "Zl", "Zp") or character in "\t\n\v\f\r\x85" else OTHER


def tables() -> dict[str, np.ndarray]:
    """All tables, as arrays."""
    kinds = np.zeros(N, np.uint16)
    folds = np.zeros(N, np.uint16)
    fold_bytes = [0]
    composing = {*range(0x1161, 0x1176), *range(0x11A8, 0x11C3)}  # Hangul vowels and finals compose with what precedes
    for point in range(N):
        if 0xD800 <= point < 0xE000:
            continue
        character = chr(point)
        decomposed = unicodedata.decomposition(character)
        if decomposed and decomposed[0] != "<" and unicodedata.normalize("NFC", character) == character:
            composing.update(int(part, 16) for part in decomposed.split()[1:])
        value = kind(character) | unicodedata.combining(character) << CLASS_SHIFT
        value |= NOT_NFC * (not unicodedata.is_normalized("NFC", character))
        value |= NOT_NFKC * (not unicodedata.is_normalized("NFKC", character))
        value |= HIDDEN * hidden(character) | HIDDEN_SPACE * (character == ZERO_WIDTH_SPACE)
        kinds[point] = value
        folded = character.casefold()
        if folded != character:
            data = folded.encode()
            if len(data) > 7:
                raise SystemExit(f"U+{point:04X} folds to {len(data)} bytes; an entry holds 7")
            folds[point] = len(fold_bytes)
            fold_bytes.append(int.from_bytes(data, "little") | len(data) << 56)
    kinds[sorted(composing)] |= NOT_NFC | NOT_NFKC
    return paged(kinds=kinds, folds=folds) | {"fold_bytes": np.array(fold_bytes, np.uint64)}


def paged(**columns: np.ndarray) -> dict[str, np.ndarray]:
    """What is known of each code point, in blocks of 128 that are held once, and pages that name the block."""
    blocks, pages = np.unique(np.stack([*columns.values()], 1).reshape(N // 128, -1), axis=0, return_inverse=True)
    blocks = blocks.reshape(-1, 128, len(columns))
    return {"pages": pages.astype(np.uint16).ravel()} | {name: blocks[:, :, i].ravel() for i, name in enumerate(columns)}


def forms() -> dict[str, np.ndarray]:
    """How characters decompose, and which two compose, as native/normal_forms.h says; of Hangul syllables nothing."""
    canonical, compatible, firsts, seconds = (np.zeros(N, np.uint16) for _ in range(4))
    parts, made = [0], {}
    for point in range(N):
        if 0xD800 <= point < 0xE000 or 0xAC00 <= point < 0xD7A4:
            continue
        character = chr(point)
        for form, places in (("NFD", canonical), ("NFKD", compatible)):
            decomposed = unicodedata.normalize(form, character)
            if decomposed != character:
                places[point] = len(parts)
                parts += [len(decomposed), *(ord(part) | unicodedata.combining(part) << 21 for part in decomposed)]
        pair = unicodedata.decomposition(character).split()
        if len(pair) == 2 and pair[0][0] != "<" and unicodedata.normalize("NFC", character) == character:
            made[int(pair[0], 16), int(pair[1], 16)] = point
    for points, numbers in zip(zip(*made, strict=True), (firsts, seconds), strict=True):
        numbers[sorted(set(points))] = np.arange(1, 1 + len(set(points)))
    composites = np.zeros((firsts.max() + 1, seconds.max() + 1), np.uint32)
    for (first, second), point in made.items():
        composites[firsts[first], seconds[second]] = point
    if len(parts) > np.iinfo(np.uint16).max:
        raise SystemExit(f"{len(parts)} parts have no number of 16 bits")
    columns = paged(canonical=canonical, compatible=compatible, firsts=firsts, seconds=seconds)
    return columns | {"parts": np.array(parts, np.uint32), "composites": composites}


if __name__ == "__main__":
    if unicodedata.unidata_version != PINNED:
        sys.exit(f"these tables are pinned to Unicode {PINNED}; this interpreter has {unicodedata.unidata_version}")
    folder = Path(__file__).parents[1] / "src/lookalike/text"
    for name, arrays in (("unicode", tables()), ("forms", forms())):
        target = folder / f"{name}_{PINNED}.npz"
        np.savez_compressed(target, **arrays)
        print(f"{target}: {target.stat().st_size} bytes")
