"""The content of COCO files, for collections and for objects.

References
----------
.. [1] T.-Y. Lin et al., "Microsoft COCO: common objects in context", ECCV 2014; https://cocodataset.org/#format-data
"""

import os
from typing import Annotated

import msgspec

from leafid.errors import LeafidError
from leafid.schema import read_json

Id = int | str
Name = Annotated[str, msgspec.Meta(min_length=1)]
Side = Annotated[int, msgspec.Meta(gt=0)]


class Image(msgspec.Struct):
    """A picture, with its size in pixels if that is known."""

    id: Id
    file_name: Name
    width: Side | None = None
    height: Side | None = None

    def __post_init__(self) -> None:
        if not self.file_name.isprintable():
            raise ValueError(f"expected a file_name without invisible characters, found {self.file_name!r}")


class Category(msgspec.Struct):
    """A class of objects."""

    id: Id
    name: Name


class Runs(msgspec.Struct):
    """A mask of `size` (height, width) as lengths of runs, column by column, alternately outside and inside."""

    size: tuple[int, int]
    #: A list, or the compressed text of the COCO API.
    counts: list[Annotated[int, msgspec.Meta(ge=0)]] | str


class Annotation(msgspec.Struct):
    """An object: its box [left, top, width, height], and its pixels as polygons [x1, y1, x2, y2, …] or runs."""

    image_id: Id
    category_id: Id
    id: Id | None = None
    bbox: tuple[float, float, float, float] | None = None
    segmentation: list[list[float]] | Runs | None = None
    score: Annotated[float, msgspec.Meta(ge=0, le=1)] = 1.0
    iscrowd: int = 0


class Content(msgspec.Struct):
    """A ground truth, or a result, which may be a plain list of annotations."""

    annotations: list[Annotation]
    images: list[Image] = []
    categories: list[Category] = []


def read_coco_content(path: str | os.PathLike[str]) -> Content:
    """Read a COCO file.

    A `LeafidError` names the first value that isn't as expected, or the first id that two entries of a kind share, as
    ``annotations[3].bbox``.
    """
    content: Content | list[Annotation] = read_json(path, Content | list[Annotation])  # type: ignore[arg-type]
    if isinstance(content, list):
        content = Content(content)
    for kind in ("images", "categories", "annotations"):
        first: dict[Id, int] = {}
        for index, entry in enumerate(getattr(content, kind)):
            if entry.id is not None and first.setdefault(entry.id, index) != index:
                found = f"found {entry.id!r}, as in {kind}[{first[entry.id]}]"
                raise LeafidError(f"{path}: {kind}[{index}].id: expected every id of {kind} once, {found}")
    return content
