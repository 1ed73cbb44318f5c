"""Opening inputs: which splits files, folders, globs, pipes and standard input are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby
from operator import itemgetter
from pathlib import PurePath

from ..errors import InputDataError, MissingExtraError, ParameterError
from ..files.ahead import map_ahead
from ..files.inputs import SNIFFED, find_places
from ..files.names import (
    GivenPath,
    Patterns,
    Skipped,
    describe_skipped,
    left_out,
    list_suffixes,
    patterns_of,
    suffix_of,
    way_to_text,
)
from ..files.places import FoundFile
from ..files.signatures import LOOKED_AT, described, kind_of
from ..files.streams import UnlikeError, read_blocks, read_raw
from ..files.urls import Url
from .columnar import ColumnarFormat
from .database import Database, queried, refuse_unused
from .format import Format
from .registry import format_named, known_suffixes, names_by_suffix
from .split import Inputs, Split


class Files(tuple[str, ...]):
    """Names of files, folders and so on, which are never taken for texts."""


def open_sources(
    paths: Sequence[GivenPath], *, glob: str | Sequence[str] | None = None,
    exclude: str | Sequence[str] | None = None, format: str | None = None, delimiter: str | None = None,
    query: str | None = None, on_error: str | None = None,
) -> Inputs:  # fmt: skip
    """Open files, folders, globs, pipes and "-" (standard input) for reading; ``on_error="skip"``: but what cannot be."""
    skipped, passing = Skipped(), on_error == "skip"
    found = find_places(paths, glob, format, known_suffixes(), skipped, exclude, passing)
    splits: list[Split] = []
    for form, some in groupby(_with_formats(found, format, delimiter, skipped, passing), itemgetter(0)):
        places = [place for _, place in some]
        for together in [[place] for place in places] if passing and not form.rows_are_files else [places]:
            opened: list[Split] = []
            with skipped.passing(passing):
                opened = form.splits(together)
            for split in _matched(opened, patterns_of(glob, exclude), skipped) if places[0].table else opened:
                with skipped.passing(passing):
                    if isinstance(split.form, ColumnarFormat) and (passing or places[0].table):
                        split.form.schema(split)  # what is no such file, or not there, is known at once
                    splits.append(split)
    if query is not None:
        refuse_unused(query, splits)
        splits = queried(splits, query)
    if not splits:
        if "binary" in skipped.counts:
            raise InputDataError(f"no text was found: all files are binary, such as {skipped.names['binary'][0]}")
        if skipped.errors:
            raise InputDataError(f"no file can be read: {len(skipped.errors):,} left out; the first: {skipped.errors[0]}")
        if skipped.counts:
            way = way_to_text(skipped.suffixes) or "--format (format=) says what they hold, such as txt"
            hint = f"; {way}" if skipped.suffixes else ""
            raise InputDataError(f"no file is read; skipped: {describe_skipped(skipped.to_dict())}{hint}")
        raise ParameterError("no input: name files, folders, globs, or '-' for standard input")
    return Inputs(splits, skipped)


def _with_formats(
    places: Sequence[FoundFile], name: str | None, delimiter: str | None, skipped: Skipped, passing: bool
) -> Iterator[tuple[Format, FoundFile]]:
    known = names_by_suffix() if name is None else {}
    if delimiter is not None:
        from .csv import delimiter_of  # here, for few jobs name one

        delimiter_of(delimiter)  # what is no delimiter is refused, whatever the files are

    @cache
    def form_of(name: str) -> Format:
        form = format_named(name)
        return form if delimiter is None else form.delimited(delimiter)

    named = None if name is None else form_of(name)
    told: list[tuple[FoundFile, Format | None]] = []
    for place in places:
        suffix = suffix_of(place.path, known)
        form = named if suffix is None else form_of(known[suffix])
        if place.table and (named is None or ":" not in named.name):
            form = format_named(place.table)
        with skipped.passing(passing):
            told.append((place, _by_content(form, place)))
    lacking = {form: form.missing_extra for form in {form for _, form in told} if form is not None}
    sniffed = map_ahead(_is_one, ((isinstance(one[0].path, Url), one) for one in told))
    for (place, form), is_one in zip(told, sniffed, strict=True):
        if form is None and place.found:
            skipped.add("other_suffix", place.name)
        elif form is None:
            with skipped.passing(passing):
                raise _unknown(place)
        elif place.found and lacking[form]:
            skipped.add("no_extra", f"{place.name}: {lacking[form]}")
        elif lacking[form]:
            raise MissingExtraError(f"{place.name}: {form.package} is not installed: {lacking[form]}")
        elif not is_one:
            skipped.add("binary", place.name)
        else:
            yield form, place


def _by_content(form: Format | None, place: FoundFile) -> Format | None:
    """Return the format of a file that its first bytes tell, among databases; raise InputDataError if they tell another one.

    Where texts are read, or files are parsed, the first bytes are looked at when they are read.
    """
    if form is None or not form.kinds or form.rows_are_files or place.table or isinstance(place.path, Url):
        return form
    kind = kind_of(next(read_raw(place.path, LOOKED_AT), b""))
    if kind in (None, *form.kinds):
        return form
    if isinstance(form, Database) and kind in ("sqlite", "duckdb"):
        return format_named(kind)
    raise InputDataError(described(str(kind)), place.name)


def _is_one(found: tuple[FoundFile, Format | None]) -> bool:
    """Tell by its first bytes whether a text is of its format; one that is damaged may be, which its reader says."""
    place, form = found
    if form is None or not form.rows_are_files or form.parsed or not place.found:
        return True
    try:
        return form.sniff(next(read_blocks(place.path, SNIFFED), b""))
    except UnlikeError:
        return False
    except InputDataError:
        return True


def _matched(splits: list[Split], patterns: Patterns, skipped: Skipped) -> list[Split]:
    """Return the files of tables that patterns name; count the others."""
    found = []
    for split in splits:
        parts = split.relative.split("/")
        reason = left_out(parts, patterns, ()) if patterns.wanted else "excluded" if patterns.excludes(parts) else None
        if reason is None:
            found.append(split)
        else:
            skipped.add(reason, split.name)
    return found


def _unknown(place: FoundFile) -> InputDataError:
    """The error for a file of no known format, with how to get text out of it."""
    name = PurePath(place.path.name.lower())
    way = way_to_text(["".join(name.suffixes[-2:]), name.suffix])
    if way is not None:
        return InputDataError(way, place.name)
    return InputDataError(
        f"unrecognized suffix (known: {list_suffixes(known_suffixes())}); if it is text, pass --format txt (format='txt'), "
        "or another",
        place.name,
    )
