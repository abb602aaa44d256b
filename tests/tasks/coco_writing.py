"""Writes COCO files for tests."""

import json


def write_coco(path, objects, sizes=None):
    """Write objects by picture as a COCO ground truth; pictures and classes are numbered from 1."""
    sizes = sizes or {}
    names = sorted({item.name for items in objects.values() for item in items})
    images = [
        {"id": number, "file_name": picture} | dict(zip(("width", "height"), sizes.get(picture, ()), strict=False))
        for number, picture in enumerate(objects, start=1)
    ]
    pairs = [(number, item) for number, items in enumerate(objects.values(), start=1) for item in items]
    annotations = [
        {
            "id": index,
            "image_id": number,
            "category_id": names.index(item.name) + 1,
            "bbox": list(item.box),
            "score": item.confidence,
        }
        for index, (number, item) in enumerate(pairs, start=1)
    ]
    categories = [{"id": number, "name": name} for number, name in enumerate(names, start=1)]
    path.write_text(json.dumps({"images": images, "categories": categories, "annotations": annotations}, indent=1))
