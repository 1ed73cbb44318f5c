from functools import partial

import pyarrow as pa
from formats.columnar_samples import hostile, made, twice


def file(table, **options):
    stream = pa.BufferOutputStream()
    with pa.ipc.new_file(stream, table.schema, **options) as writer:
        writer.write_table(table)
    return stream.getvalue().to_pybytes()


BEYOND = pa.Array.from_buffers(
    pa.string(), 3, [None, pa.py_buffer(b"\0\0\0\0\xff\xff\xff\x7f\2\0\0\0\3\0\0\0"), pa.py_buffer(b"abc")]
)
make, HOSTILE = partial(made, file), hostile(file, "not a readable Arrow file", names=twice(file))
HOSTILE["values outside"] = file(pa.table({"text": BEYOND})), "column 'text': damaged"
