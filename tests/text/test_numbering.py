import subprocess
import sys
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.text import decoded, pieces

import lookalike as la
from lookalike.methods.method import COSINE, JACCARD, rows_of_pieces
from lookalike.text.numbering import KnownText, Vocabulary, numbering
from lookalike.text.shingle import Shingling
from lookalike.text.texts import from_strings

KEYS = [bytes(16), bytes(range(16)), b"\xff" * 16]
WORDS = ["a", "B", "straße", "日本", "7", "\n", "  ", "x" * 15, "x" * 16, "y" * 40, "y" * 39 + "z", "\0", "\t\n", "é", "ÿ"]
some_texts = st.lists(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join), max_size=6)


def shingles_of(text, shingling):
    found = pieces(text, shingling.unit, shingling.fold_case)
    width = min(shingling.width, len(found))
    return [tuple(found[i : i + width]) for i in range(len(found) - width + 1)] if found else []


def numbered_twin(texts, shingling):
    known = {}
    rows = [[known.setdefault(shingle, len(known)) for shingle in shingles_of(text, shingling)] for text in texts]
    return [number for row in rows for number in row], [len(row) for row in rows]


def check(texts, shingling, key, cuts=()):
    known, found, found_sizes = numbering(shingling, key), [], []
    for begin, end in pairwise([0, *sorted(min(cut, len(texts)) for cut in cuts), len(texts)]):
        numbers, offsets = known.number(from_strings(texts[begin:end]))
        assert numbers.dtype == np.int32 and offsets[0] == 0
        found += numbers.tolist()
        found_sizes += np.diff(offsets).tolist()
    assert (found, found_sizes) == numbered_twin(texts, shingling)


@pytest.mark.parametrize("unit", ["word", "char", "byte", "line"])
@settings(max_examples=60)
@given(some_texts, st.integers(1, 9), st.booleans(), st.sampled_from(KEYS), st.lists(st.integers(0, 6), max_size=2))
def test_numbers_are_those_of_the_shingles_themselves(unit, texts, width, fold_case, key, cuts):
    check(texts, Shingling(unit=unit, width=width, fold_case=fold_case), key, cuts)


EDITS = [
    "",
    " ",
    "  ",
    "-",
    "x ",
    " x",
    "\n",
    "A",
    "é",
    "\u0301",
    "日",
    "本語 ",
    "y" * 70,
    f" {'z' * 16} ",
    "\0",
    " the of ",
    b"\xff",
    b"\xe6\x97",
]
EDITS = [edit if isinstance(edit, bytes) else edit.encode() for edit in EDITS]


def spliced(rng, texts):
    """Stretches of earlier texts, cut within characters too, with something small between them."""
    parts = []
    for _ in range(int(rng.integers(1, 6))):
        text = texts[int(rng.integers(len(texts)))]
        begin, size = int(rng.integers(len(text) + 1)), int(rng.choice([1, 5, 30, 200, 2000]))
        parts += [text[begin : begin + size], EDITS[int(rng.integers(len(EDITS)))]]
    return b"".join(parts)


@pytest.mark.parametrize(("unit", "width"), [("word", 1), ("word", 2), ("word", 5), ("word", 40), ("line", 1), ("line", 3)])
def test_walking_gives_the_numbers_that_tokens_have(unit, width, rng):
    """Runs that begin and end anywhere, in segments that are being written, repeats, short rows."""
    names = ["a", "of", "The", "straße", "日本", "x" * 16, "y" * 70, "é", "word", "sentence", "\n", "same", "same"]
    shingling = Shingling(unit=unit, width=width, normalization="none")
    for turn in range(60):
        texts = [" ".join(rng.choice(names, int(rng.integers(1, 80)))).encode() for _ in range(3)] + [
            b"b " * int(rng.integers(1, 300))
        ]
        for _ in range(20):
            texts.append(spliced(rng, texts))
        packed = [from_strings(piece) for piece in (texts[:10], texts[10:])]
        by_token, by_walk, numbers = Vocabulary(shingling, KEYS[1]), KnownText(shingling, KEYS[1]), []
        for data in packed:
            wanted, offsets = by_token.number(data)
            assert [part.tolist() for part in by_walk.number(data)] == [wanted.tolist(), offsets.tolist()]
            numbers += wanted.tolist()
        assert turn or numbers == numbered_twin(map(decoded, texts), shingling)[0]
        left, right = (side.ravel() for side in np.indices((len(texts), len(texts))))
        for kind in (JACCARD, COSINE):
            of_numbers, of_texts = (
                rows_of_pieces(map(known(shingling, KEYS[1]).piece, packed), kind).compare(left, right, 0.0)
                for known in (Vocabulary, KnownText)
            )
            assert of_texts.tolist() == of_numbers.tolist()


def test_texts_with_one_public_hash_have_numbers_of_their_own():
    """Found by a search of minutes: five words whose shingle has the hash of four others, for whoever knows the program."""
    forged = ["ca2036 he8et6 bi6jxy jo12n8 friend", "Vote for the mayor"]
    assert la.shingle(forged).resemblance(0, 1) == 1.0
    for key in KEYS[:2]:
        assert la.shingle(forged, key=key).resemblance(0, 1) == 0.0
    for known in (Vocabulary, KnownText):
        assert known(Shingling(), KEYS[1]).number(from_strings(forged))[0].tolist() == [0, 1]
    assert la.dedup(forged).keep.all() and len(la.pairs(forged, threshold=0.1)) == 0


def test_comparing_decides_whatever_the_hash(monkeypatch, rng):
    """Under a secret by which all tokens of one size have one hash, and shingles of the same tokens in any order, look-ups meet
    other tokens and shingles, and take none of them for its own."""
    for high in (1, 2 << 56):
        monkeypatch.setattr("lookalike.text.numbering.secret_words", lambda *_, high=high: np.array([0, high, 0, 7], "uint64"))
        texts = [" ".join(rng.choice(["ab", "ba", "aa", "cd", "abc"], 40)) for _ in range(12)]
        for unit, width in product(("word", "byte"), (1, 3, 4)):
            shingling = Shingling(unit=unit, width=width)
            check(texts + texts[:4], shingling, KEYS[1], [5])
            numbers, _ = Vocabulary(shingling, KEYS[1]).number(from_strings(texts))
            assert numbers.tolist() == numbered_twin(texts, shingling)[0]


NUMBERING = """
import sys
from lookalike.engines.memory import peak_memory
from lookalike.text.numbering import numbering
from lookalike.text.shingle import Shingling
from lookalike.text.texts import from_strings

known, texts = numbering(Shingling(unit=sys.argv[1], width=1 << 12), bytes(16)), from_strings([str(i) for i in range(10_000)])
before = peak_memory()
numbers, _ = known.number(texts)
print(numbers.max(), peak_memory() - before)
"""


def test_short_texts_take_little_memory_whatever_the_width():
    for unit in ("word", "char"):
        done = subprocess.run([sys.executable, "-c", NUMBERING, unit], capture_output=True, text=True, check=True)
        known, taken = map(int, done.stdout.split())
        assert known == 9_999 and taken < 30_000_000
