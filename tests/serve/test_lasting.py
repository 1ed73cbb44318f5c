"""What was acknowledged is there after a kill in the middle of writes."""

import contextlib
import random
import signal
import threading

import httpx
from serve.served import Server, make_index
from waiting import until

import lookalike as la

ROUNDS, WRITERS = 2, 3


def write(client, name, acknowledged, attempted):
    """Add, replace and remove documents until the server is gone; note what it has acknowledged."""
    rng = random.Random(name)

    def sent(method, body):
        client.request(method, "/v1/documents", json=body).raise_for_status()

    def added(texts):
        sent("POST", {"documents": [{"id": id, "text": text} for id, text in texts.items()]})
        acknowledged.update(texts)

    with contextlib.suppress(httpx.HTTPError):
        for i in range(10_000):
            texts = {id: f"text {id} of version one" for id in [f"{name}-{i}-{k}" for k in range(rng.randrange(1, 4))]}
            chosen = rng.choice([*acknowledged, None])
            attempted |= texts
            added(texts)
            if chosen and i % 3 == 1:
                attempted[chosen] = f"text {chosen} of version {i}"
                acknowledged.pop(chosen)
                added({chosen: attempted[chosen]})
            if chosen and i % 3 == 2:
                acknowledged.pop(chosen)
                sent("DELETE", {"ids": [chosen]})
                attempted.pop(chosen)


def test_nothing_acknowledged_is_lost_by_a_kill(tmp_path):
    server = Server(make_index(tmp_path / "seen.idx", None, keep_text=True))
    held = {}
    for turn in range(ROUNDS):
        server.start()
        with contextlib.ExitStack() as stack:
            some = [(stack.enter_context(server.client()), f"{turn}{n}", {}, {}) for n in range(WRITERS)]
            threads = [threading.Thread(target=write, args=given) for given in some]
            for thread in threads:
                thread.start()
            until(lambda some=some, turn=turn: sum(len(acknowledged) for *_, acknowledged, _ in some) > 3 + 10 * turn)
            assert server.stop(signal.SIGKILL)[0] == -9
            for thread in threads:
                thread.join()
        with la.Index.open(server.folder) as index:
            assert index.check() == []
            there = {row["id"]: row["text"] for table in index.export() for row in table.to_pylist()}
        for *_, acknowledged, attempted in some:
            assert acknowledged.items() <= there.items()
            held |= attempted
        assert set(there) <= set(held) and len(there) > 5
        held = there
