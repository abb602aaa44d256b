"""Helpers of the tests in a real browser."""

import time


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
    wait_for(lambda: len(find(browser, ".answer")) > before and not find(browser, "#progress")[0].is_displayed())
