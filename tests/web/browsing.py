"""Workers and a server for the tests of pages, and helpers in a real browser."""

import socket
import threading
import time
from contextlib import contextmanager

from leafid.parallel.pool import WorkerPool
from leafid.web.model_workers import warm_up


@contextmanager
def start_worker(model):
    """Start a worker that has read a model; yields what makes an application."""
    workers = WorkerPool(1)
    workers.submit(warm_up, model).result()
    yield workers, model
    workers.close()


@contextmanager
def serve(pool):
    """Serve in this process; yields the address."""
    import uvicorn

    from leafid.web.site import make_app

    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(
            uvicorn.Config(make_app(*pool), log_config=None, lifespan="off")
        )
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        server.should_exit = True
        thread.join()


def wait_for(condition):
    end = time.monotonic() + 60
    while not (result := condition()):
        assert time.monotonic() < end
        time.sleep(0.05)
    return result


def find(browser, selector):
    return browser.find_elements("css selector", selector)


def choose(browser, *files):
    """Choose files in the form, and wait for the answers."""
    before = len(find(browser, ".answer"))
    find(browser, "input[type=file]")[0].send_keys("\n".join(map(str, files)))
    wait_for(
        lambda: (
            len(find(browser, ".answer")) > before
            and not find(browser, "#progress")[0].is_displayed()
        )
    )
