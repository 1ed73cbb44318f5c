"""The routes of the pages: headers, what they answer, what they refuse, keys."""

import json
import re
from contextlib import contextmanager

import pytest
from serve.desk_jobs import HOSTILE, plain

import lookalike as la
from lookalike.serve.guard import Keys

starlette = pytest.importorskip("starlette.testclient", reason="Starlette is not installed (the extra serve)")

from hashlib import sha256  # noqa: E402

from lookalike.serve import desk  # noqa: E402
from lookalike.serve.app import make_app  # noqa: E402
from lookalike.serve.bodies import Limits  # noqa: E402
from lookalike.serve.log import Metrics  # noqa: E402
from lookalike.serve.store import BatchedIndex  # noqa: E402

READER, WRITER = "reader-reader-reader", "writer-writer-writer"
KEYS = Keys((sha256(READER.encode()).digest(),), (sha256(WRITER.encode()).digest(),))


def client_of(routes, store=None, **given):
    """A client of the service at an address that it answers for."""
    app = make_app(store, pages=routes, reading=desk.READING, hosts=frozenset((b"testserver",)), **given)
    return starlette.TestClient(app)


@contextmanager
def client_of_index(folder, texts, limits=None, keep_text=False, **given):
    """A client of an index with some texts."""
    with la.Index.create(folder / "seen.idx", threshold=0.5, keep_text=keep_text) as made:
        made.add(list(texts), list(texts.values()))
    store = BatchedIndex(la.Index.open(folder / "seen.idx"), limits or Limits(), Metrics())
    yield client_of(desk.routes_of_index(store), store, **given)
    store.close(1.0)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    return plain(tmp_path_factory.mktemp("desk"))


@pytest.fixture
def client(saved):
    yield client_of(desk.routes_of_job(saved))
    for name in ("review.jsonl", "overrides.jsonl"):
        (saved / name).unlink(missing_ok=True)


@pytest.fixture(params=[True, False], ids=["with texts", "without texts"])
def looked_up(request, tmp_path):
    """(client, whether the index keeps texts) of an index with ids that are numbers."""
    texts = {2**60: "one two three four five six seven eight nine ten", -7: HOSTILE[0]}
    with client_of_index(tmp_path, texts, Limits(text=10_000), request.param) as client:
        yield client, request.param


def refused(answer, status, said):
    """The answer is a problem of this status."""
    assert answer.status_code == status and answer.headers["content-type"].startswith("application/problem+json"), answer.text
    assert re.search(said, answer.json()["detail"]), answer.text


@pytest.mark.parametrize("path", ["/", *(f"/pages/{name}" for name in desk.PAGES)])
def test_files_come_with_a_policy_that_allows_nothing_foreign(client, path):
    answer = client.get(path)
    assert answer.status_code == 200 and len(answer.content) > 100
    policy = answer.headers["content-security-policy"].split("; ")
    assert policy[0] == "default-src 'none'" and "frame-ancestors 'none'" in policy
    assert {rule.split(" ", 1)[1] for rule in policy} == {"'none'", "'self'"}
    assert answer.headers["x-content-type-options"] == "nosniff" and answer.headers["referrer-policy"] == "no-referrer"
    text = answer.text.replace("http://www.w3.org/2000/svg", "")
    assert "http:" not in text and "https:" not in text and "style=" not in text and " onclick" not in text


def test_our_scripts_are_small_and_use_text_content_alone():
    scripts = [desk.page(name).decode() for name in desk.PAGES if name.endswith(".js")]
    assert sum(len(script.encode()) for script in scripts) < 30_000
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|Function\(|localStorage|cookie", "".join(scripts)
    )
    pages = desk.page("job.html").decode() + desk.page("index.html").decode()
    assert not re.search(r"<script>|<script [^>]*>[^<]", pages), "scripts are files"


def test_other_paths_are_no_files(client):
    for path in ("/pages/job.html", "/pages/../desk.py", "/pages/%2e%2e/desk.py", "/nothing", "/v1/nothing"):
        refused(client.get(path), 404, "nothing at this path")
    refused(client.post("/v1/removals", json={}), 405, "")


