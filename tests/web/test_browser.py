"""All pages in a real browser: accessibility, narrow and dark screens, console.

And an HTML validator.
"""

import base64
import re
import shutil
import subprocess
import sys
from itertools import accumulate
from pathlib import Path

import cv2
import numpy as np
import pytest

from leafid.cli.main import main
from tests.drawing.collection import SAMPLE
from tests.web.browsing import choose, find, wait_for

pytestmark = pytest.mark.slow
pytest.importorskip("selenium", reason="the extra 'test' is not installed")

#: .ci/run installs these from npm.
NODE_MODULES = Path(sys.prefix) / "npm" / "node_modules"
AXE = NODE_MODULES / "axe-core" / "axe.min.js"
VALIDATOR = NODE_MODULES / "vnu-jar" / "build" / "dist" / "vnu.jar"
SCREENS = {"wide": (1200, "light"), "narrow and dark": (400, "dark")}
PAGES = [
    "/",
    "/guide",
    "/nothing",
    "answer",
    "report.html",
    "explanation.html",
    "field-guide.html",
]


@pytest.fixture(scope="module")
def written(drawn, drawn_model, tmp_path_factory):
    """The folder with the pages that commands write."""
    folder = tmp_path_factory.mktemp("pages")
    run = folder / "run.txt"
    truth = (
        (SAMPLE / "testGroundTruth.txt")
        .read_text()
        .replace("Betula pendula", "Ilex aquifolium")
    )
    words = re.findall(r"(\d+\.jpg)|([A-Z][\w ]+?) (?=\d+\.jpg)", truth)
    species = list(
        accumulate((name for _, name in words), lambda last, name: name or last)
    )
    run.write_text(
        "".join(
            f"{file} {name} 1 0.9\n"
            for (file, _), name in zip(words, species, strict=True)
            if file
        )
    )
    for words in (
        ["report", SAMPLE, run, "--part", "test", "--output", folder, "--jobs", "1"],
        [
            "explain",
            min((drawn / "Test").glob("*.jpg")),
            "--model",
            drawn_model,
            "--output",
            folder,
        ],
        ["info", drawn_model, "--output", folder],
    ):
        assert main(list(map(str, words))) == 0
    return folder


def open_page(browser, page, site, written, leaves):
    if page == "answer":
        browser.get(site)
        choose(browser, *leaves)
    else:
        browser.get(site + page if page.startswith("/") else (written / page).as_uri())


@pytest.mark.parametrize(
    ("screen", "page"), list(zip(["wide", "narrow and dark"] * 4, PAGES, strict=False))
)
def test_every_page_is_accessible(browser, site, written, leaves, page, screen):
    width, scheme = SCREENS[screen]
    size = {
        "width": width,
        "height": 900,
        "deviceScaleFactor": 1,
        "mobile": width < 600,
    }
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    browser.get_log("browser")
    open_page(browser, page, site, written, leaves)
    if AXE.exists():
        browser.execute_script(AXE.read_text(encoding="utf-8"))
        report = browser.execute_async_script("axe.run().then(arguments[0])")
        assert [
            (violation["id"], violation["nodes"][0]["html"])
            for violation in report["violations"]
        ] == []
    # Chromium logs the status of the page that is not there.
    logged = [
        entry
        for entry in browser.get_log("browser")
        if page != "/nothing" or "404" not in entry["message"]
    ]
    assert logged == []
    assert (
        browser.execute_script("return document.documentElement.scrollWidth") <= width
    )
    background = browser.execute_script(
        "return getComputedStyle(document.body).backgroundColor"
    )
    assert (sum(map(int, background.strip("rgb()").split(","))) < 384) == (
        scheme == "dark"
    )


def read_names(browser):
    """Read which pictures are answered, from the list and from the answers."""
    listed = [link.text for link in find(browser, "#history a")]
    return listed, [
        title.get_property("textContent") for title in find(browser, ".answer h2")
    ]


def test_the_newest_answer_comes_first_and_into_view(page, leaves):
    for number, leaf in enumerate(leaves, 1):
        choose(page, leaf)
        names = [file.name for file in reversed(leaves[:number])]
        assert read_names(page) == (names, names)
        [shown] = [title for title in find(page, ".answer h2") if title.is_displayed()]
        assert (
            0
            <= page.execute_script(
                "return arguments[0].getBoundingClientRect().top", shown
            )
            < 450
        )
        assert page.switch_to.active_element.text == leaf.name
        page.execute_script("scrollTo(0, 0)")


def test_answers_stay_until_they_are_forgotten(page, site, leaves):
    for leaf in leaves[:2]:
        choose(page, leaf)
    shown = read_names(page)
    link = find(page, ".answer.current td a, .answer.current th a")[0]
    species = link.text
    link.click()
    wait_for(lambda: page.current_url.startswith(f"{site}/guide#"))
    assert (
        wait_for(lambda: find(page, ".plate[open] summary:target i"))[0].text == species
    )
    page.back()
    wait_for(lambda: read_names(page) == shown)
    page.refresh()
    wait_for(lambda: read_names(page) == shown)
    find(page, ".site nav a")[1].click()
    wait_for(lambda: find(page, "#plates"))
    find(page, ".site nav a")[0].click()
    wait_for(lambda: read_names(page) == shown)
    choose(page, leaves[2])
    ids = [answer.get_attribute("id") for answer in find(page, ".answer")]
    assert len(set(ids)) == 3
    find(page, "#forget")[0].click()
    page.switch_to.alert.accept()
    page.refresh()
    wait_for(lambda: find(page, "html.scripted"))
    assert read_names(page) == ([], [])


