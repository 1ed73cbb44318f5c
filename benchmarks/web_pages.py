"""Web pages and PDF: what deduplicating them costs as files, as a column and as an archive, beside the parser alone and their ready text.

Usage: python benchmarks/web_pages.py [PAGES.parquet] [--quick]

Writes benchmarks/results/web_pages.md, a section of docs/benchmarks.md.

One thread, a process of its own for each run, processor time with that of the parsers' processes; medians of three runs. The PDF
files are generated, of ten pages each with the text of the web pages.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from page import ROOT, processor, table

import lookalike as la

RUN = """
import json, sys, lookalike as la
la.dedup(["a b c d e f", "a b c d e f g"])
path, settings = sys.argv[1], json.loads(sys.argv[2])
print(la.dedup(path, threads=1, **settings).summary.documents if path else 0)
"""
ALONE = """
import sys, time, pyarrow.parquet as pq, lookalike as la
pages = pq.read_table(sys.argv[1])["text"].to_pylist()
began = time.process_time()
for page in pages: la.html_to_text(page)
print(round(1e6 * (time.process_time() - began)))
"""
LINES = 50  # of a page of PDF


def pdf_of(pages: list[str]) -> bytes:
    """Return a PDF with a page for each text."""
    kids = " ".join(f"{4 + 2 * i} 0 R" for i in range(len(pages)))
    font = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>"
    objects = ["<</Type/Catalog/Pages 2 0 R>>", f"<</Type/Pages/Kids[{kids}]/Count {len(pages)}>>", font]
    for i, page in enumerate(pages):
        lines = [line.encode("cp1252", "replace").hex() for line in page.split("\n")]
        drawn = "BT /F1 10 Tf 12 TL 40 780 Td " + " ".join(f"<{line}> Tj T*" for line in lines) + " ET"
        where = f"/MediaBox[0 0 595 842]/Resources<</Font<</F1 3 0 R>>>>/Contents {5 + 2 * i} 0 R"
        objects += [f"<</Type/Page/Parent 2 0 R{where}>>", f"<</Length {len(drawn)}>>stream\n{drawn}\nendstream"]
    out, places = b"%PDF-1.7\n", []
    for number, one in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{one}\nendobj\n".encode()
    entries = "".join(f"{place:010d} 00000 n \n" for place in places)
    end = f"trailer<</Size {len(objects) + 1}/Root 1 0 R>>\nstartxref\n{len(out)}\n%%EOF"
    return out + f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{entries}{end}".encode()


def warc_of(pages: list[str]) -> bytes:
    """Return an archive with a response for each page."""
    out = []
    for number, page in enumerate(pages):
        body = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + page.encode()
        head = f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://example.org/{number}\r\nContent-Length: {len(body)}\r\n"
        more = f"WARC-Record-ID: <urn:uuid:{number:032x}>\r\nWARC-Date: 2024-01-01T00:00:00Z\r\nContent-Type: application/http; msgtype=response"
        out.append(f"{head}{more}\r\n\r\n".encode() + body + b"\r\n\r\n")
    return b"".join(out)


def cases(pages: list[str], folder: Path) -> tuple[dict[str, tuple[Path, dict[str, object]]], int]:
    """Write all inputs; return each with its settings, and the number of PDF pages."""
    ready = list(map(la.html_to_text, pages))
    for name, texts in (("column", pages), ("ready", ready)):
        pq.write_table(pa.table({"text": texts}), folder / f"{name}.parquet")
    (folder / "crawl.warc").write_bytes(warc_of(pages))
    (folder / "html").mkdir()
    (folder / "pdf").mkdir()
    n_pdf = 0
    for number, (page, text) in enumerate(zip(pages, ready, strict=True)):
        (folder / f"html/{number}.html").write_text(page)
        lines = [part for line in text.split("\n") for part in textwrap.wrap(line, 90)]
        sheets = ["\n".join(lines[i : i + LINES]) for i in range(0, min(len(lines), 10 * LINES), LINES)] or [""]
        (folder / f"pdf/{number}.pdf").write_bytes(pdf_of(sheets))
        n_pdf += len(sheets)
    return {
        "HTML files": (folder / "html", {}),
        "a Parquet column of HTML": (folder / "column.parquet", {"text": "text", "html": True}),
        "a WARC archive": (folder / "crawl.warc", {}),
        "their text, ready": (folder / "ready.parquet", {"text": "text"}),
        "PDF files": (folder / "pdf", {}),
    }, n_pdf


def seconds_of(program: str, *arguments: str) -> tuple[float, int]:
    """Run a program; return its processor seconds, with those of its processes, and the number that it prints."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, "-c", program, *arguments], check=True, capture_output=True, text=True)
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    return now.ru_utime + now.ru_stime - before.ru_utime - before.ru_stime, int(done.stdout)


def main() -> None:
    """Measure all cases in turns, each less what a run without its input takes, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", type=Path, nargs="?", default=ROOT.parent / "shared/data/webpages_html.parquet")
    parser.add_argument("--quick", action="store_true", help="some pages, one run, nothing is written")
    given = parser.parse_args()
    pages = pq.read_table(given.pages, columns=["text"])["text"].to_pylist()[: 60 if given.quick else None]
    size = sum(len(page.encode()) for page in pages) / 1e6
    seconds: dict[str, list[float]] = {}
    facts: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as name:
        inputs, n_pdf = cases(pages, Path(name))
        column = str(inputs["a Parquet column of HTML"][0])
        for _ in range(1 if given.quick else 3):
            start = seconds_of(RUN, "", "{}")[0]
            for case, (path, settings) in inputs.items():
                one, facts[case] = seconds_of(RUN, str(path), json.dumps(settings))
                seconds.setdefault(case, []).append(one - start)
            seconds.setdefault("the parser alone", []).append(seconds_of(ALONE, column)[1] / 1e6)
    rows = []
    for case, runs in seconds.items():
        middle = statistics.median(runs)
        rate = f"{n_pdf / middle:,.0f} pages/s" if case == "PDF files" else f"{size / middle:.0f} MB/s"
        rows.append([case, f"{facts.get(case, len(pages)):,}", f"{middle:.2f}", rate])
    text = f"## Web pages and PDF\n\nMeasured on {processor()} by `benchmarks/web_pages.py`, one thread: {len(pages):,} web pages, {size:.0f} MB of HTML, and\n"
    text += f"{n_pdf:,} generated pages of PDF. Rates are of HTML, or pages of PDF, per second of one processor, from files to duplicate flags.\n\n"
    text += table(["input", "documents", "s", "rate"], rows)
    print(text)
    if not given.quick:
        (ROOT / "benchmarks/results/web_pages.md").write_text(text)


if __name__ == "__main__":
    main()
