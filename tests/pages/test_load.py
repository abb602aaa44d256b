"""Many requests at once, slow ones, and workers that are lost."""

import os
import signal

import anyio
import httpx
import pytest

from leafid.pages import field_guide
from leafid.pages.site import make_app
from leafid.pages.uploads import Limits
from tests.pages.browsing import start_worker

pytestmark = pytest.mark.skipif(os.name != "posix", reason="stops processes by signals")


@pytest.fixture(scope="module")
def pool(light_model):
    """A worker that starts again in a second."""
    with start_worker(light_model) as workers:
        yield workers


async def post(app, **request):
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(
        transport=transport, base_url="http://localhost", timeout=None
    ) as client:
        return await client.post("/identify", **request)


def test_each_of_60_requests_at_once_is_answered_or_refused(pool, leaf):
    limit, sent = 20, 60
    app = make_app(*pool, limits=Limits(requests=limit))
    responses = []

    async def send():
        responses.append(await post(app, files=leaf))

    async def send_many():
        async with anyio.create_task_group() as group:
            for _ in range(sent):
                group.start_soon(send)

    anyio.run(send_many)
    statuses = [response.status_code for response in responses]
    assert (statuses.count(200), statuses.count(503)) == (limit, sent - limit)
    assert all(
        int(response.headers["Retry-After"]) > 0
        for response in responses
        if response.status_code == 503
    )


def kill(_model, _source):
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_killed_worker_costs_one_request(client, pool, leaf, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(field_guide, "describe_model", kill)
        response = client.get("/species")
    assert response.status_code == 503
    assert "a worker process ended" in response.json()["problem"]
    assert client.post("/identify", files=leaf).status_code == 200


def test_a_slow_upload_is_ended(pool):
    async def send_slowly():
        yield b"--x\r\n"
        await anyio.sleep_forever()

    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    app = make_app(*pool, limits=Limits(upload_seconds=0.2))
    response = anyio.run(lambda: post(app, content=send_slowly(), headers=headers))
    assert (response.status_code, set(response.json())) == (408, {"problem"})
