"""Answers in the browser: judge, export, ask again, cut out, cancel, look up."""

import csv
import io
import json

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from tests.web.browsing import choose, find, serve, wait_for

pytestmark = pytest.mark.slow


def wait_for_answers(page, number):
    wait_for(
        lambda: (
            len(find(page, ".answer")) == number
            and not find(page, "#progress")[0].is_displayed()
        )
    )


def save(page, form):
    """Export the answers; returns the text that the browser would save."""
    page.execute_script(
        "window.saved = null; URL.createObjectURL = (blob) => (blob.text().then((text) "
        "=> (window.saved = text)), '#')"
    )
    find(page, f"#export-{form}")[0].click()
    return wait_for(lambda: page.execute_script("return window.saved"))


def read_csv(page):
    return list(csv.DictReader(io.StringIO(save(page, "csv"))))


def test_what_a_person_says_is_kept_and_exported(page, leaves):
    choose(page, *leaves[:2])
    right, name, remark = find(
        page, ".answer.current .tools button, .answer.current .tools input"
    )[:3]
    right.click()
    remark.send_keys('by the "gate", east\t')
    assert "right; by the" in find(page, "#history tr")[1].text
    find(page, "#history a")[1].click()
    name = find(page, ".answer.current .tools input")[0]
    name.click()
    wait_for(lambda: len(find(page, "#species option")) == 3)
    species = find(page, "#species option")[0].get_attribute("value")
    name.send_keys(f"{species.upper()}\t")
    wait_for(lambda: species.upper() in find(page, "#history tr")[2].text)
    newest, oldest = read_csv(page)
    assert (newest["associatedMedia"], oldest["associatedMedia"]) == (
        leaves[1].name,
        leaves[0].name,
    )
    assert newest["identificationVerificationStatus"] == "verified"
    assert newest["identificationRemarks"].endswith('; by the "gate", east')
    assert newest["recordedBy"] == ""
    assert newest["scientificName"] == newest["previousIdentifications"] != ""
    assert (oldest["scientificName"], oldest["identifiedBy"]) == (species, "")
    assert (oldest["taxonRank"], oldest["verbatimIdentification"]) == (
        "species",
        species.upper(),
    )
    # In a new tab, what was noted is still there.
    page.execute_script("sessionStorage.clear()")
    page.refresh()
    assert [row.text for row in find(page, "#history tbody th")] == [
        leaf.name for leaf in leaves[:2]
    ]
    choose(page, leaves[2])
    assert {row["associatedMedia"] for row in read_csv(page)} == {
        leaf.name for leaf in leaves
    }
    exported = json.loads(save(page, "json"))
    assert [entry["judgement"]["species"] for entry in exported].count(species) == 1


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (
            {"verdict": "uncertain", "name": "Tilia cordata"},
            ("Tilia cordata", "cf. cordata", "unverified", "Tilia cordata 5.0%"),
        ),
        (
            {"verdict": "species", "name": "Tilia cordata", "answer_probability": 1},
            ("Tilia cordata", "", "unverified", "Tilia cordata >99.9%"),
        ),
        (
            {"verdict": "no-leaf", "name": None},
            ("", "", "", "no-leaf, probability of a leaf 20.0%"),
        ),
        (
            {"verdict": "unknown", "name": None},
            ("", "", "", "unknown, probability of a known species 30.0%"),
        ),
        (
            {"verdict": "unclear", "name": None},
            ("", "", "", "unclear, probability of a known species 30.0%"),
        ),
    ],
)
def test_how_sure_an_answer_is_can_be_read_from_its_row(page, leaves, record, expected):
    choose(page, leaves[0])
    page.execute_script(
        "const { dataset } = document.querySelector('.answer');"
        "dataset.records = JSON.stringify([{ ...JSON.parse(dataset.records)[0], "
        "...arguments[0] }]);",
        {
            **{"answer_probability": 0.05, "leaf": 0.2, "known": 0.3, "reasons": []},
            **record,
        },
    )
    [row] = read_csv(page)
    terms = ("scientificName", "identificationQualifier")
    status = "identificationVerificationStatus"
    name, qualifier = (row[term] for term in terms)
    remarks = row["identificationRemarks"].removeprefix("leafid: ")
    assert (name, qualifier, row[status], remarks) == expected
    # What a person says is no guess.
    find(page, ".answer.current .tools input")[0].send_keys("Acer platanoides\t")
    wait_for(lambda: read_csv(page)[0]["scientificName"] == "Acer platanoides")
    [judged] = read_csv(page)
    assert (judged["identificationQualifier"], judged[status]) == ("", "verified")


