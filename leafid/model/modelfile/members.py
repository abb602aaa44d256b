"""The members of a model file beside the classifiers: thresholds, species, and the recogniser of types."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from leafid.learning.linear import LinearScorer
from leafid.learning.thresholds import Thresholds, compute_kept_ranks
from leafid.learning.type_recogniser import N_EXPANDED_FEATURES, TypeRecogniser
from leafid.model.archive import Arrays, ModelArchive
from leafid.model.model import SpeciesInfo
from leafid.pictures.picture import AcquisitionType, Taxon


def check_names(names: Sequence[object], what: str) -> None:
    """Raise a `ValueError` unless all names are words that differ."""
    if not all(isinstance(name, str) for name in names) or len(set(names)) != len(names):
        raise ValueError(f"expected {what}, each once, found {names!r}")


def read_type_recogniser(manifest: dict[str, Any], archive: ModelArchive) -> TypeRecogniser | None:
    """Read the recogniser of types; None where there is none."""
    if "type_recogniser" not in manifest:
        return None
    types = tuple(AcquisitionType(word) for word in manifest["type_recogniser"]["types"])
    coefficients = archive.read_array("type_recogniser/coefficients", N_EXPANDED_FEATURES, len(types))
    intercepts = archive.read_array("type_recogniser/intercepts", len(types))
    return TypeRecogniser(types, LinearScorer("none", coefficients, intercepts))


def dump_thresholds(thresholds: Thresholds) -> tuple[dict[str, Any], Arrays]:
    """Turn thresholds into JSON values and arrays."""
    entry = {
        "n_sizes": len(thresholds.sizes),
        "n_pictures": thresholds.n_pictures,
        "back_off": thresholds.back_off,
    }
    arrays = {
        "sizes": thresholds.sizes,
        "size_thresholds": thresholds.size_thresholds,
        "correct_probabilities": thresholds.correct_probabilities,
    }
    return entry, arrays


def read_thresholds(entry: dict[str, Any], prefix: str, archive: ModelArchive) -> Thresholds:
    """Read and check thresholds."""
    n_sizes, n_pictures = int(entry["n_sizes"]), int(entry["n_pictures"])
    if n_sizes < 1 or n_pictures < 1:
        raise ValueError(f"expected thresholds learned from pictures, found {entry!r}")
    back_off = None if entry["back_off"] is None else float(entry["back_off"])
    if back_off is not None and not 0 <= back_off < 2:
        raise ValueError(f"expected a threshold from 0 to about 1, found {back_off}")
    sizes = archive.read_array(f"{prefix}/sizes", n_sizes)
    size_thresholds = archive.read_array(f"{prefix}/size_thresholds", n_sizes)
    correct = archive.read_array(f"{prefix}/correct_probabilities", len(compute_kept_ranks(n_pictures)))
    if (np.diff(sizes) <= 0).any() or (np.diff(size_thresholds) > 0).any() or (np.diff(correct) < 0).any():
        raise ValueError(f"{prefix}: expected sorted thresholds")
    return Thresholds(sizes, size_thresholds, correct, n_pictures, back_off)


def read_plant_exponent(value: Any) -> float:
    """Check a plant exponent."""
    if not 0 <= float(value) <= 1:
        raise ValueError(f"expected a plant exponent from 0 to 1, found {value!r}")
    return float(value)


def parse_scores(entry: dict[str, Any]) -> dict[str, float]:
    """Check scores on held-out plants, by name."""
    if not {"pictures", "unseen"} <= entry.keys() or not all(isinstance(own, int | float) for own in entry.values()):
        raise ValueError(f"expected scores on held-out plants, found {entry!r:.100}")
    return dict(entry)


def dump_species_info(info: SpeciesInfo) -> dict[str, Any]:
    """Turn what is known of a species into JSON values."""
    taxon = {rank: getattr(info.taxon, rank) for rank in ("genus", "family", "order")}
    return {**taxon, "vernacular_names": list(info.vernacular_names), "n_pictures": info.n_pictures}


def parse_species_info(name: str, entry: dict[str, Any]) -> SpeciesInfo:
    """Parse and check what `dump_species_info` returned."""
    taxa = [entry[rank] for rank in ("genus", "family", "order")]
    check_names([taxon for taxon in taxa if taxon is not None], f"the taxa above {name}")
    check_names(entry["vernacular_names"], f"vernacular names of {name}")
    return SpeciesInfo(Taxon(name, *taxa), tuple(entry["vernacular_names"]), int(entry["n_pictures"]))
