"""Reads ImageCLEF plant packages (2011, 2012, 2013): an XML file for each picture.

The years differ in their fields; a file is read by the fields that it has.
"""

import os
from pathlib import Path
from typing import Any

from leafid.errors import LeafidError, naming_place
from leafid.files import safe_join
from leafid.pictures import names
from leafid.pictures.picture import Picture, Taxon, XmlOmission
from leafid.pictures.readers import folders
from leafid.pictures.records import apply_record, drop_unreadable, find_fields
from leafid.textfiles import read_xml

LAYOUT = "imageclef"
_GROUND_TRUTH = "testxmlwithgroundtruth"
_PARTS = ("train", "val", "test", None)
_XML = {".xml"}
# Which fields are read as in a table.
_FIELDS = {"type", "plant", "author", "date", "latitude", "longitude"}


def detect(path: Path) -> bool:
    """Tell whether a path is a folder with XML files, or a package of such folders."""
    return path.is_dir() and any(
        folders.list_files(folder, _XML) for folder, _, _ in _find_sections(path)
    )


def read(path: Path) -> tuple[list[Picture], list[str]]:
    """Read a package or a folder of it, or any folder of XML files.

    In a package, ``TestXmlWithGroundTruth`` describes the pictures of ``Test``. XML
    without its picture is listed with the path where the picture would be, and pictures
    without XML are listed without metadata.
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
                        f"{xml}: FileName: expected another one than in {first}, found "
                        f"{picture.name}"
                    )
            except LeafidError as error:
                problems.append(XmlOmission(f"{error}; the picture is left out"))
                continue
            problems += more
            described[picture.file] = xml.name
            pictures[picture.file] = picture
        # A picture with unusable XML is among the problems already.
        stems = {xml.stem for xml in xml_files}
        for file in folders.list_files(folder):
            if folder == picture_folder and file.stem not in stems:
                pictures.setdefault(file, Picture(file, part=part))

    def get_order(picture: Picture) -> tuple[Any, ...]:
        return _PARTS.index(picture.part), names.natural_sort_key(picture.name)

    return sorted(pictures.values(), key=get_order), problems


def _find_sections(path: Path) -> list[tuple[Path, Path, str | None]]:
    """Find the folders of XML files, each with its folder of pictures and its part."""
    if folders.list_files(path, _XML):
        if not _is_truth(path.resolve()):
            return [(path, path, folders.parse_part(path.resolve().name))]
        package = Path(os.path.normpath(path / ".."))
        return [entry for entry in _find_sections(package) if _is_truth(entry[0])]
    sections = [entry for entry in folders.find_sections(path) if entry[1] != path]
    # The original package keeps everything in data/.
    root = next((folder.parent for _, folder in sections), path)
    test = next((folder for part, folder in sections if part == "test"), None)
    truths = filter(_is_truth, folders.list_folders(root))
    return [
        *((folder, folder, part) for part, folder in sections),
        *((folder, test or folder, "test") for folder in truths),
    ]


def _is_truth(folder: Path) -> bool:
    return folder.name.lower() == _GROUND_TRUTH


def read_picture(
    xml: Path, folder: Path, part: str | None
) -> tuple[Picture, list[str]]:
    """Read the XML file of a picture in a folder.

    Also return the problems of optional fields, which are ignored. A `LeafidError` is
    raised if the file is not valid XML, or a required field is missing or wrong.
    """
    fields = _read_fields(xml)
    with naming_place(xml):
        words = zip(find_fields([*fields]), fields.values(), strict=True)
        record = {field: word for field, word in words if field in _FIELDS}
        errors = drop_unreadable(record)
        with naming_place("FileName"):
            file = safe_join(folder, fields.get("FileName", ""))
        common_names = map(str.strip, fields.get("VernacularNames", "").split(","))
        picture = Picture(
            file,
            taxon=_parse_taxon(fields),
            vernacular_names=tuple(filter(None, common_names)),
            part=part,
        )
        picture = apply_record(picture, record)
    ignored = (f"{xml}: {tag}: {error}" for tag, error in errors.items())
    return picture, [f"{line}; it is ignored" for line in ignored]


def _read_fields(xml: Path) -> dict[str, str]:
    """Read the texts of an XML file by the names of their elements."""
    root = read_xml(xml)
    if root.tag != "Image":
        actual = f"found <{root.tag}>"
        raise LeafidError(f"{xml}: expected the root element <Image>, {actual}")
    fields: dict[str, str] = {}
    # The years nest elements differently; the first element of a name counts.
    for element in root.iter():
        text = " ".join((element.text or "").split())
        if text:
            fields.setdefault(element.tag, text)
    return fields


def _parse_taxon(fields: dict[str, str]) -> Taxon | None:
    # An author's name may follow each name.
    label = fields.get("ClassId")
    if label is None:
        n_given = len({"Genus", "Species"} & fields.keys())
        if n_given == 0:
            return None
        if n_given == 1:
            raise LeafidError(
                "Taxon: expected a Genus and a Species, found only one of them"
            )
        # Species holds the full name in 2012, and only the epithet in 2011.
        genus = names.parse_genus(fields["Genus"])
        label = fields["Species"]
        if names.parse_genus(label) != genus:
            label = f"{genus} {label}"
    with naming_place("Species"):
        name = names.parse_species_name(label)
    family, order = (
        names.check_printable(fields[rank].split()[0]) if rank in fields else None
        for rank in ("Family", "Order")
    )
    return Taxon(name, names.parse_genus(name), family, order, full_name=label)
