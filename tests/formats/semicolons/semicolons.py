"""Semicolons between values: a row on each line; the first line names the columns."""

from lookalike.errors import InputDataError, OutputError
from lookalike.formats import Format, as_text


class Semicolons(Format):
    name = "ssv"
    suffixes = (".ssv", ".ssv.gz")
    untyped = True  # all values are text

    def rows(self, split, encoding_errors):
        names = None
        lines = (line for some in split.lines() for line in some)
        for number, line in enumerate(lines):
            try:
                text = line.decode("utf-8", encoding_errors)
            except UnicodeDecodeError as error:
                raise InputDataError(error, split.name, number) from None
            values = text.removeprefix("\ufeff").rstrip("\r\n").split(";")
            if names is None:
                names = values
            elif len(values) != len(names):
                raise InputDataError(f"{len(values)} values; columns: {', '.join(names)}", split.name, number)
            else:
                yield number, {name: value or None for name, value in zip(names, values, strict=True)}

    def write(self, stream, selections, provenance):
        names = None
        for selection in selections:
            for number, row in selection.records():
                if names is None:
                    names = list(row)
                    stream.write(";".join(names).encode() + b"\n")
                values = ["" if value is None else as_text(value) for value in row.values()]
                if list(row) != names or any(set(value) & set(";\r\n") for value in values):
                    raise OutputError(f"{selection.split.name}, row {number}: no form as .ssv; write .jsonl instead")
                stream.write(";".join(values).encode() + b"\n")


FORMAT = Semicolons()
