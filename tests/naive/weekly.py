""" "Counts over weeks" in docs/definition.md."""

from naive.dedup import dedup, keep_order
from naive.groups import group_rules


def weekly(weeks, *, at_most=1, keep="first", within=None, key=None, **how):
    """``weeks`` are lists of dicts with id, text and source.

    Returns of each kept document (n_exact, n_duplicates, documents by source), and who stands for each document, by ids.
    """
    seen, counts, keepers = [], {}, {}
    for week in weeks:
        documents, first = [*seen, *week], len(seen)
        texts = [d["text"].encode() for d in documents]
        columns = {name: [d[name] for d in documents] for name in documents[0]}
        decisions = dedup(
            texts, references=first, keep=keep, columns=columns, within=within and columns[within],
            key=key and [(value,) for value in columns[key]], **how,
        )  # fmt: skip
        order = keep_order(texts, first, keep, columns)
        ruled, _ = group_rules(decisions, order, columns["source"], at_most=at_most)
        for d in (d for d in order if d >= first and ruled[d].keeper is not None):
            document, reason, keeper = documents[d], ruled[d].reason, documents[ruled[d].keeper]["id"]
            keepers[document["id"]] = keeper
            n_exact, n_duplicates, sources = counts.setdefault(keeper, (0, 0, set()))
            n_duplicates += reason in ("exact", "near", "key")
            if reason != "key":
                sources.add(document["source"])
            counts[keeper] = (n_exact + (reason == "exact"), n_duplicates, sources)
        stay = [documents[d] for d in range(first, len(documents)) if ruled[d].reason in ("kept", "spared")]
        for document in stay:
            counts.setdefault(document["id"], (0, 0, set()))
        seen += stay
    return counts, keepers
