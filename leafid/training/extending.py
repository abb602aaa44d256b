"""Adds species to a model, which keeps statistics of its training pictures.

Every expert's classifier learns the new pictures by recursive least squares
(`update_ridge`): the new species get columns, and the columns of the old species learn
that the new pictures are of others. A linear classifier that is no ridge regression is
changed like one, with targets on its scale. All else stays, but for the operating point
of rejection, which is lowered where it would reject the new pictures.
"""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import msgspec
import numpy as np

from leafid.errors import LeafidError
from leafid.features.extractor import Features
from leafid.features.loader import FeatureLoader
from leafid.features.recipe import group_by_training
from leafid.learning.classifiers.row_statistics import RowStatistics, update_ridge
from leafid.learning.classifiers.scorers import LinearScorer
from leafid.learning.leafness import predict_leafness
from leafid.learning.rejection import REJECTED_SHARE
from leafid.model.identifier import Identifier, stack
from leafid.model.model import Model
from leafid.model.species import Species
from leafid.pictures.picture import AcquisitionType, Picture, Taxon, count_plants
from leafid.pictures.summary import compute_fingerprint
from leafid.training.species import describe_species
from leafid.training.training_set import build_training_set


def check_extension(model: Model, pictures: Sequence[Picture]) -> None:
    """Check that a model can learn further species.

    Parameters
    ----------
    model : Model
    pictures : sequence of Picture
        Labelled pictures of the further species.

    Raises
    ------
    LeafidError
        When the model lacks statistics, knows a species already, or doesn't know an
        acquisition type.
    """
    identifiers = [type_model.identifier for type_model in model.types.values()]
    if not all(identifier.statistics for identifier in identifiers):
        raise LeafidError(
            "the model keeps no statistics that further species could be learned "
            'with: not all of its classifiers are "ridge"; train it again'
        )
    if known_species := sorted(
        {str(picture.species) for picture in pictures} & model.species.keys()
    ):
        raise LeafidError(
            f"expected new species, found {len(known_species)} that the model knows, "
            f"{known_species[0]!r} first; leave them out, or train on all pictures "
            "together"
        )
    learned_types = {
        type_
        for identifier in identifiers
        for type_ in identifier.recipe.training_types
    }
    if unknown := sorted(
        {picture.type for picture in pictures if picture.type} - learned_types
    ):
        raise LeafidError(
            "the model learns from pictures of type "
            f"{', '.join(sorted(learned_types))} only, and some of the new ones are of "
            f"type {unknown[0]}; say "
            "--assume-type, or leave them out"
        )


def extend(
    model: Model,
    pictures: Sequence[Picture],
    loader: FeatureLoader,
    *,
    thumbnails: bool | Collection[str] = True,
) -> Model:
    """Add the species of labelled pictures to a model.

    An identifier whose recipe trains on none of the pictures' types stays the same.

    Parameters
    ----------
    model : Model
    pictures : sequence of Picture
        Each of a known acquisition type.
    loader : FeatureLoader
    thumbnails : bool or collection of str
        Keep small pictures of each new species; of these collections only.

    Returns
    -------
    Model
        A larger one.

    Raises
    ------
    LeafidError
        As by `check_extension`, and when no picture can be read.
    """
    check_extension(model, pictures)
    extended: dict[AcquisitionType, Identifier] = {}
    identifiers = {
        type_: type_model.identifier for type_, type_model in model.types.items()
    }
    # Identifiers that were trained together share their statistics, and learn together.
    for types in group_by_training(
        {type_: identifier.recipe for type_, identifier in identifiers.items()}
    ):
        step = loader.with_step(", ".join(types))
        extended.update(
            _extend_group(
                {type_: identifiers[type_] for type_ in types}, pictures, step
            )
        )
    readable = [p for p in pictures if p.file not in loader.unreadable]
    if not readable:
        raise LeafidError("no picture could be read; nothing to learn from")
    new = describe_species(
        readable, {}, loader.with_step("traits"), thumbnails=thumbnails
    )
    species = dict(
        sorted({**model.species, **_complete_taxa(new, model.species)}.items())
    )
    models = {
        type_: replace(type_model, identifier=extended[type_])
        for type_, type_model in model.types.items()
    }
    fingerprint = hashlib.sha256(
        f"{model.fingerprint} {compute_fingerprint(readable)}".encode()
    ).hexdigest()
    return replace(model, types=models, species=species, fingerprint=fingerprint)


