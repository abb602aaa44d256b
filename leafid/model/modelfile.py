"""Writes the parts of a model to a file, and reads and checks them: a manifest of typed objects, and arrays."""

import os
from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta, Struct

import leafid
from leafid.descriptors.encoding import Encoder
from leafid.descriptors.registry import LOCAL_DESCRIPTORS, get_column_names
from leafid.errors import LeafidError
from leafid.features.extractor import FeatureExtractor
from leafid.features.recipe import Expert, Recipe, group_by_training
from leafid.learning.linear import LinearScorer, apply_feature_map
from leafid.learning.rejection import Rejection, count_evidence
from leafid.learning.row_statistics import ExpertStatistics, RowStatistics
from leafid.learning.rows import RowPreparation
from leafid.learning.thresholds import Thresholds
from leafid.model.archive import Arrays, ModelArchive, open_archive, write_archive
from leafid.model.identifier import Identifier, TypeModel
from leafid.model.plant_fusion import DEFAULT_EXPONENT
from leafid.model.recogniser import N_EXPANDED_FEATURES, TypeRecogniser
from leafid.model.species import Species
from leafid.pictures.picture import AcquisitionType
from leafid.schema import convert

FORMAT, FORMAT_VERSION = "leafid-model", 4
# Step of quantised statistics, relative to their root mean square: scores stay the same, and a number takes less than
# four bits in the archive.
_RELATIVE_STEP = 0.5

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


def write_parts(
    path: str | os.PathLike[str],
    types: Mapping[AcquisitionType, TypeModel],
    species: Mapping[str, Species],
    recogniser: TypeRecogniser,
    fingerprint: str,
) -> None:
    """Write the parts of a `leafid.Model`; the same ones give the same bytes."""
    holders = {group[0] for group in group_by_training({type_: own.identifier.recipe for type_, own in types.items()})}
    arrays: Arrays = {}
    entries = {}
    for type_, own in types.items():
        entries[type_], members = _dump_type(own, type_ in holders)
        arrays |= {f"{type_}/{name}": array for name, array in members.items()}
    if recogniser.scorer is not None:
        arrays["recogniser/coefficients"] = recogniser.scorer.coefficients
        arrays["recogniser/intercepts"] = recogniser.scorer.intercepts
    known_types = _Recogniser(list(recogniser.types), recogniser.accuracy)
    version = leafid.__version__
    manifest = _Manifest(FORMAT, FORMAT_VERSION, version, fingerprint, entries, known_types, dict(species))
    write_archive(path, msgspec.to_builtins(manifest), arrays)


def _dump_type(own: TypeModel, holds_statistics: bool) -> tuple[_TypeEntry, Arrays]:
    identifier, thresholds = own.identifier, own.thresholds
    arrays: Arrays = {"expert_weights": identifier.weights}
    for name, scorer in identifier.scorers.items():
        prefix = f"experts/{name}"
        arrays[f"{prefix}/coefficients"], arrays[f"{prefix}/scale"] = to_half_precision(scorer.coefficients)
        arrays[f"{prefix}/intercepts"] = scorer.intercepts.astype(np.float32)
        if name in identifier.extractor.encoders:
            state = identifier.extractor.encoders[name].get_state()
            arrays |= {f"{prefix}/encoder/{key}": array for key, array in state.items()}
    if identifier.rejection is not None:
        arrays |= {f"rejection/{name}": array for name, array in vars(identifier.rejection).items()}
    if thresholds is not None:
        for name in ("sizes", "size_thresholds", "correct_probabilities"):
            arrays[f"thresholds/{name}"] = getattr(thresholds, name)
    statistics = _Statistics(dict(identifier.targets)) if identifier.statistics else None
    if statistics and holds_statistics:
        for name, kept in identifier.statistics.items():
            statistics.experts[name], members = _dump_statistics(kept)
            arrays |= {f"statistics/{name}/{key}": array for key, array in members.items()}
    entry = _TypeEntry(
        recipe=identifier.recipe,
        seed=identifier.seed,
        species=list(identifier.species),
        added=list(identifier.added),
        n_pictures=identifier.n_pictures,
        n_plants=identifier.n_plants,
        scores=dict(own.scores),
        plant_exponent=own.plant_exponent,
        rejection=None if identifier.rejection is None else {},
        thresholds=None if thresholds is None else _Thresholds(thresholds.back_off),
        statistics=statistics,
    )
    return entry, arrays


