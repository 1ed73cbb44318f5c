"""What is different between two results: documents that came or went, and those about which another decision was made."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import ParameterError, from_caller
from ..values.arrow import strings, to_arrow, to_numpy
from .result import Result
from .rows import collect

CHANGES = ("came", "went", "removed", "restored", "moved")
_TEXT = pa.large_string()


@from_caller
def changes(before: Result, now: Result) -> pa.Table:
    """Return what is different between two results, by the ids of documents.

    Parameters
    ----------
    before, now : Result
        Of one machine, or saved and loaded. Default ids (``file:row``) name the same documents only if the files are the same.

    Returns
    -------
    pyarrow.Table
        A row for each document that is different. ``id``; ``change``: "came" (it is in ``now`` only), "went" (in ``before``
        only), "removed" (it was kept), "restored" (it was removed, and is kept now), "moved" (it is removed for another
        document); ``kept_before`` and ``kept_now``, null where it is not; ``duplicate_of_before`` and ``duplicate_of_now``,
        null unless it is removed for a document. In the order of ``now``, then of ``before``. References have no rows.

    Raises
    ------
    ParameterError
        If one of them is no result: a saved one must be loaded.

    Examples
    --------
    >>> import lookalike as la
    >>> before = la.dedup({"a": "one text", "b": "other words", "c": "one text"})
    >>> now = la.dedup({"b": "other words", "c": "one text", "d": "something else"})
    >>> [(row["id"], row["change"]) for row in la.changes(before, now).to_pylist()]
    [('c', 'restored'), ('d', 'came'), ('a', 'went')]
    """
    for one in (before, now):
        if not isinstance(one, Result):
            raise ParameterError(f"changes compares two results; got {one!r:.60}: load a saved one with lookalike.Result.load")
    old, new = (_own(one) for one in (before, now))
    if old.schema != new.schema:
        texts = pa.schema([("id", _TEXT), ("kept", pa.bool_()), ("duplicate_of", _TEXT)])
        old, new = old.cast(texts), new.cast(texts)
    places = pc.index_in(new["id"], value_set=old["id"].combine_chunks()).combine_chunks()
    gone = np.setdiff1d(np.arange(len(old)), to_numpy(places.drop_null()))
    left = old.take(pa.concat_arrays([places.cast(pa.int64()), to_arrow(gone)]))
    right = new.take(pa.concat_arrays([to_arrow(np.arange(len(new))), pa.nulls(len(gone), pa.int64())]))
    was, stays = (to_numpy(side["kept"], 2).astype(np.int8) for side in (left, right))  # 2: it is not there
    named = [pc.fill_null(side["duplicate_of"].cast(_TEXT), "") for side in (left, right)]
    moved = (was == 0) & (stays == 0) & to_numpy(pc.not_equal(*named))
    which = np.select([was == 2, stays == 2, was > stays, was < stays, moved], np.arange(len(CHANGES)), len(CHANGES))
    found = pa.table({
        "id": pc.coalesce(right["id"], left["id"]),
        "change": strings([*CHANGES, None]).take(to_arrow(which)),
        "kept_before": left["kept"], "kept_now": right["kept"],
        "duplicate_of_before": left["duplicate_of"], "duplicate_of_now": right["duplicate_of"],
    })  # fmt: skip
    return found.filter(to_arrow(which < len(CHANGES)))


def _own(result: Result) -> pa.Table:
    """Return the decisions about the documents of a result that are no references."""
    first = result.summary.reference
    return collect(result.rows(["id", "kept", "duplicate_of"]).slice(first, first + len(result)))
