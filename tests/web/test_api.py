import io

import cv2
import numpy as np
import pytest
from PIL import Image

import leafid
from leafid.pictures.header import read_header

PROBLEM = {"problem"}


def encode(*shape, ending=".png"):
    return cv2.imencode(ending, np.full((*shape, 3), 200, np.uint8))[1].tobytes()


def upload(*files):
    return [("pictures", file) for file in files]


def test_answers_are_those_of_the_model(client, drawn_model, leaves):
    records = client.post(
        "/identify", files=upload(*((file.name, file.read_bytes()) for file in leaves))
    ).json()
    for item, file in zip(records, leaves, strict=True):
        [answer] = leafid.load_model(drawn_model).identify(leafid.Picture(file))
        assert item == answer.to_dict() | {"picture": file.name}


def test_pictures_of_one_tree_get_one_answer(client, drawn_model, leaves):
    # All have the same name, as a phone's camera gives it, and one is no picture.
    files = upload(
        *(("image.jpg", file.read_bytes()) for file in leaves), ("image.jpg", b"")
    )
    records = client.post("/identify", files=files, data={"together": "true"}).json()
    whole = leafid.load_model(drawn_model).identify_plant(
        [leafid.Picture(file) for file in leaves]
    )
    assert [answer["verdict"] for answer in records] == [whole.verdict] * 3 + [
        "unreadable"
    ]
    for answer in records[:3]:
        assert answer["ranking"] == whole.to_dict()["ranking"]


def test_answers_have_the_described_form(client, leaf):
    records = client.post(
        "/identify", files=[*leaf, *upload(("no.jpg", b"text"))]
    ).json()
    description = client.get("/openapi.json").json()
    assert description["info"]["version"] == leafid.__version__
    schemas = description["components"]["schemas"]
    for answer in records:
        assert (
            list(answer)
            == schemas["Answer"]["required"]
            == list(schemas["Answer"]["properties"])
        )
        assert answer["verdict"] in schemas["Answer"]["properties"]["verdict"]["enum"]
        assert all(
            list(rank) == schemas["Rank"]["required"] for rank in answer["ranking"]
        )
    for species in client.get("/species").json():
        assert (
            list(species)
            == schemas["Species"]["required"]
            == list(schemas["Species"]["properties"])
        )


HOSTILE = {
    "text.jpg": b"GET / HTTP/1.1",
    "drawing.svg": b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>",
    "truncated.jpg": encode(300, 300, ending=".jpg")[:-700],
    # 60000 × 60000 pixels in a few bytes.
    "bomb.png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
    + 2 * b"\0\0\xea\x60"
    + b"\x08\x02\0\0\0"
    + bytes(64),
    "../../etc/passwd": b"root",
    "a" * 3_000: b"x",
    "\x1b[31mred\r\n.jpg": b"x",
}


def test_hostile_uploads_are_unreadable_and_cost_nothing_else(client, leaf):
    response = client.post("/identify", files=[*upload(*HOSTILE.items()), *leaf])
    assert response.status_code == 200
    *bad, good = response.json()
    for name, answer in zip(HOSTILE, bad, strict=True):
        assert (answer["verdict"], answer["ranking"], answer["type"]) == (
            "unreadable",
            [],
            None,
        ), name
        assert answer["problem"]
        assert answer["problem"].isprintable()
        assert "/" not in answer["picture"]
        assert len(answer["picture"]) <= 200
    assert good["ranking"]


@pytest.mark.parametrize("kind", ["GIF", "PNG"])
def test_uploads_have_fewer_pixels_than_files(client, leaf, kind):
    content = io.BytesIO()
    Image.new("L", (9000, 8000)).save(content, kind, compress_level=1)
    bomb = content.getvalue()
    assert read_header(bomb).cols == 9000
    files = [*upload((f"bomb.{kind}", bomb)), *leaf]
    refused, answered = client.post("/identify", files=files).json()
    assert "at most 64 megapixels, found more" in refused["problem"]
    assert answered["ranking"]


@pytest.mark.parametrize(
    ("limits", "n_files"),
    [({"request_bytes": 100}, 1), ({"pictures": 2}, 3)],
)
def test_limits(make_client, leaf, limits, n_files):
    response = make_client(**limits).post("/identify", files=leaf * n_files)
    assert (response.status_code, set(response.json())) == (413, PROBLEM)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no boundary",
        b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--x--',
    ],
)
def test_broken_forms_are_refused(client, content):
    response = client.post(
        "/identify",
        content=content,
        headers={"Content-Type": "multipart/form-data; boundary=x"},
    )
    assert (response.status_code, set(response.json())) == (400, PROBLEM)


