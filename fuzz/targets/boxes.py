"""Files in the COCO format."""

from __future__ import annotations

from pathlib import Path

from fuzz.target import Target, write_input
from leafid.tasks.interpretation.coco import CocoFile, CocoImage, read_coco

_TRUTH = b"""{"images": [{"id": 1, "file_name": "a.jpg", "width": 40, "height": 30}],
 "categories": [{"id": 1, "name": "leaf"}],
 "annotations": [{"id": 1, "image_id": 1, "category_id": 1,
  "bbox": [1, 2, 3.5, 4], "score": 0.5},
 {"id": 2, "image_id": 1, "category_id": 1, "segmentation": [[1, 1, 9, 1, 9, 9]]},
 {"id": 3, "image_id": 1, "category_id": 1,
  "segmentation": {"size": [30, 40], "counts": [200, 10, 990]}}]}
"""
_RESULT = b'[{"image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4], "score": 0.5}]'
_KNOWN = CocoFile({}, {1: CocoImage(1, "a.jpg", 40, 30)}, {1: "leaf"})


def target() -> Target:
    """Read a truth, then the same file as a result."""

    def call(data: bytes, folder: Path) -> None:
        file = write_input(folder, "boxes.json", data)
        read_coco(file, _KNOWN)
        read_coco(file)

    words = (
        b'"id"',
        b'"bbox"',
        b'"segmentation"',
        b'"counts"',
        b'"images"',
        b'"score"',
        b"1e999",
        b"NaN",
        b"-Infinity",
        b"null",
        b"true",
        b"\\u0000",
    )
    return Target(
        "boxes",
        "objects (JSON in the COCO format)",
        lambda: [_TRUTH, _RESULT],
        call,
        words,
    )
