"""The model file: a ZIP archive of a JSON manifest and plain NumPy arrays. Reading it never executes code."""

import os
from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from typing import Any

import numpy as np

import leafid
from leafid.classifiers.context import COLUMNS, Bandwidths, Context, Sightings
from leafid.classifiers.linear import LinearScorer, apply_feature_map
from leafid.classifiers.rejection import Rejection, count_evidence
from leafid.classifiers.thresholds import Thresholds, compute_kept_ranks
from leafid.classifiers.type_recogniser import N_EXPANDED_FEATURES, TypeRecogniser, TypeRecognition
from leafid.collection.picture import AcquisitionType, Taxon
from leafid.descriptors.local import get_local_descriptor
from leafid.descriptors.registry import get_column_names
from leafid.encoding import Encoder
from leafid.errors import LeafidError
from leafid.features.extractor import FeatureExtractor
from leafid.identification.archive import ModelArchive, open_archive, write_archive
from leafid.identification.identifier import Identifier
from leafid.identification.model import Model, SpeciesInfo
from leafid.identification.records import count_thumbnail_bytes, dump_records, parse_records
from leafid.identification.statistics_members import dump_statistics, read_statistics
from leafid.recipes.reader import parse_recipe
from leafid.recipes.recipe import LocalPatches, Recipe

FORMAT = "leafid-model"
FORMAT_VERSION = 3
Arrays = dict[str, np.ndarray]
_THUMBNAILS = "thumbnails"

# Arrays of encoders that are divided by, or whose logarithm is taken.
_POSITIVE_STATE = {"weights", "variances"}


def write_model(model: Model, path: str | os.PathLike[str]) -> None:
    """Write a model; the same model gives the same bytes."""
    statistics, arrays = dump_statistics(model)
    identifiers: dict[str, dict[str, Any]] = {}
    for type_, identifier in model.identifiers.items():
        entry = identifiers[str(type_)] = {
            "recipe": identifier.recipe.to_dict(),
            "seed": identifier.seed,
            "species": list(identifier.species),
            "n_pictures": identifier.n_pictures,
            "n_plants": identifier.n_plants,
        }
        arrays.update(_prefix_names(str(type_), _dump_classifiers(identifier)))
        if identifier.rejection is not None:
            entry["rejection"] = {"n_quantiles": len(identifier.rejection.quantiles)}
            arrays.update(_prefix_names(f"{type_}/rejection", vars(identifier.rejection)))
        if str(type_) in model.scores:
            entry["scores"] = model.scores[str(type_)]
        if type_ in model.thresholds:
            entry["thresholds"], own = _dump_thresholds(model.thresholds[type_])
            arrays.update(_prefix_names(f"{type_}/thresholds", own))
        if type_ in model.plant_exponents:
            entry["plant_exponent"] = model.plant_exponents[type_]
        if type_ in model.contexts:
            entry["context"], own = _dump_context(model.contexts[type_])
            arrays.update(_prefix_names(f"{type_}/context", own))
        if str(type_) in statistics:
            entry["statistics"] = statistics[str(type_)]
        if identifier.added:
            entry["added"] = list(identifier.added)
    manifest: dict[str, Any] = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "program_version": leafid.__version__,
        "training_fingerprint": model.fingerprint,
        "species": {name: _dump_species_info(info) for name, info in model.species.items()},
        "identifiers": identifiers,
    }
    if model.recogniser is not None:
        types = [str(type_) for type_ in model.recogniser.types]
        manifest["type_recogniser"] = {"types": types, "accuracy": model.type_recognition}
        arrays["type_recogniser/coefficients"] = model.recogniser.scorer.coefficients
        arrays["type_recogniser/intercepts"] = model.recogniser.scorer.intercepts
    blobs = {}
    if model.records:
        manifest["records"], blobs[_THUMBNAILS] = dump_records(model.records)
    write_archive(path, manifest, arrays, blobs)


def read_model(path: str | os.PathLike[str]) -> Model:
    """Read a model; a `LeafidError` says if it is damaged, something else, or of another format version."""
    with open_archive(path) as archive:
        manifest = _read_manifest(archive, path)
        accuracy = manifest.get("type_recogniser", {}).get("accuracy")
        model = Model(
            {},
            _read_type_recogniser(manifest, archive),
            {name: _parse_species_info(name, entry) for name, entry in manifest["species"].items()},
            str(manifest["training_fingerprint"]),
            type_recognition=None if accuracy is None else float(accuracy),
        )
        if "records" in manifest:
            size = count_thumbnail_bytes(manifest["records"])
            model.records.update(parse_records(manifest["records"], archive.read_bytes(_THUMBNAILS, size)))
        for word, entry in manifest["identifiers"].items():
            type_ = AcquisitionType(word)
            recipe = parse_recipe(entry["recipe"], type_, str(path))
            identifier = _read_identifier(entry, recipe, archive)
            if "statistics" in entry:
                read = {str(other): own for other, own in model.identifiers.items()}
                kept, targets = read_statistics(entry["statistics"], identifier, archive, read)
                identifier = replace(identifier, statistics=kept, targets=targets)
            model.identifiers[type_] = identifier
            if unknown := set(identifier.species) - model.species.keys():
                raise ValueError(f"expected an entry of every species, found none of {', '.join(sorted(unknown))}")
            if "scores" in entry:
                model.scores[word] = dict(entry["scores"])
            if "thresholds" in entry:
                model.thresholds[type_] = _read_thresholds(entry["thresholds"], f"{type_}/thresholds", archive)
            if "plant_exponent" in entry:
                model.plant_exponents[type_] = _read_plant_exponent(entry["plant_exponent"])
            if "context" in entry:
                n_species = len(model.identifiers[type_].species)
                model.contexts[type_] = _read_context(entry["context"], f"{type_}/context", archive, n_species)
        return model


