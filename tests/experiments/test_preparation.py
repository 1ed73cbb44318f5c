"""Which texts the preparation of the thesis keeps."""

from preparation import english_share, prepared

ENGLISH = "the members of the board and the owners of the shares are in the hall"
SPANISH = "los miembros del consejo y los propietarios de las acciones se reunen en la sala"


def test_english_has_common_words():
    assert english_share(ENGLISH) == 10 / 15
    assert english_share(SPANISH) == 0
    assert english_share("") == 0


def test_small_foreign_and_repeated_texts_are_left_out():
    texts = [ENGLISH, SPANISH, "the", ENGLISH, ENGLISH * 2]
    assert prepared(texts).tolist() == [True] * 5
    assert prepared(texts, least_bytes=10).tolist() == [True, True, False, True, True]
    assert prepared(texts, english=0.12).tolist() == [True, False, True, True, True]
    assert prepared(texts, distinct=True).tolist() == [True, True, True, False, True]


def test_bytes_are_counted_not_characters():
    assert prepared(["éé"], least_bytes=4).tolist() == [True]
    assert prepared(["ee"], least_bytes=4).tolist() == [False]
