"""Write the character tables that tokenising uses, from ``unicodedata`` of the Unicode version they are pinned to.

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
SPACELESS = ("CJK UNIFIED", "CJK COMPATIBILITY IDEOGRAPH", "HIRAGANA", "KATAKANA", "HALFWIDTH KATAKANA", "THAI", "LAO",
             "KHMER", "MYANMAR")  # fmt: skip
OTHER, WORD, SINGLE, MARK, SPACE = range(5)
NOT_NFC, NOT_NFKC, CLASS_SHIFT = 1 << 3, 1 << 4, 8
N = 0x110000


def kind(character: str) -> int:
    """The part a character plays in tokenising."""
    category = unicodedata.category(character)
    if category[0] == "M":
        return MARK
    if category[0] in "LN":
        return SINGLE if unicodedata.name(character, "").startswith(SPACELESS) else WORD
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
        kinds[point] = value
        folded = character.casefold()
        if folded != character:
            data = folded.encode()
            if len(data) > 7:
                raise SystemExit(f"U+{point:04X} folds to {len(data)} bytes; an entry holds 7")
            folds[point] = len(fold_bytes)
            fold_bytes.append(int.from_bytes(data, "little") | len(data) << 56)
    kinds[sorted(composing)] |= NOT_NFC | NOT_NFKC
    blocks, pages = np.unique(np.stack([kinds, folds], 1).reshape(N // 128, 256), axis=0, return_inverse=True)
    blocks = blocks.reshape(-1, 128, 2)
    return {
        "pages": pages.astype(np.uint16).ravel(),
        "kinds": blocks[:, :, 0].ravel(),
        "folds": blocks[:, :, 1].ravel(),
        "fold_bytes": np.array(fold_bytes, np.uint64),
    }


if __name__ == "__main__":
    if unicodedata.unidata_version != PINNED:
        sys.exit(f"these tables are pinned to Unicode {PINNED}; this interpreter has {unicodedata.unidata_version}")
    target = Path(__file__).parents[1] / "src/semblance/text" / f"unicode_{PINNED}.npz"
    np.savez_compressed(target, **tables())
    print(f"{target}: {target.stat().st_size} bytes")
