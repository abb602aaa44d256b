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
from leafid.collection.picture import AcquisitionType, Taxon
from leafid.errors import LeafidError
from leafid.files import writing
from leafid.learning.describing import Describer
from leafid.learning.descriptions import encoder_arrays, restored_encoders
from leafid.learning.identifier import Identifier
from leafid.learning.linear import LinearScorer
from leafid.learning.model import Model, SpeciesInfo
from leafid.learning.recipe import from_plain
from leafid.learning.recogniser import TypeRecogniser

FORMAT = "leafid-model"
FORMAT_VERSION = 1
_MANIFEST = "manifest.json"
# No classical model comes near this; a file that claims more is damaged or hostile.
_LARGEST = 2 * 2**30


def write_model(model: Model, path: str | os.PathLike[str]) -> None:
    """Write a model; the same model gives the same bytes.

    Raises
    ------
    LeafidError
        When the file can't be written.
    """
    arrays: dict[str, np.ndarray] = {}
    identifiers = {}
    for type_, identifier in model.identifiers.items():
        identifiers[str(type_)] = {
            "recipe": identifier.recipe.as_json(),
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
        for key, array in encoder_arrays(identifier.describer_.encoders).items():
            arrays[f"{type_}/encoders/{key}"] = array
    manifest: dict[str, Any] = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "program_version": leafid.__version__,
        "training_data": model.fingerprint,
        "species": {name: _plain_species(info) for name, info in model.species.items()},
        "identifiers": identifiers,
        "scores": model.scores,
    }
    if model.recogniser is not None:
        manifest["recogniser"] = [str(type_) for type_ in model.recogniser.types_]
        arrays["recogniser/coefficients"] = model.recogniser.scorer_.coefficients
        arrays["recogniser/intercepts"] = model.recogniser.scorer_.intercepts
    with writing(path, "wb") as stream, zipfile.ZipFile(stream, "w") as archive:
        _add(archive, _MANIFEST, json.dumps(manifest, indent=1, ensure_ascii=False).encode())
        for name, array in arrays.items():
            member = _open_member(f"{name}.npy")
            with archive.open(member, "w") as target:
                npy.write_array(target, np.ascontiguousarray(array), allow_pickle=False)


def read_model(path: str | os.PathLike[str]) -> Model:
    """Read a model.

    Raises
    ------
    LeafidError
        When the file is missing, damaged, something else than a model, or of a later format.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            manifest = _read_manifest(archive, path)
            if sum(entry.file_size for entry in archive.infolist()) > _LARGEST:
                raise LeafidError(f"{path}: expected a model of at most {_LARGEST >> 30} GiB; the file is damaged")
            return _assembled(manifest, _Arrays(archive, path), path)
    except FileNotFoundError:
        raise LeafidError(f"{path}: there is no such model file") from None
    except IsADirectoryError:
        raise LeafidError(f"{path}: expected a model file, found a folder") from None
    except zipfile.BadZipFile:
        raise LeafidError(
            f"{path}: expected a leafid model, found something else or a damaged file; train it again or copy it anew"
        ) from None
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise LeafidError(f"{path}: the model is damaged: its manifest lacks or misstates {error}") from error


def read_manifest(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read only what a model file says of itself.

    Raises
    ------
    LeafidError
        As `read_model`.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            return _read_manifest(archive, path)
    except (OSError, zipfile.BadZipFile) as error:
        raise LeafidError(f"{path}: expected a leafid model: {error}") from error


class _Arrays:
    """The arrays of an archive, each read and checked when asked for."""

    def __init__(self, archive: zipfile.ZipFile, path: str | os.PathLike[str]) -> None:
        self.archive = archive
        self.path = path

    def __getitem__(self, name: str) -> np.ndarray:
        try:
            with self.archive.open(f"{name}.npy") as stream:
                return npy.read_array(stream, allow_pickle=False)
        except KeyError:
            raise LeafidError(f"{self.path}: the model is damaged: array {name} is missing") from None
        except (ValueError, EOFError, zipfile.BadZipFile, NotImplementedError, OSError) as error:
            raise LeafidError(f"{self.path}: the model is damaged: array {name}: {error}") from error

    def below(self, prefix: str) -> dict[str, np.ndarray]:
        names = [n.removesuffix(".npy") for n in self.archive.namelist() if n.startswith(prefix) and n.endswith(".npy")]
        return {name.removeprefix(prefix): self[name] for name in names}


def _read_manifest(archive: zipfile.ZipFile, path: str | os.PathLike[str]) -> dict[str, Any]:
    try:
        manifest = json.loads(archive.read(_MANIFEST))
    except KeyError:
        raise LeafidError(f"{path}: expected a leafid model, found another kind of ZIP archive") from None
    except (ValueError, NotImplementedError, RuntimeError) as error:
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


def _assembled(manifest: dict[str, Any], arrays: _Arrays, path: str | os.PathLike[str]) -> Model:
    identifiers = {}
    for word, entry in manifest["identifiers"].items():
        type_ = AcquisitionType.parse(word)
        recipe = from_plain(entry["recipe"], type_, str(path))
        identifier = Identifier(recipe, entry["seed"])
        identifier.species_ = tuple(entry["species"])
        identifier.n_pictures_, identifier.n_plants_ = entry["pictures"], entry["plants"]
        identifier.weights_ = arrays[f"{type_}/weights"]
        identifier.scorers_ = {
            name: LinearScorer(
                expert.map,
                arrays[f"{type_}/{name}/coefficients"].astype(np.float32) * arrays[f"{type_}/{name}/scale"],
                arrays[f"{type_}/{name}/intercepts"],
            )
            for name, expert in recipe.experts.items()
        }
        encoders = restored_encoders(recipe.experts, arrays.below(f"{type_}/encoders/"), identifier.seed)
        identifier.describer_ = Describer(recipe.experts, encoders)
        identifiers[type_] = identifier
    recogniser = None
    if "recogniser" in manifest:
        recogniser = TypeRecogniser()
        recogniser.types_ = tuple(AcquisitionType.parse(word) for word in manifest["recogniser"])
        recogniser.scorer_ = LinearScorer("none", arrays["recogniser/coefficients"], arrays["recogniser/intercepts"])
    species = {name: _species_info(name, plain) for name, plain in manifest["species"].items()}
    return Model(identifiers, recogniser, species, manifest["training_data"], manifest["scores"])


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
