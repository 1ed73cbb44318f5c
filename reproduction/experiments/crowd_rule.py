"""The rule for crowds and the cut, for a corpus held in memory: what ``crowds.py`` measures.

``docs/definition.md`` has the rule in words, ``tests/naive/crowds.py`` in plain Python, ``lookalike.steps`` as jobs use it.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from instructions import K0, fold_multiply, popcount
from numba import njit
from numpy.typing import NDArray
from scipy.stats import binom

import lookalike as la

Array = NDArray[Any]
compiled = njit(nogil=True, error_model="numpy", cache=True)
CODES = 1 << 16


class Rule(NamedTuple):
    """The numbers of the rule for crowds."""

    max_bucket: int = 128
    heads: int = 8
    codes: int = 16
    budget: int = 384
    code_heads: int = 4
    coupled: int = 4


@dataclass(frozen=True, slots=True, eq=False)
class Corpus:
    """Sketched documents in keep order, of which those below ``boundary`` are references."""

    plan: la.Plan
    codes: Array
    keys: Array
    boundary: int = 0

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self.codes)


@compiled
def make_codes(slots, groups, out):
    """Write 16 bits of each slot's value and of the group."""
    for row in range(len(slots)):
        for i in range(slots.shape[1]):
            out[row, i] = fold_multiply(np.uint64(slots[row, i]) ^ groups[row], K0 + np.uint64(i)) >> np.uint64(48)


@compiled
def put(out, count, left, right):
    """Write a link, left << 32 | right, if there is room at all; return the number of links with it."""
    if len(out) > 0:
        out[count] = left << 32 | right
    return count + 1


@compiled
def bucket_links(members, starts, ends, boundary, rule, crowded, out):
    """Write the links of the buckets of one band; return how many. Without ``out`` they are counted."""
    count = 0
    for bucket in range(len(starts)):
        begin, end = starts[bucket], ends[bucket]
        crowd = end - begin > rule.max_bucket
        others = begin
        while others < end and members[others] < boundary:
            others += 1
        if crowd:
            for i in range(begin, end):
                crowded[members[i]] = True
        first, last = (begin + rule.heads, others + rule.heads) if crowd else (end, end)
        for i in range(others, end):
            for j in range(begin, min(others, first)):
                count = put(out, count, members[j], members[i])
            for j in range(others, min(i, last)):
                count = put(out, count, members[j], members[i])
    return count


@compiled
def count_codes(codes, crowded, counts):
    """Count the crowded documents that have each code in each slot."""
    for row in range(len(codes)):
        if crowded[row]:
            for i in range(codes.shape[1]):
                counts[i, codes[row, i]] += 1


@compiled
def rarest(codes, counts, best):
    """Write the rarest codes of a document that others have too, count << 16 | slot, ascending; return how many."""
    used = 0
    for i in range(len(codes)):
        n = np.int64(counts[i, codes[i]])
        key = n << 16 | i
        if n < 2 or (used == len(best) and key > best[used - 1]):
            continue
        place = used if used < len(best) else used - 1
        used = place + 1
        while place > 0 and best[place - 1] > key:
            best[place] = best[place - 1]
            place -= 1
        best[place] = key
    return used


@compiled
def hold_codes(codes, crowded, counts, rule, best, entries):
    """Write what each crowded document holds: slot and code << 40 | document << 1 | within its budget; return how many."""
    written = 0
    for row in range(len(codes)):
        if not crowded[row]:
            continue
        used = rarest(codes[row], counts, best)
        spent = 0
        for held in range(used):
            i = best[held] & 0xFFFF
            spent += best[held] >> 16
            code = np.uint64(i << 16 | np.int64(codes[row, i]))
            entries[written] = code << np.uint64(32) | np.uint64(row << 1 | (spent <= rule.budget))
            written += 1
    return written


@compiled
def code_links(entries, boundary, code_heads, out):
    """Write the links of sorted entries; return how many. Without ``out`` they are counted."""
    count = begin = 0
    for i in range(len(entries)):
        if entries[i] >> np.uint64(32) != entries[begin] >> np.uint64(32):
            begin = i
        low = np.int64(entries[i] & np.uint64(0xFFFFFFFF))
        if low >> 1 < boundary:
            continue
        end = i if low & 1 else min(i, begin + code_heads)
        for j in range(begin, end):
            count = put(out, count, np.int64(entries[j] & np.uint64(0xFFFFFFFF)) >> 1, low >> 1)
    return count


@compiled
def couple_codes(codes, crowded, counts, rule, best, keys, documents):
    """Write the couples of codes of each crowded document; return how many."""
    written = 0
    most = crowded.sum() // 4
    for row in range(len(codes)):
        if not crowded[row]:
            continue
        used = rarest(codes[row], counts, best)
        begin = spent = 0
        while begin < min(used, rule.codes) and spent + (best[begin] >> 16) <= rule.budget:
            spent += best[begin] >> 16
            begin += 1
        end = begin
        while end < min(used, begin + rule.coupled) and best[end] >> 16 <= most:
            end += 1
        for a in range(begin, end):
            for b in range(begin, end):
                i, j = best[a] & 0xFFFF, best[b] & 0xFFFF
                if i < j:
                    couple = np.uint64(i << 16 | codes[row, i]) << np.uint64(32) | np.uint64(j << 16 | codes[row, j])
                    keys[written] = fold_multiply(couple, K0) >> np.uint64(32)
                    documents[written] = row
                    written += 1
    return written


