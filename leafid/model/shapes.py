"""The shapes that the arrays of a model must have."""

from collections.abc import Iterator, Mapping
from itertools import chain

import numpy as np

from leafid.descriptors.registry import LOCAL_DESCRIPTORS, get_column_names
from leafid.learning.feature_maps import apply_feature_map
from leafid.learning.linear import LinearScorer
from leafid.learning.rejection import count_evidence
from leafid.model.identifier import Identifier, TypeModel
from leafid.model.recogniser import N_EXPANDED_FEATURES, TypeRecogniser
from leafid.pictures.picture import AcquisitionType

# An array's name, the array, and its shape, in which -1 stands for any length.
_Array = tuple[str, np.ndarray, tuple[int, ...]]


def check_shapes(types: Mapping[AcquisitionType, TypeModel], recogniser: TypeRecogniser) -> None:
    """Raise a `ValueError` at the first array whose shape is not what recipes, types and species demand."""
    arrays = [_list_scorer("recogniser", recogniser.scorer, N_EXPANDED_FEATURES, len(recogniser.types))]
    arrays += [chain(_list_identifier(own.identifier), _list_thresholds(own)) for own in types.values()]
    for name, array, shape in chain.from_iterable(arrays):
        fits = [length in (-1, size) for length, size in zip(shape, array.shape, strict=False)]
        if len(shape) != array.ndim or not all(fits) or not array.size:
            raise ValueError(f"expected an array {name} of shape {shape}, found {array.shape}")


def _list_scorer(name: str, scorer: LinearScorer | None, n_values: int, n_classes: int) -> Iterator[_Array]:
    if scorer is not None:
        n_columns = apply_feature_map(np.zeros((1, n_values)), scorer.map).shape[1]
        yield f"{name}.coefficients", scorer.coefficients, (n_columns, n_classes)
        yield f"{name}.intercepts", scorer.intercepts, (n_classes,)


def _list_identifier(identifier: Identifier) -> Iterator[_Array]:
    n_values = 0
    for name, expert in identifier.recipe.experts.items():
        place = f"{identifier.type}.{name}"
        if expert.is_local:
            encoder, codebook = expert.make_encoder(0), dict(identifier.codebooks[name])
            shapes = encoder.list_shapes(LOCAL_DESCRIPTORS[expert.descriptor].length)
            yield from ((f"{place}.{key}", codebook[key], shape) for key, shape in shapes.items())
            own = encoder.set_state(codebook).n_features
        else:
            own = len(get_column_names(expert.families))
        n_values += own
        yield from _list_scorer(place, identifier.scorers[name], own, len(identifier.species))
        if statistics := identifier.statistics.get(name):
            n_columns, preparation = len(identifier.scorers[name].coefficients), statistics.preparation
            yield f"{place}.components", statistics.components, (n_columns, -1)
            rows = [statistics.rest, statistics.mean, preparation.mean, *preparation.means.values()]
            rows += [] if preparation.scale is None else [preparation.scale]
            yield from ((f"{place}.statistics", row, (n_columns,)) for row in rows)
    n_experts, rejection = len(identifier.recipe.experts), identifier.rejection
    yield f"{identifier.type}.weights", identifier.weights, (n_experts,)
    if rejection:
        yield f"{identifier.type}.rejection.leaf", rejection.leaf, (n_values + 1,)
        yield f"{identifier.type}.rejection.known", rejection.known, (count_evidence(n_experts) + 1,)
        yield f"{identifier.type}.rejection.quantiles", rejection.quantiles, (-1,)


def _list_thresholds(own: TypeModel) -> Iterator[_Array]:
    if thresholds := own.thresholds:
        place = f"{own.identifier.type}.thresholds"
        yield f"{place}.sizes", thresholds.sizes, (-1,)
        yield f"{place}.size_thresholds", thresholds.size_thresholds, thresholds.sizes.shape
        yield f"{place}.correct_probabilities", thresholds.correct_probabilities, (-1,)
