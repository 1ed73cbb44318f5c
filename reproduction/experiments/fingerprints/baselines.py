"""Methods that the thesis names beside SimHash, as small as their descriptions: I-Match and SpotSigs."""

from __future__ import annotations

import hashlib
import re
from itertools import pairwise

import numpy as np

import lookalike as la


def middle_lexicon(features: la.sketches.WeightedSets, share: float = 0.6) -> np.ndarray:
    """Return the features, ascending, that are left when the rarest and the most frequent ones are dropped; ``share`` is what stays."""
    values, counts = np.unique(features.values, return_counts=True)
    edge = int(len(values) * (1 - share) / 2)
    return np.sort(values[np.argsort(counts, kind="stable")[edge : len(values) - edge]])


def random_lexicons(lexicon: np.ndarray, number: int, *, keep: float, seed: int = 1) -> list[np.ndarray]:
    """Return random parts of a lexicon, in which each feature stays with a probability of ``keep``."""
    rng = np.random.default_rng(seed)
    return [lexicon[rng.random(len(lexicon)) < keep] for _ in range(number)]


def i_match(features: la.sketches.WeightedSets, lexicons: list[np.ndarray]) -> np.ndarray:
    """Signatures, one column a lexicon: numbers that two documents share if the same features of the lexicon occur in both.

    A document without any feature of the lexicon shares its signature with none.

    References
    ----------
    Chowdhury et al., "Collection statistics for fast duplicate document detection", TOIS 2002; Kolcz, Chowdhury & Alspector,
    KDD 2004, for several lexicons.
    """
    values, places = np.unique(features.values, return_inverse=True)
    out = np.empty((len(features), len(lexicons)), np.int64)
    for column, lexicon in enumerate(lexicons):
        known = np.isin(values, lexicon, assume_unique=True)[places]
        ends = (8 * np.concatenate([[0], np.cumsum(known)])[features.offsets]).tolist()
        terms = memoryview(features.values[known].tobytes())
        digests: dict[bytes, int] = {}
        for row, (begin, end) in enumerate(pairwise(ends)):
            digest = hashlib.sha1(terms[begin:end]).digest() if end > begin else row.to_bytes(8, "little")
            out[row, column] = digests.setdefault(digest, len(digests))
    return out


def spot_signatures(
    texts: list[str], antecedents: tuple[str, ...], *, chain: int = 2, distance: int = 1
) -> la.sketches.Shingles:
    """Chains of the words that follow a stop word, stop words left out of the chain, as sets.

    References
    ----------
    Theobald, Siddharth & Paepcke, "SpotSigs: robust and efficient near duplicate detection in large web collections", SIGIR 2008.
    """
    stop = frozenset(antecedents)

    def spots(text: str) -> list[str]:
        words = re.findall(r"[^\W_]+", text.casefold())
        out = []
        for place, word in enumerate(words):
            if word in stop:
                content = [w for w in words[place + 1 : place + 12] if w not in stop]
                out.append(" ".join((word, *content[: chain * distance : distance])))
        return out

    return la.shingle(texts, width=1, tokenizer=spots)
