"""Reads uploaded pictures into memory, within limits."""

import asyncio
import sys
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from python_multipart.exceptions import FormParserError
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import ClientDisconnect, Request

from leafid.pictures.picture import AcquisitionType, Picture

FIELD = "pictures"
# Of a form, beside the pictures.
_MAX_FIELDS = 10
_MAX_NAME = 200


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
    is_form = request.headers.get("content-type", "").lower().startswith("multipart/form-data")
    stream = _limit_stream(request, limits)
    parser = _MemoryParser(request.headers, stream, max_files=limits.pictures + 1, max_fields=_MAX_FIELDS)
    try:
        async with asyncio.timeout(limits.upload_seconds):
            try:
                form = await parser.parse() if is_form else FormData()
            finally:
                await discard(stream)
    except TimeoutError:
        raise HTTPException(408, f"expected the pictures within {limits.upload_seconds:g} seconds") from None
    except (MultiPartException, FormParserError) as error:
        text = getattr(error, "message", str(error))
        is_excess = text.startswith("Too many") or "exceeded" in text
        raise HTTPException(413 if is_excess else 400, text) from None
    except ClientDisconnect:
        raise HTTPException(400, "the connection was closed before the end of the request") from None
    if not is_form:
        raise HTTPException(415, f"expected multipart/form-data with files in the field '{FIELD}'")
    # A browser sends an empty part without a name for a field that was left empty.
    files = [file for file in form.getlist(FIELD) if isinstance(file, UploadFile) and (file.filename or file.size)]
    if not files:
        raise HTTPException(400, f"expected one or several files in the field '{FIELD}', found none")
    if len(files) > limits.pictures:
        raise HTTPException(413, f"expected at most {limits.pictures} pictures")
    if any((file.size or 0) > limits.picture_bytes for file in files):
        raise HTTPException(413, f"expected pictures of at most {limits.picture_bytes >> 20} MiB")
    type_ = _parse_type(form.get("assume_type"))
    pictures = [Picture(_make_name(file), type_, data=file.file.read()) for file in files]
    return Upload(pictures, form.get("together") in {"1", "true", "on"})


async def discard(stream: AsyncIterator[bytes]) -> None:
    """Read what remains of a request: a client that is still sending would not see the answer."""
    async for _ in stream:
        pass


class _MemoryParser(MultiPartParser):
    """Keeps uploads in memory, whatever their size."""

    spool_max_size = sys.maxsize


async def _limit_stream(request: Request, limits: Limits) -> AsyncGenerator[bytes, None]:
    """Yield the body of a request; one that is too large is read to its end, but not kept."""
    declared = measure_request(request, limits)
    problem = f"expected at most {limits.request_bytes >> 20} MiB in one request; send fewer pictures"
    # A client that asks first whether to send it has sent nothing yet.
    if declared > limits.request_bytes and "expect" in request.headers:
        raise HTTPException(413, problem)
    n_bytes = 0
    async for chunk in request.stream():
        n_bytes += len(chunk)
        if max(n_bytes, declared) <= limits.request_bytes:
            yield chunk
    if max(n_bytes, declared) > limits.request_bytes:
        raise HTTPException(413, problem)


def _parse_type(word: UploadFile | str | None) -> AcquisitionType | None:
    if not word:
        return None
    try:
        return AcquisitionType(str(word))
    except ValueError:
        raise HTTPException(400, f"expected a type ({', '.join(AcquisitionType)}), found {word!r:.50}") from None


def _make_name(file: UploadFile) -> Path:
    """Return the last part of the name that the client gave; it is never opened."""
    name = (file.filename or "").replace("\\", "/").rpartition("/")[2].replace("\0", "")
    return Path(name[-_MAX_NAME:] or "picture")