def test_a_name_that_leafid_does_not_know(page, leaves):
    choose(page, leaves[0])
    name = find(page, ".answer.current .tools input")[0]
    name.send_keys("=oak\t")
    wait_for(lambda: find(page, ".answer.current .unlisted")[0].is_displayed())
    [row] = read_csv(page)
    assert (row["scientificName"], row["taxonRank"], row["verbatimIdentification"]) == (
        "",
        "",
        "'=oak",
    )
    # A note that is deleted leaves nothing behind.
    name.clear()
    name.send_keys("\t")
    wait_for(lambda: not find(page, ".answer.current .unlisted")[0].is_displayed())
    assert page.execute_script("return localStorage.getItem('leafid-notes')") == "{}"


def test_all_is_forgotten_once_a_person_confirms(page, leaves):
    choose(page, leaves[0])
    find(page, ".answer.current .tools input")[1].send_keys("by the gate\t")
    for decide, is_there in (
        (lambda alert: alert.dismiss(), True),
        (lambda alert: alert.accept(), False),
    ):
        find(page, "#forget")[0].click()
        decide(page.switch_to.alert)
        assert find(page, "#history")[0].is_displayed() == is_there
        assert page.execute_script("return 'leafid-notes' in localStorage") == is_there


def test_other_tabs_forget_too_also_when_they_are_reloaded(page, site, leaves):
    """One tab shows an answer, one the field guide after an answer."""
    first = page.current_window_handle
    choose(page, leaves[0])
    others = []
    for path in ("", "/guide"):
        page.switch_to.new_window("tab")
        others.append(page.current_window_handle)
        page.get(site)
        choose(page, leaves[1])
        page.get(f"{site}{path}")
    page.switch_to.window(first)
    find(page, "#forget")[0].click()
    page.switch_to.alert.accept()
    choose(page, leaves[2])
    for tab in others:
        page.switch_to.window(tab)
        wait_for(lambda: not find(page, ".answer, .yours"))
        page.get(site)
        wait_for(lambda: find(page, "html.scripted"))
        assert not find(page, ".answer")
        assert not find(page, "#history")[0].is_displayed()
        page.close()
    page.switch_to.window(first)
    page.refresh()
    wait_for_answers(page, 1)


def test_a_file_that_cannot_be_read_is_counted_and_not_judged(page, leaves, tmp_path):
    file = tmp_path / "leaf.jpg"
    file.write_text("no picture")
    choose(page, file)
    assert find(page, ".answer.current .wrong")
    assert not find(page, ".tools")
    assert not find(page, "#history img")
    choose(page, file, leaves[0], file)
    wait_for_answers(page, 4)
    status = find(page, "#status")[0].text
    assert status == "1 picture is answered; 2 could not be read."
    assert [row["associatedMedia"] for row in read_csv(page)] == [leaves[0].name]
    assert len(find(page, "#history img")) == 1


def test_the_button_to_cut_out_a_leaf_is_beside_the_sentence_that_says_so(
    page, leaves, draw, tmp_path
):
    choose(page, leaves[0])
    assert not find(page, ".remedy")
    choose(page, draw(tmp_path / "sheet.png", 255))
    assert find(page, ".answer.current .verdict")[0].text.endswith("or cut it out.")
    find(page, ".answer.current .remedy")[0].click()
    wait_for(lambda: find(page, "#crop[open]"))
    find(page, "#crop button")[1].click()
    page.refresh()
    wait_for_answers(page, 2)
    assert len(find(page, ".remedy")) == 1


