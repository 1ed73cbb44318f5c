"""Some documents read again, by their positions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..errors import InputDataError
from ..formats.split import Batch, Columns
from ..values import Int64Array
from ..values.arrow import give_back
from ..values.tables import SOURCE_BITS
from .columns import column_keys, group_codes
from .reading import Reading

GIVEN_BACK = 32 << 20  # bytes of text, after which memory is given back


def _batches_with(
    splits: Sequence[Any], columns: Columns, positions: Int64Array
) -> Iterator[tuple[Any, Batch, Int64Array, Int64Array]]:
    """Yield (source, batch, the wanted rows in it, their positions); a source is read up to the last row that is wanted."""
    wanted = np.unique(positions)
    for number in np.unique(wanted >> SOURCE_BITS).tolist():
        source, first = splits[number], number << SOURCE_BITS
        some = wanted[wanted >> SOURCE_BITS == number] - first
        source.check_unchanged()
        row = done = n_bytes = 0
        for batch in source.batches(columns):
            n_bytes += batch.texts.n_bytes
            if n_bytes > GIVEN_BACK:  # what readers keep of what they have freed
                give_back()
                n_bytes = 0
            end = int(np.searchsorted(some, row + len(batch.texts)))
            if end > done:
                yield source, batch, some[done:end] - row, some[done:end] + first
            row, done = row + len(batch.texts), end
            del batch  # not held while the next is read
            if done == len(some):
                break
        if done < len(some):
            raise InputDataError(f"{source.name}: row {int(some[done]) + 1} was there at first, and is not now; run again")


def read_again(
    splits: Sequence[Any], reading: Reading, positions: Int64Array, most: int | None = None
) -> tuple[dict[int, bytes], dict[int, bytes]]:
    """Return the texts that are compared, and the groups (where there are any), of the documents at some positions."""
    texts, groups = {}, {}
    columns = Columns(reading.text, None, () if reading.within is None else (reading.within,), (), reading.encoding_errors)
    for source, batch, rows, found in _batches_with(splits, columns, positions):
        for row, position in zip(rows.tolist(), found.tolist(), strict=True):
            texts[position] = _text_of(batch, row, reading.html)[:most]
        if reading.within is not None:
            codes = group_codes(column_keys(source, batch, reading.within))[rows]
            groups.update({position: code.tobytes() for position, code in zip(found.tolist(), codes, strict=True)})
    return texts, groups


def _text_of(batch: Batch, row: int, html: bool) -> bytes:
    """Return the text of a row that is compared."""
    if not html:
        return batch.texts.row(row)
    from ..text.html import extract_texts  # here, for what is not needed to start

    return extract_texts(batch.texts.slice(row, row + 1)).row(0)
