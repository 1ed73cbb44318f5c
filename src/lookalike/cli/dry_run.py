"""What a deduplication would do, and take, said before it does anything; loaded for ``--dry-run`` only."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import click

from ..errors import ParameterError
from ..formats.split import Split
from ..inputs.sketch_rows import is_saved
from ..recipes.preparation import expected_of
from ..recipes.saved_sketches import agreed
from ..settings.settings import Settings
from .messages import say, say_all

_STEPS = (
    "read and sketch     in pieces, by all threads",
    "order               keep order, by the policy {keep}",
    "exact duplicates    documents of equal digests meet",
    "candidates          documents meet by {keys} keys",
    "crowds              documents in buckets of more than {most}",
    "cut                 pairs whose codes agree too seldom go",
    "verify              components of pairs are walked in keep order",
    "decisions           a row for each document",
)
_SAMPLED = (
    "samples             the texts are read again: who holds sampled shingles",
    "candidates          documents that hold {least} of {keys} sampled shingles",
    "crowds              shingles that more than {most} documents have",
)
_FORESEEN = ("threshold", "recall", "permutations", "bands", "rows", "verify", "keep", "memory", "measure", "floor")


def show(
    engine: str | None, splits: Sequence[Split], chosen: Mapping[str, Any], duplicates: float, family: float, as_json: bool,
) -> None:  # fmt: skip
    """Print the steps of a job in their order, and what they will take."""
    settings, _ = agreed(Settings(**chosen), splits)
    if settings.method != "minhash":
        raise ParameterError("--dry-run foresees --method minhash only")
    if engine not in (None, "local", "spark"):
        raise ParameterError(f"--dry-run foresees the engines local and spark; nothing is known of {engine}")
    n, size = expected_of(splits, settings.text)
    read = [split for split in splits if not is_saved(split)]  # of the others, few texts are
    columnar = sum(place.size for split in read if split.form.name == "parquet" for place in split.places)
    on_disk = sum(place.size for split in read for place in split.places)
    corpus: dict[str, Any] = {
        "documents": n, "bytes": size, "duplicates": duplicates, "family": family,
        "format": "parquet" if 2 * columnar >= on_disk else "jsonl",
    }  # fmt: skip
    if engine == "spark":
        from ..recipes.spark.foresight import foresee as foresee_cluster

        found: Any = foresee_cluster(on_disk=on_disk, settings=settings, **corpus)
        if as_json:
            click.echo(json.dumps(found.to_dict()))
        else:
            say_all(f"about {found}")
        return
    from ..recipes.foresight import foresee

    found = foresee(
        threads=settings.threads,
        work=settings.work is not None,
        **corpus,
        **{name: getattr(settings, name) for name in _FORESEEN},
    )
    method = settings.finder
    steps = (*_STEPS[:3], *_SAMPLED, *_STEPS[6:]) if method.meets == "samples" else _STEPS
    words = {
        "keep": settings.keep,
        "keys": method.n_keys,
        "most": settings.max_bucket,
        "least": method.plan_dict().get("least"),
    }
    said = [step.format(**words) for step in steps]
    if as_json:
        click.echo(json.dumps(found.to_dict() | {"steps": said}))
        return
    say("the steps:", *(f"  {step}" for step in said))
    say_all(f"about {found}")
    say(
        f"assumed: {duplicates:.0%} of documents have a near-duplicate (--duplicates), {family:g} resemble each other on "
        "average (--family); numbers of documents as the metadata and the beginnings of files suggest"
    )
