"""What place and day of the year say of a species: how dense its training plants are there and then.

Only latitude, longitude, altitude and the day of the year are looked at; never who took a picture, its file name, or
its year. Bandwidths are so wide that neither a single plant nor a single session can be told by them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np

from leafid.collection.geography import compute_great_circle_km, get_coordinates, label_places
from leafid.collection.picture import Picture, Place

#: The columns of what is known of a picture's context: degrees, degrees, metres, radians; NaN where it isn't known.
COLUMNS = ("latitude", "longitude", "altitude", "day")
DAYS_A_YEAR = 365.25
#: With fewer there is no "elsewhere" that anything could be tried at.
LEAST_PLACES = 3
# Spread over all the Earth and all the year, in units of the density at a plant: an isolated plant is not certainty.
BACKGROUND = 0.01
# About a kilometre, much finer than any bandwidth: a model file need not tell in whose garden a plant stands.
_DECIMALS = 2


@dataclass(frozen=True)
class Bandwidths:
    """How far a plant's word carries; None where that part of the context is not looked at.

    Attributes
    ----------
    place_km : float or None
        Standard deviation of the Gaussian over the great-circle distance.
    days : float or None
        Standard deviation that the von Mises kernel over the day of the year has where it is narrow.
    altitude_m : float or None
        Standard deviation of the Gaussian over the difference in altitude.
    """

    place_km: float | None = None
    days: float | None = None
    altitude_m: float | None = None

    def __str__(self) -> str:
        parts = [(self.place_km, "km"), (self.days, "days"), (self.altitude_m, "m of altitude")]
        return ", ".join(f"{value:g} {unit}" for value, unit in parts if value is not None) or "nothing"


@dataclass(frozen=True)
class Sightings:
    """Where and when the training plants of species were seen.

    Attributes
    ----------
    values : float64 (m, 4)
        `COLUMNS`; NaN where it isn't known.
    weights : float64 (m,)
        Those of a plant sum to 1.
    species : int64 (m,)
        Columns of the probabilities.
    """

    values: np.ndarray
    weights: np.ndarray
    species: np.ndarray

    @property
    def n_places(self) -> int:
        """How many places these are at, as `label_places` parts them; 0 where none is known."""
        spots = np.unique(self.values[:, :2], axis=0)
        if not np.isfinite(spots).any():
            return 0
        pictures = [
            Picture(Path(str(number)), place=Place(None, *spot) if np.isfinite(spot).all() else None)
            for number, spot in enumerate(spots.tolist())
        ]
        return int(label_places(pictures).max()) + 1


@dataclass(frozen=True)
class Context:
    """A prior over the species of one identifier.

    Attributes
    ----------
    sightings : Sightings
    bandwidths : Bandwidths
    shrinkage : float
        So many plants, spread as those of all species are, are added to each species.
    weight : float
        The exponent of the prior; 0 where it does not help at places that it was not learned at.
    n_species : int
    """

    sightings: Sightings
    bandwidths: Bandwidths
    shrinkage: float
    weight: float
    n_species: int

    def priors(self, pictures: Sequence[Picture]) -> np.ndarray:
        """Give the prior of each picture.

        Returns
        -------
        float64 (n, n_species)
            Rows sum to 1; all equal where nothing that is looked at is known of the picture.
        """
        asked = encode_context(pictures)
        allowed = np.ones((len(asked), len(self.sightings.weights)), bool)
        ratios = compute_density_ratios(asked, self.sightings, allowed, self.bandwidths, self.shrinkage, self.n_species)
        return ratios / ratios.sum(axis=1, keepdims=True)

    def apply(self, posterior: np.ndarray, pictures: Sequence[Picture]) -> np.ndarray:
        """Weigh the visual posteriors of pictures by their priors: `apply_prior`."""
        return apply_prior(posterior, self.priors(pictures), self.weight)

    def __str__(self) -> str:
        if not self.weight:
            n_places = self.sightings.n_places
            if n_places >= LEAST_PLACES:
                return "weight 0 (it does not help at other places)"
            return f"weight 0 (training knew {'too few' if n_places else 'no'} places)"
        return f"weight {self.weight:g}, {self.bandwidths}"


def apply_prior(posterior: np.ndarray, prior: np.ndarray, weight: float) -> np.ndarray:
    """Multiply posteriors by priors to a power.

    Parameters
    ----------
    posterior, prior : float64 (n, n_species)
        Rows sum to 1; priors are above 0.
    weight : float
        0 or more; with 0, and where all of a prior's values are equal, the posterior stays what it is, to the bit.

    Returns
    -------
    float64 (n, n_species)
        Rows sum to 1.

    Examples
    --------
    >>> apply_prior(np.array([[0.5, 0.5]]), np.array([[0.75, 0.25]]), 1.0)
    array([[0.75, 0.25]])
    """
    product = posterior * (prior / prior.max(axis=1, keepdims=True)) ** weight
    total = product.sum(axis=1, keepdims=True)
    silent = (prior == prior[:, :1]).all(axis=1, keepdims=True) | (total <= 0) | (weight == 0)
    return np.where(silent, posterior, product / np.where(total > 0, total, 1))


def encode_context(pictures: Sequence[Picture]) -> np.ndarray:
    """Say what is known of the context of pictures.

    Returns
    -------
    float64 (n, 4)
        `COLUMNS`: latitude and longitude in degrees, altitude in metres, the day of the year as an angle in
        radians; NaN where it isn't known.
    """
    rows = np.full((len(pictures), len(COLUMNS)), np.nan)
    for row, picture in zip(rows, pictures, strict=True):
        if (found := get_coordinates(picture)) is not None:
            row[:2] = found
            if picture.place is not None and picture.place.altitude is not None:
                row[2] = picture.place.altitude
        if (day := _day_of_year(picture.date)) is not None:
            row[3] = 2 * math.pi * day / DAYS_A_YEAR
    return rows


def _day_of_year(text: str | None) -> int | None:
    """Count days from new year; a month without a day is taken at its middle, a year alone says nothing."""
    parts = (text or "").split("T")[0].split("-")
    try:
        if len(parts) == 2:
            return date(int(parts[0]), int(parts[1]), 15).timetuple().tm_yday - 1
        return date(*map(int, parts)).timetuple().tm_yday - 1 if len(parts) == 3 else None
    except ValueError:
        return None


def sightings(pictures: Sequence[Picture], species: Sequence[str]) -> Sightings:
    """Gather the training plants of species.

    Each plant counts once, however many pictures there are of it: its word is shared by the different places and days
    that it was pictured at.

    Parameters
    ----------
    pictures : sequence of Picture
        Labelled; those of other species are left out.
    species : sequence of str
        The columns.
    """
    columns = {name: column for column, name in enumerate(species)}
    rows = encode_context(pictures)
    rows[:, :2] = rows[:, :2].round(_DECIMALS)
    # Infinity in place of NaN, which neither equals itself nor sorts.
    seen: dict[tuple[int, str], set[tuple[float, ...]]] = {}
    for picture, row in zip(pictures, rows, strict=True):
        if picture.species in columns:
            plant = columns[picture.species], picture.group
            seen.setdefault(plant, set()).add(tuple(np.nan_to_num(row, nan=np.inf).tolist()))
    # Sorted, so that the pictures' order doesn't matter; nothing of the plants' names is kept.
    found = sorted((column, one, 1 / len(own)) for (column, _), own in seen.items() for one in own)
    values = np.array([one for _, one, _ in found], np.float64).reshape(-1, len(COLUMNS))
    return Sightings(
        np.where(np.isinf(values), np.nan, values),
        np.array([weight for _, _, weight in found], np.float64),
        np.array([column for column, _, _ in found], np.int64),
    )


def compute_density_ratios(
    asked: np.ndarray,
    known: Sightings,
    allowed: np.ndarray,
    bandwidths: Bandwidths,
    shrinkage: float,
    n_species: int,
) -> np.ndarray:
    r"""Tell how much denser the plants of each species are somewhere than plants of all species are.

    With :math:`K(x, x_i)` the product of the kernels, each 1 at distance 0, :math:`w_i` the weights of the sightings
    (:math:`n_s` their sum over a species, :math:`n` over all), :math:`b` the background and :math:`\beta` the
    shrinkage:

    .. math:: f(x) = b + \frac{1}{n} \sum_i w_i K(x, x_i), \qquad
       r_s(x) = \frac{n_s b + \sum_{i \in s} w_i K(x, x_i) + \beta f(x)}{(n_s + \beta) f(x)}

    This estimates :math:`p(x | s) / p(x)`, which is what Bayes' rule multiplies a visual posterior by where looks and
    context don't depend on each other given the species. Far from all plants, and for a species without any, it is 1.

    Parameters
    ----------
    asked : float64 (n, 4)
        `COLUMNS`. What is NaN has no say.
    known : Sightings
        What is NaN there is filled by the mean over the sightings that do have it.
    allowed : bool (n, m)
        Which sightings may be used for which question.
    bandwidths : Bandwidths
    shrinkage : float
        Above 0.
    n_species : int

    Returns
    -------
    float64 (n, n_species)
        Above 0; exactly 1 in rows where all that is looked at is NaN.

    References
    ----------
    .. [1] B. W. Silverman, "Density Estimation for Statistics and Data Analysis", 1986, section 4.2
    .. [2] P. Hall, G. S. Watson, J. Cabrera, "Kernel density estimation with spherical data", Biometrika 74(4), 1987,
       p. 751-762, doi:10.1093/biomet/74.4.751
    """
    weights = known.weights * allowed
    member = known.species[:, None] == np.arange(n_species)
    plants = weights @ member
    near = weights * _kernels(asked, known.values, weights, bandwidths)
    total = weights.sum(axis=1, keepdims=True)
    pooled = BACKGROUND + near.sum(axis=1, keepdims=True) / np.where(total > 0, total, 1)
    ratios = (plants * BACKGROUND + near @ member + shrinkage * pooled) / ((plants + shrinkage) * pooled)
    says = np.isfinite(asked[:, _looked_at(bandwidths)]).any(axis=1) & (total[:, 0] > 0)
    return np.where(says[:, None], ratios, 1.0)


def _looked_at(bandwidths: Bandwidths) -> list[int]:
    widths = {0: bandwidths.place_km, 2: bandwidths.altitude_m, 3: bandwidths.days}
    return [column for column, width in widths.items() if width is not None]


def _kernels(asked: np.ndarray, known: np.ndarray, weights: np.ndarray, bandwidths: Bandwidths) -> np.ndarray:
    product = np.ones((len(asked), len(known)))
    if bandwidths.place_km is not None:
        distance = compute_great_circle_km(asked[:, :2], known[:, :2])
        product *= _filled(np.exp(-0.5 * (distance / bandwidths.place_km) ** 2), weights)
    if bandwidths.altitude_m is not None:
        difference = asked[:, None, 2] - known[None, :, 2]
        product *= _filled(np.exp(-0.5 * (difference / bandwidths.altitude_m) ** 2), weights)
    if bandwidths.days is not None:
        concentration = (DAYS_A_YEAR / (2 * math.pi * bandwidths.days)) ** 2
        product *= _filled(np.exp(concentration * (np.cos(asked[:, None, 3] - known[None, :, 3]) - 1)), weights)
    return product


def _filled(kernel: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Put in place of NaN the mean of the row; 1 in a row that has nothing else."""
    missing = np.isnan(kernel)
    has = weights * ~missing
    total = has.sum(axis=1, keepdims=True)
    mean = (has * np.where(missing, 0, kernel)).sum(axis=1, keepdims=True) / np.where(total > 0, total, 1)
    return np.where(missing, np.where(total > 0, mean, 1.0), kernel)
