import re
import unicodedata

from naive.hashing import K0, K1, K2, K3, fold_multiply, shingle_hashes, token_hash

# how the names of letters and digits begin that are written without spaces between words
SPACELESS = (
    "CJK UNIFIED", "CJK COMPATIBILITY IDEOGRAPH", "IDEOGRAPHIC ITERATION", "IDEOGRAPHIC CLOSING", "IDEOGRAPHIC NUMBER",
    "IDEOGRAPHIC ANNOTATION", "VERTICAL IDEOGRAPHIC", "OLD CHINESE ITERATION MARK", "HANGZHOU",
    "CIRCLED IDEOGRAPH", "PARENTHESIZED IDEOGRAPH", "HIRAGANA", "HENTAIGANA", "KATAKANA", "HALFWIDTH KATAKANA", "VERTICAL KANA",
    "MASU MARK", "BOPOMOFO", "YI SYLLABLE", "NUSHU", "TANGUT", "THAI", "LAO", "KHMER", "MYANMAR", "TAI LE", "NEW TAI LUE",
    "TAI THAM", "TAI VIET", "AHOM",
)  # fmt: skip
NAMELESS = range(0x17000, 0x18D80)  # among them the ideographs of Tangut, for which ``unicodedata`` has no names
HIDDEN_MARKS = ("COMBINING GRAPHEME JOINER", "VARIATION SELECTOR", "MONGOLIAN FREE VARIATION SELECTOR", "KHMER VOWEL INHERENT")
ZERO_WIDTH_SPACE = "\u200b"
BREAKS = "\n\v\f\r\x85\u2028\u2029"


def is_space(c):
    return c in "\t\x85" or c in BREAKS or unicodedata.category(c) in ("Zs", "Zl", "Zp")


def part(c):
    """Those that are "single" are words of their own."""
    category = unicodedata.category(c)[0]
    name = unicodedata.name(c, "TANGUT" if ord(c) in NAMELESS else "")
    if category == "M" or name in ("HALFWIDTH KATAKANA VOICED SOUND MARK", "HALFWIDTH KATAKANA SEMI-VOICED SOUND MARK"):
        return "mark"
    if category in "LN":
        return "single" if name.startswith(SPACELESS) else "letter"
    return "none"


def hidden(c):
    """Whether a character shows nothing and parts no word."""
    return c != ZERO_WIDTH_SPACE and (unicodedata.category(c) == "Cf" or unicodedata.name(c, "").startswith(HIDDEN_MARKS))


def shown(text, unit="word"):
    return "".join(c for c in text if not hidden(c) and (unit == "word" or c != ZERO_WIDTH_SPACE))


def decoded(data):
    """U+FFFD for each byte that is not valid UTF-8."""
    return re.sub("[\udc80-\udcff]", "\ufffd", data.decode("utf-8", "surrogateescape"))


def fold(text, fold_case):
    return text.casefold() if fold_case else text


def word_runs(text):
    out, single = [], None  # single: is the open word one of a script without spaces? None: no word is open
    for place, c in enumerate(text):
        role = part(c)
        if role == "none":
            single = None
        elif single is None or (role != "mark" and (single or role == "single")):
            out.append([place])
            single = role == "single"
        else:
            out[-1].append(place)
    return out


def words(text, fold_case=True):
    """Runs of letters, digits and marks; single characters of scripts without spaces, with the marks after them."""
    text = shown(text)
    return ["".join(fold(text[place], fold_case) for place in run) for run in word_runs(text)]


def collapsed(text, keep_lines):
    out, gap = "", ""
    for c in text:
        if is_space(c):
            gap = "\n" if keep_lines and (c in BREAKS or gap == "\n") else gap or " "
        else:
            out += (gap if out else "") + c
            gap = ""
    return out


def pieces(text, unit, fold_case=True):
    if unit == "byte":
        return list(text.encode())
    if unit == "word":
        return words(text, fold_case)
    folded = fold(collapsed(shown(text, unit), unit == "line"), fold_case)
    return list(folded) if unit == "char" else [line for line in folded.split("\n") if line]


def tokens(text, unit, fold_case):
    found = pieces(text, unit, fold_case)
    if unit == "byte":
        return [fold_multiply(b ^ K2, K3) for b in found]
    if unit == "char":
        return [fold_multiply(ord(c) ^ K0, K1) for c in found]
    return [token_hash(token.encode()) for token in found]


def hashes(text, unit="word", width=5, normalization="NFC", fold_case=True):
    if unit != "byte":
        text = shown(text, unit)
        text = text if normalization == "none" else unicodedata.normalize(normalization, text)
    return shingle_hashes(tokens(text, unit, fold_case), width)


def unpacked(data, there):
    """Each follows its length, four bytes; a row that is not there is empty. None: the data end before."""
    values = []
    for one in there:
        n = int.from_bytes(data[:4], "little") if one else 0
        if one and len(data) < 4 + n:
            return None
        values.append(data[4 : 4 + n] if one else b"")
        data = data[4 + n :] if one else data
    return values
