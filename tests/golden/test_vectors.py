"""Known answers: hashes, signatures and keys are contracts; these values never change within a format version."""

import hashlib

import numpy as np

import lookalike as la
from lookalike.core import band_keys
from lookalike.settings.settings import Settings

# What rules 2 made other words of: marks and numerals among ideographs, more scripts, and words where a block of 64 bytes ends.
RULES_2 = [
    "abc人々二〇〇〇年",
    "𛀂𛀃かなｶﾞ",
    "ㄅㄆ ꀀꀁ ᥐᥑ 𗀀𗀁",
    " " * 61 + "abc中文字典 one two three" + " " * 100,
    "中" + "a" * 64 + "字" + " " * 99,
]
# What rules 3 leave out: characters that show nothing.
RULES_3 = [
    "W\u00f6r\u00adter\ufeff \u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 e\u00ad\u0301",
    "\u0e01\u200b\u0e02 \u2764\ufe0f a\u200bb \u200e\n\u2060",
]
TEXTS = ["The quick brown fox jumps over the lazy dog, again and again.", "天地玄黃 宇宙洪荒", "Ελληνικά café", "", "x"]


def digest(array):
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]


def test_shingles():
    found = {unit: digest(la.shingle(TEXTS, unit=unit).values) for unit in ("word", "char", "byte", "line")}
    assert found == {
        "word": "f0882282c40f2bd0",
        "char": "988c89302252889d",
        "byte": "655b5f91514acb77",
        "line": "4bab26fa04a6a979",
    }


def test_shingles_of_rules_2():
    assert digest(la.shingle(RULES_2, width=1).values) == "1a2d84392053b925"
    assert digest(la.shingle(RULES_2, width=2, unit="char").values) == "62d42f9be429a323"


def test_shingles_of_rules_3():
    bare = ["W\u00f6rter \u0645\u06cc\u062e\u0648\u0627\u0647\u0645 \u00e9", "\u0e01\u0e02 \u2764 a b"]
    assert digest(la.shingle(RULES_3, width=1).values) == digest(la.shingle(bare, width=1).values) == "129b059834363941"
    assert digest(la.shingle(RULES_3, width=2, unit="char").values) == "ab3bdbd212206ba7"


def test_first_shingle_values():
    assert [hex(v) for v in la.shingle(TEXTS[:1]).values[:3].tolist()] == [
        "0x2154e984c32f3b2e",
        "0xeb3f3c1fb08c9008",
        "0xe1147372b85bc1c7",
    ]


def test_signatures():
    shingles = la.shingle(TEXTS)
    assert digest(la.sketches.FastSimilarity(permutations=96, seed=7).sign(shingles).values) == "2938ffe43eb2db4d"
    assert digest(la.sketches.MinHash(permutations=96, seed=7).sign(shingles).values) == "49002e1262faf2d1"


def test_plans():
    """Bands and rows decide which pairs a job meets: with others, the same job may find others."""
    asked = [(0.6, 0.95), (0.7, 0.99), (0.8, 0.99), (0.9, 0.95), (0.99, 0.99)]
    plans = [la.plan(threshold=threshold, recall=recall) for threshold, recall in asked]
    assert [(plan.bands, plan.rows) for plan in plans] == [(63, 6), (37, 6), (16, 6), (5, 7), (3, 19)]
    asked = [(0.3, 0.999, None), (0.95, 0.9, None), (0.7, 0.95, 128), (0.9, 0.99, 128), (0.8, 0.99, 256), (1.0, 0.5, 1)]
    plans = [la.plan(threshold=threshold, recall=recall, permutations=n) for threshold, recall, n in asked]
    assert [(plan.bands, plan.rows) for plan in plans] == [(253, 3), (3, 12), (17, 5), (11, 10), (26, 8), (1, 1)]


def test_from_arrays():
    assert [hex(v) for v in la.sketches.Shingles.from_arrays([0, 1, -1], [0, 3]).values.tolist()] == [
        "0x5f80708adb6c5a9",
        "0xf73934473078a698",
        "0xeff403784106123e",
    ]


def test_band_keys():
    slots = la.sketches.FastSimilarity(permutations=96, seed=7).sign(la.shingle(TEXTS)).values
    keys = band_keys(slots, np.zeros(len(TEXTS), np.uint64), 16, 6)
    assert digest(keys) == "c96ec617371e8695"


def test_parameters_stated_with_every_output():
    assert Settings().to_dict() == {
        "html": False,
        "threshold": 0.8,
        "recall": 0.99,
        "keep": "first",
        "within": None,
        "verify": "exact",
        "evidence": "keepers",
        "empty": "keep",
        "text": "text",
        "id": None,
        "encoding_errors": "strict",
        "shingling": {"unit": "word", "width": 5, "normalization": "NFC", "fold_case": True, "unicode": "14.0.0", "rules": 3},
        "method": "minhash",
        "sketch": "FastSimilarity",
        "permutations": 96,
        "bands": 16,
        "rows": 6,
        "seed": 1,
        "max_bucket": 128,
    }
