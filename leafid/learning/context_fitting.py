"""Fits the prior of place and day on plants, and on whole places, that the prior did not see."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from leafid.grouping import group_by
from leafid.learning.context import (
    MIN_PLACES,
    Bandwidths,
    Context,
    Sightings,
    collect_sightings,
    compute_density_ratios,
    encode_context,
)
from leafid.learning.held_out import HeldOutAnswers
from leafid.pictures.geography import label_places
from leafid.pictures.picture import Picture

# Candidate bandwidths, shrinkages and weights. The narrowest bandwidths still join a town and a season: a prior that
# knew a garden's address or a session's date would be right in this collection only.
_PLACE_KM = (None, 10.0, 30.0, 100.0, 300.0)
_DAYS = (None, 20.0, 40.0, 80.0)
_ALTITUDE_M = (None, 200.0, 500.0)
_SHRINKAGE = (1.0, 4.0)
_WEIGHTS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
# Significance level: the share of collections with an uninformative context in which the prior would seem to help.
_SIGNIFICANCE = 0.05


def fit_context_prior(held_out: HeldOutAnswers, pictures: Sequence[Picture]) -> Context:
    """Fit the prior of one identifier on labelled training pictures of any type, with those of `held_out`.

    Every held-out picture gets two priors for each choice of bandwidths and shrinkage: from all other plants, and from
    all other places. The choice that maximises the smaller of the two likelihoods of the held-out labels wins. It is
    kept only if it helps significantly at places that had no part in the choice; otherwise its weight is 0.
    """
    known = collect_sightings(pictures, held_out.species)
    n_species = len(held_out.species)
    no_prior = Context(known, Bandwidths(), 1.0, 0.0, n_species)
    queries = _Queries.from_answers(held_out, pictures)
    if queries is None or queries.n_places < MIN_PLACES:
        return no_prior
    candidates = list(_iterate_candidates(known, queries))
    if not candidates:
        return no_prior
    priors, by_plant, by_place = zip(*candidates, strict=True)
    best = choose_candidate(np.array(by_plant), np.array(by_place), queries.place_of_plant)
    return no_prior if best is None else priors[best]


def choose_candidate(by_plant: np.ndarray, by_place: np.ndarray, place_of_plant: np.ndarray) -> int | None:
    """Choose the candidate prior with the largest minimum of both mean gains in log-likelihood over no prior.

    The gains, float (n_candidates, n_plants), are with the plant, and with its whole place, held out. None is chosen
    where that minimum isn't above 0, or where the gains at each place, of the candidate chosen on all other places, are
    not significant.

    References
    ----------
    .. [1] A. C. Cameron, D. L. Miller, "A practitioner's guide to cluster-robust inference", Journal of Human
       Resources 50(2), 2015, section II, doi:10.3368/jhr.50.2.317
    """
    best = _choose_by_mean_gains(by_plant, by_place)
    if best is None:
        return None
    elsewhere = np.zeros(by_place.shape[1])
    for place in np.unique(place_of_plant):
        own = place_of_plant == place
        chosen = _choose_by_mean_gains(by_plant[:, ~own], by_place[:, ~own]) if not own.all() else None
        if chosen is not None:
            elsewhere[own] = by_place[chosen, own]
    return best if _is_significant(elsewhere, place_of_plant) else None


def _is_significant(gains: np.ndarray, place_of_plant: np.ndarray) -> bool:
    """Test whether the mean gain is above 0: a one-sided t test, clustered by place."""
    from scipy.special import stdtrit

    _, place = np.unique(place_of_plant, return_inverse=True)
    sums = np.bincount(place, gains - gains.mean())
    n_places = len(sums)
    if n_places < 2:
        return False
    error = np.sqrt((sums**2).sum() * n_places / (n_places - 1)) / len(gains)
    return bool(gains.mean() > stdtrit(n_places - 1, 1 - _SIGNIFICANCE) * error)


def _choose_by_mean_gains(by_plant: np.ndarray, by_place: np.ndarray) -> int | None:
    worse = np.minimum(by_plant.mean(axis=1), by_place.mean(axis=1))
    best = int(worse.argmax())
    return best if worse[best] > 0 else None


@dataclass(frozen=True)
class _Queries:
    """The held-out pictures of known species, and which sightings each prior may use.

    `contexts` holds every distinct context of each plant once; `context_of` is the index of each picture's context.
    Unlike those of a `Context`, `known` sightings are collected for each plant apart, to leave plants and places out.
    """

    posterior: np.ndarray
    labels: np.ndarray
    contexts: np.ndarray
    context_of: np.ndarray
    plant_of: np.ndarray
    place_of_plant: np.ndarray
    known: Sightings
    other_plant: np.ndarray
    other_place: np.ndarray

    @property
    def n_places(self) -> int:
        return len(np.unique(self.place_of_plant))

    @classmethod
    def from_answers(cls, held_out: HeldOutAnswers, pictures: Sequence[Picture]) -> _Queries | None:
        known_answers = held_out.select_known()
        own = known_answers.pictures
        if not own:
            return None
        # Places of all pictures together: a chain of training plants may join places of held-out ones.
        labels = label_places([*own, *pictures])
        plants: dict[str, int] = {}
        plant_of = np.array([plants.setdefault(picture.group, len(plants)) for picture in own])
        place_of_plant = np.zeros(len(plants), np.int64)
        place_of_plant[plant_of] = labels[: len(own)]
        known, names, places = _collect_with_groups(pictures, labels[len(own) :], held_out.species)
        rows = encode_context(own)
        keyed = np.column_stack([plant_of, np.nan_to_num(rows, nan=-1e9)])
        _, first, context_of = np.unique(keyed, axis=0, return_index=True, return_inverse=True)
        group = np.array([own[index].group for index in first])
        return cls(
            known_answers.probabilities,
            known_answers.labels,
            rows[first],
            context_of.ravel(),
            plant_of,
            place_of_plant,
            known,
            group[:, None] != names[None, :],
            place_of_plant[plant_of[first]][:, None] != places[None, :],
        )


def _collect_with_groups(
    pictures: Sequence[Picture], labels: np.ndarray, species: Sequence[str]
) -> tuple[Sightings, np.ndarray, np.ndarray]:
    """Collect sightings, with the plant and the place of each."""
    of_model = set(species)
    indices_of_model = [index for index, picture in enumerate(pictures) if picture.species in of_model]
    members = group_by(indices_of_model, lambda index: pictures[index].group)
    parts, names, places = [], [], []
    for group, indices in members.items():
        part = collect_sightings([pictures[index] for index in indices], species)
        parts.append(part)
        names += [group] * len(part.weights)
        places += [int(labels[indices[0]])] * len(part.weights)
    known = Sightings(
        np.concatenate([part.values for part in parts]),
        np.concatenate([part.weights for part in parts]),
        np.concatenate([part.species for part in parts]),
    )
    return known, np.array(names), np.array(places)


def _iterate_candidates(known: Sightings, queries: _Queries) -> Iterator[tuple[Context, np.ndarray, np.ndarray]]:
    """Iterate over all candidates, each with its gains by plant and by place."""
    n_species = queries.posterior.shape[1]
    varies = [len(np.unique(column[np.isfinite(column)])) > 1 for column in queries.known.values.T]
    kilometres = _PLACE_KM if varies[0] or varies[1] else (None,)
    days = _DAYS if varies[3] else (None,)
    altitudes = _ALTITUDE_M if varies[2] else (None,)
    for place_km, day, altitude in product(kilometres, days, altitudes):
        bandwidths = Bandwidths(place_km, day, altitude)
        if bandwidths == Bandwidths():
            continue
        for shrinkage in _SHRINKAGE:
            by_plant, by_place = (
                compute_density_ratios(queries.contexts, queries.known, allowed, bandwidths, shrinkage, n_species)
                for allowed in (queries.other_plant, queries.other_place)
            )
            for weight in _WEIGHTS:
                gains = _compute_gains(queries, by_plant**weight), _compute_gains(queries, by_place**weight)
                yield Context(known, bandwidths, shrinkage, weight, n_species), *gains


def _compute_gains(queries: _Queries, factors: np.ndarray) -> np.ndarray:
    """Compute the gains in log-likelihood of the labels, averaged over each plant's pictures; (n_plants,)."""
    chosen = factors[queries.context_of]
    total = np.maximum((queries.posterior * chosen).sum(axis=1), 1e-300)
    gain = np.log(chosen[np.arange(len(chosen)), queries.labels]) - np.log(total)
    return np.bincount(queries.plant_of, gain) / np.bincount(queries.plant_of)
