"""Shingle hashes under a key."""

from hashlib import shake_256

from naive.hashing import PRIME, fmix64, keyed_digest, runs_of, thirds, value_at, words_of
from naive.text import pieces

P = PRIME


def secret_words(key, purpose, count):
    return words_of(shake_256(bytes([len(key)]) + key + purpose.encode()).digest(8 * count))


def token_words(token, secret):
    if len(token) <= 15:
        return int.from_bytes(token, "little") | len(token) << 120
    low, high = keyed_digest(token, [secret[0] % P, 0, 0, secret[1] % P, 0, 0, *secret[6:]])
    return low | (high | 1 << 63) << 64


def tokens(text, unit, fold_case):
    """Tokens as bytes, or as two words in one number."""
    found = pieces(text, unit, fold_case)
    if unit in ("byte", "char"):
        return [(b if unit == "byte" else ord(b)) | 1 << 64 for b in found]
    return [token.encode() for token in found]


def hashes(text, unit, width, key, fold_case=True):
    secret = secret_words(key, "tokens of shingles", 40)
    point, word = secret_words(key, "shingles", 2)
    found = [t if isinstance(t, int) else token_words(t, secret) for t in tokens(text, unit, fold_case)]
    return shingles(found, width, point % P, word)


def shingles(found, width, point, word):
    coefficients = ([c for token in run for c in thirds(token)] for run in runs_of(found, width))
    return [fmix64(value_at(point, some) ^ word) for some in coefficients]
