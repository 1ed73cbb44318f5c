import tracemalloc

import numpy as np

import lookalike as la
from lookalike.errors import InputDataError, ParameterError


def test_damaged_frequencies_are_the_same_or_refused_and_take_little_memory(tmp_path, rng):
    path, load = tmp_path / "df.npz", la.sketches.DocumentFrequencies.load
    shingles = la.shingle([f"one two three four five six seven eight nine w{i}" for i in range(12)], width=1)
    wanted = la.sketches.DocumentFrequencies.collect(shingles)
    wanted.save(path)
    whole = path.read_bytes()
    for number, place in enumerate(rng.permutation(len(whole))[:175].tolist()):
        changed = bytes([whole[place] ^ 1 + place % 255]) + whole[place + 1 :]
        path.write_bytes(whole[:place] + (changed if number % 7 else b""))
        tracemalloc.start()
        try:
            found = load(path, la.Shingling(width=1))
            assert number % 7 and found.n_documents == wanted.n_documents and found.values.tolist() == wanted.values.tolist()
            assert found.counts.tolist() == wanted.counts.tolist()
        except (InputDataError, ParameterError) as error:  # also one of other parameters: features counted
            assert str(path) in str(error) or "counts features" in str(error)
        finally:
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        assert peak < 16 << 20
    la.sketches.DocumentFrequencies(np.empty(0, np.uint64), np.empty(0, np.int64), 3).save(path)
    assert load(path).n_documents == 3
