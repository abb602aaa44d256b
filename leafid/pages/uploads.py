"""Reads uploaded pictures into memory, within limits."""

import asyncio
import math
import re
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import parse_options_header
from starlette.datastructures import Headers, UploadFile
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import ClientDisconnect, Request

from leafid.pictures.picture import AcquisitionType, Picture

FIELD = "pictures"
# Maximum number of parts of a form beside the pictures, and of characters of a name; distance of a tip from its base.
_MAX_PARTS, _MAX_NAME, _MIN_DISTANCE = 10, 200, 0.02


@dataclass(frozen=True)
class Limits:
    """What the server accepts."""

    #: Of one picture, and of a whole request.
    picture_bytes: int = 32 << 20
    request_bytes: int = 64 << 20
    #: Pictures in one request.
    pictures: int = 20
    #: Requests in progress; those beyond get status 503.
    requests: int = 64
    #: For sending a request, and for its answer, which includes waiting for a worker.
    upload_seconds: float = 60.0
    answer_seconds: float = 60.0


async def read_upload(
    request: Request, limits: Limits
) -> tuple[list[Picture], bool, list[float]]:
    """Read the pictures of a multipart request into memory, whether they show one tree, and tip and base of a leaf.

    An `HTTPException` is raised with status 400, 408, 413 or 415, and a `LeafidError` for an unknown type.
    """
    kind, parameters = parse_options_header(request.headers.get("content-type", ""))
    if kind != b"multipart/form-data":
        raise HTTPException(
            415, f"expected multipart/form-data with files in the field '{FIELD}'"
        )
    # Names and values are UTF-8, as browsers send them, whatever charset the request declares.
    boundary = parameters.get(b"boundary", b"").decode("latin-1")
    headers = Headers({"content-type": f'multipart/form-data; boundary="{boundary}"'})
    stream = _limit(request, limits.request_bytes)
    parser = MultiPartParser(
        headers, stream, max_files=limits.pictures + _MAX_PARTS, max_fields=_MAX_PARTS
    )
    # Pictures never reach the disk.
    parser.spool_max_size = 1 << 40
    try:
        async with asyncio.timeout(limits.upload_seconds):
            form = await parser.parse()
    except TimeoutError:
        raise HTTPException(
            408, f"expected the pictures within {limits.upload_seconds:g} seconds"
        ) from None
    except (
        ClientDisconnect,
        MultiPartException,
        FormParserError,
    ) as error:  # older Starlettes pass the last on
        raise HTTPException(
            400, f"expected a complete multipart form: {error}"
        ) from None
    # A browser sends an empty file without a name for a field that was left empty.
    files = [
        file
        for file in form.getlist(FIELD)
        if isinstance(file, UploadFile) and (file.filename or file.size)
    ]
    if not files:
        raise HTTPException(
            400, f"expected one or several files in the field '{FIELD}', found none"
        )
    if len(files) > limits.pictures:
        raise HTTPException(413, f"expected at most {limits.pictures} pictures")
    if any((file.size or 0) > limits.picture_bytes for file in files):
        raise HTTPException(
            413, f"expected pictures of at most {limits.picture_bytes >> 20} MiB"
        )
    word = form.get("assume_type")
    type_ = AcquisitionType.parse(str(word)) if word else None
    pictures = [
        Picture(_make_name(file), type_, data=await file.read()) for file in files
    ]
    word = str(form.get("ends") or "")
    ends = (
        [float(share) for share in word.split(",")]
        if re.fullmatch(r"(0\.\d+,){3}0\.\d+", word)
        else []
    )
    if word and (not ends or math.dist(ends[:2], ends[2:]) < _MIN_DISTANCE):
        raise HTTPException(
            400,
            "expected ends=0.5,0.1,0.5,0.9: shares of the sides, columns and rows of tip and base",
        )
    return pictures, form.get("together") in {"1", "true", "on"}, ends


async def _limit(request: Request, most: int) -> AsyncGenerator[bytes, None]:
    """Pass a body on; one that is too large is read to its end, as a client that still sends would see no answer."""
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size <= most:
            yield chunk
    if size > most:
        raise HTTPException(
            413,
            f"expected at most {most >> 20} MiB in one request; send fewer pictures",
        )


def _make_name(file: UploadFile) -> Path:
    """Return the last part of the name that the client gave; it is never opened."""
    name = (file.filename or "").replace("\\", "/").rpartition("/")[2].replace("\0", "")
    return Path(name[-_MAX_NAME:] or "picture")
