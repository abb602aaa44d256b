"""The formats in which measure writes leaves."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from leafid.descriptors.measures import list_measures
from leafid.scoring.tables import Table, render
from leafid.segmentation.outlines import trace_polygons
from leafid.segmentation.pixels import Mask, find_bounding_box

FORMATS = ("text", "csv", "json", "geojson", "coco")
#: The cells of a leaf by the names of their columns, and where it is in its picture, as
#: `make_geometry` gives it.
LeafRow = tuple[dict[str, Any], Any]


def make_geometry(mask: Mask, form: str) -> dict[str, Any] | None:
    """Describe a mask for GeoJSON (a geometry) or COCO (an annotation); else None."""
    if form == "geojson":
        polygons = trace_polygons(mask)
        rings = [[[*ring, ring[0]] for ring in polygon] for polygon in polygons]
        return {"type": "MultiPolygon", "coordinates": rings}
    if form == "coco":
        row0, row1, col0, col1 = find_bounding_box(mask)
        return {
            "segmentation": {"size": [*mask.shape], "counts": _count_runs(mask)},
            "area": int(np.count_nonzero(mask)),
            "bbox": [col0, row0, col1 - col0, row1 - row0],
            "iscrowd": 0,
        }
    return None


def _count_runs(mask: Mask) -> list[int]:
    """Count the pixels of runs outside and inside a mask, by column."""
    ends = np.flatnonzero(np.diff(mask.ravel(order="F"), prepend=False))
    return np.diff([0, *ends, mask.size]).tolist()


def format_leaves(leaves: Sequence[LeafRow], form: str) -> str:
    """Format all leaves as one of `FORMATS`."""
    leaves = [(_round_fractions(record), geometry) for record, geometry in leaves]
    records = [record for record, _ in leaves]
    if form in {"text", "csv"}:
        return _format_table(records, form)
    if form == "json":
        return json.dumps(records, ensure_ascii=False, indent=1) + "\n"
    content = _make_geojson(leaves) if form == "geojson" else _make_coco(leaves)
    return json.dumps(content, ensure_ascii=False) + "\n"


def _format_table(records: Sequence[dict[str, Any]], form: str) -> str:
    """Format a table, of which text has the measures without their confidences."""
    text_columns = ["picture", "leaf", "verdict", "unit", *list_measures()]
    columns = [*records[0]] if records else text_columns
    rows = [[*record.values()] for record in records]
    if form == "text":
        rows = [[Path(picture).name, *cells] for picture, *cells in rows]
    details = frozenset(columns) - {*text_columns}
    return render([Table("", columns, rows, (), details, n_keys=2)], form, digits=2)


def _make_geojson(leaves: Sequence[LeafRow]) -> dict[str, Any]:
    features = [
        {"type": "Feature", "properties": record, "geometry": geometry}
        for record, geometry in leaves
    ]
    return {"type": "FeatureCollection", "features": features}


def _make_coco(leaves: Sequence[LeafRow]) -> dict[str, Any]:
    """Make a COCO file, whose categories are species, or ``leaf`` for unknown ones."""
    species = {record["species"] or "leaf" for record, _ in leaves}
    categories = {name: number for number, name in enumerate(sorted(species), 1)}
    images: dict[str, dict[str, Any]] = {}
    annotations = []
    for number, (record, geometry) in enumerate(leaves, 1):
        file = record["picture"]
        height, width = geometry["segmentation"]["size"]
        image = {"id": len(images) + 1, "file_name": file}
        image |= {"width": width, "height": height}
        numbers = {
            "id": number,
            "image_id": images.setdefault(file, image)["id"],
            "category_id": categories[record["species"] or "leaf"],
        }
        annotations.append(numbers | geometry | {"attributes": record})
    return {
        "info": {"description": "Leaves measured by leafid"},
        "images": [*images.values()],
        "categories": [{"id": id_, "name": name} for name, id_ in categories.items()],
        "annotations": annotations,
    }


def _round_fractions(record: dict[str, Any]) -> dict[str, Any]:
    """Round to six significant digits, more than any measure has; counts stay exact."""
    rounded = {
        name: float(f"{value:.6g}")
        for name, value in record.items()
        if isinstance(value, float) and not value.is_integer()
    }
    return record | rounded