def _check_names(names: Sequence[object], what: str) -> None:
    if not all(isinstance(name, str) for name in names) or len(set(names)) != len(names):
        raise ValueError(f"expected {what}, each once, found {names!r}")


def read_type_recognition(path: str | os.PathLike[str]) -> TypeRecognition:
    """Read only the part of a model that recognises acquisition types."""
    with open_archive(path) as archive:
        manifest = _read_manifest(archive, path)
        types = tuple(AcquisitionType(word) for word in manifest["identifiers"])
        return TypeRecognition(types, _read_type_recogniser(manifest, archive))


def _read_manifest(archive: ModelArchive, path: str | os.PathLike[str]) -> dict[str, Any]:
    manifest = archive.read_manifest()
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise LeafidError(f"{path}: expected a leafid model, found another kind of ZIP archive")
    version = manifest.get("format_version")
    if version != FORMAT_VERSION:
        remedy = (
            "recipe keys and entries have new names since: train the model again, or use the bundled model"
            if isinstance(version, int) and version < FORMAT_VERSION
            else "update leafid or train the model again"
        )
        raise LeafidError(
            f"{path}: expected model format {FORMAT_VERSION}, found {version} "
            f"(written by leafid {manifest.get('program_version')}); {remedy}"
        )
    if not manifest["identifiers"]:
        raise ValueError("it has no identifier")
    return manifest


def _dump_classifiers(identifier: Identifier) -> Arrays:
    arrays: Arrays = {"expert_weights": identifier.weights}
    for name, scorer in identifier.scorers.items():
        halves, scale = to_half_precision(scorer.coefficients)
        own = {"coefficients": halves, "scale": scale, "intercepts": scorer.intercepts.astype(np.float32)}
        arrays.update(_prefix_names(f"experts/{name}", own))
        if name in identifier.extractor.encoders:
            state = identifier.extractor.encoders[name].get_state()
            arrays.update(_prefix_names(f"experts/{name}/encoder", state))
    return arrays


def _read_identifier(entry: dict[str, Any], recipe: Recipe, archive: ModelArchive) -> Identifier:
    seed = int(entry["seed"])
    species = tuple(entry["species"])
    if not species:
        raise ValueError("expected a list of species, found none")
    _check_names(species, "names of species")
    weights = archive.read_array(f"{recipe.type}/expert_weights", len(recipe.experts))
    encoders: dict[str, Encoder] = {}
    scorers: dict[str, LinearScorer] = {}
    n_columns = 0
    for name, expert in recipe.experts.items():
        prefix = f"{recipe.type}/experts/{name}"
        if isinstance(expert.features, LocalPatches):
            encoder = expert.features.make_encoder(seed)
            shapes = encoder.get_state_shapes(get_local_descriptor(expert.features.descriptor).length)
            state = {key: archive.read_array(f"{prefix}/encoder/{key}", *shape) for key, shape in shapes.items()}
            if any((state[key] <= 0).any() for key in _POSITIVE_STATE & state.keys()):
                raise ValueError(f"{prefix}: expected variances and weights above 0")
            encoders[name] = encoder.set_state(state)
            n_values = encoder.n_features
        else:
            n_values = len(get_column_names(expert.families))
        n_columns += n_values
        feature_map = expert.classifier.feature_map
        n_mapped = apply_feature_map(np.zeros((1, n_values), np.float32), feature_map).shape[1]
        halves = archive.read_array(f"{prefix}/coefficients", n_mapped, len(species))
        with np.errstate(over="ignore"):
            coefficients = halves.astype(np.float32) * archive.read_array(f"{prefix}/scale", len(species))
        if not np.isfinite(coefficients).all():
            raise ValueError(f"{prefix}: expected finite coefficients, found infinity or NaN")
        scorers[name] = LinearScorer(
            feature_map,
            coefficients,
            archive.read_array(f"{prefix}/intercepts", len(species)),
        )
    extractor = FeatureExtractor(recipe.experts, encoders, recipe.longest_side)
    n_pictures, n_plants = int(entry["n_pictures"]), int(entry["n_plants"])
    added = tuple(entry.get("added", ()))
    if not set(added) <= set(species):
        raise ValueError(f"expected added species among the others, found {added!r}")
    identifier = Identifier(recipe, species, extractor, scorers, weights, seed, n_pictures, n_plants, added=added)
    return replace(identifier, rejection=_read_rejection(entry, identifier, n_columns, archive))


