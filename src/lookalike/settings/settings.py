"""The settings of a job over a corpus: its options, checked in one place, and what follows from them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self, TypeVar

from ..choices import Empty, Evidence, Keep
from ..engines.memory import skips_oversized
from ..errors import ParameterError
from ..files.workspace import unfinished_job
from ..inputs.ignored import read_ignored
from ..inputs.keep_order import KeepOrder, keep_text
from ..inputs.overrides import Overrides, read_overrides
from ..inputs.read import ReadOptions
from ..methods.method import Method
from ..methods.registry import MethodSettings, make_method
from ..planner import Plan, check_targets, plan
from ..text.ignored import Ignored
from ..text.shingle import Shingling
from ..theory.banding import candidate_probability, least_agreeing
from ..values.arrays import RANDOM, drawn_seed
from .option import check_values, entries, recorded, repeating, with_option_docs
from .options import DedupOptions, GroupOptions, PairOptions, RunOptions, SearchOptions


def shares_of(given: float | str | Sequence[float | str] | None) -> dict[str, float]:
    """Return which share of documents may be removed: of all ("") and of those with a value of a column, by its name."""
    shares = {}
    for one in given if isinstance(given, list | tuple) else [] if given is None else [given]:
        column, colon, share = str(one).rpartition(":")
        try:
            shares[column] = float(share)
        except ValueError:
            shares[column] = -1.0
        if not 0.0 <= shares[column] <= 1.0 or bool(colon) > bool(column):  # nor nan
            raise ParameterError(
                "must be a share between 0 and 1, such as 0.6, or lang:0.6 for each value of lang", "fail_if_removed", one
            )
    return shares


_DERIVED = {"shingling", "sketch", "bits", "sample"}  # of what sketches depend on


def available_threads() -> int:
    """Number of processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@with_option_docs