def to_half_precision(coefficients: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Split coefficients into float16 values of at most 1 and a float32 scale for each column.

    It moves a score by less than a thousandth of what tells two species apart. With a scale for each column, small
    coefficients don't fall below what half precision can hold.
    """
    scale = np.maximum(np.abs(coefficients).max(axis=0), 1e-20).astype(np.float32)
    return (coefficients / scale).astype(np.float16), scale


def _dump_statistics(statistics: ExpertStatistics) -> tuple[_ExpertStatistics, Arrays]:
    rows, preparation = statistics.rows, statistics.preparation
    scale = np.float32(1) if preparation.scale is None else preparation.scale
    domains = sorted(preparation.means)
    # Deviations in the units of rows: measures have different units, and differ little between domains.
    deviations = [(preparation.means[domain] - preparation.mean) * scale for domain in domains]
    rest_scale = max(float(rows.rest.max()), 1e-20)
    arrays = {"rest": (rows.rest / rest_scale).astype(np.float16), "mean": preparation.mean.astype(np.float16)}
    arrays["components"], arrays["component_steps"] = _quantise(rows.components)
    arrays["means"], arrays["mean_steps"] = _quantise(np.array([*deviations, rows.mean]).T)
    if preparation.scale is not None:
        arrays |= {"mean": preparation.mean, "scale": preparation.scale}
    return _ExpertStatistics(rows.weight, statistics.unit, domains, rest_scale), arrays


def _quantise(columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Round columns (d, k) to multiples of a step of each: int8 (d, k), and the steps, float32 (k,)."""
    spread, highest = np.sqrt((columns**2).mean(axis=0)), np.abs(columns).max(axis=0)
    steps = np.maximum(np.maximum(_RELATIVE_STEP * spread, highest / 127), 1e-20).astype(np.float32)
    return np.clip(np.rint(columns / steps), -127, 127).astype(np.int8), steps


def read_parts(
    path: str | os.PathLike[str],
) -> tuple[dict[AcquisitionType, TypeModel], dict[str, Species], TypeRecogniser, str]:
    """Read the parts of a `leafid.Model`, as `write_parts` takes them.

    A `LeafidError` says if the file is damaged, something else, or of another format version.
    """
    with open_archive(path) as archive:
        manifest = _read_manifest(archive, path)
        types: dict[AcquisitionType, TypeModel] = {}
        for group in group_by_training({type_: entry.recipe for type_, entry in manifest.types.items()}):
            statistics = _read_statistics(manifest.types[group[0]], f"{group[0]}/statistics", archive)
            for type_ in group:
                types[type_] = _read_type(manifest.types[type_], type_, statistics, archive)
        return types, manifest.species, _read_recogniser(manifest.recogniser, archive), manifest.training_fingerprint


def read_recogniser(path: str | os.PathLike[str]) -> TypeRecogniser:
    """Read only the part of a model that recognises acquisition types."""
    with open_archive(path) as archive:
        return _read_recogniser(_read_manifest(archive, path).recogniser, archive)


def _read_manifest(archive: ModelArchive, path: str | os.PathLike[str]) -> _Manifest:
    data = archive.manifest
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise LeafidError(f"{path}: expected a leafid model, found another file of safetensors")
    if (version := data.get("format_version")) != FORMAT_VERSION:
        raise LeafidError(
            f"{path}: expected model format {FORMAT_VERSION}, found {version} "
            f"(written by leafid {data.get('program_version')}); update leafid or train the model again"
        )
    return convert(data, _Manifest, f"{path}: the model is damaged: manifest")


def _read_recogniser(entry: _Recogniser, archive: ModelArchive) -> TypeRecogniser:
    types, n_types = tuple(entry.types), len(entry.types)
    if n_types == 1:
        return TypeRecogniser(types, None, entry.accuracy)
    coefficients = archive.read_array("recogniser/coefficients", N_EXPANDED_FEATURES, n_types)
    intercepts = archive.read_array("recogniser/intercepts", n_types)
    return TypeRecogniser(types, LinearScorer("none", coefficients, intercepts), entry.accuracy)


def _read_type(
    entry: _TypeEntry, type_: AcquisitionType, statistics: Mapping[str, ExpertStatistics], archive: ModelArchive
) -> TypeModel:
    """Read what was learned of a type; a `ValueError` says what is wrong with it."""
    recipe, n_species = entry.recipe, len(entry.species)
    encoders: dict[str, Encoder] = {}
    scorers: dict[str, LinearScorer] = {}
    n_columns = 1
    for name, expert in recipe.experts.items():
        prefix = f"{type_}/experts/{name}"
        n_values = 0 if expert.is_local else len(get_column_names(expert.families))
        if expert.is_local:
            encoder = expert.make_encoder(entry.seed)
            shapes = encoder.get_state_shapes(LOCAL_DESCRIPTORS[expert.descriptor].length)
            state = {key: archive.read_array(f"{prefix}/encoder/{key}", *shape) for key, shape in shapes.items()}
            encoders[name] = encoder.set_state(state)
            n_values = encoders[name].n_features
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
        FeatureExtractor(recipe.experts, encoders, recipe.longest_side),
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


def _read_statistics(entry: _TypeEntry, prefix: str, archive: ModelArchive) -> dict[str, ExpertStatistics]:
    if entry.statistics is None:
        return {}
    entries = entry.statistics.experts
    return {
        name: _read_expert_statistics(entries[name], expert, f"{prefix}/{name}/", archive)
        for name, expert in entry.recipe.experts.items()
    }


def _read_expert_statistics(
    entry: _ExpertStatistics, expert: Expert, prefix: str, archive: ModelArchive
) -> ExpertStatistics:
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
    rows = RowStatistics(components, rest * np.float32(entry.rest_scale), rows_mean, entry.weight)
    return ExpertStatistics(rows, RowPreparation(expert.feature_map, by_domain, mean, scale), entry.unit)
