"""Arrays of a segment that contradict each other."""

import numpy as np
import pytest

import lookalike as la
from lookalike.files.arrays import ArrayFile, write_arrays

N = 10


@pytest.mark.parametrize("table", ["band_rows-01", "id_rows-00"])
@pytest.mark.parametrize("row", [N, N + 1, 0])
def test_rows_of_tables_are_rows_of_the_segment_each_once(tmp_path, table, row):
    with la.Index.create(tmp_path / "x", threshold=0.7) as index:
        index.add([f"d{i}" for i in range(N)], [f"one two three four five six seven w{i}" for i in range(N)])
        assert index.check() == []
    segment = tmp_path / "x/segment-00000000"
    file = ArrayFile(segment)
    file.hold()
    arrays = {name: np.array(file.map(name)) for name in file}
    arrays[table][arrays[table].argmax()] = row
    write_arrays(segment, arrays, file.meta)
    with la.Index.open(tmp_path / "x", "read") as index:
        [said] = index.check()
    name, number = table.split("_rows-")
    assert f"of {name} table {int(number)} are not those of a segment" in said
