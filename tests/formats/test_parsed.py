import pyarrow.parquet as pq
import pytest
from document_files import docx, eml, epub, odt, pdf
from formats.format_samples import packed
from formats.jobs import put, refused

import lookalike as la
from lookalike.extraction import UnreadableError
from lookalike.formats import registry
from lookalike.formats.parsed import ParsedFiles

TEXT = "one two three four five six seven eight nine ten eleven twelve"
OTHER = "quite another text that has nothing in common with the first of them at all"


@pytest.fixture
def folder(tmp_path):
    found = tmp_path / "in"
    (found / "deeper").mkdir(parents=True)
    files = {"a.pdf": pdf(TEXT), "b.docx": docx(TEXT), "c.odt": odt(TEXT), "d.txt": TEXT.encode(), "e.eml": eml(TEXT, subject=""),
             "deeper/f.epub": epub(TEXT), "g.pdf": pdf(OTHER), "h.pdf": b"%PDF broken"}  # fmt: skip
    for name, content in files.items():
        put(found / name, content)
    return found


@pytest.mark.parametrize("suffix", [".gz", ".zst", ".xz"])
def test_damaged_compression_is_left_out(folder, caplog, suffix):
    page = f"<p>{TEXT} {' '.join(map(str, range(40_000)))}</p>".encode()
    path = folder / f"x.html{suffix}"
    for content in (b"\0no such thing", packed(page, suffix)[:-30]):
        put(path, content)
        caplog.clear()
        assert la.dedup(folder, on_error="skip").summary.documents_skipped == 2
        assert f"{path} " in caplog.text and "data is damaged or cut short" in caplog.text
        said = rf"/x.html{suffix}: (cannot be read: )?the .*data is damaged or cut short .*on_error='skip'"
        refused(said, la.dedup, path, on_error="stop")


def test_texts_are_read_again(folder, tmp_path):
    la.dedup(folder).save_sketches(tmp_path / "sketches")
    again = la.dedup([TEXT + " thirteen", "new"], against=tmp_path / "sketches", trust=folder)
    assert [d["reason"] for d in again.decisions.to_pylist() if d["reason"] != "reference"] == ["near", "kept"]
    result = la.dedup(folder)
    assert result.audit(2)["missed"] == 0
    result.save(tmp_path / "saved")
    opened = la.Result.open(tmp_path / "saved", trust=folder)
    assert list(opened.texts([1, 5, 7]).values()) == [TEXT.encode(), f"\n\n{TEXT}\n".encode(), b""]


def test_what_an_extra_is_missing_for(folder, monkeypatch):
    lacking = ParsedFiles("pdf", extra="pdf", package="no_such_package")
    usual = registry._loaded
    monkeypatch.setattr(registry, "_loaded", lambda name, entry: lacking if name == "pdf" else usual(name, entry))
    result = la.dedup(folder)
    assert result.summary.skipped["by_reason"] == {"no_extra": 3}
    assert "3 of a format whose extra is not installed" in str(result.summary)
    said = r"no_such_package is not installed: pip install 'lookalike\[pdf\]'"
    refused(said, la.dedup, folder / "a.pdf", error=la.errors.MissingExtraError)


def test_a_kept_text_is_never_lost(folder, tmp_path, monkeypatch):
    """Where it is parsed again, a parser can fail for which it did not before."""
    result, cleaned = la.dedup(folder), la.decontaminate(folder, against=["words of a benchmark"], min_tokens=1)
    slow = UnreadableError("takes too long")
    monkeypatch.setattr("lookalike.formats.parsed.texts_of", lambda found, *_: ((key, slow) for key, _ in found))
    said = r"a\.pdf: its text was read before, but now it takes too long; run again"
    refused(said, cleaned.write, tmp_path / "kept.csv")
    assert not (tmp_path / "kept.csv").exists()
    result.write(tmp_path / "kept.parquet")
    assert TEXT in pq.read_table(tmp_path / "kept.parquet")["text"].to_pylist()
