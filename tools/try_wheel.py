"""Install a wheel into fresh environments and see that it works: `python tools/try_wheel.py dist/lookalike-*.whl [report spark ...]`.

Without names: the wheel alone, as in a container: hardly an environment, no home, no caches, no compiler; nothing may be written among
the packages. With names: for each extra an environment with it alone (``all`` tries the jobs of the others that take seconds), and the
main job of that extra in it. Prints sizes and times.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import zipfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from time import perf_counter
from urllib.request import Request, urlopen

from java_home import java_home

TURNS = 9
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "HOME": os.devnull, "LC_ALL": "C.UTF-8"}
ROWS = ["a b c d e f", "A b c d e f.", "g h i j k l"]
PROGRAM = """
import sys
import lookalike as la
texts = ["the quick brown fox jumps over the lazy dog", "The quick brown fox jumps over the lazy dog!", "something else"]
assert la.dedup(texts).keep.tolist() == [True, False, True]
assert la.sketches.load.__doc__ and la.theory.bbit.variance(0.8, 1, 256) > 0
"""
STEMS = """
import lookalike as la
result = la.dedup(["she connects the cables", "she connected a cable", "g h i"], tokenizer=la.sketches.WordTokenizer(), width=1)
assert result.keep.tolist() == [True, False, True]
"""
LEARNED = """
import lookalike as la
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
texts = ["a b c d e f g", "A b c d e f g h", "one two three four five six", "one two three four five seven"]
assert make_pipeline(la.integrations.BBitFeatures(width=1), LogisticRegression()).fit(texts, [0, 0, 1, 1]).score(texts, [0, 0, 1, 1]) == 1.0
"""
ASKED = """
import asyncio, sys
from mcp import ClientSession, StdioServerParameters, stdio_client
async def ask():
    async with stdio_client(StdioServerParameters(command=sys.executable, args=["-m", "lookalike", "serve", "--mcp", "in.jsonl"])) as both:
        async with ClientSession(*both) as session:
            await session.initialize()
            answer = await session.call_tool("find_near_duplicates", {"text": "A b c d e f"})
            print("near", answer.structured_content["matches"][0]["resemblance"])
asyncio.run(ask())
"""
FRAME = """
import lookalike as la
if __name__ == "__main__":
    session = la.start_session("local-cluster[2,1,1024]", conf={"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1"})
    frame = session.createDataFrame([(0, "a b c d e f"), (1, "A b c d e f."), (2, "g h i j k l")], "place long, text string")
    with la.dedup(frame, id="place") as result:
        assert sorted(row["place"] for row in result.clean(frame).collect()) == [0, 2]
    session.stop()
