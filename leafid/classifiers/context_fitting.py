"""Learns how much place and day may say: on plants, and on whole places, that the prior did not see."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from leafid.classifiers.context import (
    LEAST_PLACES,
    Bandwidths,
    Context,
    Sightings,
    compute_density_ratios,
    encode_context,
    sightings,
)
from leafid.classifiers.held_out import HeldOutAnswers
from leafid.collection.geography import label_places
from leafid.collection.picture import Picture

# The narrowest still joins a town, and a season: a prior that knew a garden's address or a session's date would be
# right on this collection only.
_PLACE_KM = (None, 10.0, 30.0, 100.0, 300.0)
_DAYS = (None, 20.0, 40.0, 80.0)
_ALTITUDE_M = (None, 200.0, 500.0)
_SHRINKAGE = (1.0, 4.0)
_WEIGHTS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
# Of collections in which context says nothing, so many would seem to say that it helps elsewhere.
_CHANCE = 0.05


@dataclass(frozen=True)
class _Candidate:
    bandwidths: Bandwidths
    shrinkage: float
    weight: float


def fit_context_prior(held_out: HeldOutAnswers, pictures: Sequence[Picture]) -> Context:
    """Learn the prior of one identifier.

    Every held-out picture is given two priors by each choice of bandwidths and shrinkage: one of all plants but its
    own, and one of all places but its own. Chosen is what makes the right species of held-out pictures the likeliest
    in whichever of the two is worse. A prior is kept only if it also helps, by more than chance would, at places that
    had no part in its choice; otherwise its weight is 0.

    Parameters
    ----------
    held_out : HeldOut
        Visual posteriors of plants that the identifier did not see.
    pictures : sequence of Picture
        Labelled training pictures of any type, those of `held_out` among them; where and when they were taken is
        learned.

    Returns
    -------
    Context
    """
    known = sightings(pictures, held_out.species)
    n_species = len(held_out.species)
    nothing = Context(known, Bandwidths(), 1.0, 0.0, n_species)
    asked = _Asked.of(held_out, pictures)
    if asked is None or asked.n_places < LEAST_PLACES:
        return nothing
    candidates, by_plant, by_place = [], [], []
    for candidate, gains in _all_gains(asked):
        candidates.append(candidate)
        by_plant.append(gains[0])
        by_place.append(gains[1])
    if not candidates:
        return nothing
    found = choose(np.array(by_plant), np.array(by_place), asked.place_of_plant)
    if found is None:
        return nothing
    best = candidates[found]
    return Context(known, best.bandwidths, best.shrinkage, best.weight, n_species)


def choose(by_plant: np.ndarray, by_place: np.ndarray, place_of_plant: np.ndarray) -> int | None:
    """Choose among candidates by how much likelier each makes the right species.

    Parameters
    ----------
    by_plant, by_place : float (n_candidates, n_plants)
        Gains in log likelihood over no prior at all, when the plant, and when its whole place, is held out.
    place_of_plant : int (n_plants,)

    Returns
    -------
    int or None
        The candidate whose smaller mean gain is the largest; None where that is not above 0, or where the gains at
        each place of candidates so chosen on the other places could well be chance.

    References
    ----------
    .. [1] A. C. Cameron, D. L. Miller, "A practitioner's guide to cluster-robust inference", Journal of Human
       Resources 50(2), 2015, section II, doi:10.3368/jhr.50.2.317
    """
    best = _best(by_plant, by_place)
    if best is None:
        return None
    elsewhere = np.zeros(by_place.shape[1])
    for place in np.unique(place_of_plant):
        own = place_of_plant == place
        chosen = _best(by_plant[:, ~own], by_place[:, ~own]) if not own.all() else None
        if chosen is not None:
            elsewhere[own] = by_place[chosen, own]
    return best if _above_chance(elsewhere, place_of_plant) else None


def _above_chance(gains: np.ndarray, place_of_plant: np.ndarray) -> bool:
    """Tell whether a mean is above 0 by a one-sided t test; plants of one place don't count as independent."""
    from scipy.special import stdtrit

    _, place = np.unique(place_of_plant, return_inverse=True)
    sums = np.bincount(place, gains - gains.mean())
    n_places = len(sums)
    if n_places < 2:
        return False
    error = np.sqrt((sums**2).sum() * n_places / (n_places - 1)) / len(gains)
    return bool(gains.mean() > stdtrit(n_places - 1, 1 - _CHANCE) * error)


