"""Files of boxes in the COCO style."""

from __future__ import annotations

from pathlib import Path

from fuzz.target import Target, written
from leafid.tasks.interpretation.box import Box, BoxedObject
from leafid.tasks.interpretation.box_files import BoxFile, read_boxes

_TRUTH = b"""{"images": [{"id": 1, "file_name": "a.jpg", "width": 40, "height": 30}],
 "categories": [{"id": 1, "name": "leaf"}],
 "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 2, 3.5, 4], "score": 0.5}]}
"""
_RESULT = b'[{"image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4], "score": 0.5}]'
_KNOWN = BoxFile({"a.jpg": [BoxedObject("leaf", Box(1, 2, 3, 4))]}, {"a.jpg": (40.0, 30.0)}, {1: "leaf"}, {1: "a.jpg"})


def target() -> Target:
    """Read a truth, then the same file as a result."""

    def call(data: bytes, folder: Path) -> None:
        file = written(folder, "boxes.json", data)
        read_boxes(file, _KNOWN)
        read_boxes(file)

    words = (b'"id"', b'"bbox"', b'"images"', b'"score"', b"1e999", b"NaN", b"-Infinity", b"null", b"true", b"\\u0000")
    return Target("boxes", "boxes (JSON in the COCO style)", lambda: [_TRUTH, _RESULT], call, words)
