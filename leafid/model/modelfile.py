"""Writes the parts of a model to a file, and reads and checks them: a manifest of typed objects, and arrays."""

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated

import msgspec
import numpy as np
from msgspec import Meta, Struct

import leafid
from leafid.descriptors.encoding import Encoder
from leafid.descriptors.registry import LOCAL_DESCRIPTORS, get_column_names
from leafid.errors import LeafidError
from leafid.features.extractor import FeatureExtractor
from leafid.features.recipe import Recipe
from leafid.learning.linear import LinearScorer, apply_feature_map
from leafid.learning.rejection import Rejection, count_evidence
from leafid.learning.row_statistics import N_COMPONENTS, ExpertStatistics, RowStatistics
from leafid.learning.rows import RowPreparation
from leafid.learning.thresholds import Thresholds, compute_kept_ranks
from leafid.model.archive import Arrays, ModelArchive, open_archive, write_archive
from leafid.model.identifier import Identifier
from leafid.model.plant_fusion import DEFAULT_EXPONENT
from leafid.model.recogniser import N_EXPANDED_FEATURES, TypeRecogniser
from leafid.model.species import Species
from leafid.model.type_model import TypeModel
from leafid.pictures.picture import AcquisitionType
from leafid.schema import convert

FORMAT, FORMAT_VERSION = "leafid-model", 4
# Step of quantised statistics, relative to their root mean square: scores stay the same, and a number takes less than
# four bits in the archive.
_RELATIVE_STEP = 0.5

_Count = Annotated[int, Meta(ge=0, le=10**9)]
_Number = Annotated[int, Meta(ge=1, le=10**9)]
_Positive = Annotated[float, Meta(gt=0, le=1e30)]


class _Rejection(Struct):
    n_quantiles: _Number


class _Thresholds(Struct):
    n_sizes: _Number
    n_pictures: _Number
    back_off: Annotated[float, Meta(ge=0, lt=2)] | None


class _ExpertStatistics(Struct):
    weight: _Positive
    unit: _Positive
    domains: Annotated[list[int], Meta(min_length=1, max_length=1000)]
    n_components: Annotated[int, Meta(ge=1, le=N_COMPONENTS)]
    rest_scale: _Positive
    is_standardised: bool


class _Statistics(Struct):
    """`type` holds the statistics that this one shares."""

    type: AcquisitionType
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
    rejection: _Rejection | None = None
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
    #: Names of arrays that are stored under another name.
    same_as: dict[str, str] = {}

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
    arrays: Arrays = {}
    holders: dict[int, AcquisitionType] = {}
    entries = {}
    for type_, own in types.items():
        holder = holders.setdefault(id(own.identifier.statistics), type_)
        entries[type_], members = _dump_type(own, holder)
        arrays |= {f"{type_}/{name}": array for name, array in members.items()}
    if recogniser.scorer is not None:
        arrays["recogniser/coefficients"] = recogniser.scorer.coefficients
        arrays["recogniser/intercepts"] = recogniser.scorer.intercepts
    known_types = _Recogniser(list(recogniser.types), recogniser.accuracy)
    version = leafid.__version__
    manifest = _Manifest(FORMAT, FORMAT_VERSION, version, fingerprint, entries, known_types, dict(species))
    write_archive(path, msgspec.to_builtins(manifest), arrays)


def _dump_type(own: TypeModel, holder: AcquisitionType) -> tuple[_TypeEntry, Arrays]:
    identifier, thresholds = own.identifier, own.thresholds
    arrays: Arrays = {"expert_weights": identifier.weights}
    for name, scorer in identifier.scorers.items():
        prefix = f"experts/{name}"
        arrays[f"{prefix}/coefficients"], arrays[f"{prefix}/scale"] = to_half_precision(scorer.coefficients)
        arrays[f"{prefix}/intercepts"] = scorer.intercepts.astype(np.float32)
        if name in identifier.extractor.encoders:
            state = identifier.extractor.encoders[name].get_state()
            arrays |= {f"{prefix}/encoder/{key}": array for key, array in state.items()}
    entry = _TypeEntry(
        recipe=identifier.recipe,
        seed=identifier.seed,
        species=list(identifier.species),
        added=list(identifier.added),
        n_pictures=identifier.n_pictures,
        n_plants=identifier.n_plants,
        scores=dict(own.scores),
        plant_exponent=own.plant_exponent,
    )
    if identifier.rejection is not None:
        entry.rejection = _Rejection(len(identifier.rejection.quantiles))
        arrays |= {f"rejection/{name}": array for name, array in vars(identifier.rejection).items()}
    if thresholds is not None:
        entry.thresholds = _Thresholds(len(thresholds.sizes), thresholds.n_pictures, thresholds.back_off)
        for name in ("sizes", "size_thresholds", "correct_probabilities"):
            arrays[f"thresholds/{name}"] = getattr(thresholds, name)
    if identifier.statistics:
        entry.statistics = _Statistics(holder, dict(identifier.targets))
        for name, statistics in identifier.statistics.items() if holder == identifier.type else ():
            entry.statistics.experts[name], members = _dump_statistics(statistics)
            arrays |= {f"statistics/{name}/{key}": array for key, array in members.items()}
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
    components, component_steps = _quantise(rows.components)
    means, mean_steps = _quantise(np.array([*deviations, rows.mean]).T)
    rest_scale = max(float(rows.rest.max()), 1e-20)
    is_standardised = preparation.scale is not None
    entry = _ExpertStatistics(rows.weight, statistics.unit, domains, components.shape[1], rest_scale, is_standardised)
    arrays = {
        "components": components,
        "component_steps": component_steps,
        "means": means,
        "mean_steps": mean_steps,
        "mean": preparation.mean.astype(np.float16) if preparation.scale is None else preparation.mean,
        "rest": (rows.rest / rest_scale).astype(np.float16),
    }
    return entry, arrays if preparation.scale is None else arrays | {"scale": preparation.scale}


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
        for type_, entry in manifest.types.items():
            identifier = _read_identifier(entry, type_, archive)
            if entry.statistics is not None:
                identifier = _add_statistics(identifier, entry.statistics, types, archive)
            thresholds = _read_thresholds(entry.thresholds, f"{type_}/thresholds", archive)
            types[type_] = TypeModel(identifier, entry.scores, entry.plant_exponent, thresholds)
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


