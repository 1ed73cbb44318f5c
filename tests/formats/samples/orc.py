from functools import partial

import pyarrow as pa
from formats.columnar_samples import hostile, made
from pyarrow import orc


def file(table, **options):
    stream = pa.BufferOutputStream()
    with orc.ORCWriter(stream, **options) as writer:
        writer.write(table)
    return stream.getvalue().to_pybytes()


make, HOSTILE = partial(made, file), hostile(file, "not a readable ORC file")