def buckets(keys: Array) -> tuple[Array, Array, Array]:
    """Return (documents with equal keys together, ascending; where each run of several begins; where it ends)."""
    order = np.argsort(keys, kind="stable")
    begins = np.flatnonzero(np.r_[True, keys[order[1:]] != keys[order[:-1]]])
    ends = np.r_[begins[1:], len(keys)]
    several = ends - begins > 1
    return order, begins[several], ends[several]


def filled(kernel: Any, *arguments: Any) -> Array:
    """Run a kernel that counts, then again with room for what it writes."""
    out = np.empty(kernel(*arguments, np.empty(0, np.int64)), np.int64)
    if len(out):
        kernel(*arguments, out)
    return out


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What the rule finds: distinct links, how many came, how it took (seconds), and what it knows of documents."""

    links: Array
    raw: int
    seconds: float
    crowded: Array
    counts: Array
    in_crowd: Array


def find(corpus: Corpus, rule: Rule) -> Found:
    """Return the links of all buckets, and those of rare codes."""
    n, k = corpus.codes.shape
    crowded, in_crowd = np.zeros(n, np.bool_), np.zeros((n, corpus.plan.bands), np.bool_)
    links, seconds = [], 0.0
    for band in range(corpus.plan.bands):
        members, begins, ends = buckets(corpus.keys[:, band])
        start = process_time()
        links.append(filled(bucket_links, members, begins, ends, corpus.boundary, rule, crowded))
        seconds += process_time() - start
        for crowd in np.flatnonzero(ends - begins > rule.max_bucket):
            in_crowd[members[begins[crowd] : ends[crowd]], band] = True
    start = process_time()
    counts = np.zeros((k, CODES), np.int32)
    if crowded.any():
        count_codes(corpus.codes, crowded, counts)
        entries = np.empty(int(crowded.sum()) * rule.codes, np.uint64)
        entries = entries[: hold_codes(corpus.codes, crowded, counts, rule, np.empty(rule.codes, np.int64), entries)]
        entries.sort()
        links.append(filled(code_links, entries, corpus.boundary, rule.code_heads))
        room = int(crowded.sum()) * (rule.coupled * (rule.coupled - 1) // 2)
        couples, documents = np.empty(room, np.uint64), np.empty(room, np.int64)
        best = np.empty(rule.codes + rule.coupled, np.int64)
        n_couples = couple_codes(corpus.codes, crowded, counts, rule, best, couples, documents)
        members, begins, ends = buckets(couples[:n_couples])
        few = rule._replace(heads=rule.code_heads)
        links.append(filled(bucket_links, documents[members], begins, ends, corpus.boundary, few, crowded.copy()))
    every = np.concatenate(links)
    raw = len(every)
    every.sort()
    every = every[np.r_[True, every[1:] != every[:-1]]] if raw else every
    return Found(every, raw, seconds + process_time() - start, crowded, counts, in_crowd)


@compiled
def agreements(packed, slots, links, out):
    """Write how many 4-bit codes each pair agrees in; 16 are packed in a word, those beyond the slots are equal."""
    ones = np.uint64(0x1111111111111111)
    for link in range(len(links)):
        left, right = links[link] >> 32, links[link] & 0xFFFFFFFF
        differ = 0
        for word in range(packed.shape[1]):
            x = packed[left, word] ^ packed[right, word]
            x |= x >> np.uint64(2)
            differ += popcount((x | x >> np.uint64(1)) & ones)
        out[link] = slots - differ


def cut(corpus: Corpus, links: Array) -> Array:
    """Tell which links agree in enough 4-bit codes."""
    out = np.empty(len(links), np.int64)
    agreements(packed(corpus.codes), corpus.codes.shape[1], links, out)
    return np.asarray(out >= least(corpus.plan))


def packed(codes: Array) -> Array:
    """Return the low 4 bits of the codes, 16 in a word."""
    words = np.zeros((len(codes), -(-codes.shape[1] // 16)), np.uint64)
    for i in range(codes.shape[1]):
        words[:, i // 16] |= (codes[:, i] & 15).astype(np.uint64) << np.uint64(4 * (i % 16))
    return words


def least(plan: la.Plan) -> int:
    """How many 4-bit codes a candidate must agree in."""
    k, t = plan.bands * plan.rows, plan.threshold
    loss = min((1 - plan.recall) / 10, 1 - (1 - t**plan.rows) ** plan.bands - plan.recall)
    return int(np.argmax(binom.cdf(np.arange(k + 1), k, t + (1 - t) / 16) > loss))
