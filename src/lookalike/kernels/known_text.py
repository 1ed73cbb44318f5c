"""Shingles numbered by walking along known text: near-duplicates are mostly equal bytes, and bytes are compared 64 at a time.

Known text is a stream of tokens in *segments*, stretches that were new when they were met. A text is walked along it: while
its folded bytes are those of known text, so are its tokens, and its shingles have the numbers written there; only what differs
is tokenised and looked up. No hash decides: a shingle that is found in the table is compared by the keys of its tokens. In a
run from there on the bytes between two ends of tokens are equal, and so are the tokens before it: its shingles are too.

Every place of known text stands for a token and for the shingle that ends with it. The first ``width - 1`` places of a segment
are context: of them known text holds keys only, and no shingle. A byte that folded text never holds ends each segment.
"""

from typing import Annotated, NamedTuple

import numpy as np

from .compiler import (
    compiled,
    different_bytes,
    inlined,
    leading_zeros,
    load64,
    popcount,
    prefetch,
    store64,
    typed,
    unequal_bytes,
)  # fmt: skip
from .constants import LOW32, ONE, S32, ZERO
from .folding import Characters, fold_spaces, fold_words
from .hashing import fmix64, fold_multiply
from .vocabulary import read_tokens

FEW, MANY = 8, 32  # tokens that are looked up together, at first and after several that were new
SHORT = 8  # tokens of a known run that is written into the segment that is being written: no end of it for their sake
BEYOND = 256  # bytes that may be read, or written, behind a folded text and known text
UNIT, WIDTH, FOLD_CASE, ROW, AT, LENGTH, PLACE, OPEN, SOME, N_SHINGLES, N_PLACES, N_TEXT, WRITTEN = range(13)
NEED_PLACES, NEED_TEXT, NEED_OUT = range(13, 16)
NOT_FOLDED = -1
_UPPER = ~LOW32
_SEGMENT_END, _ROW_END = 0xFF, 0xFE  # no byte of UTF-8
_UNIT_WORD = 0


@typed
class KnownText(NamedTuple):
    """``table`` (a power of two, at most half full): the upper half of a shingle's hash, its place; 0: free. ``places``: two
    words, the token's key, where in ``text`` it ends, and the place that a text went on with last, mostly the next one.
    Place 0 is none. ``numbers``: those of the shingles, by place."""

    table: Annotated[np.ndarray, "uint64[::1]"]
    places: Annotated[np.ndarray, "uint64[:, ::1]"]
    numbers: Annotated[np.ndarray, "int32[::1]"]
    text: Annotated[np.ndarray, "uint8[::1]"]


@typed
class Ahead(NamedTuple):
    """Tokens read ahead: their keys, where they end, hashes of the shingles that begin there; and the text's folded bytes."""

    keys: Annotated[np.ndarray, "uint64[:, ::1]"]
    ends: Annotated[np.ndarray, "int64[::1]"]
    tags: Annotated[np.ndarray, "uint64[::1]"]
    folded: Annotated[np.ndarray, "uint8[::1]"]


@inlined("void(const uint64[:, ::1], uint64, uint64, const uint64[::1], const uint64[::1], uint64[::1])")
def hash_shingles(keys, count, width, secret, table, tags):
    """Write the hashes of all shingles of ``count`` tokens into ``tags``, and ask for what they need of the table meanwhile."""
    multiplier = secret[2] | ONE
    mask = np.uint64(len(table) - 1)
    i = ZERO
    while i < count:
        tags[i] = fold_multiply(keys[i, 0] ^ secret[0], keys[i, 1] ^ secret[1])
        i += ONE
    i = ZERO
    while i + width <= count:
        tag = secret[3]
        j = i
        while j < i + width:
            tag = tag * multiplier + tags[j]
            j += ONE
        tags[i] = fmix64(tag)
        prefetch(table, np.int64((tags[i] >> S32) & mask))
        i += ONE


@inlined("UniTuple(int64, 2)(const uint8[::1], int64, const uint8[::1], int64, int64)")
def common_run(folded, begin, text, there, separator):
    """Return how many tokens from two ends of tokens on are alike, and how many bytes these take: those that end before the
    first difference. There is one: a text and known text end with bytes of their own."""
    count = 0
    size = 0
    common = 0
    carry = ZERO
    unequal = ZERO
    while unequal == ZERO:
        unequal = unequal_bytes(folded, begin + common, text, there + common)
        tokens = different_bytes(folded, begin + common, separator)
        stops = ~tokens & ((tokens << ONE) | carry)
        carry = tokens >> np.uint64(63)
        if unequal != ZERO:
            stops &= (unequal & (~unequal + ONE)) - ONE
        if stops != ZERO:
            count += popcount(stops)
            size = common + 63 - leading_zeros(stops)
        common += 64
    return count, size


