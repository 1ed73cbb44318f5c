import logging
import os

from json_lines import read_lines

from lookalike.serve.log import FLUSH_LINES, Handler, Log


def test_lines_are_gathered_and_all_written(tmp_path, monkeypatch):
    path, write = tmp_path / "log", os.write
    monkeypatch.setattr("lookalike.serve.log.os.write", lambda to, data: write(to, bytes(data[:700])))
    with open(path, "wb") as file:
        for n, log in enumerate((Log(file.fileno(), requests=False), Log(file.fileno()))):
            for i in range(FLUSH_LINES):
                log.request(f"r{i}", "127.0.0.1", "GET", "/healthz", 200, 0.1, 0, 18)
            assert len(read_lines(path)) == n * FLUSH_LINES + n
            log.event("ended")
    assert read_lines(path)[-2]["id"] == f"r{FLUSH_LINES - 1}" and read_lines(path)[-1]["event"] == "ended"


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