def _read_identifier(entry: _TypeEntry, type_: AcquisitionType, archive: ModelArchive) -> Identifier:
    """Read an identifier, but for its statistics; a `ValueError` says what is wrong with it."""
    recipe, n_species = entry.recipe, len(entry.species)
    encoders: dict[str, Encoder] = {}
    scorers: dict[str, LinearScorer] = {}
    n_columns = 1
    for name, expert in recipe.experts.items():
        prefix = f"{type_}/experts/{name}"
        if expert.is_local:
            encoder = expert.make_encoder(entry.seed)
            shapes = encoder.get_state_shapes(LOCAL_DESCRIPTORS[expert.descriptor].length)
            state = {key: archive.read_array(f"{prefix}/encoder/{key}", *shape) for key, shape in shapes.items()}
            encoders[name] = encoder.set_state(state)
        n_values = encoders[name].n_features if expert.is_local else len(get_column_names(expert.families))
        n_columns += n_values
        n_mapped = apply_feature_map(np.zeros((1, n_values), np.float32), expert.feature_map).shape[1]
        halves = archive.read_array(f"{prefix}/coefficients", n_mapped, n_species)
        coefficients = halves.astype(np.float32) * archive.read_array(f"{prefix}/scale", n_species)
        intercepts = archive.read_array(f"{prefix}/intercepts", n_species)
        scorers[name] = LinearScorer(expert.feature_map, coefficients, intercepts)
    rejection = None
    if entry.rejection is not None:
        shapes = {"leaf": (n_columns,), "known": (count_evidence(len(recipe.experts)) + 1,)}
        shapes["quantiles"] = (entry.rejection.n_quantiles,)
        arrays = {name: archive.read_array(f"{type_}/rejection/{name}", *shape) for name, shape in shapes.items()}
        rejection = Rejection(**arrays)
    return Identifier(
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
        added=tuple(entry.added),
    )


def _read_thresholds(entry: _Thresholds | None, prefix: str, archive: ModelArchive) -> Thresholds | None:
    if entry is None:
        return None
    sizes = archive.read_array(f"{prefix}/sizes", entry.n_sizes)
    size_thresholds = archive.read_array(f"{prefix}/size_thresholds", entry.n_sizes)
    correct = archive.read_array(f"{prefix}/correct_probabilities", len(compute_kept_ranks(entry.n_pictures)))
    return Thresholds(sizes, size_thresholds, correct, entry.n_pictures, entry.back_off)


def _add_statistics(
    identifier: Identifier, entry: _Statistics, read: Mapping[AcquisitionType, TypeModel], archive: ModelArchive
) -> Identifier:
    """Add statistics and targets; those that are shared are those of a type that was read before."""
    targets = {name: entry.targets[name] for name in identifier.scorers}
    if entry.type != identifier.type:
        return replace(identifier, statistics=read[entry.type].identifier.statistics, targets=targets)
    statistics = {
        name: _read_statistics(entry.experts[name], f"{identifier.type}/statistics/{name}", scorer, archive)
        for name, scorer in identifier.scorers.items()
    }
    return replace(identifier, statistics=statistics, targets=targets)


def _read_statistics(
    entry: _ExpertStatistics, prefix: str, scorer: LinearScorer, archive: ModelArchive
) -> ExpertStatistics:
    n_columns = len(scorer.coefficients)

    def read_quantised(name: str, steps: str, k: int) -> np.ndarray:
        whole = archive.read_array(f"{prefix}/{name}", n_columns, k, kind="i")
        return whole * archive.read_array(f"{prefix}/{steps}", k).astype(np.float32)

    components = read_quantised("components", "component_steps", entry.n_components)
    *deviations, rows_mean = read_quantised("means", "mean_steps", len(entry.domains) + 1).T
    mean, rest = (archive.read_array(f"{prefix}/{name}", n_columns).astype(np.float32) for name in ("mean", "rest"))
    scale = archive.read_array(f"{prefix}/scale", n_columns) if entry.is_standardised else None
    units = np.ones(n_columns, np.float32) if scale is None else scale
    unscale = np.divide(1, units, out=np.zeros(n_columns, np.float32), where=units > 0)
    means = {domain: mean + own * unscale for domain, own in zip(entry.domains, deviations, strict=True)}
    rows = RowStatistics(components, rest * np.float32(entry.rest_scale), rows_mean, entry.weight)
    return ExpertStatistics(rows, RowPreparation(scorer.map, means, mean, scale), entry.unit)