def test_a_picture_is_asked_about_again_as_another_type_and_in_part(page, leaves):
    choose(page, leaves[0])
    [first] = read_csv(page)
    Select(find(page, ".answer.current select")[0]).select_by_value("photo")
    wait_for_answers(page, 2)
    assert ", photo:" in find(page, ".answer.current svg title")[0].get_property(
        "textContent"
    )
    # After a reload, the picture that the answer shows is sent.
    page.refresh()
    wait_for_answers(page, 2)
    for number, sent in ((3, True), (3, False)):
        find(page, ".answer.current .tools button")[1].click()
        [canvas] = wait_for(lambda: find(page, "#crop[open] canvas"))
        drag = (
            ActionChains(page)
            .move_to_element_with_offset(canvas, -40, -40)
            .click_and_hold()
        )
        drag.move_by_offset(80, 60).release().perform()
        find(page, "#crop button")[0 if sent else 1].click()
        wait_for_answers(page, number)
    script = (
        "return document.querySelector('.answer.current svg').getAttribute('viewBox')"
    )
    width, height = page.execute_script(script).split()[2:]
    assert int(width) / int(height) == pytest.approx(4 / 3, rel=0.05)
    # All three answers are about one picture.
    [row] = read_csv(page)
    same = ("occurrenceID", "associatedMedia")
    assert [row[term] for term in same] == [first[term] for term in same]
    newest, *others = json.loads(save(page, "json"))
    assert row["dateIdentified"] == newest["answered"]
    names = {entry["answer"]["name"] or entry["answer"]["verdict"] for entry in others}
    assert set(row["previousIdentifications"].split(" | ")) == names
    # The one that a person judges counts.
    find(page, "#history a")[-1].click()
    find(page, ".answer.current .tools input")[0].send_keys("Acer platanoides\t")
    [row] = read_csv(page)
    assert row["dateIdentified"] == first["dateIdentified"]


def test_tip_and_base_are_chosen_on_the_picture(page, leaves):
    photo = leaves[0].with_name("11.jpg")
    choose(page, *leaves[1:], photo)
    wait_for_answers(page, 3)
    is_shown = []
    for link in find(page, "#history a"):
        link.click()
        button = find(page, ".answer.current .tools button")[2]
        is_shown.append(button.is_displayed())
        assert is_shown[-1] or ", photo:" in find(page, ".answer.current svg title")[
            0
        ].get_property("textContent")
        if is_shown[-1]:
            shown = link, button
    assert not all(is_shown)
    for element in shown:
        element.click()
    [picture] = wait_for(lambda: find(page, "#ends[open] .picture"))
    hint = find(page, "#ends [role=status]")[0]
    assert "tip" in hint.text
    # A click on the same place twice is no base.
    for offset, expected in (((0, 60), "its base"), ((1, 61), "other end")):
        ActionChains(page).move_to_element_with_offset(
            picture, *offset
        ).click().perform()
        assert expected in hint.text
        assert len(find(page, "#ends circle.landmark.tip")) == 1
    ActionChains(page).move_to_element_with_offset(picture, 0, -60).click().perform()
    wait_for_answers(page, 4)
    tip, base = read_ends(page)
    assert tip > base + 20


def read_ends(page):
    """Read the rows of tip and base in the current answer."""
    ends = [find(page, f".answer.current circle.{end}")[0] for end in ("tip", "base")]
    return [float(end.get_attribute("cy")) for end in ends]


def press(page, *keys):
    ActionChains(page).send_keys(*keys).perform()


def test_tip_and_base_are_chosen_by_keyboard_on_a_phone(page, leaves):
    size = {"width": 400, "height": 700, "deviceScaleFactor": 1, "mobile": True}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    choose(page, *leaves)
    wait_for_answers(page, 3)
    for link in find(page, "#history a"):
        link.click()
        button = find(page, ".answer.current .tools button")[2]
        if button.is_displayed():
            break
    before = read_ends(page)
    for cancel in (
        lambda: press(page, Keys.ESCAPE),
        find(page, "#ends button")[0].click,
    ):
        button.send_keys(Keys.ENTER)
        [dialog] = wait_for(lambda: find(page, "#ends[open]"))
        # Hint, picture and Cancel are on the screen together.
        for part in dialog.find_elements("css selector", "[role=status], svg, button"):
            top, bottom = page.execute_script(
                "const { top, bottom } = arguments[0].getBoundingClientRect(); return "
                "[top, bottom]",
                part,
            )
            assert 0 <= top < bottom <= 700
        press(page, Keys.ARROW_DOWN, Keys.ENTER)
        assert len(find(page, "#ends circle.landmark.tip")) == 1
        cancel()
        wait_for(lambda: not find(page, "#ends[open]"))
        assert page.switch_to.active_element == button
    button.send_keys(Keys.SPACE)
    wait_for(lambda: find(page, "#ends[open]"))
    press(page, *[Keys.ARROW_DOWN] * 15, Keys.ENTER, *[Keys.ARROW_UP] * 30, Keys.ENTER)
    wait_for_answers(page, 4)
    tip, base = read_ends(page)
    assert tip > base + 20
    assert [tip, base] != before


