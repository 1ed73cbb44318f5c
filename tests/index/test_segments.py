import numpy as np
from raising import assert_raises

import lookalike as la
from lookalike.errors import IndexFormatError
from lookalike.files.arrays import ArrayFile, write_arrays

N = 10
CONTRADICTIONS = (
    *((f"{table}_rows-00", 3, row) for table in ("band", "id") for row in (N, N + 1, None)),
    *((f"{table}_keys-00", 1, 0) for table in ("band", "id")),
    *((f"{table}_starts-00", 0, 1 << 31) for table in ("band", "id")),
    *((f"{name}_offsets", place, value) for name in ("id", "text") for place, value in ((0, 1), (4, 1 << 31), (N, 5))),
)  # fmt: skip


def test_values_that_contradict_each_other_are_found_though_checksums_fit(tmp_path):
    """Rows of tables are rows of the segment, each once; keys ascend and are those of the ids; offsets ascend to the end."""
    with la.Index.create("x", threshold=0.7, keep_text=True) as index:
        for part in "de":
            index.add([f"{part}{i}" for i in range(N)], [f"{part} two three four five six seven w{i}" for i in range(N)])
    segment = tmp_path / "x/segment-00000000"
    whole = segment.read_bytes()
    for name, place, value in CONTRADICTIONS:
        segment.write_bytes(whole)
        file = ArrayFile(segment)
        file.hold()
        arrays = {name: np.array(file.map(name)) for name in file}
        arrays[name][place] = arrays[name][place - 1] if value is None else value
        write_arrays(segment, arrays, file.meta)
        with la.Index.open("x") as index:
            (said,) = index.check()
            assert "segment-00000000" in said and "are not those of a segment" in said
            assert_raises(IndexFormatError, "segment-00000000", index.compact)
