import json
import re
from contextlib import contextmanager
from hashlib import sha256
from unittest.mock import Mock

import pytest
from serve.desk_jobs import HOSTILE, plain
from serve.served import JSON, make_index
from starlette.testclient import TestClient

import lookalike as la
from lookalike.serve import desk
from lookalike.serve.app import make_app
from lookalike.serve.bodies import Limits
from lookalike.serve.guard import Keys
from lookalike.serve.log import Metrics
from lookalike.serve.store import BatchedIndex

READER = "reader-reader-reader"


def client_of(routes, store=None, **given):
    app = make_app(store, pages=routes, reading=desk.READING, hosts=frozenset((b"testserver",)), **given)
    return TestClient(app)


@contextmanager
def client_of_index(folder, texts, limits, keep_text=False, **given):
    made = make_index(folder / "seen.idx", texts, width=5, keep_text=keep_text)
    store = BatchedIndex(la.Index.open(made), limits, Metrics())
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


def refused(answer, status, said):
    assert answer.status_code == status and answer.headers["content-type"].startswith("application/problem+json"), answer.text
    assert re.search(said, answer.json()["detail"]), answer.text


def test_files_come_with_a_policy_that_allows_nothing_foreign(client):
    for path in ("/", *(f"/pages/{name}" for name in desk.PAGES)):
        answer = client.get(path)
        policy = answer.headers["content-security-policy"].split("; ")
        assert policy[0] == "default-src 'none'" and "frame-ancestors 'none'" in policy
        assert {rule.split(" ", 1)[1] for rule in policy} == {"'none'", "'self'"}
        assert answer.status_code == 200 and answer.headers["referrer-policy"] == "no-referrer" and len(answer.content) > 100
        assert not re.search("https?:|style=| onclick", answer.text.replace("http://www.w3.org/2000/svg", ""))
    for path in ("/pages/job.html", "/pages/../desk.py", "/pages/%2e%2e/desk.py", "/nothing", "/v1/nothing"):
        refused(client.get(path), 404, "nothing at this path")
    for answer in (client.post("/v1/removals", json={}), client.get("/v1/judgements")):
        refused(answer, 405, "")


def test_a_job_page_by_page(client):
    about = client.get("/v1/job").json()
    said = "67 of 127 documents were removed as duplicates: 7 exact and 60 near, with a resemblance of"
    assert about["said"].startswith(said)
    assert [source["removed"] for source in about["sources"]] == [67] and about["more_sources"] == 0
    assert about["progress"] == {"duplicate": 0, "keep": 0, "unsure": 0, "judged": 0, "of": 60, "copies": 0, "drawn": 0}
    assert client.get("/v1/removals?begin=60000&n=5").json() == {"total": 67, "begin": 60_000, "rows": []}
    (row,) = client.get("/v1/removals?find=b11&source=1&kind=near").json()["rows"]
    pair = client.get(f"/v1/removals/{row['row']}?beside=60,61").json()
    assert (pair["left_name"], pair["name"], pair["why"]) == (row["kept"], row["name"], None) == ("a11", "b11", None)
    compared = pair["compared"]
    assert compared["words"] == [100, 100, 98] and compared["shaded"] and "new" in json.dumps(compared["rows"])
    report = client.get("/v1/report")
    assert report.headers["content-type"].startswith("text/html") and "67 documents removed" in report.text
    assert report.headers["content-security-policy"] == "frame-ancestors 'none'", "the page has a policy of its own"


