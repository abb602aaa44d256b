"""The formats in which measure writes leaves."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from leafid.descriptors.measures import list_measures
from leafid.scoring.tables import Table, format_csv, render
from leafid.segmentation.outlines import trace_polygons
from leafid.segmentation.pixels import Mask, find_bounding_box

FORMATS = ("text", "csv", "json", "geojson", "coco")


@dataclass(frozen=True)
class LeafRow:
    """A leaf in the table."""

    #: The cells by the names of their columns.
    record: dict[str, Any]
    #: Where the leaf is in its picture, as `make_geometry` gives it.
    geometry: dict[str, Any] | None


def make_geometry(mask: Mask, form: str) -> dict[str, Any] | None:
    """Describe a mask as a format needs it: a geometry of GeoJSON, or what an annotation of COCO has; else None."""
    if form == "geojson":
        polygons = [
            [[*ring, ring[0]] for ring in polygon] for polygon in trace_polygons(mask)
        ]
        return {"type": "MultiPolygon", "coordinates": polygons}
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
    """Count the pixels of runs, column by column, of which every second one is inside and the first is not."""
    pixels = mask.ravel(order="F")
    ends = np.flatnonzero(pixels[1:] != pixels[:-1]) + 1
    starts = [0, 0] if pixels[0] else [0]
    return np.diff([*starts, *ends, pixels.size]).tolist()


def format_leaves(leaves: Sequence[LeafRow], form: str) -> str:
    """Format all leaves as one of `FORMATS`."""
    if form == "text":
        return _format_text(leaf.record for leaf in leaves)
    records = [_shorten(leaf.record) for leaf in leaves]
    if form == "csv":
        rows = [list(record.values()) for record in records]
        return format_csv([[*records[0]], *rows]) if rows else ""
    if form == "json":
        return json.dumps(records, ensure_ascii=False, indent=1) + "\n"
    geometries = [leaf.geometry or {} for leaf in leaves]
    make = _make_geojson if form == "geojson" else _make_coco
    return json.dumps(make(records, geometries), ensure_ascii=False) + "\n"


def _format_text(records: Iterable[Mapping[str, Any]]) -> str:
    columns = ["leaf", "verdict", "unit", *list_measures()]
    rows = [
        [Path(record["picture"]).name, *(record[name] for name in columns)]
        for record in records
    ]
    return render([Table("", ["picture", *columns], rows, n_keys=2)], digits=2)


def _make_geojson(
    records: Sequence[dict[str, Any]], geometries: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    features = [
        {"type": "Feature", "properties": record, "geometry": geometry}
        for record, geometry in zip(records, geometries, strict=True)
    ]
    return {"type": "FeatureCollection", "features": features}


def _make_coco(
    records: Sequence[dict[str, Any]], geometries: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """Make the content of a COCO file, whose categories are species, or ``leaf`` where these are unknown."""
    names = [record["species"] or "leaf" for record in records]
    categories = {name: number for number, name in enumerate(sorted({*names}), 1)}
    images: dict[str, dict[str, Any]] = {}
    annotations: list[dict[str, Any]] = []
    for record, geometry, name in zip(records, geometries, names, strict=True):
        height, width = geometry["segmentation"]["size"]
        start = {"id": len(images) + 1, "file_name": record["picture"]}
        size = {"width": width, "height": height}
        image = images.setdefault(record["picture"], start | size)
        numbers = {
            "id": len(annotations) + 1,
            "image_id": image["id"],
            "category_id": categories[name],
        }
        annotations.append(numbers | geometry | {"attributes": record})
    return {
        "info": {"description": "Leaves measured by leafid"},
        "images": list(images.values()),
        "categories": [
            {"id": number, "name": name} for name, number in categories.items()
        ],
        "annotations": annotations,
    }


def _shorten(record: Mapping[str, Any]) -> dict[str, Any]:
    """Round numbers to six significant digits, more than any measure has; counts of pixels stay exact."""
    return {name: _round_fraction(value) for name, value in record.items()}


def _round_fraction(value: Any) -> Any:
    is_fraction = isinstance(value, float) and not value.is_integer()
    return float(f"{value:.6g}") if is_fraction else value
