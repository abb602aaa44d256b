"""Reads the ImageCLEF plant packages of 2011, 2012 and 2013: pictures with an XML file each.

The years differ in their fields; a file is read by the fields that it has.
"""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from leafid.errors import LeafidError
from leafid.files import safe_join
from leafid.pictures import names
from leafid.pictures.collection import Collection, Omission, XmlOmission
from leafid.pictures.picture import AcquisitionType, Picture, Place, Taxon
from leafid.pictures.readers import folders
from leafid.textfiles import read_xml

LAYOUT = "imageclef"
_GROUND_TRUTH = "testxmlwithgroundtruth"
Value = TypeVar("Value")
#: Fields that are ignored with a problem if they are wrong, and the functions that parse them.
_OPTIONAL_FIELDS: dict[str, Callable[[str], object]] = {
    "Content": names.parse_content,
    "Date": names.parse_date,
    "Latitude": partial(names.parse_bounded_number, limit=90),
    "Longitude": partial(names.parse_bounded_number, limit=180),
    "Altitude": partial(names.parse_bounded_number, limit=10_000),
}


def detect(path: Path) -> bool:
    """Tell whether a path is an XML file, a folder with XML files, or a package of such folders."""
    if not path.is_dir():
        return path.suffix.lower() == ".xml"
    return any(folders.has_file(folder, {".xml"}) for folder, _ in _find_sections(path))


def read(path: Path) -> Collection:
    """Read a package, one of its folders, any folder of ``N.jpg`` and ``N.xml``, or a folder of XML alone.

    In a package, ``TestXmlWithGroundTruth`` describes the pictures of ``Test``. XML without its picture is listed with
    the path where the picture would be.
    """
    if path.is_file():
        picture, problems = read_picture(path)
        return Collection(path, LAYOUT, (picture,), tuple(problems))
    sections = list(_find_sections(path))
    folders.refuse_repeated_parts(folder for folder, _ in sections)
    pictures: dict[Path, Picture] = {}
    problems = []
    for folder, part in sections:
        is_ground_truth = folder.name.lower() == _GROUND_TRUTH
        picture_folder = (_find_sibling(folder, "test") or folder) if is_ground_truth else folder
        found, more = _read_folder(folder, picture_folder, part)
        pictures |= found
        problems += more
    expected = "in folders with XML files, or in folders called Train and Test"
    if sections:
        expected = f"directly in {', '.join(folder.name or str(folder) for folder, _ in sections)}"
    used = frozenset(folder for folder, _ in sections)
    parts = ("train", "val", "test", None)
    by_name = sorted(pictures.values(), key=lambda picture: names.natural_sort_key(picture.name))
    by_part = sorted(by_name, key=lambda picture: parts.index(picture.part))
    return Collection(path, LAYOUT, tuple(by_part), tuple(problems), used, expected)


def _read_folder(xml_folder: Path, folder: Path, part: str | None) -> tuple[dict[Path, Picture], list[str]]:
    """Read the pictures that a folder of XML describes by their files, and problems.

    Where XML and pictures share the folder, pictures without XML are listed, too, which only a training set can't use.
    """
    pictures: dict[Path, Picture] = {}
    problems: list[str] = []
    first: dict[Path, Path] = {}
    xml_files = folders.list_files(xml_folder, {".xml"})
    for xml in xml_files:
        try:
            picture, more = read_picture(xml, folder, part)
        except LeafidError as error:
            problems.append(XmlOmission(f"{error}; the picture is left out"))
            continue
        problems += more
        if first.setdefault(picture.file, xml) == xml:
            pictures[picture.file] = picture
        else:
            found = f"{picture.name} of {first[picture.file].name}"
            message = f"{xml}: FileName: expected a picture of its own, found {found}; the file is left out"
            problems.append(XmlOmission(message))
    # A picture with unusable XML is among the problems already.
    stems = {xml.stem for xml in xml_files}
    for file in folders.list_pictures(folder) if folder == xml_folder else ():
        if file in pictures or file.stem in stems:
            continue
        if part == "train":
            problems.append(
                Omission(f"{file}: expected {file.stem}.xml beside it, found none; the picture is left out")
            )
        else:
            pictures[file] = Picture(file, part=part)
    return pictures, problems


