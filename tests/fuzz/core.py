"""The compiled core against its twins in plain Python, on random and hostile bytes."""

import unicodedata
from random import Random

import numpy as np
import pyarrow as pa
from judging import same
from naive import hashing
from naive import text as naive
from naive.repeats import BLANKS, lines_of, paragraphs_of

from lookalike import core
from lookalike.hashing import digest_secret
from lookalike.text.characters import UNICODE_VERSION, native_characters
from lookalike.text.numbering import numbering
from lookalike.text.shingle import Shingling
from lookalike.text.texts import from_arrow_array

SIZES = (0, 1, 2, 5, 15, 31, 62, 63, 64, 65, 127, 128, 129, 300)
SCRIPTS = ("abcdefg XYZ 019 .,-\n", "éÀßſİıΐŉ", "привет МИР ", "αβγ ΏΣς ", "日本語テキストｶﾞ。", "สวัสดี ครับ", "한국어 각", "हिन्दी क्षि ", "العربية ‌ ",
           "\u0301\u0323\u0338\u0344\u00ad\u200b\u2060\ufeff\u034f\u2028\x85\t\r\v\0", "😀👩‍👧𐐀𒀀\U000e0101", "\u1100\u1161\u11a8\u212b\ufb01\u0f76")  # fmt: skip
BROKEN = (b"\xff", b"\xc0\x80", b"\xe6\x97", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\x80", b"\xf0\x9f\x98", b"\xc3")


def text_of(r):
    some = r.sample(SCRIPTS, r.randrange(1, 4))
    made = "".join(r.choice(r.choice(some)) * r.choice((1, 1, 1, 1, 2, 64)) for _ in range(r.choice(SIZES)))
    data = bytearray(made.encode())
    for _ in range(r.choice((0, 0, 0, 1, 4))):
        at = r.randrange(len(data) + 1)
        data[at:at] = r.choice(BROKEN)
    return bytes(data)


def shingles(r, rows, texts):
    how = {"unit": r.choice(("word", "char", "byte", "line")), "width": r.randrange(1, 10)}
    how |= {"normalization": r.choice(("none", "NFC", "NFKC")), "fold_case": r.random() < 0.5}
    values, offsets = Shingling(**how).hashes(texts)
    found = [some.tolist() for some in np.split(values, offsets[1:-1])]
    if how["unit"] == "byte":
        tokens = ([hashing.fold_multiply(byte ^ hashing.K2, hashing.K3) for byte in data] for data in rows)
        return found, [hashing.shingle_hashes(some, how["width"]) for some in tokens]
    return found, [naive.hashes(naive.decoded(data), **how) for data in rows]


def numbers(r, rows, texts):
    """Equal where the shingles are, in order of first appearance."""
    unit, width = r.choice(("word", "char", "line")), r.randrange(1, 8)
    found, _ = numbering(Shingling(unit=unit, width=width), r.randbytes(16)).number(texts)
    known, expected = {}, []
    for data in rows:
        some = naive.pieces(unicodedata.normalize("NFC", naive.shown(naive.decoded(data), unit)), unit)
        expected += [known.setdefault(run, len(known)) for run in hashing.runs_of(some, width)]
    return found.tolist(), expected


def lines(r, rows, texts):
    secret, least, paragraphs = digest_secret(r.randbytes(16), "lines"), r.randrange(1, 4), r.random() < 0.5
    given = texts.data, texts.offsets, least, paragraphs, native_characters(), secret
    units, bounds, worded = core.find_lines(*given, np.empty(0, np.uint64))
    expected = []
    for data in rows:
        places = list((paragraphs_of if paragraphs else lines_of)(data))
        inside = [data[begin:end].strip(BLANKS) for begin, end in places]
        words = [len(naive.words(naive.decoded(some))) for some in inside]
        counted = enumerate(zip(places, inside, words, strict=True))
        units_of = [[*hashing.keyed_digest(some, secret.tolist()), *at, i, 1] for i, (at, some, n) in counted if n >= least]
        expected.append((units_of, sum(map(bool, words))))
    return list(zip([some.tolist() for some in np.split(units, bounds[1:-1])], worded.tolist(), strict=True)), expected


CASES = (shingles, shingles, numbers, lines)


def judge(seed, folder):
    r = Random(seed)
    case, rows = r.choice(CASES), [text_of(r) for _ in range(r.randrange(1, 5))]
    if unicodedata.unidata_version != UNICODE_VERSION:
        return case.__name__, f"refused: the twin needs an interpreter with Unicode {UNICODE_VERSION}"
    before = r.randrange(3)  # the array may begin in the middle of another
    same(case.__name__, *case(r, rows, from_arrow_array(pa.array([b"x"] * before + rows, pa.large_binary())[before:])))
    return case.__name__, "result"
