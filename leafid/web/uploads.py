"""Reads uploaded pictures into memory, within limits."""

import asyncio
import math
import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import parse_options_header
from starlette.datastructures import FormData, Headers, UploadFile
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import ClientDisconnect, Request

from leafid.pictures.picture import AcquisitionType, Picture
from leafid.translation import translate

FIELD = "pictures"
# Maximum number of parts of a form beside the pictures, and of characters of a name.
_MAX_PARTS = 10
_MAX_NAME = 200
# Distance of the tip of a leaf from its base, as a share of the picture's sides; it is
# also in static/ends.js.
_MIN_DISTANCE = 0.02
# What a form says where a box is ticked, or isn't.
_YES = {"1", "on", "true"}
_NO = {"", "0", "off", "false"}


@dataclass(frozen=True)
class Limits:
    """What the server accepts."""

    #: Of a whole request.
    request_bytes: int = 64 << 20
    #: Pictures in one request.
    pictures: int = 20
    #: Of all requests that are still arriving; further requests get status 503.
    arriving_bytes: int = 1 << 30
    #: Requests that are being answered; further requests get status 503.
    requests: int = 64
    #: For sending a request, and for its answer, which includes waiting for a worker.
    upload_seconds: float = 60.0
    answer_seconds: float = 60.0


def refuse_for_now(problem: str) -> HTTPException:
    """Make the answer to a request that may succeed a little later."""
    text = translate("{problem}; try again", problem=problem)
    return HTTPException(503, text, {"Retry-After": "2"})


@dataclass
class UploadReader:
    """Reads requests into memory, within limits that hold for all of them together."""

    limits: Limits
    #: What the requests that are still arriving hold in memory.
    n_bytes: int = 0

    async def read(self, request: Request) -> tuple[list[Picture], bool, list[float]]:
        """Read the pictures and options of a multipart request into memory.

        Returns
        -------
        pictures : list of Picture
        is_one_tree : bool
            Whether they show one tree.
        ends : list of float
            Tip and base of a leaf, as shares of the picture's sides; empty where they
            aren't given.

        Raises
        ------
        HTTPException
            With status 400, 408, 413, 415 or 503.
        LeafidError
            When there is no such type.
        """
        form = await self._read_form(request)
        # A browser sends an empty file without a name for a field that was left empty.
        files = [
            file
            for file in form.getlist(FIELD)
            if isinstance(file, UploadFile) and (file.filename or file.size)
        ]
        self._check_files(files)
        type_ = None
        if word := _get_word(form, "assume_type"):
            type_ = AcquisitionType.parse(word)
        is_one_tree = _parse_together(_get_word(form, "together"))
        ends = _parse_ends(_get_word(form, "ends"))
        pictures = [
            Picture(_make_name(file), type_, data=await file.read()) for file in files
        ]
        return pictures, is_one_tree, ends

    async def _read_form(self, request: Request) -> FormData:
        kind, parameters = parse_options_header(request.headers.get("content-type", ""))
        if kind != b"multipart/form-data":
            raise HTTPException(
                415,
                translate(
                    "expected multipart/form-data with files in the field '{field}'",
                    field=FIELD,
                ),
            )
        # Names and values are UTF-8, as browsers send them, whatever charset the
        # request declares.
        boundary = parameters.get(b"boundary", b"").decode("latin-1")
        headers = Headers(
            {"content-type": f'multipart/form-data; boundary="{boundary}"'}
        )
        try:
            async with (
                asyncio.timeout(self.limits.upload_seconds),
                aclosing(self._receive(request)) as chunks,
            ):
                most = self.limits.pictures + _MAX_PARTS
                parser = MultiPartParser(
                    headers, chunks, max_files=most, max_fields=_MAX_PARTS
                )
                # Pictures never reach the disk.
                parser.spool_max_size = 1 << 40
                return await parser.parse()
        except TimeoutError:
            text = translate(
                "expected the pictures within {number:.0f} seconds",
                number=self.limits.upload_seconds,
            )
            raise HTTPException(408, text) from None
        # Older versions of Starlette pass errors of the parser on.
        except (ClientDisconnect, MultiPartException, FormParserError) as error:
            # The reason is the message of a library, in English.
            text = translate(
                "expected a complete multipart form: {reason}", reason=error
            )
            raise HTTPException(400, text) from None

    def _check_files(self, files: Sequence[UploadFile]) -> None:
        if not files:
            text = translate(
                "expected one or several files in the field '{field}', found none",
                field=FIELD,
            )
            raise HTTPException(400, text)
        if len(files) > self.limits.pictures:
            text = translate(
                "expected at most {number} pictures", number=self.limits.pictures
            )
            raise HTTPException(413, text)

    async def _receive(self, request: Request) -> AsyncGenerator[bytes, None]:
        """Pass a body on; one that is too large is read to its end.

        A client that still sends would see no answer.
        """
        size = n_held = 0
        try:
            async for chunk in request.stream():
                size += len(chunk)
                if size <= self.limits.request_bytes:
                    n_held += len(chunk)
                    self.n_bytes += len(chunk)
                    if self.n_bytes > self.limits.arriving_bytes:
                        raise refuse_for_now(
                            translate("too many pictures arrive at once")
                        )
                    yield chunk
        finally:
            self.n_bytes -= n_held
        if size > self.limits.request_bytes:
            raise HTTPException(
                413,
                translate(
                    "expected at most {number} MiB in one request; send fewer pictures",
                    number=self.limits.request_bytes >> 20,
                ),
            )


def _get_word(form: FormData, field: str) -> str:
    value = form.get(field, "")
    # A file in place of a word is called by its name.
    return str(getattr(value, "filename", value))


def _parse_together(word: str) -> bool:
    if word.lower() not in _YES | _NO:
        text = translate("expected true or false as together, found {word}", word=word)
        raise HTTPException(400, text)
    return word.lower() in _YES


def _parse_ends(word: str) -> list[float]:
    is_complete = re.fullmatch(r"(0\.\d+,){3}0\.\d+", word)
    ends = [float(share) for share in word.split(",") if is_complete]
    if word and (not ends or math.dist(ends[:2], ends[2:]) < _MIN_DISTANCE):
        raise HTTPException(
            400,
            translate(
                "expected tip and base of a leaf at two places, such as {example}, "
                "column and row of each as shares of the sides",
                example="ends=0.5,0.1,0.5,0.9",
            ),
        )
    return ends


def _make_name(file: UploadFile) -> Path:
    """Return the last part of the name that the client gave; it is never opened."""
    name = (file.filename or "").replace("\\", "/").rpartition("/")[2].replace("\0", "")
    return Path(name[-_MAX_NAME:] or "picture")
