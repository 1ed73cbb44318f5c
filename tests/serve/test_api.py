from functools import partial
from unittest.mock import Mock

from serve import served
from serve.served import JSON, TEXTS, make_index

import lookalike as la
from lookalike.recipes.compare import compare_texts
from lookalike.serve.app import make_app
from lookalike.serve.bodies import Limits
from lookalike.serve.log import Metrics
from lookalike.serve.store import BatchedIndex


def test_a_query_is_answered_as_the_index_does(server, client):
    texts = [TEXTS["a"], "nothing", TEXTS["b"].upper() + "!", ""]
    found = client.post("/v1/query", json={"texts": texts, "top": 5}).raise_for_status().json()["results"]
    with la.Index.open(server.folder, "read") as index:
        expected = index.query(texts, top=5).to_pylist()
    assert [{"query": query} | match for query, matches in enumerate(found) for match in matches] == expected
    assert [len(one) for one in found] == [2, 0, 2, 0] and (found[0][0]["id"], found[0][0]["resemblance"]) == ("a", 1.0)
    assert client.post("/v1/query", json={"texts": [TEXTS["b"]], "top": 1}).json()["results"] == [found[2][:1]]


def test_documents_are_added_replaced_returned_and_removed(server, client):
    given = [{"id": "new/1 é", "text": "quite another text than those"}, {"id": "new2", "text": "short"}]
    assert client.post("/v1/documents", json={"documents": given}).json() == {"added": 2, "replaced": 0}
    (found,) = client.post("/v1/query", json={"texts": ["quite another text than those"]}).json()["results"]
    assert [match["id"] for match in found] == ["new/1 é"]
    with la.Index.open(server.folder, "read") as index:  # on disk by now
        assert index.contains(["new/1 é", "new2", "new3"]).tolist() == [True, True, False]
    assert client.get("/v1/documents/new%2F1%20%C3%A9").json() == given[0]
    given[0]["text"] = "changed altogether"
    assert client.post("/v1/documents", json={"documents": given[:1]}).json() == {"added": 1, "replaced": 1}
    assert client.get("/v1/documents/new/1 é").json() == given[0]
    assert client.request("DELETE", "/v1/documents", json={"ids": ["new/1 é", "new2", "never there"]}).json() == {"removed": 2}
    assert client.get("/v1/documents/new2").status_code == 404
    assert client.request("DELETE", "/v1/documents", json={"ids": []}).json() == {"removed": 0}
    assert client.post("/v1/documents", json={"documents": []}).json() == {"added": 0, "replaced": 0}


def test_compare_says_what_python_says(client):
    for left, right in (("one two three four", "one two three five"), ("", "")):
        told = client.post("/v1/compare", json={"left": left, "right": right}).json()
        assert told == compare_texts(left, right, width=2)


GROWN = {  # by what is asked in between
    'requests_total{method="POST",route="/v1/query",status="200"}': 1,
    'request_seconds_count{route="/v1/query"}': 1,
    'request_seconds_bucket{le="+Inf",route="/v1/query"}': 1,
    "texts_queried_total": 2,
    "documents_added_total": 2,
    "documents_replaced_total": 1,
    "documents_removed_total": 1,
    "commit_seconds_count": 2,
    "query_group_requests_count": 1,
}


def test_the_server_says_how_it_is(client):
    assert client.get("/healthz").json() == {"status": "alive"} and client.get("/readyz").json() == {"status": "ready"}
    assert client.head("/healthz").status_code == 200 and client.head("/healthz").content == b""

    def read():
        lines = client.get("/metrics").raise_for_status().text.splitlines()
        return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))}

    before = read()
    client.post("/v1/query", json={"texts": ["a", "b"]})
    client.post("/v1/documents", json={"documents": [{"id": "m", "text": "m n o"}, {"id": "a", "text": TEXTS["a"]}]})
    client.request("DELETE", "/v1/documents", json={"ids": ["m"]})
    client.get("/v1/documents/not-to-be-seen")
    after = read()
    assert {name: after[f"lookalike_{name}"] - before.get(f"lookalike_{name}", 0) for name in GROWN} == GROWN
    assert after["lookalike_documents"] == before["lookalike_documents"] and after["lookalike_open_requests"] == 1
    assert "not-to-be-seen" not in str(after) and "_created" not in str(after)


