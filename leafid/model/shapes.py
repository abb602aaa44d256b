"""The shapes that the arrays of a model must have."""

from collections.abc import Iterator, Mapping
from itertools import chain

import numpy as np

from leafid.descriptors.registry import LOCAL_DESCRIPTORS, get_column_names
from leafid.learning.knownness import count_evidence
from leafid.learning.linear import apply_feature_map
from leafid.learning.scorers import LinearScorer
from leafid.model.identifier import TypeModel
from leafid.model.recogniser import N_EXPANDED_FEATURES, TypeRecogniser
from leafid.pictures.picture import AcquisitionType

# An array's name, the array, and its shape, in which -1 stands for any length.
_Array = tuple[str, np.ndarray, tuple[int, ...]]


def check_shapes(
    types: Mapping[AcquisitionType, TypeModel], recogniser: TypeRecogniser
) -> None:
    """Raise a `ValueError` at the first array whose shape is not what recipes, types and species demand."""
    scorer, n_types = recogniser.scorer, len(recogniser.types)
    arrays = (
        [_list_scorer("recogniser", scorer, N_EXPANDED_FEATURES, n_types)]
        if scorer
        else []
    )
    for name, array, shape in chain(*arrays, *map(_list_arrays, types.values())):
        fits = [
            length in (-1, size)
            for length, size in zip(shape, array.shape, strict=False)
        ]
        if len(shape) != array.ndim or not all(fits) or not array.size:
            raise ValueError(
                f"expected an array {name} of shape {shape}, found {array.shape}"
            )


def _list_scorer(
    name: str, scorer: LinearScorer, n_values: int, n_classes: int
) -> Iterator[_Array]:
    n_columns = apply_feature_map(np.zeros((1, n_values)), scorer.map).shape[1]
    yield f"{name}.coefficients", scorer.coefficients, (n_columns, n_classes)
    yield f"{name}.intercepts", scorer.intercepts, (n_classes,)


def _list_arrays(model: TypeModel) -> Iterator[_Array]:
    identifier, type_, n_joined = model.identifier, model.identifier.type, 0
    for name, expert in identifier.recipe.experts.items():
        place, n_species = f"{type_}.{name}", len(identifier.species)
        if expert.is_local:
            encoder, codebook = expert.make_encoder(0), dict(identifier.codebooks[name])
            shapes = encoder.list_shapes(LOCAL_DESCRIPTORS[expert.descriptor].length)
            yield from (
                (f"{place}.{key}", codebook[key], shape)
                for key, shape in shapes.items()
            )
            n_values = encoder.set_state(codebook).n_features
        else:
            n_values = len(get_column_names(expert.families))
        n_joined += n_values
        if scorer := identifier.scorers.get(name):
            yield from _list_scorer(place, scorer, n_values, n_species)
        else:
            estimator = identifier.estimators[name]
            n_columns = apply_feature_map(
                np.zeros((1, n_values)), estimator.transform.map
            ).shape[1]
            arrays = [
                estimator.transform.mean,
                estimator.transform.scale,
                *estimator.transform.means.values(),
            ]
            yield from (
                (f"{place}.transform", row, (n_columns,))
                for row in arrays
                if row is not None
            )
            # Loading it refuses other types than those of scikit-learn.
            scores = estimator.scores(np.zeros((1, n_values), np.float32))
            yield f"{place}.scores", scores, (1, n_species)
        if scorer and (statistics := identifier.statistics.get(name)):
            transform, n_columns = statistics.transform, len(scorer.coefficients)
            yield f"{place}.components", statistics.components, (n_columns, -1)
            rows = [
                statistics.remainder,
                statistics.mean,
                transform.mean,
                transform.scale,
                *transform.means.values(),
            ]
            yield from (
                (f"{place}.statistics", row, (n_columns,))
                for row in rows
                if row is not None
            )
    n_experts = len(identifier.recipe.experts)
    yield f"{type_}.weights", identifier.weights, (n_experts,)
    if rejection := identifier.rejection:
        yield f"{type_}.leaf", rejection.leaf_coefficients, (n_joined + 1,)
        yield (
            f"{type_}.known",
            rejection.known_coefficients,
            (count_evidence(n_experts) + 1,),
        )
        yield f"{type_}.quantiles", rejection.quantiles, (-1,)
        yield f"{type_}.answer", rejection.calibration, (2,)
    if thresholds := model.thresholds:
        yield f"{type_}.sizes", thresholds.sizes, (-1,)
        yield (
            f"{type_}.size_thresholds",
            thresholds.size_thresholds,
            thresholds.sizes.shape,
        )
        yield f"{type_}.correct_probabilities", thresholds.correct_probabilities, (-1,)