@dataclass(frozen=True, kw_only=True)
class Settings(SearchOptions, DedupOptions, GroupOptions):
    """All that a user can choose about a job; two parameters, ``threshold`` and ``recall``, are usually enough.

    Raises
    ------
    ParameterError
        If a parameter is out of its range.
    """

    def __post_init__(self) -> None:
        """Check every parameter before any work is done."""
        if isinstance(self.seed, str) and self.seed == RANDOM:
            object.__setattr__(self, "seed", self._drawn_seed())
        if self.keep is not None:
            object.__setattr__(self, "keep", keep_text(self.keep))
        check_values(self)
        for name in ("glob", "exclude", "key"):
            given = getattr(self, name)
            if isinstance(given, (list, tuple)):
                alone = len(given) == 1 and isinstance(given[0], str)
                object.__setattr__(self, name, given[0] if alone else tuple(given) or None)
        if self.keep is None:
            object.__setattr__(self, "keep", self.default_keep)
        _ = self.keep_order
        if not all(isinstance(name, str) and name for name in self.key_columns):
            raise ParameterError("must be the name of a column, or a list of names", "key", self.key)
        self._check_slices()
        check_targets(self.threshold, self.recall, certain=True)
        object.__setattr__(self, "threshold", float(self.threshold))
        object.__setattr__(self, "recall", float(self.recall))
        if not 0.0 <= self.floor <= 1.0 or (self.floor and self.measure != "containment"):
            raise ParameterError(
                f"--floor (floor), which is for measure containment, must be in [0, 1]; got {self.floor}", "floor", self.floor
            )
        object.__setattr__(self, "floor", float(self.floor))
        if self.method == "simhash" and not self.permutations is self.bands is self.rows is None:
            raise ParameterError("permutations, bands and rows are for minhash; simhash has radius")
        object.__setattr__(self, "overrides", read_overrides(self.overrides))
        if self.ignore is not None:
            reading = ReadOptions(text=self.text, encoding_errors=self.encoding_errors, pages=self.pages)
            object.__setattr__(self, "ignore", read_ignored(self.ignore, reading, self._shingling_of(None)))
        _ = self.finder, self.shingling

    def _check_slices(self) -> None:
        """Check the names of columns whose values are counted."""
        if self.slices is not None:
            given = (self.slices,) if isinstance(self.slices, str) else self.slices
            if not all(isinstance(name, str) and name for name in given):
                raise ParameterError("must be the name of a column, or several", "slices", self.slices)
            object.__setattr__(self, "slices", tuple(dict.fromkeys(given)) or None)

    def _drawn_seed(self) -> int:
        """Return the seed of the job to resume, or a new one."""
        job = None
        if isinstance(self.work, (str, os.PathLike)):
            job = unfinished_job(Path(self.work))
        held = ((job or {}).get("parameters") or {}).get("seed")
        return held if type(held) is int else drawn_seed()

    @cached_property
    def plan(self) -> Plan:
        """The planner's choice for these targets."""
        return plan(
            threshold=self.threshold, recall=self.recall, permutations=self.permutations, bands=self.bands, rows=self.rows,
            verify=self.verify,
        )  # fmt: skip

    def at(self, threshold: float) -> Settings:
        """Return the same settings at another threshold; the bands stay those that were searched.

        Parameters
        ----------
        threshold : float in (0, 1]

        Returns
        -------
        Settings
        """
        if self.method != "minhash" or self.measure != "resemblance" or self.recall == 1:
            return replace(self, threshold=threshold)
        slots = self.plan.permutations - self.plan.estimation_slots
        return replace(self, threshold=threshold, permutations=slots, bands=self.plan.bands, rows=self.plan.rows)

    @cached_property
    def shingling(self) -> Shingling:
        """What a shingle is, and which of them count."""
        return self._shingling_of(self.ignore)

    def _shingling_of(self, ignored: Ignored | None) -> Shingling:
        return Shingling(
            unit=self.unit, width=self.width, normalization=self.normalization, fold_case=self.fold_case,
            tokenizer=self.tokenizer, ignored=ignored,
        )  # fmt: skip

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
    def pages(self) -> str:
        """What of web pages is compared: "main" or "all" text; empty: texts are none."""
        return ("all" if self.boilerplate else "main") if self.html else ""

    @cached_property
    def keep_order(self) -> KeepOrder:
        """What keep order follows."""
        return KeepOrder.of(str(self.keep))

    @property
    def key_columns(self) -> tuple[str, ...]:
        """The columns of which equal values make documents one."""
        return () if self.key is None else (self.key,) if isinstance(self.key, str) else tuple(self.key)

    @property
    def carried(self) -> tuple[str, ...]:
        """The columns of the inputs that decisions have, too."""
        return tuple(dict.fromkeys([*([self.source] if self.source is not None else []), *(self.slices or ())]))

    @property
    def default_keep(self) -> str:
        """The keep policy where none is chosen: what contains others is mostly longer."""
        return "longest" if self.measure == "containment" and not self.either else "first"

    @property
    def either(self) -> bool:
        """Whether it does not matter which of two documents is in the other."""
        return False

    def without_runtime(self) -> Self:
        """Return the settings without what only the call needs; a result that keeps them does not keep that."""
        known = entries(type(self))
        given: dict[str, Any] = {name: None for name in ("against", "engine", "progress") if name in known}
        return replace(self, **given)

    def to_dict(self) -> dict[str, Any]:
        """Return what a result depends on, for provenance."""
        said = recorded(self) | {"shingling": self.shingling.to_dict()}
        if skips_oversized(self.on_error, self.max_document):
            said["max_document"] = self.max_document
        if self.slices is not None:
            said["slices"] = list(self.slices)
        if self.overrides is not None:
            said["overrides"] = self.overrides.to_dict()
        if self.method == "simhash":
            return said | {"method": "simhash", "radius": self.radius, "bits": 64}
        if self.recall == 1:
            return said | {"method": self.method, "sketch": "sizes"}
        if self.measure == "containment":
            return said | {"method": self.method, "max_bucket": self.max_bucket} | self.finder.plan_dict()
        if self.method != "minhash":
            names = ("method", "radius", "permutations", "bands", "rows", "max_bucket")
            return said | {name: getattr(self, name) for name in names}
        geometry = {name: getattr(self.plan, name) for name in ("permutations", "bands", "rows")}
        return said | {"method": self.method, "sketch": "FastSimilarity", **geometry, "max_bucket": self.max_bucket}

    def config(self) -> dict[str, Any]:
        """Return the settings that repeat the job, as files have them; None: in memory."""
        given = repeating(self) | {"threshold": self.threshold, "recall": self.recall, "seed": self.seed}
        if self.keep == self.default_keep:
            given.pop("keep", None)
        if self.permutations is not None:
            given["permutations"] = self.permutations
        if self.overrides is not None:
            given["overrides"] = self.overrides.name
        if self.ignore is not None:
            given["ignore"] = self.ignore.names or None
        return given

    def described(self) -> dict[str, Any]:
        """Return what provenance says of them: what a result depends on, and with what the job can be repeated."""
        given = self.config().items()
        config = {name: list(value) if isinstance(value, tuple) else getattr(value, "__name__", value) for name, value in given}
        return {"parameters": self.to_dict(), "config": config}

    def of_sketches(self) -> dict[str, Any]:
        """Return what sketches depend on, and what jobs that share some must agree on."""
        names = _DERIVED | {name for name, entry in entries(type(self)).items() if entry.option.sketched}
        return {name: value for name, value in self.to_dict().items() if name in names}