def read_picture(xml: Path, folder: Path | None = None, part: str | None = None) -> tuple[Picture, list[str]]:
    """Read an XML file; also return the problems of optional fields, which are ignored.

    The picture is in `folder`, by default that of the XML file. A picture of the part ``train`` must have a species. A
    `LeafidError` is raised if the file is not valid XML, or a required field is missing or wrong.
    """
    fields = _read_fields(xml)
    if "FileName" not in fields:
        raise LeafidError(f"{xml}: FileName: expected the name of the picture file, found nothing")
    file = _parse_field(xml, "FileName", fields["FileName"], partial(safe_join, folder or xml.parent))
    type_ = _parse_field(xml, "Type", fields["Type"], AcquisitionType.parse) if "Type" in fields else None
    taxon = _read_taxon(xml, fields)
    if taxon is None and part == "train":
        raise LeafidError(f"{xml}: Taxon: expected a Genus and a Species (or a ClassId), found neither")
    values: dict[str, Any] = {}
    problems: list[str] = []
    for tag in _OPTIONAL_FIELDS.keys() & fields.keys():
        try:
            values[tag] = _parse_field(xml, tag, fields[tag], _OPTIONAL_FIELDS[tag])
        except LeafidError as error:
            problems.append(f"{error}; the field is ignored")
    place = Place(fields.get("Locality"), *map(values.get, ("Latitude", "Longitude", "Altitude")))
    vernacular_names = (name.strip() for name in fields.get("VernacularNames", "").split(","))
    picture = Picture(
        file,
        type_,
        content=values.get("Content"),
        taxon=taxon,
        plant=fields.get("IndividualPlantId"),
        author=fields.get("Author"),
        organization=fields.get("Organization"),
        date=values.get("Date"),
        place=place if place != Place() else None,
        vernacular_names=tuple(name for name in vernacular_names if name),
        part=part,
    )
    return picture, sorted(problems)


def _find_sections(path: Path) -> Iterator[tuple[Path, str | None]]:
    """Yield the folders that hold pictures or XML, each with its part."""
    if not path.is_dir():
        return
    if folders.has_file(path, {".xml"}):
        yield path, "test" if path.resolve().name.lower() == _GROUND_TRUTH else folders.parse_part(path)
        return
    # The original package keeps everything in data/.
    data = (folder for folder in folders.list_folders(path) if folder.name.lower() == "data")
    root = next((folder for folder in data if folders.find_part_folders(folder)), path)
    for part, folder in folders.find_part_folders(root):
        yield folder, part
    ground_truth = _find_sibling(root / "any", _GROUND_TRUTH)
    if ground_truth is not None:
        yield ground_truth, "test"


def _find_sibling(folder: Path, name: str) -> Path | None:
    # Resolved only if necessary, as the path of a picture has to stay relative if the collection's is.
    parent = folder.parent if folder.name not in {"", ".."} else folder.resolve().parent
    return next((sibling for sibling in folders.list_folders(parent) if sibling.name.lower() == name), None)


def _read_fields(xml: Path) -> dict[str, str]:
    """Read the texts of an XML file by the names of their elements."""
    root = read_xml(xml)
    if root.tag != "Image":
        raise LeafidError(f"{xml}: expected the root element <Image>, found <{root.tag}>")
    fields: dict[str, str] = {}
    # The years nest elements differently; the first element of a name counts.
    for element in root.iter():
        text = " ".join((element.text or "").split())
        if text:
            fields.setdefault(element.tag, text)
    return fields


def _parse_field(xml: Path, tag: str, text: str, parse: Callable[[str], Value]) -> Value:
    """Parse a field, and prefix an error with the file and the field."""
    try:
        return parse(text)
    except LeafidError as error:
        raise LeafidError(f"{xml}: {tag}: {error}") from None


def _read_taxon(xml: Path, fields: dict[str, str]) -> Taxon | None:
    label = _read_label(xml, fields)
    if label is None:
        return None
    species = _parse_field(xml, "Species", label, names.parse_species_name)
    # An author's name may follow that of the family or the order.
    family, order = (
        _parse_field(xml, rank, fields[rank].split()[0], names.check_printable) if rank in fields else None
        for rank in ("Family", "Order")
    )
    return Taxon(species, names.parse_genus(species), family, order, full_name=label)


def _read_label(xml: Path, fields: dict[str, str]) -> str | None:
    """Return the species name, which an author's name may follow."""
    if "ClassId" in fields:
        return fields["ClassId"]
    genus, species = fields.get("Genus"), fields.get("Species")
    if genus is None and species is None:
        return None
    if genus is None or species is None:
        missing, found = ("Genus", species) if genus is None else ("Species", genus)
        raise LeafidError(f"{xml}: {missing}: expected a Genus and a Species, found only {found!r}")
    # Species holds the full name in 2012, and only the epithet in 2011.
    genus = names.parse_genus(genus)
    return species if names.parse_genus(species) == genus else f"{genus} {species}"
