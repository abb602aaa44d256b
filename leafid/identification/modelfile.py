"""The model file: a ZIP archive of a JSON manifest and plain NumPy arrays. Reading it never executes code."""

from __future__ import annotations

import json
import os
import zipfile
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.lib import format as npy

import leafid
from leafid.classifiers.context import COLUMNS, Bandwidths, Context, Sightings
from leafid.classifiers.linear import LinearScorer, mapped
from leafid.classifiers.thresholds import Thresholds, kept_ranks
from leafid.classifiers.type_recogniser import TypeRecogniser
from leafid.collection.picture import AcquisitionType, Taxon
from leafid.descriptors.local import get_local_descriptor
from leafid.descriptors.registry import get_column_names
from leafid.encoding import Encoder
from leafid.errors import LeafidError
from leafid.features.extractor import FeatureExtractor, encoder_arrays
from leafid.files import open_output
from leafid.identification.archive import DAMAGE, MANIFEST, Arrays, open_archive
from leafid.identification.identifier import Identifier
from leafid.identification.model import Model, SpeciesInfo
from leafid.identification.type_recognition import TypeRecognition
from leafid.recipes.reader import RENAMED_KEYS, parse_recipe
from leafid.recipes.recipe import LocalPatches, Recipe

FORMAT = "leafid-model"
FORMAT_VERSION = 2
# It stands among the scores of the types, named as no type is.
_TYPE_RECOGNITION = "type_recognition"


def write_model(model: Model, path: str | os.PathLike[str]) -> None:
    """Write a model; the same model gives the same bytes.

    Raises
    ------
    LeafidError
        When the file can't be written.
    """
    arrays: dict[str, np.ndarray] = {}
    identifiers: dict[str, dict[str, Any]] = {}
    for type_, identifier in model.identifiers.items():
        identifiers[str(type_)] = {
            "recipe": identifier.recipe.to_dict(),
            "seed": identifier.seed,
            "species": list(identifier.species_),
            "pictures": identifier.n_pictures_,
            "plants": identifier.n_plants_,
        }
        arrays[f"{type_}/weights"] = identifier.weights_
        for name, scorer in identifier.scorers_.items():
            # Half precision moves a score by less than a thousandth of what tells two species apart.
            arrays[f"{type_}/{name}/coefficients"] = _halved(scorer.coefficients)
            arrays[f"{type_}/{name}/scale"] = _column_scale(scorer.coefficients)
            arrays[f"{type_}/{name}/intercepts"] = scorer.intercepts.astype(np.float32)
        for key, array in encoder_arrays(identifier.extractor_.encoders).items():
            arrays[f"{type_}/encoders/{key}"] = array
        if type_ in model.thresholds:
            plain, own = _taken_apart(model.thresholds[type_])
            identifiers[str(type_)]["thresholds"] = plain
            arrays.update({f"{type_}/thresholds/{key}": array for key, array in own.items()})
        if type_ in model.contexts:
            plain, own = _context_taken_apart(model.contexts[type_])
            identifiers[str(type_)]["context"] = plain
            arrays.update({f"{type_}/context/{key}": array for key, array in own.items()})
    recognition = {} if model.type_recognition is None else {_TYPE_RECOGNITION: model.type_recognition}
    manifest: dict[str, Any] = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "program_version": leafid.__version__,
        "training_data": model.fingerprint,
        "species": {name: _plain_species(info) for name, info in model.species.items()},
        "identifiers": identifiers,
        "scores": {**recognition, **model.scores},
    }
    if model.recogniser is not None:
        manifest["recogniser"] = [str(type_) for type_ in model.recogniser.types_]
        arrays["recogniser/coefficients"] = model.recogniser.scorer_.coefficients
        arrays["recogniser/intercepts"] = model.recogniser.scorer_.intercepts
    with open_output(path, "wb") as stream, zipfile.ZipFile(stream, "w") as archive:
        _add(archive, MANIFEST, json.dumps(manifest, indent=1, ensure_ascii=False).encode())
        for name, array in arrays.items():
            member = _open_member(f"{name}.npy")
            with archive.open(member, "w") as target:
                npy.write_array(target, np.asarray(array, order="C"), allow_pickle=False)


def read_model(path: str | os.PathLike[str]) -> Model:
    """Read a model.

    Raises
    ------
    LeafidError
        When the file is missing, damaged, something else than a model, or of a later format.
    """
    with open_archive(path) as archive:
        return _assembled(_read_manifest(archive, path), Arrays(archive, path), path)