REFUSED = {
    400: (b"{", b"", b'{"texts": ["\xff"]}', b'{"texts": ["\\udc00"]}'),
    422: (
        b'{"texts": ' + b"[" * 100_000,
        b"{}",
        b'{"texts": "one"}',
        b'{"texts": [null]}',
        b'{"texts": [], "limit": 3}',
        b'{"texts": [], "top": 0}',
        b'{"texts": [], "top": 1001}',
        b'{"texts": [], "top": true}',
        b'{"texts": [' + b'"",' * 1000 + b'""]}',
        b'{"top": 1000, "texts": [' + b'"",' * 100 + b'""]}',
        b'{"texts": ["' + b"a" * ((1 << 20) + 1) + b'"]}',
        b'{"texts": ["' + "é".encode() * ((1 << 19) + 1) + b'"]}',
    ),
}


def test_bodies_that_are_refused(client):
    """Not UTF-8, a lone surrogate, nested deeply, of other types, too many or too long by one, in characters or in bytes."""
    for status, bodies in REFUSED.items():
        for body in bodies:
            answer = client.post("/v1/query", content=body, headers=JSON | {"x-request-id": "mine-1"})
            assert answer.status_code == status and answer.headers["content-type"] == "application/problem+json"
            told = answer.json()
            assert set(told) == {"type", "title", "status", "detail", "request_id"} and told["status"] == status
            assert told["request_id"] == answer.headers["x-request-id"] == "mine-1"
    assert client.post("/v1/query?top=1", json={"texts": ["x"]}).status_code == 422
    for body in (
        b'{"texts": ["' + b"a" * (1 << 20) + b'"]}',
        b'{"texts": [' + b'"a b c",' * 999 + b'"a"]}',
        b'{"texts": ["\\u0000\\u2028"]}',
    ):
        assert client.post("/v1/query", content=body, headers=JSON).status_code == 200


def test_documents_that_are_refused(client):
    for said, *documents in (
        ("twice", {"id": "q", "text": "1"}, {"id": "q", "text": "2"}),
        ("of type str", {"id": 1, "text": "1"}),
        ("all be strings", {"id": "q", "text": "1"}, {"id": 1, "text": "2"}),
        ("length", {"id": "", "text": "1"}),
        ("length", {"id": "x" * 1001, "text": "1"}),
        ("id", {"id": 1 << 63, "text": "1"}),
        ("text", {"id": "q"}),
    ):
        answer = client.post("/v1/documents", json={"documents": documents})
        assert answer.status_code == 422 and said in answer.json()["detail"]
    assert client.get("/v1/documents/q").status_code == 404


def test_ids_that_are_numbers(tmp_path, monkeypatch):
    """And a damaged index is a failure, no missing document."""
    store = BatchedIndex(la.Index.open(make_index(tmp_path / "numbers.idx", None)), Limits(), Metrics())
    ask, documents, most = partial(served.ask, make_app(store)), "/v1/documents", (1 << 63) - 1
    assert ask("GET", f"{documents}/-5").status_code == 404
    ids = [-5, 1 << 60, most]
    given = [{"id": id, "text": text} for id, text in zip(ids, ("one two three", "four five six", "x"), strict=True)]
    assert ask("POST", documents, json={"documents": given}).json() == {"added": 3, "replaced": 0}
    for other in ("5", "x", "1e3", "²", "9" * 19, "9" * 30, str(most - 1), "--5", "-"):
        assert ask("GET", f"{documents}/{other}").status_code == 404
    assert [ask("GET", f"{documents}/{id}").json() for id in ids] == [{"id": id, "text": None} for id in ids]
    (found,) = ask("POST", "/v1/query", json={"texts": ["four five six"]}).json()["results"]
    assert [(match["id"], match["resemblance"]) for match in found] == [(1 << 60, None)]
    assert ask("DELETE", documents, json={"ids": ["-5"]}).status_code == 422
    monkeypatch.setattr(store.index, "get", Mock(side_effect=la.errors.IndexFormatError("segment-00000001: damaged")))
    assert ask("GET", f"{documents}/-5").status_code == 500
    assert store.close(10)
