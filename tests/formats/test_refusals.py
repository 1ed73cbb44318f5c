import numpy as np
import pyarrow as pa
from formats.jobs import refused

import lookalike as la
from lookalike.errors import ParameterError

TEXT = "one two three four five six seven"


def test_what_is_refused_and_what_is_not(tmp_path):
    refused("a list of texts has no columns", la.dedup, [TEXT], id="id")
    refused("salvage is for reading", la.Index.open, tmp_path / "x", salvage=True, error=ParameterError)
    la.dedup([]).write(tmp_path / "no" / "x.txt" / "y")
    assert la.dedup(pa.chunked_array([pa.array([{"text": TEXT}, {"text": TEXT}])])).keep.tolist() == [True, False]


def test_pairs_as_a_table():
    assert la.search.Pairs([0], [1], 2).to_arrow().to_pydict() == {"left": [0], "right": [1]}
    both = la.search.Pairs(np.array([0]), np.array([1]), 2, np.array([0.5]), np.array([3]))
    assert both.to_arrow().to_pydict() == {"left": [0], "right": [1], "resemblance": [0.5], "distance": [3]}
