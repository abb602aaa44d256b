"""Reads uploaded pictures into memory, within limits."""

import asyncio
import math
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import Field, File, FormParser, parse_options_header
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from leafid.pictures.picture import AcquisitionType, Picture

FIELD = "pictures"
# Maximum number of parts of a form beside the pictures, and of characters of a name and of the header Content-Type.
_MAX_OTHERS = 10
_MAX_NAME = 200
_MAX_CONTENT_TYPE = 500
# Pictures never reach the disk.
_FORM = {"MAX_MEMORY_FILE_SIZE": math.inf}


@dataclass(frozen=True)
class Limits:
    """What the server accepts."""

    #: `picture_bytes`, `request_bytes`: of one picture, and of a whole request.
    picture_bytes: int = 32 << 20
    request_bytes: int = 64 << 20
    #: In one request.
    pictures: int = 20
    #: `requests`, `pending_bytes`: requests in progress, and the sizes of their bodies; those beyond get status 503.
    requests: int = 256
    pending_bytes: int = 512 << 20
    #: `upload_seconds`, `answer_seconds`: for sending a request, and for its answer, which includes waiting for a
    #: worker.
    upload_seconds: float = 60.0
    answer_seconds: float = 60.0


@dataclass(frozen=True)
class Upload:
    """The pictures of a request, and its options."""

    pictures: list[Picture]
    is_one_tree: bool


def measure_request(request: Request, limits: Limits) -> int:
    """Return the number of bytes that a request declares, by default the limit."""
    declared = request.headers.get("content-length", "")
    return int(declared) if declared.isdecimal() else limits.request_bytes


async def read_upload(request: Request, limits: Limits) -> Upload:
    """Read the pictures of a multipart request into memory.

    Raises
    ------
    HTTPException
        With status 400, 408, 413 or 415.
    """
    try:
        async with asyncio.timeout(limits.upload_seconds):
            body = await _read_body(request, limits)
    except TimeoutError:
        raise HTTPException(408, f"expected the pictures within {limits.upload_seconds:g} seconds") from None
    except ClientDisconnect:
        raise HTTPException(400, "the connection was closed before the end of the request") from None
    # In a thread, as it takes long for a form that is made to; other requests are answered meanwhile.
    return await asyncio.to_thread(parse_upload, request.headers.get("content-type", ""), body, limits)


def parse_upload(content_type: str, body: bytes, limits: Limits) -> Upload:
    """Parse the body of a multipart request; raise `HTTPException` with status 400, 413 or 415.

    Names and values are UTF-8, as browsers send them, whatever charset the request declares.
    """
    kind, parameters = parse_options_header(content_type[:_MAX_CONTENT_TYPE])
    if kind != b"multipart/form-data":
        raise HTTPException(415, f"expected multipart/form-data with files in the field '{FIELD}'")
    files: list[File] = []
    others: list[Field | File] = []

    def add(part: Field | File) -> None:
        # A browser sends an empty part without a name for a field that was left empty.
        if isinstance(part, File) and _decode(part.field_name) == FIELD and (part.file_name or part.size):
            files.append(part)
        else:
            others.append(part)
        if len(files) > limits.pictures:
            raise HTTPException(413, f"expected at most {limits.pictures} pictures")
        if len(others) > _MAX_OTHERS:
            raise HTTPException(413, f"expected at most {_MAX_OTHERS} fields beside the pictures")

    try:
        parser = FormParser("multipart/form-data", add, add, boundary=parameters.get(b"boundary"), config=_FORM)
        parser.write(body)
        parser.finalize()
    except FormParserError as error:
        raise HTTPException(400, f"expected a complete multipart form: {error}") from None
    if not files:
        raise HTTPException(400, f"expected one or several files in the field '{FIELD}', found none")
    if any(file.size > limits.picture_bytes for file in files):
        raise HTTPException(413, f"expected pictures of at most {limits.picture_bytes >> 20} MiB")
    values = {_decode(own.field_name): _decode(own.value) for own in others if isinstance(own, Field)}
    word = values.get("assume_type", "")
    if word not in ["", *AcquisitionType]:
        raise HTTPException(400, f"expected a type ({', '.join(AcquisitionType)}), found {word!r:.50}")
    type_ = AcquisitionType(word) if word else None
    for file in files:
        file.file_object.seek(0)
    pictures = [Picture(_make_name(file), type_, data=file.file_object.read()) for file in files]
    return Upload(pictures, values.get("together") in {"1", "true", "on"})


async def discard(stream: AsyncIterator[bytes]) -> None:
    """Read what remains of a request: a client that is still sending would not see the answer."""
    async for _ in stream:
        pass


async def _read_body(request: Request, limits: Limits) -> bytes:
    """Read the body of a request; one that is too large is read to its end, but not kept."""
    declared = measure_request(request, limits)
    problem = f"expected at most {limits.request_bytes >> 20} MiB in one request; send fewer pictures"
    # A client that asks first whether to send it has sent nothing yet.
    if declared > limits.request_bytes and "expect" in request.headers:
        raise HTTPException(413, problem)
    body = bytearray()
    is_excess = declared > limits.request_bytes
    async for chunk in request.stream():
        is_excess = is_excess or len(body) + len(chunk) > limits.request_bytes
        if not is_excess:
            body += chunk
    if is_excess:
        raise HTTPException(413, problem)
    return bytes(body)


def _decode(text: bytes | None) -> str:
    return (text or b"").decode("utf-8", "replace")


def _make_name(file: File) -> Path:
    """Return the last part of the name that the client gave; it is never opened."""
    name = _decode(file.file_name).replace("\\", "/").rpartition("/")[2].replace("\0", "")
    return Path(name[-_MAX_NAME:] or "picture")
