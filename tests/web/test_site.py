"""The pages without a browser: no script inside, and the form works without one."""

import re
from dataclasses import replace
from urllib.parse import unquote

import pytest

from leafid.pages.explaining import explain
from leafid.pages.field_guide import make_guide
from leafid.pictures.decoding import read_image
from leafid.web.rendering import render_site_page

HTML = {"Accept": "text/html,*/*"}
INLINE = re.compile(
    r"<script(?![^>]* src=)|<style|\sstyle=|\son\w+=|javascript:", re.IGNORECASE
)


@pytest.mark.parametrize("path", ["/", "/guide", "/nothing"])
def test_pages_have_no_inline_script_or_style_and_nothing_from_elsewhere(client, path):
    page = client.get(path, headers=HTML)
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    assert not INLINE.search(page.text)
    assert not re.search(r'(?:src|href)="(?!/|#|data:)', page.text)


def test_the_form_is_answered_without_its_script(client, leaf):
    page = client.post(
        "/explain", files=[*leaf, ("pictures", ("no.jpg", b"text"))], headers=HTML
    )
    assert page.status_code == 200
    assert "<form" in page.text
    [(_, (name, _))] = leaf
    assert re.search(rf'data-summary="{re.escape(name)}: \w', page.text)
    assert 'data-summary="no.jpg: This file can&#39;t be read"' in page.text
    assert not INLINE.search(page.text)


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("127.0.0.1", "stay on this machine"),
        ("::1", "stay on this machine"),
        ("::ffff:127.0.0.1", "stay on this machine"),
        ("192.0.2.7", "are sent to birch.local"),
        ("::ffff:192.0.2.7", "are sent to birch.local"),
        ("2001:db8::7", "are sent to birch.local"),
    ],
)
def test_the_page_says_where_pictures_go(make_client, monkeypatch, address, place):
    monkeypatch.setattr("socket.gethostname", lambda: "birch")
    page = (
        make_client("0.0.0.0", address)
        .get("/", headers={"Host": "birch.local:8000"})
        .text
    )
    assert re.findall(r"Pictures (stay on this machine|are sent to [\w.]+)", page) == [
        place
    ]


def test_species_are_linked_to_their_plates(client, leaf):
    names = re.findall(
        r'href="/guide#([^"]+)"><i>([^<]+)</i>',
        client.post("/explain", files=leaf).text,
    )
    plates = dict(
        re.findall(
            r'<summary id="([^"]+)">.*?<i>([^<]+)</i>',
            client.get("/guide").text,
            re.DOTALL,
        )
    )
    assert len(names) > 5
    assert {plates[unquote(target)] == name for target, name in names} == {True}


def test_a_label_with_other_characters_is_linked_to_its_plate(model, leaves, tmp_path):
    odd = "Acer 50% #1/ö?"
    name = next(iter(model.species))
    [answer] = model.identify(leaves[0])
    shown = explain(model, read_image(leaves[0]), answer)
    shown = replace(
        shown, species=[shown.species[0] | {"name": odd}], differences=[], opinions=[]
    )
    page = render_site_page(
        "answer.html", prefix="a", group=[(answer, shown)], records=[]
    )
    [target] = set(re.findall(r'href="/guide#([^"]+)"', page))
    guide = render_site_page(
        "field_guide.html",
        **make_guide(
            replace(model, species={**model.species, odd: model.species[name]}),
            tmp_path,
        ),
    )
    assert f'id="{unquote(target)}"' in guide


def test_names_from_outside_stay_text(client):
    page = client.post(
        "/explain",
        files=[("pictures", ("<img src=x onerror=alert(1)>.jpg", b""))],
        headers=HTML,
    )
    assert "<img src=x" not in page.text
    assert "&lt;img src=x onerror=alert(1)&gt;.jpg" in page.text


def test_everything_is_in_the_language_of_the_server(make_client, leaf):
    client = make_client(language="de")
    assert "Spitzahorn" in client.get("/guide").text
    [answer] = client.post("/identify", files=leaf).json()
    assert {"Spitzahorn", "Gemeine Esche"} <= {
        named["common_names"][0] for named in answer["ranking"]
    }
    refused = client.post("/identify", files=[], headers={"Accept-Language": "fr"})
    assert refused.json()["problem"] == (
        "multipart/form-data mit Dateien im Feld „pictures“ erwartet"
    )
    [unreadable] = client.post(
        "/identify", files=[("pictures", ("a.jpg", b"?"))]
    ).json()
    assert "HEIC oder AVIF erwartet, etwas anderes gefunden" in unreadable["problem"]
    wrong = client.post("/identify", files=leaf, data={"assume_type": "drawing"})
    assert wrong.json()["problem"].startswith("eine Aufnahmeart (scan, ")
    page = client.post(
        "/explain", files=[("pictures", ("a.png", b"PK"))], headers=HTML
    ).text
    assert "ein Archiv gefunden; entpacken" in page
    too_many = client.post("/identify", files=30 * leaf)
    assert too_many.json()["problem"] == "höchstens 20 Bilder"


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        ("", "en"),
        ("*", "en"),
        ("nl,pl;q=0.9", "en"),
        ("de", "de"),
        ("de-AT,de;q=0.9,en;q=0.8", "de"),
        ("en;q=0.4, fr-CH;q=0.7", "fr"),
        ("nl,fr;q=0.5", "fr"),
        ("fr;q=x,de", "de"),
    ],
)
def test_the_page_is_in_the_language_that_the_browser_wants_most(
    client, accepted, language
):
    page = client.get("/", headers={"Accept-Language": accepted})
    assert f'<html lang="{language}">' in page.text
    assert page.headers["Vary"] == "Accept-Language, Cookie"


def test_a_language_that_a_person_chooses_stays(client, leaf):
    client.headers["Accept-Language"] = "fr"
    page = client.get("/")
    assert 'href="/?language=de" lang="de"' in page.text
    assert 'href="/?language=fr" lang="fr" hreflang="fr" aria-current="true"' in (
        page.text
    )
    assert '<html lang="fr">' in client.get("/guide?language=xx").text
    assert '<html lang="de">' in client.get("/?language=de").text
    assert '<html lang="de">' in client.get("/guide").text
    answer = client.post("/explain", files=leaf, headers=HTML).text
    assert 'class="answer" lang="de"' in answer
    assert "Abbrechen" in answer
    assert '<html lang="de">' in client.get("/nothing", headers=HTML).text


def test_a_home_screen_gets_an_icon(client):
    manifest = client.get(
        re.search('rel="manifest" href="([^"]+)"', client.get("/").text)[1]
    ).json()
    assert client.get(manifest["start_url"]).status_code == 200
    for icon in manifest["icons"]:
        assert (
            client.get(icon["src"]).headers["Content-Type"].partition(";")[0]
            == icon["type"]
        )
