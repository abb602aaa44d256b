"""Writes and reads a whole model file, whose manifest lists what the other members hold."""

import os
from dataclasses import replace
from typing import Any

import leafid
from leafid.errors import LeafidError
from leafid.features.recipe_reader import parse_recipe
from leafid.learning.type_recogniser import TypeRecognition
from leafid.model.archive import ModelArchive, open_archive, prefix_names, write_archive
from leafid.model.model import Model
from leafid.model.modelfile.identifiers import dump_classifiers, read_identifier
from leafid.model.modelfile.members import (
    dump_species_info,
    dump_thresholds,
    parse_scores,
    parse_species_info,
    read_plant_exponent,
    read_thresholds,
    read_type_recogniser,
)
from leafid.model.modelfile.statistics import dump_statistics, read_statistics
from leafid.model.records import count_thumbnail_bytes, dump_records, parse_records
from leafid.pictures.picture import AcquisitionType

FORMAT = "leafid-model"
FORMAT_VERSION = 3
_THUMBNAILS = "thumbnails"


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
            "scores": model.scores[str(type_)],
        }
        arrays.update(prefix_names(str(type_), dump_classifiers(identifier)))
        if identifier.rejection is not None:
            entry["rejection"] = {"n_quantiles": len(identifier.rejection.quantiles)}
            arrays.update(prefix_names(f"{type_}/rejection", vars(identifier.rejection)))
        if type_ in model.thresholds:
            entry["thresholds"], own = dump_thresholds(model.thresholds[type_])
            arrays.update(prefix_names(f"{type_}/thresholds", own))
        if type_ in model.plant_exponents:
            entry["plant_exponent"] = model.plant_exponents[type_]
        if str(type_) in statistics:
            entry["statistics"] = statistics[str(type_)]
        if identifier.added:
            entry["added"] = list(identifier.added)
    records, thumbnails = dump_records(model.records)
    manifest: dict[str, Any] = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "program_version": leafid.__version__,
        "training_fingerprint": model.fingerprint,
        "species": {name: dump_species_info(info) for name, info in model.species.items()},
        "identifiers": identifiers,
        "records": records,
    }
    if model.recogniser is not None:
        types = [str(type_) for type_ in model.recogniser.types]
        manifest["type_recogniser"] = {"types": types, "accuracy": model.type_recognition}
        arrays["type_recogniser/coefficients"] = model.recogniser.scorer.coefficients
        arrays["type_recogniser/intercepts"] = model.recogniser.scorer.intercepts
    write_archive(path, manifest, arrays, {_THUMBNAILS: thumbnails})


def read_model(path: str | os.PathLike[str]) -> Model:
    """Read a model; a `LeafidError` says if it is damaged, something else, or of another format version."""
    with open_archive(path) as archive:
        manifest = _read_manifest(archive, path)
        accuracy = manifest.get("type_recogniser", {}).get("accuracy")
        n_bytes = count_thumbnail_bytes(manifest["records"])
        model = Model(
            {},
            read_type_recogniser(manifest, archive),
            {name: parse_species_info(name, entry) for name, entry in manifest["species"].items()},
            str(manifest["training_fingerprint"]),
            type_recognition=None if accuracy is None else float(accuracy),
            records=parse_records(manifest["records"], archive.read_bytes(_THUMBNAILS, n_bytes)),
        )
        if model.records.keys() != model.species.keys():
            raise ValueError("expected a record of each species")
        for word, entry in manifest["identifiers"].items():
            type_ = AcquisitionType(word)
            recipe = parse_recipe(entry["recipe"], type_, str(path))
            identifier = read_identifier(entry, recipe, archive)
            if "statistics" in entry:
                read = {str(other): own for other, own in model.identifiers.items()}
                kept, targets = read_statistics(entry["statistics"], identifier, archive, read)
                identifier = replace(identifier, statistics=kept, targets=targets)
            model.identifiers[type_] = identifier
            if unknown := set(identifier.species) - model.species.keys():
                raise ValueError(f"expected an entry of every species, found none of {', '.join(sorted(unknown))}")
            model.scores[word] = parse_scores(entry["scores"])
            if "thresholds" in entry:
                model.thresholds[type_] = read_thresholds(entry["thresholds"], f"{type_}/thresholds", archive)
            if "plant_exponent" in entry:
                model.plant_exponents[type_] = read_plant_exponent(entry["plant_exponent"])
        return model


def read_type_recognition(path: str | os.PathLike[str]) -> TypeRecognition:
    """Read only the part of a model that recognises acquisition types."""
    with open_archive(path) as archive:
        manifest = _read_manifest(archive, path)
        types = tuple(AcquisitionType(word) for word in manifest["identifiers"])
        return TypeRecognition(types, read_type_recogniser(manifest, archive))


def _read_manifest(archive: ModelArchive, path: str | os.PathLike[str]) -> dict[str, Any]:
    manifest = archive.read_manifest()
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise LeafidError(f"{path}: expected a leafid model, found another kind of ZIP archive")
    if (version := manifest.get("format_version")) != FORMAT_VERSION:
        raise LeafidError(
            f"{path}: expected model format {FORMAT_VERSION}, found {version} "
            f"(written by leafid {manifest.get('program_version')}); update leafid or train the model again"
        )
    if not manifest["identifiers"]:
        raise ValueError("it has no identifier")
    return manifest