def test_answers_that_the_browser_has_no_space_for_are_shown_nevertheless(page, leaves):
    fill = (
        "for (let n = 1 << 24; n; n >>= 1) try { sessionStorage[n] = 'x'.repeat(n) } "
        "catch {}"
    )
    page.execute_script(fill)
    choose(page, leaves[0])
    assert read_names(page) == ([leaves[0].name], [leaves[0].name])


def test_the_form_works_without_javascript(page, site, leaves):
    page.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        page.get(site)
        find(page, "input[type=file]")[0].send_keys("\n".join(map(str, leaves)))
        find(page, "#upload button")[0].click()
        names = [leaf.name for leaf in leaves]
        wait_for(lambda: read_names(page)[1] == names)
        find(page, ".site nav a")[1].click()
        wait_for(lambda: find(page, "#plates"))
        page.back()
        wait_for(lambda: read_names(page)[1] == names)
    finally:
        page.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


@pytest.mark.parametrize("paper", [(8.27, 11.69), (8.5, 11)])
def test_each_answer_is_printed_on_a_page(page, written, leaves, paper):
    def count_pages():
        size = {"paperWidth": paper[0], "paperHeight": paper[1]}
        pdf = base64.b64decode(page.execute_cdp_cmd("Page.printToPDF", size)["data"])
        return len(re.findall(rb"/Type\s*/Page\b", pdf))

    choose(page, leaves[0])
    assert count_pages() == 1
    choose(page, *leaves[1:])
    assert count_pages() == len(leaves)
    page.get((written / "explanation.html").as_uri())
    assert count_pages() == 1


def test_a_table_that_is_wider_than_a_phone_has_a_shadow_where_it_goes_on(page, site):
    size = {"width": 360, "height": 900, "deviceScaleFactor": 1, "mobile": True}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    page.get(f"{site}/guide")
    find(page, "#species-list + details summary")[0].click()
    table = next(
        box
        for box in find(page, ".wide")
        if int(box.get_property("scrollWidth")) > box.size["width"]
    )

    def has_shadow(column):
        picture = cv2.imdecode(
            np.frombuffer(table.screenshot_as_png, np.uint8), cv2.IMREAD_COLOR
        )
        paper = page.execute_script(
            "return getComputedStyle(document.body).backgroundColor"
        )
        # In the middle of three rows of four there is neither text nor a line.
        colour = np.median(picture[:, column], axis=0)[::-1]
        return bool(
            np.abs(
                colour - [int(part) for part in paper.strip("rgb()").split(",")]
            ).max()
            > 20
        )

    assert (has_shadow(0), has_shadow(-1)) == (False, True)
    page.execute_script("arguments[0].scrollLeft = arguments[0].scrollWidth", table)
    assert (has_shadow(0), has_shadow(-1)) == (True, False)


def test_the_html_is_valid(site, written, client, leaf, tmp_path):
    if not (VALIDATOR.exists() and shutil.which("java")):
        pytest.skip(
            "there is no Java, or no validator (npm install --prefix "
            f"{NODE_MODULES.parent} vnu-jar)"
        )
    html = {"Accept": "text/html"}
    for path in ("", "guide", "nothing"):
        (tmp_path / f"{path or 'form'}.html").write_text(
            client.get(f"/{path}", headers=html).text
        )
    answers = [*leaf, ("pictures", ("no.jpg", b"text"))]
    (tmp_path / "answers.html").write_text(
        client.post("/explain", files=answers, headers=html).text
    )
    together = client.post(
        "/explain", files=leaf * 2, data={"together": "1"}, headers=html
    )
    (tmp_path / "together.html").write_text(together.text)
    files = [*tmp_path.glob("*.html"), *written.glob("*.html")]
    # What Java compiles and collects in threads pays for itself only after longer.
    options = [
        "-XX:TieredStopAtLevel=1",
        "-XX:+UseSerialGC",
        "-Xss8m",
        "-jar",
        str(VALIDATOR),
        "--stdout",
    ]
    process = subprocess.run(
        ["java", *options, *map(str, files)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (process.returncode, process.stdout, process.stderr) == (0, "", "")


def test_tables_of_the_report_sort_and_filter(browser, written):
    browser.get((written / "report.html").as_uri())

    def read(table, column):
        cells = table.find_elements(
            "css selector", f"tbody tr:not([hidden]) td:nth-child({column})"
        )
        return [cell.text for cell in cells]

    species, pictures = (
        find(browser, f"[aria-label='{name}'] table")[0]
        for name in ("Species of run.txt", "All pictures")
    )
    heading = species.find_element("css selector", "th")
    for order, is_reversed in (("ascending", False), ("descending", True)):
        heading.find_element("css selector", "button").click()
        assert read(species, 1) == sorted(read(species, 1), reverse=is_reversed)
        assert heading.get_attribute("aria-sort") == order
    assert len(read(pictures, 3)) == 50
    # The wrong answers come first.
    assert read(pictures, 3)[:7] == ["Betula pendula"] * 6 + read(pictures, 3)[6:7]
    find(browser, "[aria-label='All pictures'] + button")[0].click()
    assert len(read(pictures, 3)) == 72
    find(browser, "input[type=search]")[-1].send_keys("ginkgo scan-like")
    assert read(pictures, 3) == ["Ginkgo biloba"] * 2
