"""Reads the ImageCLEF plant packages of 2011, 2012 and 2013: pictures with an XML file each.

The years differ in their fields; a file is read by the fields that it has.
"""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from leafid.errors import LeafidError
from leafid.files import safe_join
from leafid.pictures import names
from leafid.pictures.picture import AcquisitionType, Picture, Taxon, XmlOmission
from leafid.pictures.readers import folders
from leafid.textfiles import read_xml

LAYOUT = "imageclef"
_GROUND_TRUTH = "testxmlwithgroundtruth"
_PARTS = ("train", "val", "test", None)
_XML = {".xml"}


def detect(path: Path) -> bool:
    """Tell whether a path is a folder with XML files, or a package of such folders."""
    return path.is_dir() and any(
        folders.list_files(folder, _XML) for folder, _, _ in _find_sections(path)
    )


def read(path: Path) -> tuple[list[Picture], list[str]]:
    """Read a package, one of its folders, any folder of ``N.jpg`` and ``N.xml``, or a folder of XML alone.

    In a package, ``TestXmlWithGroundTruth`` describes the pictures of ``Test``. XML without its picture is listed with
    the path where the picture would be, and pictures without XML are listed without metadata.
    """
    pictures: dict[Path, Picture] = {}
    problems: list[str] = []
    for folder, picture_folder, part in _find_sections(path):
        described: dict[Path, str] = {}
        xml_files = folders.list_files(folder, _XML)
        for xml in xml_files:
            try:
                picture, more = read_picture(xml, picture_folder, part)
                if first := described.get(picture.file):
                    raise LeafidError(
                        f"{xml}: FileName: expected another one than in {first}, found {picture.name}"
                    )
            except LeafidError as error:
                problems.append(XmlOmission(f"{error}; the picture is left out"))
                continue
            problems += more
            described[picture.file] = xml.name
            pictures[picture.file] = picture
        # A picture with unusable XML is among the problems already.
        stems = {xml.stem for xml in xml_files}
        for file in folders.list_files(folder) if folder == picture_folder else ():
            if file.stem not in stems:
                pictures.setdefault(file, Picture(file, part=part))

    def get_order(picture: Picture) -> tuple[Any, ...]:
        return _PARTS.index(picture.part), names.natural_sort_key(picture.name)

    return sorted(pictures.values(), key=get_order), problems


def _find_sections(path: Path) -> list[tuple[Path, Path, str | None]]:
    """Find the folders of XML, each with the folder of the pictures that it describes, and their part."""
    if folders.list_files(path, _XML):
        if path.resolve().name.lower() != _GROUND_TRUTH:
            return [(path, path, folders.parse_part(path.resolve().name))]
        package = Path(os.path.normpath(path / ".."))
        return [
            section
            for section in _find_sections(package)
            if section[0].name.lower() == _GROUND_TRUTH
        ]
    sections = [
        (folder, folder, part)
        for part, folder in folders.find_sections(path)
        if folder != path
    ]
    # The original package keeps everything in data/.
    root = next((folder.parent for folder, _, _ in sections), path)
    test = next((folder for folder, _, part in sections if part == "test"), None)
    truths = [
        folder
        for folder in folders.list_folders(root)
        if folder.name.lower() == _GROUND_TRUTH
    ]
    return [*sections, *((folder, test or folder, "test") for folder in truths)]


def read_picture(
    xml: Path, folder: Path, part: str | None
) -> tuple[Picture, list[str]]:
    """Read the XML file of a picture in a folder; also return the problems of optional fields, which are ignored.

    A `LeafidError` is raised if the file is not valid XML, or a required field is missing or wrong.
    """
    fields = _read_fields(xml)
    try:
        file = _parse(partial(safe_join, folder), fields, "FileName")
        type_ = (
            _parse(AcquisitionType.parse, fields, "Type") if "Type" in fields else None
        )
        taxon = _parse_taxon(fields)
    except LeafidError as error:
        raise LeafidError(f"{xml}: {error}") from None
    problems = []

    def parse_optional(parse: Callable[..., Any], *tags: str) -> Any:
        try:
            return _parse(parse, fields, *tags) if fields.keys() >= set(tags) else None
        except LeafidError as error:
            problems.append(f"{xml}: {error}; it is ignored")

    vernacular_names = (
        name.strip() for name in fields.get("VernacularNames", "").split(",")
    )
    picture = Picture(
        file,
        type_,
        taxon=taxon,
        plant=fields.get("IndividualPlantId"),
        author=fields.get("Author"),
        date=parse_optional(names.parse_date, "Date"),
        coordinates=parse_optional(names.parse_coordinates, "Latitude", "Longitude"),
        vernacular_names=tuple(name for name in vernacular_names if name),
        part=part,
    )
    return picture, problems


def _read_fields(xml: Path) -> dict[str, str]:
    """Read the texts of an XML file by the names of their elements."""
    root = read_xml(xml)
    if root.tag != "Image":
        raise LeafidError(
            f"{xml}: expected the root element <Image>, found <{root.tag}>"
        )
    fields: dict[str, str] = {}
    # The years nest elements differently; the first element of a name counts.
    for element in root.iter():
        text = " ".join((element.text or "").split())
        if text:
            fields.setdefault(element.tag, text)
    return fields


def _parse(parse: Callable[..., Any], fields: dict[str, str], *tags: str) -> Any:
    """Parse the texts of fields, and prefix an error with their names."""
    try:
        return parse(*(fields.get(tag, "") for tag in tags))
    except LeafidError as error:
        raise LeafidError(f"{', '.join(tags)}: {error}") from None


def _parse_taxon(fields: dict[str, str]) -> Taxon | None:
    # An author's name may follow each name.
    label = fields.get("ClassId")
    if label is None:
        if "Genus" not in fields and "Species" not in fields:
            return None
        if "Genus" not in fields or "Species" not in fields:
            raise LeafidError(
                "Taxon: expected a Genus and a Species, found only one of them"
            )
        # Species holds the full name in 2012, and only the epithet in 2011.
        genus, species = names.parse_genus(fields["Genus"]), fields["Species"]
        label = species if names.parse_genus(species) == genus else f"{genus} {species}"
    name = _parse(names.parse_species_name, {"Species": label}, "Species")
    family, order = (
        names.check_printable(fields[rank].split()[0]) if rank in fields else None
        for rank in ("Family", "Order")
    )
    return Taxon(name, names.parse_genus(name), family, order, full_name=label)
