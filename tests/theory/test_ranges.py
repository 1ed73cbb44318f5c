import inspect
import re

import numpy as np
from raising import assert_raises

from lookalike import theory
from lookalike.errors import ParameterError

FORMULAS = ("banding", "bbit", "chance", "choose", "likelihood", "minhash", "mixture", "one_permutation", "set_distance", "shares", "simhash",
            "xor_bits")  # fmt: skip
INSIDE = {
    name: value
    for value, names in (
        (0.5, "threshold recall resemblance containment positive_weight share_left cosine share"),
        (2, "rows bits common distance differing empty chunks chosen combined"),
        (3, "bands matches larger_left"),
        (5, "points filled"),
        (0.2, "density density_left density_right"),
        (4, "size_left size_right levels bits_from larger_right both"),
        (0.1, "slot_variance standard_error resemblance_variance tail"),
        (10, "slots permutations total_size samples trials"),
        (1, "bits_to radius"),
        (2.0, "z base"),
        (8, "bins most"),
    )
    for name in names.split()
} | {
    "universe": 20,
    "stored": 0.3,
    "match_share": 0.8,
    "total_bits": 64,
    "index_bits": 64.0,
    "probability": 0.4,
    "confidence": 0.9,
    "union_size": 6,
    "square_copies": 9.0,
    "registers": 16,
    "rate": 20.0,
    "register_sums": 3.0,
    "own": [[[True]]],
    "crowded": [[False]],
    "plan_recall": 0.6,
    "chance": 0.25,
    "kind": "rotation",
}


def described(function):
    section = inspect.getdoc(function).partition("Parameters\n----------\n")[2].partition("\n\n")[0]
    for names, text in re.findall(r"^(\w[\w, ]*) : (.*)$", section, re.MULTILINE):
        for name in names.split(", "):
            yield name, text


def range_of(text):
    """(Values just outside, ends inside)."""
    if found := re.search(r"in ([\[(])(-?[\d.]+), (-?[\d.]+)([\])])", text):
        (low, high), left, right = map(float, found.group(2, 3)), found[1] == "[", found[4] == "]"
        return [low - 0.1 * left, high + 0.1 * right, -np.inf, np.inf, np.nan], [low] * left + [high] * right
    if found := re.search(r"(>=|>) (-?[\d.]+)", text):
        low, closed = float(found[2]), found[1] == ">="
        return [low - 0.01 * closed, -np.inf, np.nan], [low] * closed
    return [], []


def cases():
    """(Function, parameter, values outside of its range, ends of it)."""
    for module in (getattr(theory, room) for room in FORMULAS):
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if not name.startswith("_") and function.__module__ == module.__name__:
                yield from ((function, parameter, *range_of(text)) for parameter, text in described(function))


def call(function, **changed):
    wanted = inspect.signature(function).parameters
    given = {name: INSIDE[name] for name in wanted if name in INSIDE} | changed
    if function.__module__ == theory.choose.__name__:  # there they are what to choose from
        given = {name: value for name, value in given.items() if name not in ("bits", "combined")} | changed
    if function.__module__ in (theory.mixture.__name__, theory.likelihood.__name__):
        few = {name: given[name] for name in given if "density" in name or name in ("resemblance", "match_share")}
        part = theory.mixture.Part(slots=5)
        given = {"matches": [3], "parts": [part], "part": part} | few | changed
        given = {name: given[name] for name in given if name in wanted}
    found = function(**given)
    return list(found) if inspect.isgenerator(found) else found


def test_what_is_outside_a_stated_range_is_refused_and_its_ends_are_in_it():
    """An end is refused for another reason only: sets that there are not, an estimate without an error."""
    for function, parameter, outside, ends in cases():
        if outside:
            call(function)
        for value in outside:
            assert_raises(ParameterError, "", call, function, **{parameter: value})
        for value in ends:
            with np.errstate(all="ignore"):
                try:
                    call(function, **{parameter: int(value) if isinstance(INSIDE[parameter], int) else value})
                except ParameterError as error:
                    assert error.name != parameter or not error.reason.startswith("must be "), error


def test_what_no_sets_have_is_refused():
    for formula, *given in (
        (theory.bbit.match_probability, 0.9, 1, 0.1, 0.5), (theory.bbit.match_probability, 0.1, 1, 0.9, 0.9),
        (theory.bbit.match_probability, 0.5, 65), (theory.minhash.resemblance, 5, 3, 9), (theory.minhash.exact_interval, 3, 2),
        (theory.minhash.containment, 0.5 * (1 + 1e-6), 4, 8), (theory.minhash.containment, 1 / 3 * (1 + 1e-6), 1, 3),
        (theory.minhash.exact_interval, 1, 2, 1.0), (theory.minhash.variance, 2, 1), (theory.simhash.cosine_error, 65, 64),
        (theory.shares.share_error, -1, 5), (theory.shares.share_error, 6, 5), (theory.shares.share_error, 1, -1),
        (theory.one_permutation.occupancy, 9, 4, 8), (theory.one_permutation.expected_inverse_filled, 9, 4, 8),
        (theory.one_permutation.expected_empty, 9, 4, 8),
    ):  # fmt: skip
        assert_raises(ParameterError, "", formula, *given)
