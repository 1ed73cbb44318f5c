"""Every option of the jobs over a corpus, once: name, type, default, range, and what is said of it.

Nothing large is imported here: the command line reads these fields for its help.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Annotated, Any

from .. import choices
from .option import (
    LINE,
    PYTHON,
    READ,
    RUN,
    WRITE,
    Flag,
    Kind,
    MaybeWhole,
    MaybeWord,
    Names,
    Number,
    Option,
    Path,
    Paths,
    Seed,
    Shares,
    Size,
    Whole,
    Words,
)

MAX_BUCKET = 128
MOST_SEED = (1 << 64) - 1
OPENING = ("glob", "exclude", "format", "delimiter", "query", "on_error")
"""The options that say which files are opened, and as what."""
Tokenizer = Annotated[Callable[[str], Iterable[str]] | None, Kind("callable", Callable, "callable or None")]


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class InputOptions:
    """What all jobs over texts take."""

    text: Annotated[Names, Option(
        doc='Column or field that holds the text. "doc.text" is the field "text" inside "doc", if no column has the whole '
        "name; the same holds for ``id``, ``within``, ``across`` and the column of ``keep``. The texts of several columns, "
        'such as ``["title", "body"]``, are joined by a blank line; a row may lack some of them.',
        help="Column or field of the text, such as doc.text; if repeated, texts are joined by a blank line.  "
        "[default: text]", group=READ, metavar="COLUMN", repeated=True, recorded="always", place=LINE,
    )] = "text"  # fmt: skip
    id: Annotated[MaybeWord, Option(
        help="Column or field of a unique id.  [default: file:row]",
        doc="Column or field that holds a unique id, a str or an int; default ``file:row``, or in memory the row "
        "number or the key "
        'of a dict. Ids are unique among the inputs, and among the references; 1 and "1" are the same id. Data frames of Spark '
        "need it.",
        group=READ, place=LINE, recorded="always",
    )] = None  # fmt: skip
    glob: Annotated[Words, Option(
        doc='Read only files in a folder that match this pattern, such as "*.{md,txt}", or one of these.',
        group=READ, place=LINE, metavar="PATTERN", repeated=True,
    )] = None  # fmt: skip
    exclude: Annotated[Words, Option(
        doc='Leave out files, and all that is in folders, whose names match this pattern, such as "*.json" or "old/", '
        'or one of '
        "these; they are counted and named. It may name a part of the path, as ``glob`` does, or all of it.",
        group=READ, repeated=True,
    )] = None  # fmt: skip
    format: Annotated[MaybeWord, Option(
        doc='Format of the inputs, regardless of their suffix, such as "jsonl", or "delta:12"; needed for standard input.',
        group=READ, place=LINE,
    )] = None  # fmt: skip
    delimiter: Annotated[MaybeWord, Option(
        doc='Field separator of CSV and TSV, such as ";"; default: commas in CSV, tabs in TSV.',
        group=READ, recorded="given",
    )] = None  # fmt: skip
    query: Annotated[MaybeWord, Option(
        doc='SQL query for the rows of a database (SQLite, DuckDB): "select id, body as text from pages order by id". '
        "Default: the only table. Where the order is not settled by the query, it must be the same each time.",
        group=READ, recorded="given",
    )] = None  # fmt: skip
    encoding_errors: Annotated[choices.EncodingErrors, Option(
        doc='Treat invalid UTF-8 as an error, or ("replace") as a separator of words.',
        group=READ, recorded="always", sketched=True,
    )] = "strict"  # fmt: skip
    max_document: Annotated[Size, Option(
        doc='Size of the largest document: bytes, or "30MB", of its text and, in JSON lines and CSV, of its line or record. '
        "At most a tenth of ``memory``, which is the default, so that the memory limit holds for all inputs. A text "
        "of more words (or other units) than one for each 160 bytes of ``memory`` beyond the interpreter's is refused, too.",
        group=READ, metavar="SIZE",
    )] = None  # fmt: skip
    on_error: Annotated[choices.OnError | None, Option(
        doc="What to do with a file, row or document that cannot be read, or is larger than ``max_document``: stop with an "
        'error that names it ("stop"), or name it, count it, and leave it out of the comparison and of what is written '
        '("skip"), as is the rest of a damaged file. Default: stop, but leave out documents that no parser can '
        "read, such as a damaged PDF. Without ``max_document`` one that is too large for the memory always stops the job, or "
        "the result would depend on the memory.",
        help="Stop at, or skip, what cannot be read or is too large.  [default: stop, but leave out documents that "
        "cannot be parsed]",
        group=READ, recorded="given", place=LINE,
    )] = None  # fmt: skip
    threads: Annotated[MaybeWhole, Option(
        doc="Number of threads; default: all processors. The result does not depend on it.",
        group=RUN, place=LINE, least=1, repeats=False,
    )] = None  # fmt: skip
    memory: Annotated[Size, Option(
        doc='Memory limit for the whole process, such as "4GB" or a number of bytes; default: 60% of the free memory. '
        'What does not '
        "fit goes to a work folder; the result does not depend on it. On Spark what Python may use in a task, by "
        "default 1500 MB.",
        group=RUN, metavar="SIZE", repeats=False, place=LINE,
    )] = None  # fmt: skip
    progress: Annotated[Callable[[str, int], None] | bool | None, Option(
        doc="True: a line on a terminal, or in a notebook, that says what is being done, how much of it, how quickly, and how "
        "long it will take. A callable is called with the name of a stage and an amount done since the last call; if it has a "
        "method ``of``, that is called with the name of a stage, how far it is, its end, and a unit, such as \"bytes\".",
        range="bool or callable", repeats=False, place=PYTHON,
    )] = field(default=None, repr=False, compare=False)  # fmt: skip

    @property
    def opening(self) -> dict[str, Any]:
        """The options that say which files are opened, and as what, with their values."""
        return {name: getattr(self, name) for name in OPENING}


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class TextOptions(InputOptions):
    """What jobs take that compare shingles."""

    unit: Annotated[choices.Unit, Option(
        doc="What shingles are made of: ``width`` tokens of this kind in a row. See ``Shingling``, as for the next four.",
        place=LINE, sketched=True,
    )] = "word"  # fmt: skip
    width: Annotated[MaybeWhole, Option(
        doc="Tokens per shingle; default: 5 words, 5 characters, 8 bytes, 1 line.", place=LINE, sketched=True,
    )] = None  # fmt: skip
    normalization: Annotated[choices.Normalization, Option(
        doc="Unicode normal form of texts before they are compared.", sketched=True,
    )] = "NFC"  # fmt: skip
    fold_case: Annotated[Flag, Option(
        doc="Ignore letter case.", sketched=True,
    )] = True  # fmt: skip


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class SearchOptions(TextOptions):
    """What jobs take that look for near-duplicates."""

    threshold: Annotated[Number, Option(
        doc='Minimum resemblance (Jaccard similarity of shingle sets; with "simhash", cosine) or other ``measure`` of matches.',
        place=LINE, range="float in (0, 1]", spelled=("-t", "--threshold"), recorded="always",
    )] = 0.8  # fmt: skip
    measure: Annotated[choices.Measure, Option(
        doc="Measure that must reach the threshold. Containment is the share of a document's shingles that one before it in "
        "keep order has; for ``pairs``, of either.",
        help="Measure that must reach the threshold. Containment: share of a document's shingles that a kept one has.",
        place=LINE, recorded="given", sketched=True,
    )] = "resemblance"  # fmt: skip
    floor: Annotated[Number, Option(
        doc="With containment, the minimum resemblance of a match.", range="float in [0, 1]", recorded="given",
    )] = 0.0  # fmt: skip
    recall: Annotated[Number, Option(
        doc="Probability of finding a pair exactly at the threshold; pairs above it are found with higher probability. 1 finds "
        "every pair, by the rare shingles that two documents share: for resemblance, verified exactly. With "
        '``verify="sketch"`` about half of it remains; with "simhash", ``radius`` determines it instead.',
        help="Probability of finding a pair exactly at the threshold; 1 finds every pair.",
        place=LINE, range="float in (0, 1]", recorded="always",
    )] = 0.99  # fmt: skip
    against: Annotated[Any, Option(
        doc="Reference documents, like the data: first in keep order, never removed, never written. A path can be a folder "
        "that ``Result.save_sketches`` wrote, or a folder of such folders. These come first; only texts that are "
        "compared are read. Pairs of two reference documents are not listed.",
        help="Reference documents, never removed: documents that resemble them are. A folder can be one of saved sketches.",
        group=READ, range="like data", metavar="PATH", repeated=True, repeats=False, place=LINE,
    )] = field(default=None, repr=False, compare=False)  # fmt: skip
    trust: Annotated[Paths, Option(
        doc="Files, folders or URLs from which texts may be read if someone else saved the sketches, or another machine did.",
        group=READ, metavar="PATH", repeated=True, repeats=False,
    )] = field(default=(), repr=False, compare=False)  # fmt: skip
    within: Annotated[MaybeWord, Option(
        doc="Compare only documents with equal values in this column, regardless of type and file format: 1 equals 1.0, "
        'but neither true nor the string "1". Null equals null, and NaN counts as null. A cell of CSV that reads as a JSON '
        "number, true or false is that, and an empty one is null.",
        help="Compare only documents with the same value in COLUMN.", place=LINE, metavar="COLUMN", recorded="always",
        sketched=True,
    )] = None  # fmt: skip
    across: Annotated[MaybeWord, Option(
        doc="Compare only documents whose values in this column differ, as ``within`` compares values; equal texts with an "
        "equal value are not copies of each other, either. Null and NaN differ from every value, and from each other.",
        recorded="given", sketched=True,
    )] = None  # fmt: skip
    ignore: Annotated[Any, Option(
        doc="Texts, like the data, whose shingles do not count: a licence, a footer, a template. Resemblance is "
            "computed without them; a document with nothing left is empty. Exact duplicates are still those of equal "
            "whole texts.",
        range="like data", repeated=True,
    )] = None  # fmt: skip
    verify: Annotated[choices.Verify, Option(
        doc='How candidates are verified: by exact comparison, or ("sketch") by estimates.',
        offered=("exact", "sketch"), recorded="always", sketched=True,
    )] = "exact"  # fmt: skip
    html: Annotated[Flag, Option(
        doc="Treat texts as HTML and compare their main text, without tags, scripts and boilerplate.",
        group=READ, place=LINE, recorded="always", sketched=True,
    )] = False  # fmt: skip
    boilerplate: Annotated[Flag, Option(
        doc="Compare all text of web pages (``html``, and files such as .html), menus and other boilerplate included.",
        group=READ, recorded="given", sketched=True,
    )] = False  # fmt: skip
    tokenizer: Annotated[Tokenizer, Option(
        doc="Function from a text to its tokens, instead of ``unit``. On Spark it must pickle.", sketched=True, place=PYTHON,
    )] = None  # fmt: skip
    method: Annotated[choices.Method, Option(
        doc='"minhash" compares sets of shingles by their resemblance; "simhash" counts of features (shingles too) by their '
        "cosine, and only pairs whose 64-bit fingerprints differ in at most ``radius`` bits: precise, far from complete.",
        sketched=True,
    )] = "minhash"  # fmt: skip
    radius: Annotated[Whole, Option(
        doc='For "simhash": how many of the 64 bits can differ.', least=0, most=16, sketched=True,
    )] = 3  # fmt: skip
    permutations: Annotated[MaybeWhole, Option(
        doc="Slots per signature, instead of the planner's choice: see ``plan``.",
        sketched=True, repeats=False,
    )] = None  # fmt: skip
    bands: Annotated[MaybeWhole, Option(
        doc="Bands per signature; with ``rows``, instead of the plan.", sketched=True,
    )] = None  # fmt: skip
    rows: Annotated[MaybeWhole, Option(
        doc="Slots per band; with ``bands``, instead of the plan.", sketched=True,
    )] = None  # fmt: skip
    max_bucket: Annotated[Whole, Option(
        doc="Largest bucket in which all documents are compared with each other; a higher limit takes more time. A "
        "bucket of more "
        "is a crowd. Its documents are paired with the first documents of the bucket and with "
        "documents that share their rarest codes, or two less rare ones, not all with all; the summary counts them and states "
        "the recall. ``pairs`` has no crowds: all matches among documents of buckets a quarter as large are found there.",
        least=2,
    )] = MAX_BUCKET  # fmt: skip
    seed: Annotated[Seed, Option(
        doc='The only source of randomness. "random" draws an unpredictable one (it takes that '
        "of an unfinished job in ``work``); the provenance, and the settings here, have the number, with which the "
        "job can be repeated.",
        group=RUN, least=0, most=MOST_SEED, recorded="always", sketched=True,
    )] = 1  # fmt: skip


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class DedupOptions:
    """What deduplication takes beside what a search does."""

    keep: Annotated[choices.Keep | None, Kind("str, tuple, dict or list", str, "a str or None"), Option(
        doc="Near-duplicate to keep: first (default), last, longest (default for containment), shortest (in "
        "bytes of text), largest:COLUMN, "
        "smallest:COLUMN, COLUMN:VALUE,VALUE,... (listed values, in this order, before others), or several that break ties: "
        '"source:wiki,news; largest:quality; longest". Last ties go to the earlier row. Numbers of all types compare by value, '
        "times by instant, text by its UTF-8 bytes, and false is less than true; nulls and NaN come last. Values of different "
        "kinds have no largest or smallest, and are refused, as is a mix of times with and without a time zone. Type "
        'checkers know ``("largest", "quality")``, ``{"source": ["wiki", "news"]}`` and a list of these, which mean the same.',
        help="Document to keep: first, last, longest, shortest, largest:COLUMN, smallest:COLUMN, COLUMN:VALUE,VALUE; "
        "or several, to break ties: 'source:wiki,news; longest'.  [default: first; for containment, longest]",
        metavar="POLICY", recorded="always", place=LINE,
    )] = None  # fmt: skip
    key: Annotated[Words, Option(
        doc="Columns, such as a URL: documents with equal values in all of them are one, and all but the first in keep order "
        "are removed before texts are compared. Values compare like those of ``within``; a document with a null has no key.",
        place=LINE, metavar="COLUMN", repeated=True, recorded="given", sketched=True,
    )] = None  # fmt: skip
    evidence: Annotated[choices.Evidence, Option(
        doc="Which verified pairs the result has: those of a kept document and one removed that it matches, or all. With all, "
        "``rethreshold`` needs no open job, but all candidate pairs are compared, not only those with kept documents.",
        recorded="always",
    )] = "keepers"  # fmt: skip
    empty: Annotated[choices.Empty, Option(
        doc="Keep or drop documents without any token, or of which ``ignore`` leaves nothing. They match nothing.",
        recorded="always",
    )] = "keep"  # fmt: skip
    overrides: Annotated[Any, Option(
        doc="Documents to keep or to remove regardless of what the job finds, as a report exports them. JSON lines of "
            "``id``, ``action`` "
        '("keep" or "remove") and, without a column of ids, the ``sha256`` digest of their ``input``, or a list of dicts. '
        "A document removed by hand cannot justify other removals; one kept by hand removes no further documents. References "
        "cannot be overridden.",
        place=LINE, range="path or list of dict", metavar="FILE.jsonl",
    )] = None  # fmt: skip
    annotate: Annotated[Flag, Option(
        doc="Refuse an input, while it is read, that has a column of a name that ``write(annotate=True)`` would add.",
        help="Write every row, with keep, duplicate_of, resemblance, cluster added.", group=WRITE, repeats=False, place=LINE,
    )] = field(default=False, repr=False)  # fmt: skip
    work: Annotated[Path, Option(
        doc="A folder for a long job's state, with which the same call resumes it after a crash; emptied at the end. "
        "Default: a temporary "
        "one, made if the memory is too small. A cluster of Spark needs one on an object store, or on storage that the driver "
        "and all workers have mounted: about 500 bytes a document, the texts of those that are compared, and all texts of a "
        "data frame.",
        help="Folder for a long job's state. After a crash the same command resumes it; with --force it starts over.",
        group=RUN, metavar="DIR", repeats=False, place=LINE,
    )] = None  # fmt: skip
    order_by: Annotated[MaybeWord, Option(
        doc='For data frames of Spark, whose rows have no order of their own: the column that keep="first" and "last" go by, '
        "and that breaks the ties of other policies; then ids do. Default: ids alone, integers by value.",
        recorded="given", place=PYTHON,
    )] = None  # fmt: skip
    engine: Annotated[choices.Engine | None, Option(
        doc='Engine that runs the job; the result does not depend on it. Default: "local", this machine. "spark", a session of '
        "Spark, or a function that returns one, which is called once the inputs are known to be there: a cluster. Then the "
        "data can be data frames of Spark, which need no ``engine``, and the tables of the result are data frames.",
        help="Engine of the job: local (this machine), or spark (a cluster; needs the spark extra).  [default: local]",
        group=RUN, range="str or SparkSession", metavar="NAME", repeats=False, place=LINE,
    )] = field(default=None, repr=False, compare=False)  # fmt: skip


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class RunOptions:
    """What a deduplication takes that also writes, or adds to a history: nothing that it finds depends on it."""

    output: Annotated[Path, Option(
        doc="Write the kept rows there, or with ``annotate`` all rows, as ``Result.write`` does.",
        group=WRITE, repeats=False, place=PYTHON,
    )] = None  # fmt: skip
    force: Annotated[Flag, Option(
        doc="Replace an existing output; start the job of ``work`` again.", group=WRITE, repeats=False, place=PYTHON,
    )] = False  # fmt: skip
    history: Annotated[Path, Option(
        doc="Compare with all that earlier jobs kept in this folder, and add what is written. It becomes a generation, which "
        "appears together with ``output``; a call that is repeated adds nothing, nor does one without it. See ``History``.",
        group=WRITE, metavar="DIR", repeats=False, place=LINE,
    )] = None  # fmt: skip
    generation: Annotated[MaybeWord, Option(
        doc="For ``history``: name of what this job adds, after the last one in alphabetical order; default: the last one's "
        "number plus one.", group=WRITE, metavar="NAME", repeats=False,
    )] = None  # fmt: skip
    history_texts: Annotated[Flag, Option(
        doc="For ``history``: keep texts in its folder. Without them, later jobs read them from the inputs, which must stay "
        "where they are, unchanged.", group=WRITE, repeats=False,
    )] = True  # fmt: skip
    fail_if_removed: Annotated[Shares, Option(
        doc="Fail, and write no documents, if more than this share of all, or (lang:0.6) of those with any one value of a "
        "column, or an input as a whole, would be removed. The error is ``TooManyRemovedError``. Several can be given.",
        group=WRITE, metavar="[COLUMN:]SHARE", repeated=True, repeats=False, place=LINE,
    )] = None  # fmt: skip


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class PairOptions:
    """What a list of pairs takes beside what a search does."""

    max_pairs: Annotated[MaybeWhole, Option(
        doc="Compare, and list, at most this many pairs; with recall 1 all are compared, and the first are listed. The summary "
        "states whether the list was cut.", place=LINE, least=1,
    )] = None  # fmt: skip
    verify: Annotated[choices.Verify, Option(
        doc="How pairs are verified: by exact resemblance, by an estimate, or not at all: they are candidates then.",
        recorded="always", sketched=True,
    )] = "exact"  # fmt: skip


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class GroupOptions:
    """What deduplication takes about groups, and about the values of columns."""

    at_most: Annotated[MaybeWhole, Option(
        doc="How many documents of each group stay: the kept one and the next in keep order, whose reason is ``spared``; "
        "default: the kept one alone.", least=1, recorded="given",
    )] = None  # fmt: skip
    source: Annotated[MaybeWord, Option(
        doc="Column or field that says where a document comes from, for ``counts`` and the report; null is a "
        "source like others. Default: the input file.", recorded="given",
    )] = None  # fmt: skip
    counts: Annotated[Flag, Option(
        doc="Add to each kept row that is written ``n_duplicates`` (the documents removed for it), ``n_exact`` (its "
        "copies among "
        "these) and ``n_sources`` (the sources of it and of those removed by text); with ``annotate`` to all rows. "
        "What is counted is saved with sketches, for ``History.counts``.",
        group=WRITE, recorded="given",
    )] = False  # fmt: skip
    slices: Annotated[Words, Option(
        doc="Columns or fields, whose values divide the documents: what is removed is counted for each value, and a value is "
        "named that loses far more than others.",
        group=WRITE, repeated=True, recorded="given",
    )] = None  # fmt: skip
