"""Many requests at once, slow ones, and workers that are lost."""

import os
import signal
import time

import anyio
import httpx
import pytest

from leafid.pages import field_guide
from leafid.web.site import make_app
from leafid.web.uploads import Limits
from tests.web.browsing import start_worker

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


def wait_for_file(file):
    while not file.exists():
        time.sleep(0.01)


def test_each_of_60_requests_at_once_is_answered_or_refused(pool, leaf, tmp_path):
    limit, sent = 20, 60
    app = make_app(*pool, limits=Limits(requests=limit))
    responses = []
    # Nothing is answered until all have arrived.
    gate = tmp_path / "gate"
    pool[0].submit(wait_for_file, gate)

    async def send():
        responses.append(await post(app, files=leaf))
        if len(responses) == sent - limit:
            gate.touch()

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


def test_slow_uploads_take_no_place_from_others(pool, leaf):
    app = make_app(*pool, limits=Limits(requests=1, arriving_bytes=100_000))
    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    beginning = (
        b'--x\r\nContent-Disposition: form-data; name="pictures"; filename="a"\r\n\r\n'
    )
    statuses = []

    async def identify():
        response = await post(app, files=leaf)
        statuses.append(response.status_code)
        return response

    async def send(content, has_arrived=None):
        async def send_in_parts():
            yield beginning
            yield content
            if has_arrived:
                has_arrived.set()
                await anyio.sleep_forever()

        await post(app, content=send_in_parts(), headers=headers)

    async def send_many():
        async with anyio.create_task_group() as slow:
            for _ in range(70):
                has_arrived = anyio.Event()
                slow.start_soon(send, b"a", has_arrived)
                await has_arrived.wait()
            await identify()
            # Together they may not fill the memory, but what is ended leaves it.
            has_arrived = anyio.Event()
            slow.start_soon(
                send, bytes(100_000 - 71 * len(beginning) - 70), has_arrived
            )
            await has_arrived.wait()
            refused = await identify()
            assert int(refused.headers["Retry-After"]) > 0
            slow.cancel_scope.cancel()
        for _ in range(3):
            await send(bytes(50_000))
        await identify()

    anyio.run(send_many)
    assert statuses == [200, 503, 200]


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
