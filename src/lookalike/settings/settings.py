"""All parameters of a job over a corpus, checked in one place."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ParameterError
from ..files.workspace import unfinished_job
from ..inputs.overrides import read_overrides
from ..methods.method import Method
from ..methods.registry import MethodSettings, make_method
from ..planner import Plan, check_targets, plan
from ..text.shingle import Shingling, Tokenizer
from ..theory.agreement import least_agreeing
from ..theory.banding import candidate_probability
from ..values.arrays import MOST_SEED, RANDOM, drawn_seed, whole
from .limits import check_skipping

KEEP_POLICIES = ("first", "last", "longest", "shortest")
MAX_BUCKET = 128
_TYPES: tuple[tuple[Any, str, str], ...] = (
    (Real, "a number", "threshold recall"),
    (Integral, "an integer", "radius max_bucket"),
    (Integral, f'an integer or "{RANDOM}"', "seed"),
    (Integral, "an integer or None", "width permutations bands rows threads max_pairs"),
    (str, "a str", "method text keep verify evidence empty unit normalization encoding_errors on_error"),
    (str, "a str or None", "id within format delimiter"),
    ((str, list, tuple), "a str, a list of str or None", "glob"),
    ((bool, np.bool_), "True or False", "html fold_case resume annotate"),
    ((str, os.PathLike), "a path or None", "work"),
    ((str, os.PathLike, list, tuple), "a path or a list of paths", "trust"),
    ((str, Real), "a number of bytes, a size such as '4GB', or None", "memory max_document"),
    (Callable, "callable or None", "tokenizer"),
)


def available_threads() -> int:
    """Number of processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True, kw_only=True)
