"""The sizes of a corpus, of the tables that a job makes of it, and what a core takes for each: before a row is read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import log, sqrt

import pyarrow as pa

from ..engines.local.engine import WORD
from ..errors import ParameterError
from ..settings.settings import Settings
from ..steps.containment import map_bits
from ..steps.pairs import packed_width
from ..steps.sketch import sketches_schema
from ..values.tables import DOCUMENTS, LINKS, PAIRS, SHARED_COUNTS

# Links for each pair that remains of them after the cut: between 0.4 and 1.9.
LINKS_PER_PAIR = 1.5
# Of shingles of words; and sampled ones that two candidates share, those of documents that share too few counted in: 11 to 30.
SHINGLE_BYTES, SHARED_PER_PAIR = 6.5, 15


@dataclass(frozen=True, slots=True, kw_only=True)
class Speeds:
    """Nanoseconds of processor time by ``benchmarks/speeds.py``: a busy 2.x GHz server core with AVX-512."""

    start: float = 0.55e9
    """Of a process, until it has loaded what a job needs."""
    read_byte: float = 1.8
    read_document: float = 80.0
    sketch_byte: float = 1.8
    """To shingle and sketch a text that was read, to sort its keys and to tell what became of it."""
    sketch_document: float = 2800.0
    pair: float = 350.0
    """To find a pair of candidates, and to compare it beyond what each of its texts costs."""
    compare_byte: float = 7.5
    write_byte: float = 9.5
    """To write a text that is compared to the disk, and to read it from there."""
    write_document: float = 1500.0
    write_pair: float = 750.0
    new_byte: float = 0.6
    """To be given memory by the system."""
    holder: float = 250.0
    """To find that a document holds a sampled shingle, and to sort it; and to count one that two documents share."""
    shared: float = 40.0


REFERENCE = {"parquet": Speeds(), "jsonl": Speeds(read_byte=3.2, read_document=900.0)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """Sizes of a corpus and of the tables that a job makes of it: bytes, but for counts of documents, pairs and links."""

    n: int
    text: int
    tables: int
    """What is stored of all documents."""
    nibbles: int
    """Codes that the cut compares."""
    compared: int
    content: int
    """What these documents are compared by."""
    pairs: int
    links: int
    """What is stored before the cut: pairs that meet in some band, those of unrelated documents too."""
    matched: int
    largest: int
    """Of components."""
    exact: bool
    """Whether texts are compared, not estimates."""
    holders: int = 0
    """With containment: shingles of which a document is noted to hold them; and how often two documents share one."""
    shared: int = 0

    @classmethod
    def of(cls, n: int, text: int, duplicates: float, family: float, settings: Settings) -> Corpus:
        """Return what comes of so many documents; the largest of k families is taken to be ln k times the mean.

        Families' sizes are exponential. As many candidates are below the threshold as above: a document meets none with
        the probability that it has no near-duplicate and, as likely once more, none that is almost one. Sampled shingles are
        held by the documents themselves, once more by those that are compared, and by chance: of exponential sizes, as many
        times more as the square root says (to a tenth; the integral of ``g (1 - exp(-z (1 - g)))``).
        """
        if settings.recall == 1:
            raise ParameterError(
                "the cost of recall 1 depends on which shingles documents share, and cannot be estimated: use a recall below 1"
            )
        method = settings.finder
        compared = n * (1 - (1 - duplicates) ** 2)
        content = compared * (text / n if method.exact else 4 * method.n_estimates) if n else 0.0
        families = max(1.0, compared / family)
        pairs = compared * (family - 1) / 2
        sampled = method.n_keys if method.meets == "samples" else 0
        unrelated = 0.0 if sampled else replace(settings.plan, documents=n).false_candidates or 0.0
        by_chance = sqrt(1 + 1.25 * text / SHINGLE_BYTES / (1 << map_bits(sampled * n))) - 1 if sampled else 0.0
        return cls(
            n=n, text=text, tables=n * stored_width(sketches_schema(DOCUMENTS, method)),
            nibbles=n * packed_width(method.n_codes), compared=int(compared), content=int(content),
            pairs=int(pairs), links=int((1 if sampled else LINKS_PER_PAIR) * pairs + unrelated), matched=int(n * duplicates),
            largest=int(min(content, content / families * max(1.0, log(families)))), exact=method.exact,
            holders=int(min(sampled * (n * (1 + by_chance) + compared), 2 * text / SHINGLE_BYTES)),
            shared=int(SHARED_PER_PAIR * pairs) if sampled else 0,
        )  # fmt: skip

    @property
    def link_width(self) -> int:
        """Bytes of a stored link."""
        return stored_width(SHARED_COUNTS if self.holders else LINKS)

    @property
    def linked(self) -> int:
        """Bytes of the stored links and pairs."""
        return self.links * self.link_width + self.pairs * stored_width(PAIRS)


def stored_width(schema: pa.Schema) -> int:
    """Return the bytes that a row takes as columns of a part: see ``engines.local.tables``."""
    return sum(_widths(schema))


def _widths(schema: pa.Schema) -> Iterator[int]:
    for field in schema:
        kind = field.type
        if pa.types.is_fixed_size_list(kind):
            yield WORD * kind.list_size + 1  # and whether it is missing
        elif pa.types.is_fixed_size_binary(kind):
            yield kind.byte_width
        else:
            yield max(1, kind.bit_width // 8)