S = TypeVar("S", bound=Settings)


def settings_of(kind: type[S], other: Settings, **more: Any) -> S:
    """Return settings of some kind that say the same as others, but for some."""
    return kind(**{name: getattr(other, name) for name in entries(Settings)} | more)


@dataclass(frozen=True, kw_only=True)
class RunSettings(RunOptions, Settings):
    """The settings of a deduplication, and where what it finds goes."""

    def __post_init__(self) -> None:
        """Check these, too; columns with shares of their own are counted."""
        if self.history is None and (self.generation is not None or not self.history_texts):
            raise ParameterError("generation and history_texts are for --history (history=)")
        if self.history is not None and self.seed == RANDOM:
            raise ParameterError(
                "--history (history=) compares sketches of all jobs, which need the same seed: a number, not random"
            )
        super().__post_init__()
        slices = (*(self.slices or ()), *filter(None, shares_of(self.fail_if_removed)))
        object.__setattr__(self, "slices", tuple(dict.fromkeys(slices)) or None)


@with_option_docs
@dataclass(frozen=True, kw_only=True)
class PairSettings(PairOptions, Settings):
    """The settings of a list of pairs, which removes nothing."""

    keep: Keep | None = field(init=False, default="first")
    key: str | Sequence[str] | None = field(init=False, default=None)
    evidence: Evidence = field(init=False, default="keepers")
    empty: Empty = field(init=False, default="keep")
    overrides: Overrides | None = field(init=False, default=None)
    annotate: bool = field(init=False, default=False)
    work: str | os.PathLike[str] | None = field(init=False, default=None)
    order_by: str | None = field(init=False, default=None)
    engine: None = field(init=False, default=None)
    counts: bool = field(init=False, default=False)
    source: str | None = field(init=False, default=None)
    at_most: int | None = field(init=False, default=None)
    slices: Any = field(init=False, default=None)

    @property
    def either(self) -> bool:
        """Whether it does not matter which of two documents is in the other: pairs have no keep order."""
        return True

    def to_dict(self) -> dict[str, Any]:
        """Return what a list depends on, for provenance."""
        usual = {"keep": self.keep, "evidence": self.evidence, "empty": self.empty}
        return super().to_dict() | usual | {"max_pairs": self.max_pairs}


def count_columns(settings: Settings) -> tuple[str, ...]:
    """Return the names of the columns of counts that are written."""
    return ("n_exact", "n_duplicates", "n_sources") if settings.counts else ()


def added_columns(settings: Settings, references: bool, annotated: bool | None = None) -> tuple[str, ...]:
    """Return the names of the columns that writing adds, of which some are for jobs with references."""
    counts = count_columns(settings)
    if not (settings.annotate if annotated is None else annotated):
        return counts
    duplicate = ("duplicate_source", "duplicate_is_reference") if references else ()
    cluster = ("cluster_is_reference",) if references else ()
    return ("keep", "duplicate_of", *duplicate, *settings.finder.added, "cluster", *cluster, *counts)
