from functools import partial

import pyarrow as pa
import pyarrow.parquet as pq
from formats.columnar_samples import TEXT, hostile, made, twice


def file(table):
    stream = pa.BufferOutputStream()
    pq.write_table(table, stream)
    return stream.getvalue().to_pybytes()


WHOLE = file(pa.table({"text": TEXT}))
make, HOSTILE = partial(made, file), hostile(file, "not a readable parquet file", names=twice(file))
HOSTILE |= {
    "damaged": (WHOLE[:20] + b"\xff" * 20 + WHOLE[40:], "damaged parquet data"),
    "byte order mark": (b"\xef\xbb\xbf" + WHOLE, "not a readable parquet file|damaged parquet data"),
}