class Settings:
    """All that a user can choose about a job; two parameters, ``threshold`` and ``recall``, are usually enough.

    Parameters
    ----------
    method : {"minhash", "simhash"}, default "minhash"
        "minhash" compares sets of shingles by their resemblance; "simhash" counts of features (shingles too) by their
        cosine, and only pairs whose 64-bit fingerprints differ in at most ``radius`` bits: precise, far from complete.
    radius : int in [0, 16], default 3
        For "simhash".
    threshold : float in (0, 1], default 0.8
        Minimum resemblance (Jaccard similarity of shingle sets; with "simhash", cosine) of near-duplicates.
    recall : float in (0, 1), default 0.99
        Probability of finding a pair exactly at the threshold; pairs above it are found with higher probability. With
        ``verify="sketch"`` about half of it remains; with "simhash", ``radius`` determines it instead.
    html : bool, default False
        The texts are web pages: their main text is compared, without tags, scripts and boilerplate (extra ``html``).
    text : str, default "text"
        Column or field that holds the text. "doc.text" is the field "text" inside "doc", if no column has the whole name; so it
        is for ``id``, ``within`` and the column of ``keep``.
    id : str, optional
        Column or field that holds a str or int; default ``file:row``, or in memory the row number or the key of a dict. Ids are
        unique among the inputs, and among the references; 1 and "1" are the same id.
    keep : str, default "first"
        Which of several near-duplicates to keep: first, last, longest, shortest (in bytes of text), largest:COLUMN or
        smallest:COLUMN. Ties go to the earlier row. Numbers of all types compare by value, times by instant, text by its
        UTF-8 bytes, and false is less than true; nulls and NaN come last. Values of different kinds in one column are refused,
        and so are times with a time zone beside others without.
    within : str, optional
        Compare only documents with equal values in this column, whatever their types and file formats: 1 equals 1.0, but
        neither true nor the string "1". Null equals null, and NaN counts as null. A cell of CSV that reads as a JSON number,
        true or false is that, and an empty one is null.
    verify : {"exact", "sketch", "none"}, default "exact"
        Whether removals rest on exact resemblances or on estimates; "none" (unverified candidates) is for pairs only.
    evidence : {"keepers", "all"}, default "keepers"
        Which verified pairs a result of ``dedup`` has: those of a kept document and one removed that it matches, or all.
    empty : {"keep", "drop"}, default "keep"
        What to do with documents without any token. They never match.
    unit, width, normalization, fold_case, tokenizer
        What a shingle is: see ``lookalike.Shingling``.
    permutations, bands, rows : int, optional
        Override the planner's choice: see ``lookalike.plan``.
    seed : int in [0, 2^64) or "random", default 1
        The only source of randomness. "random" draws one that nobody can know beforehand (with ``resume``, it takes that of
        the job in ``work``); the provenance, and the settings here, have the number, with which the job can be repeated.
    threads : int >= 1, optional
        Default: all processors this process may use. The result does not depend on it.
    memory : int or str, optional
        Memory limit for the whole process: bytes, or "4GB", "512MiB". Default: 60% of the free memory. What does not fit
        goes to a work folder; the result does not depend on it.
    work : path, optional
        A folder for a long job's state, so that it can resume after a crash; emptied at the end. Default: a temporary one,
        made if the memory is too small.
    resume : bool, default False
        Resume the job in ``work``.
    encoding_errors : {"strict", "replace"}, default "strict"
        Whether invalid UTF-8 is an error, or separates words.
    glob : str or list of str, optional
        Read only files in a folder that match this pattern, or one of these.
    format : str, optional
        Overrides the suffix of a file.
    delimiter : str, optional
        What separates the fields of CSV and TSV, such as ";"; default: commas in CSV, tabs in TSV.
    max_bucket : int >= 2, default 128
        A bucket of more documents is a crowd. Its documents are paired with the first documents of the bucket and with
        documents that share their rarest codes, or two less rare ones, not all with all; the summary counts them and
        states the recall. ``pairs`` has no crowds: there, pairs of larger buckets that cannot match are left out.
    max_document : int or str, optional
        Size of the largest document: bytes, or "30MB", of its text and, in JSON lines and CSV, of its line or record. At most a
        tenth of ``memory``, which is the default, so that the memory limit holds whatever the inputs are.
    on_error : {"stop", "skip"}, default "stop"
        What to do with a larger document: stop with an error, or leave it out of the comparison and of what is written. "skip"
        needs ``max_document``, or the result would depend on the memory.
    overrides : path or list of dict, optional
        Documents to keep, or to remove, whatever the job finds: JSON lines of ``id``, ``action`` ("keep" or "remove") and,
        where ids are no column, the ``sha256`` digest of their ``input``. A report exports them. For ``dedup`` only.
    max_pairs : int >= 1, optional
        Compare, and list, at most this many pairs (for ``pairs`` only); the summary states whether the list was cut.
    trust : path or list of paths
        Files, folders or URLs. Saved sketches that somebody else made can name files in them, from which texts are read.

    Raises
    ------
    ParameterError
        If a parameter is out of its range.
    """

    method: str = "minhash"
    radius: int = 3
    threshold: float = 0.8
    recall: float = 0.99
    html: bool = False
    text: str = "text"
    id: str | None = None
    keep: str = "first"
    within: str | None = None
    verify: str = "exact"
    evidence: str = "keepers"
    empty: str = "keep"
    unit: str = "word"
    width: int | None = None
    normalization: str = "NFC"
    fold_case: bool = True
    tokenizer: Tokenizer | None = None
    permutations: int | None = None
    bands: int | None = None
    rows: int | None = None
    seed: int | str = 1
    threads: int | None = None
    memory: int | str | None = None
    work: str | os.PathLike[str] | None = None
    resume: bool = False
    encoding_errors: str = "strict"
    glob: str | Sequence[str] | None = None
    format: str | None = None
    delimiter: str | None = None
    max_bucket: int = MAX_BUCKET
    max_document: int | str | None = None
    on_error: str = "stop"
    overrides: Any = None
    max_pairs: int | None = None
    annotate: bool = field(default=False, repr=False)
    trust: Any = field(default=(), repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check every parameter before any work is done."""
        if isinstance(self.seed, str) and self.seed == RANDOM:
            object.__setattr__(self, "seed", self._drawn_seed())
        self._check_types()
        if isinstance(self.glob, (list, tuple)):
            object.__setattr__(self, "glob", self.glob[0] if len(self.glob) == 1 else tuple(self.glob) or None)
        policy, _, column = self.keep.partition(":")
        if not (self.keep in KEEP_POLICIES or (policy in ("largest", "smallest") and column)):
            raise ParameterError(
                f"keep must be one of {', '.join(KEEP_POLICIES)}, largest:COLUMN, smallest:COLUMN; got {self.keep!r}"
            )
        for name, allowed in (
            ("verify", ("exact", "sketch", "none")),
            ("evidence", ("keepers", "all")),
            ("empty", ("keep", "drop")),
            ("encoding_errors", ("strict", "replace")),
        ):
            if getattr(self, name) not in allowed:
                raise ParameterError(f"{name} must be one of {', '.join(allowed)}; got {getattr(self, name)!r}")
        for name, least, most in (
            ("threads", 1, None), ("max_bucket", 2, None), ("max_pairs", 1, None), ("radius", 0, 16), ("seed", 0, MOST_SEED),
        ):  # fmt: skip
            if getattr(self, name) is not None:
                object.__setattr__(self, name, whole(name, getattr(self, name), least, most))
        if self.resume and self.work is None:
            raise ParameterError("resume needs work, the folder of the job to resume")
        check_skipping(self.on_error, self.max_document)
        check_targets(self.threshold, self.recall)
        object.__setattr__(self, "threshold", float(self.threshold))
        object.__setattr__(self, "recall", float(self.recall))
        if self.method == "simhash" and not self.permutations is self.bands is self.rows is None:
            raise ParameterError("permutations, bands and rows are for minhash; simhash has radius")
        object.__setattr__(self, "overrides", read_overrides(self.overrides))
        _ = self.finder, self.shingling

    def _check_types(self) -> None:
        """Refuse a value of a wrong type; make a number of NumPy's one of Python's."""
        for kinds, what, names in _TYPES:
            for name in names.split():
                value = getattr(self, name)
                is_flag = isinstance(value, (bool, np.bool_))
                if not (value is None and "None" in what) and (not isinstance(value, kinds) or is_flag != ("True" in what)):
                    raise ParameterError(f"{name} must be {what}; got {value!r:.60}, of type {type(value).__name__}")
                if isinstance(value, np.generic):
                    object.__setattr__(self, name, value.item())

    def _drawn_seed(self) -> int:
        """Return the seed of the job to resume, or a new one."""
        job = None
        if self.resume is True and isinstance(self.work, (str, os.PathLike)):
            job = unfinished_job(Path(self.work))
        held = ((job or {}).get("parameters") or {}).get("seed")
        return held if type(held) is int else drawn_seed()

    @cached_property
    def plan(self) -> Plan:
        """The planner's choice for these targets."""
        return plan(
            threshold=self.threshold,
            recall=self.recall,
            permutations=self.permutations,
            bands=self.bands,
            rows=self.rows,
            verify=self.verify,
        )

    def at(self, threshold: float) -> Settings:
        """Return the same settings at another threshold; the bands stay those that were searched.

        Parameters
        ----------
        threshold : float in (0, 1]

        Returns
        -------
        Settings
        """
        if self.method != "minhash":
            return replace(self, threshold=threshold)
        slots = self.plan.permutations - self.plan.estimation_slots
        return replace(self, threshold=threshold, permutations=slots, bands=self.plan.bands, rows=self.plan.rows)

    @cached_property
    def shingling(self) -> Shingling:
        """What a shingle is."""
        return Shingling(
            unit=self.unit,
            width=self.width,
            normalization=self.normalization,
            fold_case=self.fold_case,
            tokenizer=self.tokenizer,
        )

    @cached_property
    def finder(self) -> Method:
        """How candidates are found and scored."""
        names = [field.name for field in fields(MethodSettings)]
        return make_method(self.method, MethodSettings(**{name: getattr(self, name) for name in names}))

    @property
    def least(self) -> int:
        """In how many codes a pair must agree to be compared; 0: candidates are not cut."""
        method = self.finder
        if not method.n_codes or self.verify == "none":
            return 0
        bands, rows = method.n_keys, method.n_codes // method.n_keys
        planned = None if self.bands is not None else float(candidate_probability(self.threshold, bands, rows))
        return least_agreeing(bands, rows, self.threshold, self.recall, planned)

    @property
    def n_threads(self) -> int:
        """Threads to use."""
        return self.threads or available_threads()

    @property
    def keep_column(self) -> str | None:
        """The column that the keep policy orders by, if it does."""
        return self.keep.partition(":")[2] or None

    def to_dict(self) -> dict[str, Any]:
        """Return what a result depends on, for provenance."""
        return {
            "threshold": self.threshold,
            "recall": self.recall,
            "keep": self.keep,
            "within": self.within,
            "verify": self.verify,
            "evidence": self.evidence,
            "empty": self.empty,
            "html": self.html,
            "text": self.text,
            "id": self.id,
            "encoding_errors": self.encoding_errors,
            "shingling": self.shingling.to_dict(),
            "seed": self.seed,
            **({"on_error": "skip", "max_document": self.max_document} if self.on_error == "skip" else {}),
            **({} if self.delimiter is None else {"delimiter": self.delimiter}),
            **({} if self.overrides is None else {"overrides": self.overrides.to_dict()}),
        } | (
            {"method": "simhash", "radius": self.radius, "bits": 64}
            if self.method == "simhash"
            else {
                "method": self.method,
                "sketch": "FastSimilarity",
                "permutations": self.plan.permutations,
                "bands": self.plan.bands,
                "rows": self.plan.rows,
                "max_bucket": self.max_bucket,
            }
            if self.method == "minhash"
            else {name: getattr(self, name) for name in ("method", "radius", "permutations", "bands", "rows", "max_bucket")}
        )


def settings_of(arguments: Mapping[str, Any]) -> Settings:
    """Return the settings among the arguments of a job; what a job has no argument for keeps its default."""
    names = [field.name for field in fields(Settings)]
    return Settings(**{name: arguments[name] for name in names if name in arguments})


def added_columns(settings: Settings, references: bool) -> tuple[str, ...]:
    """Return the names of the columns that annotation adds, of which some are for jobs with references."""
    duplicate = ("duplicate_source", "duplicate_is_reference") if references else ()
    cluster = ("cluster_is_reference",) if references else ()
    return ("keep", "duplicate_of", *duplicate, *settings.finder.added, "cluster", *cluster)
