"""Reads the ImageCLEF plant packages of 2011, 2012 and 2013: pictures with an XML file each.

The years differ in their fields; what a file means is told by the fields that it has.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from leafid.collection import names
from leafid.collection.collection import Collection, Omission
from leafid.collection.folders import (
    find_part_folders,
    has_file,
    list_files,
    list_folders,
    list_pictures,
    parse_part,
    refuse_repeated_parts,
    report_omissions,
)
from leafid.collection.picture import AcquisitionType, Content, Picture, Place, Taxon
from leafid.errors import LeafidError
from leafid.files import safe_join
from leafid.xmlfiles import read_xml

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

LAYOUT = "imageclef"
_GROUND_TRUTH = "testxmlwithgroundtruth"


def detect(path: Path) -> bool:
    """Tell whether a path is an XML file, a folder with XML files, or a package of such folders."""
    if not path.is_dir():
        return path.suffix.lower() == ".xml"
    return any(has_file(folder, {".xml"}) for folder, _ in _sections(path))


def read(path: Path) -> Collection:
    """Read a package, one of its folders, any folder of ``N.jpg`` and ``N.xml``, or a folder of XML alone.

    In a package, the pictures of ``Test`` get what ``TestXmlWithGroundTruth`` tells of them. Where XML stands without
    its picture, the picture is listed with the path where it would be.
    """
    found = _Found()
    if path.is_file():
        picture, problems = read_picture(path)
        return Collection(path, LAYOUT, (picture,), tuple(problems))
    sections = list(_sections(path))
    refuse_repeated_parts(folder for folder, _ in sections)
    for folder, part in sections:
        if folder.name.lower() == _GROUND_TRUTH:
            found.add_described(folder, _sibling(folder, "test") or folder, part)
        else:
            found.add_folder(folder, part)
    named = ", ".join(folder.name or str(folder) for folder, _ in sections)
    expected = f"directly in {named}" if sections else "in folders with XML files, or in folders called Train and Test"
    found.problems += report_omissions(path, {folder for folder, _ in sections}, expected)
    return Collection(path, LAYOUT, found.ordered(), tuple(found.problems))


def read_picture(xml: Path, folder: Path | None = None, part: str | None = None) -> tuple[Picture, list[str]]:
    """Read one XML file.

    Parameters
    ----------
    xml : Path
    folder : Path, optional
        Where the picture is; by default beside the XML.
    part : str, optional
        A picture of ``train`` must have a species.

    Returns
    -------
    picture : Picture
    problems : list of str
        Fields that were not understood and are left unknown.

    Raises
    ------
    LeafidError
        When the XML or a field that can't be missed is missing or wrong.
    """
    fields = _fields(xml, read_xml(xml))
    reader = _FieldReader(xml, fields)
    picture = Picture(
        file=reader.file(folder or xml.parent),
        type=reader.type(),
        content=reader.content(),
        taxon=reader.taxon(required=part == "train"),
        plant=fields.get("IndividualPlantId"),
        author=fields.get("Author"),
        organization=fields.get("Organization"),
        date=reader.date(),
        place=reader.place(),
        vernacular_names=tuple(name.strip() for name in fields.get("VernacularNames", "").split(",") if name.strip()),
        part=part,
    )
    return picture, reader.problems


def _sections(path: Path) -> Iterator[tuple[Path, str | None]]:
    """Yield the folders that hold pictures or XML, with their part."""
    if not path.is_dir():
        return
    if has_file(path, {".xml"}):
        part = "test" if path.resolve().name.lower() == _GROUND_TRUTH else parse_part(path)
        yield path, part
        return
    # The original package keeps everything in data/.
    root = next((sub for sub in list_folders(path) if sub.name.lower() == "data" and find_part_folders(sub)), path)
    for part, folder in find_part_folders(root):
        yield folder, part
    truth = _sibling(root / "any", _GROUND_TRUTH)
    if truth is not None:
        yield truth, "test"


def _sibling(folder: Path, name: str) -> Path | None:
    # Resolved only where the name says nothing: a picture must have one path, relative if the collection's is.
    parent = folder.parent if folder.name not in {"", ".."} else folder.resolve().parent
    return next((sub for sub in list_folders(parent) if sub.name.lower() == name), None)


@dataclass
class _Found:
    """Pictures by their file, as they are found."""

    pictures: dict[Path, Picture] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def add_folder(self, folder: Path, part: str | None) -> None:
        """Add the pictures of a folder with XML, and those without, which only a training set can't use."""
        stems = self.add_described(folder, folder, part)
        for file in list_pictures(folder):
            # A picture whose XML could not be used has its problem line already.
            if file in self.pictures or file.stem in stems:
                continue
            if part == "train":
                self.problems.append(
                    Omission(f"{file}: expected {file.stem}.xml beside it, found none; the picture is left out")
                )
            else:
                self.pictures[file] = Picture(file, part=part)

    def add_described(self, xml_folder: Path, picture_folder: Path, part: str | None) -> set[str]:
        """Add what a folder of XML describes, in place of what was known before; return the XML files' stems."""
        described: dict[Path, Path] = {}
        xml_files = list_files(xml_folder, {".xml"})
        for xml in xml_files:
            try:
                picture, problems = read_picture(xml, picture_folder, part)
            except LeafidError as error:
                self.problems.append(Omission(f"{error}; the picture is left out"))
                continue
            self.problems += problems
            if picture.file in described:
                other = described[picture.file].name
                self.problems.append(f"{xml}: FileName: expected a picture of its own, found {picture.name} of {other}")
                continue
            described[picture.file] = xml
            self.pictures[picture.file] = picture
        return {xml.stem for xml in xml_files}

    def ordered(self) -> tuple[Picture, ...]:
        parts = ("train", "val", "test", None)
        ordered = sorted(self.pictures.values(), key=lambda picture: names.natural_sort_key(picture.name))
        return tuple(picture for part in parts for picture in ordered if picture.part == part)


