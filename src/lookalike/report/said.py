"""What pages say differently of deduplications, lists of pairs, and overlaps."""

from __future__ import annotations

_ANCHORED = "if these are right, the others, which are at least as similar, most likely are too."
_CAUTION = "Before you use this list:"
_DUPLICATES = {"yes": "Duplicate", "yes_key": "d", "no": "Not a duplicate"}

WORDS = {
    "dedup": {
        **_DUPLICATES,
        "caution": "Before you delete anything:",
        "least": f"The closest calls: {_ANCHORED} Red words are lost with the removed document; green words are in the "
        "kept one only.",
        "because": "was removed as a near-duplicate of",
        "left": "kept",
        "right": "removed",
        "also": "also kept",
        "scored": "removed near-duplicates",
        "question": "Is the removed document a duplicate of the kept one? The share judged “duplicate” is the precision of the "
        "removals. Documents judged “not a duplicate” can be exported as a list of documents to keep.",
        "head": "kept:",
        "member": "documents",
        "other": "removed",
        "groups": "The largest groups",
        "least_title": "The least similar removals",
        "lost": "longest loss",
        "export": "overrides.jsonl",
    },
    "pairs": {
        **_DUPLICATES,
        "caution": _CAUTION,
        "least": f"The closest calls: {_ANCHORED} Red words are in the later document only, green words in the earlier one.",
        "because": "resembles",
        "left": "earlier",
        "right": "later",
        "also": "later",
        "scored": "pairs",
        "question": "Are the two documents duplicates? The share judged “duplicate” is the precision of the list.",
        "head": "of",
        "member": "pairs",
        "other": "with",
        "groups": "Documents in most pairs",
        "least_title": "The least similar pairs",
        "lost": "only in the later document",
        "sides": "Rows: where the earlier document is; columns: where the later one is.",
        "export": "",
    },
    "overlap": {
        "yes": "Match",
        "yes_key": "m",
        "no": "Not a match",
        "caution": _CAUTION,
        "least": f"The closest calls: {_ANCHORED} Red words are in the document only, green words in the reference only.",
        "because": "overlaps with",
        "left": "reference",
        "right": "document",
        "also": "document",
        "scored": "matches",
        "question": "Does the document contain the reference? The share judged “match” is the precision of the matches.",
        "head": "of",
        "member": "matches",
        "other": "with",
        "groups": "Documents in most matches",
        "least_title": "The least similar matches",
        "lost": "only in the document",
        "sides": "Rows: where the reference is; columns: where the document is.",
        "export": "",
    },
}