@inlined("int64(const uint8[::1], int64, int64, uint8[::1], int64)")
def copy_bytes(folded, begin, end, text, n_text):
    """Write ``folded[begin:end]`` behind ``text[:n_text]``, and up to seven bytes more; return the new length."""
    copied = 0
    while copied < end - begin:
        store64(text, n_text + copied, load64(folded, begin + copied))
        copied += 8
    return n_text + end - begin


@inlined("int64(uint64[:, ::1], uint64, uint8[::1], int64, int64)")
def end_segment(places, n_places, text, n_text, separator):
    """End the segment that is being written; return the new length of the text."""
    places[n_places - ONE, 3] = ZERO
    text[n_text] = separator
    text[n_text + 1] = _SEGMENT_END
    return n_text + 2


@compiled(
    "boolean(const uint8[::1], const int64[::1], Characters, const uint64[::1], const uint64[::1], KnownText, Ahead, "
    "int64[::1], int64[::1], int32[::1])",
    Characters,
    KnownText,
    Ahead,
)
def walk_texts(data, offsets, characters, points, secret, known, read_ahead, at, out_offsets, out):
    """Number the shingles of texts, from ``at`` on; tell whether that is done, or there is no room for more.

    Fewer tokens than ``width`` make one shingle, none make none. ``at``: what tokens are, how many make a shingle, whether case
    counts; the row, where in its folded bytes, how many these are, the place in known text, where the open segment begins or 0,
    how many tokens to look up together; how many shingles, places, bytes are known and numbers written; and for how many more
    places, bytes, numbers there must be room. There is room ahead for ``width + MANY`` tokens, and for three folded bytes for
    each of the longest row, and ``BEYOND``.
    """
    table, places, numbers, text = known
    keys, ends, tags, folded = read_ahead
    words = at[UNIT] == _UNIT_WORD
    separator = 32 if words else 10
    mask = np.uint64(len(table) - 1)
    fold_case = at[FOLD_CASE] != 0
    whole = np.uint64(at[WIDTH])
    context = whole - ONE
    row = at[ROW]
    a = at[AT]  # where in the folded bytes the last token ends that has its number
    length = at[LENGTH]
    g = np.uint64(at[PLACE])  # indices have no sign: of one that may be negative it has to be looked for
    segment = np.uint64(at[OPEN])
    ahead = at[SOME]
    n_shingles = np.uint64(at[N_SHINGLES])
    n_places = np.uint64(at[N_PLACES])
    n_text = at[N_TEXT]
    written = np.uint64(at[WRITTEN])
    i = ZERO  # of the tokens read ahead, the next one; and how many there are
    n = ZERO
    enough = True
    while enough and row < len(offsets) - 1:
        if length == NOT_FOLDED:
            if words:
                length = fold_words(data, offsets[row], offsets[row + 1], fold_case, characters, folded)
            else:
                length = fold_spaces(data, offsets[row], offsets[row + 1], fold_case, True, characters, folded)
            folded[length : length + 64] = separator
            folded[length + 64 : length + 128] = _ROW_END
            a = 0
            g = ZERO
            ahead = FEW
        i = ZERO
        n = ZERO
        while True:
            found = ZERO
            tail = a
            following = places[g, 3]
            if following >= n_places:  # what comes there is not written yet
                following = ZERO
            fresh_from = i == n
            if i == n:
                i = context if g != ZERO else ZERO
                most = np.int64(i) + (1 if following != ZERO else np.int64(context - i) + ahead)
                n = np.uint64(read_tokens(folded, a, length, separator, points, keys, ends, np.int64(i), most))
                if n == i:
                    break
            if following != ZERO and places[following, 0] == keys[i, 0] and places[following, 1] == keys[i, 1]:
                found = following
                tail = ends[i]
                i += ONE
            else:
                if fresh_from:  # hashes of some tokens at once: what they need of the table is fetched meanwhile
                    if following != ZERO:
                        most = np.int64(context) + ahead
                        n = np.uint64(read_tokens(folded, ends[i], length, separator, points, keys, ends, np.int64(n), most))
                    if g != ZERO:
                        first = g - context + ONE
                        for j in range(context):
                            keys[j, 0] = places[first + j, 0]
                            keys[j, 1] = places[first + j, 1]
                    while n < whole:  # a text shorter than a shingle; no token has this key
                        keys[n, 0] = ZERO
                        keys[n, 1] = ZERO
                        ends[n] = length
                        n += ONE
                    hash_shingles(keys, n, whole, secret, table, tags)
                    i = context
                left = n - i
                need = ends[n - ONE] - a + 2
                if (
                    n_shingles + left > np.uint64(len(table) // 2)
                    or n_places + left + context > np.uint64(len(places))
                    or n_text + need + BEYOND > len(text)
                    or written + left > np.uint64(len(out))
                ):
                    at[NEED_PLACES] = np.int64(left + context)
                    at[NEED_TEXT] = need + BEYOND
                    at[NEED_OUT] = np.int64(left)
                    enough = False
                    break
                opens = segment == ZERO
                begin = a
                shift = n_text - (ends[i] if opens else a)  # from bytes of the folded text to those of known text
                n_new = ZERO
                while i < n:
                    first = i - context
                    tag = tags[first] & _UPPER
                    place = (tag >> S32) & mask
                    entry = table[place]
                    while entry != ZERO:
                        if entry & _UPPER == tag:
                            there = (entry & LOW32) - context
                            unequal = ZERO
                            j = ZERO
                            while j < whole:
                                unequal |= places[there + j, 0] ^ keys[first + j, 0]
                                unequal |= places[there + j, 1] ^ keys[first + j, 1]
                                j += ONE
                            if unequal == ZERO:
                                break
                        place = (place + ONE) & mask
                        entry = table[place]
                    tail = ends[i]
                    i += ONE
                    found = entry & LOW32
                    if found != ZERO:
                        break
                    if opens:
                        if g != ZERO:
                            places[g, 3] = n_places + context
                        j = ZERO
                        while j < context:
                            places[n_places, 0] = keys[first + j, 0]
                            places[n_places, 1] = keys[first + j, 1]
                            places[n_places, 2] = ZERO
                            places[n_places, 3] = ZERO
                            n_places += ONE
                            j += ONE
                        segment = n_places
                        begin = tail
                        opens = False
                    places[n_places, 0] = keys[i - ONE, 0]
                    places[n_places, 1] = keys[i - ONE, 1]
                    places[n_places, 2] = np.uint64(tail + shift)
                    places[n_places, 3] = n_places + ONE
                    numbers[n_places] = np.int32(n_shingles + n_new)
                    out[written] = np.int32(n_shingles + n_new)
                    table[place] = tag | n_places
                    g = n_places
                    n_places += ONE
                    written += ONE
                    n_new += ONE
                    a = tail
                if n_new != ZERO:
                    n_shingles += n_new
                    n_text = copy_bytes(folded, begin, a, text, n_text)
                if found == ZERO:
                    ahead = min(2 * ahead, MANY)
                    continue
            # A known shingle: how far does what comes after it go on alike? Tokens count that end before a difference.
            text[n_text] = _SEGMENT_END
            there_byte = np.int64(places[found, 2])
            count, size = common_run(folded, tail, text, there_byte, separator)
            n_run = np.uint64(1 + count)
            past = tail + size
            need = past - a
            copies = segment != ZERO and n_run <= np.uint64(SHORT)
            if written + n_run > np.uint64(len(out)) or (
                copies and (n_places + n_run > np.uint64(len(places)) or n_text + need + BEYOND > len(text))
            ):
                at[NEED_PLACES] = np.int64(n_run)
                at[NEED_TEXT] = need + BEYOND
                at[NEED_OUT] = np.int64(n_run)
                enough = False
                break
            j = ZERO
            while j < n_run:
                out[written + j] = numbers[found + j]
                j += ONE
            written += n_run
            i = min(i + n_run - ONE, n)
            if n_run > np.uint64(SHORT):
                ahead = FEW
            if copies:
                shift = n_text + (tail - a) - there_byte
                n_text = copy_bytes(folded, a, past, text, n_text)
                j = ZERO
                while j < n_run:
                    places[n_places, 0] = places[found + j, 0]
                    places[n_places, 1] = places[found + j, 1]
                    places[n_places, 2] = np.uint64(np.int64(places[found + j, 2]) + shift)
                    places[n_places, 3] = n_places + ONE
                    numbers[n_places] = numbers[found + j]
                    n_places += ONE
                    j += ONE
                g = n_places - ONE
            else:
                if segment != ZERO:
                    n_text = end_segment(places, n_places, text, n_text, separator)
                    segment = ZERO
                if g != ZERO:
                    places[g, 3] = found
                g = found + n_run - ONE
            a = past
        if enough:
            if segment != ZERO:
                n_text = end_segment(places, n_places, text, n_text, separator)
                segment = ZERO
            row += 1
            out_offsets[row] = np.int64(written)
            length = NOT_FOLDED
    at[ROW] = row
    at[AT] = a
    at[LENGTH] = length
    at[PLACE] = np.int64(g)
    at[OPEN] = np.int64(segment)
    at[SOME] = ahead
    at[N_SHINGLES] = np.int64(n_shingles)
    at[N_PLACES] = np.int64(n_places)
    at[N_TEXT] = n_text
    at[WRITTEN] = np.int64(written)
    return enough
