"""Which pictures a drawn collection holds: who took what of which plant, when and where."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from leafid.collection.picture import AcquisitionType
from leafid.errors import UsageError
from leafid.synthetic.catalogue import SPECIES
from leafid.synthetic.scene import SMALLEST

LARGEST = 4000
"""Pixels on the longest side: more than any collection that the program is meant for."""

# Streams of random numbers that must not depend on each other.
_PLAN, PLANT, CAMERA, PICTURE = 0, 1, 2, 3

_TOWNS = (
    ("Drome - Valence", 44.933393, 4.89236, 123.0),
    ("Herault - Montpellier", 43.610769, 3.876716, 27.0),
    ("Gard - Uzes", 44.012, 4.4196, 138.0),
    ("Isere - Grenoble", 45.188529, 5.724524, 214.0),
    ("Aude - Narbonne", 43.184277, 3.003078, 13.0),
    ("Jura - Dole", 47.0925, 5.48966, 231.0),
    ("Loiret - Orleans", 47.902964, 1.909251, 116.0),
    ("Rhone - Lyon", 45.764043, 4.835659, 173.0),
)
_AUTHORS = (
    ("Amiel Rosine", "Atelier des feuilles"),
    ("Bertholin Marc", "Atelier des feuilles"),
    ("Carvin Noelle", "Cercle botanique du Sud"),
    ("Delmas-Roy Yves", "Cercle botanique du Sud"),
    ("Estorel Paule", "Herbier d'essai"),
    ("Fauvert Simon", "Herbier d'essai"),
    ("Gaillardot Anne", "Atelier des feuilles"),
    ("Hirondel Luc", "Cercle botanique du Sud"),
)


@dataclass(frozen=True, slots=True)
class Settings:
    """What to draw.

    Attributes
    ----------
    n_species : int, default 12
        From the top of the catalogue.
    plants_per_species : int, default 5
    test_plants : int, default 1
        How many of these are test plants.
    pictures_per_plant_and_type : int, default 2
    types : tuple of AcquisitionType
        All three by default.
    max_side : int, default 800
        Longest side of the pictures, in pixels.
    seed : int, default 0
        The same settings give the same bytes.

    Raises
    ------
    UsageError
        When a number is out of its range.
    """

    n_species: int = 12
    plants_per_species: int = 5
    test_plants: int = 1
    pictures_per_plant_and_type: int = 2
    types: tuple[AcquisitionType, ...] = tuple(AcquisitionType)
    max_side: int = 800
    seed: int = 0

    def __post_init__(self) -> None:
        _check("species", self.n_species, 1, len(SPECIES))
        _check("plants", self.plants_per_species, 1, 10_000)
        _check("test plants", self.test_plants, 0, self.plants_per_species)
        _check("pictures", self.pictures_per_plant_and_type, 1, 10_000)
        _check("size", self.max_side, SMALLEST, LARGEST)
        _check("seed", self.seed, 0, 2**63 - 1)
        if not self.types:
            raise UsageError("types: expected at least one acquisition type, found none")

    def as_plain(self) -> dict[str, Any]:
        """Return the settings as JSON knows them."""
        return {**asdict(self), "types": [one.value for one in self.types]}


@dataclass(frozen=True, slots=True)
class PlannedPicture:
    """One picture to draw.

    Attributes
    ----------
    number : int
        The picture is ``<number>.jpg``; the numbers say nothing of the species.
    part : {"train", "test"}
    species : int
        Index into the catalogue.
    plant : int
        From 1, over all species.
    type : AcquisitionType
    author : int
        From 0.
    author_name, organization : str
    day, month, year : int
    hour, minute : int
    autumn : float
        How far autumn is: 0 summer, 1 full colour, 2 dead leaves.
    locality : str
    latitude, longitude, altitude : float
        Degrees, metres.
    """

    number: int
    part: str
    species: int
    plant: int
    type: AcquisitionType
    author: int
    author_name: str
    organization: str
    day: int
    month: int
    year: int
    hour: int
    minute: int
    autumn: float
    locality: str
    latitude: float
    longitude: float
    altitude: float


def plan_collection(settings: Settings) -> list[PlannedPicture]:
    """Decide on every picture of a collection, without drawing any.

    Parameters
    ----------
    settings : Settings

    Returns
    -------
    list of PlannedPicture
        In the order of their numbers, which run from 1 without gaps.
    """
    rng = np.random.default_rng([settings.seed, _PLAN])
    each = len(settings.types) * settings.pictures_per_plant_and_type
    total = settings.n_species * settings.plants_per_species * each
    numbers = iter((rng.permutation(total) + 1).tolist())
    pictures: list[PlannedPicture] = []
    plant = 0
    for species in range(settings.n_species):
        authors = _authors_of_plants(settings.plants_per_species, rng)
        for order, author in enumerate(authors):
            plant += 1
            test = order >= settings.plants_per_species - settings.test_plants
            pictures.extend(_of_plant(settings, species, plant, author, test, numbers, rng))
    return sorted(pictures, key=lambda picture: picture.number)


def _authors_of_plants(plants: int, rng: np.random.Generator) -> Sequence[int]:
    """Spread a species' plants over the authors, a few of whom do most of the work."""
    order = rng.permutation(len(_AUTHORS))
    extra = rng.choice(len(_AUTHORS), plants, p=np.arange(len(_AUTHORS), 0, -1) / sum(range(len(_AUTHORS) + 1)))
    return [int(order[i]) if i < 3 else int(extra[i]) for i in range(plants)]


def _of_plant(
    settings: Settings,
    species: int,
    plant: int,
    author: int,
    test: bool,
    numbers: Iterable[int],
    rng: np.random.Generator,
) -> list[PlannedPicture]:
    name, organization = _AUTHORS[author]
    locality, latitude, longitude, altitude = _TOWNS[(author + int(rng.integers(2))) % len(_TOWNS)]
    latitude, longitude = latitude + float(rng.normal(0, 0.02)), longitude + float(rng.normal(0, 0.02))
    # A plant is visited once or twice; what is taken on one visit has one date.
    visits = [(int(rng.integers(1, 29)), int(rng.integers(5, 12)), int(rng.integers(2009, 2012))) for _ in range(2)]
    numbers = iter(numbers)
    pictures = []
    for kind in settings.types:
        for _ in range(settings.pictures_per_plant_and_type):
            day, month, year = visits[int(rng.random() < 0.35)]
            pictures.append(
                PlannedPicture(
                    number=next(numbers),
                    part="test" if test else "train",
                    species=species,
                    plant=plant,
                    type=kind,
                    author=author,
                    author_name=name,
                    organization=organization,
                    day=day,
                    month=month,
                    year=year,
                    hour=int(rng.integers(8, 20)),
                    minute=int(rng.integers(0, 60)),
                    autumn=_autumn(kind, month, species, rng),
                    locality=locality,
                    latitude=round(latitude, 6),
                    longitude=round(longitude, 6),
                    altitude=altitude,
                )
            )
    return pictures


def _autumn(kind: AcquisitionType, month: int, species: int, rng: np.random.Generator) -> float:
    evergreen = SPECIES[species].gloss >= 0.45
    draw, shade = float(rng.random()), float(rng.uniform(0.3, 1.0))
    if month < 10 or evergreen:
        return 0.0
    # Few people scan a dead leaf.
    if month == 11 and draw < 0.4 and kind is not AcquisitionType.SCAN:
        return 1.8
    return shade if draw < 0.5 else 0.0


def _check(what: str, number: int, least: int, most: int) -> None:
    if not least <= number <= most:
        raise UsageError(f"{what}: expected a number from {least} to {most}, found {number}")