def read_manifest(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read only what a model file says of itself.

    Raises
    ------
    LeafidError
        As `read_model`.
    """
    with open_archive(path) as archive:
        return _read_manifest(archive, path)


def read_type_recognition(path: str | os.PathLike[str]) -> TypeRecognition:
    """Read only the part of a model that recognises acquisition types.

    Raises
    ------
    LeafidError
        As `read_model`.
    """
    with open_archive(path) as archive:
        manifest = _read_manifest(archive, path)
        types = tuple(AcquisitionType(word) for word in manifest["identifiers"])
        if not types:
            raise ValueError("it has no identifier")
        return TypeRecognition(types, _recogniser(manifest, Arrays(archive, path)))


def _read_manifest(archive: zipfile.ZipFile, path: str | os.PathLike[str]) -> dict[str, Any]:
    try:
        manifest = json.loads(archive.read(MANIFEST))
    except KeyError:
        raise LeafidError(f"{path}: expected a leafid model, found another kind of ZIP archive") from None
    except DAMAGE as error:
        raise LeafidError(f"{path}: the model is damaged: its manifest can't be read: {error}") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise LeafidError(f"{path}: expected a leafid model, found another kind of ZIP archive")
    version = manifest.get("format_version")
    if version != FORMAT_VERSION:
        raise LeafidError(
            f"{path}: expected model format {FORMAT_VERSION}, found {version} "
            f"(written by leafid {manifest.get('program_version')}); update leafid or train the model again"
        )
    return manifest


def _assembled(manifest: dict[str, Any], arrays: Arrays, path: str | os.PathLike[str]) -> Model:
    identifiers, thresholds, contexts = {}, {}, {}
    for word, entry in manifest["identifiers"].items():
        type_ = AcquisitionType(word)
        identifiers[type_] = _identifier(entry, parse_recipe(_rename_keys(entry["recipe"]), type_, str(path)), arrays)
        if "thresholds" in entry:
            thresholds[type_] = _thresholds(entry["thresholds"], f"{type_}/thresholds", arrays)
        if "context" in entry:
            n_species = len(identifiers[type_].species_)
            contexts[type_] = _context(entry["context"], f"{type_}/context", arrays, n_species)
    if not identifiers:
        raise ValueError("it has no identifier")
    recogniser = _recogniser(manifest, arrays)
    species = {name: _species_info(name, plain) for name, plain in manifest["species"].items()}
    scores = dict(manifest["scores"])
    recognition = scores.pop(_TYPE_RECOGNITION, None)
    share = None if recognition is None else float(recognition)
    return Model(identifiers, recogniser, species, str(manifest["training_data"]), scores, thresholds, contexts, share)


def _recogniser(manifest: dict[str, Any], arrays: Arrays) -> TypeRecogniser | None:
    if "recogniser" not in manifest:
        return None
    recogniser = TypeRecogniser()
    recogniser.types_ = tuple(AcquisitionType(word) for word in manifest["recogniser"])
    recogniser.scorer_ = LinearScorer(
        "none",
        arrays.shaped("recogniser/coefficients", TypeRecogniser.N_VALUES, len(recogniser.types_)),
        arrays.shaped("recogniser/intercepts", len(recogniser.types_)),
    )
    return recogniser


def _rename_keys(recipe: Any) -> Any:
    # Models of this format have the recipe keys that were usual when it was made.
    if not isinstance(recipe, dict):
        return recipe
    return {RENAMED_KEYS.get(key, key): _rename_keys(value) for key, value in recipe.items()}


def _identifier(entry: dict[str, Any], recipe: Recipe, arrays: Arrays) -> Identifier:
    identifier = Identifier(recipe, int(entry["seed"]))
    species = tuple(entry["species"])
    if not species or not all(isinstance(name, str) for name in species):
        raise ValueError(f"expected a list of species, found {entry['species']!r}")
    identifier.species_ = species
    identifier.n_pictures_, identifier.n_plants_ = int(entry["pictures"]), int(entry["plants"])
    identifier.weights_ = arrays.shaped(f"{recipe.type}/weights", len(recipe.experts))
    encoders: dict[str, Encoder] = {}
    identifier.scorers_ = {}
    for name, expert in recipe.experts.items():
        if isinstance(expert.features, LocalPatches):
            encoder = expert.features.make_encoder(identifier.seed)
            shapes = encoder.get_state_shapes(get_local_descriptor(expert.features.descriptor).length)
            place = f"{recipe.type}/encoders/{name}"
            encoders[name] = encoder.set_state(
                {key: arrays.shaped(f"{place}/{key}", *shape) for key, shape in shapes.items()}
            )
            n_values = encoders[name].n_features
        else:
            n_values = len(get_column_names(expert.families))
        n_mapped = mapped(np.zeros((1, n_values), np.float32), expert.classifier.feature_map).shape[1]
        place = f"{recipe.type}/{name}"
        halves = arrays.shaped(f"{place}/coefficients", n_mapped, len(species))
        identifier.scorers_[name] = LinearScorer(
            expert.classifier.feature_map,
            halves.astype(np.float32) * arrays.shaped(f"{place}/scale", len(species)),
            arrays.shaped(f"{place}/intercepts", len(species)),
        )
    identifier.extractor_ = FeatureExtractor(recipe.experts, encoders, recipe.longest_side)
    return identifier


def _taken_apart(thresholds: Thresholds) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    plain = {"sizes": len(thresholds.sizes), "pictures": thresholds.n_right, "back_off": thresholds.back_off}
    arrays = {
        "sizes": thresholds.sizes,
        "size_thresholds": thresholds.size_thresholds,
        "right": thresholds.right,
    }
    return plain, arrays


def _thresholds(plain: dict[str, Any], place: str, arrays: Arrays) -> Thresholds:
    number, n_right = int(plain["sizes"]), int(plain["pictures"])
    if number < 1 or n_right < 1:
        raise ValueError(f"expected thresholds learned of pictures, found {plain!r}")
    back_off = None if plain["back_off"] is None else float(plain["back_off"])
    if back_off is not None and not 0 <= back_off < 2:
        raise ValueError(f"expected a threshold from 0 to about 1, found {back_off}")
    sizes = arrays.shaped(f"{place}/sizes", number)
    falling = arrays.shaped(f"{place}/size_thresholds", number)
    right = arrays.shaped(f"{place}/right", len(kept_ranks(n_right)))
    if (np.diff(sizes) <= 0).any() or (np.diff(falling) > 0).any() or (np.diff(right) < 0).any():
        raise ValueError(f"{place}: expected sorted thresholds")
    return Thresholds(sizes, falling, right, n_right, back_off)


def _context_taken_apart(context: Context) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    known = np.isfinite(context.sightings.values)
    plain = {**asdict(context.bandwidths), "shrinkage": context.shrinkage, "weight": context.weight, "rows": len(known)}
    arrays = {
        # All arrays of a model are finite: what isn't known is 0 here, and told apart by the next one.
        "values": np.where(known, context.sightings.values, 0),
        "known": known.astype(np.float32),
        "weights": context.sightings.weights,
        "species": context.sightings.species.astype(np.float32),
    }
    return plain, arrays


def _context(plain: dict[str, Any], place: str, arrays: Arrays, n_species: int) -> Context:
    rows, shrinkage, weight = int(plain["rows"]), float(plain["shrinkage"]), float(plain["weight"])
    widths = [None if plain[name] is None else float(plain[name]) for name in ("place_km", "days", "altitude_m")]
    if not all(0 < value < 1e6 for value in (*[width for width in widths if width is not None], shrinkage)):
        raise ValueError(f"{place}: expected bandwidths above 0, found {plain!r}")
    if not 0 <= weight < 100:
        raise ValueError(f"{place}: expected a weight of 0 or more, found {weight}")
    known = arrays.shaped(f"{place}/known", rows, len(COLUMNS)) > 0
    weights = arrays.shaped(f"{place}/weights", rows)
    species = arrays.shaped(f"{place}/species", rows).astype(np.int64)
    if ((species < 0) | (species >= n_species)).any() or (weights <= 0).any():
        raise ValueError(f"{place}: expected sightings of {n_species} species")
    values = np.where(known, arrays.shaped(f"{place}/values", rows, len(COLUMNS)), np.nan)
    return Context(Sightings(values, weights, species), Bandwidths(*widths), shrinkage, weight, n_species)


def _column_scale(coefficients: np.ndarray) -> np.ndarray:
    # Per column, so that small coefficients don't fall below what half precision can hold.
    return np.maximum(np.abs(coefficients).max(axis=0), 1e-20).astype(np.float32)


def _halved(coefficients: np.ndarray) -> np.ndarray:
    return (coefficients / _column_scale(coefficients)).astype(np.float16)


def _plain_species(info: SpeciesInfo) -> dict[str, Any]:
    return {**asdict(info.taxon), "names": list(info.vernacular_names), "pictures": info.n_pictures}


def _species_info(name: str, plain: dict[str, Any]) -> SpeciesInfo:
    taxon = Taxon(name, plain.get("genus"), plain.get("family"), plain.get("order"))
    return SpeciesInfo(taxon, tuple(plain["names"]), plain["pictures"])


def _open_member(name: str) -> zipfile.ZipInfo:
    # A fixed date: the same model gives the same bytes on every day.
    member = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    member.compress_type = zipfile.ZIP_DEFLATED
    return member


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    archive.writestr(_open_member(name), content)