"""


class Fresh:
    """A fresh environment with a wheel, or an extra of it, and a folder to work in."""

    def __init__(self, folder: Path, wheel: Path, extra: str = "") -> None:
        subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
        self.python, self.work = str(folder / "venv/bin/python"), folder / "work"
        self.work.mkdir()
        what = f"lookalike[{extra}] @ {wheel.as_uri()}" if extra else str(wheel)
        subprocess.run([self.python, "-m", "pip", "install", "--quiet", what], check=True)
        subprocess.run([self.python, "-m", "pip", "check"], check=True, stdout=subprocess.DEVNULL)
        self.packages = next(folder.glob("venv/lib/python*/site-packages"))
        (self.work / "in.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in ROWS))
        (self.work / "site.html").write_text("<p>a b c d e f</p>")

    def run(self, *arguments: str, status: int = 0, **environment: str) -> str:
        """Run the program with hardly an environment; return what it prints; on standard error it prints nothing."""
        return self.run_python("-m", "lookalike", *arguments, status=status, **environment)

    def run_python(self, *arguments: str, status: int = 0, quiet: bool = True, **environment: str) -> str:
        """Run Python; return what it prints."""
        known = ENVIRONMENT | {"TMPDIR": str(self.work.parent)} | environment
        done = subprocess.run([self.python, *arguments], cwd=self.work, env=known, capture_output=True, text=True, check=False)
        said = f"{arguments}: {done.returncode}\n{done.stdout}{done.stderr}"
        assert done.returncode == status and not (quiet and done.stderr) and "Traceback" not in done.stderr, said
        return done.stdout + done.stderr * status

    def size(self) -> int:
        """Return the bytes of all packages."""
        return sum(path.stat().st_size for path in self.packages.rglob("*") if path.is_file())


def try_bare(fresh: Fresh, wheel: Path) -> None:
    """Run the program and the library outside the source tree; every missing extra is one sentence with its command."""
    before = sorted((path, path.stat().st_mtime_ns) for path in fresh.packages.rglob("*"))
    job = ["dedup", "in.jsonl", "-o", "out.jsonl", "--force"]
    first = perf_counter()
    shown = fresh.run(*job)
    first = perf_counter() - first
    assert "near-duplicates removed              1" in shown, shown
    assert (fresh.work / "out.jsonl").read_text() == '{"text": "a b c d e f"}\n{"text": "g h i j k l"}\n'
    fresh.run_python("-W", "error", "-c", PROGRAM)
    fresh.run("index", "create", "seen.idx")
    for extra, arguments in {
        "report": ["dedup", "in.jsonl", "--report", "page.html"], "html": ["dedup", "site.html"],
        "serve": ["serve", "seen.idx"], "spark": ["dedup", "in.jsonl", "--engine", "spark", "-o", "x"],
    }.items():  # fmt: skip
        said = fresh.run_python("-m", "lookalike", *arguments, status=1, quiet=False)
        assert said.count("\n") == 1 and f"pip install 'lookalike[{extra}]'" in said, said
    version = fresh.run("--version").strip()
    assert wheel.name.split("-")[1] in version, f"{wheel.name} says it is {version}"
    written = "something was written among the packages"
    assert sorted((path, path.stat().st_mtime_ns) for path in fresh.packages.rglob("*")) == before, written

    def seconds(*command: str) -> float:
        began = perf_counter()
        fresh.run_python(*command)
        return perf_counter() - began

    turns = [(seconds("-m", "lookalike", *job), seconds("-c", "import numpy, pyarrow")) for _ in range(TURNS)]
    later, imports = (sorted(times)[TURNS // 2] for times in zip(*turns, strict=True))
    print(
        f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB, with all it needs {fresh.size() / 1e6:.0f} MB; {fresh.run('info').splitlines()[1]}"
    )
    print(f"job of two lines: first {first:.2f} s, later {later:.2f} s, which is {later / imports:.1f} times the imports of NumPy and "
          f"PyArrow ({imports:.2f} s)")  # fmt: skip


def try_report(fresh: Fresh) -> None:
    """Write a report."""
    fresh.run("dedup", "in.jsonl", "--report", "page.html")
    assert "near-duplicate" in (fresh.work / "page.html").read_text()


def try_html(fresh: Fresh) -> None:
    """Compare web pages by their main text."""
    story = (
        "<p>The river rises in the hills, passes three towns and a mill, and falls into the sea after seventy miles.</p>" * 3
    )
    rows = [{"text": f"<html><body><nav>{menu}</nav><main>{story}</main></body></html>"} for menu in ("Home", "About")]
    (fresh.work / "pages.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    fresh.run("dedup", "pages.jsonl", "--html", "-o", "clean.jsonl")
    assert (fresh.work / "clean.jsonl").read_text().count("\n") == 1
    (fresh.work / "site").mkdir()
    for number, row in enumerate(rows):
        (fresh.work / f"site/{number}.html").write_text(row["text"])
    fresh.run("dedup", "site", "-o", "kept/")
    assert len(list((fresh.work / "kept").glob("*.html"))) == 1


def try_warc(fresh: Fresh) -> None:
    """Compare two pages of a crawl, which say the same, and write the record of one."""
    page = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html><body><p>one two three four five six</p></body></html>"
    head = b"WARC/1.0\r\nWARC-Type: response\r\nContent-Type: application/http\r\nContent-Length: %d\r\n\r\n" % len(page)
    (fresh.work / "a.warc").write_bytes((head + page + b"\r\n\r\n") * 2)
    fresh.run("dedup", "a.warc", "-o", "records/")
    assert (fresh.work / "records/a.warc").read_bytes() == head + page + b"\r\n\r\n"


def try_pdf(fresh: Fresh) -> None:
    """Compare two files of one page each, which say the same."""
    page = b"/Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>/Contents 4 0 R"
    drawn = b"BT /F1 10 Tf 40 780 Td (one two three four five six) Tj ET"
    objects = (b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[3 0 R]/Count 1>>", b"<<%s>>" % page,
               b"<</Length %d>>stream\n%s\nendstream" % (len(drawn), drawn))  # fmt: skip
    content = b"%PDF-1.4\n" + b"".join(b"%d 0 obj\n%s\nendobj\n" % (n, one) for n, one in enumerate(objects, 1))
    for name in ("a", "b"):
        (fresh.work / f"{name}.pdf").write_bytes(content + b"trailer<</Root 1 0 R>>\n%%%%EOF " + name.encode())
    assert json.loads(fresh.run("dedup", "a.pdf", "b.pdf", "--json", "--quiet"))["exact_duplicates"] == 1


def try_duckdb(fresh: Fresh) -> None:
    """Read the rows of a query."""
    fresh.run_python(
        "-c",
        "import duckdb; duckdb.connect('t.duckdb').execute(\"create table t as select 'a b c d e f' as body from range(2)\")",
    )
    said = fresh.run("dedup", "t.duckdb", "--set", "query=select body as text from t", "--json", "--quiet")
    assert json.loads(said)["exact_duplicates"] == 1


def try_remote(fresh: Fresh) -> None:
    """Read a file from a web server, and load what speaks with the Hub."""
    handler = partial(SimpleHTTPRequestHandler, directory=str(fresh.work))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        said = fresh.run("dedup", f"http://127.0.0.1:{server.server_address[1]}/in.jsonl", "--json", "--quiet")
        server.shutdown()
    assert json.loads(said)["kept"] == 2
    fresh.run_python("-c", "from huggingface_hub import HfApi, get_token, hf_hub_url; HfApi()")


def try_delta(fresh: Fresh) -> None:
    """Read a table, a row of which was deleted."""
    fresh.run_python(
        "-c",
        "import pyarrow as pa, deltalake as d; d.write_deltalake('t', pa.table({'text': ['a b c d e f'] * 2, 'n': [1, 2]}));"
        "d.DeltaTable('t').delete('n = 1')",
    )
    assert json.loads(fresh.run("dedup", "t", "--json", "--quiet"))["documents"] == 1


def try_iceberg(fresh: Fresh) -> None:
    """Tell that a table is damaged: to make one needs more packages."""
    (fresh.work / "i/metadata").mkdir(parents=True)
    (fresh.work / "i/metadata/v1.metadata.json").write_text("{}")
    assert "the Iceberg table, v1, cannot be read" in fresh.run_python("-m", "lookalike", "dedup", "i", status=1, quiet=False)


def try_mcp(fresh: Fresh) -> None:
    """Answer a question."""
    assert fresh.run_python("-c", ASKED, quiet=False).endswith("near 1.0\n")


def try_sklearn(fresh: Fresh) -> None:
    """Learn from features."""
    fresh.run_python("-c", LEARNED)


def try_features(fresh: Fresh) -> None:
    """Compare stems."""
    fresh.run_python("-c", STEMS)


def try_serve(fresh: Fresh) -> None:
    """Start the service, ask it once, and stop it."""
    fresh.run("index", "create", "served.idx")
    fresh.run("index", "add", "served.idx", "in.jsonl")
    command = [fresh.python, "-m", "lookalike", "serve", "served.idx", "--port", "0"]
    with open(fresh.work / "log", "wb") as log:
        server = subprocess.Popen(command, cwd=fresh.work, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=log, text=True)
    try:
        assert server.stdout is not None
        address = server.stdout.readline().split()[-1].rstrip("/")
        asked = Request(address + "/v1/query", b'{"texts": ["A b c d e f"]}', {"content-type": "application/json"})
        with urlopen(asked) as answer:
            found = json.load(answer)
            assert found["results"][0], found
        server.send_signal(signal.SIGTERM)
        assert server.wait() == 0
    finally:
        server.kill()


def try_spark(fresh: Fresh) -> None:
    """Run a job on files and one on a data frame, on a cluster of two workers, which are processes of this machine."""
    java = java_home()
    assert java is not None, "there is no Java: install Java 17 or later"
    known = {"JAVA_HOME": str(java), "PYSPARK_PYTHON": fresh.python}
    fresh.run_python("-m", "lookalike", "dedup", "in.jsonl", "--engine", "spark", "--set", "master=local-cluster[2,1,1024]", "-o", "on_spark",
                     "--work", "work", "--set", "conf=spark.ui.enabled=false", "--set", "conf=spark.driver.host=127.0.0.1",
                     quiet=False, **known)  # fmt: skip
    assert sum(file.read_text().count("\n") for file in (fresh.work / "on_spark").glob("*.jsonl")) == 2
    (fresh.work / "frame.py").write_text(FRAME)
    fresh.run_python("frame.py", quiet=False, **known)


JOBS = {
    "report": try_report,
    "html": try_html,
    "warc": try_warc,
    "pdf": try_pdf,
    "duckdb": try_duckdb,
    "remote": try_remote,
    "delta": try_delta,
    "iceberg": try_iceberg,
    "features": try_features,
    "serve": try_serve,
    "mcp": try_mcp,
    "sklearn": try_sklearn,
    "spark": try_spark,
}


def main() -> None:
    """Try the wheel alone, or each extra that is named."""
    wheel, *extras = sys.argv[1:]
    unknown = sorted(set(extras) - {*JOBS, "all"})
    assert not unknown, f"no job is known for {unknown}"
    path = Path(wheel).resolve()
    names = zipfile.ZipFile(path).namelist()
    assert "lookalike/py.typed" in names, "the wheel lacks py.typed"
    assert any(name.startswith("lookalike/core/core_v1.") for name in names), "the wheel lacks the core"
    assert any(name.endswith("LICENSE") for name in names), "the wheel lacks the licence"
    assert all(name.startswith("lookalike") for name in names), f"the wheel holds more than the package: {names}"
    for extra in extras or [""]:
        folder = Path(tempfile.mkdtemp(prefix="lookalike-"))
        try:
            fresh = Fresh(folder, path, extra)
            if not extra:
                try_bare(fresh, path)
                continue
            for name, job in JOBS.items():
                if name == extra or (extra == "all" and name != "spark"):
                    job(fresh)
            print(f"extra {extra}: works alone; {fresh.size() / 1e6:.0f} MB of packages", flush=True)
        finally:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
