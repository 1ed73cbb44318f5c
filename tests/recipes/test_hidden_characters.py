"""Characters that show nothing make no difference."""

import unicodedata
from itertools import product

import lookalike as la

FORMAT = [
    chr(p) for p in range(0x110000) if unicodedata.category(chr(p)) == "Cf" and unicodedata.ucd_3_2_0.category(chr(p)) == "Cf"
]
HIDDEN = [
    *"\u00ad\u034f\u061c\u180b\u200c\u200d\u200e\u2060\u202e\u2069\ufe0f\ufeff",
    "\U000e0041",
    "\U000e0101",
    "\u2060\ufe00\u200d",
]
PLAIN = "Die Rechtsschutzversicherungsgesellschaft übernahm die Kosten der Donaudampfschifffahrt ohne weiteren Widerspruch"
PERSIAN = "نمی‌خواهم کتاب‌های دوستم را به آن‌ها بدهم چون می‌ترسم خراب شوند"


def marked(text, hidden):
    return hidden + " ".join(word[:3] + hidden + word[3:] for word in text.split()) + hidden


def sets(text, **how):
    return set(la.shingle([text], **how).values.tolist())


def test_each_makes_no_difference():
    for unit, form in product(["word", "char", "line"], ["none", "NFC", "NFKC"]):
        how = {"unit": unit, "normalization": form, "width": 1 if unit == "line" else 3}
        for hidden in {*FORMAT, *HIDDEN} - {"\u200b"}:
            for text in (PLAIN, "e\u0301 日本 한국어 हिन्दी"):
                assert sets(marked(text, hidden), **how) == sets(text, **how), ascii(hidden)
                assert sets(marked(text, hidden), key=b"k" * 16, **how) == sets(text, key=b"k" * 16, **how), ascii(hidden)


def test_what_they_stood_between_is_normalized_together():
    for hidden, shown in (
        ("e\u00ad\u0301", "\u00e9"), ("a\u034f\u0323\u200d\u0307", "\u1ea1\u0307"), ("\u1112\u200d\u1161\u2060\u11ab", "\ud55c"),
        ("\u212b\ufe0f\u00ad", "\u00c5"), ("\u0323\u00ad", "\u0323"),
    ):  # fmt: skip
        for unit, text in product(("word", "char"), ("{}", "x {} y")):
            assert sets(text.format(hidden), unit=unit, width=1) == sets(text.format(shown), unit=unit, width=1)


def test_a_space_without_width_separates_words_and_joiners_do_not():
    for one, other, how in (
        ("foo\u200bbar", "foo bar", {"width": 1}), ("ภาษา\u200bไทย", "ภาษาไทย", {}), ("foo\u200bbar", "foobar", {"unit": "char"}),
        ("a\n\u200b\u200e\nb", "a\nb", {"unit": "line"}), (PERSIAN, PERSIAN.replace("\u200c", ""), {}),
        ("ශ්\u200dරී ලංකා", "ශ්රී ලංකා", {"width": 1}),
    ):  # fmt: skip
        assert sets(one, **how) == sets(other, **how)
    assert sets("foo bar", width=1) != sets("foobar", width=1) and sets(PERSIAN.replace("\u200c", " ")) != sets(PERSIAN)
    assert sets(marked(PLAIN, "\u00ad"), unit="byte") != sets(PLAIN, unit="byte"), "bytes are what they are"
    assert la.shingle(["\u200e\ufe0f\u2060", "\u200b", "\u2764\ufe0f"]).sizes.tolist() == [0] * 3


def test_tokenizers_of_users_see_none():
    seen, text = [], marked("Wort für Wort", "\u00ad") + "\u200b"
    for form in ("none", "NFC"):
        la.shingle([text], tokenizer=lambda text: seen.append(text) or text.split(), normalization=form, width=1)
    assert seen == ["wort für wort\u200b"] * 2
