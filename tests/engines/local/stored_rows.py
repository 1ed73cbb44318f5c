import numpy as np
import pyarrow as pa
from cut_tables import cut_at

from lookalike.engines.local.engine import LocalEngine
from lookalike.engines.local.tables import Stored, arrays_of, streamed
from lookalike.engines.memory import Memory
from lookalike.files.workspace import Workspace


def stored(rows, schema, cuts=(), **more):
    """Ranked as they come; ``order`` is no column of the parts."""
    space, starts = Workspace(), [0]
    kept = pa.schema([field for field in schema if field.name != "order"])
    for part in cut_at(rows, cuts):
        space.append("rows", streamed([arrays_of(pa.RecordBatch.from_pylist(part, kept))]))
        starts.append(starts[-1] + len(part))
    return Stored(space, space.numbered_names("rows"), np.array(starts), schema, 1, ranked=True, **more)


def local_engine(folder=None, cap=1 << 30):
    """Where a folder is given, one that goes on with what that holds."""
    workspace = Workspace() if folder is None else Workspace(folder, {})
    return LocalEngine(threads=1, memory=Memory(cap), workspace=workspace, progress=lambda name, amount: None)
