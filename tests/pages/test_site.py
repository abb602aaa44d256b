"""The pages without a browser: no script or style inside, and the form works without its script."""

import re
from dataclasses import replace
from urllib.parse import unquote

import pytest

from leafid.pages.explaining import explain
from leafid.pages.field_guide import make_guide
from leafid.pages.rendering import render_site_page
from leafid.pictures.decoding import read_image

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
    assert re.search(r'data-summary="11\.jpg: \w', page.text)
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


def test_common_names_are_in_the_language_of_the_server(make_client, leaf):
    client = make_client(language="de")
    assert "Spitzahorn" in client.get("/guide").text
    [answer] = client.post("/identify", files=leaf).json()
    assert {"Spitzahorn", "Gemeine Esche"} <= {
        named["common_names"][0] for named in answer["ranking"]
    }


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
