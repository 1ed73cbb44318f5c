from hashlib import shake_128

MASK = (1 << 64) - 1
K0, K1, K2, K3 = 0xA0761D6478BD642F, 0xE7037ED1A0B428DB, 0x8EBC6AF09C88C6E3, 0x589965CC75374CC3
MULTIPLIER, GOLDEN, EMPTY = 0x9FB21C651E98DF25, 0x9E3779B97F4A7C15, 0xFFFFFFFF


def fmix64(x):
    x = ((x ^ (x >> 33)) * 0xFF51AFD7ED558CCD) & MASK
    x = ((x ^ (x >> 33)) * 0xC4CEB9FE1A85EC53) & MASK
    return x ^ (x >> 33)


def fold_multiply(a, b):
    product = (a & MASK) * (b & MASK)
    return (product & MASK) ^ (product >> 64)


def words_of(data):
    return [int.from_bytes(data[at : at + 8], "little") for at in range(0, len(data), 8)]


def digest(data):
    a, b, words = K0 ^ len(data), K3 ^ len(data), words_of(data)
    paired = len(data) // 16 * 2
    for left, right in zip(words[:paired:2], words[1:paired:2], strict=True):
        a = fold_multiply(a ^ left, right ^ K1)
        b = (fold_multiply(b ^ right, left ^ K2) + left) & MASK
    for word in words[paired:]:
        a = fold_multiply(a ^ word, K1)
        b = (fold_multiply(b ^ word, K2) + word) & MASK
    return fmix64(a ^ K2), fmix64(b ^ K1)


def token_hash(token):
    state, full = K0, len(token) // 8 * 8
    for word in words_of(token[:full]):
        state = fold_multiply(state ^ word, K2)
    return fold_multiply(state ^ int.from_bytes(token[full:], "little"), K1 ^ len(token))


def runs_of(tokens, width):
    """Of fewer tokens all together, if there are any."""
    return [tuple(tokens[i : i + width]) for i in range(max(1, len(tokens) - width + 1))] if tokens else []


def shingle_hashes(tokens, width):
    out = []
    for run in runs_of(tokens, width):
        state = 0
        for token in run:
            state = (state * MULTIPLIER + token) & MASK
        out.append(fmix64((state + len(run) * K3) & MASK))
    return out


def derive(seed, purpose, count):
    return words_of(shake_128(seed.to_bytes(8, "little") + purpose.encode()).digest(8 * count))


PRIME = (1 << 61) - 1


def _products(words, secret):
    """Of neighbouring words, to each of which a secret one is added."""
    pairs = zip(words[::2], words[1::2], secret[::2], secret[1::2], strict=False)
    return sum(((x + k) & MASK) * ((y + m) & MASK) for x, y, k, m in pairs) % (1 << 128)


def value_at(point, coefficients):
    """Of a polynomial whose first coefficient is 1."""
    value = 1
    for coefficient in coefficients:
        value = (value * point + coefficient) % PRIME
    return value


def thirds(number):
    return number & ((1 << 56) - 1), number >> 56 & ((1 << 56) - 1), number >> 112


def keyed_digest(data, secret, more=()):
    """Two values below 2^61 - 1: polynomials of 56, 56 and 16 bits of the sum of each block of 256 bytes."""
    found = []
    for point, shift in ((secret[0], 0), (secret[3], 2)):
        coefficients = []
        for begin in range(0, len(data), 256):
            block = data[begin : begin + 256]
            coefficients += thirds(_products(words_of(block + bytes(-len(block) % 16)), secret[6 + shift :]))
        found.append(value_at(point, [*coefficients, len(data), *more]))
    return tuple(found)