@pytest.mark.parametrize("charset", ["punycode", "undefined", "unicode_escape"])
def test_names_are_utf_8_whatever_the_charset(client, leaf, charset):
    content = leaf[0][1][1]
    # \\ud800 decodes to a lone surrogate, and a long name with punycode in quadratic
    # time.
    for name in ("Bl\u00e4tter.jpg", "\\ud800.jpg", "a" * 4000):
        disposition = f'form-data; name="pictures"; filename="{name}"'
        head = f"--x\r\nContent-Disposition: {disposition}\r\n\r\n".encode()
        headers = {
            "Content-Type": f"multipart/form-data; charset={charset}; boundary=x"
        }
        response = client.post(
            "/identify", content=head + content + b"\r\n--x--\r\n", headers=headers
        )
        assert response.status_code == 200
        assert response.json()[0]["picture"] == name[-200:].rpartition("\\")[2]
    bad = client.post(
        "/identify",
        content=b'--x\r\nContent-Disposition: form-data; name="' + b"a" * 10**6,
        headers=headers,
    )
    assert bad.status_code == 400


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "10.0.0.1", ""]
)
def test_foreign_hosts_are_refused(client, host):
    response = client.get("/species", headers={"Host": host})
    assert (response.status_code, set(response.json())) == (421, PROBLEM)


def test_a_server_for_other_machines_is_found_by_its_addresses_and_names(
    make_client, monkeypatch
):
    monkeypatch.setattr("socket.gethostname", lambda: "Birch")
    monkeypatch.setattr("socket.getfqdn", lambda: "birch.example.org")
    hosts = [
        "192.0.2.7:8000",
        "[2001:db8::7]:8000",
        "birch:8000",
        "BIRCH.local",
        "birch.local.",
        "birch.example.org",
    ]
    for host in hosts:
        for address in ("0.0.0.0", "::"):
            assert (
                make_client(address).get("/species", headers={"Host": host}).status_code
                == 200
            ), host
        assert (
            make_client("127.0.0.1").get("/species", headers={"Host": host}).status_code
            == 421
        ), host
    for host in ("evil.example", "birch.evil.example", "alder.local"):
        response = make_client("0.0.0.0").get(
            "/species", headers={"Host": host, "Accept": "text/html"}
        )
        assert (
            response.status_code,
            "the address of this server" in response.text,
        ) == (421, True)


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "http://127.0.0.1:9999"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
    ],
)
def test_foreign_pages_are_refused(client, leaf, headers):
    assert client.post("/identify", files=leaf, headers=headers).status_code == 403
    for same in (
        {"Origin": "http://127.0.0.1:8000"},
        {"Origin": "null", "Sec-Fetch-Site": "same-origin"},
    ):
        assert client.post("/identify", files=leaf, headers=same).status_code == 200


@pytest.mark.parametrize("path", ["/", "/species", "/nothing"])
def test_every_answer_restricts_the_page(client, path):
    headers = client.get(path).headers
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "unsafe" not in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["Cache-Control"] == "private, no-cache"


def test_other_content_and_too_many_fields_are_refused(client, leaf):
    assert (
        client.post(
            "/identify", content=b"\xff\xd8\xff", headers={"Content-Type": "image/jpeg"}
        ).status_code
        == 415
    )
    assert (
        client.post("/identify", files=leaf, data={"field": ["x"] * 20}).status_code
        == 400
    )
    for ends in ("0.5,0.1,0.5", "0.5,0.1,0.5,7", "0.5,0.5,0.5,0.51", "tip"):
        response = client.post("/explain", files=leaf, data={"ends": ends})
        assert (
            response.status_code,
            "shares of the sides" in response.json()["problem"],
        ) == (400, True)
    response = client.post("/identify", files=leaf, data={"together": "maybe"})
    assert (response.status_code, "found maybe" in response.json()["problem"]) == (
        400,
        True,
    )
    for word in ("false", "0", "", "On"):
        response = client.post("/identify", files=leaf, data={"together": word})
        assert response.status_code == 200
    response = client.post("/identify", files=leaf, data={"assume_type": "drawing"})
    assert (response.status_code, "found 'drawing'" in response.json()["problem"]) == (
        400,
        True,
    )
    assert (
        client.post(
            "/identify", files=[*leaf, *[("other", leaf[0][1])] * 40]
        ).status_code
        == 400
    )