def _extend_group(
    identifiers: Mapping[AcquisitionType, Identifier],
    pictures: Sequence[Picture],
    loader: FeatureLoader,
) -> dict[AcquisitionType, Identifier]:
    """Extend identifiers that were trained together."""
    first = next(iter(identifiers.values()))
    recipe = first.recipe
    training_set = build_training_set(
        pictures, recipe, loader, extractor=first.extractor
    )
    if not training_set.pictures:
        return dict(identifiers)
    pictures = training_set.pictures
    names = [str(picture.species) for picture in pictures]
    species = tuple(sorted({*first.species, *names}))
    labels = np.searchsorted(species, names)
    row_labels = labels[training_set.picture_indices]
    scorers: dict[AcquisitionType, dict[str, LinearScorer]] = {
        type_: {} for type_ in identifiers
    }
    statistics: dict[str, RowStatistics] = {}
    for name, expert in loader.show_progress(
        recipe.experts.items(), len(recipe.experts), "fit"
    ):
        old = first.statistics[name]
        rows = old.transform.transform(
            training_set.vectors[name], training_set.number_domains()
        )
        # New pictures weigh as much as they would in training together with the old
        # ones.
        relative = training_set.balance_pictures(np.arange(len(pictures)), expert)
        weights = old.base_weight * relative[training_set.picture_indices]
        weights *= training_set.relative_weights
        for type_, identifier in identifiers.items():
            scorers[type_][name] = _extend_scorer(
                identifier, name, species, rows=rows, labels=row_labels, weights=weights
            )
        statistics[name] = old.update(rows, weights)
    n_plants = count_plants(pictures)
    extended = {}
    for type_, identifier in identifiers.items():
        larger = replace(
            identifier,
            species=species,
            scorers=scorers[type_],
            statistics=statistics,
            n_pictures=identifier.n_pictures + len(pictures),
            n_plants=identifier.n_plants + n_plants,
            added=tuple(sorted({*identifier.added, *names})),
        )
        new = [picture for picture in pictures if picture.type is type_]
        features = list(loader.stream(new, larger.extractor))
        extended[type_] = _lower_operating_point(larger, features)
    return extended


def _lower_operating_point(
    identifier: Identifier, features: Sequence[Features | None]
) -> Identifier:
    """Lower the thresholds of `Identifier.rejection` where new leaves are below them.

    What recognises leaves has seen no leaf of the new species, and may take
    them for something else.
    """
    leaves = [leaf for leaf in features if leaf and leaf.confidence > 0]
    rejection = identifier.rejection
    assessed = identifier.assess(leaves)
    if rejection is None or assessed is None:
        return identifier
    lowest = float(np.quantile(assessed[0], REJECTED_SHARE))
    leafness = rejection.leafness.admit(lowest)
    old = rejection.quantiles
    vectors = {name: stack(leaves, name) for name in leafness.vector_names}
    p_leaf = predict_leafness(vectors, leafness)
    new = np.quantile(p_leaf * assessed[1], np.linspace(0, 1, len(old)))
    lowered = msgspec.structs.replace(
        rejection, leafness=leafness, quantiles=np.minimum(old, new)
    )
    return replace(identifier, rejection=lowered)


def _extend_scorer(
    identifier: Identifier,
    name: str,
    species: tuple[str, ...],
    rows: np.ndarray,
    labels: np.ndarray,
    weights: np.ndarray,
) -> LinearScorer:
    """Change the scorer of an expert by the residuals of new rows with weights."""
    statistics = identifier.statistics[name]
    transform = statistics.transform
    domain = identifier.recipe.training_types.index(identifier.type)
    off, on = identifier.targets[name]
    # A species of which no picture was seen gets the score of a wrong answer, which
    # fits its column exactly.
    coefficients = np.zeros((rows.shape[1], len(species)))
    intercepts = np.full(len(species), off)
    known = np.searchsorted(species, identifier.species)
    coefficients[:, known], intercepts[known] = transform.read_scorer(
        identifier.scorers[name], domain
    )
    targets = np.where(labels[:, None] == np.arange(len(species)), on, off)
    change, shift = update_ridge(
        statistics,
        rows,
        weights,
        residuals=targets - (rows @ coefficients + intercepts),
        regularisation=identifier.recipe.experts[name].regularisation,
    )
    return transform.make_scorer(coefficients + change, intercepts + shift, domain)


def _complete_taxa(
    new: Mapping[str, Species], old: Mapping[str, Species]
) -> dict[str, Species]:
    """Give new species without a family or order the taxa of a species of the genus."""
    by_genus: dict[str | None, Taxon] = {
        info.taxon.genus: info.taxon for info in old.values() if info.taxon.genus
    }
    completed = {}
    for name, info in new.items():
        taxon = info.taxon
        relative = by_genus.get(info.taxon.genus, info.taxon)
        taxon = replace(
            taxon,
            family=taxon.family or relative.family,
            order=taxon.order or relative.order,
        )
        completed[name] = msgspec.structs.replace(info, taxon=taxon)
    return completed
