import json
import re
import shlex
from getopt import gnu_getopt
from pathlib import Path

import pytest
from serve.served import Server, make_index

from lookalike.cli.serve import serve

PAGE = (Path(__file__).parents[2] / "docs/how-to/service.md").read_text()
SHOWN = re.findall(r"^\$ curl (.*)\n(\{.*)$", PAGE.replace("\\\n", ""), re.MULTILINE)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = make_index(tmp_path_factory.mktemp("page") / "seen.idx", None, keep_text=True, threshold=0.7)
    with Server(folder).running() as made:
        yield made


def test_what_the_page_shows(server):
    assert len(SHOWN) == 6
    with server.client() as client:
        for line, shown in SHOWN:
            options, (url,) = gnu_getopt(shlex.split(line), "sH:d:X:")
            headers, given = dict(value.split(": ") for name, value in options if name == "-H"), dict(options)
            method, path = given.get("-X", "POST" if "-d" in given else "GET"), url.removeprefix("http://127.0.0.1:8077")
            got = client.request(method, path, headers=headers, content=given.get("-d")).json()
            expected = json.loads(shown)
            for answer in (got, expected):
                answer.pop("request_id", None)
            assert got == expected, line


def test_limits_and_metrics_are_those_of_the_command(server):
    options = {option.opts[0]: option for option in serve.params}
    table = re.findall(r"^\| `(--[a-z-]+)` \| (\S+) \|", PAGE, re.MULTILINE)
    assert [(name, str(options[name].default).removesuffix(".0")) for name, _ in table] == table and len(table) == 6
    statuses = set(re.findall(r"\b[45]\d\d\b", PAGE.partition("## Errors")[2].partition("## Limits")[0]))
    with server.client() as client:
        document = client.get("/openapi.json").json()
    described = {status for path in document["paths"].values() for method in path.values() for status in method["responses"]}
    assert described - {"200"} <= statuses
