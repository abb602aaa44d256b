"""The texts of a drawn collection in the layout of the ImageCLEF 2011 plant task package."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from xml.sax.saxutils import escape

from leafid.collection.picture import AcquisitionType
from leafid.synthetic.catalogue import SPECIES
from leafid.synthetic.plan import PlannedPicture

CONTENTS = {"leaf": "Leaf", "foliage": "Foliage", "dead leaf": "Dead leaf"}


def picture_xml(picture: PlannedPicture, content: str, partial: bool = False) -> str:
    """Write a picture's metadata.

    Parameters
    ----------
    picture : PlannedPicture
    content : {"leaf", "foliage", "dead leaf"}
    partial : bool, default False
        Leave out what a test picture must not tell: plant, taxon, vernacular names.

    Returns
    -------
    str
    """
    species = SPECIES[picture.species]
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', "<Image>"]
    lines += _elements(
        2,
        ("FileName", f"{picture.number}.jpg"),
        ("Date", _date(picture)),
        ("Type", picture.type.imageclef_word),
        ("Organization", picture.organization),
        ("Author", picture.author_name),
    )
    if not partial:
        narrow_to_wide = species.clades[::-1]
        lines += _elements(2, ("IndividualPlantId", str(picture.plant)))
        lines.append("  <Taxon>")
        lines += _elements(
            4,
            ("Clade3", narrow_to_wide[2]),
            ("Clade2", narrow_to_wide[1]),
            ("Clade1", narrow_to_wide[0]),
            ("Regnum", "Plantae"),
            ("Order", species.order),
            ("Family", species.family),
            ("Species", species.epithet),
            ("Genus", species.genus),
        )
        lines.append("  </Taxon>")
        lines += _elements(2, ("VernacularNames", species.vernacular))
    lines += _elements(2, ("Locality", picture.locality), ("Content", CONTENTS[content]))
    lines.append("  <GPSLocality>")
    lines += _elements(
        4,
        ("Longitude", f"{picture.longitude}"),
        ("Latitude", f"{picture.latitude}"),
        ("Altitude", f"{picture.altitude}"),
    )
    lines += ["  </GPSLocality>", "</Image>", "", ""]
    return "\n".join(lines)


def ground_truth(pictures: Iterable[PlannedPicture], n_species: int) -> str:
    """Write ``…GroundTruth.txt``: a species a line, with its pictures; a species without any keeps its line."""
    of_species: dict[int, list[int]] = defaultdict(list)
    for picture in pictures:
        of_species[picture.species].append(picture.number)
    lines = []
    for species in range(n_species):
        names = "".join(f"{number}.jpg " for number in sorted(of_species[species]))
        lines.append(f"{SPECIES[species].name} {names}\n")
    return "".join(lines)


def species_list(n_species: int) -> str:
    """Write ``SpeciesIDList``: a name a line."""
    return "".join(f"{species.name}\n" for species in SPECIES[:n_species])


def detail(pictures: Sequence[PlannedPicture], n_species: int) -> str:
    """Write ``Detail.txt``: how many plants of each species are in train and test."""
    plants: dict[tuple[int, str], set[int]] = defaultdict(set)
    for picture in pictures:
        plants[picture.species, picture.part].add(picture.plant)
    lines = ['"Genus species"    "individual-plants train"  "individual-plants test"  "individual-plants total"\n']
    for species in range(n_species):
        train, test = len(plants[species, "train"]), len(plants[species, "test"])
        lines.append(f"{SPECIES[species].name}    {train} {test}  {train + test}\n")
    return "".join(lines)


def _date(picture: PlannedPicture) -> str:
    day = f"{picture.day:02d}/{picture.month:02d}/{picture.year % 100:02d}"
    # A scanner's files know the day only.
    if picture.type is AcquisitionType.SCAN:
        return day
    return f"{day} {picture.hour:02d}:{picture.minute:02d}"


def _elements(indent: int, *pairs: tuple[str, str]) -> list[str]:
    return [f"{' ' * indent}<{name}>{escape(text)}</{name}>" for name, text in pairs]