def test_what_cannot_be_asked(client, saved):
    for path, said in {
        "?n=0": "n in 1..200",
        "?begin=-1": "begin must be a whole number",
        "?source=%C2%B2": "whole number",
        "?wrong=1": "unknown parameter 'wrong'",
        "/0": "was not removed",
        "/x": "the row must be",
        "/99999999": "was not removed",
        "/60?beside=0": "was not removed",
    }.items():
        refused(client.get(f"/v1/removals{path}"), 422, said)
    for body in (
        {}, {"row": 60}, {"row": "60", "judgement": None}, {"row": 60, "judgement": "yes"}, {"row": 0, "judgement": None}, [],
        {"row": 60, "judgement": "keep", "note": "x" * 2001}, {"row": 60, "judgement": "keep", "more": 1},
    ):  # fmt: skip
        refused(client.post("/v1/judgements", json=body), 422, "")
    assert not (saved / "review.jsonl").exists()
    for path, body, status in (("judgements", b"[" * 100_000, 422), ("judgements", b"\xff", 400), ("undo", b"{", 400)):
        refused(client.post(f"/v1/{path}", content=body, headers=JSON), status, "")


def test_what_fails_says_why(client, saved, monkeypatch):
    (saved / "review.jsonl").mkdir()
    refused(client.post("/v1/judgements", json={"row": 60, "judgement": "unsure"}), 507, "cannot be written")
    (saved / "review.jsonl").rmdir()
    error = la.errors.MissingExtraError("jinja2 is not installed: pip install 'lookalike[report]'")
    monkeypatch.setattr("lookalike.serve.desk_job.write_report", Mock(side_effect=error))
    refused(client.get("/v1/report"), 501, "pip install")


@pytest.mark.parametrize("keeps", [True, False], ids=["with texts", "without texts"])
def test_a_text_is_looked_up_and_shown_beside_a_neighbour(tmp_path, monkeypatch, keeps):
    whole = "one two three four five six seven eight nine ten"
    with client_of_index(tmp_path, {2**60: whole, -7: HOSTILE[0]}, Limits(text=10_000), keeps) as client:
        about = client.get("/v1/about").json()
        assert about["keeps_texts"] is keeps and "seen.idx has 2 documents" in about["said"] and about["most_bytes"] == 10_000
        (match,) = client.post("/v1/neighbours", json={"text": f"{whole}, eleven"}).json()["results"]
        assert match["low"] < match["estimate"] <= match["high"] <= 1
        told = {"id": str(2**60), "has_text": keeps, "resemblance": pytest.approx(6 / 7) if keeps else None}
        assert match.items() >= (told | {"begins": whole if keeps else ""}).items()
        compared = client.post("/v1/beside", json={"text": "one two three four five six seven", "id": str(2**60)}).json()
        if keeps:
            assert compared["why"] is None and compared["compared"]["words"] == [10, 7, 7]
        else:
            assert compared == {"compared": None, "why": "This index keeps no texts."}
        for id, status, said in (("5", 404, "no longer has a document"), ("five", 422, "ids of this index are integers")):
            refused(client.post("/v1/beside", json={"text": "a", "id": id}), status, said)
        for body in ({}, {"text": 5}, {"text": "a", "top": 0}, {"text": "a", "top": 101}, {"text": "ü" * 5_001}):
            refused(client.post("/v1/neighbours", json=body), 422, "")
        monkeypatch.setattr("lookalike.Index.query", Mock(side_effect=la.errors.IndexFormatError("segment-00000001: damaged")))
        refused(client.post("/v1/neighbours", json={"text": "a"}), 500, "damaged")


def test_the_page_waits_as_all_others_do_and_a_key_for_reading_is_enough(tmp_path):
    """What the page asks for is within the limit of what may wait."""
    keys, reading = Keys((sha256(READER.encode()).digest(),), ()), {"authorization": f"Bearer {READER}"}
    with client_of_index(tmp_path, {"a": "one two three four five six"}, Limits(waiting=0), keys=keys) as client:
        assert client.get("/").status_code == client.get("/pages/index.js").status_code == 200
        for path, body in (("/v1/neighbours", {"text": "a"}), ("/v1/beside", {"text": "a", "id": "a"})):
            refused(client.post(path, json=body), 401, "key")
            refused(client.post(path, json=body, headers=reading), 429, "waiting")