def test_a_job_page_by_page(client):
    about = client.get("/v1/job").json()
    assert about["progress"]["of"] == 60
    listed = client.get("/v1/removals", params={"order": "random", "kind": "near", "begin": 50}).json()
    assert (listed["total"], len(listed["rows"])) == (60, 10)
    row = listed["rows"][0]
    beside = ",".join(str(other["row"]) for other in listed["rows"])
    pair = client.get(f"/v1/removals/{row['row']}", params={"beside": beside}).json()
    assert pair["name"] == row["name"] and pair["compared"]["words"][0] == 100
    found = client.get("/v1/removals", params={"find": "b11", "source": "1"}).json()
    assert [one["name"] for one in found["rows"]] == ["b11"]


def test_judgements_are_made_and_undone(client, saved):
    first, second = client.get("/v1/removals", params={"kind": "near", "n": 2}).json()["rows"]
    for row, said in ((first, "keep"), (second, "duplicate")):
        body = {"row": row["row"], "judgement": said, "note": "\u202e</script>"}
        answer = client.post("/v1/judgements", json=body).json()
    assert answer["progress"]["judged"] == 2
    listed = client.get("/v1/removals", params={"judged": "keep"}).json()["rows"]
    assert [(one["name"], one["note"]) for one in listed] == [(first["name"], "\u202e</script>")]
    assert json.loads((saved / "overrides.jsonl").read_text())["id"] == first["name"]
    assert client.post("/v1/undo", json={}).json()["row"] == second["row"]
    assert client.post("/v1/undo", json={}).json()["row"] == first["row"]
    assert client.post("/v1/undo", json={}).json()["row"] is None
    assert (saved / "overrides.jsonl").read_bytes() == b""


@pytest.mark.parametrize(
    "path, status, said",
    [
        ("/v1/removals?order=x", 422, "order must be one of"),
        ("/v1/removals?n=0", 422, "n in 1..200"),
        ("/v1/removals?n=9999999999999999", 422, "whole number"),
        ("/v1/removals?begin=-1", 422, "begin must be a whole number"),
        ("/v1/removals?source=%C2%B2", 422, "whole number"),
        ("/v1/removals?wrong=1", 422, "unknown parameter 'wrong'"),
        ("/v1/removals/0", 422, "was not removed"),
        ("/v1/removals/x", 422, "the row must be"),
        ("/v1/removals/99999999", 422, "was not removed"),
        ("/v1/removals/60?beside=0", 422, "was not removed"),
    ],
)
def test_what_cannot_be_asked(client, path, status, said):
    refused(client.get(path), status, said)


@pytest.mark.parametrize(
    "body", [{}, {"row": 60}, {"row": "60", "judgement": None}, {"row": 60, "judgement": "yes"}, {"row": 0, "judgement": None},
             {"row": 60, "judgement": "keep", "note": "x" * 2001}, {"row": 60, "judgement": "keep", "more": 1}, []]
)  # fmt: skip
def test_judgements_that_are_none(client, saved, body):
    refused(client.post("/v1/judgements", json=body), 422, "")
    assert not (saved / "review.jsonl").exists()


def test_bodies_that_are_no_json(client):
    for body in (b"", b"{", b"\xff", b"[" * 100_000):
        answer = client.post("/v1/judgements", content=body, headers={"content-type": "application/json"})
        assert answer.status_code in (400, 422) and len(answer.content) < 1000
    refused(client.post("/v1/undo", content=b"{", headers={"content-type": "application/json"}), 400, "not JSON")
    refused(client.get("/v1/judgements"), 405, "")


def test_with_keys_pages_are_open_and_data_are_not(saved):
    client = client_of(desk.routes_of_job(saved), keys=KEYS)
    assert client.get("/").status_code == client.get("/pages/job.js").status_code == 200
    for path in ("/v1/job", "/v1/removals", "/v1/removals/60", "/v1/report"):
        refused(client.get(path), 401, "key")
    reading = {"authorization": f"Bearer {READER}"}
    assert client.get("/v1/job", headers=reading).status_code == 200
    refused(client.post("/v1/undo", json={}, headers=reading), 403, "only allows reading")
    assert client.post("/v1/undo", json={}, headers={"authorization": f"Bearer {WRITER}"}).status_code == 200
    (saved / "review.jsonl").unlink()


