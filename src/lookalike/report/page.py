"""The page of a result: facts, samples and texts are gathered, cut to a size, and put into one HTML file."""

from __future__ import annotations

import json
import os
import pkgutil
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from .. import __version__
from ..choices import ReportTexts, check_choice
from ..errors import ParameterError, needed_for
from ..files.atomic import atomic_file
from ..files.disk import check_apart, check_output
from ..files.names import describe_reasons, describe_skipped, show_path
from ..formats.split import Split
from ..results.members import Numbers
from ..results.scored_pairs import ScoredPairs
from ..results.summary import describe_audit
from ..results.tables import Tables
from ..text.shingle import Shingling
from ..wording import called, plural
from .comparison import redactor_of
from .diff import visible
from .facts import gather, gather_pairs
from .inputs import SHOWN, DigestOf, SourceTexts, command_of, describe_inputs, digests_of
from .pair_sections import view_pairs
from .samples import MOST_NAME, Pair, Samples, compare_pairs, near_misses, samples_of, samples_of_pairs, short, texts_of_pairs
from .sections import Contents, flat, share, size, view

MOST_BYTES = 2_000_000
LEAST, AUDIT, GROUPS, NEAR = 20, 50, 10, 12  # pairs, and groups, of the sections that sample
PAIR_BYTES = (7_000, 3_000, 1_000, 200)  # of the texts of a pair; the next, where a page would be too large
LEAST_TIMES = 2  # as much for each of the least alike
NEAR_BELOW = 0.05


def write_report(
    result: Tables, output: str | Path, *, texts: ReportTexts = "full", force: bool = False, title: str | None = None,
    command: str | None = None,
) -> None:  # fmt: skip
    """Write a page that shows what was removed; parameters and errors are those of ``Result.report``."""
    originals = SourceTexts(result)
    path = _checked(output, result.sources, texts, force)
    told = _gather(result)
    identities, n_references = result.provenance["inputs"], result.inputs.n_references
    inputs = describe_inputs(identities[:SHOWN], originals.digest, n_references)
    again = command_of("dedup", result.settings.config(), identities, n_references) if command is None else command
    page = Page(
        job="dedup", title=title or f"lookalike: {told.removed:,} documents removed", score=result.summary.score,
        samples=told.samples, shown_in="2, 3, 4 and 6", seed=int(told.settings.seed), settings=told.settings.to_dict(),
        inputs=inputs, n_inputs=len(identities), command=again, shingling=result.settings.shingling,
        read={} if texts == "none" else originals.texts(told.samples.pairs()), view=view(told),
        sources=_digests(told, identities, inputs, originals.digest), missing=originals.missing,
    )  # fmt: skip
    _write(page, path, texts, force)


def write_scored(
    scored: ScoredPairs, output: str | Path, *, texts: ReportTexts = "full", force: bool = False, title: str | None = None,
    command: str | None = None,
) -> None:  # fmt: skip
    """Write a page of the pairs that ``pairs`` or ``decontaminate`` found; parameters and errors: see ``Result.report``."""
    path = _checked(output, scored.sources, texts, force)
    seed = int(scored.settings.get("seed", 1))
    facts = gather_pairs(scored, n_least=LEAST, n_audit=AUDIT, n_groups=GROUPS, seed=seed)
    samples = samples_of_pairs(scored, facts)
    inputs = describe_inputs([s.identity() for s in scored.sources[:SHOWN]], digests_of(scored.sources), scored.n_references)
    what = words_of(scored.job)["scored"]
    page = Page(
        job=scored.job, title=title or f"lookalike: {scored.total:,} {what}", score=scored.score, samples=samples,
        shown_in="2, 4 and 6", seed=seed, settings=scored.settings, inputs=inputs, n_inputs=len(scored.sources),
        command=command or _again(scored), shingling=scored.shingling,
        read={} if texts == "none" else texts_of_pairs(scored, samples), view=view_pairs(scored, facts, samples, what),
    )  # fmt: skip
    _write(page, path, texts, force)


