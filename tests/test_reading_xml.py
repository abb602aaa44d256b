import pytest

from leafid.errors import LeafidError
from leafid.textfiles import MAX_XML_BYTES, read_xml


def write(path, text, encoding="utf-8"):
    path.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
    return path


@pytest.mark.parametrize("encoding", ["utf-8", "iso-8859-1", "utf-16"])
def test_declared_encodings(tmp_path, encoding):
    text = (
        '<?xml version="1.0" '
        f'encoding="{encoding}"?><Image><Locality>Hérault</Locality></Image>'
    )
    assert (
        read_xml(write(tmp_path / "1.xml", text, encoding)).findtext("Locality")
        == "Hérault"
    )


BOMB = (
    '<?xml version="1.0"?>\n<!DOCTYPE lolz [\n<!ENTITY a "lol">\n'
    + "".join(
        f'<!ENTITY {chr(98 + i)} "{f"&{chr(97 + i)};" * 10}">\n' for i in range(9)
    )
    + "]>\n<Image>&j;</Image>"
)


@pytest.mark.parametrize(
    ("content", "line", "says"),
    [
        (BOMB, 2, "DOCTYPE"),
        (
            '<?xml version="1.0"?>\n\n<!DOCTYPE a [<!ENTITY x SYSTEM '
            '"file:///etc/passwd">]>\n<a>&x;</a>',
            3,
            "DOCTYPE",
        ),
        ("<a>\n&x;</a>", 2, "undefined entity"),
        ("<a>\n<b>\n</a>", 3, "mismatched tag"),
        ("just text", 1, "syntax error"),
        ("<a>\n\0</a>", 2, "invalid token"),
    ],
)
def test_errors_name_file_and_line(tmp_path, content, line, says):
    file = write(tmp_path / "1.xml", content)
    with pytest.raises(LeafidError, match=says) as raised:
        read_xml(file)
    assert str(raised.value).startswith(f"{file}:{line}: expected ")
    assert "\n" not in str(raised.value)


def test_latin_1_declared_as_utf_8(tmp_path):
    text = (
        '<?xml version="1.0" '
        'encoding="UTF-8"?>\n<Image>\n<Locality>Hérault</Locality></Image>'
    )
    file = write(tmp_path / "1.xml", text, "iso-8859-1")
    with pytest.raises(
        LeafidError,
        match=(
            ":3: expected well-formed XML in UTF-8, or in the encoding that it declares"
        ),
    ):
        read_xml(file)


@pytest.mark.parametrize("encoding", ["klingon", "rot13"])
def test_unknown_encoding(tmp_path, encoding):
    file = write(
        tmp_path / "1.xml", f'<?xml version="1.0" encoding="{encoding}"?><a>b</a>'
    )
    with pytest.raises(LeafidError, match=rf"{file}:1: expected "):
        read_xml(file)


def test_empty_and_too_large(tmp_path):
    with pytest.raises(
        LeafidError, match=r":1: expected well-formed XML .* no element found"
    ):
        read_xml(write(tmp_path / "1.xml", b""))
    with pytest.raises(LeafidError, match="at most 1 MiB"):
        read_xml(write(tmp_path / "1.xml", b"<a>" + b"b" * MAX_XML_BYTES + b"</a>"))


def test_deep_nesting_does_not_crash(tmp_path):
    depth = 20_000
    file = write(tmp_path / "1.xml", "<a>" * depth + "</a>" * depth)
    try:
        root = read_xml(file)
    except LeafidError:
        return
    assert root.tag == "a"
