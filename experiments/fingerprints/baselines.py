"""Methods that the thesis names beside SimHash, as small as their descriptions: I-Match and SpotSigs."""

from __future__ import annotations

import hashlib
import re

import numpy as np

import semblance as sb


def i_match(
    features: sb.WeightedSets, *, lexicons: int = 1, share: float = 0.6, keep: float = 0.9, seed: int = 1
) -> np.ndarray:
    """Signatures of the features left after the most and least frequent ones are dropped.

    With several lexicons each further one leaves out a random part of the first.

    References
    ----------
    Chowdhury et al., "Collection statistics for fast duplicate document detection", TOIS 2002; Kolcz, Chowdhury & Alspector,
    KDD 2004, for several lexicons.
    """
    rng = np.random.default_rng(seed)
    values, counts = np.unique(features.values, return_counts=True)
    order = np.argsort(counts, kind="stable")
    edge = int(len(values) * (1 - share) / 2)
    middle = np.sort(values[order[edge : len(values) - edge]])
    out = np.empty((len(features), lexicons), object)
    for lexicon in range(lexicons):
        chosen = middle if not lexicon else middle[rng.random(len(middle)) < keep]
        known = np.isin(features.values, chosen)
        for row in range(len(features)):
            part = slice(features.offsets[row], features.offsets[row + 1])
            out[row, lexicon] = hashlib.sha1(features.values[part][known[part]].tobytes()).hexdigest()
    return out


def spot_signatures(texts: list[str], antecedents: tuple[str, ...], *, chain: int = 2, distance: int = 1) -> sb.Shingles:
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

    return sb.shingle(texts, width=1, tokenizer=spots)
