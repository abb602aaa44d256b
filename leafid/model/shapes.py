"""The shapes that the arrays of a model must have."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, zip_longest

import numpy as np

from leafid.descriptors.registry import LOCAL_DESCRIPTORS, get_column_names
from leafid.features.extractor import LEAF_MEASURES
from leafid.learning.classifiers.linear import apply_feature_map
from leafid.learning.classifiers.scorers import LinearScorer, RowTransform
from leafid.learning.knownness import count_evidence
from leafid.learning.leafness import Leafness
from leafid.model.identifier import Identifier, TypeModel
from leafid.model.recogniser import N_EXPANDED_FEATURES, TypeRecogniser
from leafid.pictures.picture import AcquisitionType

# An array's name, the array, and its shape, in which -1 stands for any length.
_Array = tuple[str, np.ndarray, tuple[int, ...]]


def check_shapes(
    types: Mapping[AcquisitionType, TypeModel], recogniser: TypeRecogniser
) -> None:
    """Raise a `ValueError` at the first array that has not the shape it must have."""
    arrays = chain(*(_list_arrays(model) for model in types.values()))
    of_recogniser: Iterable[_Array] = ()
    if scorer := recogniser.scorer:
        of_recogniser = _list_scorer(
            "recogniser", scorer, N_EXPANDED_FEATURES, len(recogniser.types)
        )
    for name, array, shape in chain(of_recogniser, arrays):
        expected = [
            size if length < 0 else length
            for length, size in zip_longest(shape, array.shape, fillvalue=0)
        ]
        if tuple(expected) != array.shape or not array.size:
            raise ValueError(
                f"expected an array {name} of shape {shape}, found {array.shape}"
            )


def _list_scorer(
    name: str, scorer: LinearScorer, n_values: int, n_classes: int
) -> Iterator[_Array]:
    n_columns = _count_columns(scorer.map, n_values)
    yield f"{name}.coefficients", scorer.coefficients, (n_columns, n_classes)
    yield f"{name}.intercepts", scorer.intercepts, (n_classes,)


def _list_transform(
    name: str, transform: RowTransform, n_columns: int
) -> Iterator[_Array]:
    for row in (transform.mean, transform.scale, *transform.means.values()):
        if row is not None:
            yield name, row, (n_columns,)


def _count_values(identifier: Identifier, name: str) -> int:
    """Count the values of a vector, where its codebook has the right shapes."""
    if name == LEAF_MEASURES:
        return identifier.extractor.count_leaf_measures()
    expert = identifier.recipe.experts[name]
    if not expert.is_local:
        return len(get_column_names(expert.families))
    codebook = dict(identifier.codebooks[name])
    return expert.make_encoder(0).set_state(codebook).n_features


def _count_columns(map_: str, n_values: int) -> int:
    return apply_feature_map(np.zeros((1, n_values)), map_).shape[1]


def _list_arrays(model: TypeModel) -> Iterator[_Array]:
    identifier = model.identifier
    place = identifier.type
    for name in identifier.recipe.experts:
        yield from _list_expert(identifier, name)
    n_experts = len(identifier.recipe.experts)
    yield f"{place}.weights", identifier.weights, (n_experts,)
    if rejection := identifier.rejection:
        yield from _list_leafness(identifier, rejection.leafness)
        yield (
            f"{place}.known_coefficients",
            rejection.known_coefficients,
            (count_evidence(n_experts) + 1,),
        )
        yield f"{place}.quantiles", rejection.quantiles, (-1,)
        yield f"{place}.calibration", rejection.calibration, (2,)
    if thresholds := model.thresholds:
        sizes = thresholds.sizes
        yield f"{place}.sizes", sizes, (-1,)
        yield f"{place}.size_thresholds", thresholds.size_thresholds, sizes.shape
        yield f"{place}.correct_probabilities", thresholds.correct_probabilities, (-1,)


def _list_leafness(identifier: Identifier, leafness: Leafness) -> Iterator[_Array]:
    place = f"{identifier.type}.leafness"
    names = identifier.extractor.leaf_vectors
    if leafness.vector_names != names:
        raise ValueError(
            f"expected {place} of {', '.join(names)}, "
            f"found {', '.join(leafness.vector_names) or 'none'!s:.100}"
        )
    yield f"{place}.calibration", leafness.calibration, (2,)
    for name, scorer in leafness.scorers.items():
        n_values = _count_values(identifier, name)
        yield from _list_scorer(f"{place}.{name}", scorer, n_values, 1)
    for name, forest in leafness.forests.items():
        n_nodes = forest.values.size
        for field in ("columns", "values", "jumps"):
            yield f"{place}.{field}", getattr(forest, field), (n_nodes,)
        yield f"{place}.roots", forest.roots, (-1,)
        # The shapes are right by now.
        forest.check(_count_values(identifier, name))


def _list_expert(identifier: Identifier, name: str) -> Iterator[_Array]:
    expert = identifier.recipe.experts[name]
    place = f"{identifier.type}.{name}"
    n_species = len(identifier.species)
    if expert.is_local:
        encoder = expert.make_encoder(0)
        codebook = dict(identifier.codebooks[name])
        length = LOCAL_DESCRIPTORS[expert.descriptor].length
        for key, shape in encoder.list_shapes(length).items():
            yield f"{place}.{key}", codebook[key], shape
    n_values = _count_values(identifier, name)
    if scorer := identifier.scorers.get(name):
        yield from _list_scorer(place, scorer, n_values, n_species)
    else:
        estimator = identifier.estimators[name]
        n_columns = _count_columns(estimator.transform.map, n_values)
        yield from _list_transform(f"{place}.transform", estimator.transform, n_columns)
        # Loading it refuses types that scikit-learn doesn't have.
        scores = estimator.scores(np.zeros((1, n_values), np.float32))
        yield f"{place}.scores", scores, (1, n_species)
    if scorer and (statistics := identifier.statistics.get(name)):
        n_columns = len(scorer.coefficients)
        label = f"{place}.statistics"
        yield f"{place}.components", statistics.components, (n_columns, -1)
        yield label, statistics.remainder, (n_columns,)
        yield label, statistics.mean, (n_columns,)
        yield from _list_transform(label, statistics.transform, n_columns)