def _read_rejection(
    entry: dict[str, Any], identifier: Identifier, n_columns: int, archive: ModelArchive
) -> Rejection | None:
    if "rejection" not in entry:
        return None
    prefix = f"{identifier.type}/rejection"
    quantiles = archive.read_array(f"{prefix}/quantiles", int(entry["rejection"]["n_quantiles"]))
    if not len(quantiles) or (np.diff(quantiles) < 0).any():
        raise ValueError(f"{prefix}: expected sorted quantiles")
    n_evidence = count_evidence(len(identifier.recipe.experts))
    return Rejection(
        archive.read_array(f"{prefix}/leaf", n_columns + 1),
        archive.read_array(f"{prefix}/known", n_evidence + 1),
        quantiles,
    )


def _read_type_recogniser(manifest: dict[str, Any], archive: ModelArchive) -> TypeRecogniser | None:
    if "type_recogniser" not in manifest:
        return None
    types = tuple(AcquisitionType(word) for word in manifest["type_recogniser"]["types"])
    coefficients = archive.read_array("type_recogniser/coefficients", N_EXPANDED_FEATURES, len(types))
    intercepts = archive.read_array("type_recogniser/intercepts", len(types))
    return TypeRecogniser(types, LinearScorer("none", coefficients, intercepts))


def _dump_thresholds(thresholds: Thresholds) -> tuple[dict[str, Any], Arrays]:
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


def _read_thresholds(entry: dict[str, Any], prefix: str, archive: ModelArchive) -> Thresholds:
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


def _read_plant_exponent(value: Any) -> float:
    if not 0 <= float(value) <= 1:
        raise ValueError(f"expected a plant exponent from 0 to 1, found {value!r}")
    return float(value)


def _dump_context(context: Context) -> tuple[dict[str, Any], Arrays]:
    is_known = np.isfinite(context.sightings.values)
    entry = {
        "bandwidths": asdict(context.bandwidths),
        "shrinkage": context.shrinkage,
        "weight": context.weight,
        "n_sightings": len(is_known),
    }
    arrays = {
        # All arrays of a model are finite: unknown values are written as 0 and marked in the next array.
        "values": np.where(is_known, context.sightings.values, 0),
        "is_known": is_known.astype(np.float32),
        "weights": context.sightings.weights,
        "species": context.sightings.species.astype(np.float32),
    }
    return entry, arrays


def _read_context(entry: dict[str, Any], prefix: str, archive: ModelArchive, n_species: int) -> Context:
    n_sightings, shrinkage, weight = int(entry["n_sightings"]), float(entry["shrinkage"]), float(entry["weight"])
    widths = [entry["bandwidths"][field.name] for field in fields(Bandwidths)]
    widths = [None if width is None else float(width) for width in widths]
    if not all(0 < value < 1e6 for value in (*[width for width in widths if width is not None], shrinkage)):
        raise ValueError(f"{prefix}: expected bandwidths and a shrinkage above 0, found {entry!r}")
    if not 0 <= weight < 100:
        raise ValueError(f"{prefix}: expected a weight of 0 or more, found {weight}")
    is_known = archive.read_array(f"{prefix}/is_known", n_sightings, len(COLUMNS)) > 0
    weights = archive.read_array(f"{prefix}/weights", n_sightings)
    species = archive.read_array(f"{prefix}/species", n_sightings).astype(np.int64)
    if ((species < 0) | (species >= n_species)).any() or (weights <= 0).any():
        raise ValueError(f"{prefix}: expected sightings of {n_species} species")
    values = np.where(is_known, archive.read_array(f"{prefix}/values", n_sightings, len(COLUMNS)), np.nan)
    return Context(Sightings(values, weights, species), Bandwidths(*widths), shrinkage, weight, n_species)


def _dump_species_info(info: SpeciesInfo) -> dict[str, Any]:
    taxon = {rank: getattr(info.taxon, rank) for rank in ("genus", "family", "order")}
    return {**taxon, "vernacular_names": list(info.vernacular_names), "n_pictures": info.n_pictures}


def _parse_species_info(name: str, entry: dict[str, Any]) -> SpeciesInfo:
    taxa = [entry[rank] for rank in ("genus", "family", "order")]
    _check_names([taxon for taxon in taxa if taxon is not None], f"the taxa above {name}")
    _check_names(entry["vernacular_names"], f"vernacular names of {name}")
    return SpeciesInfo(Taxon(name, *taxa), tuple(entry["vernacular_names"]), int(entry["n_pictures"]))


def to_half_precision(coefficients: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Split coefficients into float16 values of at most 1 and a float32 scale for each column.

    It moves a score by less than a thousandth of what tells two species apart. With a scale for each column, small
    coefficients don't fall below what half precision can hold.
    """
    scale = np.maximum(np.abs(coefficients).max(axis=0), 1e-20).astype(np.float32)
    return (coefficients / scale).astype(np.float16), scale


def _prefix_names(prefix: str, arrays: Arrays) -> Arrays:
    return {f"{prefix}/{name}": array for name, array in arrays.items()}