@dataclass(frozen=True, kw_only=True)
class Page:
    """What the pages of jobs differ in."""

    job: str
    title: str
    score: str  # what scores are
    samples: Samples
    shown_in: str  # sections whose pairs are shown side by side
    seed: int
    settings: dict[str, Any]
    inputs: list[dict[str, Any]]  # those that are listed
    n_inputs: int
    command: str
    shingling: Shingling
    read: dict[int, bytes]  # texts by position; none if none are shown
    view: dict[str, Any]  # what else its template reads
    sources: dict[int, dict[str, Any]] = field(default_factory=dict)  # name and digest, for overrides
    missing: str = ""  # why texts or digests are


def _again(scored: ScoredPairs) -> str:
    """Return the command that repeats a job."""
    identities = [source.identity() for source in scored.sources]
    return command_of(scored.job, scored.config, identities, scored.n_references)


def _write(page: Page, path: Path, texts: str, force: bool) -> None:
    """Compare the pairs of a page, each within so many bytes that the page is small enough, and write it."""
    show = redactor_of(os.urandom(32)) if texts == "hash" else visible
    samples, words, made = page.samples, words_of(page.job), b""
    pairs = samples.pairs()
    context = page.view | {
        "job": page.job, "words": words, "score_name": page.score, "many": page.n_inputs > 1, "shown_in": page.shown_in,
        "samples": samples, "n_pairs": len(pairs), "seed": page.seed, "inputs": page.inputs, "n_inputs": page.n_inputs,
        "settings": [(name, short(value)) for name, value in flat(page.settings)], "command": page.command,
        "footer": _footer(texts, page.missing),
    }  # fmt: skip
    for most in PAIR_BYTES:
        if page.read:
            compare_pairs(samples.least, page.read, page.shingling, LEAST_TIMES * most, show)
            compare_pairs(pairs[len(samples.least) :], page.read, page.shingling, most, show)
        data = _data(samples, {"sources": page.sources, "words": words, "score": page.score})
        made = render(short(page.title), context, data)
        if len(made) <= MOST_BYTES:
            break
    with atomic_file(path, compress=False, replace=force) as stream:
        stream.write(made)


def _checked(output: str | Path, sources: Sequence[Split], texts: str, force: bool) -> Path:
    """Return the path to write to, if what is asked for can be written there."""
    check_choice("texts", texts, ReportTexts)
    return check_report(output, sources, force)


def check_report(output: str | Path, sources: Sequence[Split], force: bool) -> Path:
    """Return the path to write to, symbolic links followed, if a page can be made and written there."""
    check_installed()
    check_apart(output, [place for source in sources for place in source.places], single=True)
    path = check_output(output, force, single=True)
    if path.suffix not in ("", ".html", ".htm"):
        raise ParameterError(f"{show_path(output)}: the report is a web page: write {show_path(path.with_suffix('.html'))}")
    return path


def _gather(result: Tables) -> Contents:
    decisions, settings = result.rows(), result.settings
    near = None
    if result.near_misses is not None:
        lowest = round(max(0.01, result.threshold - NEAR_BELOW), 10)
        near = near_misses(
            result.near_misses, result.threshold, lowest, NEAR, lambda score: float(settings.finder.recall(score))
        )
    numbers = Numbers(decisions, settings.source)
    names = [short("null" if name is None else name) for name in numbers.names]
    names = names or [short(called(identity)) for identity in result.provenance["inputs"]]
    facts = gather(
        decisions, numbers, result.threshold, n_sources=len(names), n_least=LEAST, n_audit=AUDIT, n_groups=GROUPS,
        seed=int(settings.seed),
    )  # fmt: skip
    return Contents(settings, result.summary, facts, samples_of(decisions, numbers, facts, near), near, names)


def _digests(
    told: Contents, identities: list[dict[str, Any]], inputs: list[dict[str, Any]], digest: DigestOf
) -> dict[int, dict[str, Any]]:
    """Return name and digest of the sources that documents of the samples come from, for overrides."""
    found = {}
    for number in sorted({document.source for pair in told.samples.pairs() for document in (pair.left, pair.right)}):
        known = inputs[number]["digest"] if number < len(inputs) else digest(number)
        found[number] = {"name": short(identities[number]["name"]), "digest": known}
    return found