def _fields(xml: Path, root: Element) -> dict[str, str]:
    """Collect the text of all elements, at whatever depth a year keeps them; the first of a name counts."""
    if root.tag != "Image":
        raise LeafidError(f"{xml}: expected the root element <Image>, found <{root.tag}>")
    fields: dict[str, str] = {}
    for element in root.iter():
        text = (element.text or "").strip()
        if text and element.tag not in fields:
            fields[element.tag] = " ".join(text.split())
    return fields


class _FieldReader:
    """Reads the fields of one file; `problems` gathers those that can be done without."""

    def __init__(self, xml: Path, fields: dict[str, str]) -> None:
        self.xml = xml
        self.fields = fields
        self.problems: list[str] = []

    def file(self, folder: Path) -> Path:
        name = self.fields.get("FileName")
        if name is None:
            raise LeafidError(f"{self.xml}: FileName: expected the name of the picture file, found nothing")
        try:
            return safe_join(folder, name)
        except LeafidError as error:
            raise LeafidError(f"{self.xml}: FileName: {error}") from None

    def type(self) -> AcquisitionType | None:
        word = self.fields.get("Type")
        try:
            return AcquisitionType.parse(word) if word is not None else None
        except LeafidError as error:
            raise LeafidError(f"{self.xml}: Type: {error}") from None

    def taxon(self, required: bool) -> Taxon | None:
        label = self._label()
        if label is None:
            if required:
                raise LeafidError(f"{self.xml}: Taxon: expected a Genus and a Species (or a ClassId), found neither")
            return None
        try:
            species = names.parse_species_name(label)
        except LeafidError as error:
            raise LeafidError(f"{self.xml}: Species: {error}") from None
        family, order = (names.strip_author(self.fields.get(rank)) for rank in ("Family", "Order"))
        return Taxon(species, names.parse_genus(species), family, order)

    def _label(self) -> str | None:
        """Return the species name, maybe with an author behind it."""
        if "ClassId" in self.fields:
            return self.fields["ClassId"]
        genus, species = self.fields.get("Genus"), self.fields.get("Species")
        if genus is None and species is None:
            return None
        if genus is None or species is None:
            missing, found = ("Genus", species) if genus is None else ("Species", genus)
            raise LeafidError(f"{self.xml}: {missing}: expected one, found only {found!r}")
        # 2012 writes the genus into both fields, 2011 only the epithet into Species.
        genus = names.parse_genus(genus)
        return species if names.parse_genus(species) == genus else f"{genus} {species}"

    def content(self) -> Content | None:
        word = self.fields.get("Content")
        try:
            return names.parse_content(word) if word is not None else None
        except LeafidError as error:
            self._ignored("Content", error)
            return None

    def date(self) -> str | None:
        text = self.fields.get("Date")
        try:
            return names.parse_date(text) if text is not None else None
        except LeafidError as error:
            self._ignored("Date", error)
            return None

    def place(self) -> Place | None:
        place = Place(
            self.fields.get("Locality"),
            self._number("Latitude", 90),
            self._number("Longitude", 180),
            self._number("Altitude", 10_000),
        )
        return place if place != Place() else None

    def _number(self, tag: str, limit: float) -> float | None:
        text = self.fields.get(tag)
        try:
            return names.parse_bounded_number(text, limit) if text is not None else None
        except LeafidError as error:
            self._ignored(tag, error)
            return None

    def _ignored(self, tag: str, error: LeafidError) -> None:
        self.problems.append(f"{self.xml}: {tag}: {error}; the field is ignored")
