"""What pages say differently of deduplications, lists of pairs, and overlaps."""

from __future__ import annotations

_ANCHORED = "if these are right, so are most likely the others, which are at least as alike."

WORDS = {
    "dedup": {
        "least": f"The closest calls: {_ANCHORED} Red words are lost with the removed document; green words are in the "
        "kept one only.",
        "because": "removed, because of",
        "left": "kept",
        "right": "removed",
        "also": "also kept",
        "scored": "removed near-duplicates",
        "question": "Was it right to remove the document on the right? The share of yes is the precision of the "
        "removals. Documents judged no can be exported, as a list of documents to keep.",
        "head": "kept:",
        "member": "documents",
        "other": "removed",
        "groups": "The largest groups",
        "least_title": "The least alike removals",
        "lost": "longest loss",
        "export": "overrides.jsonl",
    },
    "pairs": {
        "least": f"The closest calls: {_ANCHORED} Red words are in the later document only, green words in the earlier one.",
        "because": "resembles",
        "left": "earlier",
        "right": "later",
        "also": "later",
        "scored": "pairs",
        "question": "Are the two documents duplicates? The share of yes is the precision of the list.",
        "head": "of",
        "member": "pairs",
        "other": "with",
        "groups": "Documents in most pairs",
        "least_title": "The least alike pairs",
        "lost": "only in the later document",
        "sides": "Rows: where the earlier document is; columns: where the later one is.",
        "export": "",
    },
    "overlap": {
        "least": f"The closest calls: {_ANCHORED} Red words are in the document only, green words in the reference only.",
        "because": "overlaps with",
        "left": "reference",
        "right": "document",
        "also": "document",
        "scored": "matches",
        "question": "Does the document contain the reference? The share of yes is the precision of the matches.",
        "head": "of",
        "member": "matches",
        "other": "with",
        "groups": "Documents in most matches",
        "least_title": "The least alike matches",
        "lost": "only in the document",
        "sides": "Rows: where the reference is; columns: where the document is.",
        "export": "",
    },
}
