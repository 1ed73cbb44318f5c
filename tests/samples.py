from itertools import product

import pytest


def words(name, n):
    return " ".join(f"{name}{i}" for i in range(n))


def one_in(n, *axes):
    """The product of lists of cases: one in ``n`` runs each time, as in a Latin square, the others with what is slow.

    A case of several values is a tuple; what is for a cluster stays as it is.
    """
    found = []
    for chosen in product(*map(enumerate, axes)):
        params = [
            one if hasattr(one, "marks") else pytest.param(*(one if isinstance(one, tuple) else (one,))) for _, one in chosen
        ]
        marks = [mark for one in params for mark in one.marks]
        if sum(place for place, _ in chosen) % n and not any(mark.name == "spark" for mark in marks):
            marks.append(pytest.mark.slow)
        found.append(pytest.param(*(value for one in params for value in one.values), marks=marks))
    return found
