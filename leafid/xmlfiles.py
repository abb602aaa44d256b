"""The one place that reads XML: without DOCTYPE or entities, never fetching anything, and of limited size."""

import os
import re
from xml.etree.ElementTree import Element, ParseError

from leafid.errors import LeafidError
from leafid.files import open_input

MAX_BYTES = 1 << 20


class XmlError(LeafidError):
    """A file is not XML that leafid accepts; the message names the file, the line and the reason."""


def read_xml(file: str | os.PathLike[str]) -> Element:
    """Parse an untrusted XML file of at most 1 MiB and return its root element.

    An `XmlError` is raised if the file can't be read, is empty or too large, is not well-formed, is not in the encoding
    that it declares (UTF-8 by default), or has a DOCTYPE or entities of its own, which could grow endlessly or read
    other files.
    """
    import defusedxml
    import defusedxml.ElementTree

    data = _read_bytes(file)
    try:
        return defusedxml.ElementTree.fromstring(data, forbid_dtd=True)
    except defusedxml.DefusedXmlException:
        line = data.count(b"\n", 0, max(data.find(b"<!DOCTYPE"), 0)) + 1
        raise XmlError(f"{file}:{line}: expected XML without a DOCTYPE, found one; remove it") from None
    except ParseError as error:
        raise XmlError(_describe_parse_error(file, data, error)) from None
    except (LookupError, ValueError) as error:
        raise XmlError(
            f"{file}:1: expected XML in a known encoding, found {_get_declared_encoding(data)!r} ({error})"
        ) from None


def _read_bytes(file: str | os.PathLike[str]) -> bytes:
    with open_input(file, XmlError) as stream:
        data = stream.read(MAX_BYTES + 1)
    if not data.strip():
        raise XmlError(f"{file}: expected XML, found an empty file")
    if len(data) > MAX_BYTES:
        raise XmlError(f"{file}: expected XML of at most {MAX_BYTES >> 10} KiB, found more")
    return data


def _describe_parse_error(file: str | os.PathLike[str], data: bytes, error: Exception) -> str:
    reason, _, _ = str(error).partition(": line")
    line, column = getattr(error, "position", (1, 0))
    if reason == "unknown encoding":
        return f"{file}:1: expected XML in a known encoding, found {_get_declared_encoding(data)!r}"
    encoding = _get_declared_encoding(data)
    try:
        data.decode(encoding)
    except LookupError:
        pass
    except UnicodeDecodeError as decode_error:
        line = data.count(b"\n", 0, decode_error.start) + 1
        found = f"the invalid byte 0x{data[decode_error.start]:02x}"
        return f"{file}:{line}: expected {encoding} as declared, found {found}; convert the file"
    return f"{file}:{line}: expected well-formed XML, found an error at column {column + 1}: {reason}"


def _get_declared_encoding(data: bytes) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "UTF-16"
    found = re.match(rb"(?:\xef\xbb\xbf)?<\?xml[^>]*?encoding\s*=\s*[\"']([\w.:-]+)", data)
    return found.group(1).decode("ascii") if found else "UTF-8"
