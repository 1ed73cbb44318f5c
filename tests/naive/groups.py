"""What becomes of whole groups (docs/definition.md)."""


def group_rules(decisions, order, origins, *, at_most=1):
    """Returns the decisions, and of each kept document (n_exact, n_duplicates, n_sources)."""
    groups = {}
    for d in order:
        if decisions[d].keeper is not None:
            groups.setdefault(decisions[d].keeper, []).append(d)
    found, counts = list(decisions), {}
    for first, members in groups.items():
        keys = [d for d in members if decisions[d].reason == "key"]  # of these only the number counts
        members = [d for d in members if d not in keys]
        gone = [d for d in members if decisions[d].reason in ("exact", "near")]
        spared, removed = gone[: at_most - 1], gone[at_most - 1 :]
        seen = {origins[d] for d in members}
        counts[first] = sum(decisions[d].reason == "exact" for d in removed), len(removed) + len(keys), len(seen)
        for d in spared:
            found[d] = found[d]._replace(reason="spared", score=None)
    return found, counts
