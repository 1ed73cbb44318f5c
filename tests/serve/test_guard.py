import asyncio
from hashlib import sha256
from types import SimpleNamespace
from unittest.mock import Mock

from json_lines import read_lines
from serve.served import JSON, ask
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from lookalike.serve.app import make_app
from lookalike.serve.bodies import Limits
from lookalike.serve.guard import Keys, names_of
from lookalike.serve.log import Log

READER, WRITER = "r" * 20, "w" * 20
KEYS = Keys((sha256(READER.encode()).digest(),), (sha256(WRITER.encode()).digest(),))


def app_of(**more):
    async def echo(request):
        return PlainTextResponse(request.content)

    async def fail(request):
        raise RuntimeError("of a text that nobody may see")

    async def page(request):
        return PlainTextResponse("page" + request.content.decode())

    pages = [
        Route("/", page), Route("/v1/job", page, methods=["GET", "POST"]), Route("/v1/look", page, methods=["POST"]),
        Route("/v1/echo", echo, methods=["GET", "POST"]), Route("/v1/fail", fail),
    ]  # fmt: skip
    return make_app(pages=pages, reading=frozenset({"/v1/look"}), **more)


def problem(answer):
    assert answer.headers["content-type"] == "application/problem+json"
    told = answer.json()
    assert told["status"] == answer.status_code and told["type"] == "about:blank" and told["request_id"]
    return answer.status_code


HOSTS = frozenset((b"seen.example", b"other.example:81"))
OURS = ("127.0.0.1:8077", "localhost:8077", "LOCALHOST:8077", "seen.example", "seen.example:443", "other.example:81")
OTHERS = ("127.0.0.1", "127.0.0.1:80", "other.example", "evil.example:8077", "localhost:8077.evil.example", "")
ORIGINS = ("http://127.0.0.1", "http://localhost:8077", "http://evil.example", "null", "")
KINDS = ("application/vnd.apache.arrow.stream", "text/plain", "application/x-www-form-urlencoded", "application/jsonp", "")
REQUESTS = (  # status, method, path, headers
    *((200, "GET", "/healthz", {"host": host}) for host in OURS),
    *((421, "GET", "/healthz", {"host": host}) for host in OTHERS),
    *((200, "GET", "/healthz", {"origin": f"{scheme}://127.0.0.1:8077"}) for scheme in ("http", "https")),
    *((403, "GET", "/healthz", {"origin": origin}) for origin in ORIGINS),
    *((415, "POST", "/v1/echo", {"content-type": kind}) for kind in KINDS),
    (415, "POST", "/v1/echo", JSON | {"content-encoding": "gzip"}),
    *((200, "POST", "/v1/echo", {"content-type": kind}) for kind in ("application/json", "Application/JSON; charset=utf-8")),
    (404, "GET", "/nothing", {}),
    (404, "GET", "/v1/nothing", {}),
    (405, "PUT", "/v1/echo", {}),
    (405, "OPTIONS", "/v1/echo", {"access-control-request-method": "POST"}),
    (405, "POST", "/", JSON),
    (200, "GET", "/", {}),
    (413, "POST", "/v1/job", JSON),
)


def test_names_origins_types_paths_and_methods():
    """Every answer is kept from other sites."""
    app = app_of(hosts=HOSTS, limits=Limits(body=10))
    for status, method, path, headers in REQUESTS:
        content = None if method == "GET" else b"0123456789"[: 11 if status == 413 else 1] + b"A" * (status == 413)
        answer = ask(app, method, path, headers=headers, content=content)
        assert answer.status_code == status and (status == 200 or problem(answer) == status)
        assert (path, status) != ("/v1/echo", 200) or answer.content == content
        assert not [name for name in answer.headers if name.startswith("access-control")]
        assert answer.headers["x-content-type-options"] == "nosniff" and answer.headers["cache-control"] == "no-store"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin" and answer.headers["x-request-id"]
        assert status != 405 or answer.headers["allow"] == ("GET" if path == "/" else "GET, POST")
    assert names_of("10.0.0.1", 8077) == {b"10.0.0.1:8077"}
    assert names_of("10.0.0.1", 80) == {b"10.0.0.1:80", b"10.0.0.1"}
    assert names_of("::1", 8077) == {b"[::1]:8077", b"localhost:8077"}


