"""Reads model files of format 4."""

import os
from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

import numpy as np
from msgspec import Meta, Struct

from leafid.descriptors.registry import LOCAL_DESCRIPTORS, get_column_names
from leafid.features.recipe import Expert, Recipe, group_by_training
from leafid.learning.linear import LinearScorer, apply_feature_map
from leafid.learning.rejection import Rejection, count_evidence
from leafid.learning.row_statistics import RowStatistics
from leafid.learning.rows import RowPreparation
from leafid.learning.thresholds import Thresholds
from leafid.model.identifier import Identifier, TypeModel
from leafid.model.plant_fusion import DEFAULT_EXPONENT
from leafid.model.recogniser import N_EXPANDED_FEATURES, TypeRecogniser
from leafid.model.species import Species
from leafid.pictures.picture import AcquisitionType
from leafid.schema import convert


class ModelArchive(NamedTuple):
    """The content of a model file; every array is checked when it is read."""

    #: Plain data that is still to be checked.
    manifest: dict[str, Any]
    arrays: Mapping[str, np.ndarray]

    def read_array(self, name: str, *shape: int | None, kind: str = "f") -> np.ndarray:
        """Read an array of finite floating-point numbers, or integers ("i"); a `ValueError` says what else it is.

        None in a shape stands for any length above 0.
        """
        array = self.arrays.get(self.manifest.get("same_as", {}).get(name, name))
        if array is None:
            raise ValueError(f"array {name} is missing")
        expected = tuple(max(found, 1) if own is None else own for own, found in zip(shape, array.shape, strict=False))
        is_of_shape = len(shape) == array.ndim and expected == array.shape
        if not is_of_shape or array.dtype.kind != kind or not np.isfinite(array).all():
            raise ValueError(
                f"array {name}: expected finite numbers of shape {shape}, found {array.dtype} {array.shape}"
            )
        return array


_Count = Annotated[int, Meta(ge=0, le=10**9)]
_Positive = Annotated[float, Meta(gt=0, le=1e30)]


class _Thresholds(Struct):
    back_off: Annotated[float, Meta(ge=0, lt=2)] | None


class _ExpertStatistics(Struct):
    weight: _Positive
    unit: _Positive
    domains: Annotated[list[int], Meta(min_length=1, max_length=1000)]
    rest_scale: _Positive


class _Statistics(Struct):
    """The experts are those of the first type with the same recipe, which share them."""

    targets: dict[str, tuple[float, float]]
    experts: dict[str, _ExpertStatistics] = {}


class _TypeEntry(Struct, kw_only=True):
    recipe: Recipe
    seed: int
    species: Annotated[list[str], Meta(min_length=1)]
    added: list[str] = []
    n_pictures: _Count
    n_plants: _Count
    scores: dict[str, float]
    plant_exponent: Annotated[float, Meta(ge=0, le=1)] = DEFAULT_EXPONENT
    #: Empty; None: there is none.
    rejection: dict[str, Any] | None = None
    thresholds: _Thresholds | None = None
    statistics: _Statistics | None = None


class _Recogniser(Struct):
    types: Annotated[list[AcquisitionType], Meta(min_length=1)]
    accuracy: Annotated[float, Meta(ge=0, le=1)] | None = None


class _Manifest(Struct):
    """All of a model but its arrays; unknown keys are ignored."""

    format: str
    format_version: int
    program_version: str
    training_fingerprint: str
    types: Annotated[dict[AcquisitionType, _TypeEntry], Meta(min_length=1)]
    recogniser: _Recogniser
    species: dict[str, Species]

    def __post_init__(self) -> None:
        if unknown := {name for own in self.types.values() for name in own.species} - self.species.keys():
            raise ValueError(f"expected an entry of every species, found none of {', '.join(sorted(unknown))}")