def test_the_report(client):
    answer = client.get("/v1/report")
    assert answer.headers["content-type"].startswith("text/html") and "67 documents removed" in answer.text
    assert answer.headers["content-security-policy"] == "frame-ancestors 'none'", "the page has a policy of its own"


def test_without_the_extra_there_is_no_report(client, monkeypatch):
    def fail(*_):
        raise la.errors.MissingExtraError("jinja2 is not installed: pip install 'lookalike[report]'")

    monkeypatch.setattr("lookalike.serve.desk_job.write_report", fail)
    refused(client.get("/v1/report"), 501, "pip install")


def test_a_folder_that_cannot_be_written(client, saved):
    (saved / "review.jsonl").mkdir()
    refused(client.post("/v1/judgements", json={"row": 60, "judgement": "unsure"}), 507, "cannot be written")
    (saved / "review.jsonl").rmdir()


def test_neighbours_of_a_text(looked_up):
    client, keeps = looked_up
    about = client.get("/v1/about").json()
    assert about["keeps_texts"] is keeps and "seen.idx has 2 documents" in about["said"] and about["most_bytes"] == 10_000
    found = client.post("/v1/neighbours", json={"text": "One two three four five six seven eight nine ten, eleven"}).json()
    (match,) = found["results"]
    assert (match["id"], match["has_text"]) == (str(2**60), keeps) and match["low"] < match["estimate"] <= match["high"] <= 1
    assert match["resemblance"] == (pytest.approx(6 / 7) if keeps else None)
    assert match["begins"] == ("one two three four five six seven eight nine ten" if keeps else "")
    assert client.post("/v1/neighbours", json={"text": "something that nobody has seen before now"}).json()["results"] == []


def test_a_text_beside_a_neighbour(looked_up):
    client, keeps = looked_up
    compared = client.post("/v1/beside", json={"text": "one two three four five six seven", "id": str(2**60)}).json()
    if keeps:
        assert compared["why"] is None and compared["compared"]["words"] == [10, 7, 7]
    else:
        assert compared == {"compared": None, "why": "This index keeps no texts."}
    refused(client.post("/v1/beside", json={"text": "a", "id": "5"}), 404, "no longer has a document")
    refused(client.post("/v1/beside", json={"text": "a", "id": "five"}), 422, "ids of this index are integers")


def test_a_damaged_index_is_a_failure_of_the_server(looked_up, monkeypatch):
    def damaged(*_, **__):
        raise la.errors.IndexFormatError("segment-00000001: damaged")

    monkeypatch.setattr("lookalike.Index.query", damaged)
    refused(looked_up[0].post("/v1/neighbours", json={"text": "a"}), 500, "damaged")


def test_the_page_waits_as_all_others_do(tmp_path):
    """What the page of an index asks for is within the limit of what may wait."""
    with client_of_index(tmp_path, {"a": "one two three four five six"}, Limits(waiting=0)) as client:
        for path, body in (("/v1/neighbours", {"text": "a"}), ("/v1/beside", {"text": "a", "id": "a"})):
            refused(client.post(path, json=body), 429, "waiting")


@pytest.mark.parametrize("body", [{}, {"text": 5}, {"text": "a", "top": 0}, {"text": "a", "top": 101}, {"text": "ü" * 5_001}])
def test_texts_that_cannot_be_looked_up(looked_up, body):
    refused(looked_up[0].post("/v1/neighbours", json=body), 422, "")


def test_a_key_for_reading_looks_up(tmp_path):
    asked = {"json": {"text": "one two three four five six"}}
    with client_of_index(tmp_path, {"a": "one two three four five six"}, keys=KEYS) as client:
        refused(client.post("/v1/neighbours", **asked), 401, "key")
        answer = client.post("/v1/neighbours", **asked, headers={"authorization": f"Bearer {READER}"})
    assert [match["id"] for match in answer.json()["results"]] == ["a"]