def sent(app, messages, path="/v1/echo", **headers):
    """Return the status, and how many messages were taken."""
    left, statuses = [*messages], []

    async def receive():
        return left.pop(0)

    async def send(message):
        statuses.append(message.get("status"))

    named = {"host": "127.0.0.1:8077", "content-type": "application/json"} | headers
    scope = {"type": "http", "method": "POST", "path": path, "query_string": b"", "server": ("127.0.0.1", 8077), "client": None,
             "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in named.items()]}  # fmt: skip
    asyncio.run(app(scope, receive, send))
    return statuses[0] if statuses else None, len(messages) - len(left)


def part(size, more):
    return {"type": "http.request", "body": b"x" * size, "more_body": more}


def test_bodies_that_are_too_large_are_not_read():
    app = app_of(limits=Limits(body=10))
    for length, found in (("10", (200, 1)), ("11", (413, 0)), ("9" * 5000, (413, 0)), ("-1", (413, 0))):
        assert sent(app, [part(10, False)], content_length=length) == found
    assert sent(app, [part(6, True), part(4, False)]) == (200, 2)
    assert sent(app, [part(6, True), part(5, True), part(1, False)]) == (413, 2)
    app = app_of(limits=Limits(body=100, held=50))
    assert sent(app, [part(30, True), part(20, False)]) == (200, 2)
    assert sent(app, [part(30, True), part(21, True)]) == (429, 2) and app._held == 0


def test_without_a_key_no_body_is_read():
    for path, status in (("/", 405), ("/nothing", 404), ("/healthz", 405), ("/v1/echo", 401), ("/v1/nothing", 401)):
        assert sent(app_of(keys=KEYS), [part(10, False)], path, content_length="10") == (status, 0)


def test_a_client_that_leaves_gets_no_answer():
    app = app_of()
    assert sent(app, [part(3, True), {"type": "http.disconnect"}]) == (None, 2)
    assert app._held == app.open == 0 and b'route="/v1/echo",status="499"} 1.0' in app.metrics.page()


ALLOWED = {  # statuses without a key, with that of a reader, with that of a writer
    "GET /v1/echo": "401 200 200",
    "POST /v1/echo": "401 403 200",
    "GET /metrics": "401 200 200",
    "GET /": "200 200 200",
    "GET /healthz": "200 200 200",
    "GET /readyz": "200 200 200",
    "GET /openapi.json": "200 200 200",
    "GET /v1/job": "401 200 200",
    "POST /v1/job": "401 403 200",
    "POST /v1/look": "401 200 200",
    "GET /v1/nothing": "401 404 404",
}


def test_keys():
    app = app_of(keys=KEYS)
    for route, statuses in ALLOWED.items():
        method, path = route.split()
        content = b"{}" if method == "POST" else None
        for key, status in zip(("", READER, WRITER), map(int, statuses.split()), strict=True):
            answer = ask(app, method, path, headers=JSON | {"authorization": f"Bearer {key}"}, content=content)
            assert answer.status_code == status
            assert status != 401 or (problem(answer) == 401 and answer.headers["www-authenticate"] == "Bearer")
    assert ask(app, path="/v1/echo").status_code == 401
    for header in (READER, f"Basic {READER}", "Bearer", "Bearer ", "Bearer " + "x" * 20, f"Bearer {READER}r"):
        assert ask(app, path="/v1/echo", headers={"authorization": header}).status_code == 401
    assert ask(app, path="/v1/echo", headers={"authorization": f"bearer  {READER} "}).status_code == 200


def test_ids_of_requests():
    for given in ("", "a b", "x" * 65, "é", "a\tb"):
        assert ask(app_of(), headers={"x-request-id": given.encode()}).headers["x-request-id"] not in ("", given)
    assert ask(app_of(), headers={"x-request-id": "Crawl-7.b_1"}).headers["x-request-id"] == "Crawl-7.b_1"


def test_failures_say_nothing_of_texts(tmp_path):
    with open(tmp_path / "log", "wb") as file:
        app = app_of(log=Log(file.fileno()))
        answer = ask(app, path="/v1/fail", headers={"x-request-id": "seven"})
        app.log.flush()
    lines = read_lines(tmp_path / "log")
    assert problem(answer) == 500 and "nobody" not in answer.text + str(lines)
    assert [line["event"] for line in lines] == ["failure", "request"]
    assert lines[0]["error"] == "RuntimeError" and lines[0]["id"] == "seven" and "test_guard.py" in lines[0]["places"][-1]


def test_while_it_ends_it_says_so():
    app = app_of()
    app.ending = True
    echo = ask(app, path="/v1/echo")
    assert problem(echo) == problem(ask(app, path="/readyz")) == 503 and echo.headers["retry-after"] == "1"


def test_a_log_whose_reader_is_gone(monkeypatch):
    app = app_of(log=Log())
    monkeypatch.setattr("lookalike.serve.log.os", SimpleNamespace(write=Mock(side_effect=BrokenPipeError)))
    assert ask(app).status_code == 200
    app.log.flush()
