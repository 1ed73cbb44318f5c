"""Find near-duplicates, see why each document is removed, and decide again by another threshold.

>>> main()
kept: lobby menu
removed: shouted resembles lobby by 1.00
removed: annex resembles lobby by 0.88
kept at 0.95: lobby annex menu
"""

import lookalike as la

NOTICE = (
    "All visitors must register at the front desk before they enter the building, wear their badge at all times, "
    "and leave it with the guard when they go. Photographs may be taken in the hall only."
)
TEXTS = {
    "lobby": NOTICE,
    "shouted": NOTICE.upper().replace(",", " -"),
    "annex": NOTICE.replace("hall", "annex"),
    "menu": "Today we serve soup of the day, bread from our own oven, two kinds of pie, and coffee or tea with cake.",
}


def main() -> None:
    """Print the kept documents, and for each removed one the document that it resembles."""
    result = la.dedup(TEXTS, threshold=0.8)
    print("kept:", *result.clean(TEXTS))
    for row in result.removed.to_pylist():
        print(f"removed: {row['id']} resembles {row['duplicate_of']} by {row['resemblance']:.2f}")
    print("kept at 0.95:", *result.rethreshold(0.95).clean(TEXTS))


if __name__ == "__main__":
    main()
