"""A prior over the species from place and day of the year, by kernel densities of the training plants.

It uses latitude, longitude, altitude and the day of the year; never who took a picture, its file name, or its year.
Bandwidths are so wide that they distinguish neither plants nor sessions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np

from leafid.pictures.geography import compute_great_circle_km, get_coordinates, label_places
from leafid.pictures.picture import Picture, Place

#: The columns of context values: degrees, degrees, metres, radians; NaN where unknown.
COLUMNS = ("latitude", "longitude", "altitude", "day")
DAYS_A_YEAR = 365.25
#: Minimum number of places to fit a prior: with fewer it can't be tested at other places.
MIN_PLACES = 3
# Uniform density over the Earth and the year, relative to that at a plant: an isolated plant isn't certainty.
BACKGROUND = 0.01
# Decimals of degrees that sightings keep, about a kilometre: a model file must not tell in whose garden a plant stands.
_DECIMALS = 2


@dataclass(frozen=True)
class Bandwidths:
    """Bandwidths of the kernels; None for values that are ignored."""

    #: Standard deviation of the Gaussian kernel of the great-circle distance.
    place_km: float | None = None
    #: Standard deviation, where it is narrow, of the von Mises kernel of the day of the year.
    days: float | None = None
    #: Standard deviation of the Gaussian kernel of the difference in altitude.
    altitude_m: float | None = None

    def __str__(self) -> str:
        parts = [(self.place_km, "km"), (self.days, "days"), (self.altitude_m, "m of altitude")]
        return ", ".join(f"{value:g} {unit}" for value, unit in parts if value is not None) or "nothing"


@dataclass(frozen=True)
class Sightings:
    """Where and when the training plants were photographed."""

    #: float64 (m, 4): `COLUMNS`.
    values: np.ndarray
    #: float64 (m,): those of a plant sum to 1.
    weights: np.ndarray
    #: int64 (m,): columns of the probabilities.
    species: np.ndarray

    @property
    def n_places(self) -> int:
        """Number of places as `label_places` distinguishes them; 0 where none is known."""
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
    """The prior of one identifier."""

    sightings: Sightings
    bandwidths: Bandwidths
    #: Number of plants, distributed like those of all species, that are added to each species.
    shrinkage: float
    #: Exponent of the prior; 0 where it doesn't help at other places than those it was fitted at.
    weight: float
    n_species: int

    def compute_priors(self, pictures: Sequence[Picture]) -> np.ndarray:
        """Compute the prior of each picture, float64 (n, n_species); rows sum to 1.

        It is uniform where nothing that the prior uses is known about the picture.
        """
        values = encode_context(pictures)
        is_allowed = np.ones((len(values), len(self.sightings.weights)), bool)
        ratios = compute_density_ratios(
            values, self.sightings, is_allowed, self.bandwidths, self.shrinkage, self.n_species
        )
        return ratios / ratios.sum(axis=1, keepdims=True)

    def apply(self, posterior: np.ndarray, pictures: Sequence[Picture]) -> np.ndarray:
        """Multiply the visual posteriors of pictures by their weighted priors."""
        return apply_prior(posterior, self.compute_priors(pictures), self.weight)

    def __str__(self) -> str:
        if not self.weight:
            n_places = self.sightings.n_places
            if n_places >= MIN_PLACES:
                return "weight 0 (it does not help at other places)"
            return f"weight 0 (training knew {'too few' if n_places else 'no'} places)"
        return f"weight {self.weight:g}, {self.bandwidths}"


def apply_prior(posterior: np.ndarray, prior: np.ndarray, weight: float) -> np.ndarray:
    """Multiply posteriors by priors above 0 to the power of a weight; float64 (n, n_species), rows sum to 1.

    With weight 0, and where a prior is uniform, the posterior stays the same to the bit.

    Examples
    --------
    >>> apply_prior(np.array([[0.5, 0.5]]), np.array([[0.75, 0.25]]), 1.0)
    array([[0.75, 0.25]])
    """
    product = posterior * (prior / prior.max(axis=1, keepdims=True)) ** weight
    total = product.sum(axis=1, keepdims=True)
    is_unchanged = (prior == prior[:, :1]).all(axis=1, keepdims=True) | (total <= 0) | (weight == 0)
    return np.where(is_unchanged, posterior, product / np.where(total > 0, total, 1))


def encode_context(pictures: Sequence[Picture]) -> np.ndarray:
    """Encode place and day of pictures, float64 (n, 4): `COLUMNS`; the day of the year is an angle."""
    rows = np.full((len(pictures), len(COLUMNS)), np.nan)
    for row, picture in zip(rows, pictures, strict=True):
        if (found := get_coordinates(picture)) is not None:
            row[:2] = found
            if picture.place is not None and picture.place.altitude is not None:
                row[2] = picture.place.altitude
        if (day := _get_day_of_year(picture.date)) is not None:
            row[3] = 2 * math.pi * day / DAYS_A_YEAR
    return rows


def _get_day_of_year(text: str | None) -> int | None:
    """Count the days since New Year, up to the middle of a month without a day; None for a year alone."""
    parts = (text or "").split("T")[0].split("-")
    try:
        if len(parts) == 2:
            return date(int(parts[0]), int(parts[1]), 15).timetuple().tm_yday - 1
        return date(*map(int, parts)).timetuple().tm_yday - 1 if len(parts) == 3 else None
    except ValueError:
        return None


def collect_sightings(pictures: Sequence[Picture], species: Sequence[str]) -> Sightings:
    """Collect the contexts of training plants of some species, the columns; others are ignored.

    Every plant has a total weight of 1, shared equally by the different contexts of its pictures.
    """
    columns = {name: column for column, name in enumerate(species)}
    rows = encode_context(pictures)
    rows[:, :2] = rows[:, :2].round(_DECIMALS)
    # NaN neither equals itself nor sorts: infinity stands for it.
    contexts: dict[tuple[int, str], set[tuple[float, ...]]] = {}
    for picture, row in zip(pictures, rows, strict=True):
        if picture.species in columns:
            plant = columns[picture.species], picture.group
            contexts.setdefault(plant, set()).add(tuple(np.nan_to_num(row, nan=np.inf).tolist()))
    # Sorted, so that the order of pictures doesn't matter; the names of plants are not kept.
    found = sorted((column, context, 1 / len(own)) for (column, _), own in contexts.items() for context in own)
    values = np.array([context for _, context, _ in found], np.float64).reshape(-1, len(COLUMNS))
    return Sightings(
        np.where(np.isinf(values), np.nan, values),
        np.array([weight for _, _, weight in found], np.float64),
        np.array([column for column, _, _ in found], np.int64),
    )


def compute_density_ratios(
    queries: np.ndarray,
    sightings: Sightings,
    is_allowed: np.ndarray,
    bandwidths: Bandwidths,
    shrinkage: float,
    n_species: int,
) -> np.ndarray:
    r"""Divide the density of each species' plants by that of all plants, at the queries, float64 (n, 4) of `COLUMNS`.

    With :math:`K(x, x_i)` the product of the kernels, each 1 at distance 0, :math:`w_i` the weights of the sightings
    (:math:`n_s` their sum over a species, :math:`n` over all), :math:`b` the background and :math:`\beta` the
    shrinkage, above 0:

    .. math:: f(x) = b + \frac{1}{n} \sum_i w_i K(x, x_i), \qquad
       r_s(x) = \frac{n_s b + \sum_{i \in s} w_i K(x, x_i) + \beta f(x)}{(n_s + \beta) f(x)}

    This estimates :math:`p(x | s) / p(x)`, by which Bayes' rule multiplies a visual posterior if appearance and context
    are independent given the species. It is 1 far from all plants, and for a species without plants.

    The kernel of an unknown value is the mean over the sightings that have the value; a query of which nothing is known
    that the kernels use gives exactly 1. `is_allowed`, bool (n, m), says which sightings may be used for which query.

    References
    ----------
    .. [1] B. W. Silverman, "Density Estimation for Statistics and Data Analysis", 1986, section 4.2
    .. [2] P. Hall, G. S. Watson, J. Cabrera, "Kernel density estimation with spherical data", Biometrika 74(4), 1987,
       p. 751-762, doi:10.1093/biomet/74.4.751
    """
    weights = sightings.weights * is_allowed
    membership = sightings.species[:, None] == np.arange(n_species)
    plants = weights @ membership
    near = weights * _compute_kernels(queries, sightings.values, weights, bandwidths)
    total = weights.sum(axis=1, keepdims=True)
    pooled = BACKGROUND + near.sum(axis=1, keepdims=True) / np.where(total > 0, total, 1)
    ratios = (plants * BACKGROUND + near @ membership + shrinkage * pooled) / ((plants + shrinkage) * pooled)
    widths = {0: bandwidths.place_km, 2: bandwidths.altitude_m, 3: bandwidths.days}
    used = [column for column, width in widths.items() if width is not None]
    is_informed = np.isfinite(queries[:, used]).any(axis=1) & (total[:, 0] > 0)
    return np.where(is_informed[:, None], ratios, 1.0)


def _compute_kernels(queries: np.ndarray, known: np.ndarray, weights: np.ndarray, bandwidths: Bandwidths) -> np.ndarray:
    product = np.ones((len(queries), len(known)))
    if bandwidths.place_km is not None:
        distance = compute_great_circle_km(queries[:, :2], known[:, :2])
        product *= _fill_unknown(np.exp(-0.5 * (distance / bandwidths.place_km) ** 2), weights)
    if bandwidths.altitude_m is not None:
        difference = queries[:, None, 2] - known[None, :, 2]
        product *= _fill_unknown(np.exp(-0.5 * (difference / bandwidths.altitude_m) ** 2), weights)
    if bandwidths.days is not None:
        concentration = (DAYS_A_YEAR / (2 * math.pi * bandwidths.days)) ** 2
        product *= _fill_unknown(np.exp(concentration * (np.cos(queries[:, None, 3] - known[None, :, 3]) - 1)), weights)
    return product


def _fill_unknown(kernel: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Replace NaN by the weighted mean of the row, or by 1 in a row of NaN."""
    missing = np.isnan(kernel)
    has = weights * ~missing
    total = has.sum(axis=1, keepdims=True)
    mean = (has * np.where(missing, 0, kernel)).sum(axis=1, keepdims=True) / np.where(total > 0, total, 1)
    return np.where(missing, np.where(total > 0, mean, 1.0), kernel)
