"""Models of the former format 3, a ZIP archive. To be deleted as soon as the bundled model is of format 4."""

import base64
import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

_FORMER_KEYS = (
    *("codebook_pictures", "jittered_weight", "composited_weight"),
    *("max_coverage", "softmax_regularisation"),
)


class _ZippedArrays(Mapping[str, np.ndarray]):
    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive

    def __getitem__(self, name: str) -> np.ndarray:
        name = name.replace("recogniser/", "type_recogniser/")
        return np.lib.format.read_array(io.BytesIO(self._archive.read(f"{name}.npy")), allow_pickle=False)

    def __iter__(self) -> Iterator[str]:
        return iter(self._archive.namelist())

    def __len__(self) -> int:
        return len(self._archive.namelist())


def is_format_3(content: bytes) -> bool:
    """Check whether a file begins like a ZIP archive."""
    return content[:4] == b"PK\x03\x04"


def read_format_3(content: bytes) -> tuple[dict[str, Any], Mapping[str, np.ndarray]]:
    """Read a model of format 3, and turn its manifest into one of format 4."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
        data = json.loads(archive.read("manifest.json"))
        images, start = archive.read("thumbnails"), 0
    except (zipfile.BadZipFile, RuntimeError, OSError) as error:
        raise ValueError(str(error)) from error
    species = {}
    for name, entry in data["species"].items():
        record = data["records"][name]
        taxon = {"species": name, **{rank: entry.get(rank) for rank in ("genus", "family", "order")}}
        species[name] = entry | {"taxon": taxon} | record
    for name in data["records"]:
        for own in species[name]["thumbnails"]:
            end = start + own["bytes"]
            own["image"], start = base64.b64encode(images[start:end]).decode(), end
    recogniser = data.get("type_recogniser", {"types": list(data["identifiers"])})
    entries: dict[str, Any] = data["identifiers"]
    # Recipes did not name their types, and had keys that have one value today.
    for entry in entries.values():
        served = [name for name, other in entries.items() if other["recipe"] == entry["recipe"]]
        entry["upgraded"] = {key: value for key, value in entry["recipe"].items() if key not in _FORMER_KEYS}
        entry["upgraded"] |= {"types": served, "experts": {}}
        for name, table in entry["recipe"]["experts"].items():
            own = {key: value for key, value in table.items() if key not in _FORMER_KEYS}
            entry["upgraded"]["experts"][name] = own
    types = {name: entry | {"recipe": entry["upgraded"]} for name, entry in entries.items()}
    manifest = data | {"format_version": 4, "types": types, "recogniser": recogniser, "species": species}
    return manifest, _ZippedArrays(archive)
