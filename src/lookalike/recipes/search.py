"""From inputs to candidate pairs: the first half of every job over a corpus."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engines.engine import Engine, Table
from ..errors import RowError
from ..formats.split import Split
from ..inputs.ids import Labels
from ..inputs.read import ReadOptions, check_left
from ..settings.settings import Settings
from ..steps.containment import chosen_keys, count_shared, probe_postings, rarest, sampled_keys, vouch_samples
from ..steps.containment import make_postings as hold_samples
from ..steps.containment import shingle_counts as sampled_counts
from ..steps.crowds import (
    CODE_HEADS,
    MARKS,
    VOUCHED,
    choose_rare_codes,
    code_counts,
    link_rare_codes,
    marks,
    pair_codes,
    prefix,
    prefix_links,
    prefixes_schema,
    shingle_counts,
)
from ..steps.exact import by_key, exact, follow_representatives, not_by_key, without_keys
from ..steps.override import Overriding
from ..steps.pairs import (
    HEADS,
    MEMBERS,
    NO_CROWDS,
    Nibbles,
    across,
    bucket,
    cut,
    each_once,
    near,
    nibbles_by_order,
    nibbles_schema,
    pack_codes,
    packed_width,
    same_texts,
)
from ..steps.sketch import sketch, sketches_schema
from ..steps.totals import LONGER, N_ROWS, REFERENCES, SHORT, SKIPPED, SKIPPED_REFERENCES, N
from ..steps.totals import documents as document_counts
from ..text.shingle import Shingling
from ..values.arrow import no_rows
from ..values.tables import (
    CODE_PAIRS,
    KEY,
    LEADERS_AND_KEYS,
    LINKS,
    PAIRS,
    PROBES,
    RARE_CODE_POSTINGS,
    REPRESENTATIVES,
    SAMPLE_POSTINGS,
    SHARED_COUNTS,
)
from ..wording import plural, spoken
from .checks import check_ids, check_kinds, check_overrides, named_row

FINGERPRINT_BITS = 64
LARGE = 4  # a bucket of more than this part of max_bucket is large where all pairs are wanted: see docs/theory/all-pairs.md


class CandidateOptions:
    """How documents are sketched and candidates found; those that overrides remove are not live.

    ``every_pair``: all matches among the pairs of all buckets, with copies of references apart; if the exact resemblance
    decides and no ``limit`` of links is set, also all others among the documents of large buckets, which meet by rare shingles.
    """

    def __init__(self, settings: Settings, every_pair: bool = False, limit: int | None = None) -> None:
        self.job, self.limit = settings, limit
        self.method, self.shingling = settings.finder, settings.shingling
        reaching = every_pair and limit is None and settings.verify == "exact" and self.method.score == "resemblance"
        self.reaching = settings.threshold if reaching and self.method.exact else None
        """All pairs of crowded documents that can have it; None: crowds have their own rule."""
        most = settings.max_bucket if self.reaching is None else max(1, settings.max_bucket // LARGE)
        bounded = self.reaching is not None or not every_pair or self.method.meets == "samples"
        self.max_bucket = most if bounded else None
        """Larger ones are crowds; None: none is."""
        self.least = settings.least
        self.apart = every_pair
        """Whether equal texts of references and of others form sets of their own."""
        self.firsts = not every_pair and settings.evidence != "all" and settings.across is None
        """Whether pairs that decide nothing, as an equal set of shingles came before the earlier one, may be left out."""


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """The documents of a job and their candidates."""

    documents: Table
    sketches: Table
    leaders: Table
    live: Table
    crowded: Table  # with the column recall where the method knows it
    pairs: Table
    totals: NDArray[Any]  # see ``steps.totals.documents``
    counts: NDArray[Any]  # crowded documents by code: see ``code_counts``
    n_links: int  # of two documents before the cut, where a limit was set; else 0

    @property
    def boundary(self) -> int:
        """The order of the first document that is no reference."""
        return int(self.totals[REFERENCES])


def short_texts(totals: NDArray[Any], shingling: Shingling) -> list[str]:
    """Return a warning where half of the texts, or more, are not longer than a shingle."""
    short, longer, width = int(totals[SHORT]), int(totals[LONGER]), shingling.width or 1
    if width == 1 or not short or short < longer:
        return []
    tokens = plural(
        width, {"char": "character"}.get(shingling.unit, shingling.unit) if shingling.tokenizer is None else "token"
    )
    said = (
        f"{short:,} of {short + longer:,} texts are no longer than a shingle of {tokens}, so they match only if equal. "
        "For titles, names or records, use --preset records (unit='char', width=3, threshold=0.6); otherwise, a smaller "
        "--width (width=) or another column: --text (text=)"
    )
    return [spoken(said)]


def count_rows(engine: Engine, rows: Table) -> int:
    """Return the number of rows."""
    return int(engine.aggregate(rows, N_ROWS)[0])


def search(
    engine: Engine, splits: Sequence[Split], reading: ReadOptions, settings: CandidateOptions, key: bytes,
    lap: Callable[[str], None], unread: tuple[Sequence[str], Sequence[str]],
) -> Candidates:  # fmt: skip
    """Sketch all documents and find the pairs that are to be compared; ``unread``: see ``JobContext``."""
    documents = engine.source(splits, reading)
    overrides, overriding = settings.job.overrides, None
    if overrides is not None:
        labels = None if reading.id is not None else Labels.of(splits, False, False)
        overriding = Overriding.of(overrides, key, reading.boundary, labels)
    sketching = partial(
        sketch, shingling=settings.shingling, method=settings.method, key=key, encoding_errors=settings.job.encoding_errors,
        overriding=overriding, most=min((split.limit.tokens for split in splits), default=1 << 60),
    )  # fmt: skip
    schema = sketches_schema(documents.schema, settings.method, overriding is not None)
    try:
        made = engine.materialize(engine.map(documents, sketching, schema), "sketches")
    except RowError as error:
        raise named_row(splits, error) from error.__cause__
    lap("reading and sketching")
    if reading.id is not None:
        check_ids(engine, made, splits, reading)
    check_kinds(engine, made, splits, reading)
    if overrides is not None:
        check_overrides(engine, made, splits, overrides, reading)
    sketches = engine.rank(made, settings.job.keep_order.by, reading.boundary)
    more = dict.fromkeys(("skipped", "whole"), reading.skip)
    more |= {"id_is_text": reading.id is not None, "override": overrides is not None}
    counted = ["position", "empty", "bytes", "short", *(name for name, there in more.items() if there)]
    totals = engine.aggregate(sketches.select(counted), document_counts(reading.boundary))
    boundary = int(totals[REFERENCES])
    n_references, n = reading.n_references, int(totals[N]) - boundary
    check_left(splits[:n_references], reading.columns(0), boundary, int(totals[SKIPPED_REFERENCES]), unread[0], reading.pages)
    check_left(splits[n_references:], reading.columns(n_references), n, int(totals[SKIPPED]), unread[1], reading.pages)
    of_keys = _of_keys(engine, sketches, boundary, settings.job.empty == "drop") if reading.key else None
    rest = sketches if of_keys is None else engine.join(sketches, of_keys, "order", "anti")
    if reading.across is None:
        lonely = ["empty"] if settings.shingling.ignored is None else []  # else their digests are zeros
        same = engine.group_by(rest.select(["digest", "order", *lonely]), "digest", "order")
        copies = engine.map(same, partial(exact, boundary=boundary, apart=settings.apart), REPRESENTATIVES)
    else:  # no document is a copy: see ``same_texts``
        copies = engine.rows(no_rows(REPRESENTATIVES))
    leaders = engine.materialize(copies, "leaders")
    if of_keys is not None:
        leaders = _with_keys(engine, leaders, of_keys, boundary)
    lap("exact duplicates")
    live = engine.join(sketches, leaders, "order", "anti")
    if settings.method.meets == "samples":
        n_keys = settings.method.n_keys * (int(totals[N]) - (0 if settings.job.either else boundary))
        found, crowded = _sampled(engine, live, documents, settings, n_keys, boundary)
        counts, n_links = np.zeros((0, 0), np.int32), 0
        pairs = _cut(engine, live, _with_same_texts(engine, live, found, settings), settings, boundary)
    else:
        nibbles = _nibbles(engine, live, settings, int(totals[N]))
        pairs, crowded, counts, n_links = _candidates(engine, live, documents, settings, key, boundary, nibbles)
    lap("candidates")
    return Candidates(documents, sketches, leaders, live, crowded, pairs, totals, counts, n_links)


def _of_keys(engine: Engine, sketches: Table, boundary: int, drop: bool) -> Table:
    """Return who represents each document that is removed by its key, as leaders."""
    without = engine.map(sketches.select(["order", "empty", KEY]), partial(without_keys, boundary=boundary, drop=drop), MEMBERS)
    having = engine.join(sketches, without, "order", "anti").select([KEY, "order"])
    same = engine.group_by(having, KEY, "order")
    return engine.materialize(engine.map(same, partial(by_key, boundary=boundary), REPRESENTATIVES), "leaders-of-keys")


def _with_keys(engine: Engine, leaders: Table, of_keys: Table, boundary: int) -> Table:
    """Add the documents that are removed by their keys to copies, each with the leader of who represents it."""
    schema = LEADERS_AND_KEYS
    followed = engine.map(
        engine.join(of_keys, leaders, "leader", "left"), partial(follow_representatives, boundary=boundary), schema
    )
    return engine.materialize(engine.union(engine.map(leaders, not_by_key, schema), followed), "leaders-and-keys")


def _nibbles(engine: Engine, live: Table, settings: CandidateOptions, n: int) -> Nibbles | None:
    """Return what cuts links while they are made, where there is room for it; without it they are cut at the end."""
    slots, least = settings.method.n_codes, settings.least
    if not slots or not least or settings.limit is not None or settings.reaching is not None:
        return None
    if not engine.has_room(n * packed_width(slots)):
        return None
    return engine.aggregate(live.select(["order", "code"]), nibbles_by_order(slots, n)).reshape(-1), slots, least


def _candidates(
    engine: Engine,
    live: Table,
    documents: Table,
    settings: CandidateOptions,
    key: bytes,
    boundary: int,
    nibbles: Nibbles | None,
) -> tuple[Table, Table, NDArray[Any], int]:
    """Return (pairs, crowded documents, counts of their codes, number of links if it is limited)."""
    method, reaching = settings.method, settings.reaching
    grouped = [name for name in ("within",) if name in live.schema.names]
    if method.meets == "prefixes":
        some = live.select(["order", "empty", *grouped])
        links = _prefixed(engine, some, documents, settings, key, boundary, settings.job.threshold)
        none = engine.rows(no_rows(MARKS))
        return _cut(engine, live, links, settings, boundary), none, np.zeros((0, 0), np.int32), 0
    met = engine.group_by(_links(engine, live, settings, boundary, grouped, nibbles), "left", "right", once=True)
    links = engine.materialize(met, "links")  # each once: bands repeat them
    codes = method.n_codes
    coded = ["order", *(["code"] if codes and reaching is None else []), *(grouped if reaching is not None else [])]
    crowds = settings.max_bucket is not None
    marked = engine.map(links, marks, MARKS) if crowds else engine.rows(no_rows(MARKS))
    crowded = engine.join(live.select(coded), marked, "order", "semi")
    counts = np.zeros((0, 0), np.int32)
    found: Table = links
    if crowds and (codes or reaching is not None) and count_rows(engine, crowded.select(["order"])):
        if reaching is not None:
            found = engine.union(links, _prefixed(engine, crowded, documents, settings, key, boundary, reaching))
        else:
            found, counts = _rare_code_pairs(engine, links, crowded, settings, boundary, nibbles)
    found = _with_same_texts(engine, live, found, settings)
    n_links = count_rows(engine, links) if settings.limit is not None else 0
    return _cut(engine, live, found, settings, boundary, nibbles, met=found is links), crowded, counts, n_links


def _cut(
    engine: Engine, live: Table, found: Table, settings: CandidateOptions, boundary: int, nibbles: Nibbles | None = None,
    met: bool = False,
) -> Table:  # fmt: skip
    """Return the pairs to compare: each link once, and only those that can match; ``nibbles`` have cut them, ``met``: once."""
    codes = settings.method.n_codes if nibbles is None else 0
    grouped, apart = ([name for name in (column,) if name in live.schema.names] for column in ("within", "across"))
    compared = ["order", *(["code"] if codes and settings.least else []), *grouped, *apart]
    both = found if met and engine.joins_keep_order else engine.group_by(found, "left", "right", once=True)
    if not engine.joins_keep_order:  # what is joined may be parted: each link comes once before that
        both = engine.map(both, each_once, LINKS)
    if len(compared) > 1:
        sides = live.select(compared)
        if "code" in compared:
            sides = engine.map(sides, partial(pack_codes, slots=codes), nibbles_schema(sides.schema, codes))
        both = engine.join(engine.join(both, sides, "left", "inner"), sides, "right", "inner")
    if apart:
        both = engine.map(both, across, both.schema)
    cutting = partial(cut, slots=codes, least=settings.least, boundary=boundary)
    return engine.materialize(engine.map(both, cutting, PAIRS), "pairs")


def _sampled(
    engine: Engine, live: Table, documents: Table, settings: CandidateOptions, n_keys: int, boundary: int
) -> tuple[Table, Table]:  # fmt: skip
    """Return the links of documents that share enough of a sample, and the recall of those where crowds lower it."""
    from ..methods.containment import ContainmentMethod  # here, for few jobs measure it

    method, grouped = settings.method, [name for name in ("within",) if name in live.schema.names]
    assert isinstance(method, ContainmentMethod)
    first = 0 if method.either else boundary  # references are looked into, but look for none
    bits = engine.aggregate(live.select(["order", "keys", *grouped]), sampled_keys(n_keys, first))
    texts = engine.join(live.select(["order", "empty", *grouped]), documents, "order", "inner")
    holding = partial(hold_samples, bits=bits, method=method, shingling=settings.shingling, first=first)
    assert settings.max_bucket is not None
    looking = partial(probe_postings, max_bucket=settings.max_bucket, boundary=boundary, both=method.either)
    held = engine.map(engine.group_by(engine.map(texts, holding, SAMPLE_POSTINGS), "key", "holder"), looking, PROBES)
    sharing_enough = partial(count_shared, needed=method.needed)
    links = engine.materialize(engine.map(engine.group_by(held, "looking", "held"), sharing_enough, SHARED_COUNTS), "links")
    if method.either:
        links = _with_rarest(engine, live.select(["order", "empty", *grouped]), documents, links, settings, boundary)
    return links.select(LINKS.names), engine.map(links, partial(vouch_samples, method=method), VOUCHED)


def _with_rarest(
    engine: Engine, some: Table, documents: Table, links: Table, settings: CandidateOptions, boundary: int
) -> Table:  # fmt: skip
    """Add the links of crowded documents: with all that have one of some shingles that few of them have."""
    from ..methods.containment import ContainmentMethod

    method = settings.method
    assert isinstance(method, ContainmentMethod) and settings.max_bucket is not None
    crowded = engine.join(some, engine.map(links, marks, MARKS), "order", "semi")
    if not count_rows(engine, crowded.select(["order"])):
        return links
    texts, shingling = engine.join(crowded, documents, "order", "inner"), settings.shingling
    counts = engine.aggregate(texts, sampled_counts(method, shingling))
    choosing = partial(rarest, counts=counts, method=method, shingling=shingling, max_bucket=settings.max_bucket)
    chosen = engine.materialize(engine.map(texts, choosing, SAMPLE_POSTINGS), "links-of-rarest")
    bits = engine.aggregate(chosen, chosen_keys(count_rows(engine, chosen)))
    holding = partial(hold_samples, bits=bits, method=method, shingling=shingling, first=NO_CROWDS)
    held = engine.map(engine.join(some, documents, "order", "inner"), holding, SAMPLE_POSTINGS)
    looking = partial(probe_postings, max_bucket=NO_CROWDS, boundary=boundary, both=True)
    found = engine.map(engine.group_by(engine.union(chosen, held), "key", "holder"), looking, PROBES)
    one = partial(count_shared, needed=np.array([0, 1]))
    return engine.union(links, engine.map(engine.group_by(found, "looking", "held"), one, SHARED_COUNTS))


def _with_same_texts(engine: Engine, live: Table, found: Table, settings: CandidateOptions) -> Table:
    """Add links of equal texts where an equal value of ``across`` keeps documents apart, so that none is a copy; lists of pairs
    have all pairs of a bucket, or of a sample, and so of equal texts."""
    if "across" not in live.schema.names or settings.apart:
        return found
    same = engine.group_by(live.select(["digest", "order", "empty", "across"]), "digest", "order")
    return engine.union(found, engine.map(same, same_texts, LINKS))


def _rare_code_pairs(
    engine: Engine, links: Table, crowded: Table, settings: CandidateOptions, boundary: int, nibbles: Nibbles | None
) -> tuple[Table, NDArray[Any]]:
    """Return links with those of crowded documents that share rare codes, and the counts of codes."""
    counts = engine.aggregate(crowded, code_counts(settings.method.n_codes))
    holders = engine.map(crowded, partial(choose_rare_codes, counts=counts), RARE_CODE_POSTINGS)
    found = engine.union(
        links,
        engine.map(
            engine.group_by(holders, "code", "order"), partial(link_rare_codes, boundary=boundary, nibbles=nibbles), LINKS
        ),
    )
    couples = engine.map(crowded, partial(pair_codes, counts=counts), CODE_PAIRS)
    twice = partial(bucket, max_bucket=settings.max_bucket, boundary=boundary, heads=CODE_HEADS, nibbles=nibbles)
    return engine.union(found, engine.map(engine.group_by(couples, "key", "order"), twice, LINKS)), counts


def _prefixed(
    engine: Engine, some: Table, documents: Table, settings: CandidateOptions, key: bytes, boundary: int, threshold: float
) -> Table:  # fmt: skip
    """Link all documents of ``some`` that can have this resemblance; columns order and, perhaps, empty and within."""
    texts = engine.join(some, documents, "order", "inner")
    counts = engine.aggregate(texts, shingle_counts(settings.shingling, key))
    schema = prefixes_schema(int(counts.sum()) / max(1, count_rows(engine, some.select(["order"]))), threshold)
    choosing = partial(prefix, counts=counts, shingling=settings.shingling, key=key, threshold=threshold, schema=schema)
    linking = partial(prefix_links, threshold=threshold, boundary=boundary, firsts=settings.firsts)
    return engine.map(engine.group_by(engine.map(texts, choosing, schema), "key", "order"), linking, LINKS)


def _links(
    engine: Engine, live: Table, settings: CandidateOptions, boundary: int, grouped: list[str], nibbles: Nibbles | None
) -> Table:
    """Link documents that meet."""
    if settings.method.meets == "all":
        rows = engine.group_by(live.select(["order", "keys", *grouped]), None, "order")
        nearby = partial(
            near, radius=settings.method.radius, bits=FINGERPRINT_BITS, max_bucket=settings.max_bucket, boundary=boundary,
            limit=settings.limit, threads=settings.job.n_threads,
        )  # fmt: skip
        return engine.map(rows, nearby, LINKS)
    rows = engine.group_by(live.select(["order", "keys"]), "keys", "order")
    linking = partial(
        bucket, max_bucket=settings.max_bucket, boundary=boundary, limit=settings.limit,
        heads=HEADS if settings.reaching is None else 0, nibbles=nibbles,
    )  # fmt: skip
    return engine.map(rows, linking, LINKS)
