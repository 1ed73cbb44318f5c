"""Files of frequencies, whatever byte of them changed and wherever they were cut: the same counts, or a clear error; nothing huge."""

import tracemalloc

import numpy as np

import lookalike as la
from lookalike.errors import InputDataError, ParameterError


def test_damaged_frequencies_are_the_same_or_refused_and_take_little_memory(tmp_path, rng):
    path = tmp_path / "df.npz"
    shingles = la.shingle([f"one two three four five six seven eight nine w{i}" for i in range(12)], width=1)
    la.sketches.DocumentFrequencies.collect(shingles).save(path)
    whole = path.read_bytes()

    def load():
        found = la.sketches.DocumentFrequencies.load(path, la.Shingling(width=1))
        return found.n_documents, found.values.tolist(), found.counts.tolist()

    expected = load()
    flips = [
        [place, bytes([whole[place] ^ 1 + place % 255]), place + 1] for place in rng.permutation(len(whole))[:150].tolist()
    ]
    for begin, middle, end in (*flips, *([place, b"", len(whole)] for place in rng.permutation(len(whole))[:25].tolist())):
        path.write_bytes(whole[:begin] + middle + whole[end:])
        tracemalloc.start()
        try:
            assert load() == expected and middle
        except (InputDataError, ParameterError) as error:  # also one of other parameters: features counted
            assert str(path) in str(error) or "counts features" in str(error)
        finally:
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        assert peak < 16 << 20
    la.sketches.DocumentFrequencies(np.empty(0, np.uint64), np.empty(0, np.int64), 3).save(path)
    assert la.sketches.DocumentFrequencies.load(path).n_documents == 3
