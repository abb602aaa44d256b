"""Many requests at once, slow ones, and workers that are lost."""

import os
import signal
import time

import anyio
import httpx
import pytest

import leafid
from leafid.pages import field_guide
from leafid.pages.model_workers import ModelWorkers
from leafid.pages.site import make_app
from leafid.pages.uploads import Limits
from leafid.workers import WorkerError

pytestmark = pytest.mark.skipif(os.name != "posix", reason="stops processes by signals")


async def post(app, **request):
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=None) as client:
        return await client.post("/identify", **request)


def test_each_of_60_requests_at_once_is_answered_or_refused(pool, leaf):
    limit, sent = 20, 60
    app = make_app(pool, limits=Limits(requests=limit))
    found = []

    async def send():
        found.append(await post(app, files=leaf))

    async def send_many():
        async with anyio.create_task_group() as group:
            for _ in range(sent):
                group.start_soon(send)

    anyio.run(send_many)
    statuses = [response.status_code for response in found]
    assert (statuses.count(200), statuses.count(503)) == (limit, sent - limit)
    assert all(int(response.headers["Retry-After"]) > 0 for response in found if response.status_code == 503)


def kill(_model, _source):
    os.kill(os.getpid(), signal.SIGKILL)


def hang(_model, *_):
    time.sleep(600)


def get_process(_model):
    return os.getpid()


def test_a_killed_worker_costs_one_request(client, pool, leaf, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(field_guide, "describe_model", kill)
        found = client.get("/species")
    assert found.status_code == 503
    assert "a worker process ended" in found.json()["problem"]
    assert client.post("/identify", files=leaf).status_code == 200


def test_a_worker_that_hangs_is_replaced(drawn_model, leaf, monkeypatch):
    pool = ModelWorkers(str(drawn_model), seconds=1)
    try:
        pool.start()
        with pytest.raises(WorkerError, match="took too long"):
            anyio.run(pool.call, hang)
        assert anyio.run(pool.call, get_process)
    finally:
        pool.close()


def test_a_slow_upload_is_ended(pool):
    async def send_slowly():
        yield b"--x\r\n"
        await anyio.sleep_forever()

    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    app = make_app(pool, limits=Limits(upload_seconds=0.2))
    found = anyio.run(lambda: post(app, content=send_slowly(), headers=headers))
    assert (found.status_code, set(found.json())) == (408, {"problem"})


def test_a_file_that_is_no_model_is_reported_at_the_start(tmp_path):
    (tmp_path / "no.leafid").write_bytes(b"x")
    with pytest.raises(leafid.LeafidError, match=r"no\.leafid"):
        ModelWorkers(str(tmp_path / "no.leafid")).start()