def test_marked_pictures_are_answered_as_one_tree(page, leaves):
    choose(page, *leaves)
    wait_for_answers(page, 3)
    button = find(page, "#one-tree")[0]
    assert not button.is_enabled()
    for box in find(page, "#history input")[:2]:
        box.click()
    button.click()
    wait_for_answers(page, 4)
    assert find(page, ".answer.current .note")[0].text.startswith(
        "2 pictures of one tree"
    )
    assert len(find(page, ".answer.current [aria-label^='Names for']")) == 1
    assert len(find(page, ".answer.current .verdict")) == 1
    rows = read_csv(page)
    assert {row["associatedMedia"] for row in rows} == {leaf.name for leaf in leaves}
    assert len(rows) == 3
    in_tree = [row["associatedMedia"] for row in rows if row["organismID"]]
    assert set(in_tree) == {leaf.name for leaf in leaves[1:]}
    assert [len(find(row, "img")) for row in find(page, "#history tbody tr")][:2] == [
        2,
        1,
    ]


def test_many_pictures_can_be_cancelled(page, leaves):
    find(page, "input[type=file]")[0].send_keys("\n".join(map(str, leaves * 10)))
    wait_for(lambda: find(page, ".answer"))
    find(page, "#cancel")[0].click()
    wait_for(lambda: find(page, "#status")[0].text.startswith("Cancelled"))
    answered = len(find(page, ".answer"))
    assert answered < 30
    assert len(find(page, "#history tbody tr")) == answered
    choose(page, leaves[0])
    assert len(find(page, ".answer")) == answered + 1


def test_the_guide_is_filtered_and_leads_back_to_the_answer(page, site, leaves):
    choose(page, leaves[0])
    [record] = json.loads(find(page, ".answer")[0].get_attribute("data-records"))
    name = record["ranking"][0]["species"]
    page.execute_script(
        "const a = document.querySelector('.answer'); const r = "
        "JSON.parse(a.dataset.records); r[0].name = arguments[0]; a.dataset.records = "
        "JSON.stringify(r);sessionStorage.setItem('leafid', a.outerHTML)",
        name,
    )
    page.get(f"{site}/guide")
    for words, number in (("ACER spitzahorn", 1), ("erable", 1), ("Spitzeiche", 0)):
        find(page, "#filter")[0].clear()
        find(page, "#filter")[0].send_keys(words)
        assert sum(plate.is_displayed() for plate in find(page, ".plate")) == number
    find(page, "#filter")[0].clear()
    find(page, "#filter")[0].send_keys(name)
    [plate] = [plate for plate in find(page, ".plate") if plate.is_displayed()]
    plate.find_element("css selector", "summary").click()
    plate.find_element("css selector", "p a[href^='/#']").click()
    wait_for(lambda: page.current_url.startswith(f"{site}/#answer"))
    assert wait_for(lambda: find(page, ".answer.current h2"))[0].text == leaves[0].name


def test_the_pages_open_without_the_server_after_a_visit(browser, pool):
    with serve(pool) as address:
        browser.get(address)
        browser.execute_async_script(
            "navigator.serviceWorker.ready.then(() => arguments[0]())"
        )
        # A page is kept once, whatever its query.
        for query in ("?a", "?a=1", ""):
            browser.get(f"{address}/{query}")
            wait_for(lambda: find(browser, "html.scripted"))
        kept = browser.execute_async_script(
            "caches.open('leafid-2').then((cache) => cache.keys())"
            ".then((requests) => arguments[0](requests.map(({ url }) => url)))"
        )
        assert kept.count(f"{address}/") == 1
        assert not [url for url in kept if "?" in url]
    browser.get(f"{address}/guide?b")
    assert find(browser, "h1")[0].text == "Field guide"
    assert len(find(browser, ".plate")) == 3
    browser.get(f"{address}/?c")
    assert wait_for(lambda: find(browser, "html.scripted"))


def test_scripts_speak_the_language_of_the_page(page, site, leaves):
    page.get(f"{site}/?language=de")
    choose(page, *leaves[:2])
    assert find(page, "#status")[0].text == "2 Bilder sind bestimmt."
    find(page, ".answer.current .tools button")[-1].click()
    hint = find(page, "#ends [role=status]")[0]
    assert hint.text == "Auf die Spitze des Blatts klicken."
    find(page, "#ends button")[0].click()
    assert " %" in save(page, "csv").replace("\N{NO-BREAK SPACE}", " ")
    page.get(f"{site}/?language=fr")
    # The answers stay as they were given.
    assert find(page, "#history-title")[0].text == "Vos images"
    assert find(page, ".answer.current")[0].get_attribute("lang") == "de"
    page.get(f"{site}/?language=en")
    page.delete_all_cookies()
