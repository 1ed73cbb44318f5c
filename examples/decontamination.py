"""Remove training documents that contain a test question, and show where it is.

>>> main()
page 0 has question 0: 'what is the capital of the old country of France'
page 2 has question 1: 'HOW MANY LEGS does a spider have, when it is fully grown'
kept: [1]
"""

import lookalike as la

QUESTIONS = [
    {"question": "What is the capital of the old country of France?", "answer": "Paris"},
    {"question": "How many legs does a spider have when it is fully grown?", "answer": "eight"},
]
PAGES = [
    {"text": "So he asked what is the capital of the old country of France, and they laughed: Paris."},
    {"text": "The mill by the river was built of oak and stone by three brothers from the next valley."},
    {"text": "Quiz night! HOW MANY LEGS does a spider have, when it is fully grown? Answers to the bar, please."},
]


def main() -> None:
    """Print each match, and the numbers of the pages without one."""
    found = la.decontaminate(PAGES, against=QUESTIONS, against_text=["question", "answer"])
    for match in found.matches.to_pylist():
        words = PAGES[match["id"]]["text"][match["begin"] : match["end"]]
        print(f"page {match['id']} has question {match['reference']}: {words!r}")
    print("kept:", [number for number, overlaps in enumerate(found.overlaps) if not overlaps])


if __name__ == "__main__":
    main()
