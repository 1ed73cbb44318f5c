from itertools import combinations


def resemblance(a, b):
    return len(a & b) / len(a | b) if a | b else 0.0


def all_pairs(sets, threshold):
    """{(left, right): resemblance}."""
    pairs = combinations([i for i, some in enumerate(sets) if some], 2)
    return {pair: score for pair in pairs if (score := resemblance(*(sets[i] for i in pair))) >= threshold}


def keep(n, pairs):
    """A document kept is its own keeper."""
    keeper = []
    for d in range(n):
        matches = [(-pairs[e, d], e) for e in range(d) if keeper[e] == e and (e, d) in pairs]
        keeper.append(min(matches)[1] if matches else d)
    return keeper
