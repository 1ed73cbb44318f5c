"""Sketches saved for later jobs: which settings must agree, and how a folder of them is written."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby, starmap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from .. import __version__
from ..engines.engine import Engine, Table
from ..errors import InputDataError, OutputError, ParameterError
from ..files.descriptions import encoded
from ..files.disk import SIDECAR, OutputFolder
from ..files.folder import Folder, UnfinishedFolder, folder_of, parquet_file
from ..files.job import differences
from ..files.names import show_path
from ..files.secrets import SECRET, read_secret, token_of, write_secret
from ..files.urls import AnyPath, is_inside
from ..formats.split import Columns, Split
from ..inputs.sketch_rows import DESCRIPTION, ROWS, TEXT, Saved, is_saved
from ..inputs.sketches import FORMAT, described_in, described_place, open_saved
from ..inputs.texts import PIECE_BYTES, TextReader
from ..settings.option import entries
from ..settings.settings import Settings
from ..steps.sketch import SAVED, kept_sketches, kept_sketches_schema
from ..steps.totals import TEXT_IDS, of_inputs, of_saved
from ..theory.banding import candidate_probability
from ..values import Int64Array
from ..values.arrow import to_numpy
from ..values.tables import SOURCE_BITS
from ..wording import band_counts
from .search import Candidates

if TYPE_CHECKING:
    import pyarrow.parquet as pq

GROUP_ROWS, GROUP_TEXTS = 1 << 13, 1 << 10
"""Rows of a row group, which is read whole if one of its texts is wanted."""
Files = list[dict[str, Any]]
_GEOMETRY = ("permutations", "bands", "rows")
_MERGED = ("secret", "settings", "text", "id")  # of descriptions, what must agree in folders that are merged


def sketching_of(settings: Settings) -> dict[str, Any]:
    """Return the settings that sketches depend on, and in which jobs that share some must agree, as JSON has them."""
    found: dict[str, Any] = json.loads(json.dumps(settings.of_sketches()))
    return found


def reconcile_with_saved(
    settings: Settings, references: Sequence[Split], plan_only: bool = False
) -> tuple[Settings, bytes | None]:
    """Return the settings of a job against saved sketches, and their secret (None: there are none).

    A plan that nobody chose gives way to that of the sketches, if this finds as much; ``plan_only``: nothing else is compared.
    """
    folders: list[Saved] = list({s.data.saved.folder: s.data.saved for s in references if is_saved(s)}.values())
    for one in folders:
        settings = _with_plan_of(settings, one)
        if plan_only:
            continue
        theirs = {name: value for name, value in one.settings.items() if name != "key" or name in entries(type(settings))}
        changed = differences(theirs, sketching_of(settings))
        if changed:
            raise ParameterError(
                f"{one.name} holds sketches that were made with other settings: {'; '.join(changed[:5])}: pass the old ones, "
                "or sketch again"
            )
        if settings.id is not None and one.id is None:
            raise ParameterError(f"{one.name} holds sketches of documents without ids: run without --id (id=), or sketch again")
        if one.token != folders[0].token:
            raise ParameterError(
                f"{one.name} and {folders[0].name} were saved by independent jobs, so copies between them cannot be "
                f"recognized: save the second by a job against the first"
            )
    return settings, secret_of(folders[0].folder, folders[0].token) if folders else None


def secret_of(folder: AnyPath, token: str) -> bytes:
    """Return the secret of a folder."""
    secret = read_secret(folder)
    if secret is None or token_of(secret) != token:
        raise InputDataError(
            "missing, damaged, unreadable, or of another job: sketches cannot be used without it", folder / SECRET
        )
    return secret


def _with_plan_of(settings: Settings, saved: Saved) -> Settings:
    """Return settings with the bands and rows of saved sketches, where none were chosen."""
    chosen = any(getattr(settings, name) is not None for name in _GEOMETRY)
    own, theirs = sketching_of(settings), saved.settings
    alike = all(own.get(name) == theirs.get(name) for name in ("method", "verify", "measure"))
    geometry: list[Any] = [theirs.get(name) for name in _GEOMETRY]
    if (
        chosen
        or "bands" not in own
        or settings.method != "minhash"
        or not alike
        or None in geometry
        or geometry == [own[n] for n in _GEOMETRY]
    ):
        return settings
    permutations, bands, rows = geometry
    planned = replace(settings, permutations=permutations - settings.plan.estimation_slots, bands=bands, rows=rows)
    recall = float(candidate_probability(settings.threshold, bands, rows))
    if recall < settings.recall:
        raise ParameterError(
            f"the sketches in {saved.name} have {band_counts(bands, rows)}, which find a pair at the "
            f"threshold {settings.threshold:g} with probability {recall:.4f}, less than recall {settings.recall:g}: ask for "
            "less (--recall (recall=)), raise the threshold, or sketch again"
        )
    return planned


def rests_on_files(splits: Sequence[Split]) -> bool:
    """Tell whether the texts of all inputs can be read again by a later job."""
    return all(split.places and not any(place.is_temporary for place in split.places) for split in splits)


def check_saving(
    folder: str | Path, force: bool, inputs: Sequence[Split], references: Sequence[Split], html: bool,
    also: Sequence[str | Path] = (),
) -> Folder:  # fmt: skip
    """Return where sketches go, if they may go there, and meet nothing ``also`` named."""
    places = [place for split in (*references, *inputs) for place in split.places]
    found = folder_of(folder).check(force, last=DESCRIPTION)
    for used in dict.fromkeys(split.data.saved.folder for split in references if is_saved(split)):
        if is_inside(used, found.path):
            raise OutputError(" is, or holds, the sketches that this job is run against: name another folder", folder)
    folder_of(folder).check_apart(places, also)
    if html and not rests_on_files(inputs):
        raise ParameterError(
            "sketches of web pages can be saved only if the pages are in files, from which later jobs extract the text again"
        )
    return found


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Saving:
    """What is saved of a job; ``key`` is its secret."""

    settings: Settings
    splits: Sequence[Split]  # references first
    n_references: int
    found: Candidates
    key: bytes
    provenance: dict[str, Any]
    shares: Table | None = None  # what a job counted: see ``DecisionTables.shares``
    with_texts: bool = False  # even if later jobs could read them again

    @property
    def on_files(self) -> bool:
        return rests_on_files(self.splits[self.n_references :])

    @property
    def texts(self) -> bool:
        """Whether texts are saved too."""
        return self.with_texts or not self.on_files

    def check(self, folder: str | Path, force: bool) -> Folder:
        """Return where sketches go, if they may go there: see ``check_saving``."""
        return check_saving(
            folder, force, self.splits[self.n_references :], self.splits[: self.n_references], self.settings.html
        )

    def rows(self, engine: Engine, kept: Table) -> Table:
        """Return the sketches of kept documents, given their orders."""
        names = [field.name for field in self.found.sketches.schema if field.name in SAVED]
        return engine.join(self.found.sketches.select(["order", *names]), kept, "order", "semi")

    def write(
        self, folder: Folder, force: bool, engine: Engine, rows: Table, write_files: Callable[[UnfinishedFolder], Files]
    ) -> None:
        """Write a folder, which counts when it is whole; ``write_files`` writes the rows, and says which files there are."""
        *counts, high, low = engine.aggregate(rows.select(["position", "digest"]), of_saved(len(self.splits))).tolist()
        with folder.publish([f"{ROWS}/", SECRET, SIDECAR], replace=force, last=DESCRIPTION) as new:
            files = write_files(new)
            counted = self._write_counts(new, engine, rows)
            write_secret(new.path, self.key)
            new.files.append(SECRET)
            described = self.provenance | {"files": sorted([*new.files, DESCRIPTION])}
            with new.file(SIDECAR) as stream:
                stream.write(json.dumps(described, indent=2).encode() + b"\n")
            said = {
                "lookalike": __version__, "format": FORMAT, "secret": token_of(self.key),
                "settings": sketching_of(self.settings), "text": self.settings.text, "id": self.settings.id,
                "text_ids": bool(self.found.totals[TEXT_IDS]), "files": files, "inputs": list(self._inputs(counts)),
                "digests": [high, low],
            } | ({} if counted is None else {"counts": counted})  # fmt: skip
            with new.file(DESCRIPTION) as stream:  # last: on a store, it says that all else is there
                stream.write(encoded(said))

    def _write_counts(self, new: UnfinishedFolder, engine: Engine, rows: Table) -> dict[str, Any] | None:
        """Write what the job counted, if it did; return what the description says of that."""
        if self.shares is None:
            return None
        from .counts import of_job, write  # here, for what few jobs need

        sizes = engine.aggregate(self.found.sketches.select(["position"]), of_inputs(len(self.splits)))[0]
        positions = np.sort(positions_of(rows))
        places = (np.cumsum(sizes) - sizes)[positions >> SOURCE_BITS] + (positions & (1 << SOURCE_BITS) - 1)
        counted = of_job(self.shares.batches(), self.splits[: self.n_references], self.found.boundary, places)
        return write(counted, new, self.settings.source)

    def _inputs(self, counts: Sequence[int]) -> Iterator[dict[str, Any]]:
        """Yield what is kept of each input that has documents which are kept."""
        for split, n in zip(self.splits, counts, strict=True):
            if n:
                files = [described_place(place) for place in split.places] if self.on_files else None
                yield {
                    "name": split.name, "rows": n, "format": split.format if self.on_files else None, "files": files,
                    "named": split.label(0) == f"{split.name}:0", "texts": self.texts,
                }  # fmt: skip


def write_rows(saving: Saving, rows: Table, new: UnfinishedFolder) -> Files:
    """Write rows, which come in the order of positions, to a file; return what it is."""
    name, n_rows = new.apart(ROWS, "00000.parquet"), 0
    batches = rows.batches()
    schema = rows.schema
    if saving.texts:
        batches = _with_texts(saving, rows)
        schema = schema.append(pa.field(TEXT, pa.large_binary()))
    with new.file(name) as stream, _rows_writer(stream, kept_sketches_schema(schema)) as writer:
        for batch in kept_sketches(batches):
            writer.write_batch(batch, GROUP_TEXTS if saving.texts else GROUP_ROWS)
            n_rows += len(batch)
    return [{"name": name, "rows": n_rows, "bytes": (new.path / name).stat().st_size}]


def positions_of(rows: Table) -> Int64Array:
    return np.concatenate([np.empty(0, np.int64), *(to_numpy(one.column(0)) for one in rows.select(["position"]).batches())])


def _rows_writer(stream: Any, schema: pa.Schema) -> pq.ParquetWriter:
    import pyarrow.parquet as pq  # here, for what is not needed to start

    return pq.ParquetWriter(
        stream, schema, compression="zstd", compression_level=1, use_dictionary=False, write_page_checksum=True
    )


def _with_texts(saving: Saving, rows: Table) -> Iterator[pa.RecordBatch]:
    """Add their texts to rows that come in the order of positions."""
    settings = saving.settings
    columns = Columns(settings.text, encoding_errors=settings.encoding_errors)
    positions = positions_of(rows)
    source, again, place = -1, None, 0
    for batch in rows.batches():
        sources, done = to_numpy(batch.column("position")) >> SOURCE_BITS, 0
        while done < len(batch):
            if sources[done] != source:
                source, place = int(sources[done]), 0
                wanted = positions[positions >> SOURCE_BITS == source] - (source << SOURCE_BITS)
                again = TextReader(saving.splits[source].pieces(PIECE_BYTES), columns, wanted)
            assert again is not None
            first, read = again.at(place)
            here = int(np.searchsorted(sources, source, side="right")) - done
            texts = read.texts.slice(place - first, min(place - first + here, len(read.texts)))
            some = batch.slice(done, len(texts))
            schema = some.schema.append(pa.field(TEXT, pa.large_binary()))
            yield pa.RecordBatch.from_arrays([*some.columns, texts.column()], schema=schema)
            done, place = done + len(texts), place + len(texts)


def merge(
    folders: Sequence[Path], new: OutputFolder, write_counts: Callable[[UnfinishedFolder], dict[str, Any] | None] | None = None
) -> None:
    """Write the sketches of several folders, in their order, to one that jobs are run against with the same result."""
    every = [described_in(folder) for folder in folders]
    said = [one.said for one in every]
    for folder in folders:
        open_saved(folder, None, texts=False)  # says what is wrong with its files
    for folder, one in zip(folders, said, strict=True):
        changed = [d for name in _MERGED for d in differences(said[0][name], one[name], name)]
        if changed:
            raise ParameterError(
                f"{show_path(folder)} cannot be merged with {show_path(folders[0])}, which was saved with other settings: "
                f"{'; '.join(changed[:5])}"
            )
    files = _merged_rows(
        [(folder / file.name, file.rows) for folder, one in zip(folders, every, strict=True) for file in one.typed.files], new
    )
    counted = None if write_counts is None else write_counts(new)
    write_secret(new.path, secret_of(folders[0], every[0].typed.secret))
    new.files.append(SECRET)
    inputs = [one for some in said for one in some["inputs"]]
    with new.file(SIDECAR) as stream:
        described = {"lookalike": __version__, "merged": [folder.name for folder in folders], "inputs": inputs}
        stream.write(json.dumps(described | {"files": sorted([*new.files, DESCRIPTION])}, indent=2).encode() + b"\n")
    told = {name: value for name, value in said[0].items() if name not in ("counts", "digests")} | {
        "lookalike": __version__,
        "text_ids": any(one["text_ids"] for one in said),
        "files": files,
        "inputs": inputs,
    }
    if counted is not None:
        told["counts"] = counted
    with new.file(DESCRIPTION) as stream:
        stream.write(encoded(told, own=all(one.own for one in every)))


def _merged_rows(given: Sequence[tuple[Path, int]], new: OutputFolder) -> Files:
    """Copy files of so many rows to as few as there are kinds of columns in a row; return what they are."""
    files: Files = []
    for number, (schema, some) in enumerate(groupby(starmap(_row_groups, given), lambda one: next(one).schema)):
        name, n_rows = new.apart(ROWS, f"{number:05}.parquet"), 0
        with new.file(name) as stream, _rows_writer(stream, schema) as writer:
            for table in chain.from_iterable(some):
                writer.write_table(table, GROUP_TEXTS if TEXT in schema.names else GROUP_ROWS)
                n_rows += len(table)
        files.append({"name": name, "rows": n_rows, "bytes": (new.path / name).stat().st_size})
    return files


def _row_groups(path: Path, n_rows: int) -> Iterator[pa.Table]:
    """Read a file of so many rows, a row group at a time; a table without rows comes first."""
    try:
        with parquet_file(path, checked=True) as file:
            yield file.schema_arrow.empty_table()
            for group in range(file.num_row_groups):
                table = file.read_row_group(group, use_threads=False)
                yield table
                n_rows -= len(table)
        if n_rows:
            raise ValueError("it has other rows than were written")
    except (OSError, ValueError, pa.ArrowException) as error:
        raise InputDataError(f"damaged: {error}; save the sketches again", path) from None
