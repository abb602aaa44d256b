"""Reads the ImageCLEF plant packages of 2011, 2012 and 2013: pictures with an XML file each.

The years differ in their fields; a file is read by the fields that it has.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeVar

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
    contents = _PackageContents()
    sections = list(_find_sections(path))
    folders.refuse_repeated_parts(folder for folder, _ in sections)
    for folder, part in sections:
        if folder.name.lower() == _GROUND_TRUTH:
            contents.add_xml_folder(folder, _find_sibling(folder, "test") or folder, part)
        else:
            contents.add_folder(folder, part)
    expected = "in folders with XML files, or in folders called Train and Test"
    if sections:
        expected = f"directly in {', '.join(folder.name or str(folder) for folder, _ in sections)}"
    used = frozenset(folder for folder, _ in sections)
    return Collection(path, LAYOUT, contents.sort_pictures(), tuple(contents.problems), used, expected)


def read_picture(xml: Path, folder: Path | None = None, part: str | None = None) -> tuple[Picture, list[str]]:
    """Read an XML file; also return the problems of optional fields, which are ignored.

    The picture is in `folder`, by default that of the XML file. A picture of the part ``train`` must have a species. A
    `LeafidError` is raised if the file is not valid XML, or a required field is missing or wrong.
    """
    record = _XmlRecord(xml)
    with record.naming_field("FileName"):
        if "FileName" not in record.fields:
            raise LeafidError("expected the name of the picture file, found nothing")
        file = safe_join(folder or xml.parent, record.fields["FileName"])
    with record.naming_field("Type"):
        type_ = AcquisitionType.parse(record.fields["Type"]) if "Type" in record.fields else None
    taxon = record.read_taxon()
    if taxon is None and part == "train":
        raise LeafidError(f"{xml}: Taxon: expected a Genus and a Species (or a ClassId), found neither")
    content, date = (
        record.parse_optional("Content", names.parse_content),
        record.parse_optional("Date", names.parse_date),
    )
    place = Place(
        record.fields.get("Locality"),
        record.parse_optional("Latitude", partial(names.parse_bounded_number, limit=90)),
        record.parse_optional("Longitude", partial(names.parse_bounded_number, limit=180)),
        record.parse_optional("Altitude", partial(names.parse_bounded_number, limit=10_000)),
    )
    vernacular_names = (name.strip() for name in record.fields.get("VernacularNames", "").split(","))
    picture = Picture(
        file,
        type_,
        content=content,
        taxon=taxon,
        plant=record.fields.get("IndividualPlantId"),
        author=record.fields.get("Author"),
        organization=record.fields.get("Organization"),
        date=date,
        place=place if place != Place() else None,
        vernacular_names=tuple(name for name in vernacular_names if name),
        part=part,
    )
    return picture, record.problems


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


@dataclass
class _PackageContents:
    """The pictures of a package by their file, and the problems found."""

    pictures: dict[Path, Picture] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def add_folder(self, folder: Path, part: str | None) -> None:
        """Add the pictures of a folder with XML, and those without XML, which only a training set can't use."""
        stems = self.add_xml_folder(folder, folder, part)
        for file in folders.list_pictures(folder):
            # A picture with unusable XML is among the problems already.
            if file in self.pictures or file.stem in stems:
                continue
            if part == "train":
                self.problems.append(
                    Omission(f"{file}: expected {file.stem}.xml beside it, found none; the picture is left out")
                )
            else:
                self.pictures[file] = Picture(file, part=part)

    def add_xml_folder(self, xml_folder: Path, picture_folder: Path, part: str | None) -> set[str]:
        """Add or replace the pictures that a folder of XML describes, and return the stems of the XML files."""
        xml_by_picture: dict[Path, Path] = {}
        xml_files = folders.list_files(xml_folder, {".xml"})
        for xml in xml_files:
            try:
                picture, problems = read_picture(xml, picture_folder, part)
            except LeafidError as error:
                self.problems.append(XmlOmission(f"{error}; the picture is left out"))
                continue
            self.problems += problems
            first = xml_by_picture.setdefault(picture.file, xml)
            if first == xml:
                self.pictures[picture.file] = picture
            else:
                found = f"{picture.name} of {first.name}"
                message = f"{xml}: FileName: expected a picture of its own, found {found}; the file is left out"
                self.problems.append(XmlOmission(message))
        return {xml.stem for xml in xml_files}

    def sort_pictures(self) -> tuple[Picture, ...]:
        parts = ("train", "val", "test", None)
        by_name = sorted(self.pictures.values(), key=lambda picture: names.natural_sort_key(picture.name))
        return tuple(sorted(by_name, key=lambda picture: parts.index(picture.part)))


class _XmlRecord:
    """The fields of an XML file; `problems` collects optional fields that are ignored."""

    def __init__(self, xml: Path) -> None:
        root = read_xml(xml)
        if root.tag != "Image":
            raise LeafidError(f"{xml}: expected the root element <Image>, found <{root.tag}>")
        self.xml = xml
        self.problems: list[str] = []
        self.fields: dict[str, str] = {}
        # The years nest elements differently; the first element of a name counts.
        for element in root.iter():
            text = " ".join((element.text or "").split())
            if text:
                self.fields.setdefault(element.tag, text)

    @contextmanager
    def naming_field(self, tag: str) -> Iterator[None]:
        """Prefix errors with the file and the field."""
        try:
            yield
        except LeafidError as error:
            raise LeafidError(f"{self.xml}: {tag}: {error}") from None

    def parse_optional(self, tag: str, parse: Callable[[str], Value]) -> Value | None:
        """Parse a field; ignore it with a problem if it is wrong."""
        try:
            return parse(self.fields[tag]) if tag in self.fields else None
        except LeafidError as error:
            self.problems.append(f"{self.xml}: {tag}: {error}; the field is ignored")
            return None

    def read_taxon(self) -> Taxon | None:
        label = self._read_label()
        if label is None:
            return None
        with self.naming_field("Species"):
            species = names.parse_species_name(label)
        # An author's name may follow that of the family or the order.
        family, order = self._read_higher_taxon("Family"), self._read_higher_taxon("Order")
        return Taxon(species, names.parse_genus(species), family, order, full_name=label)

    def _read_higher_taxon(self, rank: str) -> str | None:
        with self.naming_field(rank):
            return names.check_printable(self.fields[rank].split()[0]) if rank in self.fields else None

    def _read_label(self) -> str | None:
        """Return the species name, which an author's name may follow."""
        if "ClassId" in self.fields:
            return self.fields["ClassId"]
        genus, species = self.fields.get("Genus"), self.fields.get("Species")
        if genus is None and species is None:
            return None
        if genus is None or species is None:
            missing, found = ("Genus", species) if genus is None else ("Species", genus)
            raise LeafidError(f"{self.xml}: {missing}: expected a Genus and a Species, found only {found!r}")
        # Species holds the full name in 2012, and only the epithet in 2011.
        genus = names.parse_genus(genus)
        return species if names.parse_genus(species) == genus else f"{genus} {species}"
