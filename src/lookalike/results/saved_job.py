"""A saved result together with its inputs: what it takes to show who was removed for whom, and their texts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..files.inputs import Place
from ..files.names import shown
from ..inputs.sketches import Trusted
from ..values import Int64Array
from ..values.arrow import to_numpy
from .choosing import rows_at
from .result import Result
from .saved_inputs import reading_of
from .saved_result import load_result


class SavedJob:
    """A saved result, and the texts of its documents.

    Parameters
    ----------
    folder : str or path
        Its name, for messages.
    result : Result
        As it was loaded.
    """

    def __init__(self, folder: str | Path, result: Result) -> None:
        self.folder = shown(folder)
        self.result = result

    @classmethod
    def open(cls, folder: str | Path, trust: Trusted = ()) -> SavedJob:
        """Load a result that ``Result.save`` or ``lookalike dedup --save`` wrote; its tables stay in their files."""
        return cls(folder, Result(**load_result(folder, held=False, trust=trust)))

    def texts(self, places: Sequence[int] | Int64Array, most: int | None = None) -> dict[int, bytes]:
        """Read the texts of some documents again, from the inputs of the job."""
        wanted = np.unique(np.asarray(places, np.int64))
        positions = to_numpy(rows_at(self.result._decisions.select(["position"]), wanted)["position"])
        texts = self.result._inputs.texts(positions, reading_of(self.result.settings), most)
        return {place: texts[position] for place, position in zip(wanted.tolist(), positions.tolist(), strict=True)}

    def places(self, source: int) -> list[Place]:
        """Return the files of an input, by its number; none if it was no file."""
        return self.result._inputs.places(source)
