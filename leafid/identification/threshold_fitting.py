"""Scores a model, and fits how sure its identifiers must be, on answers to plants that they did not see."""

from __future__ import annotations

import logging
from collections.abc import Mapping

import numpy as np

from leafid.classifiers.held_out import HeldOut
from leafid.classifiers.thresholds import Thresholds, kept_ranks
from leafid.collection.picture import Taxon
from leafid.errors import LeafidError
from leafid.identification.held_out_scores import held_out_scores
from leafid.identification.model import Model
from leafid.metrics.hierarchy import fit_back_off_threshold
from leafid.metrics.set_valued import fit_average_k_thresholds
from leafid.metrics.taxonomy import Taxonomy

_log = logging.getLogger(__name__)
_WHOLE_SIZES = 100
_OTHER_SIZES = 200


def complete(model: Model) -> None:
    """Give a newly trained model its scores and thresholds.

    Parameters
    ----------
    model : Model
        From `leafid.identification.training.train`. A model read from a file, which holds no answers to held-out
        plants, stays as it is.
    """
    taxa = {name: info.taxon for name, info in model.species.items()}
    for type_, identifier in model.identifiers.items():
        if identifier.held_out_ is not None:
            model.scores[str(type_)] = held_out_scores([identifier.held_out_])
            if thresholds := fit_thresholds(identifier.held_out_, taxa):
                model.thresholds[type_] = thresholds


def fit_thresholds(held_out: HeldOut, taxa: Mapping[str, Taxon]) -> Thresholds | None:
    """Learn from held-out answers all that sets of any size or coverage, and backing off, need.

    Only pictures of species that other plants were there to learn from count: the model that is kept knows all of its
    species.

    Parameters
    ----------
    held_out : HeldOut
    taxa : mapping of str to Taxon
        What each species belongs to.

    Returns
    -------
    Thresholds or None
        None where no picture counts. Without `back_off` where the taxa make no tree, which is logged.

    Notes
    -----
    Sets are fitted on pictures, as their definitions have it. For backing off every plant counts once, however many
    pictures there are of it: what is named later is another plant.
    """
    asked = held_out.seen_part()
    if not asked.pictures:
        return None
    probabilities, right = asked.probabilities, asked.right
    sizes = _sizes(len(held_out.species))
    likelihood = np.sort(probabilities[np.arange(len(right)), right])
    groups = [picture.group for picture in asked.pictures]
    _, inverse, counts = np.unique(groups, return_inverse=True, return_counts=True)
    try:
        tree = Taxonomy(taxa[name] for name in held_out.species)
        back_off = fit_back_off_threshold(
            probabilities, [held_out.species[column] for column in right], tree, 1 / counts[inverse]
        )[0]
    except LeafidError as error:
        _log.warning("no threshold for backing off could be fitted: %s", error)
        back_off = None
    return Thresholds(
        sizes,
        fit_average_k_thresholds(probabilities, sizes.tolist()),
        likelihood[kept_ranks(len(likelihood)) - 1],
        len(likelihood),
        back_off,
    )


def _sizes(n_species: int) -> np.ndarray:
    """Choose mean set sizes: whole ones up to 100, and others a few per cent apart; the last one is all species."""
    whole = np.arange(1, min(n_species, _WHOLE_SIZES) + 1)
    others = np.geomspace(0.05, n_species, _OTHER_SIZES)
    return np.unique(np.concatenate([whole, others[others < n_species], [n_species]]).astype(np.float64))
