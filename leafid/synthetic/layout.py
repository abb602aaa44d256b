"""The texts of a drawn collection in the layout of the ImageCLEF 2011 plant task package."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from xml.sax.saxutils import escape

from leafid.collection.picture import AcquisitionType, Content
from leafid.synthetic.plan import AUTHORS, PlannedPicture
from leafid.synthetic.species import SPECIES

_CONTENTS = {Content.LEAF: "Leaf", Content.FOLIAGE: "Foliage", Content.DEAD_LEAF: "Dead leaf"}


def format_picture_xml(picture: PlannedPicture, content: Content, *, is_partial: bool = False) -> str:
    """Format the metadata of a picture; without plant, taxon and vernacular names if partial, as for a test picture."""
    species, author = SPECIES[picture.species], AUTHORS[picture.author]
    # The files of a scanner hold the day only.
    time_format = "%d/%m/%y" if picture.type is AcquisitionType.SCAN else "%d/%m/%y %H:%M"
    clade1, clade2, clade3 = species.clades[::-1]
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        "<Image>",
        _format_element("FileName", f"{picture.number}.jpg"),
        _format_element("Date", picture.taken.strftime(time_format)),
        _format_element("Type", picture.type.imageclef_word),
        _format_element("Organization", author.organization),
        _format_element("Author", author.name),
    ]
    if not is_partial:
        taxon = {
            "Clade3": clade3,
            "Clade2": clade2,
            "Clade1": clade1,
            "Regnum": "Plantae",
            "Order": species.order,
            "Family": species.family,
            "Species": species.epithet,
            "Genus": species.genus,
        }
        lines += [
            _format_element("IndividualPlantId", str(picture.plant)),
            *_format_group("Taxon", taxon),
            _format_element("VernacularNames", species.vernacular),
        ]
    coordinates = (picture.longitude, picture.latitude, author.altitude)
    lines += [
        _format_element("Locality", author.locality),
        _format_element("Content", _CONTENTS[content]),
        *_format_group(
            "GPSLocality", dict(zip(("Longitude", "Latitude", "Altitude"), map(str, coordinates), strict=True))
        ),
        "</Image>",
        "",
        "",
    ]
    return "\n".join(lines)


def format_ground_truth(pictures: Iterable[PlannedPicture], n_species: int) -> str:
    """Format ``…GroundTruth.txt``: a species a line, with its pictures, if any."""
    names: list[list[str]] = [[] for _ in range(n_species)]
    for picture in pictures:
        names[picture.species].append(f"{picture.number}.jpg ")
    return "".join(f"{SPECIES[index].name} {''.join(of_species)}\n" for index, of_species in enumerate(names))


def format_species_list(n_species: int) -> str:
    """Format ``SpeciesIDList``: a name a line."""
    return "".join(f"{species.name}\n" for species in SPECIES[:n_species])


def format_detail(pictures: Sequence[PlannedPicture], n_species: int) -> str:
    """Format ``Detail.txt``: the numbers of plants of each species in train and test."""
    lines = ['"Genus species"    "individual-plants train"  "individual-plants test"  "individual-plants total"\n']
    plants = {(picture.species, picture.part, picture.plant) for picture in pictures}
    for index, species in enumerate(SPECIES[:n_species]):
        train, test = (sum(key[:2] == (index, part) for key in plants) for part in ("train", "test"))
        lines.append(f"{species.name}    {train} {test}  {train + test}\n")
    return "".join(lines)


def _format_element(name: str, text: str) -> str:
    return f"  <{name}>{escape(text)}</{name}>"


def _format_group(name: str, elements: dict[str, str]) -> list[str]:
    return [f"  <{name}>", *(f"  {_format_element(*element)}" for element in elements.items()), f"  </{name}>"]