def _best(by_plant: np.ndarray, by_place: np.ndarray) -> int | None:
    worse = np.minimum(by_plant.mean(axis=1), by_place.mean(axis=1))
    best = int(worse.argmax())
    return best if worse[best] > 0 else None


@dataclass(frozen=True)
class _Asked:
    """The held-out pictures that can be right, and what each may be told.

    `contexts` holds every different context of a plant once, and `context_of` says which one a picture has.
    `known` parts plants that `Sightings` would not, as it needs the names of plants that those don't keep.
    """

    posterior: np.ndarray
    right: np.ndarray
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
    def of(cls, held_out: HeldOutAnswers, pictures: Sequence[Picture]) -> _Asked | None:
        asked = held_out.select_known()
        own = asked.pictures
        if not own:
            return None
        # The places of all pictures together: a chain of plants may join what the held-out ones alone leave apart.
        labels = label_places([*own, *pictures])
        plants: dict[str, int] = {}
        plant_of = np.array([plants.setdefault(picture.group, len(plants)) for picture in own])
        place_of_plant = np.zeros(len(plants), np.int64)
        place_of_plant[plant_of] = labels[: len(own)]
        known, names, places = _by_plant(pictures, labels[len(own) :], held_out.species)
        rows = encode_context(own)
        keyed = np.column_stack([plant_of, np.nan_to_num(rows, nan=-1e9)])
        _, first, context_of = np.unique(keyed, axis=0, return_index=True, return_inverse=True)
        group = np.array([own[index].group for index in first])
        return cls(
            asked.probabilities,
            asked.labels,
            rows[first],
            context_of.ravel(),
            plant_of,
            place_of_plant,
            known,
            group[:, None] != names[None, :],
            place_of_plant[plant_of[first]][:, None] != places[None, :],
        )


def _by_plant(
    pictures: Sequence[Picture], labels: np.ndarray, species: Sequence[str]
) -> tuple[Sightings, np.ndarray, np.ndarray]:
    """Gather sightings along with the plant and the place of each."""
    members: dict[str, list[int]] = {}
    of_model = set(species)
    for index, picture in enumerate(pictures):
        if picture.species in of_model:
            members.setdefault(picture.group, []).append(index)
    parts, names, places = [], [], []
    for group, indices in members.items():
        part = sightings([pictures[index] for index in indices], species)
        parts.append(part)
        names += [group] * len(part.weights)
        places += [int(labels[indices[0]])] * len(part.weights)
    known = Sightings(
        np.concatenate([part.values for part in parts]),
        np.concatenate([part.weights for part in parts]),
        np.concatenate([part.species for part in parts]),
    )
    return known, np.array(names), np.array(places)


def _all_gains(asked: _Asked) -> Iterator[tuple[_Candidate, tuple[np.ndarray, np.ndarray]]]:
    """Go through all candidates, each with its gains by plant and by place."""
    varies = [len(np.unique(column[np.isfinite(column)])) > 1 for column in asked.known.values.T]
    kilometres = _PLACE_KM if varies[0] or varies[1] else (None,)
    days = _DAYS if varies[3] else (None,)
    altitudes = _ALTITUDE_M if varies[2] else (None,)
    for place_km, day, altitude in product(kilometres, days, altitudes):
        bandwidths = Bandwidths(place_km, day, altitude)
        if bandwidths == Bandwidths():
            continue
        for shrinkage in _SHRINKAGE:
            by_plant, by_place = (
                compute_density_ratios(
                    asked.contexts, asked.known, allowed, bandwidths, shrinkage, asked.posterior.shape[1]
                )
                for allowed in (asked.other_plant, asked.other_place)
            )
            for weight in _WEIGHTS:
                gains = _gains(asked, by_plant**weight), _gains(asked, by_place**weight)
                yield _Candidate(bandwidths, shrinkage, weight), gains


def _gains(asked: _Asked, factors: np.ndarray) -> np.ndarray:
    """Tell how much likelier factors make the right species: the mean over each plant's pictures, (n_plants,)."""
    chosen = factors[asked.context_of]
    total = np.maximum((asked.posterior * chosen).sum(axis=1), 1e-300)
    gain = np.log(chosen[np.arange(len(chosen)), asked.right]) - np.log(total)
    return np.bincount(asked.plant_of, gain) / np.bincount(asked.plant_of)