def read_parts(archive: ModelArchive, path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the parts of a `leafid.Model` by their names."""
    manifest = convert(archive.manifest, _Manifest, f"{path}: the model is damaged: manifest")
    types: dict[AcquisitionType, TypeModel] = {}
    for group in group_by_training({type_: entry.recipe for type_, entry in manifest.types.items()}):
        statistics = _read_statistics(manifest.types[group[0]], f"{group[0]}/statistics", archive)
        for type_ in group:
            types[type_] = _read_type(manifest.types[type_], type_, statistics, archive)
    recogniser = _read_recogniser(manifest.recogniser, archive)
    fingerprint = manifest.training_fingerprint
    return {"types": types, "species": manifest.species, "recogniser": recogniser, "fingerprint": fingerprint}


def _read_recogniser(entry: _Recogniser, archive: ModelArchive) -> TypeRecogniser:
    types, n_types = tuple(entry.types), len(entry.types)
    if n_types == 1:
        return TypeRecogniser(types, None, entry.accuracy)
    coefficients = archive.read_array("recogniser/coefficients", N_EXPANDED_FEATURES, n_types)
    intercepts = archive.read_array("recogniser/intercepts", n_types)
    return TypeRecogniser(types, LinearScorer("none", coefficients, intercepts), entry.accuracy)


def _read_type(
    entry: _TypeEntry, type_: AcquisitionType, statistics: Mapping[str, RowStatistics], archive: ModelArchive
) -> TypeModel:
    """Read what was learned of a type; a `ValueError` says what is wrong with it."""
    recipe, n_species = entry.recipe, len(entry.species)
    codebooks: dict[str, dict[str, np.ndarray]] = {}
    scorers: dict[str, LinearScorer] = {}
    n_columns = 1
    for name, expert in recipe.experts.items():
        prefix = f"{type_}/experts/{name}"
        n_values = 0 if expert.is_local else len(get_column_names(expert.families))
        if expert.is_local:
            encoder = expert.make_encoder(entry.seed)
            shapes = encoder.get_state_shapes(LOCAL_DESCRIPTORS[expert.descriptor].length)
            state = {key: archive.read_array(f"{prefix}/encoder/{key}", *shape) for key, shape in shapes.items()}
            codebooks[name] = state
            n_values = encoder.set_state(state).n_features
        n_columns += n_values
        n_mapped = apply_feature_map(np.zeros((1, n_values), np.float32), expert.feature_map).shape[1]
        halves = archive.read_array(f"{prefix}/coefficients", n_mapped, n_species)
        coefficients = halves.astype(np.float32) * archive.read_array(f"{prefix}/scale", n_species)
        intercepts = archive.read_array(f"{prefix}/intercepts", n_species)
        scorers[name] = LinearScorer(expert.feature_map, coefficients, intercepts)
    rejection = thresholds = None
    if entry.rejection is not None:
        leaf = archive.read_array(f"{type_}/rejection/leaf", n_columns)
        known = archive.read_array(f"{type_}/rejection/known", count_evidence(len(recipe.experts)) + 1)
        rejection = Rejection(leaf, known, archive.read_array(f"{type_}/rejection/quantiles", None))
    if entry.thresholds is not None:
        sizes = archive.read_array(f"{type_}/thresholds/sizes", None)
        size_thresholds = archive.read_array(f"{type_}/thresholds/size_thresholds", len(sizes))
        correct = archive.read_array(f"{type_}/thresholds/correct_probabilities", None)
        thresholds = Thresholds(sizes, size_thresholds, correct, entry.thresholds.back_off)
    identifier = Identifier(
        recipe,
        type_,
        tuple(entry.species),
        codebooks,
        scorers,
        archive.read_array(f"{type_}/expert_weights", len(recipe.experts)),
        entry.seed,
        entry.n_pictures,
        entry.n_plants,
        rejection,
        statistics,
        {name: entry.statistics.targets[name] for name in scorers} if entry.statistics else {},
        tuple(entry.added),
    )
    return TypeModel(identifier, entry.scores, entry.plant_exponent, thresholds)


def _read_statistics(entry: _TypeEntry, prefix: str, archive: ModelArchive) -> dict[str, RowStatistics]:
    if entry.statistics is None:
        return {}
    entries = entry.statistics.experts
    return {
        name: _read_expert_statistics(entries[name], expert, f"{prefix}/{name}/", archive)
        for name, expert in entry.recipe.experts.items()
    }


def _read_expert_statistics(
    entry: _ExpertStatistics, expert: Expert, prefix: str, archive: ModelArchive
) -> RowStatistics:
    components = archive.read_array(f"{prefix}components", None, None, kind="i")
    n_columns, n_components = components.shape
    means = archive.read_array(f"{prefix}means", n_columns, len(entry.domains) + 1, kind="i")
    components = components * archive.read_array(f"{prefix}component_steps", n_components).astype(np.float32)
    means = means * archive.read_array(f"{prefix}mean_steps", means.shape[1]).astype(np.float32)
    mean, rest = (archive.read_array(f"{prefix}{name}", n_columns).astype(np.float32) for name in ("mean", "rest"))
    # Of measures alone: others were not standardised.
    scale = None if expert.is_local else archive.read_array(f"{prefix}scale", n_columns)
    units = np.ones(n_columns, np.float32) if scale is None else scale
    unscale = np.divide(1, units, out=np.zeros(n_columns, np.float32), where=units > 0)
    *deviations, rows_mean = means.T
    by_domain = {domain: mean + own * unscale for domain, own in zip(entry.domains, deviations, strict=True)}
    preparation = RowPreparation(expert.feature_map, by_domain, mean, scale)
    return RowStatistics(
        components, rest * np.float32(entry.rest_scale), rows_mean, entry.weight, preparation, entry.unit
    )
