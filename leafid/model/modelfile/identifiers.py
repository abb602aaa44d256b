"""The members of a model file that hold an identifier: classifiers, encoders and rejection."""

from dataclasses import replace
from typing import Any

import numpy as np

from leafid.descriptors.encoding import Encoder
from leafid.descriptors.registry import LOCAL_DESCRIPTORS, get_column_names
from leafid.features.extractor import FeatureExtractor
from leafid.features.recipe import LocalPatches, Recipe
from leafid.learning.linear import LinearScorer, apply_feature_map
from leafid.learning.rejection import Rejection, count_evidence
from leafid.model.archive import Arrays, ModelArchive, prefix_names
from leafid.model.identifier import Identifier
from leafid.model.modelfile.members import check_names

# Arrays of encoders that are divided by, or whose logarithm is taken.
_POSITIVE_STATE = {"weights", "variances"}


def dump_classifiers(identifier: Identifier) -> Arrays:
    """Turn the classifiers, encoders and weights of an identifier into arrays."""
    arrays: Arrays = {"expert_weights": identifier.weights}
    for name, scorer in identifier.scorers.items():
        halves, scale = to_half_precision(scorer.coefficients)
        own = {"coefficients": halves, "scale": scale, "intercepts": scorer.intercepts.astype(np.float32)}
        arrays.update(prefix_names(f"experts/{name}", own))
        if name in identifier.extractor.encoders:
            state = identifier.extractor.encoders[name].get_state()
            arrays.update(prefix_names(f"experts/{name}/encoder", state))
    return arrays


def read_identifier(entry: dict[str, Any], recipe: Recipe, archive: ModelArchive) -> Identifier:
    """Read an identifier, but for its statistics; a `ValueError` says what is wrong with it."""
    seed = int(entry["seed"])
    species = tuple(entry["species"])
    if not species:
        raise ValueError("expected a list of species, found none")
    check_names(species, "names of species")
    weights = archive.read_array(f"{recipe.type}/expert_weights", len(recipe.experts))
    encoders: dict[str, Encoder] = {}
    scorers: dict[str, LinearScorer] = {}
    n_columns = 0
    for name, expert in recipe.experts.items():
        prefix = f"{recipe.type}/experts/{name}"
        if isinstance(expert.features, LocalPatches):
            encoder = expert.features.make_encoder(seed)
            shapes = encoder.get_state_shapes(LOCAL_DESCRIPTORS[expert.features.descriptor].length)
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


def to_half_precision(coefficients: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Split coefficients into float16 values of at most 1 and a float32 scale for each column.

    It moves a score by less than a thousandth of what tells two species apart. With a scale for each column, small
    coefficients don't fall below what half precision can hold.
    """
    scale = np.maximum(np.abs(coefficients).max(axis=0), 1e-20).astype(np.float32)
    return (coefficients / scale).astype(np.float16), scale
