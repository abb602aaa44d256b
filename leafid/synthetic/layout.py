"""The texts of a drawn collection in the layout of the ImageCLEF 2011 plant task package."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from xml.sax.saxutils import escape

from leafid.pictures.picture import AcquisitionType, Content
from leafid.synthetic.plan import AUTHORS, PlannedPicture
from leafid.synthetic.species import SPECIES

Fields = dict[str, str | Mapping[str, Any]]
_CONTENTS = {Content.LEAF: "Leaf", Content.FOLIAGE: "Foliage", Content.DEAD_LEAF: "Dead leaf"}


def format_picture_xml(picture: PlannedPicture, content: Content, *, is_partial: bool = False) -> str:
    """Format the metadata of a picture; without plant, taxon and vernacular names if partial, as for a test picture."""
    species, author = SPECIES[picture.species], AUTHORS[picture.author]
    # The files of a scanner hold the day only.
    time_format = "%d/%m/%y" if picture.type is AcquisitionType.SCAN else "%d/%m/%y %H:%M"
    label: Fields = {
        "IndividualPlantId": str(picture.plant),
        "Taxon": {
            **dict(zip(("Clade3", "Clade2", "Clade1"), species.clades, strict=True)),
            "Regnum": "Plantae",
            "Order": species.order,
            "Family": species.family,
            "Species": species.epithet,
            "Genus": species.genus,
        },
        "VernacularNames": species.vernacular,
    }
    fields: Fields = {
        "FileName": f"{picture.number}.jpg",
        "Date": picture.taken.strftime(time_format),
        "Type": picture.type.imageclef_word,
        "Organization": author.organization,
        "Author": author.name,
        **({} if is_partial else label),
        "Locality": author.locality,
        "Content": _CONTENTS[content],
        "GPSLocality": {
            "Longitude": str(picture.longitude),
            "Latitude": str(picture.latitude),
            "Altitude": str(author.altitude),
        },
    }
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{_format_element("Image", fields)}\n'


def format_ground_truth(pictures: Iterable[PlannedPicture], n_species: int) -> str:
    """Format ``…GroundTruth.txt``: a species a line, with its pictures, if any."""
    names: list[list[str]] = [[] for _ in range(n_species)]
    for picture in pictures:
        names[picture.species].append(f"{picture.number}.jpg ")
    return "".join(f"{SPECIES[index].name} {''.join(of_species)}\n" for index, of_species in enumerate(names))


def format_detail(pictures: Sequence[PlannedPicture], n_species: int) -> str:
    """Format ``Detail.txt``: the numbers of plants of each species in train and test."""
    lines = ['"Genus species"    "individual-plants train"  "individual-plants test"  "individual-plants total"\n']
    plants = {(picture.species, picture.part, picture.plant) for picture in pictures}
    for index, species in enumerate(SPECIES[:n_species]):
        train, test = (sum(key[:2] == (index, part) for key in plants) for part in ("train", "test"))
        lines.append(f"{species.name}    {train} {test}  {train + test}\n")
    return "".join(lines)


def _format_element(name: str, content: str | Mapping[str, Any], indent: str = "") -> str:
    if isinstance(content, str):
        return f"{indent}<{name}>{escape(content)}</{name}>\n"
    children = "".join(_format_element(*child, f"{indent}  ") for child in content.items())
    return f"{indent}<{name}>\n{children}{indent}</{name}>\n"
