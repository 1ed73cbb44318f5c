"""Banding of packed slots: two bands of r slots of b bits agree with probability P^r, P = C1 + (1 - C2) R, some by chance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import ParameterError
from ..wording import band_counts
from ._check import Float, count, fraction, within
from .mixture import Part, curve

KEY_COST, CANDIDATE_COST, WORD_COST = 60.0, 250.0, 0.08  # ns: a key sorted, a candidate estimated, a word of any pair compared


def _matching(
    resemblance: ArrayLike, parts: Sequence[Part], density_left: ArrayLike, density_right: ArrayLike
) -> NDArray[np.float64]:
    """Probabilities that each stored slot matches, along a last axis of as many as there are in all parts."""
    curves = [(part.slots, curve(part, resemblance, density_left, density_right)[0]) for part in parts]
    return np.concatenate([np.repeat(np.asarray(e)[..., None], slots, axis=-1) for slots, e in curves], axis=-1)


def candidate_probability(
    resemblance: ArrayLike, bands: int, rows: int, parts: Sequence[Part],
    density_left: ArrayLike = 0.0, density_right: ArrayLike = 0.0,
) -> Float:  # fmt: skip
    """Probability that two documents share a band of packed slots: 1 - prod(1 - prod(P)), over bands and over their slots.

    P is the probability that a stored slot matches: C1 + (1 - C2) R of b bits, (1 + rho^m) / 2 of XORs. With one kind of slots
    that is 1 - (1 - P^rows)^bands; at R = 0 it is the share of unrelated pairs that are looked at for nothing.

    Parameters
    ----------
    resemblance : array_like of float in [0, 1]
    bands, rows : int >= 1
        Bands are cut from the stored slots of all parts, in order.
    parts : sequence of lookalike.theory.mixture.Part
        Such as ``BBit(bits=1).parts(permutations)``.
    density_left, density_right : array_like of float in [0, 1]

    Raises
    ------
    ParameterError
        If there are fewer slots than rows in all bands, or the resemblance is out of range.

    References
    ----------
    Li & König, WWW 2010, Theorem 1 and equation 23; tables by codes of b bits: Li, Shrivastava, Moore & König, "Hashing
    Algorithms for Large-Scale Learning", NIPS 2011.
    """
    used = int(count("bands", bands)) * int(count("rows", rows))
    p = _matching(fraction("resemblance", resemblance), parts, density_left, density_right)
    if used > p.shape[-1]:
        raise ParameterError(f"{band_counts(bands, rows)} need {used} stored slots; the parts have {p.shape[-1]}")
    each = p[..., :used].reshape(*p.shape[:-1], int(bands), int(rows)).prod(-1)
    with np.errstate(divide="ignore"):
        return -np.expm1(np.log1p(-each).sum(-1))


def cost(documents: float, bands: ArrayLike, chance: ArrayLike) -> Float:
    """Nanoseconds that a search by bands of packed slots takes: keys sorted, and candidates by chance compared.

    Parameters
    ----------
    documents : float >= 0
    bands : array_like of int >= 1
    chance : array_like of float in [0, 1]
        Probability that unrelated documents share a band.

    References
    ----------
    n L keys and n^2 / 2 times the chance of candidates; constants measured on one 2.6 GHz core.
    """
    n = float(within("documents", documents, 0.0, np.inf))
    return n * np.asarray(bands, np.float64) * KEY_COST + n * n / 2.0 * np.asarray(chance, np.float64) * CANDIDATE_COST


def choose_bands(
    threshold: float, recall: float, parts: Sequence[Part], documents: float = 1e6, density: float = 0.0
) -> tuple[int, int]:
    """Bands and rows of packed slots by which a pair at the threshold is found with probability ``recall``, at the least cost.

    More rows leave fewer candidates by chance, 2^-b for each row, and take more bands; there are only so many slots.

    Parameters
    ----------
    threshold : float in [0, 1]
        Resemblance.
    recall : float in (0, 1)
    parts : sequence of lookalike.theory.mixture.Part
        Such as ``BBit(bits=1).parts(permutations)``.
    documents : float >= 0
        Size of the corpus that is searched in itself: the larger, the more rows.
    density : float in [0, 1]
        The largest of the sets' in the range of the permutation; 0 for hashes.

    Returns
    -------
    (int, int)
        Number of bands, and of rows in each.

    Raises
    ------
    ParameterError
        If a number is out of range, or bands of one slot do not reach the recall.

    References
    ----------
    The least ``cost`` among those for which ``candidate_probability`` reaches the recall.
    """
    t, wanted = fraction("threshold", threshold), within("recall", recall, 0.0, 1.0, above=True, below=True)
    at, by_chance = (_matching(r, parts, d, d) for r, d in ((t, density), (0.0, 0.0)))
    choices = []
    for rows in range(1, len(at) + 1):
        used = len(at) // rows * rows
        found, chance = (
            -np.expm1(np.cumsum(np.log1p(-np.minimum(p[:used].reshape(-1, rows).prod(1), 1.0 - 1e-16))))
            for p in (at, by_chance)
        )
        reaching = np.flatnonzero(found >= wanted)
        if len(reaching):
            bands = int(reaching[0]) + 1
            choices.append((float(cost(documents, bands, chance[bands - 1])), bands, rows))
        elif rows > 64:
            break
    if not choices:
        raise ParameterError(
            f"bands of {len(at)} stored slots do not reach a recall of {recall} at {threshold}: keep more slots or bits, or "
            "ask for less"
        )
    return min(choices)[1:]