def _data(samples: Samples, more: dict[str, Any]) -> dict[str, Any]:
    """Return what the script of the page reads: each document and each pair once, and what else it is given."""
    documents: dict[int, int] = {}
    told: list[dict[str, Any]] = []
    pairs: list[dict[str, Any]] = []

    def place(pair: Pair, which: str) -> int:
        document = getattr(pair, which)
        if document.position not in documents:
            documents[document.position] = len(told)
            told.append(document.to_dict())
        return documents[document.position]

    grouped = [pair for some in samples.groups for pair in some]
    named = (("The least similar", samples.least), (more["words"]["groups"], grouped), ("Near misses, both kept", samples.near),
             ("The sample to judge", samples.audit))  # fmt: skip
    for section, some in named:
        for pair in some:
            pairs.append(
                {
                    "section": section,
                    "left": place(pair, "left"),
                    "right": place(pair, "right"),
                    "score": pair.score,
                    "kept": some is samples.near,
                    "audit": some is samples.audit,
                    "compared": None if pair.compared is None else pair.compared.to_dict(),
                }
            )
    return {"documents": told, "pairs": pairs} | more


def _footer(texts: str, missing: str) -> str:
    """Say what the page does not show."""
    what = {
        "full": "Texts are cut, and long stretches of equal words left out. Characters that cannot be seen are symbols.",
        "none": "This report has no texts.",
        "hash": "Words are replaced by hashes under a discarded key; equal words have equal hashes.",
    }[texts]
    why = f" Texts or digests are missing: {short(missing, 2 * MOST_NAME)}." if missing else ""
    return f"Made by lookalike {__version__}. {what}{why}"


SECTIONS = (
    ("verdict", "The verdict"), ("least", "The least similar"), ("scores", "How similar, and how much is found"),
    ("groups", "Groups"), ("beside", "Side by side"), ("audit", "Judge a sample"), ("sources", "By source"),
    ("lengths", "Lengths"), ("cost", "Time and memory"),
)  # fmt: skip
_ESCAPES = {c: f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


def _part(name: str) -> str:
    """Return a file of this package."""
    content = pkgutil.get_data(__package__, name)
    assert content is not None
    return content.decode()


@cache
def words_of(job: str) -> dict[str, str]:
    """Return the words in which the pages of jobs differ."""
    words: dict[str, str] = json.loads(_part("words.json"))[job]
    return words


@cache
def _templates() -> Any:
    """Return what gives the templates of pages by their names."""
    with needed_for("report"):
        import jinja2
    made = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        loader=jinja2.FunctionLoader(_part),
    )  # fmt: skip
    made.filters |= {
        "n": lambda value: value if isinstance(value, str) else f"{value:,}",
        "value": lambda value: short("null" if value is None else value),
        "share": share, "size": size, "counted": plural, "visible": visible, "reasons": describe_reasons,
        "skipped": describe_skipped, "audit": describe_audit,
    }  # fmt: skip
    return made


def as_json(value: Any) -> str:
    """Return JSON that can be in a script element, whatever its strings hold: none ends it, and none begins a comment."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return "".join(_ESCAPES.get(c, c) for c in text) if any(c in text for c in _ESCAPES) else text


def _hash(text: str) -> str:
    """Return what a policy allows an element of this content by."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def check_installed() -> None:
    """Raise MissingExtraError if what the page is made with is not installed."""
    _templates()


def render(title: str, context: dict[str, Any], data: dict[str, Any]) -> bytes:
    """Return a page."""
    template, words = _templates().get_template("dedup.html" if context["job"] == "dedup" else "pairs.html"), context["words"]
    from markupsafe import Markup

    style, script = _part("page.css"), _part("beside.js") + _part("page.js")
    digest = sha256(as_json(data).encode("utf-8", "replace")).hexdigest()  # under which a browser keeps judgements
    titles = {"least": words["least_title"], "groups": words["groups"]}
    made: str = template.render(
        title=title, version=__version__, sections=[(anchor, titles.get(anchor, name)) for anchor, name in SECTIONS],
        style=Markup(style), script=Markup(script), glossary=Markup(_part("glossary.html")),  # ours
        data=Markup(as_json(data | {"digest": digest})),  # escaped
        hashes={"style": Markup(_hash(style)), "script": Markup(_hash(script))}, **context,
    )  # fmt: skip
    return made.encode("utf-8", "replace")
