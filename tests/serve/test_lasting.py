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
    rng = random.Random(name)

    def added(texts):
        attempted.update(texts)
        for id in texts:
            acknowledged.pop(id, None)
        documents = [{"id": id, "text": text} for id, text in texts.items()]
        client.post("/v1/documents", json={"documents": documents}).raise_for_status()
        acknowledged.update(texts)

    with contextlib.suppress(httpx.HTTPError):
        for i in range(10_000):
            added({f"{name}-{i}-{k}": f"text {name}-{i}-{k} of version one" for k in range(rng.randrange(1, 4))})
            chosen = rng.choice([*acknowledged])
            if i % 3 == 1:
                added({chosen: f"text {chosen} of version {i}"})
            elif i % 3 == 2:
                acknowledged.pop(chosen)
                client.request("DELETE", "/v1/documents", json={"ids": [chosen]}).raise_for_status()
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
            assert server.stop(signal.SIGKILL) == -9
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
