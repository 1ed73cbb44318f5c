"""How far an engine says it is: pieces that threads work at do not count."""

from lookalike.engines.reporting import Counted, share_of


def test_pieces_under_way_do_not_count():
    told = []
    counted = Counted(lambda *report: told.append(report), "matches", 15, "bytes", 2)
    for amount in (1, 2, 3, 4, 5):
        counted.add(amount)
    assert told == [("matches", 0, 15, "bytes")] * 4 + [("matches", 1, 15, "bytes")]
    counted.end()
    assert told[-1] == ("matches", 15, 15, "bytes")


def test_who_takes_amounts_only_is_told_no_more():
    counted = Counted(share_of(print), "matches", 15, "bytes", 2)
    counted.add(1)
    counted.end()
    assert share_of(print) is None and share_of(None) is None
