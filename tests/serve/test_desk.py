"""The routes of the pages: headers, what they answer, what they refuse, keys."""

import json
import re
from contextlib import contextmanager

import pytest
from serve.desk_jobs import HOSTILE, plain
from serve.served import JSON

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
    assert answer.status_code == status and answer.headers["content-type"].startswith("application/problem+json"), answer.text
    assert re.search(said, answer.json()["detail"]), answer.text


def test_files_come_with_a_policy_that_allows_nothing_foreign(client):
    for path in ("/", *(f"/pages/{name}" for name in desk.PAGES)):
        answer = client.get(path)
        assert answer.status_code == 200 and len(answer.content) > 100
        policy = answer.headers["content-security-policy"].split("; ")
        assert policy[0] == "default-src 'none'" and "frame-ancestors 'none'" in policy
        assert {rule.split(" ", 1)[1] for rule in policy} == {"'none'", "'self'"}
        assert answer.headers["x-content-type-options"] == "nosniff" and answer.headers["referrer-policy"] == "no-referrer"
        text = answer.text.replace("http://www.w3.org/2000/svg", "")
        assert not re.search("https?:|style=| onclick", text)
    for path in ("/pages/job.html", "/pages/../desk.py", "/pages/%2e%2e/desk.py", "/nothing", "/v1/nothing"):
        refused(client.get(path), 404, "nothing at this path")
    for answer in (client.post("/v1/removals", json={}), client.get("/v1/judgements")):
        refused(answer, 405, "")


def test_our_scripts_are_small_and_use_text_content_alone():
    scripts = b"".join(desk.page(name) for name in desk.PAGES if name.endswith(".js"))
    assert len(scripts) < 30_000
    unsafe = rb"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|Function\(|localStorage|cookie"
    assert not re.search(unsafe, scripts)
    pages = desk.page("job.html") + desk.page("index.html")
    assert not re.search(rb"<script>|<script [^>]*>[^<]", pages), "scripts are files"


def test_a_job_page_by_page(client):
    about = client.get("/v1/job").json()
    assert about["said"].startswith(
        "67 of 127 documents were removed as duplicates: 7 exact and 60 near, with a resemblance of"
    )
    assert [source["removed"] for source in about["sources"]] == [67] and about["more_sources"] == 0
    assert about["progress"] == {"duplicate": 0, "keep": 0, "unsure": 0, "judged": 0, "of": 60, "copies": 0, "drawn": 0}

    def listed(**asked):
        return client.get("/v1/removals", params=asked).json()

    first = listed(kind="near")
    rest = listed(kind="near", begin=50)
    assert (first["total"], rest["total"], rest["begin"], len(first["rows"])) == (60, 60, 50, 50)
    found = first["rows"] + rest["rows"]
    scores = [row["score"] for row in found]
    assert len({row["row"] for row in found}) == 60 and scores == sorted(scores)
    row = found[0]
    assert row["name"][1:] == row["kept"][1:] and (row["name"][0], row["kept"][0]) == ("b", "a")
    beside = ",".join(str(other["row"]) for other in rest["rows"])
    pair = client.get(f"/v1/removals/{row['row']}", params={"beside": beside}).json()
    assert (pair["left_name"], pair["name"], pair["why"]) == (row["kept"], row["name"], None)
    compared = pair["compared"]
    assert compared["words"][:2] == [100, 100] and 90 < compared["words"][2] < 100
    assert compared["shaded"] and "new" in json.dumps(compared["rows"])
    assert [one["name"] for one in listed(find="b11", source="1")["rows"]] == ["b11"]
    assert listed(begin=60_000, n=5) == {"total": 67, "begin": 60_000, "rows": []}


def test_judgements_are_made_and_undone(client, saved):
    first, second = client.get("/v1/removals", params={"kind": "near", "n": 2}).json()["rows"]
    note = "\u202e</script>"
    for n, (row, said) in enumerate(((first, "keep"), (second, "duplicate")), 1):
        body = {"row": row["row"], "judgement": said, "note": note}
        assert client.post("/v1/judgements", json=body).json()["progress"]["judged"] == n
    listed = client.get("/v1/removals", params={"judged": "keep"}).json()["rows"]
    assert [(one["name"], one["note"]) for one in listed] == [(first["name"], note)]
    assert json.loads((saved / "overrides.jsonl").read_text())["id"] == first["name"]
    assert [client.post("/v1/undo", json={}).json()["row"] for _ in range(3)] == [second["row"], first["row"], None]
    assert (saved / "overrides.jsonl").read_bytes() == b""


def test_what_cannot_be_asked(client, saved):
    for path, said in {
        "?order=x": "order must be one of",
        "?n=0": "n in 1..200",
        "?n=9999999999999999": "whole number",
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
    for body in (b"", b"{", b"\xff", b"[" * 100_000):
        answer = client.post("/v1/judgements", content=body, headers=JSON)
        assert answer.status_code in (400, 422) and len(answer.content) < 1000
    refused(client.post("/v1/undo", content=b"{", headers=JSON), 400, "not JSON")


def test_with_keys_pages_are_open_and_data_are_not(saved):
    client = client_of(desk.routes_of_job(saved), keys=KEYS)
    reading, writing = ({"authorization": f"Bearer {key}"} for key in (READER, WRITER))
    assert client.get("/").status_code == client.get("/pages/job.js").status_code == 200
    for path in ("/v1/job", "/v1/removals", "/v1/removals/60", "/v1/report"):
        refused(client.get(path), 401, "key")
    assert client.get("/v1/job", headers=reading).status_code == 200
    refused(client.post("/v1/undo", json={}, headers=reading), 403, "only allows reading")
    assert client.post("/v1/undo", json={}, headers=writing).status_code == 200
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

    def asked(text):
        return client.post("/v1/neighbours", json={"text": text}).json()["results"]

    (match,) = asked("One two three four five six seven eight nine ten, eleven")
    assert (match["id"], match["has_text"]) == (str(2**60), keeps) and match["low"] < match["estimate"] <= match["high"] <= 1
    assert match["resemblance"] == (pytest.approx(6 / 7) if keeps else None)
    assert match["begins"] == ("one two three four five six seven eight nine ten" if keeps else "")
    assert asked("something that nobody has seen before now") == []


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


def test_the_page_waits_as_all_others_do_and_a_key_for_reading_is_enough(tmp_path):
    """What the page of an index asks for is within the limit of what may wait."""
    texts = {"a": "one two three four five six"}
    reading = {"authorization": f"Bearer {READER}"}
    (tmp_path / "busy").mkdir()
    with client_of_index(tmp_path / "busy", texts, Limits(waiting=0)) as client:
        for path, body in (("/v1/neighbours", {"text": "a"}), ("/v1/beside", {"text": "a", "id": "a"})):
            refused(client.post(path, json=body), 429, "waiting")
    with client_of_index(tmp_path, texts, keys=KEYS) as client:
        refused(client.post("/v1/neighbours", json={"text": texts["a"]}), 401, "key")
        (match,) = client.post("/v1/neighbours", json={"text": texts["a"]}, headers=reading).json()["results"]
        assert match["id"] == "a"


def test_texts_that_cannot_be_looked_up(looked_up):
    for body in ({}, {"text": 5}, {"text": "a", "top": 0}, {"text": "a", "top": 101}, {"text": "ü" * 5_001}):
        refused(looked_up[0].post("/v1/neighbours", json=body), 422, "")
