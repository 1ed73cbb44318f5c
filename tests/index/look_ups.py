def answers(index, queries, **options):
    table = index.query(queries, top=None, **options)
    return sorted(zip(*(table[name].to_pylist() for name in ("query", "id", "estimated_resemblance")), strict=True))
