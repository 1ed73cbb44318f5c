"""Lines of the log, and pages of metrics."""

import json
import logging

from json_lines import read_lines

from lookalike.serve.log import FLUSH_LINES, Handler, Log


def test_lines_are_gathered_and_all_written(tmp_path):
    path = tmp_path / "log"
    asked = ("127.0.0.1", "GET", "/healthz", 200, 0.1, 0, 18)
    with open(path, "wb") as file:
        log = Log(file.fileno())
        quiet = Log(file.fileno(), requests=False)
        for i in range(FLUSH_LINES - 1):
            log.request(f"r{i}", *asked)
        assert path.read_bytes() == b""
        log.request("last", *asked)
        assert len(read_lines(path)) == FLUSH_LINES and read_lines(path)[-1]["id"] == "last"
        log.event("ended")
        quiet.request("none", *asked)
        quiet.flush()
        assert read_lines(path)[-1]["event"] == "ended" and len(read_lines(path)) == FLUSH_LINES + 1


def test_lines_are_whole_where_a_pipe_takes_a_part(monkeypatch):
    written = []

    def some(_, data):
        written.append(bytes(data[:7]))
        return min(7, len(data))

    monkeypatch.setattr("lookalike.serve.log.os.write", some)
    Log(99).event("event", detail="more than seven bytes")
    assert json.loads(b"".join(written))["detail"] == "more than seven bytes"


def test_messages_of_libraries_are_not_quoted(tmp_path):
    path = tmp_path / "log"
    with open(path, "wb") as file:
        handler = Handler(Log(file.fileno()))
        for name, said in (("uvicorn.error", "failed"), ("asyncio", "failed with secret")):
            logger = logging.Logger(name)
            logger.addHandler(handler)
            logger.info("not at all")
            logger.warning("Invalid request from %s", "secret")
            try:
                raise ValueError("secret")
            except ValueError:
                logger.exception(said)
    assert "secret" not in path.read_text()
    told = [(line["event"], line.get("level"), line["message"], line.get("error")) for line in read_lines(path)]
    assert told == [
        ("library", "WARNING", "Invalid request from %s", None),
        ("library", None, "failed", "ValueError"),
        ("library", "WARNING", "", None),
        ("library", None, "", "ValueError"),
    ]
