"""Which pictures a drawn collection holds: who took what of which plant, when and where."""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np

from leafid.errors import UsageError
from leafid.pictures.picture import AcquisitionType
from leafid.synthetic.scene import MIN_SIDE
from leafid.synthetic.species import SPECIES

MAX_SIDE = 4000
"""Maximum longest side, in pixels: more than in any collection that the program is meant for."""

# Independent streams of random numbers.
_PLAN_STREAM, PLANT_STREAM, CAMERA_STREAM, PICTURE_STREAM = 0, 1, 2, 3


class Author(NamedTuple):
    """An invented person who takes pictures of the plants around one town."""

    name: str
    organization: str
    locality: str
    latitude: float
    longitude: float
    altitude: float


AUTHORS = (
    Author("Amiel Rosine", "Atelier des feuilles", "Drome - Valence", 44.933393, 4.89236, 123.0),
    Author("Bertholin Marc", "Atelier des feuilles", "Herault - Montpellier", 43.610769, 3.876716, 27.0),
    Author("Carvin Noelle", "Cercle botanique du Sud", "Gard - Uzes", 44.012, 4.4196, 138.0),
    Author("Delmas-Roy Yves", "Cercle botanique du Sud", "Isere - Grenoble", 45.188529, 5.724524, 214.0),
    Author("Estorel Paule", "Herbier d'essai", "Aude - Narbonne", 43.184277, 3.003078, 13.0),
    Author("Fauvert Simon", "Herbier d'essai", "Jura - Dole", 47.0925, 5.48966, 231.0),
    Author("Gaillardot Anne", "Atelier des feuilles", "Loiret - Orleans", 47.902964, 1.909251, 116.0),
    Author("Hirondel Luc", "Cercle botanique du Sud", "Rhone - Lyon", 45.764043, 4.835659, 173.0),
)


@dataclass(frozen=True, slots=True)
class Settings:
    """What to draw; the same settings give the same bytes. A number out of its range raises a `UsageError`."""

    #: From the top of the catalogue.
    n_species: int = 12
    plants_per_species: int = 5
    #: Number of test plants among the plants of a species.
    test_plants: int = 1
    pictures_per_plant_and_type: int = 2
    types: tuple[AcquisitionType, ...] = tuple(AcquisitionType)
    #: Longest side of the pictures, in pixels.
    max_side: int = 800
    seed: int = 0

    def __post_init__(self) -> None:
        _check_range("species", self.n_species, 1, len(SPECIES))
        _check_range("plants", self.plants_per_species, 1, 10_000)
        _check_range("test plants", self.test_plants, 0, self.plants_per_species)
        _check_range("pictures", self.pictures_per_plant_and_type, 1, 10_000)
        _check_range("size", self.max_side, MIN_SIDE, MAX_SIDE)
        _check_range("seed", self.seed, 0, 2**63 - 1)
        if not self.types:
            raise UsageError("types: expected at least one acquisition type, found none")

    def as_json(self) -> dict[str, Any]:
        """Return the settings as JSON can hold them."""
        return {**asdict(self), "types": [acquisition_type.value for acquisition_type in self.types]}


@dataclass(frozen=True, slots=True)
class PlannedPicture:
    """One picture to draw."""

    #: The picture is ``<number>.jpg``; numbers don't reveal the species.
    number: int
    part: str
    #: Index into the catalogue.
    species: int
    #: From 1, over all species.
    plant: int
    type: AcquisitionType
    #: Index into `AUTHORS`.
    author: int
    taken: datetime
    #: 0 summer, 1 full autumn colour, 2 dead leaves.
    autumn: float
    #: `latitude`, `longitude`: in degrees.
    latitude: float
    longitude: float


def plan_collection(settings: Settings) -> list[PlannedPicture]:
    """Plan every picture of a collection; return them in the order of their numbers, which run from 1 without gaps."""
    rng = np.random.default_rng([settings.seed, _PLAN_STREAM])
    types = [kind for kind in settings.types for _ in range(settings.pictures_per_plant_and_type)]
    total = settings.n_species * settings.plants_per_species * len(types)
    numbers = iter((rng.permutation(total) + 1).tolist())
    pictures = []
    for species in range(settings.n_species):
        # Every species has several authors, as far as it has several plants.
        authors = rng.permutation(len(AUTHORS))
        for order in range(settings.plants_per_species):
            author = int(authors[order % len(authors)])
            latitude, longitude = (round(float(rng.normal(degrees, 0.02)), 6) for degrees in AUTHORS[author][3:5])
            year, month, day = (int(rng.integers(*bounds)) for bounds in ((2009, 2012), (5, 12), (1, 29)))
            for kind in types:
                pictures.append(
                    PlannedPicture(
                        number=next(numbers),
                        part="test" if order >= settings.plants_per_species - settings.test_plants else "train",
                        species=species,
                        plant=species * settings.plants_per_species + order + 1,
                        type=kind,
                        author=author,
                        taken=datetime(year, month, day, int(rng.integers(8, 20)), int(rng.integers(60))),
                        autumn=_draw_autumn(kind, month, species, rng),
                        latitude=latitude,
                        longitude=longitude,
                    )
                )
    return sorted(pictures, key=lambda picture: picture.number)


def _draw_autumn(kind: AcquisitionType, month: int, species: int, rng: np.random.Generator) -> float:
    chance, colour = float(rng.random()), float(rng.uniform(0.3, 1.0))
    if month < 10 or SPECIES[species].autumn is None:
        return 0.0
    # Few people scan a dead leaf.
    if month == 11 and chance < 0.4 and kind is not AcquisitionType.SCAN:
        return 1.8
    return colour if chance < 0.5 else 0.0


def _check_range(what: str, number: int, least: int, most: int) -> None:
    if not least <= number <= most:
        raise UsageError(f"{what}: expected a number from {least} to {most}, found {number}")
